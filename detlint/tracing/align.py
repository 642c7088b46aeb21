"""Lays two sequences of rows side by side, where they call the same operators from the same lines."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterator
from itertools import islice
from typing import Final, Generic, TypeVar

T = TypeVar("T")
_RUN: Final = 4
"""How many items in a row must agree again after a gap."""
_WINDOWS: Final = (64, 1024, 16384)
"""How far to look for that, from the nearest."""


class Keyed(Generic[T]):
    """A sequence whose items have keys, with a look at what comes next."""

    def __init__(self, items: Iterator[tuple[Hashable, T]]) -> None:
        self._items = items
        self._ahead: deque[tuple[Hashable, T]] = deque()

    def pop(self) -> tuple[Hashable, T] | None:
        """The next item; None at the end."""
        return self._ahead.popleft() if self._ahead else next(self._items, None)

    def push(self, item: tuple[Hashable, T]) -> None:
        """Put an item back."""
        self._ahead.appendleft(item)

    def keys(self, count: int) -> list[Hashable]:
        """The keys of the next items, as many as there are."""
        missing = count - len(self._ahead)
        if missing > 0:
            self._ahead.extend(islice(self._items, missing))
        return [key for key, _ in islice(self._ahead, count)]


def align(left: Keyed[T], right: Keyed[T]) -> Iterator[tuple[T | None, T | None]]:
    """Pairs of items with the same key; where one sequence has more, its items come alone.

    After a gap the sequences go on where `_RUN` keys agree again, or as many as are left, with the fewest items left alone.
    What doesn't agree again within the widest window stays alone, window by window: memory is bounded by it.
    """
    while True:
        one, other = left.pop(), right.pop()
        if one is None and other is None:
            return
        if one is not None and other is not None and one[0] == other[0]:
            yield one[1], other[1]
            continue
        for side, item in ((left, one), (right, other)):
            if item is not None:
                side.push(item)
        skip = _gap(left, right)
        for _ in range(skip[0]):
            alone = left.pop()
            yield (alone[1] if alone else None), None
        for _ in range(skip[1]):
            alone = right.pop()
            yield None, (alone[1] if alone else None)


def _gap(left: Keyed[T], right: Keyed[T]) -> tuple[int, int]:
    """How many items of each stand alone before the sequences agree again."""
    for window in _WINDOWS:
        ours, others = left.keys(window + _RUN), right.keys(window + _RUN)
        found = _meeting(ours, others, window)
        if found is not None:
            return found
        if len(ours) < window and len(others) < window:
            break
    return min(len(ours), _WINDOWS[-1]), min(len(others), _WINDOWS[-1])


def _meeting(ours: list[Hashable], others: list[Hashable], window: int) -> tuple[int, int] | None:
    first: dict[tuple[Hashable, ...], int] = {}
    for j in range(min(window, len(others))):
        first.setdefault(tuple(others[j : j + _RUN]), j)
    met = ((i, first.get(tuple(ours[i : i + _RUN]))) for i in range(min(window, len(ours))))
    return min(((i, j) for i, j in met if j is not None), key=lambda pair: (sum(pair), pair), default=None)
