"""A training of one operator that may vary on a GPU: what `verifying.py` gives to `detlint verify`.

    python benchmarks/gpu/varying.py NAME [--device cpu]

Everything else in it repeats: it is seeded, its data are made on the CPU, and its other operators are element by element.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional as F

SIZE = 200_000
Use = Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]


def grid_sample(image: torch.Tensor, numbers: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    grid = (numbers.tanh().view(1, -1, 1, 1) * torch.ones(2, device=numbers.device)).expand(1, -1, 1, 2)
    return F.grid_sample(image, grid, align_corners=False)  # varies backward


def interpolate(image: torch.Tensor, numbers: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    return F.interpolate(image, size=(256, 256), mode="bicubic")  # varies backward


def embedding(image: torch.Tensor, numbers: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    return F.embedding(places, image.view(64, 6))  # varies backward


def scatter_add(image: torch.Tensor, numbers: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    sums = torch.zeros(image.numel(), device=image.device)
    return sums.scatter_add(0, places, numbers) * image.flatten()  # varies forward


def index_add(image: torch.Tensor, numbers: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    sums = torch.zeros(image.numel(), device=image.device)
    return sums.index_add(0, places, numbers) * image.flatten()  # varies forward


def take(image: torch.Tensor, numbers: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    return torch.take(image, places) * numbers  # varies backward


def bincount(image: torch.Tensor, numbers: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    counted = torch.bincount(places, numbers.detach(), minlength=image.numel())  # varies forward
    return counted.float() * image.flatten()


PROGRAMS: dict[str, Use] = {
    use.__name__: use for use in (grid_sample, interpolate, embedding, scatter_add, index_add, take, bincount)
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("name", choices=PROGRAMS)
    parser.add_argument("--device", default="cuda")
    options = parser.parse_args()
    device = torch.device(options.device)
    torch.manual_seed(0)
    image = torch.randn(1, 6, 8, 8).to(device).requires_grad_()
    numbers = torch.randn(SIZE).to(device).requires_grad_()
    places = torch.randint(7, (SIZE,)).to(device)
    optimizer = torch.optim.SGD([image, numbers], 1.0)
    for _ in range(4):
        optimizer.zero_grad()
        loss: Any = (PROGRAMS[options.name](image, numbers, places) * 0.01).tanh().square().sum() + 0.01 * numbers.std()
        loss.backward()
        optimizer.step()
        print(f"loss {loss.item():.17g}")


if __name__ == "__main__":
    main()
