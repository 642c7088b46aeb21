"""What sites are by the tables that those give them to unpack who call the function around them, or make the object: `loading` of
`def load(data, loading): return DataLoader(data, **loading)`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice, product
from typing import Final

from detlint.db import Memo
from detlint.domains.matching.match import Matcher
from detlint.domains.matching.record import Match
from detlint.model.arguments import Argument
from detlint.model.module import Module
from detlint.model.sites.reading.values import opened
from detlint.model.sites.records import Function, Mapping, Result, Site, Value
from detlint.model.tables import Known, parameters
from detlint.model.uses import Use, Users

DEEPEST: Final = 3
"""So many functions may hand a table on, one to the next."""
MOST: Final = 16
"""So many tables are tried that one call may give."""
Given = dict[str, Value | None]
"""What a call gives parameters, in normal form."""


class Unpacked:
    """Asks those who call.

    Args:
        users: knows what an answer rests on.
        uses: gives the uses of a definition.
        passed: gives what a call gives a parameter of a function, or its default.
    """

    def __init__(
        self,
        matcher: Matcher,
        users: Users,
        uses: Callable[[Module, str], list[Use] | None],
        passed: Callable[[Site, Module, Function, str], Argument | None],
    ) -> None:
        self._matcher = matcher
        self._resolver = matcher.resolver
        self._uses = uses
        self._passed = passed
        self._known: Memo[Sequence[Given]] = Memo(users.db)

    def found(self, module: Module, index: int) -> Iterator[Match]:
        """What a site is by the tables that some call gives, and by default isn't."""
        site, function = module.sites[index], module.function_of(module.sites[index])
        if not function.name or not any(argument.name == "**" for argument in site.args):
            return
        for match in self._matcher.unpacking(module, index):
            if match.entry.rule and any(
                self._matcher.fulfilled_with(module, index, match, tables) for tables in self._unpacked(module, index)
            ):
                yield match

    def never_holds(self, module: Module, index: int, match: Match, calls: Iterable[Use]) -> bool:
        """Whether a match never holds, by the tables that all calls give."""
        tables = [*self._unpacked(module, index, calls)]
        return bool(tables) and all(self._matcher.fulfilled_with(module, index, match, one) is False for one in tables)

    def taking(self, module: Module, index: int) -> Function | None:
        """The function whose parameters say what a site unpacks; None where no one alone does."""
        function = module.function_of(module.sites[index])
        unpacked = [argument.value for argument in module.sites[index].args if argument.name == "**"]
        taking = {self._matcher.taking(module, function, value)[0].number for value in unpacked}
        return module.facts.functions[taking.pop()] if len(taking) == 1 else None

    def _unpacked(
        self, module: Module, index: int, calls: Iterable[Use] | None = None
    ) -> Iterator[tuple[Value | None, ...]]:
        """The tables that a site unpacks, by each call of the function that gives them."""
        site, taking = module.sites[index], self.taking(module, index)
        function = module.function_of(site)
        unpacked = [argument.value for argument in site.args if argument.name == "**"]
        names = {n for value in unpacked for n in parameters(self._matcher.taking(module, function, value)[1])}
        if not names or taking is None:
            return
        given_by = self._given(module, taking, names) if calls is None else self._by(module, taking, names, calls, 0)
        for given in given_by:
            tables = [[*self._matcher.unpacked(module, function, value, given.get)] for value in unpacked]
            yield from islice(product(*tables), MOST)

    def _given(self, module: Module, function: Function, names: set[str], depth: int = 0) -> Sequence[Given]:
        """What the calls of a function give some of its parameters, those too that hand on what their own function gets: each once."""

        def found() -> Sequence[Given]:
            each: list[Given] = []
            for given in self._by(module, function, names, self._uses(module, _used(function)) or (), depth):
                if given not in each:
                    each.append(given)
            return each

        return self._known.of((module.path, function.number, frozenset(names), depth), found, ())

    def _by(
        self, module: Module, function: Function, names: set[str], calls: Iterable[Use], depth: int
    ) -> Iterator[Given]:
        """What each of some calls gives them."""
        for use in calls:
            call = self.call_of(use, f"{module.path}::{_used(function)}")
            passed = {n: self._given_to(call, module, function, n) for n in names} if call is not None else {}
            caller = use.module.function_of(use.module.sites[use.site]) if call is not None else function
            given = {name: a.value for name, a in passed.items() if a is not None and a.given}
            left = {n: self._resolver.normal(module.path, a.value) for n, a in passed.items() if a and a.given is False}
            asked = {name for value in given.values() for name in parameters(value)}
            outer = self._given(use.module, caller, asked, depth + 1) if asked and depth < DEEPEST else ()
            for known in (outer or [{}]) if call is not None else ():
                yield from self._as_given(use.module, caller, given, left, known.get, by_default=not outer)

    def _given_to(self, call: Site, module: Module, function: Function, name: str) -> Argument | None:
        """What a call gives a parameter; as a table, what it gives by names that no parameter has."""
        own = module.detail(function).parameters
        if not any(p.name == name and p.kind == "**" for p in own):
            return self._passed(call, module, function, name)
        taken = {p.name for p in own}
        more = {a.name: a.value for a in call.args if a.name and a.name not in taken}
        table = opened(Mapping(tuple(more), tuple(more.values())), once=True) if "**" in more else None
        return Argument(table or Mapping(tuple(more), tuple(more.values())), True) if "*" not in more else None

    def _as_given(
        self, module: Module, caller: Function, given: Given, left: Given, known: Known, by_default: bool
    ) -> Iterator[Given]:
        """What a call gives, as its function's own parameters are known."""
        several = (
            [*self._matcher.unpacked(module, caller, value, None if by_default else known, by_default)]
            for value in given.values()
        )
        for values in islice(product(*several), MOST):
            yield {**left, **dict(zip(given, values, strict=True))}

    def call_of(self, use: Use, own: str) -> Site | None:
        """The call that a use of a definition is, or that a library makes of it, by the catalog; None for any other."""
        site = use.module.sites[use.site] if use.site >= 0 else None
        if site is None or site.kind != "call":
            return None
        if use.called:
            return site if not (isinstance(site.target, Result) and site.target.site >= 0) else None
        handed = self._matcher.handed(use.module, use.site)
        if handed is None:
            return None
        found = self._resolver.normal(use.module.path, handed[0], use.module.function_of(site))
        return handed[1] if getattr(found, "name", "") == own else None


def _used(function: Function) -> str:
    """By what a function is called: its name, or that of the class whose constructor it is."""
    return function.owner if function.name.endswith(".__init__") else function.name
