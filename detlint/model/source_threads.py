"""Sources in C++: what threads of OpenMP and OpenACC add up, by `reduction(+:x)` or one by one, under `atomic` and `critical`.

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
from detlint.model.kernel_locks import sums_behind, varies
from detlint.model.kernel_numbers import WHOLE
from detlint.model.sources import Atomic, Source

_SIGNS: Final = frozenset({"+", "-", "*"})


def of_threads(source: Source) -> Iterator[Atomic]:
    """What threads add up that surely aren't whole numbers."""
    for function in source.code.functions() if not {HELD, SUMMED}.isdisjoint(source.code.identifiers) else ():
        for at, _ in function.each(op.CALL):
            given = function.call(at).positional if source.called(function, at) == SUMMED else ()
            told = [atomic for value in given for atomic in _told(source, function, at, value, value)]
            yield from [told[0]._replace(name=", ".join(each.name for each in told))] if told else []
        for mark, operation in function.each(op.WITH):
            if function.dotted(operation[1]) == HELD:
                yield from _one_by_one(source, function, mark)


def _one_by_one(source: Source, function: Function, mark: int) -> Iterator[Atomic]:
    """What is added in a block that one thread goes through at a time."""
    end = function.parts[mark][-1]
    for each in sums_behind(function, mark):
        if each.at < end and varies(function, each.added):
            yield from _told(source, function, each.at, each.into, each.added)
    own = {operation[1] for at, operation in function.each(op.ANNOTATE) if mark < at < end}
    for at, (_, slot, value) in function.each(op.STORE):
        made = function.ops[value]
        adds = made[0] in (op.AUGMENT, op.BINARY) and function.strings[made[1]] in _SIGNS
        sides = [side for side in made[2:4] if function.ops[side] == (op.LOAD, slot)] if adds else []
        added = next((side for side in made[2:4] if side not in sides), -1) if sides else -1
        if mark < at < end and slot not in own and added >= 0 and _varies(function, added):
            yield from _told(source, function, at, sides[0], added)


def _varies(function: Function, added: int) -> bool:
    """Whether what is added is no constant."""
    return any(function.ops[n][0] != op.CONST for n in function.made_of(added))


def _told(source: Source, function: Function, at: int, into: int, added: int) -> Iterator[Atomic]:
    """One addition, if it may be of floating-point numbers."""
    kinds = source.values.of(function, into), source.values.of(function, added)
    if WHOLE not in kinds:
        yield Atomic(Place(function, at), _name(function, into), kinds[0] or kinds[1], is_of_host=True)


def _name(function: Function, into: int) -> str:
    """What is added to, as it is written, but for the entry."""
    root, _ = function.chain(into)
    return _name(function, function.ops[root][1]) if function.ops[root][0] == op.ITEM else function.dotted(into) or "*"
