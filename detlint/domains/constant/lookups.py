"""What code looks up in settings: `config.clip`, `cfg["train"].get("steps", 1)`, `"fpn" in cfg`."""

from __future__ import annotations

from typing import Final, NamedTuple

from detlint.domains.constant.evaluator import literal
from detlint.ir import ops as op
from detlint.ir.code import Function
from detlint.ir.tests import comparison
from detlint.model.imported import text_of
from detlint.model.sites.records import Const

_RESPELLS: Final = frozenset({"lower", "upper", "strip"})
"""Methods that only texts have, which write them otherwise."""
_DEEPEST: Final = 3
"""So many names may stand for one another."""


class Lookup(NamedTuple):
    """What code looks up in a table, which may be one of settings."""

    key: str
    function: Function | None = None
    holder: int = -1
    """The table, a value of that function."""
    table: str = ""
    """The key before, where that table is a part of another one."""
    default: Const | None = None
    """What is had where the key is missing."""
    is_there: bool = False
    """Whether it only asks if the key is there."""
    respelled: str = ""
    """The method that writes the text otherwise which is had: `config.loss.lower()`."""
    unpacked: bool = False
    """Whether a call passes it by a table that it unpacks, and the key is the name of a parameter: `Net(**config.model)`."""


def looked_up(function: Function, at: int, depth: int = 0) -> Lookup | None:
    """What an expression of a function looks up in a table; None for any other."""
    operation = function.ops[at]
    if operation[0] == op.LOAD:
        bound = function.stored(at) if depth < _DEEPEST else None
        return looked_up(function, bound[0], depth + 1) if bound is not None and len(bound) == 1 else None
    if operation[0] == op.ATTR:
        return _lookup(function, operation[1], function.code.strings[operation[2]])
    if operation[0] == op.ITEM:
        return _lookup(function, operation[1], text_of(function, operation[2]))
    if (asked := comparison(function, at)) is not None and asked.word in ("in", "not in"):
        found = _lookup(function, asked.right, text_of(function, asked.left))
        return found._replace(is_there=True) if found is not None else None
    if method := respells(function, at):
        found = looked_up(function, text_in(function, at), depth)
        known = found is not None and not (found.is_there or found.respelled)
        return found._replace(respelled=method) if found is not None and known else None
    return _called(function, at) if operation[0] == op.CALL else None


def respells(function: Function, at: int) -> str:
    """The method by which an expression writes a text otherwise; "" for any other."""
    method = function.called(at) if function.called_on(at) >= 0 and not function.call(at).values() else ""
    return method if method in _RESPELLS else ""


def text_in(function: Function, at: int) -> int:
    """What an expression writes otherwise; itself where it does not."""
    return function.called_on(at) if respells(function, at) else at


def _called(function: Function, at: int) -> Lookup | None:
    """`config.get(key, default)`, `getattr(config, key, default)`, `hasattr(config, key)`."""
    call = function.call(at)
    args, name = call.positional, function.dotted(call.callee)
    if call.named or call.unpacked:
        return None
    if function.called(at) == "get" and function.called_on(at) >= 0:
        holder = function.called_on(at)
    elif name in ("getattr", "hasattr") and args:
        holder, args = args[0], args[1:]
    else:
        return None
    found = _lookup(function, holder, text_of(function, args[0])) if args else None
    if found is None or len(args) > 2:
        return None
    if name == "hasattr":
        return found._replace(is_there=True)
    if len(args) == 1:
        return found._replace(default=Const(None)) if name != "getattr" else found
    default = literal(function, args[1])
    return found._replace(default=default) if default is not None else None


def _lookup(function: Function, holder: int, key: str) -> Lookup | None:
    return Lookup(key, function, holder) if key else None


def key_before(function: Function, at: int) -> str:
    """The key by which a value is looked up in another one; "" for any other."""
    operation = function.ops[at]
    if operation[0] == op.ATTR:
        return function.code.strings[operation[2]]
    return text_of(function, operation[2]) if operation[0] == op.ITEM else ""


def key_of(attr: str) -> str:
    """The key that a step to a value asks for: `clip` for `clip` and for `[clip]`."""
    return attr[1:-1] if attr.startswith("[") else attr
