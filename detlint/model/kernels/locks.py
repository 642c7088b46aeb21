"""What kernels add to while they hold a lock: each in its turn, but in whatever order they come by.

What it may assume: what is swapped for another constant until that is done, `while (atomicCAS(lock, 0, 1) != 0)`, is a lock, and it is held
from there on. To wait for a flag swaps it for itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Final, NamedTuple

from detlint.ir import ops as op
from detlint.ir.code import Function
from detlint.model.kernels.numbers import Terms

_SIGNS: Final = frozenset({"+", "-"})


class Sum(NamedTuple):
    """What adds something to what stands at a place."""

    at: int
    place: tuple[int, ...]
    """The array, and what tells the place in it."""
    into: int
    added: int


def taken(function: Function, named: Callable[[Function, int], str], terms: Terms) -> int:
    """The first call of a function that takes a lock; -1 for none.

    Args:
        named: tells what a call calls.
    """
    calls = (at for at, _ in function.each(op.CALL) if _takes(function, at, named(function, at), terms))
    return next(calls, -1)


def _takes(function: Function, call: int, name: str, terms: Terms) -> bool:
    given = [function.constant(value) for value in function.call(call).positional]
    if terms.has("swaps", name):
        swaps = any(type(old) is int and type(new) is int and old != new for old, new in pairwise(given[1:]))
    else:
        swaps = terms.has("exchanges", name) and bool(given) and type(given[-1]) is int and given[-1] != 0
    return swaps and any(call in function.made_of(operation[1]) for _, operation in function.each(op.IF, op.UNTIL))


def sums_behind(function: Function, begin: int) -> Iterator[Sum]:
    """What adds to entries of arrays behind an op: `*out += x`, `out[i] = out[i] + x`."""
    for at, operation in function.each(op.SET_ITEM, op.SET_ATTR):
        entry = operation[0] == op.SET_ITEM
        made = function.ops[operation[3]]
        if at < begin or made[0] not in (op.AUGMENT, op.BINARY) or function.strings[made[1]] not in _SIGNS:
            continue
        item = function.ops[operation[1]]
        place = operation[1:3] if entry else item[1:3] if item[0] == op.ITEM else operation[1:2]
        sides = made[2:4] if made[0] == op.AUGMENT else _of_itself(function, place, made)
        if sides:
            yield Sum(at, tuple(place), *sides)


def _of_itself(function: Function, place: tuple[int, ...], made: tuple[int, ...]) -> tuple[int, ...]:
    """What stands at a place and what is added to it, where a sum is of that: `out[i] = x + out[i]`."""
    for into, added in (made[2:4], made[3:1:-1]):
        at = function.meant(into)
        item = function.ops[function.ops[at][1] if function.ops[at][0] == op.ATTR else at]
        if (
            item[0] == op.ITEM
            and len(place) > 1
            and all(alike(function, *pair) for pair in zip(item[1:3], place, strict=True))
        ):
            return into, added
    return ()


def alike(function: Function, one: int, other: int) -> bool:
    """Whether two values are surely made the same way of the same ones."""
    one, other = function.meant(one), function.meant(other)
    parts = [[*function.values(each)] for each in (one, other)]
    if not parts[0] or function.ops[one][0] not in (op.BINARY, op.ITEM, op.TUPLE, op.ATTR):
        return function.same(one, other)
    written = [
        [word for word in function.ops[at] if word not in own] for at, own in zip((one, other), parts, strict=True)
    ]
    same = len(parts[0]) == len(parts[1]) and written[0] == written[1]
    return same and all(alike(function, *pair) for pair in zip(*parts, strict=True))


def varies(function: Function, added: int) -> bool:
    """Whether what is added may be another number each time: it is made of what is loaded or computed, not only of parameters."""
    return any(
        function.ops[n][0] in (op.ITEM, op.CALL)
        or (function.ops[n][0] == op.UNARY and function.strings[function.ops[n][1]] == "*")
        for n in function.made_of(added)
    )
