"""What a test, or an expression, comes to where what it asks for is known."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any, Final

from detlint.facts.model import Const

Leaf = Callable[[ast.expr], Const | None]
"""What a name, an attribute, or a call, always is, or whether something is in what isn't written out (`"key" in table`); None where
that isn't known."""
_COMPARES: Final[dict[type[ast.cmpop], Callable[[Any, Any], bool]]] = {
    ast.Is: operator.is_, ast.IsNot: operator.is_not, ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Gt: operator.gt,
    ast.GtE: operator.ge, ast.Lt: operator.lt, ast.LtE: operator.le,
}  # fmt: skip
_COMPUTES: Final[dict[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
}  # fmt: skip


def truth(node: ast.expr, leaf: Leaf) -> bool | None:
    """Whether a test holds; None where that isn't known."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        inner = truth(node.operand, leaf)
        return None if inner is None else not inner
    if isinstance(node, ast.BoolOp):
        parts = {truth(part, leaf) for part in node.values}
        deciding = isinstance(node.op, ast.Or)
        return deciding if deciding in parts else None if None in parts else not deciding
    if isinstance(node, ast.Compare):
        return _compared(node, leaf)
    value = result(node, leaf)
    return None if value is None else bool(value.value)


def _compared(node: ast.Compare, leaf: Leaf) -> bool | None:
    left = result(node.left, leaf) if len(node.ops) == 1 else None
    if left is None:
        return None
    if isinstance(node.ops[0], (ast.In, ast.NotIn)):
        among = _among(node, left, leaf)
        return None if among is None else among is isinstance(node.ops[0], ast.In)
    compare, right = _COMPARES.get(type(node.ops[0])), result(node.comparators[0], leaf)
    if compare is None or right is None:
        return None
    try:
        return compare(left.value, right.value)
    except TypeError:
        return None


def _among(node: ast.Compare, value: Const, leaf: Leaf) -> bool | None:
    """Whether a value is one of those that are written out, or of those that are known otherwise; None where that isn't known."""
    written = node.comparators[0]
    if not isinstance(written, (ast.Tuple, ast.List, ast.Set)):
        known = leaf(ast.Compare(node.left, [ast.In()], node.comparators))
        return bool(known.value) if known is not None else None
    items = [result(item, leaf) for item in written.elts]
    return value in items if value in items or None not in items else None


def result(node: ast.expr, leaf: Leaf) -> Const | None:
    """What an expression comes to: a literal, a name, or numbers that are added, subtracted or multiplied; None where that isn't
    known."""
    if isinstance(node, ast.Constant):
        known = node.value is None or isinstance(node.value, (bool, int, float, str))
        return Const(node.value) if known else None  # type: ignore[arg-type]
    if isinstance(node, ast.BinOp):
        compute = _COMPUTES.get(type(node.op))
        sides = [result(side, leaf) for side in (node.left, node.right)] if compute is not None else ()
        numbers = [side.value for side in sides if side is not None and isinstance(side.value, (int, float))]
        return Const(compute(*numbers)) if compute is not None and len(numbers) == 2 else None
    return leaf(node) if isinstance(node, (ast.Name, ast.Attribute, ast.Call, ast.Subscript)) else None
