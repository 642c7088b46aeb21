"""`detlint verify --resume-at`: what a program doesn't restore is named, and one that restores everything is equal."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("torch")

from forks import server
from traced import IMPORTS, QUIET, shell, written

PROGRAM = """\
import os, sys
import numpy as np
import torch
from torch.utils.data import DataLoader
from detlint.runtime import load_state_dict, state_dict

np.random.seed(1)
torch.manual_seed(1)
net = torch.nn.Sequential(torch.nn.Linear(1, 4), torch.nn.BatchNorm1d(4), torch.nn.Dropout(0.5), torch.nn.Linear(4, 1))
optimizer = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9)
loader = DataLoader(torch.arange(12.0).view(12, 1), 2, shuffle=True)
path, step = os.path.join(sys.argv[1], "checkpoint.pt"), 0
if "--resume" in sys.argv:
    saved = torch.load(path, weights_only=True)
    net.load_state_dict(saved["net"])
    optimizer.load_state_dict(saved["optimizer"])
    step = saved["step"]
    {lack}
    load_state_dict(saved["run"], loader=loader)
while True:
    for x in loader:
        optimizer.zero_grad()
        (net(x) * np.random.rand()).square().mean().backward()
        optimizer.step()
        step += 1
        if step == 4:
            kept = {{"net": net.state_dict(), "optimizer": optimizer.state_dict(), "step": step}}
            torch.save({{**kept, "run": state_dict(loader=loader)}}, path)
"""


@pytest.mark.parametrize(
    ("lack", "missing"),
    [("pass", []), ('saved["run"]["streams"].pop("numpy")', [("stream", "numpy")])],
    ids=["nothing", "numpy"],
)
def test_a_program_that_is_broken_off_and_started_again(
    tmp_path: Path, lack: str, missing: list[tuple[str, str]]
) -> None:
    written(tmp_path, PROGRAM.format(lack=lack))
    options = ("--resume-at", "5", "--resume-with", "--resume", "--output-format", "json")
    python = server(IMPORTS["torch"], **QUIET).python
    done = shell("verify", *options, "train.py", "{run}", cwd=tmp_path, python=python)
    assert done.returncode == bool(missing), done.stdout + done.stderr
    told = json.loads(done.stdout)
    assert told["at"] == 4
    assert [(one["kind"], one["name"]) for one in told["missing"]] == missing


def test_how_it_goes_on_must_be_told(tmp_path: Path) -> None:
    written(tmp_path, "pass\n")
    done = shell("verify", "--resume-at", "5", "train.py", cwd=tmp_path)
    assert done.returncode == 2
    assert "--resume-with" in done.stderr
