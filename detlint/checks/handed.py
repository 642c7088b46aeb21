"""Whether a function that a call is handed draws random numbers: the workers that run it then race for its stream."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from detlint.catalog import Catalog, Entry
from detlint.facts.model import Function, Items, Member, Partial, Ref, Result, Value
from detlint.program.reach import HOST
from detlint.program.resolve import Module, Resolver

if TYPE_CHECKING:
    from detlint.checks.match import Matcher

OWN: Final = "draws-own"
"""The context of what draws by a seed of its own."""
ASKED: Final = frozenset({OWN, "calls"})
CALLED: Final = ("__call__", "__getitem__", "__next__")
"""The methods by which a data pipeline uses an object."""
Target = tuple[Module, Function, frozenset[str]]
"""A function, and the streams that are asked about in it."""


class Handed:
    """Looks into the functions of the program that values stand for, and into those that they call."""

    def __init__(self, matcher: Matcher) -> None:
        self._matcher = matcher
        self._known: dict[tuple[str, int, frozenset[str]], tuple[bool, frozenset[str]]] = {}
        """Whether a function draws, and the files that were looked into for that."""

    def draws(self, value: Value, streams: frozenset[str]) -> bool:
        """Whether a value is a function, or an object that is used like one, or a list with such, that draws."""
        values = value.values if isinstance(value, Items) else (value,)
        return any(self._draws(target) for target in self._targets(values, streams))

    def _draws(self, start: Target) -> bool:
        """Whether a function or one that it calls draws; what is looked into meanwhile is not asked again."""
        key, resolver = (start[0].path, start[1].number, start[2]), self._matcher.resolver
        if key not in self._known:
            self._known[key] = False, frozenset()  # asked while it is looked into: a function that hands itself on
            with resolver.looking() as files:
                self._known[key] = self._found(start), frozenset(files)
        drawn, looked_into = self._known[key]
        resolver.opened.update(looked_into)
        return drawn

    def _found(self, start: Target) -> bool:
        """Whether something draws in a function, or in one that it leads to."""
        seen, waiting = {(start[0].path, start[1].number, start[2])}, [start]
        while waiting:
            module, function, streams = waiting.pop()
            for index in [i for i, site in enumerate(module.sites) if site.function == function.number]:
                if self._draws_at(module, index, streams):
                    return True
                for target in self._called_at(module, index, streams):
                    place = (target[0].path, target[1].number, target[2])
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
        return makes_generator(resolver.normal(module.path, owner, module.function_of(site)), self._matcher.catalog)

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
        found = _function(resolver.normal(module.path, site.target, module.function_of(site)), resolver)
        return [(*found, streams)] if found is not None else []

    def _targets(self, values: Iterable[Value | None], streams: frozenset[str]) -> list[Target]:
        return [(*found, streams) for value in values for found in self._functions(value)]

    def _functions(self, value: Value | None) -> list[tuple[Module, Function]]:
        resolver = self._matcher.resolver
        if isinstance(value, Partial):
            value = value.of
        kind = resolver.type_of(value)
        if "::" in kind:
            methods = [resolver.attribute_of_class(kind, name) for name in CALLED]
            return [found for method in methods if (found := _function(method, resolver)) is not None]
        found = _function(value, resolver)
        return [found] if found is not None else []


def makes_generator(value: Value | None, catalog: Catalog) -> bool:
    """Whether a value is what a call gave that makes a generator object."""
    if not (isinstance(value, Result) and isinstance(value.of, Ref)):
        return False
    return any(catalog.entries[i].returns == "generator" for i in catalog.calls.get(value.of.name, ()))


def _function(value: Value | None, resolver: Resolver) -> tuple[Module, Function] | None:
    """The program's function that a value is."""
    if not (isinstance(value, Ref) and "::" in value.name):
        return None
    key, _, inside = value.name.partition("::")
    module = resolver.by_path[key]
    function = module.functions.get(inside) if module is not None else None
    return (module, function) if module is not None and function is not None else None
