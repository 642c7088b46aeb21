"""Calls whose frames lie in one piece of memory.

CPython keeps the frames of a thread in pieces of 16 KiB. It takes another from the system where a call doesn't fit in, and gives it back
when that returns: who calls something again and again just there waits for the system. It was two fifths of the time that a check of timm
took. A piece is as large as the first frame in it asks for, rounded up to a power of two, so below one that takes somewhat more than half
of some megabytes the rest is free for all others. What nobody touches takes no memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

T = TypeVar("T")

_WORDS: Final = 2**21 + 1
"""Words of eight bytes that a frame asks for: of a piece of 32 MiB that leaves nearly 16, some hundred thousand calls."""


def in_one_piece(work: Callable[[], T]) -> T:
    """What a function gives."""
    return work()


in_one_piece.__code__ = in_one_piece.__code__.replace(co_stacksize=_WORDS)
