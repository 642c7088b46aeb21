"""What a test asks of a layer's mode: `if self.training`, and tests that only hold, or only fail, while it trains."""

from __future__ import annotations

import ast
from collections.abc import Collection

Asked = ast.Attribute | ast.Name


def asked(test: ast.expr | None, modes: Collection[str]) -> tuple[Asked | None, bool]:
    """The mode that a test is, and whether it stands under a `not`; None for any other test.

    Args:
        modes: the attributes of layers that say whether they train; a parameter may be called so, too.
    """
    negated = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
    said = test.operand if isinstance(test, ast.UnaryOp) and negated else test
    if isinstance(said, ast.Attribute):
        return (said if isinstance(said.value, ast.Name) and said.attr in modes else None), negated
    return (said if isinstance(said, ast.Name) and said.id in modes else None), negated


def decides(test: ast.expr | None, modes: Collection[str], holds: bool) -> Asked | None:
    """The mode without which a test can't come out: `training and p > 0` doesn't hold, `p == 0 or not training` doesn't fail.

    Args:
        holds: whether it comes out true.
    """
    found, negated = asked(test, modes)
    if found is not None:
        return found if negated is not holds else None
    joins = ast.And if holds else ast.Or
    if not isinstance(test, ast.BoolOp) or not isinstance(test.op, joins):
        return None
    parts = (decides(part, modes, holds) for part in test.values)
    return next((part for part in parts if part is not None), None)
