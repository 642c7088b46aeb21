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


@sample("torch.nanmedian", "dim, with ties")
def nanmedian(device: torch.device, n: int) -> Case:
    x = few(device, n, 3).float()
    return Case(lambda: torch.nanmedian(x, 0).indices, [])


@sample("torch.topk", "whole numbers with ties")
def topk(device: torch.device, n: int) -> Case:
    x = few(device, n, 3)
    return Case(lambda: torch.topk(x, n // 2).indices, [])


@sample("torch.put", "accumulate")
def put(device: torch.device, n: int) -> Case:
    start, source, index = torch.zeros(7).to(device), leaf(device, n).detach(), few(device, n)
    return Case(lambda: torch.put(start, index, source, accumulate=True), [])


@sample("torch.put", "the same places several times")
def overwrite(device: torch.device, n: int) -> Case:
    start, source, index = torch.zeros(7).to(device), leaf(device, n).detach(), few(device, n)
    return Case(lambda: torch.put(start, index, source), [])


@sample("torch.index_put", "the same places several times")
def index_put(device: torch.device, n: int) -> Case:
    start, source, index = torch.zeros(7).to(device), leaf(device, n).detach(), few(device, n)
    return Case(lambda: torch.index_put(start, (index,), source), [])


@sample("torch.index_copy", "the same places several times")
def index_copy(device: torch.device, n: int) -> Case:
    start, source, index = torch.zeros(7).to(device), leaf(device, n).detach(), few(device, n)
    return Case(lambda: torch.index_copy(start, 0, index, source), [])


def _scatter(reduce: str | None) -> Make:
    def make(device: torch.device, n: int) -> Case:
        start, source, index = torch.ones(7).to(device), (1 + torch.randn(n) / n).to(device), few(device, n)
        if reduce is None:
            return Case(lambda: torch.scatter(start, 0, index, source), [])
        return Case(lambda: torch.scatter(start, 0, index, source, reduce=reduce), [])

    return make


for _reduce in (None, "add", "multiply"):
    sample("torch.scatter", _reduce or "the same places several times")(_scatter(_reduce))


@sample("torch.scatter_reduce", "mean")
def scatter_mean(device: torch.device, n: int) -> Case:
    start, source, index = torch.zeros(7).to(device), leaf(device, n).detach(), few(device, n)
    return Case(lambda: torch.scatter_reduce(start, 0, index, source, "mean"), [])


@sample("torch.index_select")
def index_select(device: torch.device, n: int) -> Case:
    x, index = leaf(device, 7, 4), few(device, n)
    return Case(lambda: torch.index_select(x, 0, index), [x])


@sample("torch.nn.functional.embedding")
def embedding(device: torch.device, n: int) -> Case:
    table, words = leaf(device, 7, 16), few(device, n)
    return Case(lambda: F.embedding(words, table), [table])


@sample("torch.nn.functional.cross_entropy", "images")
def cross_entropy(device: torch.device, n: int) -> Case:
    side = max(2, round((n / 2) ** 0.5))
    scores, goal = leaf(device, 2, 5, side, side), torch.randint(5, (2, side, side)).to(device)
    return Case(lambda: F.cross_entropy(scores, goal), [scores])


@sample("torch.nn.functional.max_unpool2d", "overlapping windows")
def max_unpool2d(device: torch.device, n: int) -> Case:
    x = leaf(device, 2, max(1, n // 64), 11, 11).detach()
    pooled, places = F.max_pool2d(x, 3, stride=1, return_indices=True)
    values = torch.randn_like(pooled)
    return Case(lambda: F.max_unpool2d(values, places, [3, 3], stride=[1, 1], output_size=(11, 11)), [])


def _pad(mode: str, sides: int, dimensions: int) -> Make:
    def make(device: torch.device, n: int) -> Case:
        x = leaf(device, 2, max(1, n // 9**dimensions), *([9] * dimensions))
        return Case(lambda: F.pad(x, (8,) * sides, mode=mode), [x])

    return make


for _mode, _sides in (("reflect", 4), ("reflect", 6), ("replicate", 2), ("replicate", 4), ("replicate", 6)):
    sample("torch.nn.functional.pad", f"{_mode}, {_sides // 2}-D")(_pad(_mode, _sides, _sides // 2))


@sample("torch.nn.functional.adaptive_avg_pool3d", "overlapping windows")
def adaptive_avg_pool3d(device: torch.device, n: int) -> Case:
    x = leaf(device, 1, max(1, n // 512), 11, 11, 11)
    return Case(lambda: F.adaptive_avg_pool3d(x, 7), [x])


@sample("torch.nn.functional.adaptive_max_pool3d", "overlapping windows")
def adaptive_max_pool3d(device: torch.device, n: int) -> Case:
    x = leaf(device, 1, max(1, n // 512), 11, 11, 11)
    return Case(lambda: F.adaptive_max_pool3d(x, 7), [x])


@sample("torch.nn.functional.fractional_max_pool3d")
def fractional_max_pool3d(device: torch.device, n: int) -> Case:
    channels = max(1, n // 512)
    x, regions = leaf(device, 1, channels, 15, 15, 15), torch.rand(1, channels, 3).to(device)
    return Case(lambda: F.fractional_max_pool3d(x, 3, output_size=9, _random_samples=regions), [x])


@sample("torch.nn.functional.interpolate", "bilinear, antialias")
def antialias(device: torch.device, n: int) -> Case:
    x, side = leaf(device, 2, 3, 64, 64), max(2, round(n**0.5) // 8)
    return Case(lambda: F.interpolate(x, size=(side, side), mode="bilinear", antialias=True), [x])


@sample("torch.nn.functional.interpolate", "nearest")
def nearest(device: torch.device, n: int) -> Case:
    x, side = leaf(device, 2, 3, 6, 6), max(2, round(n**0.5))
    return Case(lambda: F.interpolate(x, size=(side, side), mode="nearest"), [x])


def _convolution(dimensions: int, transposed: bool) -> Make:
    def make(device: torch.device, n: int) -> Case:
        x = leaf(device, 8, 16, *([max(4, round((n / 8) ** (1 / dimensions)))] * dimensions))
        kind = ("conv_transpose" if transposed else "conv") + f"{dimensions}d"
        weight, run = leaf(device, 16, 16, *([3] * dimensions)), getattr(F, kind)
        return Case(lambda: run(x, weight, padding=1), [x, weight])

    return make


for _dimensions in (1, 2, 3):
    sample(f"torch.nn.functional.conv{_dimensions}d")(_convolution(_dimensions, transposed=False))
    sample(f"torch.nn.functional.conv_transpose{_dimensions}d")(_convolution(_dimensions, transposed=True))


@sample("torch.nn.functional.scaled_dot_product_attention", "float32")
def attention(device: torch.device, n: int) -> Case:
    query, key, value = (torch.randn(2, 4, max(8, n // 128), 64).to(device).requires_grad_() for _ in range(3))
    return Case(lambda: F.scaled_dot_product_attention(query, key, value), [query, key, value])


@sample("torch.nn.functional.scaled_dot_product_attention", "bfloat16")
def attention_bfloat16(device: torch.device, n: int) -> Case:
    shape = 2, 4, max(8, n // 128), 64
    query, key, value = (torch.randn(shape).to(device, torch.bfloat16).requires_grad_() for _ in range(3))
    return Case(lambda: F.scaled_dot_product_attention(query, key, value), [query, key, value])


@sample("torch.matmul")
def matmul(device: torch.device, n: int) -> Case:
    first, second = leaf(device, 64, max(64, n // 16)), leaf(device, max(64, n // 16), 64)
    return Case(lambda: first @ second, [first, second])


@sample("torch.nn.LSTM")
def lstm(device: torch.device, n: int) -> Case:
    layer, x = torch.nn.LSTM(16, 32, 2).to(device), torch.randn(64, max(2, n // 1024), 16).to(device)
    return Case(lambda: layer(x)[0], [*layer.parameters()])


@sample("torch.sparse.mm")
def sparse(device: torch.device, n: int) -> Case:
    places, values = torch.stack([few(device, n), few(device, n, 64)]), leaf(device, n).detach()
    table, dense = torch.sparse_coo_tensor(places, values, (7, 64)), leaf(device, 64, 8).detach()
    return Case(lambda: torch.sparse.mm(table, dense), [])
