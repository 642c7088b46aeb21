"""Which definitions reach a place, and the ways out of loops: what has changed on each, by all that takes it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

BEFORE: Final = -1
"""What a name was when the function began, its parameter's value, or whatever it means outside."""
UNTOLD: Final = -2
"""Any of them: a function inside binds the name as well, or more than `MOST` reach the place."""
ONLY_BEFORE: Final = frozenset({BEFORE})
ANY: Final = frozenset({UNTOLD})
NONE: Final = frozenset[int]()
MOST: Final = 64
"""Definitions of a name that are told apart."""
Definitions = frozenset[int]
"""The positions of `STORE`s, `DELETE`s and `STAR_IMPORT`s, and what stands above."""
State = dict[int, Definitions]
"""Slot -> the definitions that reach a place; a slot that isn't there is as it was before."""
Trail = Sequence[tuple[int, Definitions | None]]
"""The slots that have changed, in order, and what each was before."""


def union(several: Iterable[Definitions]) -> Definitions:
    """What reaches a place by several ways."""
    found = NONE.union(*several)
    return ANY if UNTOLD in found or len(found) > MOST else found


class Way:
    """A way out of a loop, or of a part of a `try`, by all that takes it together: `break`, or `continue`.

    It may be taken thousands of times, so only what has changed since the last time is looked at.

    Args:
        mark: how long the trail was as the loop began.
    """

    def __init__(self, mark: int) -> None:
        self._state: State = {}
        self._partly: set[int] = set()
        """The slots of it that were as before the loop where something took this way."""
        self._is_taken = False
        self._upto = mark
        """How long the trail was at the shortest since it was taken last."""
        self._back: set[int] = set()
        """The slots that have gone back since then to what they were."""

    def take(self, now: State, trail: Trail) -> None:
        """Something takes it."""
        for slot in self._back.union(slot for slot, _ in trail[self._upto :]):
            found = now.get(slot, ONLY_BEFORE)
            if slot in self._state:
                found = union((found, self._state[slot]))
            elif self._is_taken:
                self._partly.add(slot)
            self._state[slot] = found
        self._is_taken, self._upto, self._back = True, len(trail), set()

    def back(self, trail: Trail, mark: int) -> None:
        """All is again as it was when the trail was so long."""
        if self._is_taken:
            self._back.update(slot for slot, _ in trail[mark:])
            self._upto = min(self._upto, mark)

    def states(self, before: State) -> list[State]:
        """What has changed on it since the loop began; nothing if nothing takes it.

        Args:
            before: what reaches the beginning of the loop.
        """
        for slot in self._partly:
            self._state[slot] = union((self._state[slot], before.get(slot, ONLY_BEFORE)))
        return [self._state] if self._is_taken else []


class Ways:
    """The ways out of a loop, or of a part of a `try`, around the place that is looked at."""

    def __init__(self, mark: int) -> None:
        self.broken, self.continued = Way(mark), Way(mark)

    def back(self, trail: Trail, mark: int) -> None:
        """As of each."""
        self.broken.back(trail, mark)
        self.continued.back(trail, mark)
