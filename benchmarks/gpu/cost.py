"""What `enforce` and a trace cost on a GPU: milliseconds a step, in turn with the same step without.

    python benchmarks/gpu/cost.py [--steps 10] [--rounds 20]

A convolutional network, a transformer block, and a detector whose grid_sample `enforce` moves to the CPU. The device is
waited for before the clock is read. Without a GPU it says so and runs nothing; `--device cpu` is for trying the script.
"""

from __future__ import annotations

import argparse
import contextlib
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import torch
from machine import asked
from torch import nn
from torch.nn import functional as F
from training import Detector

from detlint.runtime import enforce, trace

Step = Callable[[], None]


def convolutional() -> tuple[nn.Module, torch.Tensor, torch.Tensor]:
    network = nn.Sequential(
        nn.Conv2d(3, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(64, 128, 3, padding=1), nn.BatchNorm2d(128), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(128, 256, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Dropout(0.1), nn.Linear(256 * 64, 10),
    )  # fmt: skip
    return network, torch.randn(128, 3, 32, 32), torch.randint(10, (128,))


def transformer() -> tuple[nn.Module, torch.Tensor, torch.Tensor]:
    layer = nn.TransformerEncoderLayer(512, 8, 2048, dropout=0.1, batch_first=True)
    network = nn.Sequential(nn.Embedding(1000, 512), layer, nn.Linear(512, 1000))
    return network, torch.randint(1000, (32, 128)), torch.randint(1000, (32, 128))


def detector() -> tuple[nn.Module, torch.Tensor, torch.Tensor]:
    return Detector(), torch.randn(16, 3, 64, 64), torch.rand(16, 64, 4)


def trained(network: nn.Module, inputs: torch.Tensor, goal: torch.Tensor, device: torch.device) -> Step:
    network, inputs, goal = network.to(device), inputs.to(device), goal.to(device)
    optimizer = torch.optim.SGD(network.parameters(), 0.01, momentum=0.9)

    def step() -> None:
        optimizer.zero_grad()
        out = network(inputs)
        loss: Any = (
            F.l1_loss(out, goal) if goal.is_floating_point() else F.cross_entropy(out.flatten(0, -2), goal.flatten())
        )
        loss.backward()
        optimizer.step()

    return step


def milliseconds(step: Step, steps: int, device: torch.device) -> float:
    def wait() -> None:
        if device.type == "cuda":
            torch.cuda.synchronize()

    wait()
    start = time.perf_counter()
    for _ in range(steps):
        step()
    wait()
    return (time.perf_counter() - start) / steps * 1000


def kinds() -> dict[str, Callable[[], AbstractContextManager[Any]]]:
    def switched() -> AbstractContextManager[Any]:
        torch.use_deterministic_algorithms(True, warn_only=True)
        return contextlib.nullcontext()

    return {"switch alone": switched, "enforce": enforce, "trace": lambda: trace(tempfile.mkdtemp())}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=20)
    options = asked(parser)
    device = torch.device(options.device)
    print(
        "| | with | plain, median (ms) | with, median (ms) | ratio of medians | ratio of the best |\n|---|---|---|---|---|---|"
    )
    for make in (convolutional, transformer, detector):
        for name, start in kinds().items():
            compare(make, name, start, options, device)


def compare(make: Any, name: str, start: Any, options: argparse.Namespace, device: torch.device) -> None:
    torch.manual_seed(0)
    network, inputs, goal = make()
    step = trained(network, inputs, goal, device)
    plain, other = [], []
    for number in range(options.rounds + 1):
        before = milliseconds(step, options.steps, device)
        with start():
            step()
            after = milliseconds(step, options.steps, device)
        torch.use_deterministic_algorithms(False)
        if number:  # the first round warms up
            plain.append(before)
            other.append(after)
    medians, best = statistics.median(other) / statistics.median(plain), min(other) / min(plain)
    print(
        f"| {make.__name__} | {name} | {statistics.median(plain):.2f} | {statistics.median(other):.2f} | {medians:.2f} | {best:.2f} |",
        flush=True,
    )


if __name__ == "__main__":
    main()
