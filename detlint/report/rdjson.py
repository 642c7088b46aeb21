"""The diagnostic format of reviewdog, which writes comments and suggestions into the review of a change.

https://github.com/reviewdog/reviewdog/tree/master/proto/rdf. Its columns count bytes of UTF-8.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from detlint.checks.finding import Finding, Step
from detlint.model.sites.records import Span
from detlint.report.place import Position
from detlint.report.view import View
from detlint.visible import encoded

_SEVERITIES: Final = {"error": "ERROR", "warning": "WARNING", "note": "INFO"}


def lines(view: View) -> Iterator[str]:
    """The document: each finding with the way to it, and with what a safe or unsafe fix puts where it stands."""
    found = {
        "source": {"name": "detlint"},
        "severity": "WARNING",
        "diagnostics": [_row(view, finding) for finding in view.findings],
    }
    yield encoded(found)


def _row(view: View, finding: Finding) -> dict[str, Any]:
    row: dict[str, Any] = {
        "message": view.message(finding) + (f"\n{finding.remedy}" if finding.remedy else ""),
        "location": _location(view, finding.path, finding.span),
        "severity": _SEVERITIES[finding.severity],
        "code": {"value": finding.code},
    }
    if finding.steps:
        row["related_locations"] = [_related(view, step) for step in finding.steps]
    suggestions = _suggestions(view, finding)
    return {**row, "suggestions": suggestions} if suggestions else row


def _suggestions(view: View, finding: Finding) -> list[dict[str, Any]]:
    """What a fix does, if it is all in the finding's file: reviewdog takes no other."""
    made = view.replaced_in_files(finding)
    if any(one.path != finding.path for one in made):
        return []
    return [{"range": _range(view, one.path, one.start, one.end), "text": one.text} for one in made]


def _related(view: View, step: Step) -> dict[str, Any]:
    return {"message": step.message, "location": _location(view, step.path, step.span)}


def _location(view: View, path: str, span: Span) -> dict[str, Any]:
    start, end = view.sources.start(path, span), view.sources.end(path, span)
    if start.cell is not None:  # reviewdog knows no cells
        return {"path": view.relative(path), "range": {"start": {"line": 1}}}
    return {"path": view.relative(path), "range": _range(view, path, start, end)}


def _range(view: View, path: str, start: Position, end: Position) -> dict[str, Any]:
    return {"start": _place(view, path, start), "end": _place(view, path, end)}


def _place(view: View, path: str, position: Position) -> dict[str, int]:
    before = view.sources[path].line(position.line)[: position.column - 1]
    return {"line": position.line, "column": len(before.encode()) + 1}
