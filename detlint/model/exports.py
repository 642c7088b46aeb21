"""What a file gives others beside what it binds: what `import *` takes by `__all__`, and what `__getattr__` gives.

What it may assume: nobody gives a module another `__all__` from outside; what is added under a condition is added; `__getattr__` of a
module gives what is asked for from modules whose names the file writes out.
"""

from __future__ import annotations

from typing import Final

from detlint.ir import ops as op
from detlint.ir.code import Code, Function

ALL: Final = "__all__"
GETTER: Final = "__getattr__"
"""What a module is asked by for what it doesn't bind."""
_ADDS: Final = frozenset({"append", "extend"})


def exported(code: Code) -> frozenset[str] | None:
    """The names in `__all__`; None where there is none, or a part of it isn't written out."""
    top = code.module
    slots = top.slots.get(ALL, ())
    found: frozenset[str] | None = None
    for at, operation in enumerate(top.ops if slots else ()):
        added: frozenset[str] | None = frozenset()
        if operation[0] == op.STORE and operation[1] in slots:
            added = _texts(top, operation[2])
        elif operation[0] == op.ATTR and top.ops[operation[1]][0] == op.LOAD and top.ops[operation[1]][1] in slots:
            added = _added(top, at)
        if added is None:
            return None
        found = (found or frozenset()) | added if added else found
    return found


def lazy(code: Code) -> list[str]:
    """The texts of a file with `__getattr__` that may be names of modules, `.part`: it may get what is asked for from them."""
    return (
        sorted(text for text in code.texts if text.replace(".", "").isidentifier())
        if GETTER in code.module.slots
        else []
    )


def _added(function: Function, method: int) -> frozenset[str] | None:
    """What a method of a list adds to it that is read there; None for anything else than adding what is written out."""
    calls = [use.op for use in function.users[method] if function.ops[use.op][0] == op.CALL and use.place == 1]
    given = function.call(calls[0]).positional if calls else ()
    name = function.code.strings[function.ops[method][2]]
    return _texts(function, given[0]) if name in _ADDS and len(given) == 1 else None


def _texts(function: Function, value: int) -> frozenset[str] | None:
    """The texts that a list, or several put together, is made of."""
    operation, constant = function.ops[value], function.constant(value)
    if isinstance(constant, str):
        return frozenset({constant})
    if operation[0] in (op.LIST, op.TUPLE, op.STAR):
        parts = operation[1:]
    elif operation[0] in (op.BINARY, op.AUGMENT) and function.code.strings[operation[1]] == "+":
        parts = operation[2:]
    else:
        parts = (function.meant(value),)
    texts = [_texts(function, part) if part != value else None for part in parts]
    return frozenset().union(*(text for text in texts if text is not None)) if None not in texts else None
