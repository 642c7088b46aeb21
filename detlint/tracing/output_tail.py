"""The end of what a run has printed."""

from __future__ import annotations

from pathlib import Path
from typing import Final

_TAIL: Final = 20
_MOST_BYTES: Final = 1 << 16


def last(output: Path) -> str:
    """The last lines of what a run printed."""
    text = output.read_bytes()[-_MOST_BYTES:].decode("utf-8", "replace")
    return "\n".join(text.splitlines()[-_TAIL:])
