"""How severe a match is: the rule's level under the profile, the target, the version, and where it stands."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Final

from detlint.catalog import Rule
from detlint.checks.finding import Severity, at_most, lowered
from detlint.checks.match import Match, Matcher
from detlint.config import Settings
from detlint.facts.model import Branch, Function, Member, Ref, Result, Site, Span, Step, Value
from detlint.program.resolve import Module, Resolver

TESTS: Final = re.compile(r"(?:^|/)(?:tests?|testing)(?:/|$)|(?:^|/)(?:test_[^/]*|[^/]*_test|conftest)\.py$")


def is_test(path: str, root: str) -> bool:
    """Whether a file is test code, by its path below the project's root."""
    return bool(TESTS.search(path.removeprefix(root).replace(os.sep, "/")))


Judgement = tuple[Severity | None, str]
"""A severity (None: no finding), and why."""
SEEDED: Final = {
    True: ", and every entry point that comes here seeds its streams",
    False: ", and an entry point comes here whose streams are unseeded",
    None: ", and no entry point comes here, so the caller decides",
}


class Levels:
    """Judges matches of one module."""

    def __init__(self, settings: Settings, matcher: Matcher, root: str) -> None:
        self.settings = settings
        self.matcher = matcher
        self.resolver: Resolver = matcher.resolver
        self.root = root
        self._gradient_free: dict[tuple[str, int], bool] = {}
        self._inferring: dict[str, bool] = {}
        self._idle: dict[tuple[str, int], frozenset[Span]] = {}
        """Where the sites stand that run only while the layer doesn't train, by path and function."""
        self._indexed: tuple[Module | None, dict[str, list[int]]] = (None, {})
        self._no_grad = {
            name
            for name, entries in self.resolver.catalog.calls.items()
            if any("no-grad" in self.resolver.catalog.entries[i].contexts for i in entries)
        }

    def judged(self, match: Match, rule: Rule, module: Module, site: Site, seeded: bool | None) -> Iterator[Judgement]:
        """How the severity of a match comes about, step by step.

        Args:
            seeded: whether every entry point that reaches it seeds its streams; None: the caller decides.
        """
        entry = match.entry
        level = entry.level_or(rule.level)
        align = self.settings.profile == "align"
        severity: Severity
        if level == "design":
            severity = "error" if align else "warning" if seeded is False else "note"
            yield severity, "random by design" + ("" if align else SEEDED[seeded])
        elif level == "warning":
            severity = "error" if align and rule.family >= 4 else "warning"
            yield severity, "the rule's own level"
        else:
            severity = "error" if level == "error" else "note"
            yield severity, "the rule's own level"
        if not match.sure:
            # What is not known is never guessed into an error.
            severity = at_most(severity, "warning")
            yield severity, "a condition could not be decided, so at most a warning"
        if self.evaluates(module, site):
            if entry.pass_ == "backward":
                yield None, "it is about the backward pass, and no gradients are taken here"
                return
            severity = lowered(severity)
            yield severity, "no gradients are taken here, so one level milder"
        elif entry.pass_ == "backward" and self.leaves_gradients_open(module, site):
            severity = "note"
            yield severity, "only the caller knows whether gradients are taken"
        if is_test(module.path, self.root):
            yield lowered(severity), "a test file, so one level milder"

    def evaluates(self, module: Module, site: Site) -> bool:
        """Whether a site stands in code that takes no gradients."""
        return (
            self._under_no_grad(module, site)
            or self._is_idle(module, site)
            or self.takes_no_gradients(module, site.function)
        )

    def leaves_gradients_open(self, module: Module, site: Site) -> bool:
        """Whether only the caller knows that gradients are taken: a method of a class that is surely no layer (an image
        processor, a dataset), a function that the file calls in such alone, or one of a file about inference, where the file
        doesn't train."""
        return self._leaves_open(module, module.function_of(site), frozenset())

    def _leaves_open(self, module: Module, function: Function, asked: frozenset[int]) -> bool:
        if any(self._is_layer(module, p.annotation) for p in module.detail(function).parameters if p.annotation):
            return False  # handed a layer: it does part of that layer's work
        callers = self._callers(module, function) if not function.owner and function.name else []
        if callers and function.number not in asked:
            asked |= {function.number}
            return all(
                self.evaluates(module, caller) or self._leaves_open(module, module.function_of(caller), asked)
                for caller in callers
            )
        owner = function.owner or next(
            (f.owner for f in module.facts.functions if f.owner and function.name.startswith(f"{f.name}.")), ""
        )
        if not owner:
            return self._only_infers(module)
        if not self.resolver.is_surely_no_layer(f"{module.path}::{owner}"):
            return False
        return not any(site.kind == "call" and _last(site) == "backward" for site in module.sites)

    def _only_infers(self, module: Module) -> bool:
        """Whether a file is about inference: something in it takes no gradients, and no class of it is a layer."""
        if module.path not in self._inferring:
            decorators = (decorator for detail in module.body.details for decorator in detail.decorators)
            trains = any(site.kind == "call" and _last(site) == "backward" for site in module.sites)
            self._inferring[module.path] = (
                any(self._is_no_grad(module, decorator) for decorator in decorators)
                and not trains
                and bool(module.classes)
                and all(self.resolver.is_surely_no_layer(f"{module.path}::{name}") for name in module.classes)
            )
        return self._inferring[module.path]

    def _is_layer(self, module: Module, annotation: str) -> bool:
        value = self.resolver.name(module.path, annotation)
        return isinstance(value, Ref) and self.resolver.layer(value.name) is not None

    def _under_no_grad(self, module: Module, site: Site) -> bool:
        return any("no-grad" in m.entry.contexts for i in site.within for m in self.matcher.matches(module, i))

    def _is_idle(self, module: Module, site: Site) -> bool:
        """Whether a site runs only while its layer doesn't train: `if not self.training: ...`."""
        key = (module.path, site.function)
        if key not in self._idle:
            numbers = _while_idle(module.body.steps[site.function], self.resolver.catalog.modes)
            self._idle[key] = frozenset(module.sites[number].span for number in numbers)
        return site.span in self._idle[key]

    def takes_no_gradients(self, module: Module, number: int) -> bool:
        """Whether a function is one that its file only calls without gradients: from under `no_grad`, or from such."""
        key = (module.path, number)
        if key not in self._gradient_free:
            self._gradient_free[key] = False  # until it is known: so those that only call one another are none
            decorators = module.body.details[number].decorators
            function = module.facts.functions[number]
            self._gradient_free[key] = (
                any(self._is_no_grad(module, d) for d in decorators)
                or self._handles_weights(module, function)
                or self._only_called_without(module, function)
            )
        return self._gradient_free[key]

    def _handles_weights(self, module: Module, function: Function) -> bool:
        """Whether a function is handed stored weights, to convert or resize them."""
        names = {parameter.name for parameter in module.detail(function).parameters}
        return not names.isdisjoint(self.resolver.catalog.weights) and not function.owner

    def _only_called_without(self, module: Module, function: Function) -> bool:
        """Whether a file calls a function, and never where gradients are taken."""
        if module.functions.get(function.name) is not function:
            return False
        callers = self._callers(module, function)
        return bool(callers) and all(self.evaluates(module, caller) for caller in callers)

    def _callers(self, module: Module, function: Function) -> list[Site]:
        """The calls of a function in its own file."""
        found = self._calls(module).get(function.name.rpartition(".")[2], ())
        own = Ref(f"{module.path}::{function.name}")
        return [module.sites[index] for index in found if self.matcher.target(module, index) == own]

    def _calls(self, module: Module) -> dict[str, list[int]]:
        """The calls in a file by the last component of what they call; kept while one file is judged."""
        if self._indexed[0] is not module:
            calls: dict[str, list[int]] = {}
            for index, site in enumerate(module.sites):
                if site.kind == "call":
                    calls.setdefault(_last(site), []).append(index)
            self._indexed = (module, calls)
        return self._indexed[1]

    def _is_no_grad(self, module: Module, decorator: Value | None) -> bool:
        named = decorator.of if isinstance(decorator, Result) else decorator
        value = self.resolver.name(module.path, named.name) if isinstance(named, Ref) else None
        return isinstance(value, Ref) and value.name in self._no_grad


def _while_idle(steps: tuple[Step, ...], modes: frozenset[str], idle: bool = False) -> Iterator[int]:
    """The sites among some steps that run only while a layer doesn't train."""
    for step in steps:
        if not isinstance(step, Branch):
            if idle and step >= 0:
                yield step
            continue
        asks = step.kind == "if" and isinstance(step.test, Member) and step.test.attr in modes
        for number, arm in enumerate(step.arms):
            yield from _while_idle(arm, modes, idle or (asks and number == 1))
        # What stands behind `if self.training: return ...` runs only while it doesn't.
        idle = idle or (asks and step.arms[0][-1:] == (-1,))


def _last(site: Site) -> str:
    target = site.target
    return (
        target.attr if isinstance(target, Member) else target.name.rpartition(".")[2] if isinstance(target, Ref) else ""
    )
