"""Data pipelines in which nothing draws: how far one of them has come when the next one begins makes no difference.

What it may assume: what a library's data set does to its data is what the catalog says of that; what isn't of that library may draw.
"""

from __future__ import annotations

from typing import Final

from detlint.catalog import SHUFFLED, TRANSFORM
from detlint.domains.matching.match import Matcher
from detlint.ir import ops as op
from detlint.ir.code import Function
from detlint.model.meaning import Meaning
from detlint.model.module import Module
from detlint.model.places import call_at
from detlint.model.uses import Users

_DEEPEST: Final = 40
_HELD: Final = frozenset({op.LIST, op.TUPLE})


class FixedData:
    """Looks at what a data set is made of."""

    def __init__(self, matcher: Matcher, users: Users) -> None:
        self._matcher = matcher
        self._users = users

    def holds(self, module: Module, index: int, name: str) -> bool:
        """Whether nothing draws in the data set whose method a site calls.

        Args:
            name: the method, by its full name.
        """
        call = call_at(self._users.resolver, self._users.meanings, module, module.sites[index])
        meaning, place = call if call is not None else (None, None)
        base = place.function.called_on(place.at) if place is not None else -1
        if meaning is None or place is None or base < 0:
            return False
        library = name.rpartition(".")[0].rpartition(".")[0]
        return self._is_fixed(meaning, place.function, base, f"{library}.", _DEEPEST)

    def _is_fixed(self, meaning: Meaning, function: Function, at: int, library: str, left: int) -> bool:
        """Whether a value surely draws nothing: a constant, or what the library makes of such values."""
        operation = function.ops[at]
        if not left:
            return False
        if operation[0] == op.CONST:
            return True
        if operation[0] in _HELD:
            return all(self._is_fixed(meaning, function, item, library, left - 1) for item in operation[1:])
        if operation[0] == op.LOAD:
            stored = function.stored(at)
            return bool(stored) and all(
                self._is_fixed(meaning, function, v, library, left - 1) for v in stored or () if v < at
            )
        if operation[0] != op.CALL or not meaning.name(function, operation[1]).startswith(library):
            return False
        if function.unpacks(at) or self._draws(meaning, function, at):
            return False
        base = function.called_on(at)
        made_of = [*function.call(at).values()]
        method = base >= 0 and not meaning.name(function, base)
        return all(
            self._is_fixed(meaning, function, v, library, left - 1) for v in [*made_of, *([base] if method else [])]
        )

    def _draws(self, meaning: Meaning, function: Function, at: int) -> bool:
        """Whether a call of the library draws, or may do so, by what the catalog knows."""
        span = function.spans[at]
        found = [n for n, site in enumerate(meaning.module.sites) if site.kind == "call" and site.span.place == span]
        matches = [match for n in found for match in self._matcher.matches(meaning.module, n)]
        return any(m.entry.draws or m.entry.rule in (TRANSFORM, SHUFFLED) for m in matches)
