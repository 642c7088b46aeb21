"""Generators that a function makes, and whether they are gone through where they stand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from detlint.ir import ops as op

if TYPE_CHECKING:
    from detlint.ir.code import Function

_SPENDING: Final = frozenset({
    "all", "any", "bytes", "dict", "frozenset", "list", "max", "min", "next", "set", "sorted", "sum", "tuple",
})  # fmt: skip
"""What is built in and goes through what it is handed, or lets go of it."""
_SPENDING_METHODS: Final = frozenset({"extend", "join", "update"})


def late(function: Function) -> list[int]:
    """The `COMPREHEND`s of a function's generators that may be gone through later than where they stand."""
    made = [(at, part[2]) for at, part in function.each(op.COLLECT) if function.strings[part[1]] == "generator"]
    return [mark for at, mark in made if not _is_spent(function, at)]


def _is_spent(function: Function, generator: int) -> bool:
    """Whether a generator is gone through where it stands, or no more: `any(x for x in xs)`, `f(*(x for x in xs))`."""
    uses = function.users[generator]
    if len(uses) != 1:
        return not uses
    taking = function.ops[uses[0].op]
    if taking[0] != op.CALL or uses[0].place != 3:
        return taking[0] == op.STAR
    callee = function.ops[taking[1]]
    if callee[0] == op.LOAD:
        return function.text(callee[1]) in _SPENDING and function.names[callee[1]].slot < 0
    return callee[0] == op.ATTR and function.strings[callee[2]] in _SPENDING_METHODS
