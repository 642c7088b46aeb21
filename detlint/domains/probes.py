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
        """Whether what a site draws is an example: a tracer is handed it, or a function of others is only tried out with it; one of the
        program's own may keep something.

        What Python's `random` gives are choices, which are made for something else.
        """
        return self._matcher.sinks.is_for_trying(module, index) or self._examples.has(module, index)
