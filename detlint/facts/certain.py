"""Draws that come out the same whatever is drawn: `np.random.randint(n, n + 1)`, `set(random.sample(range(n), n))`."""

from __future__ import annotations

import ast
from typing import Final

from detlint.facts.nodes import walk

_PLAIN: Final = (ast.Name, ast.Attribute, ast.Constant)
"""What comes to the same each time that it is read in one call."""
_BOUNDS: Final = (("low", "a", "start"), ("high", "b", "stop"))
"""What functions call the parameters between which they draw."""
_UNORDERED: Final = ("argument:builtins.set", "argument:builtins.frozenset")
"""What becomes of a selection whose order nobody asks for."""


def is_one_number(call: ast.Call, inclusive: bool) -> bool:
    """Whether a call that draws whole numbers has no more than one to draw.

    Args:
        inclusive: whether it may draw its second bound, too.
    """
    if any(isinstance(argument, ast.Starred) for argument in call.args) or not all(k.arg for k in call.keywords):
        return False
    low, high = (_argument(call, position, names) for position, names in enumerate(_BOUNDS))
    if low is None or high is None or not _is_plain(low):
        return False
    return ast.dump(low) == ast.dump(high) if inclusive else _is_next(low, high)


def is_everything(call: ast.Call, use: str) -> bool:
    """Whether a call selects all whole numbers below one, and only what was selected counts: not in which order. A set of others may
    go through those in the order in which they came.

    Args:
        use: what becomes of the result.
    """
    if use not in _UNORDERED or any(keyword.arg not in ("population", "k") for keyword in call.keywords):
        return False
    given, count = _argument(call, 0, ("population",)), _argument(call, 1, ("k",))
    if given is None or count is None:
        return False
    if not isinstance(given, ast.Call) or not isinstance(given.func, ast.Name) or given.func.id != "range":
        return False
    from_zero = len(given.args) == 1 or (len(given.args) == 2 and _is_zero(given.args[0]))
    return from_zero and _is_plain(count) and ast.dump(given.args[-1]) == ast.dump(count)


def _argument(call: ast.Call, position: int, names: tuple[str, ...]) -> ast.expr | None:
    named = (keyword.value for keyword in call.keywords if keyword.arg in names)
    return call.args[position] if position < len(call.args) else next(named, None)


def _is_plain(node: ast.expr) -> bool:
    """Whether an expression reads no more than names, attributes and literals, and lengths of such."""
    if isinstance(node, ast.Call):
        length = isinstance(node.func, ast.Name) and node.func.id == "len" and not node.keywords
        return length and all(map(_is_plain, node.args))
    if isinstance(node, ast.BinOp):
        return _is_plain(node.left) and _is_plain(node.right)
    return all(isinstance(part, _PLAIN) for part in walk(node))


def _is_zero(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 0


def _is_next(low: ast.expr, high: ast.expr) -> bool:
    """Whether a bound is the whole number behind another."""
    if isinstance(low, ast.Constant) and isinstance(high, ast.Constant):
        numbers = type(low.value) is int and type(high.value) is int
        return numbers and high.value == low.value + 1  # type: ignore[operator]
    if not isinstance(high, ast.BinOp) or not isinstance(high.op, ast.Add):
        return False
    sides = (high.left, high.right), (high.right, high.left)
    return any(
        ast.dump(same) == ast.dump(low) and isinstance(one, ast.Constant) and one.value == 1 for same, one in sides
    )
