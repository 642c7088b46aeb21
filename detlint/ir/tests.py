"""What tests are made of."""

from __future__ import annotations

from typing import NamedTuple

from detlint.ir import ops as op
from detlint.ir.code import Function


class Comparison(NamedTuple):
    """One comparison of two values."""

    left: int
    word: str
    """As it is written: `is not`."""
    right: int


def comparison(function: Function, at: int) -> Comparison | None:
    """The comparison that a value is; None for any other, and for several at once."""
    operation = function.ops[at]
    alone = operation[0] == op.COMPARE and len(operation) == 4
    return Comparison(operation[1], function.code.strings[operation[2]], operation[3]) if alone else None


def denied(function: Function, at: int) -> int:
    """What `not` denies; -1 for any other value."""
    operation = function.ops[at]
    return operation[2] if operation[0] == op.UNARY and function.code.strings[operation[1]] == "not" else -1
