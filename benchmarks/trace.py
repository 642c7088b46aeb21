"""What a trace costs, and whether it finds what varies.

    python benchmarks/trace.py [cost] [size] [alarms] [faults]

- cost: seconds on the CPU of a training step under `detlint trace` at each level against a plain one, of a small CNN and of a transformer
  block, in turn; kilobytes a step.
- size: comparing traces of 10,000 and of a million rows: seconds, and the memory of the process that compares.
- alarms: pairs of clean runs, and how many of them are told apart.
- faults: kernels, data and random states that vary, in the forward and the backward pass; how many are named at their line.

Ratios are of medians and of the best of many steps: the machine's load is printed beside them.
"""

from __future__ import annotations

import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy
import torch
from torch import nn
from torch.nn import functional as F

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from traced import compared, equal, line, model, traced, written

from detlint.tracing.calls import calls

STEPS: Final = 20
ROUNDS: Final = 4
LEVELS: Final = ("kernel", "api", "module")
Step = Callable[[], None]


class CNN(nn.Module):
    """Three convolutions, two batch norms, masked_fill, affine_grid, grid_sample, dropout."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second, self.third = (
            nn.Conv2d(3, 16, 3, 1, 1),
            nn.Conv2d(16, 32, 3, 2, 1),
            nn.Conv2d(32, 32, 3, 1, 1),
        )
        self.norm, self.other = nn.BatchNorm2d(16), nn.BatchNorm2d(32)
        self.drop, self.head = nn.Dropout(0.1), nn.Linear(32 * 16 * 16, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.relu(self.other(self.second(F.relu(self.norm(self.first(x))))))
        x = self.third(x)
        x = x.masked_fill(x > 1.5, 0.0)
        turned = torch.eye(2, 3).repeat(x.shape[0], 1, 1) + 0.01
        grid = F.affine_grid(turned, list(x.shape), align_corners=False)
        x = F.grid_sample(x, grid, align_corners=False)  # detlint: ignore[DET403] what is traced
        found: torch.Tensor = self.head(self.drop(x.flatten(1)))
        return found


class Block(nn.Module):
    """An embedding and one transformer block."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding, self.head = nn.Embedding(1000, 256), nn.Linear(256, 1000)
        self.block = nn.TransformerEncoderLayer(
            256, 4, 1024, 0.1, batch_first=True
        )  # detlint: ignore[DET402] what is traced

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = self.head(self.block(self.embedding(x))).flatten(0, 1)
        return found


def _cnn() -> Step:
    net = CNN()
    x, y = torch.randn(16, 3, 32, 32), torch.randint(0, 10, (16,))
    return _training(net, torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9), x, y)


def _block() -> Step:
    net = Block()
    x, y = torch.randint(0, 1000, (8, 64)), torch.randint(0, 1000, (8 * 64,))
    return _training(net, torch.optim.AdamW(net.parameters()), x, y)


def _training(net: nn.Module, optimizer: torch.optim.Optimizer, x: torch.Tensor, y: torch.Tensor) -> Step:
    def step() -> None:
        optimizer.zero_grad()
        F.cross_entropy(net(x), y).backward()  # type: ignore[no-untyped-call]
        optimizer.step()

    return step


def workload(name: str) -> Step:
    """What makes one step of training."""
    return _cnn() if name == "CNN" else _block()


