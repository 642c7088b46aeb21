"""Which line of the user's led to a call."""

from __future__ import annotations

import sys
from functools import lru_cache
from pathlib import Path
from sysconfig import get_paths
from types import FrameType
from typing import Final

_OWN: Final = str(Path(__file__).parent)
_INSTALLED: Final = tuple({get_paths()[kind] for kind in ("stdlib", "platstdlib", "purelib", "platlib")})


def place() -> tuple[str, int]:
    """File and line of the nearest frame in a program of the user's; else of the nearest outside of PyTorch and detlint."""
    frame: FrameType | None = sys._getframe(1)
    second = ("", 0)
    while frame is not None:
        name = frame.f_code.co_filename
        kind = _kind(name)
        if kind == "user":
            return name, frame.f_lineno
        if kind == "library" and not second[0]:
            second = name, frame.f_lineno
        frame = frame.f_back
    return second


@lru_cache(4096)
def _kind(filename: str) -> str:
    if filename.startswith(("<frozen", "<string>", "<__array_function__", "<eval_with_key>")) or _inside(filename, _OWN):
        return "machinery"
    if not any(_inside(filename, folder) for folder in _INSTALLED):
        return "user"
    return "machinery" if _package(filename) in ("torch", "contextlib.py", "threading.py", "runpy.py") else "library"


def _inside(filename: str, folder: str) -> bool:
    return filename.startswith(folder + "/") or filename.startswith(folder + "\\")


def _package(filename: str) -> str:
    """The first part of a path below the folder that things are installed in, the deepest that it is in."""
    folder = max((folder for folder in _INSTALLED if _inside(filename, folder)), key=len)
    return filename[len(folder) + 1 :].replace("\\", "/").partition("/")[0]
