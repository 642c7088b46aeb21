"""Draws that only show a tracer or an exporter the shape of its input, or whether a function runs: the numbers become nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.model.module import Module

if TYPE_CHECKING:
    from detlint.checks.match import Matcher

TRACES = "traces"
"""The context of what records the operations of a model that it runs on an example."""


class Probes:
    """Finds functions that make examples for tracers."""

    def __init__(self, matcher: Matcher) -> None:
        self._matcher = matcher
        self._words = matcher.telling(matcher.catalog.tracing_words)
        self._known: dict[str, frozenset[int]] = {}

    def only_shown(self, module: Module, index: int) -> bool:
        """Whether what a site draws is an example: its function hands what it makes to a tracer later, or a function of others is only
        tried out with it; one of the program's own may keep something.

        What Python's `random` gives are choices, which are made for something else.
        """
        site = module.sites[index]
        if self._matcher.sinks.is_for_trying(module, index):
            return True
        if module.path not in self._known:
            self._known[module.path] = self._tracing(module)
        return site.function in self._known[module.path]

    def _tracing(self, module: Module) -> frozenset[int]:
        """The functions of a module that hand something to a tracer, and don't train."""
        traced, trained = set(), set()
        for index in self._matcher.suspects(module, self._words):
            for match in self._matcher.matches(module, index):
                if TRACES in match.entry.contexts:
                    traced.add(module.sites[index].function)
                elif "trains" in match.entry.contexts:
                    trained.add(module.sites[index].function)
        return frozenset(traced - trained)
