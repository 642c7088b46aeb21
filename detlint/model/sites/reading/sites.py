"""Sites: what may matter to a rule."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from detlint.catalog import Factory
from detlint.ir import ops as op
from detlint.model.factories import arguments, kind_of, named
from detlint.model.sites.reading.state import State
from detlint.model.sites.reading.values import _SHORT, opened, simple, tail_of
from detlint.model.sites.records import (
    ANY_TEXT,
    GETATTR,
    IMPORT_MODULE,
    LOOKED_UP,
    PUT_TOGETHER,
    Arg,
    Const,
    Either,
    Expression,
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
from detlint.model.sites.scope import is_collection

OF_BUILT_INS: Final = frozenset(
    name for kind in (str, bytes, list, dict, set, int, float) for name in dir(kind) if not name.startswith("__")
)
"""What a method is of such an object, and seldom of one of the program."""


def is_handed(value: Value | None) -> bool:
    """Whether a value is a parameter, an attribute or item of one, or made by calling one: `Model(4).to(device)`, of which something is
    asked."""
    while type(value) is Result and type(value.of) is Member:
        value = value.of.base
    return type(value.base if type(value) is Member else value.of if type(value) is Result else value) is Param


class Sites(State):
    """Writes down sites."""

    def keep(self, of: int, base: Value | None, key: Value | None, value: Param | Ref, at: int) -> None:
        """Note that a collection which outlives the function is given an item that may be a function or a class."""
        base = self.shared(of, base)
        if isinstance(base, (Instance, Ref, Member)) and (type(value) is Param or self.wanted(value)):
            self.site("write", Member(base, f"[{key.value if isinstance(key, Const) else '*'}]"), (Arg("", value),), at)

    def shared(self, at: int, value: Value | None) -> Value | None:
        """A collection of the module that is filled later (`MODELS = {}`) by its name; any other value as it is."""
        if self.code_of(at) != op.LOAD or not is_collection(value):
            return value
        slot = self.ops[at][1]
        name = self.scope.names[slot]
        return Ref(self.prefix + self.scope.function.text(slot)) if name.owner == 0 and name.slot >= 0 else value

    def environment(self, pairs: Iterable[tuple[str, Value | None]], at: int) -> None:
        for name, value in pairs:
            if name in self.catalog.environment:
                self.site("environment", Ref(name), (Arg("value", value),), at)

    def registered(self, at: int, definition: str) -> None:
        """Note what `@MODELS.register_module(name="Net")` registers: under its own name where none is given, and where what
        is given is not literal."""
        call = self.scope.function.call(at) if self.ops[at][0] == op.CALL else None
        given = [*filter(None, (call.named.get("name"),)), *call.positional[:1]] if call is not None else []
        texts = [self.constant_of(part) for part in self.scope.function.within(given[0])] if given else []
        for name in [text for text in texts if isinstance(text, str)] or [definition.rpartition(".")[2]]:
            if name in self.catalog.registry:
                self.registers[name] = definition

    def wanted(self, callee: Value) -> bool:
        """Whether a call is worth recording: the catalog may know it, or the program may define it."""
        kind: Any = type(callee)
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
                return any(isinstance(value, (Ref, Result)) and self.wanted(value) for value in root.values)
            if kind is Either:
                return any(isinstance(value, (Ref, Result)) and self.wanted(value) for value in root.options)
            if kind is Param:  # `agent.learn(batch)`: what a function is handed may be of the program
                return callee.attr not in OF_BUILT_INS and is_handed(callee.base)  # type: ignore[union-attr]
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

    def part(self, whole: Value | None, name: Value | None, at: int) -> Value | None:
        """What a module or class of the program has under a name that isn't written out.

        Args:
            at: the name.
        """
        roots = [option.of if type(option) is Result else option for option in options(whole)]
        of_self = any(type(root) is Instance and root.of.startswith(self.prefix) for root in roots)
        known = [root for root in roots if type(root) is Ref]
        if not (of_self or any(r == IMPORT_MODULE or r.name.partition(".")[0] not in self.foreign for r in known)):
            return None
        said = name if name is not None and type(name) is not Expression else self.put_together(at)
        return self.looked_up(GETATTR, [Arg("", whole), Arg("", said)], at)

    def put_together(self, at: int) -> Value | None:
        """A text that is put together of texts and others: `f"make_{name}"`, `"make_" + name`."""
        operation = self.ops[self.scope.function.meant(at)]
        parts: Sequence[int] = ()
        if operation[0] == op.TEXT:
            parts = [self.ops[part][1] if self.ops[part][0] == op.FORMAT else part for part in operation[1:]]
        elif operation[0] == op.BINARY and self.strings[operation[1]] == "+":
            parts = operation[2:]
        given = [Arg("", self.made[part] or ANY_TEXT) for part in parts]
        return self.looked_up(PUT_TOGETHER, given, at) if any(arg.value != ANY_TEXT for arg in given) else None

    def looked_up(self, by: Ref, args: Sequence[Arg], at: int) -> Value | None:
        """What a name stands for that isn't written out; None where nothing at all is known of it."""
        if any(arg.value is None for arg in args):
            return None
        self.places.append((self.scope.function.number, at))
        self.sites.append(Site("item", by, tuple(args), self.span(at), self.scope.number))
        return Result(by, len(self.sites) - 1)

    def site(self, kind: SiteKind, target: Value, args: tuple[Arg, ...], at: int) -> int:
        """Write down a site, which is a step: its position.

        Args:
            at: where it stands.
        """
        tail = tail_of(target)
        if args and tail not in self.words and kind != "write":
            args = tuple([arg if type(arg.value) in _SHORT else Arg(arg.name, simple(arg.value)) for arg in args])
        number = len(self.sites)
        if self.has_keys and tail in self.catalog.key_words:
            self.keys += 1
            self.keyed[self.scope.number] = None
        elif tail in self.catalog.transforms and self.scope.kind == "function" and self.ops[at][0] == op.CALL:
            self.transforms.append((number, at))
        self.places.append((self.scope.function.number, at))
        self.sites.append(Site(kind, target, args, self.span(at), self.scope.number, self.within))
        self.steps.append(number)
        return number

    def section(self, name: str | None, value: Value | None, at: int) -> None:
        """Settings under a name that the catalog knows: `randomness = dict(seed=None)`, also inside of others."""
        if name in self.catalog.sections and isinstance(value, Mapping):
            args = tuple(Arg(key, held) for key, held in zip(value.keys, value.values, strict=True))
            self.site("section", Ref(name), (*args, Arg("**", value.rest)) if value.open else args, at)

    def mapping(self, keys: list[str], values: list[Value | None], at: int) -> Value | None:
        """A dictionary with literal keys, and `**` for others that are put into it; one that a registry or Hydra builds an
        object from is a site."""
        if not all(key.isprintable() for key in keys):
            return None
        table = Mapping(tuple(keys), tuple(values))
        for key in keys:
            if key in self.catalog.factory_keys:
                self.built(self.catalog.factory_keys[key], table, at)
        return opened(table, self.ops[at][0] == op.CALL) if "**" in keys else table

    def built(self, factory: Factory, table: Mapping, at: int) -> None:
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
            self.site(kind, target, args, at)
        elif isinstance(what, Ref) and not factory.required and self.wanted(what):
            self.site("config", what, args, at)

    def instantiated(self, factories: Iterable[Factory], at: int, args: list[Arg]) -> Value | None:
        """What `instantiate({"_target_": "project.Net"}, depth=3)` builds, where its table is known. What the catalog knows was
        noted where the table stands."""
        table = args[0].value if args and not args[0].name else None
        factory = next((one for one in factories if isinstance(table, Mapping) and one.key in table.keys), None)
        if not isinstance(table, Mapping) or factory is None:
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
        return Result(target, self.site("call", target, (*given, *args[1:]), at) if own else -1)
