"""What is worked out of code and can be worked out again: so much of it is kept at a time, and what was made first goes first.

A program of two thousand files has ten million ops. Whoever looks through it asks for most functions a few times, close together.
"""

from __future__ import annotations

import weakref
from collections import OrderedDict
from typing import Final, Protocol


class Forgets(Protocol):
    """Something that can forget what it has worked out."""

    def forget(self) -> None:
        """Work it out again when it is asked for next."""


class Kept:
    """What is kept.

    Args:
        most: how much, in whatever it is counted in.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._held = 0
        self._sizes: OrderedDict[weakref.ref[Forgets], int] = OrderedDict()
        """By who holds it, the first first."""

    def add(self, made: Forgets, size: int) -> None:
        """Something has worked out so much."""
        self._sizes[weakref.ref(made, self._freed)] = size
        self._held += size
        while self._held > self._most and len(self._sizes) > 1:
            first = next(iter(self._sizes))
            self._freed(first)
            if (oldest := first()) is not None:
                oldest.forget()

    def _freed(self, holder: weakref.ref[Forgets]) -> None:
        """What somebody has held is gone, perhaps with him."""
        self._held -= self._sizes.pop(holder, 0)


BODIES: Final = Kept(600_000)
"""Functions whose ops are decoded, with what is known of these: about 300 bytes an op."""
