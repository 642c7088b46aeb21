"""Sources in C++: what adds by a swap, which is done again until nothing came between: `atomicCAS(p, old, bits(old + x)) != old`,
`atomicExch(p, atomicExch(p, 0) + x)`, `total.compare_exchange_weak(old, old + x)`.

What it may assume: what is put there is a sum if a part of it is one of what was there before, whose bits may be kept in a union, or
copied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from detlint.ir import ops as op
from detlint.ir.code import Function
from detlint.model.kernels.numbers import FLOATS, OPEN, WHOLE, Numbers

if TYPE_CHECKING:
    from detlint.model.kernels.sources import Source

_SIGNS: Final = frozenset({"+", "-"})
_COMPUTING: Final = ("additions", "bits", "first", "floats")
"""What functions are called that compute with their arguments."""


class Swapped(NamedTuple):
    """What a swap adds."""

    place: int
    """The address, or the atomic variable."""
    added: int
    """The sum that is put there."""
    numbers: Numbers


class Swaps:
    """Knows what swaps add in a source."""

    def __init__(self, source: Source) -> None:
        self._source, self._terms = source, source.terms

    def at(self, function: Function, at: int, name: str) -> Swapped | None:
        """What a call adds to a place by swapping; None where it does no such thing."""
        given, on = function.call(at).positional, function.called_on(at)
        if self._terms.has("swaps", name) and len(given) > 2:
            return self._put(function, at, given[0], given[2], given[1])
        if self._terms.has("swapping_methods", name) and len(given) > 1 and on >= 0:
            found = self._put(function, at, on, given[1], given[0])
            numbers = self._source.values.of(function, on)
            return found if found is not None and (found.numbers == FLOATS or numbers == FLOATS) else None
        if self._terms.has("exchanges", name) and len(given) > 1:
            return self._exchanged(function, *given[:2])
        return None

    def _put(self, function: Function, call: int, place: int, put: int, expected: int) -> Swapped | None:
        """What a call adds to what is expected there, if that are floating-point numbers."""
        made = [*self._computed(function, put)]
        is_bits = any(self._is_bits(function, n) for n in made)
        before = self._names(function, expected, call)
        for at, sides in self._sums(function, made):
            numbers = self._source.values.of(function, at)
            known = numbers == FLOATS or (numbers == OPEN and is_bits)
            if known and any(not before.isdisjoint(self._names(function, side, call)) for side in sides):
                return Swapped(place, at, FLOATS)
        return None

    def _exchanged(self, function: Function, place: int, put: int) -> Swapped | None:
        """What is added to what was taken away from there, `atomicExch(p, 0) + x`."""
        for at, sides in self._sums(function, self._computed(function, put)):
            taken = (n for side in sides for n in function.made_of(side) if function.ops[n][0] == op.CALL)
            numbers = self._source.values.of(function, at)
            if numbers != WHOLE and any(self._terms.has("exchanges", self._source.called(function, n)) for n in taken):
                return Swapped(place, at, numbers)
        return None

    def _sums(self, function: Function, values: Iterable[int]) -> Iterator[tuple[int, Sequence[int]]]:
        """The sums among values, and what they are of."""
        for at in values:
            operation = function.ops[at]
            if operation[0] in (op.BINARY, op.AUGMENT) and function.strings[operation[1]] in _SIGNS:
                yield at, operation[2:4]
            elif operation[0] == op.CALL and self._terms.has("additions", self._source.called(function, at)):
                yield at, function.call(at).positional

    def _is_bits(self, function: Function, at: int) -> bool:
        """Whether an op takes the bits of a number for another one."""
        operation = function.ops[at]
        if operation[0] == op.CALL:
            return _is_pointer(function, operation[1]) or self._terms.has("bits", self._source.called(function, at))
        return operation[0] == op.ATTR and any(self._set_parts(function, at))

    def _names(self, function: Function, value: int, but: int) -> set[int]:
        """The names of which a value is made, but through the result of a call."""
        made = self.made_of(function, value, but)
        return {function.ops[at][1] for at in made if function.ops[at][0] == op.LOAD}

    def made_of(self, function: Function, value: int, but: int = -1) -> Iterator[int]:
        """A value and all that it may be made of, also by parts that are set, `bits.f = x`, and bytes that are copied to its address.

        Args:
            but: a call whose result isn't gone into.
        """
        return self._followed(function, value, lambda at: () if at == but else function.values(at))

    def _computed(self, function: Function, value: int) -> Iterator[int]:
        """The same, but for addresses from which something is loaded."""
        return self._followed(function, value, lambda at: self._operands(function, at))

    def _operands(self, function: Function, at: int) -> Sequence[int]:
        """Of what an op computes its value."""
        operation = function.ops[at]
        if operation[0] == op.CALL:
            name, given = self._source.called(function, at), function.call(at).positional
            known = len(given) == 1 or any(self._terms.has(key, name) for key in _COMPUTING)
            return given if known and not self._terms.has("loads", name) else ()
        if operation[0] == op.UNARY and function.strings[operation[1]] == "*":
            return operation[2:] if _is_own(function, operation[2]) else ()
        return operation[1:2] if operation[0] == op.ITEM else function.values(at)

    def _followed(self, function: Function, value: int, operands: Callable[[int], Sequence[int]]) -> Iterator[int]:
        waiting = [value]
        for at in waiting:  # grows meanwhile
            yield at
            reaching = function.flow.reaching.get(at, ()) if function.ops[at][0] == op.LOAD else ()
            stores = [function.ops[definition] for definition in reaching if definition >= 0]
            kept = sorted(store[2] for store in stores if store[0] == op.STORE)
            parts = [*operands(at), *kept, *self._set_parts(function, at)]
            waiting += (part for part in dict.fromkeys(parts) if part not in waiting)

    def _set_parts(self, function: Function, at: int) -> Iterator[int]:
        """What is put into a variable but by its name."""
        root = _variable(function, at)
        if root[0] != op.LOAD:
            return
        for _, operation in function.each(op.SET_ATTR, op.SET_ITEM):
            if function.ops[operation[1]][0] in (op.ATTR, op.LOAD) and _variable(function, operation[1]) == root:
                yield operation[3]
        for call, _ in function.each(op.CALL):
            given = function.call(call).positional
            into = function.ops[given[0]] if len(given) > 1 else (op.END,)
            if into[0] == op.UNARY and function.strings[into[1]] == "&" and function.ops[into[2]] == root:
                yield from given[1:2] if self._terms.has("byte_copies", self._source.called(function, call)) else ()


def _variable(function: Function, at: int) -> Sequence[int]:
    """The op that reads the variable of which something is a part."""
    return function.ops[function.chain(at).root if function.ops[at][0] == op.ATTR else at]


def _is_pointer(function: Function, callee: int) -> bool:
    """Whether what a cast makes is a pointer, `(int*)&x`."""
    operation = function.ops[callee]
    return operation[0] == op.UNARY and function.strings[operation[1]] == "*"


def _is_own(function: Function, address: int) -> bool:
    """Whether an address is that of a variable, cast or not: `(int*)&x`."""
    while function.ops[address][0] == op.CALL and len(function.call(address).positional) == 1:
        address = function.call(address).positional[0]
    operation = function.ops[address]
    return operation[0] == op.UNARY and function.strings[operation[1]] == "&"
