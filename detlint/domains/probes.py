"""Draws that only show a tracer or an exporter the shape of its input, or whether a function runs: the numbers become nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.domains.traced import Examples
from detlint.model.module import Module
from detlint.model.uses import Callers

if TYPE_CHECKING:
    from detlint.domains.matching.match import Matcher


class Probes:
    """Finds functions that make examples for tracers."""

    def __init__(self, matcher: Matcher, callers: Callers) -> None:
        self._matcher = matcher
        self._examples = Examples(matcher.resolver, matcher.sinks.meanings, callers)

    def only_shown(self, module: Module, index: int) -> bool:
        """Whether what a site draws is an example, which only a tracer is handed.

        What Python's `random` gives are choices, which are made for something else.
        """
        return self._examples.has(module, index)
