"""Whether a function that a call is handed draws random numbers: the workers that run it then race for its stream."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Final

from detlint.catalog import TRANSFORM, Catalog, Entry
from detlint.db import Memo
from detlint.model.callees import returned
from detlint.model.flow import flags
from detlint.model.module import Module
from detlint.model.places import point_of
from detlint.model.runs.reach import HOST, TRAINING
from detlint.model.sites.records import Const, Function, Items, Member, Param, Partial, Ref, Result, Site, Value

if TYPE_CHECKING:
    from detlint.domains.matching.match import Matcher

OWN: Final = "draws-own"
"""The context of what draws by a seed of its own."""
ASKED: Final = frozenset({OWN, "calls"})
CALLED: Final = ("__call__", "__getitem__", "__next__")
"""The methods by which a data pipeline uses an object."""
Found = tuple[Module, Function, bool]
"""A function, and whether it is told, or was made, with a flag that is off: what stands under an `if` in it may then never run."""
Target = tuple[Module, Function, bool, frozenset[str]]
"""That, and the streams that are asked about in it."""


class Handed:
    """Looks into the functions of the program that values stand for, and into those that they call."""

    def __init__(self, matcher: Matcher) -> None:
        self._matcher = matcher
        self._known: Memo[bool] = Memo(matcher.resolver.db)
        """Whether a function draws."""

    def draws(self, value: Value, streams: frozenset[str]) -> bool:
        """Whether a value is a function, or an object that is used like one, or a list with such, that draws."""
        values = value.values if isinstance(value, Items) else (value,)
        return any(
            self._is_transform(value, streams) or any(map(self._draws, self._targets((value,), streams)))
            for value in values
        )

    def _draws(self, start: Target) -> bool:
        """Whether a function or one that it calls draws; what is looked into meanwhile is not asked again."""
        key = start[0].path, start[1].number, *start[2:]
        return self._known.of(key, partial(self._found, start), False)  # it may be a function that hands itself on

    def _found(self, start: Target) -> bool:
        """Whether something draws in a function, or in one that it leads to."""
        seen, waiting = {(start[0].path, start[1].number, *start[2:])}, [start]
        while waiting:
            module, function, off, streams = waiting.pop()
            always = module.steps(function) if off else ()
            for index in [i for i, site in enumerate(module.sites) if site.function == function.number]:
                if off and index not in always:
                    continue
                if self._draws_at(module, index, streams):
                    return True
                for target in self._called_at(module, index, streams):
                    place = (target[0].path, target[1].number, *target[2:])
                    if place not in seen:
                        seen.add(place)
                        waiting.append(target)
        return False

    def _draws_at(self, module: Module, index: int, streams: frozenset[str]) -> bool:
        """Whether a call draws from one of the streams, or by a seed of its own, of an operator or a generator object: calls
        at once race for it as well."""
        if any(not streams.isdisjoint(e.draws) or OWN in e.contexts for e in self._entries(module, index)):
            return True
        site, resolver = module.sites[index], self._matcher.resolver
        owner = site.target.base if isinstance(site.target, Member) else None
        if makes_generator(resolver.normal(module.path, owner, module.function_of(site)), self._matcher.catalog):
            return True
        if any(argument.name == TRAINING and argument.value == Const(False) for argument in site.args):
            return False
        return self._is_transform(resolver.normal(module.path, site.target, module.function_of(site)), streams)

    def _is_transform(self, value: Value | None, streams: frozenset[str]) -> bool:
        """Whether a value is a library's random transform, or a network of which one is a part: `Sequential([RandomFlip()])`."""
        place = self._matcher.resolver.place(value.site) if isinstance(value, Result) else None
        if place is None or not isinstance(value, Result) or not isinstance(value.of, Ref):
            return False
        (module, site), catalog = place, self._matcher.catalog
        if "chains" in self._matcher.resolver.contexts(value.of.name):
            passed = self._matcher.call_arguments(module, site, module.function_of(site))
            parts = (argument.value.values for argument in passed if isinstance(argument.value, Items))
            return any(self._is_transform(part, streams) for items in parts for part in items)
        if not any(catalog.entries[i].rule == TRANSFORM for i in catalog.calls.get(value.of.name, ())):
            return False
        entries = (match.entry for match in self._matcher.matches(module, value.site & 0xFFFFFFFF))
        return any(entry.rule == TRANSFORM and not streams.isdisjoint(entry.draws) for entry in entries)

    def _entries(self, module: Module, index: int) -> list[Entry]:
        """What a site fulfils. Only what may draw, or call, is matched: a match may itself ask what a function draws."""
        known = self._matcher.catalog.entries
        named = (known[i] for _, entries in self._matcher.candidates(module, index) for i in entries)
        if not any(entry.draws or not ASKED.isdisjoint(entry.contexts) for entry in named):
            return []
        return [match.entry for match in self._matcher.matches(module, index)]

    def _called_at(self, module: Module, index: int, streams: frozenset[str]) -> list[Target]:
        site, resolver = module.sites[index], self._matcher.resolver
        if any("calls" in entry.contexts for entry in self._entries(module, index)):
            passed = self._matcher.call_arguments(module, site, module.function_of(site))
            return self._targets([argument.value for argument in passed], streams | HOST)
        off = self._is_told_off(module, site)
        called = self._functions(resolver.normal(module.path, site.target, module.function_of(site)))
        return [(home, function, off or made_off, streams) for home, function, made_off in called]

    def _is_told_off(self, module: Module, site: Site) -> bool:
        """Whether a call is told False, or the parameter of a function around this one that is off where this one is handed over."""
        if any(argument.value == Const(False) for argument in site.args):
            return True
        told = {argument.value.name for argument in site.args if isinstance(argument.value, Param)}
        own = module.function_of(site).name
        around = module.functions.get(own.rpartition(".")[0]) if told else None
        if around is None:
            return False
        handed = (
            point_of(self._matcher.resolver, module, other)
            for other in module.sites
            if other.function == around.number and any(a.value == Ref(module.prefix + own) for a in other.args)
        )
        found = (flags(point.function, point.function.guards(point.at)) for point in handed if point is not None)
        return any(name in told and not wanted for several in found for name, wanted in several)

    def _targets(self, values: Iterable[Value | None], streams: frozenset[str]) -> list[Target]:
        return [(*found, streams) for value in values for found in self._functions(value)]

    def _functions(self, value: Value | None) -> list[Found]:
        resolver = self._matcher.resolver
        if isinstance(value, Partial):
            value = value.of
        kind = resolver.types.of(value)
        if "::" in kind:
            layer = resolver.kinds.layer(kind)
            names = (*CALLED, layer.forward) if layer is not None else CALLED
            methods = (resolver.function(resolver.classes.attribute(kind, name)) for name in names)
            return [(*method, False) for method in methods if method is not None]
        if isinstance(value, Result):
            return self._given_by(value)
        found = resolver.function(value)
        return [(*found, False)] if found is not None else []

    def _given_by(self, made: Result) -> list[Found]:
        """The inner function that a function gives back: `preprocess(is_training)`."""
        resolver = self._matcher.resolver
        maker, place = resolver.function(made.of), resolver.place(made.site)
        inner = returned(*maker) if maker is not None else None
        if maker is None or inner is None or place is None:
            return []
        args, parameters = place[1].args, maker[0].detail(maker[1]).parameters
        said = {p.name: a.value for p, a in zip(parameters, args, strict=False)} | {a.name: a.value for a in args}
        return [(maker[0], inner, Const(False) in ({p.name: p.default for p in parameters} | said).values())]


def makes_generator(value: Value | None, catalog: Catalog) -> bool:
    """Whether a value is what a call gave that makes a generator object."""
    if not (isinstance(value, Result) and isinstance(value.of, Ref)):
        return False
    return any(catalog.entries[i].returns == "generator" for i in catalog.calls.get(value.of.name, ()))
