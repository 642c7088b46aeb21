"""How long an axis of a tensor surely is, by the text of a function. Two numbers add up the same in either order."""

from __future__ import annotations

import ast
from collections.abc import Callable, Set
from typing import Final

AXES: Final = ("axis", "dim")
"""What frameworks call the parameter that names an axis."""


def axis_of(call: ast.Call, position: int) -> int | None:
    """The one axis that a call is told; None where it is told none, several, or one that isn't written out.

    Args:
        position: of the parameter, among those without a name.
    """
    told = [keyword.value for keyword in call.keywords if keyword.arg in AXES] or call.args[position : position + 1]
    value = literal(told[0]) if told and all(keyword.arg for keyword in call.keywords) else None
    return value if isinstance(value, int) else None


def length(node: ast.expr | None, axis: int, stacks: Set[str], called: Callable[[ast.expr], str]) -> int | None:
    """How many items a tensor has along an axis, where it is put together of so many; None where that isn't known.

    Args:
        stacks: functions that put tensors side by side along a new axis, the first one if they aren't told.
        called: knows what a function is.
    """
    if not isinstance(node, ast.Call) or called(node.func) not in stacks or not node.args:
        return None
    told = len(node.args) > 1 or bool(node.keywords)
    items = node.args[0].elts if isinstance(node.args[0], (ast.Tuple, ast.List)) else []
    if (axis_of(node, 1) if told else 0) != axis or any(isinstance(item, ast.Starred) for item in items):
        return None
    return len(items) or None


def literal(node: ast.expr) -> object:
    """What a literal is: `-1` too."""
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, MemoryError, RecursionError):
        return None
