"""`detlint verify` names the line where a difference begins, whatever else differs beside it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from forks import server
from traced import IMPORTS, QUIET, line, model, pair, shell, written

WORKERS = """\
import time
import numpy as np
import torch


class Data(torch.utils.data.Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, i):
        return torch.ones(3) * float(np.random.default_rng().uniform())  # fault


torch.manual_seed(0)
begun = torch.tensor(time.time() % 1)  # meter
net = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for batch in torch.utils.data.DataLoader(Data(), batch_size=4, num_workers=1, multiprocessing_context="fork"):
    net(batch).sum().backward()
    optimizer.step()
"""
EMPTY = """\
import os
import torch

torch.manual_seed(0)
net = torch.nn.Linear(3, 1)
x = torch.empty(2, 3)  # fault
x[:, :2] = 1
if not os.path.exists("run"):
    open("run", "w").close()
    x[:, 2] = 5  # as if that memory held something
net(x).sum().backward()
torch.optim.SGD(net.parameters(), lr=0.1).step()
"""
CLOCK = """\
import pickle
from datetime import datetime
import torch


def jitter():
    now = datetime.now()  # fault
    assert type(now) is datetime and pickle.loads(pickle.dumps(now)) == now
    return now.microsecond / 1e6


torch.manual_seed(0)
net = torch.nn.Linear(3, 1)
meter = torch.tensor(datetime.now().microsecond)
net(torch.ones(2, 3) + jitter()).sum().backward()
torch.optim.SGD(net.parameters(), lr=0.1).step()
"""
LATE = """\
import time
import torch

torch.manual_seed(0)
net = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(40):
    if step == 30:
        torch.manual_seed(time.time_ns())  # fault
    net(torch.rand(2, 3)).square().sum().backward()
    optimizer.step()
"""


def _verified(tmp_path: Path, text: str, *options: str) -> dict[str, Any]:
    written(tmp_path / "project", text)
    python = server(IMPORTS["torch"], **QUIET).python
    command = ("verify", "--as-is", "--output-format", "json", *options, "train.py")
    done = shell(*command, cwd=tmp_path / "project", python=python)
    assert done.returncode == 1, done.stdout + done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    assert told["trace"] is not None, told["said"]
    return told


def test_a_worker_s_draw_is_named_and_a_meter_is_not(tmp_path: Path) -> None:
    trace = _verified(tmp_path, WORKERS)["trace"]
    story = trace["story"]
    assert (story["cause"], story["code"], story["operator"]) == ("random", "DET103", "numpy.random.default_rng")
    assert story["stack"][0]["line"] == line(WORKERS, "fault")
    assert trace["apart"] == [f"`torch.tensor` (train.py:{line(WORKERS, 'meter')})"]


def test_memory_that_is_read_before_it_is_written_is_named(tmp_path: Path) -> None:
    story = _verified(tmp_path, EMPTY)["trace"]["story"]
    assert (story["cause"], story["operator"]) == ("memory", "aten.empty.memory_format")
    assert story["stack"][0]["line"] == line(EMPTY, "fault")


def test_the_time_of_a_date_is_named(tmp_path: Path) -> None:
    story = _verified(tmp_path, CLOCK)["trace"]["story"]
    assert (story["operator"], story["stack"][0]["line"]) == ("datetime.datetime.now", line(CLOCK, "fault"))


def test_of_a_long_run_only_what_is_next_to_the_difference_is_traced(tmp_path: Path) -> None:
    told = _verified(tmp_path, LATE, "--iterations", "0")
    story = told["trace"]["story"]
    assert (story["cause"], story["operator"]) == ("random", "torch.manual_seed")
    assert story["stack"][0]["line"] == line(LATE, "fault")
    assert told["first"]["iteration"] == 30
    assert told["trace"]["processes"][0]["rows"][0] < 150


def test_what_no_loss_is_made_of_is_no_difference(tmp_path: Path) -> None:
    told = pair(tmp_path, model(after="torch.tensor(__import__('time').time_ns()).mul(2)"))
    assert told["equal"]
    assert told["apart"] == ["`torch.tensor` (train.py:31)"]
