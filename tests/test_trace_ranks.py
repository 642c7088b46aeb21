"""Traces of runs with several processes."""

from __future__ import annotations

import socket
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch.distributed")

from traced import compared, line, shell, written

PROGRAM = """\
import ctypes, os, sys
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel

library = torch.library.Library("several", "DEF")
library.define("noisy(Tensor x) -> Tensor")


def noisy(x):
    return x + int.from_bytes(os.urandom(4), "little") * 2.0**-34


library.impl("noisy", noisy, "CPU")


def main(rank, port):
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{{port}}", rank=rank, world_size=2)
    torch.manual_seed(rank)
    net = DistributedDataParallel(nn.Linear(4, 2))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(2):
        x = torch.randn(3, 4)
        {fault}
        optimizer.zero_grad()
        net(x).square().sum().backward()
        total = torch.ones(3)
        work = dist.all_reduce(total, async_op=True)  # reduce
        work.wait()
        {after}
        total.mul(2)  # use
        optimizer.step()
    del net  # before the group: to end both at once, PyTorch 2.13 may wait for itself forever
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(main, (int(sys.argv[1]),), nprocs=2)
"""


def _port() -> str:
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        return str(made.getsockname()[1])


def _pair(tmp_path: Path, fault: str = "pass", after: str = "pass") -> tuple[dict[str, Any], str]:
    text = PROGRAM.format(fault=fault, after=after)
    project = tmp_path / "project"
    written(project, text)
    for name in "ab":
        done = shell("trace", tmp_path / name, "train.py", _port(), cwd=project)
        assert done.returncode == 0, done.stderr
    return compared(tmp_path / "a", tmp_path / "b"), text


def test_clean_ranks_are_equal(tmp_path: Path) -> None:
    told, _ = _pair(tmp_path)
    assert told["equal"]
    assert [process["rank"] for process in told["processes"]] == [0, 1]


def test_the_rank_that_parts_first_is_named(tmp_path: Path) -> None:
    told, text = _pair(tmp_path, fault="x = torch.ops.several.noisy(x) if rank == 1 else x  # fault")
    story = told["story"]
    assert (story["rank"], story["cause"], story["operator"]) == (1, "kernel", "several.noisy.default")
    assert story["stack"][0]["line"] == line(text, "fault")
    assert [process["cause"] for process in told["processes"]] == ["collective", "kernel"]


def test_communication_is_blamed_where_all_gave_the_same(tmp_path: Path) -> None:
    told, text = _pair(tmp_path, after="ctypes.memmove(total.data_ptr(), os.urandom(2), 2)")
    story = told["story"]
    assert (story["cause"], story["code"]) == ("collective", "DET605")
    assert story["operator"].startswith("c10d.allreduce_")
    assert story["stack"][0]["line"] == line(text, "reduce")


def test_a_run_under_torchrun_has_a_file_for_each_rank(tmp_path: Path) -> None:
    text = "import torch, torch.distributed as dist\ndist.init_process_group('gloo')\nx = torch.ones(2)\ndist.all_reduce(x)\nx * 2\n"
    project = tmp_path / "project"
    written(project, text + "dist.destroy_process_group()\n")
    arguments = ("torch.distributed.run", "--nproc-per-node=2", "--master-port", _port(), "train.py")
    done = shell("trace", "-m", tmp_path / "a", *arguments, cwd=project, PYTHON_EXEC=sys.executable)
    assert done.returncode == 0, done.stderr
    names = {path.name for path in (tmp_path / "a").iterdir()}
    assert {"rank0.trace", "rank1.trace"} <= names
    told = compared(tmp_path / "a", tmp_path / "a")
    assert told["equal"]
    assert [process["rank"] for process in told["processes"]] == [0, 1]
