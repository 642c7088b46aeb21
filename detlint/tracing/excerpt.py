"""Lines of the files that a trace names. A trace may come from elsewhere, and name anything."""

from __future__ import annotations

import linecache
import os
from typing import Final

_MOST: Final = 16 << 20
"""Bytes: larger files are no sources."""


def line(file: str, number: int) -> str:
    """A line of a source; empty where there is none, or the file is no source."""
    try:
        fit = file.endswith((".py", ".ipynb")) and os.path.isfile(file) and os.path.getsize(file) <= _MOST
        return linecache.getline(file, number) if fit else ""
    except (OSError, ValueError):  # a name with a NUL
        return ""
