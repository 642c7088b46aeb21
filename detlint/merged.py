"""What is told of a program: what its runs and its files give, said once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from detlint.checks.finding import ANOTHER_RUN, ORDER, Finding

_SHARED: Final = frozenset({"DET204", "DET307"})
"""They stand at a checkpoint that runs share, however differently they draw."""


def found(runs: Mapping[str, Sequence[Finding]], own: Mapping[str, Sequence[Finding]]) -> Iterator[Finding]:
    """What is known of a program, file by file.

    Args:
        runs: what those say that reach something that is reported on, by the file in which they start.
        own: what judging the files gave that are reported on.
    """
    for path in sorted(runs.keys() | own.keys()):
        yield from runs.get(path, ())
        yield from own.get(path, ())


def once(findings: Iterable[Finding]) -> list[Finding]:
    """What several entry points say of one place in the same words is said once, as the gravest says it, with where the others start."""
    told: dict[tuple[object, ...], Finding] = {}
    for finding in findings:
        seeds = finding.family == 1
        graded = finding.severity if not seeds or finding.severity == "note" else ""
        key = (finding.path, finding.span, finding.code, finding.message.partition(" (and ")[0], graded)
        known = told.get(key)
        if known == finding or (known is not None and finding.code in _SHARED):
            continue  # a run and a process that it starts say the same
        if known is None or not finding.steps or not seeds:
            told[key if known is None else (*key, len(told))] = finding
        else:
            told[key] = _with_start(*sorted((known, finding), key=lambda one: -ORDER[one.severity]))
    return list(told.values())


def _with_start(finding: Finding, other: Finding) -> Finding:
    """A finding that also says where another one's runs start, but for those that it names."""
    named = {
        (step.path, step.span) for step in finding.steps if step.message == ANOTHER_RUN or step is finding.steps[0]
    }
    starts = [*other.steps[:1], *(step for step in other.steps if step.message == ANOTHER_RUN)]
    new = (msgspec.structs.replace(s, message=ANOTHER_RUN) for s in starts if (s.path, s.span) not in named)
    return msgspec.structs.replace(finding, steps=(*finding.steps, *new))
