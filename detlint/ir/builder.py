"""What is being lowered: a file's tables, and one function at a time."""

from __future__ import annotations

import ast
from collections import deque
from typing import Any, Final, NamedTuple

from detlint.ir.ops import STORE
from detlint.ir.records import GENERATOR, Name, Parameter

Body = list[ast.stmt] | ast.expr


class Pending(NamedTuple):
    """A function or class whose body is lowered after all that is around it, because only then is it known what its names mean."""

    builder: Builder
    body: Body


class File:
    """The tables of a file."""

    __slots__ = ("constants", "functions", "strings", "waiting")

    def __init__(self) -> None:
        self.strings: dict[str, int] = {}
        self.constants: dict[object, int] = {}
        self.functions: list[Builder] = []
        self.waiting: deque[Pending] = deque()

    def string(self, text: str) -> int:
        """The row of a string."""
        return self.strings.setdefault(text, len(self.strings))

    def constant(self, value: object) -> int:
        """The row of a constant: 1, 1.0 and True are three, and so are 0.0 and -0.0."""
        kind = value.__class__
        key = value if kind is str else (kind, repr(value) if kind is float or kind is complex else value)
        return self.constants.setdefault(key, len(self.constants))


class Builder:
    """A function, class body or module top level that is being lowered.

    Args:
        visible: the slots of comprehensions around it, which no function has of its own: name -> function and slot.
    """

    __slots__ = (
        "bound", "declared", "file", "inner", "kind", "name", "names", "node", "nodes", "number", "ops", "outer", "parameters", "parent",
        "slots", "visible",
    )  # fmt: skip

    def __init__(
        self, file: File, kind: int, name: str, parent: Builder | None, visible: dict[str, tuple[int, int]] | None = None
    ) -> None:
        self.file = file
        self.kind = kind
        self.name = name
        self.parent = parent
        self.visible = visible
        self.number = len(file.functions)
        file.functions.append(self)
        self.ops: list[tuple[int, ...]] = []
        self.nodes: list[ast.AST] = []
        """The node of each op."""
        self.names: list[str] = []
        """The name of each slot."""
        self.slots: dict[str, int] = {}
        """Name -> its slot at the place that is being lowered: inside a comprehension what that binds is another."""
        self.bound: set[int] = set()
        self.inner: dict[str, tuple[int, int]] = {}
        """Of the comprehensions around that place, name -> function and slot."""
        self.declared: dict[str, int] = {}
        """Names that are declared `global` (0) or `nonlocal` (1)."""
        self.parameters: list[Parameter] = []

    def put(self, op: tuple[int, ...], node: ast.AST) -> int:
        """Add an op; its position."""
        self.ops.append(op)
        self.nodes.append(node)
        return len(self.ops) - 1

    def slot(self, name: str) -> int:
        """The slot of a name."""
        found = self.slots.get(name)
        if found is None:
            found = self.slots[name] = len(self.names)
            self.names.append(name)
        return found

    def bind(self, name: str) -> int:
        """The slot of a name that is bound here."""
        slot = self.slot(name)
        self.bound.add(slot)
        return slot

    def store(self, name: str, value: int, node: ast.AST) -> None:
        """Bind a name."""
        self.put((STORE, self.bind(name), value), node)
