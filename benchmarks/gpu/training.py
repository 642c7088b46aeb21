"""Two small trainings that differ from run to run on a GPU, and are equal under `enforce`.

    python benchmarks/gpu/training.py [--steps 30] [--runs 3]

A detector whose points are sampled by grid_sample, as deformable ones are; and a diffusion model that draws its noise on the
device, upsamples bicubically and drops. Each is trained several times from the same seed, first as its authors would,
then under `enforce()`, and the digests of the final weights are counted. Without a GPU it says so and runs nothing;
`--device cpu` is for trying the script itself.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
from collections.abc import Callable
from typing import Any

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # read when CUDA starts

import torch
from machine import asked, digest
from torch import nn
from torch.nn import functional as F

from detlint.runtime import enforce


class Detector(nn.Module):
    """Predicts boxes from features sampled at points that it learns."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Conv2d(3, 16, 3, padding=1)
        self.points = nn.Parameter(torch.rand(1, 64, 16, 2) * 2 - 1)
        self.head = nn.Linear(16, 4)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        points = self.points.expand(len(image), -1, -1, -1)
        sampled = F.grid_sample(self.features(image), points, align_corners=False)
        out: torch.Tensor = self.head(sampled.mean(-1).transpose(1, 2))
        return out


class Denoiser(nn.Module):
    """Predicts noise at half the resolution, and upsamples it."""

    def __init__(self) -> None:
        super().__init__()
        self.down = nn.Conv2d(3, 16, 3, stride=2, padding=1)
        self.drop = nn.Dropout(0.1)
        self.up = nn.Conv2d(16, 3, 3, padding=1)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        small = self.drop(F.silu(self.down(image)))
        out: torch.Tensor = self.up(F.interpolate(small, scale_factor=2, mode="bicubic", align_corners=False))
        return out


def detect(device: torch.device, steps: int) -> nn.Module:
    torch.manual_seed(0)
    network = Detector().to(device)
    optimizer = torch.optim.SGD(network.parameters(), 0.05)
    images, boxes = torch.randn(4, 3, 32, 32).to(device), torch.rand(4, 64, 4).to(device)
    for _ in range(steps):
        optimizer.zero_grad()
        loss: Any = F.l1_loss(network(images), boxes)
        loss.backward()
        optimizer.step()
    return network


def diffuse(device: torch.device, steps: int) -> nn.Module:
    torch.manual_seed(0)
    network = Denoiser().to(device)
    optimizer = torch.optim.AdamW(network.parameters(), 0.001)
    images = torch.randn(4, 3, 32, 32).to(device)
    for _ in range(steps):
        noise = torch.randn(images.shape, device=device)
        optimizer.zero_grad()
        loss: Any = F.mse_loss(network(images + random.random() * noise), noise)
        loss.backward()
        optimizer.step()
    return network


def weights(network: nn.Module) -> tuple[str, ...]:
    return tuple(map(digest, network.state_dict().values()))


def results(train: Callable[[], nn.Module], runs: int) -> int:
    return len({weights(train()) for _ in range(runs)})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--runs", type=int, default=3)
    options = asked(parser)
    device = torch.device(options.device)
    failed = False
    print(
        f"{options.runs} trainings of {options.steps} steps each\n\n| | different results | under enforce |\n|---|---|---|"
    )
    for name, train in (("detector", detect), ("diffusion", diffuse)):

        def run(train: Callable[[torch.device, int], nn.Module] = train) -> nn.Module:
            return train(device, options.steps)

        before, after = results(run, options.runs), results(lambda run=run: enforce()(run)(), options.runs)  # type: ignore[misc]
        failed = failed or after > 1
        print(f"| {name} | {before} | {after} |")
    sys.exit(failed)


if __name__ == "__main__":
    main()
