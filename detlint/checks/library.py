"""Draws that no entry point of the program reaches: a library's, whose caller decides whether they are seeded."""

from __future__ import annotations

from collections.abc import Iterator

from detlint.checks.finding import Finding, Severity
from detlint.checks.levels import is_test
from detlint.checks.match import Match, Matcher
from detlint.program.reach import is_object
from detlint.program.resolve import Module


def findings(module: Module, matcher: Matcher, words: frozenset[str], root: str, strict: bool) -> Iterator[Finding]:
    """One finding for each rule whose streams a module draws from, at its first draw: a note.

    Args:
        words: the last components of what draws, by any name.
        root: the project's root, for telling test files.
        strict: whether such draws are judged as if nothing seeded them.
    """
    rules = {stream: rule for rule in matcher.catalog.rules.values() for stream in rule.streams}
    drawn: dict[str, list[tuple[int, Match]]] = {}
    for index in matcher.suspects(module, words):
        for match in matcher.matches(module, index):
            if _draws(match, matcher):
                for code in {rules[stream].code for stream in match.entry.draws if stream in rules}:
                    drawn.setdefault(code, []).append((index, match))
    for code, draws in sorted(drawn.items()):
        index, match = draws[0]
        rule = matcher.catalog.rules[code]
        severity: Severity = "note"
        if strict:
            severity = "warning" if is_test(module.path, root) else "error"
        more = f" (and {len(draws) - 1} more)" if len(draws) > 1 else ""
        message = f"`{match.name}` draws from a global stream; whether it is seeded, the caller decides{more}"
        yield Finding(module.path, module.sites[index].span, code, rule.name, severity, message, rule.remedy)


def _draws(match: Match, matcher: Matcher) -> bool:
    """Whether a call draws by itself: not a layer's initial weights, nor what draws when it is used."""
    if not match.entry.draws or match.entry.rule:
        return False
    return matcher.resolver.layer(match.name) is None and not is_object(match, weights=False)
