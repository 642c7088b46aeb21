"""What a run is run with: what a trace's header says."""

from __future__ import annotations

import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

from detlint import git as repository

LIBRARIES: Final = (
    "torch", "torch_npu", "torchvision", "numpy", "mindspore", "tensorflow", "tensorflow-cpu", "keras", "detlint",
)  # fmt: skip
PREFIXES: Final = (
    "CUBLAS_", "CUDA_", "CUDNN_", "NCCL_", "HCCL_", "LCCL_", "ASCEND_", "ATB_", "TORCH_", "TF_", "XLA_", "MS_", "OMP_", "MKL_",
    "PYTHONHASHSEED", "RANK", "LOCAL_RANK", "WORLD_SIZE", "CLOSE_MATMUL_K_SHIFT", "FLASH_ATTENTION_DETERMINISTIC",
    "DETLINT_",
)  # fmt: skip
"""Variables that may change what a run computes."""
_PATIENCE: Final = 10
"""Seconds that git is given."""


def versions() -> dict[str, str]:
    """The installed versions of the libraries that compute."""
    found = {}
    for library in LIBRARIES:
        try:
            found[library] = version(library)
        except PackageNotFoundError:
            continue
    return found


def variables() -> dict[str, str]:
    """The environment variables that may change what a run computes."""
    return {name: value for name, value in sorted(os.environ.items()) if name.startswith(PREFIXES)}


def git() -> dict[str, str]:
    """The commit of the current folder, and whether files differ from it; nothing where there is none, or git takes too long."""
    here = Path.cwd()
    try:
        commit = repository.run(here, "rev-parse", "HEAD", timeout=_PATIENCE).decode().strip()
        changed = repository.diff(here, "--name-only", "--no-renames", "HEAD", timeout=_PATIENCE)
    except (OSError, repository.Failed):
        return {}
    return {"commit": commit, "changed": "yes" if changed else "no"}


def interpreter() -> str:
    """The version of Python."""
    return f"{platform.python_implementation()} {platform.python_version()}"


def machine() -> str:
    """The system and the processor."""
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors"


def rank() -> tuple[int | None, int | None]:
    """The number of this process among several, and how many there are, as launchers say it."""
    name, world = os.environ.get("RANK") or os.environ.get("RANK_ID"), os.environ.get("WORLD_SIZE")
    return _number(name), _number(world or os.environ.get("RANK_SIZE"))


def argv() -> list[str]:
    """The program and its arguments."""
    return [*sys.argv]


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdecimal() else None
