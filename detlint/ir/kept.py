"""What is worked out of code and can be worked out again: so much of it is kept at a time, and what was made first goes first.

A program of two thousand files has ten million ops. Whoever looks through it asks for most functions a few times, close together.
"""

from __future__ import annotations

import weakref
from collections import deque
from typing import Final, Protocol


class Forgets(Protocol):
    """Something that can forget what it has worked out."""

    def forget(self) -> None:
        """Work it out again when it is asked for next."""


class Kept:
    """What is kept.

    Args:
        most: how much, in ops.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._held = 0
        self._first: deque[tuple[weakref.ref[Forgets], int]] = deque()

    def add(self, made: Forgets, size: int) -> None:
        """Something has worked out so much."""
        self._first.append((weakref.ref(made), size))
        self._held += size
        while self._held > self._most and len(self._first) > 1:
            first, freed = self._first.popleft()
            self._held -= freed
            if (oldest := first()) is not None:
                oldest.forget()


BODIES: Final = Kept(600_000)
"""Functions whose ops are decoded, with what is known of these: about 300 bytes an op."""
