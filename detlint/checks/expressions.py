"""Reads a site's own expression with LibCST: folds constants, follows `a if c else b`, recognises device shapes.

Only expressions that the facts could not settle come here (`0.1 * 2`, `f"cuda:{rank}"`, `p if training else 0.0`), and
each text is parsed once; LibCST is imported when the first one does.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from detlint.facts.model import Const, Either, Expression, Ref, Value
from detlint.facts.reader import constant
from detlint.facts.scope import join

if TYPE_CHECKING:
    import libcst as cst

Names = dict[str, Value | None]


@lru_cache(maxsize=8192)
def parse(text: str) -> cst.BaseExpression | None:
    """The LibCST tree of an expression, None where LibCST can't read it."""
    import libcst as cst

    try:
        return cst.parse_expression(text)
    except (cst.ParserSyntaxError, RecursionError):
        return None


def evaluate(expression: Expression) -> Value | None:
    """What an expression is, as far as its text tells; None where it doesn't."""
    node = parse(expression.text)
    return _value(node, dict(expression.names)) if node is not None else None


def device_prefix(expression: Expression) -> str | None:
    """The text that an f-string begins with (`"cuda:"`), None for any other expression."""
    import libcst as cst
    import libcst.matchers as m

    node = parse(expression.text)
    if (
        node is not None
        and m.matches(node, m.FormattedString(parts=[m.FormattedStringText(), m.ZeroOrMore()]))
        and isinstance(node, cst.FormattedString)
    ):
        first = node.parts[0]
        return first.value if isinstance(first, cst.FormattedStringText) else None
    return None


def _value(node: cst.BaseExpression, names: Names) -> Value | None:
    import libcst as cst
    import libcst.matchers as m

    if isinstance(node, (cst.Integer, cst.Float, cst.SimpleString)):
        return constant(node.evaluated_value)
    if isinstance(node, cst.Name):
        literal = {"None": Const(None), "True": Const(True), "False": Const(False)}
        return literal.get(node.value, names.get(node.value))
    if isinstance(node, cst.IfExp):
        test = _value(node.test, names)
        if isinstance(test, Const):
            return _value(node.body if test.value else node.orelse, names)
        return join((_value(node.body, names), _value(node.orelse, names)))
    if isinstance(node, cst.UnaryOperation):
        return _unary(node, _value(node.expression, names))
    if isinstance(node, cst.BinaryOperation):
        return _arithmetic(node.operator, _value(node.left, names), _value(node.right, names))
    if isinstance(node, cst.BooleanOperation) and m.matches(node.operator, m.Or()):
        left = _value(node.left, names)
        if isinstance(left, Const):
            return left if left.value else _value(node.right, names)
        return join((left, _value(node.right, names))) if left is not None else None
    if m.matches(node, m.Call(func=m.Name("float") | m.Name("int") | m.Name("bool"), args=[m.Arg(keyword=None)])):
        assert isinstance(node, cst.Call)
        inner = _value(node.args[0].value, names)
        return _converted(node.func, inner)
    if isinstance(node, cst.Attribute):
        base = _value(node.value, names)
        return Ref(f"{base.name}.{node.attr.value}") if isinstance(base, Ref) else None
    return None


def _unary(node: cst.UnaryOperation, value: Value | None) -> Value | None:
    import libcst.matchers as m

    if not isinstance(value, Const):
        return None
    if m.matches(node.operator, m.Not()):
        return Const(not value.value)
    if m.matches(node.operator, m.Minus()) and isinstance(value.value, (int, float)):
        return Const(-value.value)
    return None


def _arithmetic(operator: cst.BaseBinaryOp, left: Value | None, right: Value | None) -> Value | None:
    import libcst as cst

    if not (isinstance(left, Const) and isinstance(right, Const)):
        return None
    a, b = left.value, right.value
    if not (isinstance(a, (int, float)) and isinstance(b, (int, float))):
        return None
    if isinstance(operator, cst.Add):
        return constant(a + b)
    if isinstance(operator, cst.Subtract):
        return constant(a - b)
    if isinstance(operator, cst.Multiply):
        return constant(a * b)
    if isinstance(operator, (cst.Divide, cst.FloorDivide)) and b:
        return constant(a / b if isinstance(operator, cst.Divide) else a // b)
    return None


def _converted(function: cst.BaseExpression, value: Value | None) -> Value | None:
    import libcst as cst

    if (
        not isinstance(value, Const)
        or not isinstance(value.value, (int, float, str))
        or not isinstance(function, cst.Name)
    ):
        return None
    try:
        return constant({"float": float, "int": int, "bool": bool}[function.value](value.value))
    except ValueError:
        return None


def settle(value: Value | None) -> Value | None:
    """A value with its expressions read, alternatives included."""
    if isinstance(value, Expression):
        return evaluate(value)
    if isinstance(value, Either):
        return join(settle(option) for option in value.options)
    return value
