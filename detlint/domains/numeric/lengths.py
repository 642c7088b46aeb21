"""How long an axis of a tensor surely is, by what puts it together. Two numbers add up the same in either order."""

from __future__ import annotations

from collections.abc import Callable, Set
from typing import Final

from detlint.ir import ops as op
from detlint.ir.code import UNKNOWN, Function

AXES: Final = ("axis", "dim")
"""What frameworks call the parameter that names an axis."""


def axis_of(function: Function, at: int, position: int) -> int | None:
    """The one axis that a call is told; None where it is told none, several, or one that isn't written out.

    Args:
        position: of the parameter, among those without a name.
    """
    call = function.call(at)
    told = [call.named[name] for name in AXES if name in call.named] or [*call.positional[position : position + 1]]
    value = literal(function, told[0]) if told and not call.unpacked else None
    return value if isinstance(value, int) else None


def length(function: Function, at: int, axis: int, stacks: Set[str], called: Callable[[int], str]) -> int | None:
    """How many items a tensor has along an axis, where it is put together of so many; None where that isn't known.

    Args:
        stacks: functions that put tensors side by side along a new axis, the first one if they aren't told.
        called: knows what a function is.
    """
    if function.ops[at][0] != op.CALL or called(function.ops[at][1]) not in stacks:
        return None
    call = function.call(at)
    told = len(call.values()) > 1
    if not call.positional or (axis_of(function, at, 1) if told else 0) != axis:
        return None
    code, *items = function.ops[function.meant(call.positional[0])]
    known = code in (op.TUPLE, op.LIST) and all(function.ops[item][0] != op.STAR for item in items)
    return len(items) or None if known else None


def literal(function: Function, at: int) -> object:
    """What a literal is, a tuple or list of such too; None for anything else."""
    operation = function.ops[at]
    if operation[0] in (op.TUPLE, op.LIST):
        return tuple(literal(function, item) for item in operation[1:])
    value = function.constant(at)
    return value if value is not UNKNOWN else None
