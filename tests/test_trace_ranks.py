"""Traces of runs with several processes."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

pytest.importorskip("torch.distributed")

from forks import server
from traced import IMPORTS, QUIET, compared, line, shell, written

PROGRAM = """\
import ctypes, sys
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel

fault = sys.argv[2]
library = torch.library.Library("several", "DEF")
library.define("noisy(Tensor x) -> Tensor")


def noisy(x):
    return x + 2.0**-10 * (fault == "kernel")


library.impl("noisy", noisy, "CPU")


def main(rank, port):
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=2)
    torch.manual_seed(rank)
    net = DistributedDataParallel(nn.Linear(4, 2))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(2):
        x = torch.randn(3, 4)
        x = torch.ops.several.noisy(x) if rank == 1 else x  # kernel
        optimizer.zero_grad()
        total = torch.ones(3)
        work = dist.all_reduce(total, async_op=True)  # reduce
        work.wait()
        ctypes.memmove(total.data_ptr() + 2, bytes([fault == "collective"]), 1)
        (net(x).square().sum() + total.mul(2).sum()).backward()
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


def _trace(folder: Path, *options: str | Path, arguments: tuple[str, ...]) -> Path:
    python = server(IMPORTS["torch"], **QUIET).python
    done = shell(
        "trace", *options, folder, *arguments, cwd=folder.parent / "project", python=python, PYTHON_EXEC=python
    )
    assert done.returncode == 0, done.stderr
    return folder


def test_ranks_are_compared(tmp_path: Path) -> None:
    written(tmp_path / "project", PROGRAM)
    first, same, noisy, sent = (
        _trace(tmp_path / f"{number}", arguments=("train.py", _port(), fault))
        for number, fault in enumerate(("", "", "kernel", "collective"))
    )

    told = compared(first, same)
    assert told["equal"]
    assert [process["rank"] for process in told["processes"]] == [0, 1]

    told = compared(first, noisy)
    story = told["story"]
    assert (story["rank"], story["cause"], story["operator"]) == (1, "kernel", "several.noisy.default")
    assert story["stack"][0]["line"] == line(PROGRAM, "kernel")
    assert [process["cause"] for process in told["processes"]] == ["collective", "kernel"]

    story = compared(first, sent)["story"]
    assert (story["cause"], story["code"]) == ("collective", "DET605")
    assert story["operator"].startswith("c10d.allreduce_")
    assert story["stack"][0]["line"] == line(PROGRAM, "reduce")


def test_a_run_under_torchrun_has_a_file_for_each_rank(tmp_path: Path) -> None:
    text = "import torch, torch.distributed as dist\ndist.init_process_group('gloo')\nx = torch.ones(2)\ndist.all_reduce(x)\nx * 2\n"
    project = tmp_path / "project"
    written(project, text + "dist.destroy_process_group()\n")
    arguments = ("torch.distributed.run", "--nproc-per-node=2", "--master-port", _port(), "train.py")
    _trace(tmp_path / "a", "-m", arguments=arguments)
    names = {path.name for path in (tmp_path / "a").iterdir()}
    assert {"rank0.trace", "rank1.trace"} <= names
    told = compared(tmp_path / "a", tmp_path / "a")
    assert told["equal"]
    assert [process["rank"] for process in told["processes"]] == [0, 1]
