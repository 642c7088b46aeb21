"""What a test, or an expression, comes to where what it asks for is known."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from detlint.facts.model import Const
from detlint.ir import ops as op
from detlint.ir.code import UNKNOWN, Function

Leaf = Callable[[Function, int], Const | None]
"""What a name, an attribute, an item, or what a call gives, always is, or whether something is in what isn't written out (of a
`COMPARE` with `in`, or `not in`: whether it is in it); None where that isn't known."""
COMPARISONS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "is": operator.is_, "is not": operator.is_not, "==": operator.eq, "!=": operator.ne, ">": operator.gt, ">=": operator.ge,
    "<": operator.lt, "<=": operator.le,
}  # fmt: skip
_COMPUTES: Final[dict[str, Callable[[Any, Any], Any]]] = {"+": operator.add, "-": operator.sub, "*": operator.mul}
_LEAVES: Final = frozenset({op.LOAD, op.ATTR, op.CALL, op.ITEM})
_WRITTEN_OUT: Final = frozenset({op.TUPLE, op.LIST, op.SET})


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


def literal(function: Function, at: int) -> Const | None:
    """The literal that a value is as it stands there; None for anything else."""
    value = function.constant(at)
    known = value is None or isinstance(value, bool | int | float | str)
    return Const(value) if value is not UNKNOWN and known else None  # type: ignore[arg-type]


class Truth(NamedTuple):
    """Evaluates tests, by what is known of what they ask for. What a name is that no leaf knows is what it surely was bound to."""

    leaf: Leaf
    literal: Leaf = literal
    """What a literal means."""

    def of(self, function: Function, at: int) -> bool | None:
        """Whether a test holds; None where that isn't known."""
        operation, strings = function.ops[at], function.code.strings
        if (inner := denied(function, at)) >= 0:
            holds = self.of(function, inner)
            return None if holds is None else not holds
        if operation[0] == op.CHOICE and strings[operation[1]] != "if":
            parts = {self.of(function, part) for part in operation[2:]}
            deciding = strings[operation[1]] == "or"
            return deciding if deciding in parts else None if None in parts else not deciding
        if operation[0] == op.COMPARE:
            return self._compared(function, at)
        value = self.result(function, at)
        if value is None and (meant := function.meant(at)) != at:
            return self.of(function, meant)
        return None if value is None else bool(value.value)

    def result(self, function: Function, at: int) -> Const | None:
        """What an expression comes to: a literal, what a leaf knows, or numbers that are added, subtracted or multiplied; None where
        that isn't known."""
        operation = function.ops[at]
        if operation[0] == op.CONST:
            return self.literal(function, at)
        if operation[0] == op.BINARY:
            compute = _COMPUTES.get(function.code.strings[operation[1]])
            sides = [self.result(function, side) for side in operation[2:]] if compute is not None else ()
            numbers = [side.value for side in sides if side is not None and isinstance(side.value, (int, float))]
            return Const(compute(*numbers)) if compute is not None and len(numbers) == 2 else None
        found = self.leaf(function, at) if operation[0] in _LEAVES else None
        if found is None and (meant := function.meant(at)) != at:
            return self.result(function, meant)
        return found

    def _compared(self, function: Function, at: int) -> bool | None:
        found = comparison(function, at)
        left = self.result(function, found.left) if found is not None else None
        if found is None or left is None:
            return None
        if found.word in ("in", "not in"):
            among = self._among(function, at, found.right, left)
            return None if among is None else among is (found.word == "in")
        right = self.result(function, found.right)
        if right is None:
            return None
        try:
            return COMPARISONS[found.word](left.value, right.value)
        except TypeError:
            return None

    def _among(self, function: Function, at: int, others: int, value: Const) -> bool | None:
        """Whether a value is one of those that are written out, or of those that are known otherwise; None where that isn't known."""
        written = function.ops[others]
        meant = function.ops[function.meant(others)]
        written = meant if meant[0] == op.TUPLE else written  # nobody changes that
        if written[0] not in _WRITTEN_OUT:
            known = self.leaf(function, at)
            return bool(known.value) if known is not None else None
        items = [self.result(function, item) for item in written[1:]]
        return value in items if value in items or None not in items else None
