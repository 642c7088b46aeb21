"""Texts with holes that Python fills in, `"... %(type)s ..." % names`: what they are with a name in each hole.

What it may assume: what fills a hole is a name, or an expression.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from string import Formatter, Template
from typing import Any, Final

from detlint.ir import ops as op
from detlint.ir.code import Function

DEEPEST: Final = 6
"""So many times a text is filled in, one hole after the other."""


class _Names(dict[str, str]):
    """Gives each name itself."""

    def __missing__(self, name: str) -> str:
        return name


class _Fields(Formatter):
    """Puts its name into each field, `{type}`, however it is to be written."""

    def get_field(self, name: str, args: Sequence[Any], given: Any) -> tuple[str, str]:
        return _name(name), name

    def format_field(self, value: Any, how: str) -> str:
        return str(value)


def _name(text: str) -> str:
    """What stands for a hole, by what is written in it."""
    name = "".join(letter if letter.isalnum() else "_" for letter in text).strip("_")
    return name if name.isidentifier() else f"hole{name}"


def filled(function: Function, at: int, text: str) -> str:
    """A text as what it is used for makes it."""
    for _ in range(DEEPEST):
        use = next(_uses(function, at), None)
        if use is None:
            break
        function, at = use
        text = _filled(function, at, text)
    return text


def _uses(function: Function, at: int) -> Iterator[tuple[Function, int]]:
    """The calls and operators that fill in a text, also under a name."""
    for use in function.users[at]:
        operation = function.ops[use.op]
        if operation[0] == op.BINARY and function.strings[operation[1]] == "%" and operation[2] == at:
            yield function, use.op
        elif operation[0] == op.ATTR:
            yield from ((function, call.op) for call in function.users[use.op] if function.called_on(call.op) == at)
        elif operation[0] == op.CALL and function.called(use.op) == "Template":
            yield function, use.op
        elif operation[0] == op.STORE:
            for around in function.code.functions():
                loads = (
                    n for n, load in around.each(op.LOAD) if around.binding(load[1]) == function.binding(operation[1])
                )
                yield from (found for load in loads for found in _uses(around, load) if around.ops[load][0] == op.LOAD)


def _filled(function: Function, at: int, text: str) -> str:
    """A text with names in the holes that an op fills; as it was, if it isn't meant for it."""
    operation = function.ops[at]
    word = "%" if operation[0] == op.BINARY else function.called(at)
    given = function.call(at).positional if operation[0] == op.CALL else ()
    replaced = function.constant(given[0]) if word == "replace" and given else None
    try:
        if word == "%":
            return text % _Names()
        if word in ("format", "format_map"):
            return _Fields().vformat(text, (), {})
        if word == "Template":
            return Template(text).safe_substitute(_Names())
        return text.replace(replaced, _name(replaced)) if isinstance(replaced, str) and replaced else text
    except (ValueError, TypeError, KeyError):
        return text
