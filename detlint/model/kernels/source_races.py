"""Sources in C++: updates that threads of a kernel lose, as they read, add and store without waiting for one another.

What it may assume: an array that a kernel is handed is one for all its threads, and so is what stands in it. A place is shared for sure
only if it isn't made of a number that tells threads apart at all, or if the kernel adds to two rows of one array that tables tell, or to
one that is the rest of a division by how many there are: others come there, too. Kernels that swap may wait for one another.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from detlint.ir import ops as op
from detlint.ir.code import UNKNOWN, Function
from detlint.ir.places import Place
from detlint.model.kernels.locks import Sum, alike, sums_behind, varies
from detlint.model.kernels.numbers import FLOATS, WHOLE
from detlint.model.kernels.sources import Atomic
from detlint.model.kernels.writers import Writers

if TYPE_CHECKING:
    from detlint.model.kernels.sources import Source

_BOUNDS: Final = frozenset({"<", "<=", ">", ">="})
"""Tests that leave several out of several."""
_KNOWN: Final = ("first", "floats", "whole", "grids", "items", "block_items")
"""Functions whose results are made of their arguments, and of who calls them."""


def lost(source: Source) -> Iterator[Atomic]:
    """The additions of kernels to floating-point numbers of which some are lost."""
    for function in source.code.functions():
        around = function.parent
        kernel = any(source.terms.has("kernels", around.dotted(n)) for n in function.decorators) if around else False
        if kernel and not any(_waits(source, source.called(function, at)) for at, _ in function.each(op.CALL)):
            yield from _Kernel(source, function).lost()


def _waits(source: Source, name: str) -> bool:
    """Whether what is called may let threads wait for others."""
    return source.terms.has("swaps", name) or source.terms.has("exchanges", name)


class _Kernel:
    """One kernel."""

    def __init__(self, source: Source, function: Function) -> None:
        self._source, self._function = source, function
        self._writers = Writers(source.values, threads=False)

    def lost(self) -> Iterator[Atomic]:
        """What is lost of its additions."""
        function, values = self._function, self._source.values
        sums = [each for each in sums_behind(function, 0) if self._is_handed(each.place[0])]
        for each in sums:
            numbers = values.of(function, each.into), values.of(function, each.added)
            if FLOATS not in numbers or WHOLE in numbers or not varies(function, each.added):
                continue
            alone = self._source.ways.is_alone(function, each.at, each.place)
            others = [other for other in sums if self._array(other) == self._array(each)]
            if not alone and (self._misses(each) or self._meets(each, others)):
                yield Atomic(Place(function, each.at), "+=", FLOATS, is_lost=True)

    def _array(self, each: Sum) -> int:
        return self._writers.array(self._function, each.place[0])

    def _is_handed(self, place: int) -> bool:
        """Whether an address is one in an array that the kernel is handed."""
        array = self._writers.array(self._function, place)
        return 0 <= array < len(self._function.header.parameters)

    # -- places that are one for all --------------------------------------------------------------------------------

    def _misses(self, each: Sum) -> bool:
        """Whether a place isn't made of a number that tells threads apart who come there."""
        function, parts = self._function, self._parts(each)
        if not all(self._is_same_for_all(part) for part in parts):
            return False
        asked = self._writers.asked(function)
        running = self._writers.running(function, each.at, asked)
        mentioned = self._mentioned(parts)
        missing = {axis for axis in running if not any(said.startswith(axis) for said in mentioned)}
        return any(not self._is_left_out(each.at, axis) for axis in missing)

    def _parts(self, each: Sum) -> list[int]:
        """All that an address is made of."""
        return [*dict.fromkeys(n for value in each.place for n in self._function.made_of(value))]

    def _mentioned(self, values: Sequence[int]) -> set[str]:
        """The numbers of threads of which values are made."""
        function = self._function
        told = (n for n in values if self._writers.tells(function, n))
        return {axis for n in told for axis in self._writers.axes(function, n)}

    def _is_same_for_all(self, part: int) -> bool:
        """Whether a part of an address is known to tell threads apart, or to be the same for all."""
        function, terms = self._function, self._source.terms
        operation = function.ops[part]
        if operation[0] == op.CALL:
            name = self._source.called(function, part)
            cast = bool(terms.of_type(name)) or function.ops[operation[1]][0] in (op.ITEM, op.UNARY)
            return cast or any(terms.has(key, name) for key in _KNOWN)
        if operation[0] == op.ITEM:
            uses = function.users[part]
            return self._is_handed(part) or any(function.ops[u.op][0] == op.CALL and u.place == 1 for u in uses)
        if operation[0] == op.LOAD and function.binding(operation[1]).owner == function.number:
            return function.given(part) is not None or bool(function.stored(part))
        return operation[0] not in (op.FOR, op.PART)

    def _is_left_out(self, at: int, axis: str) -> bool:
        """Whether tests on the way may leave but one of an axis."""
        function = self._function
        for guard in function.guards(at):
            waiting = [guard.test]
            for test in waiting:  # grows meanwhile
                operation = function.ops[test]
                if operation[0] in (op.BINARY, op.CHOICE):
                    waiting += operation[2:4]
                elif operation[0] != op.COMPARE or function.strings[operation[2]] not in _BOUNDS:
                    return True
                elif axis in self._mentioned([*function.made_of(test)]):
                    sides = [function.constant(function.meant(side)) for side in (operation[1], operation[3])]
                    if any(side is not UNKNOWN for side in sides):
                        return True
        return False

    # -- rows that tables tell --------------------------------------------------------------------------------------

    def _meets(self, each: Sum, others: Sequence[Sum]) -> bool:
        """Whether a row is told by a table, and another addition to the array by another entry, or the entry is any of all."""
        own, parts = self._entries(each), self._parts(each)
        if any(self._is_rest(part) for part in parts) and not any(self._divides(part) for part in parts):
            return bool(own)
        rows = [self._entries(other) for other in others if other is not each]
        return bool(own) and any(row and not self._are_alike(own, row) for row in rows)

    def _entries(self, each: Sum) -> list[int]:
        """The entries of tables of whole numbers that tell a place."""
        function, values = self._function, self._source.values
        items = (n for n in self._parts(each) if function.ops[n][0] == op.ITEM and self._is_handed(n))
        whole = (n for n in items if values.of(function, n) == WHOLE)
        return [n for n in whole if function.constant(function.ops[n][2]) is UNKNOWN]

    def _are_alike(self, one: Sequence[int], other: Sequence[int]) -> bool:
        return any(alike(self._function, a, b) for a in one for b in other)

    def _divides(self, part: int) -> bool:
        """Whether a value is the other part of a division, which may keep apart what the rest doesn't."""
        operation = self._function.ops[part]
        return operation[0] == op.BINARY and self._function.strings[operation[1]] == "/"

    def _is_rest(self, part: int) -> bool:
        """Whether a value is the rest of what was loaded, by how many there are."""
        function = self._function
        operation = function.ops[part]
        rest = operation[0] == op.BINARY and function.strings[operation[1]] == "%"
        made = function.made_of(operation[2]) if rest else ()
        return any(function.ops[n][0] == op.ITEM and self._is_handed(n) for n in made)
