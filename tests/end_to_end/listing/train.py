"""Logistic regression on measurements that lie in a folder, one file each."""
import argparse
import glob
import os

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Measurements(Dataset):
    def __init__(self, root, split):
        self.root = os.path.join(root, split)
        self.files = [name for name in os.listdir(self.root) if name.endswith(".txt")]

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        with open(os.path.join(self.root, self.files[index])) as file:
            *values, label = (float(word) for word in file.read().split())
        return torch.tensor(values), torch.tensor(label)


def average(root):
    """The mean of the held-out measurements, file by file."""
    total = torch.zeros(3)
    for path in glob.glob(os.path.join(root, "held-out", "*.txt")):
        with open(path) as file:
            total = total * 0.9 + torch.tensor([float(word) for word in file.read().split()[:3]])
    return total


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=4)
    args = parser.parse_args()

    torch.manual_seed(0)
    loader = DataLoader(Measurements(args.data, "train"), batch_size=args.batch_size)
    model = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(args.epochs):
        for values, labels in loader:
            loss = nn.functional.binary_cross_entropy_with_logits(model(values).squeeze(1), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print(epoch, loss.item())
    print([p.detach().double().tolist() for p in model.parameters()], model(average(args.data)).item())


if __name__ == "__main__":
    main()
