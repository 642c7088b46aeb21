"""Which method reads which kind of op, and which says what a call of a known function gives.

The methods enter themselves, each where it is defined.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

from detlint.ir.ops import NAMES
from detlint.ir.uses import Op
from detlint.model.sites.records import Arg, Value

_F = TypeVar("_F", bound=Callable[..., Any])
Handler = Callable[[Any, int, Op], Value | None]


def _nothing(reading: object, at: int, operation: Op) -> None:
    """What is read of ops that say nothing."""


OPS: Final[list[Handler]] = [_nothing] * (max(NAMES) + 1)
"""By the code of an op: what reads it, and says what value it gives."""
SPECIAL: Final[dict[str, Callable[[Any, int, list[Arg]], Value | None]]] = {}
"""Functions whose meaning the reader itself needs."""


def of(*codes: int) -> Callable[[_F], _F]:
    """Makes a method the one that reads ops of these codes."""

    def enter(method: _F) -> _F:
        for code in codes:
            OPS[code] = method
        return method

    return enter


def of_call(*names: str) -> Callable[[_F], _F]:
    """Makes a method the one that says what calls of these functions give."""

    def enter(method: _F) -> _F:
        SPECIAL.update(dict.fromkeys(names, method))
        return method

    return enter
