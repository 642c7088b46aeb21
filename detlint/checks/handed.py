"""Whether a function that a call is handed draws random numbers: the workers that run it then race for its stream."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from detlint.facts.model import Function, Items, Partial, Ref, Value
from detlint.program.resolve import Module, Resolver

if TYPE_CHECKING:
    from detlint.checks.match import Matcher

HOST: Final = frozenset({"python", "numpy"})
"""The streams that a framework's wrapper of a Python function (`tf.py_function`) lets that function draw from."""
CALLED: Final = ("__call__", "__getitem__", "__next__")
"""The methods by which a data pipeline uses an object."""
DEEPEST: Final = 4


class Handed:
    """Looks into the functions of the program; each is looked into once for each set of streams."""

    def __init__(self, matcher: Matcher) -> None:
        self._matcher = matcher
        self._known: dict[tuple[str, int, frozenset[str]], bool] = {}

    def draws(self, value: Value, streams: frozenset[str]) -> bool:
        """Whether a value is a function, or an object that is used like one, or a list with such, that draws."""
        return self._any(value.values if isinstance(value, Items) else (value,), streams, 0)

    def _any(self, values: Iterable[Value | None], streams: frozenset[str], depth: int) -> bool:
        found = (target for value in values for target in self._functions(value))
        return any(self._draws(module, function, streams, depth) for module, function in found)

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

    def _draws(self, module: Module, function: Function, streams: frozenset[str], depth: int) -> bool:
        key = (module.path, function.number, streams)
        if key not in self._known:
            self._known[key] = False  # until it is known: so those that only call one another don't
            self._known[key] = any(
                self._draws_at(module, index, streams, depth)
                for index, site in enumerate(module.sites)
                if site.function == function.number
            )
        return self._known[key]

    def _draws_at(self, module: Module, index: int, streams: frozenset[str], depth: int) -> bool:
        matches = self._matcher.matches(module, index)
        if any(not streams.isdisjoint(match.entry.draws) for match in matches):
            return True
        if depth == DEEPEST:
            return False
        site = module.sites[index]
        if any("calls" in match.entry.contexts for match in matches):
            passed = self._matcher.call_arguments(module, site, module.function_of(site))
            return self._any((argument.value for argument in passed), streams | HOST, depth + 1)
        resolver = self._matcher.resolver
        target = _function(resolver.normal(module.path, site.target, module.function_of(site)), resolver)
        return target is not None and self._draws(*target, streams, depth + 1)


def _function(value: Value | None, resolver: Resolver) -> tuple[Module, Function] | None:
    """The program's function that a value is."""
    if not (isinstance(value, Ref) and "::" in value.name):
        return None
    key, _, inside = value.name.partition("::")
    module = resolver.by_path[key]
    function = module.functions.get(inside) if module is not None else None
    return (module, function) if module is not None and function is not None else None
