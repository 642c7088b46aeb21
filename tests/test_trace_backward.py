"""What varies in a backward pass of PyTorch's because Python makes it vary: a function's own `backward`, hooks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from traced import compared, line, traced, written

PROGRAM = """\
import random
import torch
import torch.nn.functional as F
from torch import nn

run, fault = RUN, "FAULT"
torch.manual_seed(0)


class Layer(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1  # forward

    @staticmethod
    def backward(ctx, gradient):
        if fault == "random":
            own = torch.Generator().manual_seed(run)
            gradient = gradient * torch.rand(gradient.shape, generator=own)  # random
        if fault == "seeded in between":
            torch.manual_seed(run)
            gradient = F.dropout(gradient, 0.5)  # seeded in between
        if fault == "number":
            gradient = gradient * random.Random(run).random()  # number
        if fault == "data":
            gradient = gradient * torch.frombuffer(bytearray([run] * 4), dtype=torch.uint8)  # data
        if fault == "control" and run == 1:
            gradient = gradient.abs()  # control
        return gradient * 1


def hook(gradient):
    if fault == "random in a hook":
        return gradient * torch.rand(4, generator=torch.Generator().manual_seed(run))  # random in a hook
    if fault == "control in a hook" and run == 1:
        return gradient.abs()  # control in a hook
    if fault == "number in a hook":
        return gradient + run  # number in a hook
    return None


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(3, 4), nn.Linear(4, 2)

    def forward(self, x):
        x = Layer.apply(self.one(x))  # applied
        x.register_hook(hook)
        return self.two(F.relu(x))


def of_module(module, received, given):
    if fault == "control in a module's hook" and run == 1:
        return (received[0].neg(),)  # control in a module's hook
    if fault == "number in a module's hook":
        return (received[0] * run,)  # number in a module's hook
    return None


net = Net()
net.two.register_full_backward_hook(of_module)
if fault == "number in a parameter's hook":
    net.one.weight.register_hook(lambda gradient: gradient * run)  # number in a parameter's hook
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(2):
    optimizer.zero_grad()
    loss = net(torch.ones(2, 3)).sum()
    loss.backward()  # started
    optimizer.step()
"""
FAULTS = {
    "random": "random",
    "seeded in between": "random",
    "number": "data",
    "data": "data",
    "control": "control",
    "random in a hook": "random",
    "control in a hook": "control",
    "number in a hook": "data",
    "control in a module's hook": "control",
    "number in a module's hook": "data",
    "number in a parameter's hook": "data",
}


def _pair(tmp_path: Path, fault: str, **options: Any) -> dict[str, Any]:
    folders = []
    for run in (1, 2):
        text = PROGRAM.replace("FAULT", fault).replace("RUN", str(run))
        folders.append(traced(written(tmp_path / "project", text), tmp_path / f"{run}", **options))
    return compared(*folders)


def test_the_program_repeats_where_nothing_varies(tmp_path: Path) -> None:
    assert _pair(tmp_path, "nothing")["equal"]


@pytest.mark.parametrize("fault", sorted(FAULTS))
def test_what_python_does_in_a_backward_pass_is_named_at_its_own_line(tmp_path: Path, fault: str) -> None:
    story = _pair(tmp_path, fault)["story"]
    assert story["cause"] == FAULTS[fault], story
    assert [place["line"] for place in story["stack"][:2]] == [line(PROGRAM, fault), line(PROGRAM, "started")]
    assert (story["backward"], story["step"]) == (True, 0)
    assert "backward" not in story["api"]


def test_functions_are_followed_where_pytorch_has_their_apply_in_c(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.autograd.Function, "apply", vars(torch._C._FunctionBase)["apply"])  # as from 2.14 on
    assert _pair(tmp_path, "random")["story"]["cause"] == "random"


def test_the_forward_pass_that_it_belongs_to_is_told_besides(tmp_path: Path) -> None:
    story = _pair(tmp_path, "random")["story"]
    assert [place["line"] for place in story["forward"][:2]] == [line(PROGRAM, "forward"), line(PROGRAM, "applied")]
    assert story["module"] == "Net"


@pytest.mark.parametrize("level", ["module", "api"])
def test_coarser_levels_claim_no_kernel(tmp_path: Path, level: str) -> None:
    story = _pair(tmp_path, "random", level=level)["story"]
    assert story["code"] == ""
    assert "level kernel" in story["said"] or "leaves out" in story["said"]
