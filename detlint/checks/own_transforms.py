"""DET301, DET304: transforms of the project's own, by what they do: objects and functions that draw when they are applied to data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from detlint.catalog import TRANSFORM
from detlint.checks.finding import Finding
from detlint.checks.levels import Case, level
from detlint.checks.workers import copied
from detlint.config import Settings
from detlint.domains.draws import Handed
from detlint.domains.matching.match import Matcher
from detlint.domains.pipelines import Pipelines
from detlint.ir import ops as op
from detlint.model.module import Module
from detlint.model.runs.outcome import Outcome, Runs
from detlint.model.sites.records import Items, Ref, Result, Value
from detlint.model.tests import stands_in_test

STREAMS: Final = ("python", "numpy", "torch")
_REMEDY: Final = "Seed the run; to compare two back ends, leave it out or have it do the same each time."


class OwnTransforms:
    """Finds them at the calls that make, or are handed, them."""

    def __init__(self, matcher: Matcher, pipelines: Pipelines, settings: Settings) -> None:
        self._matcher = matcher
        self._pipelines = pipelines
        self._settings = settings
        self._handed = Handed(matcher)

    def findings(self, module: Module, runs: Runs) -> Iterator[Finding]:
        """The findings of a module, by the runs that come to it."""
        resolver = self._matcher.resolver
        outcomes = [passage.outcome for passage in runs.passages]
        yield from self._copied(module, outcomes)
        for index, site in enumerate(module.sites):
            if site.kind != "call":
                continue
            target = self._matcher.target(module, index)
            if isinstance(target, Ref) and "::" in target.name and self._makes_transform(module, index, target):
                made = Result(target, resolver.global_site(module.path, index))
                yield from self._told(module, index, made, target.name, outcomes)
            elif words := self._words(module, index):
                for value in self._functions(module, index, words):
                    yield from self._told(module, index, value, value.name, outcomes)

    def _copied(self, module: Module, outcomes: Iterable[Outcome]) -> Iterator[Finding]:
        """DET304: what transforms of a file draw in workers that begin with copies of a stream."""
        if not any(outcome.workers and not outcome.renews for outcome in outcomes):
            return
        for body in module.facts.classes:
            called = self._called(module, body.name) if "__call__" in body.methods else ()
            found = [*copied(module, body.name, self._matcher, called)]
            if found and self._is_applied(module, body.name):
                yield from found

    def _called(self, module: Module, owner: str) -> set[str]:
        """The methods of a class that calling an object of it runs: one, and those that it asks the object for."""
        code, found = self._matcher.resolver.code(module.path), set[str]()
        waiting = [f"{owner}.__call__"] if code is not None else []
        while waiting and code is not None:
            name = waiting.pop()
            if name not in found and name in module.functions:
                found.add(name)
                bodies = code.by_name.get(name, ())
                waiting += [f"{owner}.{body.own(at)}" for body in bodies for at, _ in body.each(op.ATTR)]
        return found

    def _is_applied(self, module: Module, owner: str) -> bool:
        """Whether any call makes a transform of a class."""
        uses = self._pipelines.callers(module, owner) or ()
        made = ((use.module, use.site) for use in uses if use.called and use.site >= 0)
        return any(self._makes_transform(*one, Ref(f"{module.path}::{owner}")) for one in made)

    def _makes_transform(self, module: Module, index: int, target: Ref) -> bool:
        """Whether a call makes an object of a class of the program that is called, is no layer and no data set, and comes to data."""
        resolver = self._matcher.resolver
        if not resolver.classes.is_class(target.name) or resolver.kinds.layer(target.name) is not None:
            return False
        called = resolver.classes.attribute(target.name, "__call__")
        if not isinstance(called, Ref) or "::" not in called.name or self._pipelines.is_for_data(target.name):
            return False
        known = self._matcher.matches(module, index)
        return not any(match.entry.rule for match in known) and self._pipelines.take(module, index)

    def _words(self, module: Module, index: int) -> frozenset[str]:
        """The parameters by which a call is handed transforms; "" stands for its positions."""
        site, words = module.sites[index], self._matcher.catalog.pipelines
        found = {arg.name for arg in site.args if arg.name in words}
        target = site.target
        last = target.name.rpartition(".")[2] if isinstance(target, Ref) else getattr(target, "attr", "")
        return frozenset(
            found | ({""} if last in words and not str(getattr(target, "name", "")).startswith("builtins.") else set())
        )

    def _functions(self, module: Module, index: int, words: frozenset[str]) -> Iterator[Ref]:
        """The functions of the program that a call is handed by such parameters."""
        function = module.function_of(module.sites[index])
        for arg in module.sites[index].args:
            value = self._matcher.resolver.normal(module.path, arg.value, function) if arg.name in words else None
            for one in value.values if isinstance(value, Items) else (value,):
                if isinstance(one, Ref) and "::" in one.name and not self._matcher.resolver.classes.is_class(one.name):
                    yield one

    def _told(
        self, module: Module, index: int, value: Value, name: str, outcomes: Iterable[Outcome]
    ) -> Iterator[Finding]:
        """The finding of a transform that draws. A run that tells of its stream at a draw of the transform's own says no more by it."""
        drawn = tuple(stream for stream in STREAMS if self._handed.draws(value, frozenset({stream})))
        if not drawn:
            return
        rule = self._matcher.catalog.rules[TRANSFORM]
        short = name.rpartition("::")[2]
        message = f"`{short}` is a transform of the project's own, and draws {' and '.join(drawn)}'s random numbers for each item"
        in_test = stands_in_test(module, self._matcher.catalog.testing)
        is_unseeded = any(
            not outcome.unseeded.isdisjoint(drawn)
            and not any(f"{first}.".startswith(f"{name}.") for first in outcome.first)
            for outcome in outcomes
        )
        case = Case(rule.level, rule.family, self._settings.profile, "likely", is_unseeded, in_test=in_test)
        found = level(case)
        span = module.sites[index].span
        yield Finding(
            module.path, span, TRANSFORM, rule.name, found.severity, message, _REMEDY, certainty=found.certainty
        )
