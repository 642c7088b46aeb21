"""Draws that come out the same whatever is drawn: `np.random.randint(n, n + 1)`, `set(random.sample(range(n), n))`.

It assumes that attributes give the same when they are read twice for one call.
"""

from __future__ import annotations

from typing import Final

from detlint.ir import ops as op
from detlint.ir.code import UNKNOWN, Function

_BOUNDS: Final = (("low", "a", "start"), ("high", "b", "stop"))
"""What functions call the parameters between which they draw."""
_SELECTS: Final = frozenset({"population", "k"})


def is_one_number(function: Function, at: int, inclusive: bool) -> bool:
    """Whether a call that draws whole numbers has no more than one to draw.

    Args:
        inclusive: whether it may draw its second bound, too.
    """
    call = function.call(at)
    if function.unpacks(at):
        return False
    low, high = (call.argument(position, *names) for position, names in enumerate(_BOUNDS))
    if low < 0 or high < 0:
        return False
    return is_equal(function, low, high) if inclusive else _is_next(function, low, high)


def is_everything(function: Function, at: int) -> bool:
    """Whether a call selects all whole numbers below one, and only what was selected counts: not in which order. A set of others may
    go through those in the order in which they came."""
    call = function.call(at)
    if function.unpacks(at) or not _SELECTS.issuperset(call.named):
        return False
    taking = [function.ops[use.op] for use in function.users[at]]
    if not taking or not all(
        taken[0] == op.CALL and function.is_builtin(taken[1], "frozenset", "set") for taken in taking
    ):
        return False
    given, count = call.argument(0, "population"), call.argument(1, "k")
    if (
        given < 0
        or count < 0
        or function.ops[given][0] != op.CALL
        or not function.is_builtin(function.ops[given][1], "range")
    ):
        return False
    bounds = function.call(given).positional
    from_zero = len(bounds) == 1 or (len(bounds) == 2 and function.constant(bounds[0]) == 0)
    return from_zero and is_equal(function, bounds[-1], count)


def is_equal(function: Function, one: int, other: int) -> bool:
    """Whether two values, read for one call, are equal: names, attributes, constants, lengths and arithmetic of such, alike."""
    first, second = function.ops[one], function.ops[other]
    if first[0] != second[0]:
        return function.same(one, other)
    if first[0] == op.BINARY:
        return first[1] == second[1] and all(map(is_equal, (function, function), first[2:], second[2:]))
    if first[0] == op.ATTR:
        return first[2] == second[2] and is_equal(function, first[1], second[1])
    if first[0] == op.CALL:
        lengths = all(
            function.is_builtin(call[1], "len") and call[2] == 1 and len(call) == 4 for call in (first, second)
        )
        return lengths and is_equal(function, first[3], second[3])
    return function.same(one, other)


def _is_next(function: Function, low: int, high: int) -> bool:
    """Whether a bound is the whole number behind another."""
    first, second = function.constant(function.meant(low)), function.constant(function.meant(high))
    if first is not UNKNOWN and second is not UNKNOWN:
        return type(first) is int and type(second) is int and second == first + 1
    operation = function.ops[high]
    if operation[0] != op.BINARY or function.code.strings[operation[1]] != "+":
        return False
    sides = operation[2:], operation[:1:-1]
    return any(is_equal(function, low, same) and function.constant(one) == 1 for same, one in sides)
