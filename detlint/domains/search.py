"""Values that may come to themselves, by a fixed point: each is found out once in each round, however many ways lead to it.

What comes back to a value that is being found out is assumed to be what the round before has found, at first nothing. Once that
doesn't grow any more, all that rests on it is known. The lattice is finite, and assumptions only grow; so the rounds end.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Final

from detlint.domains.where import NOWHERE, UNKNOWN, Context, Where

DEEPEST: Final = 120
"""So many values may be made of one another; what is farther away isn't known."""
_NOTHING: Final = 1 << 30
"""The depth of what doesn't come to anything that is being found out."""

Key = tuple[str, int, int, Context]


class Search:
    """What one question comes to."""

    def __init__(self) -> None:
        self._known: dict[Key, Where] = {}
        self._open: dict[Key, int] = {}
        """What is being found out -> how deep it stands."""
        self._passing: dict[Key, tuple[int, Where]] = {}
        """What was found in this round -> the depth of the outermost on which it rests, and what."""
        self._assumed: dict[Key, Where] = {}
        self._rests_on = _NOTHING
        """The depth of the outermost on which rests what is being found out."""

    def of(self, key: Key, ask: Callable[[], Where]) -> Where:
        """What `ask` comes to; it asks for others by the same search."""
        if key in self._known:
            return self._known[key]
        if key in self._passing:
            depth, found = self._passing[key]
            self._rests_on = min(self._rests_on, depth)
            return found
        if key in self._open:
            self._rests_on = min(self._rests_on, self._open[key])
            return self._assumed.get(key, NOWHERE)
        if len(self._open) > DEEPEST:
            self._rests_on = 0
            return UNKNOWN
        outer = self._rests_on
        found = self._in_rounds(key, ask)
        self._rests_on = min(outer, self._rests_on)
        return found

    def _in_rounds(self, key: Key, ask: Callable[[], Where]) -> Where:
        depth, begun = len(self._open), len(self._passing)
        while True:
            self._open[key], self._rests_on = depth, _NOTHING
            found = ask()
            del self._open[key]
            if self._rests_on < depth:
                self._passing[key] = self._rests_on, found
                return found
            round_ = {other: value for other, (_, value) in islice(self._passing.items(), begun, None)} | {key: found}
            for other in [*islice(self._passing, begun, None)]:
                del self._passing[other]
            grown = {k: v for k, v in round_.items() if not v <= self._assumed.get(k, NOWHERE)}
            if self._rests_on == _NOTHING or not grown:
                self._known.update(round_)
                self._rests_on = _NOTHING
                return found
            self._assumed.update({k: v | self._assumed.get(k, NOWHERE) for k, v in grown.items()})
