"""With what a path surely ends: the constant last name of a file, `os.path.join(folder, "optimizer.pt")`, or a part of it."""

from __future__ import annotations

from typing import Final

from detlint.ir import ops as op
from detlint.ir.code import Function
from detlint.model.meaning import Meaning
from detlint.model.sites.records import Const

_JOINS: Final = frozenset({"os.path.join", "posixpath.join", "pathlib.Path", "pathlib.PurePath"})
_KEEPS: Final = frozenset({"builtins.str", "os.fspath", "os.path.abspath", "os.path.expanduser", "os.path.realpath"})
"""What gives a path for the same one."""
_DEEPEST: Final = 8
_Text = tuple[str, bool]
"""The end of a text, and whether that is the whole text."""
_OPEN: Final[_Text] = "", False


def last_name(meaning: Meaning, function: Function, at: int) -> str:
    """The name of the file at which a path surely ends, behind a `/`, or the end of that name; "" where that isn't known."""
    text, whole = _text(meaning, function, at, 0)
    return _last(f"/{text}" if whole else text)


def may_be_one(name: str, other: str) -> bool:
    """Whether the last names of two paths may be the same."""
    return name.endswith(other) or other.endswith(name)


def _last(text: str) -> str:
    return text[max(text.rfind("/"), 0) :]


def _text(meaning: Meaning, function: Function, at: int, depth: int) -> _Text:
    at = function.meant(at)
    operation = function.ops[at]
    if depth > _DEEPEST:
        return _OPEN
    if operation[0] == op.CALL:
        return _of_call(meaning, function, at, depth)
    if operation[0] == op.TEXT:
        return _put_together(meaning, function, operation[1:], depth)
    if operation[0] == op.BINARY and function.strings[operation[1]] in "+/":
        if function.strings[operation[1]] == "+":
            return _put_together(meaning, function, operation[2:], depth)
        return _joined(_text(meaning, function, operation[3], depth + 1))
    value = meaning.value(function, at)
    return (value.value, True) if isinstance(value, Const) and isinstance(value.value, str) else _OPEN


def _of_call(meaning: Meaning, function: Function, at: int, depth: int) -> _Text:
    call = function.call(at)
    name = meaning.name(function, call.callee)
    if not call.positional or call.unpacked:
        return _OPEN
    last = _text(meaning, function, call.positional[-1], depth + 1)
    if name in _JOINS or function.called(at) == "joinpath":
        return _joined(last)
    if name in _KEEPS:
        return last
    template = function.constant(function.called_on(at)) if function.called(at) == "format" else None
    return (template.rpartition("}")[2], False) if isinstance(template, str) else _OPEN


def _joined(last: _Text) -> _Text:
    """The end of a path of which the last part is known."""
    text, whole = last
    return (f"/{text}", False) if whole else last


def _put_together(meaning: Meaning, function: Function, parts: tuple[int, ...], depth: int) -> _Text:
    """The end of a text that is made of others, one behind the other."""
    found = ""
    for part in reversed(parts):
        operation = function.ops[part]
        plain = operation[0] == op.FORMAT and operation[2] < 0 and operation[3] < 0
        text, whole = _text(meaning, function, operation[1] if plain else part, depth + 1)
        found = text + found
        if not whole:
            return found, False
    return found, True
