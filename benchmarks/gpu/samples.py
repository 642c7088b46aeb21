"""Inputs for the operators of the catalog on which they vary if they ever do: many additions that meet at few places.

Each sample is a function of a device and a size. It gives what to call, and the tensors that get gradients. Add one by
decorating a function with the API's name in the catalog; conditions of an entry are met by what the sample passes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch.nn import functional as F


class Case(NamedTuple):
    """What to run, and on what. `leaves` are asked for gradients; none for operators that have none."""

    call: Callable[[], torch.Tensor]
    leaves: list[torch.Tensor]


Make = Callable[[torch.device, int], Case]
SAMPLES: dict[str, list[tuple[str, Make]]] = {}
"""API -> its samples: what each shows, and how it is made."""


def sample(api: str, shows: str = "") -> Callable[[Make], Make]:
    def add(make: Make) -> Make:
        SAMPLES.setdefault(api, []).append((shows, make))
        return make

    return add


def leaf(device: torch.device, *shape: int) -> torch.Tensor:
    """Numbers of very different sizes, so that the order of additions shows in the sum."""
    return (torch.randn(shape) * torch.rand(shape).mul(12).exp()).to(device).requires_grad_()


def few(device: torch.device, count: int, places: int = 7) -> torch.Tensor:
    """Many indices to few places."""
    return torch.randint(places, (count,)).to(device)


@sample("torch.nn.functional.grid_sample", "2-D")
def grid_sample(device: torch.device, n: int) -> Case:
    image, grid = leaf(device, 2, 4, 8, 8), (torch.rand(2, n, 8, 2) * 2 - 1).to(device).requires_grad_()
    return Case(lambda: F.grid_sample(image, grid, align_corners=False), [image, grid])


@sample("torch.nn.functional.grid_sample", "3-D")
def grid_sample_3d(device: torch.device, n: int) -> Case:
    image, grid = leaf(device, 1, 2, 4, 4, 4), (torch.rand(1, n, 4, 4, 3) * 2 - 1).to(device).requires_grad_()
    return Case(lambda: F.grid_sample(image, grid, align_corners=False), [image, grid])


def _resize(mode: str, dimensions: int) -> Make:
    def make(device: torch.device, n: int) -> Case:
        image = leaf(device, 2, 3, *([6] * dimensions))
        size = [max(2, round(n ** (1 / dimensions)))] * dimensions
        corners = None if mode == "area" else False
        return Case(lambda: F.interpolate(image, size=size, mode=mode, align_corners=corners), [image])

    return make


for _mode, _dimensions in (("linear", 1), ("bilinear", 2), ("bicubic", 2), ("trilinear", 3), ("area", 2)):
    sample("torch.nn.functional.interpolate", _mode)(_resize(_mode, _dimensions))


@sample("torch.nn.functional.avg_pool3d", "overlapping windows")
def avg_pool3d(device: torch.device, n: int) -> Case:
    x = leaf(device, 1, max(1, n // 64), 12, 12, 12)
    return Case(lambda: F.avg_pool3d(x, 5, stride=1), [x])


@sample("torch.nn.functional.max_pool3d", "overlapping windows")
def max_pool3d(device: torch.device, n: int) -> Case:
    x = leaf(device, 1, max(1, n // 64), 12, 12, 12)
    return Case(lambda: F.max_pool3d(x, 5, stride=1), [x])


@sample("torch.nn.functional.adaptive_avg_pool2d", "overlapping windows")
def adaptive_avg_pool2d(device: torch.device, n: int) -> Case:
    x = leaf(device, 2, max(1, n // 64), 11, 11)
    return Case(lambda: F.adaptive_avg_pool2d(x, 7), [x])


@sample("torch.nn.functional.adaptive_max_pool2d", "overlapping windows")
def adaptive_max_pool2d(device: torch.device, n: int) -> Case:
    x = leaf(device, 2, max(1, n // 64), 11, 11)
    return Case(lambda: F.adaptive_max_pool2d(x, 7), [x])


@sample("torch.nn.functional.fractional_max_pool2d")
def fractional_max_pool2d(device: torch.device, n: int) -> Case:
    x = leaf(device, 2, max(1, n // 64), 15, 15)
    regions = torch.rand(2, max(1, n // 64), 2).to(device)
    return Case(lambda: F.fractional_max_pool2d(x, 3, output_size=9, _random_samples=regions), [x])


@sample("torch.nn.functional.pad", "reflect, 1-D")
def reflection(device: torch.device, n: int) -> Case:
    x = leaf(device, 2, max(1, n // 8), 9)
    return Case(lambda: F.pad(x, (8, 8), mode="reflect"), [x])


@sample("torch.nn.functional.ctc_loss")
def ctc_loss(device: torch.device, n: int) -> Case:
    steps, batch = 40, max(2, n // 32)
    scores = torch.randn(steps, batch, 6).to(device).requires_grad_()
    goals = torch.randint(1, 6, (batch, 20)).to(device)
    lengths = torch.full((batch,), steps), torch.full((batch,), 20)
    return Case(lambda: F.ctc_loss(scores.log_softmax(2), goals, *lengths, zero_infinity=True), [scores])


@sample("torch.nn.functional.embedding_bag", "max")
def embedding_bag(device: torch.device, n: int) -> Case:
    table, words = leaf(device, 7, 16), few(device, n).view(-1, 4)
    return Case(lambda: F.embedding_bag(words, table, mode="max"), [table])


@sample("torch.scatter_reduce", "prod")
def scatter_reduce(device: torch.device, n: int) -> Case:
    start, source, index = torch.ones(7).to(device), (1 + torch.randn(n) / n).to(device), few(device, n)
    return Case(lambda: torch.scatter_reduce(start, 0, index, source, "prod"), [])


@sample("torch.index_reduce", "prod")
def index_reduce(device: torch.device, n: int) -> Case:
    start, source, index = torch.ones(7).to(device), (1 + torch.randn(n) / n).to(device), few(device, n)
    return Case(lambda: torch.index_reduce(start, 0, index, source, "prod"), [])


@sample("torch.index_add")
def index_add(device: torch.device, n: int) -> Case:
    start, source, index = torch.zeros(7).to(device), leaf(device, n).detach(), few(device, n)
    return Case(lambda: torch.index_add(start, 0, index, source), [])


@sample("torch.scatter_add")
def scatter_add(device: torch.device, n: int) -> Case:
    start, source, index = torch.zeros(7).to(device), leaf(device, n).detach(), few(device, n)
    return Case(lambda: torch.scatter_add(start, 0, index, source), [])


@sample("torch.gather")
def gather(device: torch.device, n: int) -> Case:
    x, index = leaf(device, 7), few(device, n)
    return Case(lambda: torch.gather(x, 0, index), [x])


@sample("torch.take")
def take(device: torch.device, n: int) -> Case:
    x, index = leaf(device, 7), few(device, n)
    return Case(lambda: torch.take(x, index), [x])


@sample("torch.bincount", "weights")
def bincount(device: torch.device, n: int) -> Case:
    weights, index = leaf(device, n).detach(), few(device, n)
    return Case(lambda: torch.bincount(index, weights), [])


@sample("torch.histc")
def histc(device: torch.device, n: int) -> Case:
    x = torch.rand(n).to(device)
    return Case(lambda: torch.histc(x, 5, 0, 1), [])


@sample("torch.cumsum")
def cumsum(device: torch.device, n: int) -> Case:
    x = leaf(device, n).detach()
    return Case(lambda: torch.cumsum(x, 0), [])


@sample("torch.cumprod")
def cumprod(device: torch.device, n: int) -> Case:
    x = (1 + torch.randn(n) / n).to(device)
    return Case(lambda: torch.cumprod(x, 0), [])


@sample("torch.median", "dim, with ties")
def median(device: torch.device, n: int) -> Case:
    x = few(device, n, 3).float()
    return Case(lambda: torch.median(x, 0).indices, [])


@sample("torch.mode", "with ties")
def mode(device: torch.device, n: int) -> Case:
    x = torch.arange(3).repeat(n // 3 + 1).float().to(device)
    return Case(lambda: torch.mode(x, 0).indices, [])


@sample("torch.kthvalue", "with ties")
def kthvalue(device: torch.device, n: int) -> Case:
    x = few(device, n, 3).float()
    return Case(lambda: torch.kthvalue(x, n // 2, 0).indices, [])
