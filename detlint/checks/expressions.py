"""Reads a site's own expression: folds constants, follows `a if c else b`, recognises device shapes.

Only expressions that the facts could not settle come here (`0.1 * 2`, `f"cuda:{rank}"`, `p if training else 0.0`), and
each text is parsed once, with the standard library's parser: LibCST, which only rewriting needs, takes a quarter of a
second to import.
"""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import Final

from detlint.facts.model import Const, Either, Expression, Items, Ref, Value
from detlint.facts.parse import expression_of
from detlint.facts.reading.values import constant
from detlint.facts.scope import join

Names = dict[str, Value | None]
LONGEST: Final = 64
"""A list that is put together (`[0] * n`) is known up to so many items."""


@lru_cache(maxsize=8192)
def parse(text: str) -> ast.expr | None:
    """The tree of an expression, None where it can't be read."""
    try:
        return expression_of(f"({text}\n)")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def evaluate(expression: Expression) -> Value | None:
    """What an expression is, as far as its text tells; None where it doesn't."""
    node = parse(expression.text)
    return value_of(node, expression.names) if node is not None else None


def is_comparison(value: Value | None) -> bool:
    """Whether an expression compares two values: `a == b`."""
    return isinstance(value, Expression) and isinstance(parse(value.text), ast.Compare)


def device_prefix(expression: Expression) -> str | None:
    """The text that an f-string begins with (`"cuda:"`), None for any other expression."""
    node = parse(expression.text)
    first = node.values[0] if isinstance(node, ast.JoinedStr) and node.values else None
    return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else None


def value_of(node: ast.expr, names: Names) -> Value | None:
    """What a part of an expression is."""
    if isinstance(node, ast.Constant):
        return constant(node.value)
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if isinstance(node, (ast.List, ast.Tuple)):
        return _items(node, names)
    if isinstance(node, ast.IfExp):
        test = value_of(node.test, names)
        if isinstance(test, Const):
            return value_of(node.body if test.value else node.orelse, names)
        return join((value_of(node.body, names), value_of(node.orelse, names)))
    if isinstance(node, ast.UnaryOp):
        return _unary(node.op, value_of(node.operand, names))
    if isinstance(node, ast.BinOp):
        return _arithmetic(node.op, value_of(node.left, names), value_of(node.right, names))
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
        return _either(node.values, names)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 1 and not node.keywords:
        return _converted(node.func.id, value_of(node.args[0], names))
    if isinstance(node, ast.Attribute):
        base = value_of(node.value, names)
        return Ref(f"{base.name}.{node.attr}") if isinstance(base, Ref) else None
    return None


def _either(values: list[ast.expr], names: Names) -> Value | None:
    """`a or b`: the first that is true, else the last."""
    left = value_of(values[0], names)
    if len(values) == 1:
        return left
    rest = _either(values[1:], names)
    if isinstance(left, Const):
        return left if left.value else rest
    return join((left, rest)) if left is not None else None


def _unary(operator: ast.unaryop, value: Value | None) -> Value | None:
    if not isinstance(value, Const):
        return None
    if isinstance(operator, ast.Not):
        return Const(not value.value)
    if isinstance(operator, ast.USub) and isinstance(value.value, (int, float)):
        return Const(-value.value)
    return None


def _items(node: ast.List | ast.Tuple, names: Names) -> Value | None:
    """What a list or tuple holds; nothing is known where its length isn't."""
    if any(isinstance(item, ast.Starred) for item in node.elts):
        return None
    return Items(tuple(value_of(item, names) for item in node.elts), "tuple" if isinstance(node, ast.Tuple) else "list")


def _put_together(operator: ast.operator, left: Value | None, right: Value | None) -> Value | None:
    """`[a, b] + [c]`, `(a,) * 2`, `2 * [a]`."""
    if isinstance(left, Items) and isinstance(right, Items):
        both = left.values + right.values
        return Items(both, left.kind) if isinstance(operator, ast.Add) and left.kind == right.kind else None
    items, times = (left, right) if isinstance(left, Items) else (right, left)
    if not (isinstance(operator, ast.Mult) and isinstance(items, Items) and isinstance(times, Const)):
        return None
    count = times.value if isinstance(times.value, int) else -1
    return Items(items.values * count, items.kind) if 0 <= count * len(items.values) <= LONGEST else None


def _arithmetic(operator: ast.operator, left: Value | None, right: Value | None) -> Value | None:
    if isinstance(left, Items) or isinstance(right, Items):
        return _put_together(operator, left, right)
    if not (isinstance(left, Const) and isinstance(right, Const)):
        return None
    a, b = left.value, right.value
    if not (isinstance(a, (int, float)) and isinstance(b, (int, float))):
        return None
    if isinstance(operator, ast.Add):
        return constant(a + b)
    if isinstance(operator, ast.Sub):
        return constant(a - b)
    if isinstance(operator, ast.Mult):
        return constant(a * b)
    if isinstance(operator, (ast.Div, ast.FloorDiv)) and b:
        return constant(a / b if isinstance(operator, ast.Div) else a // b)
    return None


def _converted(function: str, value: Value | None) -> Value | None:
    kinds = {"float": float, "int": int, "bool": bool}
    if function not in kinds or not isinstance(value, Const) or not isinstance(value.value, (int, float, str)):
        return None
    try:
        return constant(kinds[function](value.value))
    except (ValueError, OverflowError):
        return None


def settle(value: Value | None) -> Value | None:
    """A value with its expressions read, alternatives included."""
    if isinstance(value, Expression):
        return evaluate(value)
    if isinstance(value, Either):
        return join(settle(option) for option in value.options)
    return value
