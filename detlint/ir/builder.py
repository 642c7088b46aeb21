"""What is being lowered: a file's tables, and one function at a time."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any, Final

from detlint.ir.ops import CONST, LOAD, STORE
from detlint.ir.records import CLASS, KIND, Parameter

GLOBAL: Final = 0
NONLOCAL: Final = 1

Body = list[ast.stmt] | ast.expr
Op = tuple[int, ...]
Shadowed = list[tuple[str, Op | None, Op | None]]
"""Names whose meaning changes for a while, and the ops that read them before: at that place, and in comprehensions."""


class File:
    """The tables of a file."""

    __slots__ = ("bases", "constants", "functions", "imports", "strings")

    def __init__(self) -> None:
        self.strings: dict[str, int] = {}
        self.constants: dict[object, Op] = {}
        """The ops that give them, by what `constant_key` says: one op each, as most are there more than once."""
        self.functions: list[Builder] = []
        """Their bodies are lowered one after the other: the walk would be as deep as they are nested otherwise."""
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

    def constant(self, value: object) -> Op:
        """The op that gives a constant."""
        key = constant_key(value)
        found = self.constants.get(key)
        if found is None:
            found = self.constants[key] = CONST, len(self.constants)
        return found


def constant_key(value: object) -> object:
    """What a constant is looked up by, itself at the end if it is a tuple: 1, 1.0 and True are three constants, and so are 0.0 and -0.0."""
    kind = value.__class__
    if kind is str:
        return value
    return (kind, repr(value), value) if kind is float or kind is complex else (kind, value)


class Builder:
    """A function, class body or module top level that is being lowered."""

    __slots__ = (
        "beyond", "body", "bound", "constants", "declared", "file", "given", "inner", "keys", "kind", "line", "name", "names",
        "nodes", "number", "ops", "parameters", "parent", "prefix", "private", "returns", "seen", "slots", "strings", "visible",
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
        """Of the comprehensions and type parameters around it in its parent, as `slots` there."""
        self.prefix: str = "" if parent is None else parent.prefix
        """What stands before names like `__name`, which a class has for itself."""
        if kind == CLASS:
            bare = name.lstrip("_")
            self.prefix = "_" + bare if bare else ""
        self.number = len(file.functions)
        file.functions.append(self)
        self.ops: list[Op] = []
        self.nodes: list[Any] = []
        """What each of them is made of."""
        self.given: list[ast.arg] = []
        """Its parameters."""
        self.names: list[str] = []
        """The name of each slot as it is written."""
        self.keys: dict[int, str] = {}
        """The slots that Python calls otherwise, and how."""
        self.slots: dict[str, Op] = {}
        """Name -> the op that reads its slot at the place that is being lowered: inside a comprehension what that binds is another."""
        self.beyond: dict[str, Op] = {}
        """What stands for `slots` in the comprehensions of a class, which don't see its names."""
        self.bound: set[int] = set()
        self.private: set[int] = set()
        """The slots of comprehensions and type parameters, which no declaration is about."""
        self.inner: dict[str, Op] = {}
        """Of the comprehensions and type parameters around that place, as `slots`."""
        self.declared: dict[str, int] = {}
        """Name -> `GLOBAL` or `NONLOCAL`."""
        self.seen: dict[str, tuple[int, int]] = {}
        """Names -> what they mean in the functions that stand in it, as far as that has been asked."""
        self.parameters: list[Parameter] = []
        self.returns = -1
        self.body: Body = []

    def put(self, op: Op, node: Any) -> int:
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

    def added(self, text: str, key: str) -> Op:
        """The op that reads a new slot."""
        slot = len(self.names)
        self.names.append(text)
        if key is not text:
            self.keys[slot] = key
        return LOAD, slot

    def load(self, text: str) -> Op:
        """The op that reads a name."""
        return self.slots.get(text) or self.first(text)

    def first(self, text: str) -> Op:
        """The op that reads a name that has none as it is written, as a rule because it is the first time that it is seen."""
        key = text
        if self.prefix and text.startswith("__"):
            key = self.key(text)
            found = self.slots.get(key)
            if found is not None:
                return found
        found = self.slots[key] = self.added(text, key)
        return found

    def bind(self, text: str) -> int:
        """The slot of a name that is bound here."""
        slot = self.load(text)[1]
        self.bound.add(slot)
        if self.declared and self.declared.get(key := self.keys.get(slot, text)) == GLOBAL and slot not in self.private:
            module = self.file.functions[0]
            module.bound.add(module.load(key)[1])
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
        own = self.slots[key] = self.added(text, key)
        self.bound.add(own[1])

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
            own = self.slots[key] = self.inner[key] = self.added(text, key)
            self.bound.add(own[1])
            self.private.add(own[1])
        return before

    def restore(self, before: Shadowed) -> None:
        """Let names mean what they meant before `shadow`."""
        for key, own, inner in reversed(before):
            for table, value in ((self.slots, own), (self.inner, inner)):
                if value is None:
                    del table[key]
                else:
                    table[key] = value

    # -- what they mean -------------------------------------------------------------------------------------------------------

    def resolved(self) -> list[tuple[int, int, int]]:
        """What each slot means, as in `Name`; to be asked once all is lowered, and of inner functions before outer ones."""
        strings, number, bound, declared = self.strings, self.number, self.bound, self.declared
        keys, private = self.keys, self.private
        beyond = {read[1] for read in self.beyond.values()} if self.beyond else ()
        found = []
        for slot, name in enumerate(self.names):
            text, key = strings.setdefault(name, len(strings)), name
            if keys:
                key = keys.get(slot, name)
            if slot in bound and (not declared or key not in declared or slot in private):
                found.append((text, number, slot))
            elif declared and declared.get(key) == GLOBAL and slot not in beyond:
                found.append((text, *self._top(key)))
            elif key == "__class__" and slot in beyond:
                found.append((text, number, self._cell()))
            else:
                found.append((text, *self._around(key)))
        return found

    def _around(self, key: str) -> tuple[int, int]:
        """The function around it that binds a name, and its slot there."""
        around = self.parent
        if around is None:
            return self._top(key)
        if self.visible and key in self.visible:
            return around.number, self.visible[key][1]
        found = around.seen.get(key)
        if found is None:
            found = around.seen[key] = around._inside(key)
        return found

    def _inside(self, key: str) -> tuple[int, int]:
        """What a name means in the functions that stand in it: the function that binds it, and its slot there."""
        if self.kind & KIND == CLASS:
            if key == "__class__":
                return self.number, self._cell()
        elif self.parent is not None:
            way = self.declared.get(key)
            if way == GLOBAL:
                return self._top(key)
            read = self.slots.get(key)
            if read is not None and read[1] in self.bound and way is None:
                return self.number, read[1]
        return self._around(key)

    def _top(self, key: str) -> tuple[int, int]:
        module = self.file.functions[0]
        read = module.slots.get(key)
        return 0, read[1] if read is not None and read[1] in module.bound else -1

    def _cell(self) -> int:
        """The slot of `__class__`, which the functions in a class see, and its body doesn't."""
        key = ".class"
        if key not in self.slots:
            self.slots[key] = self.added("__class__", key)
            self.bound.add(self.slots[key][1])
        return self.slots[key][1]
