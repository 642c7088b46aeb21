"""Programs run against a double of an Ascend device, each in a process of its own.

The double is the package `torch_npu` beside this file. It is no emulator: kernels are the CPU's. What it shows is which
kernels ran "on the device", which random stream they drew from, in what order switches were set, and what comes of
kernels that vary.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from forks import Server, server

HERE = Path(__file__).parent
END = """
import os, sys
sys.stdout.flush()
sys.stderr.flush()
os._exit(0)
"""
"""A device has a thread of PyTorch's that computes its gradients. An interpreter that ends while that thread drops what is
left aborts at times, so programs end without: https://github.com/pytorch/pytorch/issues/38228."""


def supported() -> bool:
    """Whether this PyTorch can have a device that is written in Python."""
    try:
        from torch.utils.backend_registration import _setup_privateuseone_for_python_backend as needed
    except ImportError:
        return False
    return needed is not None


def environment(noisy: Iterable[str] = (), switched: Iterable[str] = ()) -> dict[str, str]:
    """The environment of a program that imports the double as `torch_npu`.

    Args:
        noisy: kernels that vary always: `aten.grid_sampler_2d_backward`.
        switched: kernels that vary in threads that began without PyTorch's deterministic switch.
    """
    paths = [str(HERE), str(HERE.parent.parent), os.environ.get("PYTHONPATH", "")]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "NPU_DOUBLE_NOISY": " ".join(noisy),
        "NPU_DOUBLE_SWITCHED": " ".join(switched),
    }


def process() -> Server:
    """The process that programs are forked from."""
    return server("import torch, torch._dynamo", PYTHONPATH=environment()["PYTHONPATH"], PYTHONWARNINGS="ignore")


def run(program: str, noisy: Iterable[str] = (), switched: Iterable[str] = ()) -> str:
    """What a program prints.

    Raises:
        AssertionError: it fails; with what it wrote to standard error.
    """
    variables = environment(noisy, switched)
    kernels = {name: variables[name] for name in ("NPU_DOUBLE_NOISY", "NPU_DOUBLE_SWITCHED")}
    done = process().run(program + END, cwd=None, **kernels)
    assert done.returncode == 0, done.stderr
    return done.stdout
