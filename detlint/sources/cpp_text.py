"""The text of a source in C++ or CUDA: whether a file is one, and whether it may hold a finding at all. Knowing this needs no parser."""

from __future__ import annotations

import os
from typing import Final

SUFFIXES: Final = (".cu", ".cuh", ".hip", ".cpp", ".asc")
WORDS: Final = (
    b"tomicAdd",
    b"tomicSub",
    b"tomicCAS",
    b"fetch_add",
    b"SetAtomic",
    b"atomic_add",
    b"red.",
    b"atom.",
    b"red_add",
    b"detlint",
)
"""One of these is in each source that adds atomically, or that has a comment for detlint."""


def is_cpp(path: str | os.PathLike[str]) -> bool:
    """Whether a file is C++ or CUDA, by its name."""
    return os.fspath(path).endswith(SUFFIXES)


def may_add(data: bytes) -> bool:
    """Whether a source may add atomically, or has a comment for detlint."""
    return any(word in data for word in WORDS)
