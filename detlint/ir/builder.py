"""What is being lowered: a file's tables, and one function at a time."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterable
from typing import Final, NamedTuple

from detlint.ir.ops import STORE
from detlint.ir.records import CLASS, KIND, Parameter

GLOBAL: Final = 0
NONLOCAL: Final = 1

Body = list[ast.stmt] | ast.expr
Shadowed = list[tuple[str, int | None, int | None]]
"""Names whose meaning changes for a while, and the slots that they had before: at that place, and in comprehensions."""


class Pending(NamedTuple):
    """A function or class whose body is lowered after all that is around it, as the walk would be as deep as they are nested otherwise."""

    builder: Builder
    body: Body


class File:
    """The tables of a file."""

    __slots__ = ("bases", "constants", "functions", "imports", "strings", "waiting")

    def __init__(self) -> None:
        self.strings: dict[str, int] = {}
        self.constants: dict[object, int] = {}
        self.functions: list[Builder] = []
        self.waiting: deque[Pending] = deque()
        self.imports: list[tuple[int, int, int, str | None, str | None]] = []
        """As in `Import`, with what will be the last strings: no row of a string that an op has depends on the names of variables."""
        self.bases: dict[int, list[str | None]] = {}
        """The number of a class -> its bases, dotted, or None."""

    def string(self, text: str) -> int:
        """The row of a string."""
        return self.strings.setdefault(text, len(self.strings))

    def optional(self, text: str | None) -> int:
        """The row of a string, or -1."""
        return -1 if text is None else self.string(text)

    def constant(self, value: object) -> int:
        """The row of a constant."""
        return self.constants.setdefault(constant_key(value), len(self.constants))


def constant_key(value: object) -> object:
    """What a constant is looked up by, itself at the end if it is a tuple: 1, 1.0 and True are three constants, and so are 0.0 and -0.0."""
    kind = value.__class__
    if kind is str:
        return value
    return (kind, repr(value), value) if kind is float or kind is complex else (kind, value)


class Builder:
    """A function, class body or module top level that is being lowered."""

    __slots__ = (
        "beyond", "bound", "constants", "declared", "file", "given", "inner", "keys", "kind", "line", "name", "names", "nodes",
        "number", "ops", "parameters", "parent", "prefix", "private", "returns", "slots", "strings", "visible",
    )  # fmt: skip

    def __init__(self, file: File, kind: int, name: str, line: int, parent: Builder | None) -> None:
        self.file = file
        self.strings = file.strings
        self.constants = file.constants
        self.kind = kind
        self.name = name
        self.line = line
        self.parent = parent
        self.visible = parent.inner.copy() if parent is not None and parent.inner else None
        """Of the comprehensions and type parameters around it in its parent, name -> slot there."""
        self.prefix: str = "" if parent is None else parent.prefix
        """What stands before names like `__name`, which a class has for itself."""
        if kind == CLASS:
            bare = name.lstrip("_")
            self.prefix = "_" + bare if bare else ""
        self.number = len(file.functions)
        file.functions.append(self)
        self.ops: list[tuple[int, ...]] = []
        self.nodes: list[ast.AST] = []
        """The node of each op."""
        self.given: list[ast.AST] = []
        """That of each parameter."""
        self.names: list[str] = []
        """The name of each slot as it is written, and in `keys` as Python calls it."""
        self.keys: list[str] = []
        self.slots: dict[str, int] = {}
        """Name -> its slot at the place that is being lowered: inside a comprehension what that binds is another."""
        self.beyond: dict[str, int] = {}
        """What stands for `slots` in the comprehensions of a class, which don't see its names."""
        self.bound: set[int] = set()
        self.private: set[int] = set()
        """The slots of comprehensions and type parameters, which no declaration is about."""
        self.inner: dict[str, int] = {}
        """Of the comprehensions and type parameters around that place, name -> slot."""
        self.declared: dict[str, int] = {}
        """Name -> `GLOBAL` or `NONLOCAL`."""
        self.parameters: list[Parameter] = []
        self.returns = -1

    def put(self, op: tuple[int, ...], node: ast.AST) -> int:
        """Add an op; its position."""
        self.ops.append(op)
        self.nodes.append(node)
        return len(self.ops) - 1

    # -- names ----------------------------------------------------------------------------------------------------------------

    def key(self, text: str) -> str:
        """What Python calls a name."""
        if self.prefix and text.startswith("__") and not text.endswith("__") and "." not in text:
            return self.prefix + text
        return text

    def added(self, text: str, key: str) -> int:
        """A new slot."""
        self.names.append(text)
        self.keys.append(key)
        return len(self.keys) - 1

    def slot(self, text: str) -> int:
        """The slot of a name."""
        found = self.slots.get(text)
        return self.first(text) if found is None else found

    def first(self, text: str) -> int:
        """The slot of a name that has none as it is written, as a rule because it is the first time that it is seen."""
        key = text
        if self.prefix:
            key = self.key(text)
            found = self.slots.get(key)
            if found is not None:
                return found
        slot = self.slots[key] = len(self.keys)
        self.names.append(text)
        self.keys.append(key)
        return slot

    def bind(self, text: str) -> int:
        """The slot of a name that is bound here."""
        slot = self.slots.get(text)
        if slot is None:
            slot = self.first(text)
        self.bound.add(slot)
        if self.declared and self.declared.get(key := self.keys[slot]) == GLOBAL and slot not in self.private:
            module = self.file.functions[0]
            top = module.slots.get(key)
            module.bound.add(module.slot(key) if top is None else top)
        return slot

    def store(self, text: str, value: int, node: ast.AST) -> None:
        """Bind a name."""
        self.put((STORE, self.bind(text), value), node)

    def parameter(self, node: ast.arg, kind: int, default: int, annotation: int) -> None:
        """A parameter, as in `Parameter`, whose slot is its position."""
        text = node.arg
        self.given.append(node)
        self.parameters.append(Parameter(kind, default, annotation))
        key = self.key(text) if self.prefix else text
        slot = self.slots[key] = self.added(text, key)
        self.bound.add(slot)

    def declare(self, text: str, way: int) -> None:
        """`global` or `nonlocal`."""
        if self.parent is not None:
            self.declared[self.key(text)] = way

    def shadow(self, texts: Iterable[str]) -> Shadowed:
        """Give names slots that mean something up to `restore` alone."""
        before: Shadowed = []
        for text in texts:
            key = self.key(text)
            before.append((key, self.slots.get(key), self.inner.get(key)))
            slot = self.slots[key] = self.inner[key] = self.added(text, key)
            self.bound.add(slot)
            self.private.add(slot)
        return before

    def restore(self, before: Shadowed) -> None:
        """Let names mean what they meant before `shadow`."""
        for key, slot, inner in reversed(before):
            for table, value in ((self.slots, slot), (self.inner, inner)):
                if value is None:
                    del table[key]
                else:
                    table[key] = value

    # -- what they mean -------------------------------------------------------------------------------------------------------

    def resolved(self) -> list[tuple[int, int, int]]:
        """What each slot means, as in `Name`; to be asked once all is lowered, and of inner functions before outer ones."""
        file, number, bound, declared = self.file, self.number, self.bound, self.declared
        beyond = set(self.beyond.values()) if self.beyond else ()
        found = []
        for slot, key in enumerate(self.keys):
            text = file.string(self.names[slot])
            if slot in bound and (not declared or key not in declared or slot in self.private):
                found.append((text, number, slot))
            elif declared and declared.get(key) == GLOBAL and slot not in beyond:
                found.append((text, *self._top(key)))
            else:
                found.append((text, *self._around(key, slot in beyond)))
        return found

    def _around(self, key: str, beyond: bool) -> tuple[int, int]:
        """The function around it that binds a name, and its slot there."""
        if beyond and key == "__class__":
            return self.number, self._cell()
        f: Builder = self
        while (around := f.parent) is not None:
            if f.visible and key in f.visible:
                return around.number, f.visible[key]
            if around.kind & KIND == CLASS:
                if key == "__class__":
                    return around.number, around._cell()
            elif around.parent is not None:
                way = around.declared.get(key)
                if way == GLOBAL:
                    break
                slot = around.slots.get(key)
                if slot is not None and slot in around.bound and way is None:
                    return around.number, slot
            f = around
        return self._top(key)

    def _top(self, key: str) -> tuple[int, int]:
        module = self.file.functions[0]
        slot = module.slots.get(key)
        return 0, slot if slot is not None and slot in module.bound else -1

    def _cell(self) -> int:
        """The slot of `__class__`, which the functions in a class see, and its body doesn't."""
        key = ".class"
        slot = self.slots.get(key)
        if slot is None:
            slot = self.slots[key] = self.added("__class__", key)
            self.bound.add(slot)
        return slot
