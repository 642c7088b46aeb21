"""Values that may come to themselves, by a fixed point: each is found out once in each round, however many ways lead to it.

What comes back to a value that is being found out is assumed to be what the round before has found, at first nothing. Once that
doesn't grow any more, all that rests on it is known, for whoever asks later, who then rests on what it rests on. The lattice is
finite, and assumptions only grow; so the rounds end.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Final

from detlint.db.database import Database
from detlint.domains.device.where import NOWHERE, OPEN, Context, Where

DEEPEST: Final = 400
"""So many values may be made of one another; what is farther away isn't known."""
_NOTHING: Final = 1 << 30
"""The depth of what doesn't come to anything that is being found out."""

Key = tuple[str, int, int, Context]


class Search:
    """What values come to, for as long as the program stays as it is."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._known: dict[Key, tuple[Where, dict[int, None]]] = {}
        """What is known, with what that rests on in the database."""
        self._open: dict[Key, int] = {}
        """What is being found out -> how deep it stands."""
        self._passing: dict[Key, tuple[int, Where]] = {}
        """What was found in this round -> the depth of the outermost on which it rests, and what."""
        self._assumed: dict[Key, Where] = {}
        self._rests_on = _NOTHING
        """The depth of the outermost on which rests what is being found out."""
        self._cut = False
        """Whether something was too far away to be found out: nearer to it more may be known, so only who has asked is answered."""

    def of(self, key: Key, ask: Callable[[], Where]) -> Where:
        """What `ask` comes to; it asks for others by the same search."""
        if key in self._known:
            found, noted = self._known[key]
            self._db.asked.update(noted)
            return found
        if key in self._passing:
            depth, found = self._passing[key]
            self._rests_on = min(self._rests_on, depth)
            return found
        if key in self._open:
            self._rests_on = min(self._rests_on, self._open[key])
            return self._assumed.get(key, NOWHERE)
        if len(self._open) > DEEPEST:
            self._rests_on, self._cut = 0, True
            return OPEN
        outer = self._rests_on
        found = self._in_rounds(key, ask)
        self._rests_on = min(outer, self._rests_on)
        return found

    def _in_rounds(self, key: Key, ask: Callable[[], Where]) -> Where:
        depth, begun = len(self._open), len(self._passing)
        with self._db.noting() as noted:
            found = self._once(key, ask, depth)
            while self._rests_on == depth and (grown := self._grown(key, found, begun)):
                self._assumed.update(grown)
                self._forget(begun)
                found = self._once(key, ask, depth)
        self._db.asked.update(noted)
        if self._rests_on < depth:
            self._passing[key] = self._rests_on, found
            return found
        rests = self._db.shared(noted)
        round_ = {key: found} if self._cut and not depth else self._round(key, found, begun)
        self._known.update({other: (where, rests) for other, where in round_.items()})
        for other in round_:
            self._assumed.pop(other, None)
        self._forget(begun)
        self._rests_on, self._cut = _NOTHING, self._cut and depth > 0
        return found

    def _once(self, key: Key, ask: Callable[[], Where], depth: int) -> Where:
        self._open[key], self._rests_on = depth, _NOTHING
        try:
            return ask()
        finally:
            del self._open[key]

    def _round(self, key: Key, found: Where, begun: int) -> dict[Key, Where]:
        """What was found in a round, which began when so many were passing."""
        return {other: where for other, (_, where) in islice(self._passing.items(), begun, None)} | {key: found}

    def _grown(self, key: Key, found: Where, begun: int) -> dict[Key, Where]:
        """Of that, what is more than was assumed."""
        round_, assumed = self._round(key, found, begun), self._assumed
        more = {other: max(where, assumed.get(other, NOWHERE)) for other, where in round_.items()}
        return {other: where for other, where in more.items() if where != assumed.get(other, NOWHERE)}

    def _forget(self, begun: int) -> None:
        for other in [*islice(self._passing, begun, None)]:
            del self._passing[other]
