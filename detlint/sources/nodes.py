"""All that is in a syntax tree."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

_PLAIN: Final = frozenset({
    "arg", "attr", "conversion", "ctx", "id", "is_async", "kind", "level", "module", "op", "ops", "simple", "type_comment",
    "type_ignores",
})  # fmt: skip
"""Fields that hold no nodes, or such as say nothing of their own: operators, and what a name is read or bound for."""


class _Fields(dict[type[ast.AST], tuple[str, ...]]):
    """The fields of each kind of node that may hold others."""

    def __missing__(self, kind: type[ast.AST]) -> tuple[str, ...]:
        found = () if kind is ast.Constant else tuple(field for field in kind._fields if field not in _PLAIN)
        self[kind] = found
        return found


_fields: Final = _Fields()


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """A node and all below it in the order of `ast.walk`, in a third of its time, but for operators, `Load()`, `Store()` and `Del()`."""
    found = [node]
    add = found.append
    for part in found:  # grows meanwhile
        yield part
        for field in _fields[part.__class__]:
            value = getattr(part, field, None)
            if value.__class__ is list:
                for item in value:
                    if isinstance(item, ast.AST):
                        add(item)
            elif isinstance(value, ast.AST):
                add(value)
