"""A value as it is written, for people: layout, quotes and parentheses are as Python's own."""

from __future__ import annotations

from typing import Final

from detlint.ir import ops as op
from detlint.ir.code import Function

_BRACKETS: Final = {op.LIST: "[]", op.SET: "{}", op.TUPLE: "()"}
_PARTS: Final = frozenset({op.BINARY, op.UNARY, op.COMPARE, op.CHOICE, op.AWAIT})
"""What stands in parentheses inside of others."""
LONGEST: Final = 24
"""So deep it is written out."""


def written(function: Function, at: int, depth: int = 0) -> str:
    """An expression; `...` for what isn't written out."""
    operation, strings = function.ops[at], function.strings
    code = operation[0]
    if depth > LONGEST or at < 0:
        return "..."
    if code == op.CONST:
        return repr(function.constant(at))
    if code == op.LOAD:
        return function.text(operation[1])
    if code == op.ATTR:
        return f"{_part(function, operation[1], depth)}.{strings[operation[2]]}"
    if code == op.ITEM:
        return f"{_part(function, operation[1], depth)}[{written(function, operation[2], depth + 1)}]"
    if code == op.CALL:
        return f"{_part(function, operation[1], depth)}({_arguments(function, at, depth)})"
    if code == op.UNARY:
        word = strings[operation[1]]
        return f"{word}{' ' if word == 'not' else ''}{_part(function, operation[2], depth)}"
    if code == op.BINARY or (code == op.CHOICE and strings[operation[1]] != "if"):
        left, right = (_part(function, side, depth) for side in operation[2:])
        return f"{left} {strings[operation[1]]} {right}"
    if code == op.CHOICE:
        first, other = (_part(function, side, depth) for side in operation[2:])
        return f"{first} if {_part(function, function.condition(at), depth)} else {other}"
    if code == op.STAR:
        return f"*{_part(function, operation[1], depth)}"
    if code == op.COMPARE:
        pairs = zip(operation[2::2], operation[3::2], strict=True)
        others = (f" {strings[word]} {_part(function, side, depth)}" for word, side in pairs)
        return "".join([_part(function, operation[1], depth), *others])
    if code in _BRACKETS:
        items = ", ".join(written(function, item, depth + 1) for item in operation[1:])
        comma = "," if code == op.TUPLE and len(operation) == 2 else ""
        return f"{_BRACKETS[code][0]}{items}{comma}{_BRACKETS[code][1]}"
    return "..."


def _part(function: Function, at: int, depth: int) -> str:
    text = written(function, at, depth + 1)
    return f"({text})" if function.ops[at][0] in _PARTS else text


def _arguments(function: Function, at: int, depth: int) -> str:
    call = function.call(at)
    said = [written(function, value, depth + 1) for value in call.positional]
    said += [f"{name}={written(function, value, depth + 1)}" for name, value in call.named.items()]
    return ", ".join([*said, *(f"**{written(function, value, depth + 1)}" for value in call.unpacked)])
