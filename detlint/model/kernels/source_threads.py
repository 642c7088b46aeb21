"""Sources in C++: what threads of OpenMP and OpenACC add up, by `reduction(+:x)` or one by one, under `atomic` and `critical`; and what
functions of libraries do, `tbb::parallel_reduce`.

What it may assume: there are several threads, and what is done one by one is about something that they share, but for what is declared
there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from detlint.ir import ops as op
from detlint.ir.code import Function
from detlint.ir.cpp_pragmas import HELD, SUMMED
from detlint.ir.places import Place
from detlint.model.kernels.locks import sums_behind
from detlint.model.kernels.numbers import FLOATS, WHOLE, joined
from detlint.model.kernels.sources import Atomic, Source

_SIGNS: Final = frozenset({"+", "-", "*"})


def of_threads(source: Source) -> Iterator[Atomic]:
    """What threads add up that surely aren't whole numbers."""
    for function in source.code.functions() if not {HELD, SUMMED}.isdisjoint(source.code.identifiers) else ():
        for at, _ in function.each(op.CALL):
            given = function.call(at).positional if source.called(function, at) == SUMMED else ()
            told = [
                atomic for value in given for atomic in _told(source, function, at, value, *_parts(function, value))
            ]
            yield from [told[0]._replace(name=", ".join(each.name for each in told))] if told else []
        for mark, operation in function.each(op.WITH):
            if function.dotted(operation[1]) == HELD:
                yield from _one_by_one(source, function, mark)
                yield from _counted(function, mark)


def of_reductions(source: Source) -> Iterator[Atomic]:
    """What functions of libraries add up by threads, in an order of their own."""
    names = source.terms.of("reductions")
    if {name.rpartition(".")[2] for name in names}.isdisjoint(source.code.identifiers):
        return
    for function in source.code.functions():
        for at, operation in function.each(op.CALL):
            callee = function.ops[operation[1]]
            name = _qualified(function, callee[1] if callee[0] == op.ITEM else operation[1])
            given = function.call(at).positional
            parallel = any(source.terms.has("policies", _qualified(function, value)) for value in given)
            runs = name in names and (parallel or not source.terms.has("reductions_by_policy", name))
            if runs and any(_is_of_floats(source, function, value) for value in given):
                yield Atomic(Place(function, at), name.rpartition(".")[2] + "(...)", FLOATS, is_of_host=True)


def _qualified(function: Function, value: int) -> str:
    """The last two parts of a name: `tbb.parallel_reduce`."""
    return ".".join(function.dotted(value).split(".")[-2:])


def _is_of_floats(source: Source, function: Function, value: int) -> bool:
    """Whether what a reduction is handed says that it is one of floating-point numbers: what it begins with, or a function's parameter."""
    operation = function.ops[value]
    if operation[0] == op.FUNCTION:
        given = function.code.function(operation[1]).header.parameters
        return any(each.annotation >= 0 and source.values.of(function, each.annotation) == FLOATS for each in given)
    return isinstance(function.constant(value), float) or source.values.of(function, value) == FLOATS


def _parts(function: Function, value: int) -> list[int]:
    """What threads add to their parts of a variable; the variable where that isn't seen."""
    slot = function.ops[value][1]
    sides = (_sides(function, slot, stored) for _, (_, other, stored) in function.each(op.STORE) if other == slot)
    return [side[1] for side in sides if side] or [value]


def _sides(function: Function, slot: int, value: int) -> list[int]:
    """A variable and what is added to it, where a value is such a sum: `x += y`, `x = x + y`; else nothing."""
    made = function.ops[value]
    if made[0] not in (op.AUGMENT, op.BINARY) or function.strings[made[1]] not in _SIGNS:
        return []
    own = [function.ops[side] == (op.LOAD, slot) for side in made[2:4]]
    return [*made[2:4]] if own[0] else [*made[3:1:-1]] if own[1] else []


def _one_by_one(source: Source, function: Function, mark: int) -> Iterator[Atomic]:
    """What is added in a block that one thread goes through at a time."""
    end = function.parts[mark][-1]
    for each in sums_behind(function, mark):
        if each.at < end and _varies(function, each.added):
            yield from _told(source, function, each.at, each.into, each.added)
    own = {operation[1] for at, operation in function.each(op.ANNOTATE) if mark < at < end}
    for at, (_, slot, value) in function.each(op.STORE):
        sides = _sides(function, slot, value) if mark < at < end and slot not in own else []
        if sides and _varies(function, sides[1]):
            yield from _told(source, function, at, *sides)


def _counted(function: Function, mark: int) -> Iterator[Atomic]:
    """What a count gives places to, `place = n++`, where something is stored there that isn't made of the count alone."""
    end = function.parts[mark][-1]
    counts = {n for n in range(mark, end) if function.ops[n][0] in (op.AUGMENT, op.BINARY)}
    counts |= {operation[2] for n, operation in function.each(op.STORE) if mark < n < end}
    for at, operation in function.each(op.SET_ITEM):
        placed = not counts.isdisjoint(function.made_of(operation[2])) and not mark < at < end
        if placed and counts.isdisjoint(function.made_of(operation[3])) and _varies(function, operation[3]):
            place = next(n for n in function.made_of(operation[2]) if n in counts)
            yield Atomic(Place(function, place), "atomic", WHOLE, is_counter=True, is_of_host=True)
            break


def _varies(function: Function, added: int) -> bool:
    """Whether what is added is no constant."""
    return any(function.ops[n][0] != op.CONST for n in function.made_of(added))


def _told(source: Source, function: Function, at: int, into: int, *added: int) -> Iterator[Atomic]:
    """One addition, if it may be of floating-point numbers."""
    kinds = source.values.of(function, into), joined(source.values.of(function, each) for each in added)
    if WHOLE not in kinds:
        yield Atomic(Place(function, at), _name(function, into), kinds[0] or kinds[1], is_of_host=True)


def _name(function: Function, into: int) -> str:
    """What is added to, as it is written, but for the entry."""
    root, _ = function.chain(into)
    return _name(function, function.ops[root][1]) if function.ops[root][0] == op.ITEM else function.dotted(into) or "*"
