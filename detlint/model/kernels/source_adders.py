"""Sources in C++: what adds under another name, a macro, or a function that only adds what it is handed where it is told to.

What it may assume: such a function is told by its name and how much it is handed, in the source that calls it and in what that includes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from detlint.ir import ops as op
from detlint.ir.code import UNKNOWN, Function
from detlint.ir.cpp import MACRO
from detlint.model.kernels.numbers import FLOATS, OPEN, Numbers

if TYPE_CHECKING:
    from detlint.model.kernels.sources import Source

DEEPEST: Final = 4
"""So many names may stand for one another."""
_DEEP: Final = 30
"""So many steps lead from an address to its array."""
_HANDED_ON: Final = frozenset({op.ATTR, op.CALL, op.CONST, op.ITEM, op.LOAD, op.TUPLE, op.UNARY})
"""Of what a value is made that is only handed on."""


class Adder(NamedTuple):
    """What adds where it is told: the numbers of its parameters."""

    place: Sequence[int]
    """The array (-1 for none), and what tells the place further."""
    added: int
    numbers: Numbers = OPEN
    """What it adds for sure."""


def is_macro(function: Function) -> bool:
    """Whether a function is what a macro stands for."""
    around = function.parent
    return around is not None and any(around.dotted(value) == MACRO for value in function.decorators)


class Adders:
    """Knows what adds under another name in a source."""

    def __init__(self, source: Source) -> None:
        self._source, self._terms = source, source.terms
        self._known: dict[tuple[str, int, int], Adder | None] = {}

    @cached_property
    def macros(self) -> dict[str, list[Function]]:
        """The macros of this source by their names; those that a function defines for itself, too."""
        kept = ((name, [*filter(is_macro, functions)]) for name, functions in self.functions.items())
        return {name: macros for name, macros in kept if macros}

    @cached_property
    def functions(self) -> dict[str, list[Function]]:
        """The functions of this source by their names, whatever class they stand in."""
        found: dict[str, list[Function]] = {}
        for function in self._source.code.functions():
            found.setdefault(function.name, []).append(function)
        return found

    def of(self, name: str, count: int, depth: int = 0) -> Adder | None:
        """What a macro, or function, does that is handed so much."""
        key = name, count, depth
        if key not in self._known:
            self._known[key] = None
            self._known[key] = self._found(*key)
        return self._known[key]

    def _found(self, name: str, count: int, depth: int) -> Adder | None:
        for source in self._source.included if depth < DEEPEST and name else ():
            for function in source.adders.macros.get(name, ()):
                made = self._expanded(source, function, depth) if len(function.header.parameters) == count else None
                if made is not None:
                    return made
        included = self._source.included if depth < DEEPEST and name else ()
        adders = [adder for source in included for adder in self._told(source, name, count, depth)]
        same = len({adder.numbers for adder in adders}) == 1
        return adders[0] if same else adders[0]._replace(numbers=OPEN) if adders else None

    def _expanded(self, source: Source, function: Function, depth: int) -> Adder | None:
        """What a macro stands for."""
        for at, operation in function.each(op.CALL, op.AUGMENT):
            given: Sequence[int]
            inner: Adder | None
            if operation[0] == op.AUGMENT:
                given, inner = operation[2:4], Adder([0], 1) if source.is_reference(function, operation[2]) else None
            else:
                name, given = source.called(function, at), function.call(at).positional
                inner = Adder([0], 1) if self._terms.has("atomics", name) else self.of(name, len(given), depth + 1)
            if inner is None or len(given) < 2:
                continue
            known = [given[number] for number in inner.place if number >= 0]
            place = [n for value in known for n in _parameters(function, value)]
            array = next(iter(_parameters(function, _array(function, known[0]))), -1) if inner.place[0] >= 0 else -1
            added = [*_parameters(function, given[inner.added])]
            if place and added:
                return Adder([array, *(n for n in dict.fromkeys(place) if n != array)], added[0], inner.numbers)
        return None

    # -- functions --------------------------------------------------------------------------------------------------

    def is_one(self, function: Function) -> bool:
        """Whether a function only adds what it is handed, and all that call it know it."""
        if self._handed(self._source, function, 0) is None:
            return False
        calls = [
            (source, place)
            for source, place in self._source.calls(function.name)
            if place.function.name != function.name
        ]
        return bool(calls) and all(self._source.is_included(source) for source, _ in calls)

    def _told(self, source: Source, name: str, count: int, depth: int) -> Iterator[Adder]:
        """The functions of a source that have a name, if each only adds."""
        for function in source.adders.functions.get(name, ()):
            parameters = function.header.parameters
            least = sum(each.default < 0 for each in parameters)
            found = self._handed(source, function, depth) if least <= count <= len(parameters) else None
            yield from () if found is None else (found,)

    def _handed(self, source: Source, function: Function, depth: int) -> Adder | None:
        """What a function does that only adds what it is handed where it is told to."""
        around = function.parent
        kernel = around is None or any(self._terms.has("kernels", around.dotted(n)) for n in function.decorators)
        if kernel or function.is_class or is_macro(function) or len(function.header.parameters) < 2:
            return None
        calls = [self._adding(source, function, at, depth) for at, _ in function.each(op.CALL)]
        found = [self._plain(function, *call) for call in calls if call[0]]
        return found[0] if found and None not in found else None

    def _plain(self, function: Function, place: Sequence[int], added: Sequence[int], numbers: Numbers) -> Adder | None:
        """What an addition does that only adds what the function is handed, where that is told to."""
        told = [*_parameters(function, place[0])] if self._is_told(function, place) else []
        array = next(iter(_parameters(function, _array(function, place[0]))), -1) if told else -1
        made = (self._source.swaps.made_of(function, value) for value in added)
        values = [n for value in made for n in _given(function, value) if n not in told]
        plain = numbers == FLOATS or all(self._is_plain(function, value) for value in added)
        if array < 0 or not values or not plain or any(self._is_own(function, value) for value in added):
            return None
        further = (n for value in place for n in _parameters(function, value) if n != array)
        return Adder([array, *dict.fromkeys(further)], values[0], numbers)

    def _adding(
        self, source: Source, function: Function, at: int, depth: int
    ) -> tuple[Sequence[int], Sequence[int], Numbers]:
        """Of a call that adds: what tells the place, what is added, what numbers it adds for sure."""
        name, given = source.called(function, at), function.call(at).positional
        if name == "asm":
            return (given[1:2], given[2:], FLOATS) if source.assembles(function, at) == FLOATS else ((), (), OPEN)
        if function.called_on(at) < 0 and (swap := source.swaps.at(function, at, name)) is not None:
            return [swap.place], [swap.added], swap.numbers
        if self._terms.has("atomics", name) and len(given) > 1:
            return given[:1], given[1:2], OPEN
        on = function.called_on(at)
        if self._terms.has("atomics", name) and given and on >= 0 and source.is_reference(function, on):
            return [self._referred(function, on)], given[:1], OPEN
        inner = self.of(name, len(given), depth + 1) if name != function.name else None
        if inner is None or inner.place[0] < 0:
            return (), (), OPEN
        return [given[n] for n in inner.place], [given[inner.added]], inner.numbers

    def _referred(self, function: Function, reference: int) -> int:
        """What an atomic reference is one to: `x` of `atomic_ref<T>(x)`, perhaps under a name."""
        made = function.meant(reference)
        given = function.call(made).positional if function.ops[made][0] == op.CALL else function.ops[made][1:]
        return given[0] if len(given) == 1 and function.ops[made][0] in (op.CALL, op.TUPLE, op.LIST) else made

    def _is_told(self, function: Function, place: Sequence[int]) -> bool:
        """Whether an address is what a parameter says, or one in it that another parameter says, `&x[i]`; it may be cast, or aligned."""
        if self._is_own(function, place[0]) or any(not self._is_plain(function, index) for index in place[1:]):
            return False
        if len({*_parameters(function, place[0])}) < 2:
            tables = (n for n in function.made_of(place[0]) if function.ops[n][0] == op.ITEM)
            return not any(
                function.constant(function.ops[n][2]) is UNKNOWN and not _is_cast(function, n) for n in tables
            )
        operation = function.ops[_uncast(function, place[0])]
        if operation[0] == op.UNARY:
            operation = function.ops[_uncast(function, operation[2])]
        sides = operation[1:3] if operation[0] == op.ITEM else operation[2:4] if operation[0] == op.BINARY else ()
        return bool(sides) and all(self._is_plain(function, side) for side in sides)

    def _is_plain(self, function: Function, value: int) -> bool:
        """Whether a value is a parameter, or one that is cast, or a part of one."""
        made = [*self._source.swaps.made_of(function, value)]
        parts = [n for n in made if function.ops[n][0] not in _HANDED_ON]
        return (
            len({*_given(function, made)}) == 1
            and not parts
            and all(_is_cast(function, n) for n in made if function.ops[n][0] == op.ITEM)
        )

    def _is_own(self, function: Function, value: int) -> bool:
        """Whether a value is made of the number of a thread."""
        values = self._source.values
        named = (values.named(function, n) for n in function.made_of(value) if function.ops[n][0] == op.LOAD)
        return any(self._terms.has("programs", name) or self._terms.has("threads", name) for name in named)


def _uncast(function: Function, address: int) -> int:
    """An address but for its type, and how far it is from where it is aligned: `x + i` of `(half2*)((half*)(x + i) - 1)`."""
    while True:
        address = function.meant(address)
        operation = function.ops[address]
        given = function.call(address).positional if operation[0] == op.CALL else ()
        if len(given) == 1 and function.called_on(address) < 0:
            address = given[0]
        elif operation[0] == op.BINARY and function.constant(operation[3]) is not UNKNOWN:
            address = operation[2]
        else:
            return address


def _is_cast(function: Function, item: int) -> bool:
    """Whether an item is no entry but a type that is told: `static_cast<int*>(x)`."""
    return any(function.ops[use.op][0] == op.CALL and use.place == 1 for use in function.users[item])


def _parameters(function: Function, value: int) -> Iterator[int]:
    """The parameters of which a value is made."""
    return _given(function, function.made_of(value))


def _given(function: Function, values: Iterable[int]) -> Iterator[int]:
    """The parameters among values."""
    for at in sorted(values):
        given = function.given(at)
        if given is not None and given[0] is function:
            yield given[1]


def _array(function: Function, place: int) -> int:
    """What an address is one in: `x` of `&x[i + 1]`, of `x + i`, `(int*)x` and `x[i].data()`."""
    for _ in range(_DEEP):
        place = function.meant(place)
        operation = function.ops[place]
        on = function.called_on(place)
        if on >= 0:
            place = on
        elif operation[0] in (op.ITEM, op.UNARY, op.BINARY):
            place = operation[1 if operation[0] == op.ITEM else 2]
        elif operation[0] == op.CALL and len(function.call(place).positional) == 1:
            place = function.call(place).positional[0]
        else:
            break
    return place
