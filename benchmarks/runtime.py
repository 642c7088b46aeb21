"""Ratios of a training step under `enforce` to the same step without, on the CPU, in one run.

    python benchmarks/runtime.py [--steps 5] [--rounds 30]

A small convolutional network (batch 16 of 3x32x32, two normalised convolutions, dropout, SGD with momentum) and one
block of a transformer (width 256, 64 tokens, batch 8, attention with dropout, AdamW). The two kinds of step are taken in
turn, A B A B, so that a machine whose speed drifts does not favour one. Seconds are of the CPU, in one thread. For each profile
the table has the median of each kind, the median of the ratios of neighbours, and the ratio of the best two, which a busy
machine disturbs least.
Nothing moves to the CPU, for everything is there: what is measured is the price of looking at each call.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from detlint.runtime import enforce
from detlint.runtime.choices import Profile

Step = Callable[[], None]


def convolutional() -> Step:
    network = nn.Sequential(
        nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(64, 64, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Dropout(0.1), nn.Linear(64 * 64, 10),
    )  # fmt: skip
    return trained(network, torch.optim.SGD(network.parameters(), 0.01, momentum=0.9), torch.randn(16, 3, 32, 32), 10)


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.tokens = nn.Embedding(1000, 256)
        self.layer = nn.TransformerEncoderLayer(256, 8, 1024, dropout=0.1, batch_first=True)
        self.head = nn.Linear(256, 1000)

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.head(self.layer(self.tokens(words))).flatten(0, 1)
        return out


def transformer() -> Step:
    network = Block()
    return trained(network, torch.optim.AdamW(network.parameters()), torch.randint(1000, (8, 64)), 1000)


def trained(network: nn.Module, optimizer: torch.optim.Optimizer, inputs: torch.Tensor, classes: int) -> Step:
    """One step of training on the same batch."""
    goal = torch.randint(classes, (len(network(inputs)),))

    def step() -> None:
        optimizer.zero_grad()
        loss: Any = F.cross_entropy(network(inputs), goal)
        loss.backward()
        optimizer.step()

    return step


def seconds(step: Step, steps: int) -> float:
    started = time.process_time()
    for _ in range(steps):
        step()
    return (time.process_time() - started) / steps


def compared(make: Callable[[], Step], profile: Profile, steps: int, rounds: int) -> tuple[list[float], list[float]]:
    """CPU seconds of a step without and with, round by round. The switches are on for both: what they cost is PyTorch's."""
    torch.manual_seed(0)
    step = make()
    torch.use_deterministic_algorithms(True, warn_only=True)
    without, within = [], []
    seconds(step, 3)
    for _ in range(rounds):
        without.append(seconds(step, steps))
        with enforce(profile=profile):
            step()
            within.append(seconds(step, steps))
    return without, within


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=30)
    options = parser.parse_args()
    torch.set_num_threads(1)
    print(
        f"{options.rounds} rounds of {options.steps} steps, one thread, PyTorch {torch.__version__}, Python {sys.version.split()[0]}\n"
    )
    print(
        "| | profile | without, median (ms) | with, median (ms) | ratio, median of pairs | ratio of the best |\n|---|---|---|---|---|---|"
    )
    for name, make in (("convolutional network", convolutional), ("transformer block", transformer)):
        for profile in ("reproduce", "align"):
            without, within = compared(make, profile, options.steps, options.rounds)
            ratio = statistics.median(b / a for a, b in zip(without, within, strict=True))
            times = f"{1000 * statistics.median(without):.1f} | {1000 * statistics.median(within):.1f}"
            print(f"| {name} | {profile} | {times} | {ratio:.2f} | {min(within) / min(without):.2f} |")


if __name__ == "__main__":
    main()
