"""What a draw is only ever multiplied by: `x = x + eta * scale * noise`, of which nothing is left where `eta` is zero."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from detlint.domains.constant.evaluator import Evaluator, Leaf
from detlint.ir import ops as op
from detlint.ir.code import Function

_Use = tuple[int, int]
"""A value, and one that is made of it."""


def is_cancelled(function: Function, call: int, leaf: Leaf) -> bool:
    """Whether all that a function makes of what a call gives is multiplied by zero.

    Args:
        leaf: what a name or an attribute in it always is.
    """
    found = [*_uses(function, call)]
    return bool(found) and all(any(_is_zero(function, one, leaf) for one in _factors(function, use)) for use in found)


def _uses(function: Function, value: int) -> Iterator[_Use]:
    """What is made of a value, also under the names that it gets alone."""
    for use in function.users[value]:
        stored = function.ops[use.op][0] == op.STORE
        for load in function.loads.get(use.op, ()) if stored else ():
            if len(function.flow.reaching[load]) > 1 or function.ops[use.op][1] in function.shared:
                yield load, -1  # it may be something else, too
            else:
                yield from _uses(function, load)
        if not stored:
            yield value, use.op


def _factors(function: Function, use: _Use) -> Iterator[int]:
    """What products multiply something by."""
    value, product = use
    while product >= 0:
        word, sides = _arithmetic(function, product)
        if word != "*":
            return
        yield from (side for side in sides if side != value)
        users = function.users[product]
        value, product = product, users[0].op if len(users) == 1 else -1


def _is_zero(function: Function, at: int, leaf: Leaf) -> bool:
    """Whether an expression is always zero: a number, what is always one, or a product with one."""
    at = function.meant(at)
    word, sides = _arithmetic(function, at)
    if word in ("*", "-") and (word == "*" or len(sides) == 1):
        return any(_is_zero(function, side, leaf) for side in sides)
    value = Evaluator(leaf).result(function, at)
    return value is not None and type(value.value) in (int, float) and value.value == 0


def _arithmetic(function: Function, at: int) -> tuple[str, Sequence[int]]:
    """The operator of an expression, and its operands; "" for any other."""
    operation = function.ops[at]
    known = operation[0] in (op.BINARY, op.UNARY)
    return (function.code.strings[operation[1]], operation[2:]) if known else ("", ())
