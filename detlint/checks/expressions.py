"""Reads a site's own expression: folds constants, follows `a if c else b`, recognises device shapes.

Only expressions that the facts could not settle come here (`0.1 * 2`, `f"cuda:{rank}"`, `p if training else 0.0`).
"""

from __future__ import annotations

from typing import Final

from detlint.facts.model import Const, Either, Expression, Items, Ref, Value
from detlint.facts.reading.values import constant
from detlint.facts.scope import join
from detlint.ir import ops as op
from detlint.ir.alone import in_ir
from detlint.ir.code import Function

Names = dict[str, Value | None]
LONGEST: Final = 64
"""A list that is put together (`[0] * n`) is known up to so many items."""


def evaluate(expression: Expression) -> Value | None:
    """What an expression is, as far as its text tells; None where it doesn't."""
    found = in_ir(expression.text)
    return value_of(*found, expression.names) if found is not None else None


def is_comparison(value: Value | None) -> bool:
    """Whether an expression compares two values: `a == b`."""
    found = in_ir(value.text) if isinstance(value, Expression) else None
    return found is not None and found[0].ops[found[1]][0] == op.COMPARE


def device_prefix(expression: Expression) -> str | None:
    """The text that a formatted string begins with (`"cuda:"`), None for any other expression."""
    function, at = in_ir(expression.text) or (None, -1)
    operation = function.ops[at] if function is not None else (op.END,)
    first = (
        function.constant(operation[1]) if function is not None and operation[0] == op.TEXT and operation[1:] else None
    )
    return first if isinstance(first, str) else None


def value_of(function: Function, at: int, names: Names) -> Value | None:
    """What a part of an expression is."""
    operation, strings = function.ops[at], function.code.strings
    code = operation[0]
    if code == op.CONST:
        return constant(function.constant(at))
    if code == op.LOAD:
        return names.get(function.text(operation[1]))
    if code == op.LIST or code == op.TUPLE:
        return _items(function, at, names)
    if code == op.CHOICE:
        return _chosen(function, at, names)
    if code == op.UNARY:
        return _unary(strings[operation[1]], value_of(function, operation[2], names))
    if code == op.BINARY:
        return _arithmetic(strings[operation[1]], *(value_of(function, side, names) for side in operation[2:]))
    if code == op.CALL:
        call = function.call(at)
        alone = len(call.positional) == 1 and not (call.named or call.unpacked)
        return (
            _converted(function.dotted(call.callee), value_of(function, call.positional[0], names)) if alone else None
        )
    if code == op.ATTR:
        base = value_of(function, operation[1], names)
        return Ref(f"{base.name}.{strings[operation[2]]}") if isinstance(base, Ref) else None
    return None


def _chosen(function: Function, at: int, names: Names) -> Value | None:
    """`a or b`: the first that is true, else the last. `a if c else b`."""
    _, word, first, other = function.ops[at]
    kind = function.code.strings[word]
    test = value_of(function, function.condition(at) if kind == "if" else first, names)
    arms = [value_of(function, arm, names) for arm in (first, other)]
    if isinstance(test, Const) and kind != "and":
        return arms[0 if test.value else 1]
    if kind == "if":
        return join(arms)
    return join(arms) if kind == "or" and test is not None else None


def _unary(operator: str, value: Value | None) -> Value | None:
    if not isinstance(value, Const):
        return None
    if operator == "not":
        return Const(not value.value)
    if operator == "-" and isinstance(value.value, (int, float)):
        return Const(-value.value)
    return None


def _items(function: Function, at: int, names: Names) -> Value | None:
    """What a list or tuple holds; nothing is known where its length isn't."""
    code, *items = function.ops[at]
    if any(function.ops[item][0] == op.STAR for item in items):
        return None
    return Items(tuple(value_of(function, item, names) for item in items), "tuple" if code == op.TUPLE else "list")


def _put_together(operator: str, left: Value | None, right: Value | None) -> Value | None:
    """`[a, b] + [c]`, `(a,) * 2`, `2 * [a]`."""
    if isinstance(left, Items) and isinstance(right, Items):
        both = left.values + right.values
        return Items(both, left.kind) if operator == "+" and left.kind == right.kind else None
    items, times = (left, right) if isinstance(left, Items) else (right, left)
    if not (operator == "*" and isinstance(items, Items) and isinstance(times, Const)):
        return None
    count = times.value if isinstance(times.value, int) else -1
    return Items(items.values * count, items.kind) if 0 <= count * len(items.values) <= LONGEST else None


def _arithmetic(operator: str, left: Value | None, right: Value | None) -> Value | None:
    if isinstance(left, Items) or isinstance(right, Items):
        return _put_together(operator, left, right)
    if not (isinstance(left, Const) and isinstance(right, Const)):
        return None
    a, b = left.value, right.value
    if not (isinstance(a, (int, float)) and isinstance(b, (int, float))):
        return None
    if operator == "+":
        return constant(a + b)
    if operator == "-":
        return constant(a - b)
    if operator == "*":
        return constant(a * b)
    if operator in ("/", "//") and b:
        return constant(a / b if operator == "/" else a // b)
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
