"""What becomes of the parts that an object asks itself for by names that it puts together: some it runs, some it only gives out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from detlint.ir import ops as op
from detlint.ir.code import Function
from detlint.ir.uses import Use

_LOOKS: Final = ("callable", "getattr", "hasattr", "isinstance", "setattr")
"""Functions that don't run what they are handed first."""
_RUNS: Final = frozenset({"__call__", "call", "construct", "forward"})
"""Methods that run a layer."""
_HARMLESS: Final = frozenset({op.ASSERT, op.BINARY, op.COMPARE, op.IF, op.RETURN, op.UNARY})


class Asked(NamedTuple):
    """What a class does more with than to look at it and to give it back, of what it asks itself for."""

    any: bool
    """Whether something is of it whose name isn't written out."""
    names: frozenset[str]
    givers: frozenset[str]
    """The methods that may give it back under a name that isn't written out."""


def asks_itself(body: Function) -> bool:
    """Whether a class asks its own objects for something by a text, put together or written out."""
    return any(True for _ in _asking(body))


def _asking(body: Function) -> Iterator[tuple[Function, int]]:
    """Where it does: `getattr(self, ...)`."""
    for function in body.code.inside(body.number):
        for at, operation in function.each(op.CALL):
            asks = operation[2] > 1 and function.is_builtin(operation[1], "getattr")
            if asks and function.receiver(operation[3]) is not None:
                yield function, at


def asked(body: Function) -> Asked:
    """What a class does with its attributes, where it has them by `getattr(self, ...)`."""
    used, givers = set[str | None](), set[str]()
    for function, at in _asking(body):
        text = function.constant(function.ops[at][4])
        name = text if isinstance(text, str) else None
        if not _is_given_out(function, at):
            used.add(name)
        elif name is None:
            givers.add(_method(function).name)
    return Asked(None in used, frozenset(name for name in used if name is not None), frozenset(givers))


def _method(function: Function) -> Function:
    """The method that a function stands in, or is."""
    while function.parent is not None and not function.parent.is_class:
        function = function.parent
    return function


def _is_given_out(function: Function, value: int) -> bool:
    """Whether a value is only looked at and given back, whatever names hold it meanwhile."""
    waiting, seen = [value], set[int]()
    for at in waiting:  # grows meanwhile
        for use in function.users[at] if at not in seen else ():
            operation = function.ops[use.op]
            if operation[0] == op.CHOICE:
                waiting.append(use.op)
            elif operation[0] == op.STORE:
                if any(other is not function for other, _ in function.code.reads(function.binding(operation[1]))):
                    return False
                waiting += function.loads.get(use.op, ())
            elif not _only_looks(function, use):
                return False
        seen.add(at)
    return True


def _only_looks(function: Function, use: Use) -> bool:
    """Whether a use of a value does no more than to look at it, and to give it back."""
    operation = function.ops[use.op]
    if operation[0] == op.CALL:
        return use.place == 3 and function.is_builtin(operation[1], *_LOOKS)
    if operation[0] == op.ATTR:
        return function.code.strings[operation[2]] not in _RUNS
    return operation[0] in _HARMLESS
