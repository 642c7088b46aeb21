"""The text of a source in C++ or CUDA: whether a file is one, and whether it may hold a finding at all. Knowing this needs no parser."""

from __future__ import annotations

import os
from typing import Final

from detlint.ir import cpp

SUFFIXES: Final = (
    ".cu",
    ".cuh",
    ".hip",
    ".cpp",
    ".h",
    ".hpp",
    ".cc",
    ".cxx",
    ".c",
    ".hh",
    ".inl",
    ".asc",
    ".cl",
    ".metal",
    ".mu",
)


def is_cpp(path: str | os.PathLike[str]) -> bool:
    """Whether a file is C++ or CUDA, by its name."""
    return os.fspath(path).endswith(SUFFIXES)


def may_add(data: bytes) -> bool:
    """Whether a source may add atomically, has a kernel, which may lose what it adds, or a comment for detlint."""
    return b"detlint" in data or b"__global__" in data or cpp.may_add(data)
