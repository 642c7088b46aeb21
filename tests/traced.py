"""What the tests of traces share: small programs, run with a trace in this process, and the comparison of their traces."""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import torch
from conftest import REPOSITORY, detlint

from detlint.runtime import trace
from detlint.tracing.runs import compare_runs

LIBRARY = torch.library.Library("noisy", "FRAGMENT")  # type: ignore[no-untyped-call]
LIBRARY.define("forward(Tensor x) -> Tensor")  # type: ignore[no-untyped-call]
LIBRARY.define("backward(Tensor x) -> Tensor")  # type: ignore[no-untyped-call]


def unsteady(x: torch.Tensor) -> torch.Tensor:
    """The same with a bit of its first value changed at random, as a kernel does that adds up in any order."""
    noise = int.from_bytes(os.urandom(6), "little") * 2.0**-50
    result = x.clone()
    result.view(-1)[0] += noise
    return result


LIBRARY.impl("forward", unsteady, "CPU")  # type: ignore[no-untyped-call]
LIBRARY.impl("backward", unsteady, "CPU")  # type: ignore[no-untyped-call]


class Forward(torch.autograd.Function):
    """A layer whose forward pass doesn't repeat."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = torch.ops.noisy.forward(x)
        return result

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
        return gradient * 1


class Backward(torch.autograd.Function):
    """A layer whose backward pass doesn't."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        return x * 1

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = torch.ops.noisy.backward(gradient)
        return result


MODEL = """\
import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.head = nn.Linear(4 * 8 * 8, 5)
        self.drop = nn.Dropout(0.1)

    def forward(self, x):
        x = F.relu(self.norm(self.conv(x)))
        x = x.masked_fill(x > 1.5, 0.0)
        x = {layer}  # layer
        return self.head(self.drop(x.flatten(1)))


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
for step in range({steps}):
    x = {data}  # data
    y = torch.randint(0, 5, (2,))
    optimizer.zero_grad()
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
    {after}
"""


QUIET = {"TF_CPP_MIN_LOG_LEVEL": "3", "GLOG_v": "3", "OMP_NUM_THREADS": "1"}
"""What frameworks are told to keep them from telling."""
IMPORTS = {
    "torch": "import torch, torch._dynamo, torch.distributed, torch.multiprocessing, torch.nn.parallel, detlint.tracing.torch_session",
    "mindspore": "import mindspore, mindspore.dataset, detlint.tracing.mindspore_session",
    "tensorflow": "import tensorflow, keras, detlint.tracing.tensorflow_session",
}
"""What servers have imported. (PyTorch's optimizers import the compiler as they step.)"""
TRACED = """\
import runpy, sys
from detlint.runtime import trace

with trace(sys.argv.pop(1), **globals().get("OPTIONS", {})):
    runpy.run_path("train.py", run_name="__main__")
"""
"""Traces `train.py` in a process that has imported the framework: the folder is the first argument."""


def model(layer: str = "x", data: str = "torch.randn(2, 3, 8, 8)", steps: int = 2, after: str = "pass") -> str:
    """A program that trains, with what may vary put in."""
    return MODEL.format(layer=layer, data=data, steps=steps, after=after)


def written(folder: Path, text: str, name: str = "train.py") -> Path:
    """A program in a project of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pyproject.toml").write_text('[project]\nname = "demo"\n')
    path = folder / name
    path.write_text(text)
    return path


def traced(program: Path, folder: Path, **options: Any) -> Path:
    """Run a program with a trace; its folder. A program may end with an exception."""
    with trace(folder, **options):
        runpy.run_path(str(program), {"Forward": Forward, "Backward": Backward, "unsteady": unsteady})
    return folder


def pair(tmp_path: Path, text: str, **options: Any) -> dict[str, Any]:
    """The comparison of two runs of a program."""
    program = written(tmp_path / "project", text)
    return compared(*(traced(program, tmp_path / name, **options) for name in "ab"))


def compared(left: Path, right: Path) -> dict[str, Any]:
    """What `detlint compare` says, as JSON."""
    result = detlint("compare", left, right, "--output-format", "json")
    told: dict[str, Any] = json.loads(result.stdout)
    assert result.exit_code == (0 if told["equal"] else 1)
    return told


def equal(left: Path, right: Path) -> bool:
    """Whether two traces are equal; the linter isn't asked about the test that made them."""
    return compare_runs(left, right).equal


def line(text: str, mark: str) -> int:
    """The number of the line that ends with a comment."""
    return next(i for i, row in enumerate(text.splitlines(), 1) if row.endswith(f"# {mark}"))


def shell(
    *arguments: str | Path, cwd: Path, python: str = sys.executable, **variables: str
) -> subprocess.CompletedProcess[str]:
    """detlint in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "OMP_NUM_THREADS": "1", **variables}
    command = [python, "-m", "detlint", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
