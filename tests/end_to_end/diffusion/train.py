"""Train a tiny denoiser."""
import argparse
import hashlib

import torch
import torch.nn.functional as F
from torch import nn

from schedule import Schedule


class Denoiser(nn.Module):
    def __init__(self, channels, steps):
        super().__init__()
        self.time = nn.Embedding(steps, channels)
        self.inner = nn.Conv2d(1, channels, 3, padding=1)
        self.norm = nn.GroupNorm(4, channels)
        self.drop = nn.Dropout(0.1)
        self.outer = nn.Conv2d(channels, 1, 3, padding=1)

    def forward(self, x, timesteps):
        x = self.inner(x) + self.time(timesteps)[:, :, None, None]
        return self.outer(self.drop(F.silu(self.norm(x))))


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--train_batch_size", type=int, default=8)
    parser.add_argument("--max_train_steps", type=int, default=5)
    parser.add_argument("--num_timesteps", type=int, default=20)
    parser.add_argument("--learning_rate", type=float, default=1e-3)
    parser.add_argument("--noise_offset", type=float, default=0.05)
    return parser.parse_args()


def main():
    args = parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    schedule = Schedule(args.num_timesteps, device)
    model = Denoiser(16, args.num_timesteps).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.learning_rate)
    ramp = torch.linspace(-1, 1, 8, device=device)
    clean = (ramp[:, None] * ramp).expand(args.train_batch_size, 1, 8, 8)
    for step in range(args.max_train_steps):
        noise = torch.randn_like(clean)
        if args.noise_offset:
            noise += args.noise_offset * torch.randn((clean.shape[0], clean.shape[1], 1, 1), device=device)
        timesteps = torch.randint(0, args.num_timesteps, (clean.shape[0],), device=device).long()
        noisy = schedule.add_noise(clean, noise, timesteps)
        loss = F.mse_loss(model(noisy, timesteps), noise)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        print({"step": step, "loss": loss.item()})
    image = schedule.sample(model, (2, 1, 8, 8), device)
    print(hashlib.sha256(image.cpu().numpy().tobytes()).hexdigest())


if __name__ == "__main__":
    main()
