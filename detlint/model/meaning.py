"""What a value of the IR means in the whole program: `F.dropout` after `import torch.nn.functional as F` is `torch.nn.functional.dropout`.

What it may assume: a name of the top level means what it does at the end of that; a name of a function around means what that binds it to,
where it does so once; nobody gives a module, or a class, another attribute from outside; annotations hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Final

from detlint.ir import ops as op
from detlint.ir.code import Code, Function
from detlint.model.module import Module
from detlint.model.resolve import Resolver
from detlint.model.sites.records import Const, Instance, Items, Param, Ref, Result, Value, options
from detlint.model.sites.scope import BUILTINS, join

DEEPEST: Final = 24
"""So many names may stand for one another."""
_KINDS: Final = {op.LIST: "list", op.TUPLE: "tuple", op.SET: "set"}


class Meaning:
    """Says what the values in a file are, in normal form."""

    def __init__(self, resolver: Resolver, module: Module, code: Code) -> None:
        self._resolver = resolver
        self.module = module
        self.code = code
        self.path = module.path
        self._known: dict[tuple[int, int], Value | None] = {}

    def value(self, function: Function, at: int, depth: int = 0) -> Value | None:
        """What a value is; None where that isn't known."""
        key = (function.number, at)
        if key not in self._known:
            self._known[key] = None  # of one that comes to itself
            self._known[key] = self._found(function, at, depth) if depth < DEEPEST else None
        return self._known[key]

    def name(self, function: Function, at: int) -> str:
        """The full name of what a value is: `torch.nn.Dropout`, or `<file>::Net` for a definition of the program; "" where it has none,
        or may be one of several."""
        value = self.value(function, at)
        return value.name if isinstance(value, Ref) else ""

    def names(self, function: Function, at: int) -> set[str]:
        """The full names of all that a value may be and that have one."""
        return {value.name for value in options(self.value(function, at)) if isinstance(value, Ref)}

    def kind(self, function: Function, at: int) -> str:
        """The class of a value, by its full name; "" where that isn't known."""
        return self._resolver.types.of(self.value(function, at))

    def is_class(self, function: Function, at: int) -> bool:
        """Whether a value is a class itself, and no object."""
        return self._resolver.classes.is_class(self.name(function, at))

    def calls(self, function: Function) -> Iterator[tuple[int, str]]:
        """The calls of a function, with the full names of what they call; "" where that has none."""
        return ((at, self.name(function, operation[1])) for at, operation in function.each(op.CALL))

    def _found(self, function: Function, at: int, depth: int) -> Value | None:
        operation, strings = function.ops[at], self.code.strings
        code = operation[0]
        if code == op.LOAD:
            return self._loaded(function, at, depth)
        if code == op.ATTR:
            return self._resolver.member(self.value(function, operation[1], depth + 1), strings[operation[2]])
        if code == op.CALL:
            of = self.value(function, operation[1], depth + 1)
            return Result(of) if of is not None else None
        if code == op.CONST:
            constant = function.constant(at)
            return Const(constant) if constant is None or isinstance(constant, bool | int | float | str) else None
        if code in (op.IMPORT, op.MEMBER):
            return self._resolver.name(self.module.path, self.imported(function, at))
        if code in (op.FUNCTION, op.CLASS):
            return Ref(f"{self.module.path}::{self.code.function(operation[1]).qualified}")
        if code == op.CHOICE:
            return join([self.value(function, arm, depth + 1) for arm in operation[2:]])
        if code in _KINDS:
            return Items(tuple(self.value(function, item, depth + 1) for item in operation[1:]), _KINDS[code])  # type: ignore[arg-type]
        if code == op.ITEM:
            key = function.constant(operation[2])
            base = self.value(function, operation[1], depth + 1)
            return self._resolver.member(base, f"[{key}]") if isinstance(key, int | str) else None
        if code == op.PART and operation[2] >= 0:
            return self._resolver.member(self.value(function, operation[1], depth + 1), f"[{operation[2]}]")
        return None

    def _loaded(self, function: Function, at: int, depth: int) -> Value | None:
        """What a name stands for where it is read."""
        slot = function.ops[at][1]
        owner, home = function.binding(slot)
        text = function.text(slot)
        if home < 0:
            if not self.module.facts.stars:
                return Ref(f"builtins.{text}")
            value = self._of_module(text)
            return BUILTINS.get(text, value) if value == Ref(self.module.prefix + text) else value
        if owner == function.number:
            if (parameter := function.parameter(at)) >= 0:
                return self._given(function, parameter, text)
            stored = function.stored(at)
            if stored is not None:
                return join([self.value(function, value, depth + 1) for value in stored])
            return self._of_module(text) if owner == 0 else None
        if owner:
            found = self.code.stores(function.binding(slot))
            if len(found) == 1 and found[0][0].ops[found[0][1]][0] == op.STORE:
                return self.value(found[0][0], found[0][0].ops[found[0][1]][2], depth + 1)
            around = self.code.function(owner)
            return self._given(around, home, text) if not found and home < len(around.header.parameters) else None
        return self._of_module(text)

    def _of_module(self, text: str) -> Value | None:
        found = self.module.facts.names.get(text)
        return self._resolver.normal(self.module.path, found if found is not None else Ref(self.module.prefix + text))

    def starred(self, text: str) -> list[Value | None]:
        """What the top level imports by a name with all that others have."""
        top = self.code.module
        sources = (self.imported(top, operation[1]) for _, operation in top.each(op.STAR_IMPORT))
        return [self._resolver.name(self.module.path, f"{source}.{text}") for source in sources]

    def _given(self, function: Function, parameter: int, text: str) -> Value | None:
        """What a parameter is: an object of the class, or that, of a method's first; one of the class that its annotation names; else what
        is known of it by itself."""
        if parameter or function.parent is None or not function.receives:
            annotation = function.header.parameters[parameter].annotation
            kind = (
                self._annotated(function.parent, annotation) if function.parent is not None and annotation >= 0 else ""
            )
            return Instance(kind, text) if kind else Param(text)
        owner = f"{self.module.path}::{function.parent.qualified}"
        return Instance(owner) if function.receives == "object" else Ref(owner)

    def _annotated(self, function: Function, annotation: int) -> str:
        """The full name of the class that an annotation names, or this or None; "" where it names none, several, or a built-in one."""
        operation = function.ops[annotation]
        if operation[0] == op.BINARY:
            found = {self._annotated(function, side) for side in operation[2:]} - {""}
            return found.pop() if len(found) == 1 else ""
        if operation[0] == op.ITEM:
            optional = self.name(function, operation[1]) == "typing.Optional"
            return self._annotated(function, operation[2]) if optional else ""
        name = self.name(function, annotation)
        return name if self._resolver.classes.is_class(name) and not name.startswith("builtins.") else ""

    def imported(self, function: Function, at: int) -> str:
        """The dotted name that an import says, from the top."""
        operation, strings = function.ops[at], self.code.strings
        if operation[0] == op.MEMBER:
            source = self.imported(function, operation[1])
            return f"{source}.{strings[operation[2]]}" if source else strings[operation[2]]
        name, level, first = strings[operation[1]], operation[2], operation[3]
        if not level:
            return name.partition(".")[0] if first else name
        parts = self.module.facts.module.split(".")
        keep = len(parts) - level + (1 if self.module.path.endswith("__init__.py") else 0)
        return ".".join([*parts[: max(keep, 0)], *([name] if name else [])])


