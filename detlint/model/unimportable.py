"""Files that can't be imported: their top level imports something relative to a package that isn't there.

A folder without an `__init__` is at most a namespace: it has no names but those of the modules in it. Whoever imports the file, or
runs it, gets no further than there, unless the file is first copied to where its neighbours are. A file that is checked without any
runs around it may come from there.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Final

from detlint.db import Memo
from detlint.ir import ops as op
from detlint.ir.code import Code
from detlint.model.module import Module
from detlint.model.uses import Users

_PACKAGED: Final = frozenset({"__package__", "__path__"})
"""Who has such names may be in another package than the folder says."""
_Missing = tuple[int, str]
"""The line of an import, and what it imports."""
NOTHING: Final[_Missing] = (0, "")


class Unimportable:
    """Finds imports at which a file ends."""

    def __init__(self, users: Users) -> None:
        self._users = users
        self._modules = users.resolver.modules
        self._known: Memo[_Missing] = Memo(users.db)

    def before(self, module: Module, index: int) -> str:
        """What a file imports in vain before a site is come to; "" for nothing."""
        if not module.path.endswith(".py"):
            return ""
        line, missing = self._known.of(module.path, lambda: self._missing(module), NOTHING)
        return missing if line < module.sites[index].span.line else ""

    def _missing(self, module: Module) -> _Missing:
        """The first import of the top level that surely raises. One in an `if`, or a `try`, may be meant to."""
        code = self._users.resolver.code(module.path)
        folder = os.path.dirname(module.path)
        if code is None or not _PACKAGED.isdisjoint(code.identifiers):
            return NOTHING
        if self._modules.has(folder, "__init__"):
            return NOTHING
        for line, name in _asked(code):
            if self._modules.find(module.path, name) is None and not self._modules.has(folder, name):
                return (line, f".{name}") if self._users.runs_at_home(module) else NOTHING
        return NOTHING


def _asked(code: Code) -> Iterator[_Missing]:
    """The modules that the top level of a file imports from beside it, and where."""
    top, strings = code.module, code.strings
    for at, (_, name, level, _) in top.each(op.IMPORT):
        if level != 1 or any(True for _ in top.blocks(at)):
            continue
        members = (strings[top.ops[use.op][2]] for use in top.users[at] if top.ops[use.op][0] == op.MEMBER)
        yield from (
            (top.spans[at][0], member) for member in ([strings[name].partition(".")[0]] if strings[name] else members)
        )
