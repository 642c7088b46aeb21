"""What a constructor keeps as an attribute, by what it was given: a parameter, or what some of them come to together
(`self.mosaic = self.augment and not self.rect`)."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import lru_cache

from detlint.facts.model import Const, Either, Expression, Instance, Param, Value
from detlint.facts.parse import expression_of
from detlint.program.truth import truth
from detlint.program.values import Frame, Values

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
            holds = truth(test, lambda node: self._leaf(value, node, depth + 1))
            return Const(holds) if holds is not None else None
        return value if isinstance(value, Const) else None

    def _leaf(self, within: Expression, node: ast.expr, depth: int) -> Const | None:
        """What a name, or an attribute of the object, is in an expression, or whether a text has another one in it."""
        if isinstance(node, ast.Compare):
            text, part = self._leaf(within, node.comparators[0], depth), node.left
            whole = text.value if text is not None and isinstance(text.value, str) else None
            return Const(str(part.value) in whole) if whole is not None and isinstance(part, ast.Constant) else None
        if isinstance(node, ast.Name):
            return self._literal(within.names.get(node.id), depth)
        if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
            return None
        own = within.names.get(node.value.id)
        is_own = isinstance(own, Instance) and not own.name
        return self._literal(self._attribute(node.attr), depth) if is_own else None


@lru_cache(maxsize=256)
def _parsed(text: str) -> ast.expr | None:
    """A test that is put together of others; None for any other expression, which may be no flag."""
    try:
        node = expression_of(text)
    except (SyntaxError, ValueError, RecursionError):
        return None
    denies = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    return node if denies or isinstance(node, (ast.BoolOp, ast.Compare)) else None
