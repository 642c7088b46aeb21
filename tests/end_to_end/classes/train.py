import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader

from data import Sentences


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--lr", type=float, default=0.5)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)

    data = Sentences()
    loader = DataLoader(data, batch_size=4, shuffle=True)
    model = nn.Sequential(nn.Linear(len(data.vocabulary), 8), nn.ReLU(), nn.Linear(8, len(data.classes)))
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        for bags, labels in loader:
            loss = nn.functional.cross_entropy(model(bags), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print(epoch, loss.item())


if __name__ == "__main__":
    main()
