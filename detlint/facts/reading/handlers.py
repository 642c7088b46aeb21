"""Which method reads which kind of node, and which says what a call of a known function gives.

The methods enter themselves, each where it is defined; those of a layer above stand instead of those below.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, Final, TypeVar

from detlint.facts.model import Arg, Value

_F = TypeVar("_F", bound=Callable[..., Any])

STATEMENTS: Final[dict[type[ast.AST], Callable[[Any, Any], Any]]] = {}
EXPRESSIONS: Final[dict[type[ast.AST], Callable[[Any, Any], Value | None]]] = {}
"""Every kind of node has its handler, so that none needs to be asked for twice."""
SPECIAL: Final[dict[str, Callable[[Any, ast.Call, list[Arg]], Value | None]]] = {}
"""Functions whose meaning the reader itself needs."""


def of_statement(*kinds: type[ast.AST]) -> Callable[[_F], _F]:
    """Makes a method the one that reads these kinds of statements."""

    def enter(method: _F) -> _F:
        STATEMENTS.update(dict.fromkeys(kinds, method))
        return method

    return enter


def of_expression(*kinds: type[ast.AST]) -> Callable[[_F], _F]:
    """Makes a method the one that reads these kinds of expressions, and says what they are known to be."""

    def enter(method: _F) -> _F:
        EXPRESSIONS.update(dict.fromkeys(kinds, method))
        return method

    return enter


def of_call(*names: str) -> Callable[[_F], _F]:
    """Makes a method the one that says what calls of these functions give."""

    def enter(method: _F) -> _F:
        SPECIAL.update(dict.fromkeys(names, method))
        return method

    return enter
