"""Which line of the user's led to a call."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from sysconfig import get_paths
from types import FrameType
from typing import Final

_OWN: Final = str(Path(__file__).parent.parent)
_PATHS: Final = get_paths()
_STANDARD: Final = {_PATHS["stdlib"], _PATHS["platstdlib"]}
_INSTALLED: Final = {_PATHS["purelib"], _PATHS["platlib"]}
_TORCH: Final = tuple(f"{folder}/torch" for folder in _INSTALLED)
_THROUGH: Final = (
    "/contextlib.py", "/functools.py", "/glob.py", "/os.py", "/pathlib.py", "/pathlib/__init__.py", "/pathlib/_local.py",
    "/runpy.py", "/shutil.py", "/threading.py",
)  # fmt: skip
"""Modules of Python's own that only do what they are called for."""
_GENERATED: Final = ("<frozen", "<recipe", "<__array_function__", "<eval_with_key>")
_AUTOGRAPH: Final = "__autograph_generated_file"
"""What TensorFlow makes of a function before it traces it; the lines are not the program's. What calls it, is."""


def place() -> tuple[str, int]:
    """File and line of the nearest frame in a program of the user's; else of the nearest outside of PyTorch and detlint."""
    second = ("", 0)
    for frame in _frames():
        name = frame.f_code.co_filename
        kind = whose(name)
        if kind == "user":
            return name, frame.f_lineno
        if kind != "machinery" and not second[0]:
            second = name, frame.f_lineno
    return second


def importing() -> bool:
    """Whether a library calls while it is being imported: what it makes for itself then is none of the user's doing."""
    library = False
    for frame in _frames():
        name = frame.f_code.co_filename
        if name.startswith("<frozen importlib"):
            return library
        kind = whose(name)
        if kind == "user":
            return False
        library = library or kind == "library"
    return False


def origin() -> tuple[str, str]:
    """What called: whose it is (`user`, `library`, `standard`), and a name of it that stays the same from run to run."""
    for frame in _frames():
        code = frame.f_code
        kind = whose(code.co_filename)
        if kind != "machinery":
            return kind, f"{Path(code.co_filename).name}:{code.co_name}"
    return "user", ""


def asks_itself() -> bool:
    """Whether the program's own code makes a call, directly or by a module of Python's that only does what it is called for; what
    PyTorch does for itself, to compile a function say, isn't the program's."""
    for frame in _frames():
        name = frame.f_code.co_filename
        if any(_inside(name, folder) for folder in _TORCH):
            return False
        kind = whose(name)
        if kind != "machinery":
            return kind == "user" or frame.f_globals.get("__name__") == "__main__"  # `python -c` has no file
    return False


def caller() -> str:
    """The module that called."""
    for frame in _frames():
        if whose(frame.f_code.co_filename) != "machinery":
            return str(frame.f_globals.get("__name__", ""))
    return ""


def is_own(filename: str) -> bool:
    """Whether a file is one of this package's."""
    return _inside(filename, _OWN)


def _frames() -> Iterator[FrameType]:
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        yield frame
        frame = frame.f_back


@lru_cache(4096)
def whose(filename: str) -> str:
    """Whose a file is: `user`, `library`, `standard` (Python's own), or `machinery`, which only does what it is called for."""
    if filename == "<string>":  # of `python -c`; but the methods that dataclasses get are of that name too
        return "library"
    if filename.startswith(_GENERATED) or _AUTOGRAPH in filename or _inside(filename, _OWN):
        return "machinery"
    for folder in _INSTALLED:
        if _inside(filename, folder):
            return "machinery" if any(_inside(filename, torch) for torch in _TORCH) else "library"
    if any(_inside(filename, folder) for folder in _STANDARD):
        return "machinery" if filename.replace("\\", "/").endswith(_THROUGH) else "standard"
    return "user"


def _inside(filename: str, folder: str) -> bool:
    return filename.replace("\\", "/").startswith(folder.replace("\\", "/") + "/")