class Meanings:
    """Those of a program's files."""

    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver
        self._kept = cache(self._made)

    def of(self, module: Module) -> Meaning | None:
        """What the values in a file mean; None for one that is no Python. What is found out rests on it."""
        return self._kept(module) if self._resolver.code(module.path) is not None else None

    def within(self, module: Module) -> Meaning | None:
        """The same for whoever says of which functions of the file he asks (`Files.inside`): what is found out only rests on these."""
        return self._kept(module) if self._resolver.modules.code(module.path) is not None else None

    def at(self, path: str) -> Meaning | None:
        """The same of a file by its path."""
        module = self._resolver.module(path)
        return self.of(module) if module is not None else None

    def definition(self, name: str) -> tuple[Meaning, Function] | None:
        """The one definition of the program that has a full name, `<file>::Net.forward`; None where there are others of it, or none."""
        path, colon, _ = name.partition("::")
        if colon:
            self._resolver.opened.add(path)
        return self.definition_within(name)

    def definition_within(self, name: str) -> tuple[Meaning, Function] | None:
        """The same, likewise."""
        path, colon, inside = name.partition("::")
        module = self._resolver.module(path) if colon else None
        meaning = self.within(module) if module is not None else None
        found = meaning.code.by_name.get(inside, ()) if meaning is not None else ()
        return (meaning, found[0]) if meaning is not None and len(found) == 1 else None

    def forward(self, meaning: Meaning, function: Function, at: int) -> tuple[Meaning, Function] | None:
        """What calling a value runs that is a layer of the program, wherever it was moved meanwhile: `net = Net().cuda()`."""
        same, seen = self._resolver.catalog.words_with("returns-self"), set[int]()
        while at >= 0 and at not in seen and not meaning.kind(function, at):
            seen.add(at)
            stored = (function.stored(at) or ()) if function.ops[at][0] == op.LOAD else ()
            moved = function.called_on(at) if function.called(at) in same else -1
            at = stored[0] if len(stored) == 1 else moved
        kind = meaning.kind(function, at) if at >= 0 else ""
        layer = self._resolver.kinds.layer(kind) if "::" in kind else None
        method = self._resolver.classes.attribute(kind, layer.forward) if layer is not None else None
        return self.definition(method.name) if isinstance(method, Ref) else None

    def _made(self, module: Module) -> Meaning:
        code = self._resolver.modules.code(module.path)
        assert code is not None
        return Meaning(self._resolver, module, code)
