"""Atomic modes of AscendC, `SetAtomicAdd<float>()` to `SetAtomicNone()`: which copies add meanwhile, what, and to which places.

What it may assume: what is copied to a place that a table tells, or to a whole tensor, others copy to as well; where the numbers of the
kernel tell the place, it may be its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from detlint.ir import ops as op
from detlint.ir.code import UNKNOWN, Function
from detlint.model.kernels.numbers import Terms


class Modes:
    """Says what happens in a mode.

    Args:
        terms: what the catalog knows.
        functions: all of the source.
    """

    def __init__(self, terms: Terms, functions: list[Function]) -> None:
        self._terms = terms
        self._functions = functions

    def is_of_own_places(self, function: Function, at: int) -> bool:
        """Whether all that adds in the mode that a call begins does so to places that only the kernel's own numbers tell."""
        copies = [*self._copies(function, at)]
        return bool(copies) and all(self._is_own(function, call) for call in copies)

    def adds_counts(self, function: Function, at: int) -> bool:
        """Whether all that is added is written by hand, and whole: counts, which give the same in any order."""
        copies = [*self._copies(function, at)]
        added = [function.call(call).positional[1] for call in copies]
        return bool(copies) and all(self._is_count(function, value) for value in added)

    def _copies(self, function: Function, at: int) -> Iterator[int]:
        """The calls in the mode that are handed where to, and what; those of functions of the program's own among them."""
        for call, _ in function.each(op.CALL):
            name = self._last(function, call)
            if call > at and self._terms.has("mode_ends", name):
                return
            copies = self._terms.has("copies", name) or (not function.users[call] and function.called_on(call) < 0)
            if call > at and copies and len(function.call(call).positional) > 1:
                yield call

    def _is_own(self, function: Function, call: int) -> bool:
        operation = function.ops[function.call(call).positional[0]]
        if not self._terms.has("copies", self._last(function, call)) or operation[0] != op.ITEM:
            return False
        made = function.made_of(operation[2])
        return function.constant(operation[2]) is UNKNOWN and not any(self._is_entry(function, n) for n in made)

    def _is_entry(self, function: Function, value: int) -> bool:
        """Whether a value comes out of a tensor or array; what is cast, `static_cast<T>(x)`, is written like an item."""
        if function.ops[value][0] != op.ITEM:
            return self._terms.has("table_reads", self._last(function, value))
        return not any(use.place == 1 and function.ops[use.op][0] == op.CALL for use in function.users[value])

    def _is_count(self, function: Function, value: int) -> bool:
        """Whether every write to a tensor, in the whole source, puts a constant whole number there."""
        name = function.dotted(value)
        written = [number for each in self._functions for number in self._writes(each, name)] if name else []
        return bool(written) and all(written)

    def _writes(self, function: Function, name: str) -> Iterator[bool]:
        for call, _ in function.each(op.CALL):
            given, on = function.call(call).positional, function.called_on(call)
            fills = self._terms.has("fills", self._last(function, call))
            if len(given) < 2 or name not in (
                function.dotted(given[0]),
                function.dotted(on) if on >= 0 and fills else "",
            ):
                continue
            constant = function.constant(given[1])
            yield fills and isinstance(constant, int | float) and constant == int(constant)

    def _last(self, function: Function, call: int) -> str:
        operation = function.ops[call]
        return function.dotted(operation[1]).rpartition(".")[2] if operation[0] == op.CALL else ""
