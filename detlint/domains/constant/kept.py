"""What a constructor keeps as an attribute, by what it was given: a parameter, or what some of them come to together
(`self.mosaic = self.augment and not self.rect`)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from detlint.domains.constant.evaluator import Evaluator
from detlint.ir import ops as op
from detlint.ir.alone import in_ir
from detlint.ir.code import Function
from detlint.ir.tests import comparison, denied
from detlint.model.runs.values import Frame, Values
from detlint.model.sites.records import Const, Either, Expression, Instance, Param, Value

Attribute = Callable[[str], Value | None]
"""What a constructor keeps as an attribute which nothing else sets; None for any other."""
DEEPEST = 4
"""So many attributes may be made of others, one of the next."""


class Kept:
    """Looks up what one call of a constructor keeps."""

    def __init__(self, values: Values, frame: Frame, attribute: Attribute) -> None:
        self._values = values
        self._frame = frame
        self._attribute = attribute

    def is_true(self, value: Value | None) -> bool | None:
        """Whether a value of the constructor is true; None where that isn't known."""
        found = self._literal(value, 0)
        return bool(found.value) if found is not None else None

    def _literal(self, value: Value | None, depth: int) -> Const | None:
        """What a value of the constructor is; of what is put together, whether it is true."""
        if isinstance(value, Param):
            given = self._values.literal(self._frame, value)
            # A text that something of the program holds may be another one where somebody edits that.
            held = given.held and isinstance(given.value, Const) and isinstance(given.value.value, str)
            return given.value if isinstance(given.value, Const) and not held else None
        if isinstance(value, Either) and value.by:
            chosen = self._literal(Param(value.by), depth)
            return self._literal(value.options[0 if chosen.value else 1], depth) if chosen is not None else None
        if isinstance(value, Expression) and depth < DEEPEST and (test := _parsed(value.text)) is not None:
            holds = Evaluator(partial(self._leaf, value, depth + 1)).of(*test)
            return Const(holds) if holds is not None else None
        return value if isinstance(value, Const) else None

    def _leaf(self, within: Expression, depth: int, function: Function, at: int) -> Const | None:
        """What a name, or an attribute of the object, is in an expression, or whether a text has another one in it."""
        operation = function.ops[at]
        if (asked := comparison(function, at)) is not None:
            text, part = self._leaf(within, depth, function, asked.right), function.constant(asked.left)
            whole = text.value if text is not None and isinstance(text.value, str) else None
            return Const(part in whole) if whole is not None and isinstance(part, str) else None
        if operation[0] == op.LOAD:
            return self._literal(within.names.get(function.text(operation[1])), depth)
        base = function.ops[operation[1]] if operation[0] == op.ATTR else (op.END,)
        own = within.names.get(function.text(base[1])) if base[0] == op.LOAD else None
        is_own = isinstance(own, Instance) and not own.name
        return self._literal(self._attribute(function.code.strings[operation[2]]), depth) if is_own else None


def _parsed(text: str) -> tuple[Function, int] | None:
    """A test that is put together of others; None for any other expression, which may be no flag."""
    found = in_ir(text)
    if found is None:
        return None
    function, at = found
    code = function.ops[at][0]
    choice = code == op.CHOICE and function.code.strings[function.ops[at][1]] != "if"
    return found if choice or code == op.COMPARE or denied(function, at) >= 0 else None
