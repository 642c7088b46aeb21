"""What the parameters of a function are given: by its calls, or by the calls of the layer whose forward pass it is."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final, NamedTuple

from detlint.domains.gradient.gradients import Gradients
from detlint.model.arguments import received
from detlint.model.module import Module
from detlint.model.parts import calls_of_parts
from detlint.model.resolve import Resolver
from detlint.model.sites.records import (
    Branch,
    Const,
    Function,
    Items,
    Ref,
    Site,
    Step,
    Value,
)
from detlint.model.uses import Use

IMAGE: Final = 3
"""Channels of an image."""


class Place(NamedTuple):
    """Where a value is read: a function, and what this one call of it gives its parameters; None: any call of it may be
    meant."""

    module: Module
    function: Function
    replaced: tuple[Value | None, ...] = ()
    """What the loops around replace: in their next turn it is something else."""
    given: dict[str, Given] | None = None


class Given(NamedTuple):
    """What a call gives a parameter, with the place that it is said in; None for what isn't known."""

    place: Place
    value: Value | None


class _Calls(NamedTuple):
    """Who calls a function."""

    sites: list[tuple[Module, int]]
    others: list[tuple[Module, str]]
    """Who does too, outside of all layers: whoever uses a layer class that no other has as a part. The files that build one, with the
    class; "" where nobody does that is in sight."""


