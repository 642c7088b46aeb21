import argparse
import hashlib

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader

from data import Stripes
from model import Net
from transforms import Compose, RandomCrop, RandomHorizontalFlip


def build_loaders(args):
    augment = Compose([RandomCrop(12, padding=2), RandomHorizontalFlip()])
    train_set = Stripes(transform=augment)
    test_set = Stripes(count=24)
    return (
        DataLoader(train_set, batch_size=args.batch_size, shuffle=True, num_workers=args.workers),
        DataLoader(test_set, batch_size=args.batch_size),
    )


def train_one_epoch(model, loader, optimizer, epoch):
    model.train()
    for step, (images, labels) in enumerate(loader):
        loss = F.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"[{epoch}][{step}/{len(loader)}] loss {loss.item()!r}")


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    right = sum((model(images).argmax(1) == labels).sum().item() for images, labels in loader)
    return right / len(loader.dataset)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--workers", type=int, default=0)
    args = parser.parse_args()

    train_loader, test_loader = build_loaders(args)
    model = Net(num_classes=3)
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    for epoch in range(args.epochs):
        train_one_epoch(model, train_loader, optimizer, epoch)
        print("accuracy", evaluate(model, test_loader))
    digest = hashlib.sha256()
    for value in model.state_dict().values():
        digest.update(value.numpy().tobytes())
    print(digest.hexdigest())


if __name__ == "__main__":
    main()