def cost() -> None:
    """Traced steps against plain ones, each level as its command runs the program, in turn."""
    print(
        "| workload | level | plain (ms) | traced (ms) | ratio of medians | ratio of the best | rows a step | KB a step |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for name in ("CNN", "transformer block"):
        times: dict[str, list[float]] = {level: [] for level in ("", *LEVELS)}
        sizes: dict[str, tuple[float, int]] = {}
        for _ in range(ROUNDS):
            for level, found in times.items():
                with tempfile.TemporaryDirectory() as folder:
                    traced_by = ("-m", "detlint", "trace", "--level", level, f"{folder}/trace") if level else ()
                    found += _steps(name, *traced_by)
                    if level:
                        (file,) = Path(folder, "trace").iterdir()
                        rows = sum(not call.event for call in calls(file))
                        sizes[level] = file.stat().st_size / STEPS / 1024, rows // STEPS
        for level in LEVELS:
            plain, found = times[""], times[level]
            medians, best = statistics.median(found) / statistics.median(plain), min(found) / min(plain)
            print(
                f"| {name} | {level} | {statistics.median(plain) * 1e3:.1f} | {statistics.median(found) * 1e3:.1f} "
                f"| {medians:.2f} | {best:.2f} | {sizes[level][1]} | {sizes[level][0]:.1f} |"
            )


def _steps(name: str, *before: str) -> list[float]:
    """The seconds on the CPU of each step of a workload, in a process of its own."""
    command = [sys.executable, *before, __file__, "steps", name]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return [float(line) for line in done.stdout.splitlines()]


def steps(name: str) -> None:
    """Run a workload as a program does: it draws in Python and NumPy, and looks at the clock, in each step."""
    step = workload(name)
    for i in range(STEPS + 3):
        started = time.process_time()
        random.random(), numpy.random.rand(4), time.perf_counter()
        step()
        if i > 2:
            print(time.process_time() - started)


LONG = """\
import torch
x = torch.ones(4)
for i in range({rows}):
    x = x * ({last} if i == {rows} - 1 else 1.0)
"""


def size() -> None:
    """Comparing long traces."""
    print("| rows | file (MB) | seconds | of these on the CPU | peak memory (MB) |\n|---|---|---|---|---|")
    for rows in (10_000, 1_000_000):
        with tempfile.TemporaryDirectory() as folder:
            for name, last in (("a", 1.0), ("b", 2.0)):
                program = written(Path(folder, "project"), LONG.format(rows=rows, last=last))
                traced(program, Path(folder, name))
            large = Path(folder, "a", "main.trace").stat().st_size / 1e6
            seconds, busy, memory = _measured([sys.executable, "-c", DIFF, f"{folder}/a", f"{folder}/b"])
        print(f"| {rows:,} | {large:.1f} | {seconds:.2f} | {busy:.2f} | {memory:.0f} |")


DIFF = """
import os, sys
from pathlib import Path
from detlint.cli import main
try:
    main(["diff", *sys.argv[1:], "--output-format", "json", "-o", os.devnull])
finally:
    status = Path("/proc/self/status").read_text()
    print(sum(os.times()[:2]), status.partition("VmHWM:")[2].split()[0])
"""


def _measured(command: list[str]) -> tuple[float, float, float]:
    """Seconds, those on the CPU, and megabytes at most."""
    started = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    busy, memory = done.stdout.split()
    return time.perf_counter() - started, float(busy), int(memory) / 1024


def alarms() -> None:
    """Clean pairs."""
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        program = written(Path(folder, "project"), model(steps=3))
        for i in range(20):
            folders = [traced(program, Path(folder, f"{name}{i}")) for name in "ab"]
            wrong += not equal(*folders)
    print(f"clean pairs told apart: {wrong} of 20")


FAULTS = {
    "kernel, forward": ({"layer": "Forward.apply(x)"}, "layer", "kernel", False),
    "kernel, backward": ({"layer": "Backward.apply(x)"}, "layer", "kernel", True),
    "data": (
        {"data": "torch.frombuffer(bytearray(__import__('os').urandom(384)), dtype=torch.uint8).float().view(2, 3, 8, 8)"},
        "data", "data", False,
    ),
    "a number of Python's": ({"layer": "x * __import__('random').random()"}, "layer", "data", False),
    "random state": (
        {"data": "torch.randn(2, 3, 8, 8, generator=(g := torch.Generator(), g.seed())[0])"}, "data", "random", False,
    ),
    "control flow": ({"layer": "x.abs() if {n} == 1 else x.neg()"}, "layer", "control", False),
}  # fmt: skip


def faults() -> None:
    """Injected faults."""
    print("| fault | named at its line |\n|---|---|")
    for name, (options, mark, cause, backward) in FAULTS.items():
        right = 0
        for _ in range(5):
            with tempfile.TemporaryDirectory() as folder:
                found, text = _fault(Path(folder), options)
            places = [place["line"] for place in (*found["stack"], *found["forward"])]
            right += (found["cause"], found["backward"]) == (cause, backward) and line(text, mark) in places
        print(f"| {name} | {right} of 5 |")


def _fault(folder: Path, options: dict[str, str]) -> tuple[Any, str]:
    folders = []
    for n, name in enumerate("ab", 1):
        chosen = {key: value.replace("{n}", str(n)) for key, value in options.items()}
        text = model(**chosen)  # type: ignore[arg-type]
        folders.append(traced(written(folder / "project", text), folder / name))
    return compared(*folders)["story"], text


def main() -> None:
    """Run what is asked for, or everything."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    if sys.argv[1:2] == ["steps"]:
        steps(sys.argv[2])
        return
    print(f"torch {torch.__version__}, one thread of {os.cpu_count()}, load {os.getloadavg()[0]:.1f}\n")
    for part in (cost, size, alarms, faults):
        if part.__name__ in (sys.argv[1:] or [part.__name__]):
            part()
            print(flush=True)


if __name__ == "__main__":
    main()
