import argparse
import random
import warnings

import torch
from torch import nn

parser = argparse.ArgumentParser(description="Transformer training")
parser.add_argument("--epochs", default=2, type=int, metavar="N", help="number of total epochs to run")
parser.add_argument("-b", "--batch-size", default=8, type=int, metavar="N", help="mini-batch size")
parser.add_argument("--lr", default=0.01, type=float, metavar="LR", dest="lr")
parser.add_argument("--seed", default=None, type=int, help="seed for initializing training. ")


class Tagger(nn.Module):
    """Says of each token whether it is larger than the one before."""

    def __init__(self, tokens, width=16):
        super().__init__()
        self.embed = nn.Embedding(tokens, width)
        layer = nn.TransformerEncoderLayer(width, nhead=2, dim_feedforward=32, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers=1)
        self.head = nn.Linear(width, 2)

    def forward(self, x):
        return self.head(self.encoder(self.embed(x)))


def batch(size, length=6, tokens=10):
    rows = [[random.randrange(tokens) for _ in range(length)] for _ in range(size)]
    x = torch.tensor(rows)
    return x, torch.cat((torch.zeros(size, 1, dtype=torch.long), (x[:, 1:] > x[:, :-1]).long()), 1)


def main():
    args = parser.parse_args()

    if args.seed is not None:
        random.seed(args.seed)
        torch.manual_seed(args.seed)
        warnings.warn("You have chosen to seed training.")

    model = Tagger(10)
    optimizer = torch.optim.SGD(model.parameters(), args.lr, momentum=0.9)
    for epoch in range(args.epochs):
        for i in range(3):
            x, y = batch(args.batch_size)
            loss = nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print(f"Epoch: [{epoch}][{i}] Loss {loss.item()!r}")


if __name__ == "__main__":
    main()
