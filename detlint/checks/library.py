"""What no entry point of the program reaches: a library's draws, whose caller decides whether they are seeded, and seeds that
differ in every run whoever calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from detlint.checks.finding import Finding, Step
from detlint.checks.levels import case_of, level
from detlint.domains.matching.match import Matcher
from detlint.domains.matching.record import Match
from detlint.model.module import Module
from detlint.model.runs.reach import Place, Seeding, is_object
from detlint.model.runs.values import Frame, Spot, Values
from detlint.model.sites.records import Result
from detlint.model.tests import stands_in_test


def findings(
    module: Module,
    matcher: Matcher,
    words: frozenset[str],
    strict: bool,
    tried: Callable[[Module, int], bool],
) -> Iterator[Finding]:
    """One finding for each rule whose streams a module draws from, at its first draw: a note.

    Args:
        words: the last components of what draws, by any name.
        strict: whether such draws are judged as if nothing seeded them.
        tried: whether what a site draws only tries something out.
    """
    rules = {stream: rule for rule in matcher.catalog.rules.values() for stream in rule.streams}
    drawn: dict[str, list[tuple[int, Match]]] = {}
    for index in matcher.suspects(module, words):
        for match in matcher.matches(module, index):
            if (
                draws_by_itself(match, matcher)
                and not matters_little(matcher, module, index)
                and not tried(module, index)
            ):
                for code in {rules[stream].code for stream in match.entry.draws if stream in rules}:
                    drawn.setdefault(code, []).append((index, match))
    for code, draws in sorted(drawn.items()):
        index, match = draws[0]
        rule = matcher.catalog.rules[code]
        found = level(
            case_of(
                rule,
                matcher.settings,
                certainty="certain" if strict else "possible",
                in_test=stands_in_test(module, matcher.catalog.testing),
            )
        )
        more = f" (and {len(draws) - 1} more)" if len(draws) > 1 else ""
        message = f"`{match.name}` draws from a global stream; whether it is seeded, the caller decides{more}"
        yield Finding(
            module.path,
            module.sites[index].span,
            code,
            rule.name,
            found.severity,
            message,
            rule.remedy,
            certainty=found.certainty,
            others=tuple(
                Step(module.path, module.sites[i].span, f"`{other.name}` draws too") for i, other in draws[1:]
            ),
        )


def matters_little(matcher: Matcher, module: Module, index: int) -> bool:
    """Whether nothing hangs on what a site draws: it is only shown."""
    return matcher.sinks.is_only_shown(module, index)


def entropy(module: Module, matcher: Matcher, words: frozenset[str]) -> Iterator[Seeding]:
    """The seedings of a module whose seed is the clock, the process or the system's entropy.

    Args:
        words: the last components of what takes a seed, by any name.
    """

    def differs(made: Result) -> bool:
        place = matcher.resolver.place(made.site)
        found = matcher.matches(place[0], made.site & 0xFFFFFFFF) if place is not None else ()
        return any(match.entry.entropy and match.sure for match in found)

    values = Values(matcher.resolver, differs, lambda _: False, lambda _: None)
    for index in matcher.suspects(module, words):
        for match in matcher.matches(module, index):
            if match.entry.seed:
                frame = Frame(module, module.function_of(module.sites[index]))
                origin = values.look(frame, matcher.written(module, index, match, match.entry.seed))
                # What a default or another file says, a caller may say otherwise.
                cause = values.entropy(origin) if origin.default is None else None
                if cause is not None and cause.module is module:
                    streams = tuple(match.entry.seeds) or ("the generator",)
                    yield Seeding(Place(module, index), streams, "entropy", Spot(module, cause.span))


def draws_by_itself(match: Match, matcher: Matcher) -> bool:
    """Whether a call draws by itself: not a layer's initial weights, nor what draws when it is used."""
    if not match.entry.draws or match.entry.rule:
        return False
    return matcher.resolver.kinds.layer(match.name) is None and not is_object(match, weights=False)
