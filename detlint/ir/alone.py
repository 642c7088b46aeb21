"""The IR of one expression by itself: of an annotation in quotes, and of what facts keep as its text."""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import Final

from detlint import counters
from detlint.ir.code import Code, Function
from detlint.ir.lower import lower

MOST: Final = 8192
"""So many are kept."""


@lru_cache(maxsize=MOST)
def in_ir(text: str) -> tuple[Function, int] | None:
    """The value that an expression is, in a function that does nothing else; None where it can't be read."""
    counters.now.expressions += 1
    try:
        node = ast.parse(f"({text}\n)", mode="eval").body
        function = Code(lower(ast.Module([ast.copy_location(ast.Return(node), node)], []))).module
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return function, function.ops[-1][1]
