"""A small GAN on rings of points."""
import argparse
import hashlib
import math

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Generator(nn.Module):
    def __init__(self, latent, hidden):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(latent, hidden), nn.LeakyReLU(0.2), nn.Linear(hidden, 2))

    def forward(self, z):
        return self.net(z)


class Discriminator(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, hidden), nn.LeakyReLU(0.2), nn.Linear(hidden, 1))

    def forward(self, x):
        return self.net(x).squeeze(1)


def rings(count):
    angles = torch.arange(count) * (2 * math.pi / count)
    radius = 1 + (torch.arange(count) % 2)
    return torch.stack((angles.cos() * radius, angles.sin() * radius), dim=1)


def train(opt):
    loader = DataLoader(TensorDataset(rings(256)), batch_size=opt.batch_size, shuffle=True, drop_last=True)
    generator, discriminator = Generator(opt.latent, opt.hidden), Discriminator(opt.hidden)
    criterion = nn.BCEWithLogitsLoss()
    optimizer_g = torch.optim.Adam(generator.parameters(), lr=opt.lr, betas=(0.5, 0.999))
    optimizer_d = torch.optim.Adam(discriminator.parameters(), lr=opt.lr, betas=(0.5, 0.999))
    real_label, fake_label = torch.ones(opt.batch_size), torch.zeros(opt.batch_size)
    for epoch in range(opt.epochs):
        for (real,) in loader:
            optimizer_d.zero_grad()
            noise = torch.randn(opt.batch_size, opt.latent)
            fake = generator(noise)
            loss_d = criterion(discriminator(real), real_label) + criterion(discriminator(fake.detach()), fake_label)
            loss_d.backward()
            optimizer_d.step()

            optimizer_g.zero_grad()
            loss_g = criterion(discriminator(fake), real_label)
            loss_g.backward()
            optimizer_g.step()
        print(f"epoch {epoch}: loss_d {loss_d.item()!r} loss_g {loss_g.item()!r}")
    weights = torch.cat([p.detach().flatten() for p in generator.parameters()])
    print(hashlib.sha256(weights.numpy().tobytes()).hexdigest())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--latent", type=int, default=8)
    parser.add_argument("--hidden", type=int, default=32)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--lr", type=float, default=2e-3)
    train(parser.parse_args())
