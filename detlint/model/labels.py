"""Values that only name something, or say where processes meet: a folder of a run, a port.

What may be handed to a function that isn't known, or be returned, is taken for more than that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from detlint.catalog import Catalog
from detlint.ir import ops as op
from detlint.ir.code import Function
from detlint.ir.uses import Use
from detlint.model.unused import Role, Unused, Worth

_OPENS: Final = "builtins.open"
_MAKES_TEXTS: Final = frozenset({
    "builtins.format", "builtins.hex", "builtins.int", "builtins.round", "builtins.str", "os.path.join", "pathlib.Path",
})  # fmt: skip
_TEXTS: Final = frozenset({"format", "hex", "joinpath", "zfill"})
"""Methods that make texts, or paths, of what they are called on."""


def is_label(catalog: Catalog, name: Callable[[Function, int], str], function: Function, at: int) -> bool:
    """Whether a value, or what is drawn from it, becomes no more than a name, or a part of an address.

    Args:
        name: gives the full name of what a call calls.
    """

    found = set[int]()

    def role(function: Function, call: int, _: int) -> Role:
        called = name(function, call)
        if called in catalog.labels or (called == _OPENS and _writes(function, call)):
            found.add(call)
            return "ends"
        return "passes" if called in _MAKES_TEXTS else ""

    def passes(method: str) -> bool:
        return method in _TEXTS or method in catalog.all_drawing_words

    def ends(function: Function, use: Use) -> bool:
        if _told_before(function, use).startswith(catalog.addresses):
            found.add(use.op)
        return use.op in found

    return Unused(function, Worth(role, passes, sinks=ends)).holds(at) and bool(found)


def _writes(function: Function, call: int) -> bool:
    """Whether a file is opened to be written: it is made under that name."""
    mode = function.call(call).argument(1, "mode")
    said = function.constant(mode) if mode >= 0 else None
    return isinstance(said, str) and said[:1] in ("w", "x")


def _told_before(function: Function, use: Use) -> str:
    """The text that stands before a value where it is used: `f"tcp://localhost:{port}"`, `["--master-port", str(port)]`,
    `os.environ["MASTER_PORT"] = str(port)`."""
    operation = function.ops[use.op]
    code, before = operation[0], -1
    if code == op.SET_ITEM and use.place == 3:
        before = operation[2]
    elif (code == op.BINARY and use.place == 3) or (code in (op.LIST, op.TUPLE) and use.place > 1):
        before = operation[use.place - 1]
    elif code == op.FORMAT:
        texts = [function.ops[more.op] for more in function.users[use.op]]
        before = texts[0][1] if len(texts) == 1 and texts[0][0] == op.TEXT else -1
    told = function.constant(before)
    return told if isinstance(told, str) else ""
