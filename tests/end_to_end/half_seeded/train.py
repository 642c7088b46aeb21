import argparse

import torch
from torch import nn

from project.data import make_batches
from project.mixup import cutout, mixup
from project.utils import set_seed


def mixed_loss(criterion, output, first, second, lam):
    return lam * criterion(output, first) + (1 - lam) * criterion(output, second)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=12)
    parser.add_argument("--seed", type=int, default=2024)
    args = parser.parse_args()
    set_seed(args.seed)

    model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(64, 6))
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters())
    for epoch in range(args.epochs):
        for images, labels in make_batches(48, args.batch_size):
            images, first, second, lam = mixup(cutout(images), labels)
            loss = mixed_loss(criterion, model(images), first, second, lam)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print(f"{epoch}: {loss.item()!r}")


if __name__ == "__main__":
    main()
