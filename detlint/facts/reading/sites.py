"""Sites: what may matter to a rule, with what becomes of its result."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import Any, Final

from detlint.catalog import Factory
from detlint.facts.factories import arguments, kind_of, named
from detlint.facts.loops import dotted
from detlint.facts.model import (
    GETATTR,
    IMPORT_MODULE,
    LOOKED_UP,
    PUT_TOGETHER,
    Arg,
    Const,
    Either,
    Instance,
    Items,
    Mapping,
    Member,
    Param,
    Partial,
    Ref,
    Result,
    Site,
    SiteKind,
    Value,
    options,
)
from detlint.facts.nodes import walk
from detlint.facts.reading.values import _SHORT, opened, simple, span_of, tail_of
from detlint.facts.reading.walk import Walk
from detlint.facts.scope import is_collection

_TOLD_OF_ALL: Final = frozenset({
    "dropped", "logged", *(f"argument:builtins.{name}" for name in ("frozenset", "len", "set", "sorted")),
})  # fmt: skip
"""What is told of whatever is called: a function may give back a listing, whose order its callers settle."""
LOOPS: Final = ("loop", "counted:loop")


class Sites(Walk):
    """Writes down sites."""

    __slots__ = ()

    def keep(
        self, node: ast.expr, base: Value | None, key: Value | None, value: Param | Ref, statement: ast.stmt
    ) -> None:
        """Note that a collection which outlives the function is given an item that may be a function or a class."""
        base = self.shared(node, base)
        if isinstance(base, (Ref, Member)) and (type(value) is Param or self.wanted(value)):
            self.site(
                "write", Member(base, f"[{key.value if isinstance(key, Const) else '*'}]"), (Arg("", value),), statement
            )

    def shared(self, node: ast.expr, value: Value | None) -> Value | None:
        """A collection of the module that is filled later (`MODELS = {}`) by its name; any other value as it is."""
        if type(node) is not ast.Name or not is_collection(value):
            return value
        inner = next((names for names in self.scope.around if node.id in names), None)
        return Ref(self.prefix + node.id) if inner is self.scope.around[-1] else value

    def environment(self, pairs: Iterable[tuple[str, Value | None]], node: ast.AST) -> None:
        for name, value in pairs:
            if name in self.catalog.environment:
                self.site("environment", Ref(name), (Arg("value", value),), node)

    def registered(self, node: ast.expr, definition: str) -> None:
        """Note what `@MODELS.register_module(name="Net")` registers: under its own name where none is given, and where what
        is given is not literal."""
        call = node if isinstance(node, ast.Call) else None
        if not dotted(call.func if call is not None else node).rpartition(".")[2].startswith("register"):
            return
        given = [k.value for k in call.keywords if k.arg == "name"] + call.args[:1] if call is not None else []
        texts = [e.value for e in walk(given[0]) if isinstance(e, ast.Constant)] if given else []
        for name in [text for text in texts if isinstance(text, str)] or [definition.rpartition(".")[2]]:
            if name in self.catalog.registry:
                self.registers[name] = definition

    def wanted(self, callee: Value) -> bool:
        """Whether a call is worth recording: the catalog may know it, or the program may define it."""
        kind = type(callee)
        if kind is Ref:
            name: str = callee.name  # type: ignore[union-attr]
            return name.partition(".")[0] not in self.foreign or self.acts(name)
        if kind is Member:
            if callee.attr in self.method_words or callee.attr in self.options:  # type: ignore[union-attr]
                return True
            root: Any = callee
            while True:
                kind = type(root)
                if kind is Member:
                    root = root.base
                elif kind is Result:
                    root = root.of
                    if root in LOOKED_UP:
                        return True
                else:
                    break
            if kind is Ref:
                return root.name.partition(".")[0] not in self.foreign
            if kind is Items or kind is Mapping:
                return any(isinstance(value, Ref) and self.wanted(value) for value in root.values)
            if kind is Either:
                return any(isinstance(value, (Ref, Result)) and self.wanted(value) for value in root.options)
            if kind is Param:  # `Model(...).act(x)`: what a class makes that a function is handed
                return root is not callee.base and root.name[:1].isupper()  # type: ignore[union-attr]
            return kind is Instance and root.of.partition(".")[0] not in self.foreign
        if isinstance(callee, Either):
            return any(option is not None and self.wanted(option) for option in callee.options)
        if isinstance(callee, Result):
            return callee.of in LOOKED_UP or self.wanted(callee.of)
        return isinstance(callee, (Partial, Instance, Param))

    def acts(self, name: str) -> bool:
        """Whether the catalog knows an external name as one whose calls matter."""
        last = name.rpartition(".")[2]
        if last not in self.words and last != "__init__":
            return False
        if last in self.catalog.copies or last == "apply":
            return True
        known = self.catalog.canonical(name)
        return known in self.catalog.acting or (self.raises and known in self.catalog.raising)

    def part(self, whole: Value | None, name: Value | None, node: ast.expr) -> Value | None:
        """What a module or class of the program has under a name that isn't written out.

        Args:
            node: the name.
        """
        roots = [option.of if type(option) is Result else option for option in options(whole)]
        known = [root for root in roots if type(root) is Ref]
        if not any(r == IMPORT_MODULE or r.name.partition(".")[0] not in self.foreign for r in known):
            return None
        return self.looked_up(GETATTR, [Arg("", whole), Arg("", name or self.put_together(node))], node)

    def put_together(self, node: ast.expr) -> Value | None:
        """A text that is put together of texts and names: `f"make_{name}"`, `"make_" + name`."""
        if isinstance(node, ast.JoinedStr):
            parts = [part.value if type(part) is ast.FormattedValue else part for part in node.values]
        else:
            parts = [node.left, node.right] if isinstance(node, ast.BinOp) and type(node.op) is ast.Add else []
        if not parts or any(type(part) not in (ast.Attribute, ast.Constant, ast.Name) for part in parts):
            return None
        return self.looked_up(PUT_TOGETHER, [Arg("", self.expression(part)) for part in parts], node)

    def looked_up(self, by: Ref, args: Sequence[Arg], node: ast.expr) -> Value | None:
        """What a name stands for that isn't written out; None where nothing at all is known of it."""
        if any(arg.value is None for arg in args):
            return None
        self.sites.append(Site("item", by, tuple(args), span_of(node), self.scope.function))
        return Result(by, len(self.sites) - 1)

    def site(self, kind: SiteKind, target: Value, args: tuple[Arg, ...], node: Any, use: str = "") -> int:
        tail, given = tail_of(target), use
        if args and tail not in self.words and kind != "write":
            args = tuple([arg if type(arg.value) in _SHORT else Arg(arg.name, simple(arg.value)) for arg in args])
        if self.is_id:
            use = "id"
        elif use:
            if tail in self.catalog.ordered_words or (self.lists and self.is_kept_here(target, use)):
                self.judged += 1
            else:
                use = "kept" if use.startswith(("assigned:", "put:")) else use if use in _TOLD_OF_ALL else ""
            if use == "kept" and given.count(".") > 1 and tail in self.catalog.all_drawing_words:
                use = ""  # a part of the object gets it: `self.fc.weight.data = rand(4)`
        if self.has_keys and tail in self.key_words:
            self.keys += 1
            self.keyed[self.scope.function] = None
        if (
            use == "kept"
            and tail in self.catalog.transforms
            and self.scope.kind == "function"
            and type(node) is ast.Call
        ):
            self.transforms.append(len(self.sites))
        number = len(self.sites)
        self.sites.append(Site(kind, target, args, span_of(node), self.scope.function, self.within, use))
        self.steps.append(number)
        return number

    def is_kept_here(self, target: Value, use: str) -> bool:
        """Whether a call keeps under a name what a function of the file gives back, or a loop goes over it at once."""
        own = type(target) is Ref and target.name.startswith(self.prefix)
        return own and (use.startswith("assigned:") or use in LOOPS)

    def section(self, name: str | None, value: Value | None, node: ast.expr) -> None:
        """Settings under a name that the catalog knows: `randomness = dict(seed=None)`, also inside of others."""
        if name in self.catalog.sections and isinstance(value, Mapping):
            args = tuple(Arg(key, held) for key, held in zip(value.keys, value.values, strict=True))
            self.site("section", Ref(name), (*args, Arg("**", value.rest)) if value.open else args, node)

    def mapping(self, keys: list[str], values: list[Value | None], node: ast.expr) -> Value | None:
        """A dictionary with literal keys, and `**` for others that are put into it; one that a registry or Hydra builds an
        object from is a site."""
        if not all(key.isprintable() for key in keys):
            return None
        table = Mapping(tuple(keys), tuple(values))
        for key in keys:
            if key in self.factories:
                self.built(self.factories[key], table, node)
        return opened(table, type(node) is ast.Call) if "**" in keys else table

    def built(self, factory: Factory, table: Mapping, node: ast.expr) -> None:
        """Note what a table says is to be built from it."""
        what, args = table.values[table.keys.index(factory.key)], arguments(factory, table)
        if args is None:
            return
        if isinstance(what, Const) and isinstance(what.value, str):
            target = named(factory, what.value, self.catalog)
            if target is None:
                return
            kind = kind_of(factory, target, table, self.catalog)
            if kind == "registry":
                self.builds.add(target.name)
            else:
                self.imports.add(target.name)
                if not self.wanted(target):
                    return
                if not self.acts(target.name):
                    kind = "registry"  # the program's own: naming it here runs nothing of it
                elif kind == "call":
                    kind = "config"
            self.site(kind, target, args, node)
        elif isinstance(what, Ref) and not factory.required and self.wanted(what):
            self.site("config", what, args, node)

    def instantiated(self, factory: Factory, node: ast.Call, args: list[Arg]) -> Value | None:
        """What `instantiate({"_target_": "project.Net"}, depth=3)` builds, where its table is known. What the catalog knows was
        noted where the table stands."""
        table = args[0].value if args and not args[0].name else None
        if not isinstance(table, Mapping) or factory.key not in table.keys:
            return None
        what, given = table.values[table.keys.index(factory.key)], arguments(factory, table)
        target = (
            named(factory, what.value, self.catalog)
            if isinstance(what, Const) and isinstance(what.value, str)
            else None
        )
        if target is None or given is None or kind_of(factory, target, table, self.catalog) != "call":
            return None
        own = self.wanted(target) and not self.acts(target.name)
        return Result(target, self.site("call", target, (*given, *args[1:]), node) if own else -1)
