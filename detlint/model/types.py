"""The classes of objects: of literals, of instances, and of what calls give, as the catalog and the program's functions say."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from detlint.catalog import Framework
from detlint.model.arguments import CallArgument, returned
from detlint.model.sites.records import (
    OPERATED,
    SCALED,
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
    Value,
)

if TYPE_CHECKING:
    from detlint.model.resolve import Resolver


class Types:
    """Answers what class a normal value is an object of."""

    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver
        self._catalog = resolver.catalog
        self._returned: dict[str, str] = {}
        self._forwarded: dict[str, str] = {}
        """The classes of what layers of the program give when they are called."""

    def of(self, value: Value | None) -> str:
        """The class of a normal value, by normal name; "" when unknown."""
        if isinstance(value, Instance):
            return value.of
        if isinstance(value, Ref):
            # A property that the catalog types: `Path(__file__).parent`.
            owner = value.name.rpartition(".")[0].rpartition(".")[2]
            return self._returned_by(value.name) if owner[:1].isupper() and value.name in self._catalog.calls else ""
        if isinstance(value, Const):
            return f"builtins.{type(value.value).__name__}"
        if isinstance(value, (Items, Mapping)):
            return "builtins.dict" if isinstance(value, Mapping) else f"builtins.{value.kind}"
        if isinstance(value, Either):
            return self._common({self.of(option) for option in value.options})
        if isinstance(value, Member) and not value.attr.startswith("["):
            return self._by_attribute(value.attr)
        if isinstance(value, Member):
            kind = self.of(value.base)
            return kind if kind in self.tensors else self._type_of_item(value)
        if isinstance(value, Param):
            return self.of(value.default) if value.default not in (None, Const(None)) else ""
        return self._type_of_result(value.of, value.site) if isinstance(value, Result) else ""

    def _by_attribute(self, attr: str) -> str:
        """The class of an attribute of an object that isn't known, by a name that only objects of one class have: `env.action_space`."""
        found = [self._catalog.entries[i].returns for i in self._catalog.methods.get(attr, ())]
        return next((returns for returns in found if returns), "")

    @cached_property
    def tensors(self) -> frozenset[str]:
        """The frameworks' classes of tensors, by canonical name."""
        return frozenset(framework.tensor for framework in self._catalog.frameworks if framework.tensor)

    @cached_property
    def _closed(self) -> frozenset[str]:
        """Classes whose operators give the class again (`Path / "x"`)."""
        calls, entries = self._catalog.calls, self._catalog.entries
        return frozenset(name for name, found in calls.items() if any("closed" in entries[i].contexts for i in found))

    @cached_property
    def _collections(self) -> frozenset[str]:
        return self._catalog.with_context("collection")

    @cached_property
    def _in_parts(self) -> frozenset[str]:
        return self._catalog.with_context("returns-parts")

    @cached_property
    def _giving_outputs(self) -> frozenset[str]:
        return self._catalog.with_context("gives-outputs")

    @cached_property
    def _plain(self) -> frozenset[str]:
        return frozenset(name for framework in self._catalog.frameworks for name in framework.plain)

    def _type_of_result(self, of: Value, site: int) -> str:
        """The class of what a call of a value gives, at a site; "" when unknown."""
        if isinstance(of, Partial):
            return self._type_of_result(of.of, site)
        if isinstance(of, Either):
            return self._common(
                {self._type_of_result(option, site) if option is not None else "" for option in of.options}
            )
        if isinstance(of, Member) and of.attr in (OPERATED, SCALED):
            kind = self.of(of.base)
            return kind if kind in self.tensors or kind in self._closed else ""
        if isinstance(of, Ref):
            if of.name in self._catalog.giving_several:
                return self._returned_at(of.name, site)
            if of.name not in self._returned:
                self._returned[of.name] = ""
                self._returned[of.name] = self._returned_by(of.name)
            return self._returned[of.name]
        called = self.of(of)
        if isinstance(of, Member) and called and called == self._by_attribute(of.attr):
            return called  # a method of an object that isn't known: `env.action_space(agent)`
        layer = self._resolver.kinds.layer(called)
        return self._given_by_layer(called, layer) if layer is not None else ""

    def _common(self, kinds: set[str]) -> str:
        """The class that objects of one of some classes are all of: that class, one of a library, or that of all layers."""
        if len(kinds) == 1:
            return kinds.pop()
        layer, *others = [self._resolver.kinds.layer(kind) if kind else None for kind in kinds]
        if layer is not None and all(other is layer for other in others):
            return layer.module if all(self._given_by_layer(kind, layer) == layer.tensor for kind in kinds) else ""
        first, *rest = [[*filter(self._is_of_library, self._resolver.classes.mro(kind))] for kind in sorted(kinds)]
        return next((name for name in first if all(name in line for line in rest)), "")

    def _is_of_library(self, name: str) -> bool:
        return name.partition(".")[0] in self._catalog.roots

    def _given_by_layer(self, name: str, layer: Framework) -> str:
        """The class of what calling a layer gives: a tensor, if its forward pass doesn't surely make an object of another."""
        if "::" not in name:
            return layer.tensor if name not in self._giving_outputs else ""
        if name not in self._forwarded:
            self._forwarded[name] = layer.tensor  # of one that hands on what it gets itself
            module, function = self._resolver.function(Ref(f"{name}.{layer.forward}")) or (None, None)
            value = self._resolver.normal(module.path, function.returns, function) if module and function else None
            kind = self.of(value) if isinstance(value, Result) else ""
            if "::" in kind and self._resolver.kinds.layer(kind) is None:
                self._forwarded[name] = kind
        return self._forwarded[name]

    def _type_of_item(self, value: Member) -> str:
        """The class of one of several things that a function of the program returns, `model, sampler = make()`, or that the catalog
        knows: `torch.cuda.default_generators[0]`, `load_dataset(name)["train"]`."""
        if isinstance(value.base, Ref) and value.base.name in self._collections:
            return self._returned_by(value.base.name)
        if part := self._catalog.held.get(self.of(value.base)) or self._type_of_part(value):
            return part
        of = value.base.of if isinstance(value.base, Result) else None
        if not isinstance(of, Ref) or "::" not in of.name:
            return ""
        key = f"{of.name}{value.attr}"
        if key not in self._returned:
            self._returned[key] = ""
            module, function = self._resolver.function(of) or (None, None)
            if module is not None and function is not None and isinstance(function.returns, Items):
                returned = self._resolver.normal(module.path, function.returns, function)
                self._returned[key] = self.of(self._resolver.member(returned, value.attr))
        return self._returned[key]

    def _type_of_part(self, value: Member) -> str:
        """The class of one of the things that a library gives back under names or numbers: what its first entry `returns`, if the
        call gives the arguments that the one asks for which says so. Nothing is said of what is in such a thing."""
        whole: Value | None = value
        steps = list[str]()
        while isinstance(whole, Member) and whole.attr.startswith("["):
            steps.append(whole.attr)
            whole = whole.base
        if not (isinstance(whole, Result) and isinstance(whole.of, Ref) and whole.of.name in self._in_parts):
            return ""
        if "returns-with-more" in self._resolver.contexts(whole.of.name) and steps[-1] == "[0]":
            steps.pop()
        place = self._resolver.place(whole.site)
        if place is None or len(steps) > 1:
            return ""
        given = {arg.name for arg in place[1].args}
        lists = {arg.name for arg in place[1].args if isinstance(arg.value, Items)}
        for entry in (self._catalog.entries[i] for i in self._catalog.calls[whole.of.name]):
            asked = {name: said.given for name, said in entry.when.items() if said.given is not None}
            fits = not given & {"*", "**"} and all((name in given) is wanted for name, wanted in asked.items())
            fits = fits and all(name in lists for name, said in entry.when.items() if said.sequence)
            if "returns-parts" in entry.contexts and fits:
                return self._returned_by(whole.of.name)
        return ""

    def _returned_at(self, name: str, site: int) -> str:
        """The class of what one call gives, where its arguments decide that; by the first entry if they can't be read."""
        place = self._resolver.place(site)
        if place is None:
            return self._returned_by(name)
        module, call = place
        function = module.facts.functions[call.function]
        given = [CallArgument(arg.name, self._resolver.normal(module.path, arg.value, function)) for arg in call.args]
        entries = [self._catalog.entries[i] for i in self._catalog.calls[name]]
        return returned(entries, given, self._catalog.signatures.get(name, []))

    def _returned_by(self, name: str) -> str:
        """The class of what a callable returns."""
        returns = [found for i in self._catalog.calls.get(name, ()) if (found := self._catalog.entries[i].returns)]
        if self._resolver.classes.is_class(name) and not {*returns} - {"generator"}:
            return name
        if "::" in name:
            module, function = self._resolver.function(Ref(name)) or (None, None)
            value = self._resolver.normal(module.path, function.returns, function) if module and function else None
            return self.of(value)
        if returns:  # Generator objects keep the name of what made them: their methods are known under it.
            return returns[0] if returns[0] != "generator" else name
        for framework in self._catalog.frameworks:
            if framework.tensor and name not in self._plain:
                owner, _, last = name.rpartition(".")
                if owner == framework.tensor or (f"{owner}." in framework.producers and last[:1].islower()):
                    return framework.tensor
        return ""
