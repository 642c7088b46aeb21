import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, random_split

from dataset import NoisySignals


class Regressor(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.gru = nn.GRU(1, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, signal):
        _, last = self.gru(signal.unsqueeze(-1))
        return self.out(last[-1]).squeeze(-1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch_size", type=int, default=8)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=42)
    args = parser.parse_args()

    dataset = NoisySignals(48, 16)
    train_set, val_set = random_split(dataset, [40, 8])
    train_loader = DataLoader(train_set, args.batch_size, shuffle=True, num_workers=args.workers)
    val_loader = DataLoader(val_set, args.batch_size)
    model = Regressor(8)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(args.epochs):
        for signal, frequency in train_loader:
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(signal), frequency)
            loss.backward()
            optimizer.step()
            print("train", epoch, loss.item())
        with torch.no_grad():
            for signal, frequency in val_loader:
                print("val", epoch, nn.functional.mse_loss(model(signal), frequency).item())


if __name__ == "__main__":
    main()
