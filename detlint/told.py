"""What is told of a program: what its runs and its files give, said once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set

import msgspec

from detlint.checks.finding import ANOTHER_RUN, ORDER, Finding
from detlint.record import Record


def found(record: Record, starts: Set[str], paths: Set[str]) -> Iterator[Finding]:
    """What is known of a program, file by file.

    Args:
        starts: the files whose runs reach something that is reported on.
        paths: the files that are.
    """
    runs = {path: followed for path, followed in record.followed.items() if path in starts}
    own = {path: judged.findings for path, judged in record.judged.items() if judged.findings and path in paths}
    for path in sorted(runs.keys() | own.keys()):
        for followed in runs.get(path, ()):
            yield from followed.findings
        yield from own.get(path, ())


def once(findings: Iterable[Finding]) -> list[Finding]:
    """What several entry points say of one place in the same words is said once, as the gravest says it, with where the others start."""
    told: dict[tuple[object, ...], Finding] = {}
    for finding in findings:
        seeds = finding.family == 1
        graded = finding.severity if not seeds or finding.severity == "note" else ""
        key = (finding.path, finding.span, finding.code, finding.message.partition(" (and ")[0], graded)
        known = told.get(key)
        if known == finding:
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
