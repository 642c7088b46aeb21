"""JSON for programs: ruff's fields and ours, as a list."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from detlint.checks.finding import Finding, Step
from detlint.report.place import Position, Sources
from detlint.report.view import View
from detlint.visible import encoded

if TYPE_CHECKING:
    from detlint.fixes.plan import Fix


def lines(view: View) -> Iterator[str]:
    """All findings as a JSON list.

    Each has `code`, `name`, `message`, `filename`, `location`, `end_location` (1-based rows and columns, in
    characters), `fix` (null, or `applicability`, `message`, `edits`, which have a `cell` of their own, and name another
    file than the finding's where they are made in one), `cell` (null, or the number of a notebook's cell, in which the
    rows are counted), `url` (of the rule's page: see `docs-url`); and of our own
    `severity`, `family`, `target` (a list), `path` (the way from the entry point), `others` (the places of "(and 3 more)") and
    `remedy`.
    """
    yield encoded([*rows(view)])


def rows(view: View) -> Iterator[dict[str, Any]]:
    """Each finding as plain data."""
    for finding in view.findings:
        yield _row(finding, view)


def _row(finding: Finding, view: View) -> dict[str, Any]:
    start, end = view.at(finding)
    return {
        "code": finding.code,
        "name": finding.name,
        "message": finding.message,
        "filename": text_of(finding.path),
        "location": _location(start),
        "end_location": _location(end),
        "severity": finding.severity,
        "certainty": finding.certainty,
        "family": finding.family,
        "target": list(finding.targets),
        "remedy": finding.remedy,
        "path": [_step(step, view.sources) for step in finding.steps],
        "others": [_step(step, view.sources) for step in finding.others],
        "fix": _fix(view.fix(finding), view),
        "cell": start.cell,
        "url": view.rule_url(finding.code),
    }


def text_of(path: str) -> str:
    """A path as text; bytes of a name that are none are shown as `\\xff`."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _fix(fix: Fix | None, view: View) -> dict[str, Any] | None:
    if fix is None:
        return None
    edits = []
    for path, start, end, text in view.replacements(fix):
        row = {"content": text, "cell": start.cell, "location": _location(start), "end_location": _location(end)}
        edits.append(row if path == fix.finding.path else {"filename": text_of(path), **row})
    return {"applicability": fix.applicability, "message": fix.message, "edits": edits}


def _step(step: Step, sources: Sources) -> dict[str, Any]:
    start = sources.start(step.path, step.span)
    return {
        "filename": text_of(step.path),
        "cell": start.cell,
        "location": _location(start),
        "message": step.message,
    }


def _location(place: Position) -> dict[str, int]:
    return {"row": place.line, "column": place.column}