class Feeds:
    """Finds what parameters are given, in the whole program.

    Args:
        any_input: whether all that a whole network is given from outside counts as data, and not just what surely is.
    """

    def __init__(self, resolver: Resolver, gradients: Gradients, any_input: bool = False) -> None:
        self.resolver = resolver
        self.gradients = gradients
        self._any_input = any_input
        self._replaced: dict[tuple[str, int], dict[int, tuple[Value | None, ...]]] = {}

    def place(self, module: Module, index: int) -> Place:
        """The place of a site."""
        number = module.sites[index].function
        key = (module.path, number)
        if key not in self._replaced:
            self._replaced[key] = dict(_replaced(module.body.steps[number], ()))
        return Place(module, module.facts.functions[number], self._replaced[key].get(index, ()))

    def inside(self, module: Module, function: Function, given: dict[str, Given]) -> Place:
        """The end of a function that is called with some arguments; what any loop in it replaces may be something else."""
        replaced = {id(v): v for _, values in _replaced(module.steps(function), ()) for v in values}
        return Place(module, function, tuple(replaced.values()), given)

    def given(self, module: Module, function: Function, parameter: str) -> list[Given] | None:
        """What all calls of a function give a parameter where gradients may be taken; None where they can't all be found, and
        nothing where it is data that a network is given from outside.

        Args:
            parameter: one of the function's own.
        """
        calls = self._calls(module, function)
        if calls is None:
            return None
        sites = [*calls.sites]
        for made in calls.others if not self._is_data(module, function, parameter) else ():
            if not (called := self._called_where_made(*made)):
                return None
            sites += called
        found = []
        for home, index in sites:
            site = home.sites[index]
            if not self.gradients.are_off(home, site):
                passed = self.passed(module, function, self.place(home, index), site)
                if parameter not in passed:
                    return None
                found.append(passed[parameter])
        return found

    def passed(self, module: Module, function: Function, here: Place, site: Site) -> dict[str, Given]:
        """What a call gives the parameters of a function, as far as that is known.

        Args:
            here: where the call stands.
        """
        own, there = module.taken(function), Place(module, function)
        bound = received(site, own)
        known = ((p.name, bound[p.name]) for p in own if p.name in bound and bound[p.name].given is not None)
        return {name: Given(here if argument.given else there, argument.value) for name, argument in known}

    def callee(self, target: Value | None) -> tuple[Module, Function] | None:
        """The function of the program that calling a normal value runs: that function, or the forward pass of a layer."""
        kind = self.resolver.types.of(target)
        layer = self.resolver.kinds.layer(kind) if "::" in kind else None
        found = self.resolver.classes.attribute(kind, layer.forward) if layer is not None else target
        return self.resolver.function(found)

    def _calls(self, module: Module, function: Function) -> _Calls | None:
        """The calls of a function; None where it isn't known who calls it, or whether anybody does."""
        uses = self.gradients.uses(module, function.name)
        if uses is None or not all(use.called and use.site >= 0 for use in uses):
            return None
        sites, others = [(use.module, use.site) for use in uses], list[tuple[Module, str]]()
        layer = self.resolver.kinds.layer(f"{module.path}::{function.owner}") if function.owner else None
        last = function.name.rpartition(".")[2]
        if layer is not None and (last == layer.forward or (not sites and not last.startswith("_"))):
            of_objects = self._of_objects(module, function.owner)
            if of_objects is None or (last != layer.forward and not of_objects.others):
                return None
            sites += of_objects.sites if last == layer.forward else ()
            others = of_objects.others
        return _Calls(sites, others) if sites or others else None

    def _of_objects(self, module: Module, name: str) -> _Calls | None:
        """The calls of objects of a layer class, and of those derived from it; None where there may be some in layers that
        can't be found."""
        sites: list[tuple[Module, int]] = []
        others = list[tuple[Module, str]]()
        for home, heir in [(module, name), *self.gradients.users.heirs(module, name)]:
            uses = self.gradients.uses(home, heir)
            if uses is None and not self._derives_from_network(f"{home.path}::{heir}"):
                return None
            others += [(home, "")] if not uses else ()
            for use in uses or ():
                made = use.called and use.site >= 0
                part = calls_of_parts(self.resolver, self.gradients.users, [use]) if made else None
                if part is None and use.site >= 0 and self._is_in_layer(use):
                    return None
                sites += ((call.module, call.site) for call in part or ())
                others += [(use.module, f"{home.path}::{heir}")] if part is None else ()
        return _Calls(sites, others)

    def _called_where_made(self, module: Module, kind: str) -> list[tuple[Module, int]]:
        """The calls of objects of a class in a file that builds one; none where anybody gets it who is of no library."""
        types, found = self.resolver.types, list[tuple[Module, int]]()
        for number, site in enumerate(module.sites if kind else ()):
            normal = partial(self.resolver.normal, module.path, function=module.function_of(site))
            target = normal(site.target)
            if site.kind == "call" and types.of(target) == kind:
                found.append((module, number))
            elif (not isinstance(target, Ref) or "::" in target.name) and any(
                types.of(normal(argument.value)) == kind for argument in site.args
            ):
                return []
        back = (self.resolver.normal(module.path, function.returns, function) for function in module.facts.functions)
        return [] if kind in map(types.of, back) else found

    def _is_in_layer(self, use: Use) -> bool:
        owner = use.module.function_of(use.module.sites[use.site]).owner
        return bool(owner) and self.resolver.kinds.layer(f"{use.module.path}::{owner}") is not None

    def _is_data(self, module: Module, function: Function, parameter: str) -> bool:
        """Whether a parameter of a method is what a whole network computes on: its first, or what the catalog knows as such."""
        if not function.owner or not self._is_network(module, function.owner):
            return False
        names = [p.name for p in module.detail(function).parameters]
        return (
            self._any_input
            or parameter in names[1:2]
            or any(word in parameter for word in self.resolver.catalog.latents)
        )

    def _is_network(self, module: Module, name: str) -> bool:
        """Whether a layer class, that no other has as a part, is a whole network: it is made for a number of channels that images
        have, and of classes that it tells apart; or it derives from what only networks do."""
        catalog, own = self.resolver.catalog, f"{module.path}::{name}"
        if self._derives_from_network(own):
            return True
        found = self.callee(self.resolver.classes.attribute(own, "__init__"))
        if found is None:
            return False
        given = {p.name: p.default for p in found[0].detail(found[1]).parameters}
        images = any(given.get(name) == Const(IMAGE) for name in catalog.channels)
        return images and not catalog.classes.isdisjoint(given)

    def _derives_from_network(self, name: str) -> bool:
        return not self.resolver.catalog.networks.isdisjoint(map(self._dotted, self.resolver.classes.mro(name)))

    def _dotted(self, name: str) -> str:
        """The name of a class as an import would have it."""
        module, inside = self.resolver.definition(name) or (None, "")
        return f"{module.facts.module}.{inside}" if module is not None else name


def _replaced(
    steps: tuple[Step, ...], replaced: tuple[Value | None, ...]
) -> Iterator[tuple[int, tuple[Value | None, ...]]]:
    """The sites among some steps, each with what the loops around it replace."""
    for step in steps:
        if isinstance(step, Branch):
            own = step.test.values[::2] if step.kind == "loop" and isinstance(step.test, Items) else ()
            for arm in step.arms:
                yield from _replaced(arm, (*replaced, *own))
        elif step >= 0:
            yield step, replaced
