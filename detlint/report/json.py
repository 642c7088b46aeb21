"""JSON for programs: ruff's fields and ours, as a list."""

from __future__ import annotations

from typing import Any

import msgspec

from detlint.checks.finding import Finding, Report, Step
from detlint.report.place import Position, Sources


def report(report: Report, show_notes: bool) -> str:
    """All findings as a JSON list.

    Each has `code`, `name`, `message`, `filename`, `location`, `end_location` (1-based rows and columns, in
    characters), `fix` (null, or `applicability`, `message`, `edits`), `cell` (null, or the number of a notebook's cell, in
    which the rows are counted), `url`; and of our own `severity`, `family`, `target` (a list), `path` (the way from the
    entry point) and `remedy`.
    """
    sources = Sources(report)
    rows = [_row(f, sources) for f in report.findings if show_notes or f.severity != "note"]
    return msgspec.json.format(msgspec.json.encode(rows), indent=2).decode()


def _row(finding: Finding, sources: Sources) -> dict[str, Any]:
    start, end = sources.start(finding.path, finding.span), sources.end(finding.path, finding.span)
    return {
        "code": finding.code,
        "name": finding.name,
        "message": finding.message,
        "filename": text_of(finding.path),
        "location": _location(start),
        "end_location": _location(end),
        "severity": finding.severity,
        "family": finding.family,
        "target": list(finding.targets),
        "remedy": finding.remedy,
        "path": [_step(step, sources) for step in finding.steps],
        "fix": None,
        "cell": start.cell,
        "url": None,  # until the rules have pages on the web; `detlint rule CODE` prints them
    }


def text_of(path: str) -> str:
    """A path as text; bytes of a name that are none are shown as `\\xff`."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


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
