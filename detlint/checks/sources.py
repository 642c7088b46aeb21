"""DET409 in sources of C++: what adds floating-point numbers atomically, with the calls in Python that come there."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

from detlint.checks.finding import Certainty, Finding, Step
from detlint.checks.kernels import CODE, COUNTS, LOCKED, LOST
from detlint.checks.levels import case_of, level
from detlint.domains.matching.match import Matcher
from detlint.ir import ops as op
from detlint.model.kernels.numbers import FLOATS, Terms
from detlint.model.kernels.source_races import lost
from detlint.model.kernels.source_threads import of_reductions, of_threads
from detlint.model.kernels.sources import Atomic, Source
from detlint.model.sites.records import Span
from detlint.model.tests import is_test
from detlint.model.uses import Users

OF_THREADS: Final = (
    "threads add floating-point numbers to `{api}` in whatever order they come by, so results vary between runs",
    "Store the part of each block of fixed size at a place of its own and add the parts up in order, or sum whole numbers.",
)
MOST: Final = 3
"""So many calls in Python are named."""


class SourceRules:
    """Judges sources in C++."""

    def __init__(self, matcher: Matcher, users: Users) -> None:
        self._matcher, self._users = matcher, users
        self._terms = Terms(matcher.catalog.kernel_languages)

    def findings(self, path: str) -> Iterator[Finding]:
        """What is found in a source."""
        code = self._users.index.source(path)
        targets = self._matcher.settings.targets
        if code is None:
            return
        source = Source(self._terms, code, self._users.index, path)
        on_device = not targets or bool({"cuda", "ascend"} & {*targets})
        for atomic in (
            *((*source.atomics(), *lost(source)) if on_device else ()),
            *of_threads(source),
            *of_reductions(source),
        ):
            yield self._finding(source, atomic)

    def _finding(self, source: Source, atomic: Atomic) -> Finding:
        rule = self._matcher.catalog.rules[CODE]
        around = source.outermost(atomic.place.function)
        steps = [*islice(self._calls(source.exported(around)), MOST)]
        certainty: Certainty = "certain" if atomic.numbers == FLOATS and steps else "likely"
        certainty = "possible" if atomic.is_own else certainty
        found = level(case_of(rule, self._matcher.settings, certainty=certainty, in_test=is_test(source.path)))
        by_kind = COUNTS if atomic.is_counter else LOCKED if atomic.is_locked else LOST if atomic.is_lost else None
        by_kind = OF_THREADS if atomic.is_of_host and by_kind is None else by_kind
        device = () if atomic.is_of_host else ("cuda",)
        said, remedy = by_kind or (rule.message.replace("programs", "threads"), rule.remedy)
        message = said.replace("{api}", atomic.name)
        span = Span(*atomic.place.function.span(atomic.place.at))
        return Finding(
            source.path, span, rule.code, rule.name, found.severity, message, remedy, device, tuple(steps),
            certainty=found.certainty,
        )  # fmt: skip

    def _calls(self, names: list[str]) -> Iterator[Step]:
        """The calls in Python of what a source gives out under some names."""
        for name in names:
            for path in self._users.index.saying(name, "") if name.isidentifier() else ():
                code = self._users.resolver.code(path)
                for function in code.functions() if code is not None and name in code.identifiers else ():
                    for at, _ in function.each(op.CALL):
                        if function.called(at) == name:
                            yield Step(path, Span(*function.span(at)), f"`{name}` comes there from here")
