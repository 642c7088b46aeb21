"""Registries: functions and classes that a program keeps in a collection, to be chosen by a name when it runs.

A registry is a collection of a module or class (`MODELS = {}`, `cls.mapping["models"]`) or an object (`MODELS = Registry("models")`).
A definition gets into it by a decorator, or by a call or an assignment at the top level of its module. What calls store in a collection
is seen in the functions that do it; an object of a library's class keeps what is handed to its `register...`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple

from detlint.model.arguments import owner_of
from detlint.model.module import Module
from detlint.model.resolve import Resolver
from detlint.model.sites.records import Const, Function, Instance, Member, Param, Ref, Result, Site, Value, options

DEEPEST: Final = 4
"""How many calls a definition is followed through until it is kept."""
SELF: Final = "self"
BUILDS: Final = frozenset({"build", "create", "instantiate", "make"})
"""Methods of registries, of libraries and others, that build what these keep."""


class Kept(NamedTuple):
    """A definition in a registry."""

    registry: str
    names: frozenset[str]
    """What it may be known by there."""
    definition: Ref


class Registries:
    """Says what the files of a program keep in which registry.

    Args:
        resolver: resolves names.
        callees: the functions of the program that calling a value runs.
        returned: the function that a function gives back.
    """

    def __init__(
        self,
        resolver: Resolver,
        callees: Callable[[Value | None], Iterable[tuple[Module, Function, str]]],
        returned: Callable[[Module, Function], Function | None],
    ) -> None:
        self.resolver = resolver
        self.callees = callees
        self.returned = returned
        self._kept: dict[str, list[Kept]] = {}
        self._keeps: dict[tuple[str, int, str], frozenset[str]] = {}

    def kept_by(self, module: Module) -> list[Kept]:
        """What importing a file puts into registries."""
        if module.path not in self._kept:
            self._kept[module.path] = [*self._decorated(module), *self._stored(module)]
        return self._kept[module.path]

    def _decorated(self, module: Module) -> Iterator[Kept]:
        functions = [(f.name, module.detail(f).decorators) for f in module.facts.functions if not f.owner]
        classes = [(body.name, body.decorators) for body in module.facts.classes]
        for name, decorators in (*functions, *classes):
            for decorator in decorators if name in module.facts.names else ():
                if decorator is not None:
                    yield from self._applied(module, decorator, Ref(f"{module.path}::{name}"), ())

    def _stored(self, module: Module) -> Iterator[Kept]:
        """What the top level stores, or hands to what stores it."""
        for site in module.sites:
            if site.function or site.kind not in ("call", "write"):
                continue
            for argument in site.args:
                value = argument.value
                named = self.resolver.normal(module.path, value) if isinstance(value, Ref) else None
                if not (isinstance(named, Ref) and self._is_definition(named.name)):
                    continue
                if site.kind == "call":
                    yield from self._applied(module, site.target, named, _texts(site))
                elif isinstance(site.target, Member) and isinstance(site.target.base, Ref):
                    key = self.resolver.variable(module.path, site.target.base.name)
                    yield Kept(key, _names(named, (site.target.attr.strip("[]"),)), named)

    def _is_definition(self, name: str) -> bool:
        module, inside = self.resolver.definition(name) or (None, "")
        return module is not None and (inside in module.functions or inside in module.classes)

    def _applied(self, module: Module, called: Value, definition: Ref, texts: Iterable[str]) -> Iterator[Kept]:
        """What calling a value with a definition puts into registries; a decorator is called so."""
        made = called.of if isinstance(called, Result) else called
        if isinstance(called, Result) and called.site >= 0:
            texts = [*texts, *_texts(module.sites[called.site])]
        itself, maker = self.resolver.normal(module.path, called), self.resolver.normal(module.path, made)
        is_object = isinstance(called, Result) and isinstance(maker, Ref) and self.resolver.classes.is_class(maker.name)
        functions = [*self.callees(itself if is_object else maker)]
        found = set[str]()
        for home, outer, _ in functions:
            function = self.returned(home, outer) if isinstance(called, Result) and not is_object else outer
            names = [p.name for p in home.taken(function) if not p.kind] if function is not None else []
            if function is not None and names:
                found |= self.keeps(home, function, names[0])
        if SELF in found or (not functions and last(made).startswith("register")):
            found = (found - {SELF}) | {self.key(itself) if is_object else self.owner(module, made)}
        for key in sorted(found - {""}):
            yield Kept(key, _names(definition, texts), definition)

    def chosen_by(self, called: Value | None, depth: int = 0) -> str:
        """The registry of which a function gives back an item (`def model_of(name): return MODELS[name]`), by its key; "" for none."""
        found = (
            self._item_of(module, function, given, depth)
            for module, function, _ in (self.callees(called) if depth < DEEPEST else ())
            for given in options(function.returns)
            if given is not None
        )
        return next((key for key in found if key), "")

    def _item_of(self, module: Module, function: Function, given: Value, depth: int) -> str:
        """The registry of which a value is an item: `MODELS[name]`, `MODELS.get(name)`."""
        if isinstance(given, Member) and given.attr.startswith("["):
            return self._collection(module, given.base)
        if not isinstance(given, Result):
            return ""
        if last(given.of) == "get" and isinstance(given.of, Member):
            return self._collection(module, given.of.base)
        return self.chosen_by(self.resolver.normal(module.path, given.of, function), depth + 1)

    def _collection(self, module: Module, value: Value) -> str:
        """The key of a collection of a module or class, or of one inside it: `MODELS`, `cls.mapping["models"]`; "" for another value."""
        if isinstance(value, Member) and value.attr.startswith("[") and isinstance(value.base, Ref):
            return self._collection(module, value.base) + value.attr
        return self.resolver.variable(module.path, value.name) if isinstance(value, Ref) else ""

    def owner(self, module: Module, called: Value) -> str:
        """The key of the registry whose method is called; "" for none."""
        return self.key(self.resolver.normal(module.path, owner_of(called)))

    def key(self, value: Value | None) -> str:
        """The key of the registry that an object is; "" for what can't be one."""
        if isinstance(value, Result) and value.site >= 0 and isinstance(value.of, Ref):
            return repr(value)
        return value.name if isinstance(value, Ref) else ""

    def keeps(self, module: Module, function: Function, parameter: str, depth: int = 0) -> frozenset[str]:
        """The registries in which a function keeps what a parameter is given; `SELF` for the object that it is a method of."""
        key = (module.path, function.number, parameter)
        if key not in self._keeps:
            self._keeps[key] = frozenset()  # where functions call each other in a circle
            self._keeps[key] = frozenset(self._found(module, function, parameter, depth))
        return self._keeps[key]

    def _found(self, module: Module, function: Function, parameter: str, depth: int) -> Iterator[str]:
        for site in module.sites:
            if site.function == function.number and any(_is(argument.value, parameter) for argument in site.args):
                if site.kind == "write":
                    yield from self._written(module, site.target)
                elif site.kind == "call" and depth < DEEPEST:
                    yield from self._handed_on(module, function, site, parameter, depth)

    def _written(self, module: Module, target: Value) -> Iterator[str]:
        """The registry of which an item is set: `MODELS[name] = ...`, `self._models[name] = ...`, `self[name] = ...`."""
        if isinstance(target, Member) and target.attr.startswith("["):
            key = self._collection(module, target.base)
            if key:
                yield key
            elif isinstance(target.base.base if isinstance(target.base, Member) else target.base, Instance):
                yield SELF

    def _handed_on(self, module: Module, function: Function, site: Site, parameter: str, depth: int) -> Iterator[str]:
        """Where a call keeps what a parameter of the function around it was given."""
        target = site.target
        own = isinstance(target, Member) and isinstance(target.base, Instance)
        for home, callee, _ in self.callees(self.resolver.normal(module.path, target, function)):
            names = [p.name for p in home.taken(callee) if not p.kind]
            for i, argument in enumerate(site.args):
                name = argument.name or (names[i] if i < len(names) else "")
                if _is(argument.value, parameter):
                    for key in self.keeps(home, callee, name, depth + 1):
                        yield key if key != SELF or own else self.owner(module, target)


def _is(value: Value | None, parameter: str) -> bool:
    return isinstance(value, Param) and value.name == parameter


def _names(definition: Ref, texts: Iterable[str]) -> frozenset[str]:
    return frozenset({definition.name.rpartition("::")[2].rpartition(".")[2], *texts})


def _texts(site: Site) -> list[str]:
    return [a.value.value for a in site.args if isinstance(a.value, Const) and isinstance(a.value.value, str)]


def last(value: Value) -> str:
    """The last component of what is called."""
    return value.attr if isinstance(value, Member) else value.name.rpartition(".")[2] if isinstance(value, Ref) else ""
