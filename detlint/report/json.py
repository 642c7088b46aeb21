"""JSON for programs: ruff's fields and ours, as a list."""

from __future__ import annotations

from typing import Any

import msgspec

from detlint.checks.finding import Finding, Report, Step
from detlint.fixes.files import Files
from detlint.fixes.plan import Fix, Planner
from detlint.report.place import Sources


def report(report: Report, show_notes: bool, planner: Planner) -> str:
    """All findings as a JSON list.

    Each has `code`, `name`, `message`, `filename`, `location`, `end_location` (1-based rows and columns, in
    characters), `fix` (null, or `applicability`, `message`, `edits`, which name another file than the finding's where they
    are made in one, and have a `cell` of their own), `cell` (null, or the number of a notebook's cell, in
    which the rows are counted), `url`; and of our own `severity`, `family`, `target` (a list), `path` (the way from the
    entry point) and `remedy`.
    """
    sources = Sources(report)
    rows = [_row(f, sources, planner) for f in report.findings if show_notes or f.severity != "note"]
    return msgspec.json.format(msgspec.json.encode(rows), indent=2).decode()


def _row(finding: Finding, sources: Sources, planner: Planner) -> dict[str, Any]:
    start, end = sources.start(finding.path, finding.span), sources.end(finding.path, finding.span)
    return {
        "code": finding.code,
        "name": finding.name,
        "message": finding.message,
        "filename": text_of(finding.path),
        "location": _location(start.line, start.column),
        "end_location": _location(end.line, end.column),
        "severity": finding.severity,
        "family": finding.family,
        "target": list(finding.targets),
        "remedy": finding.remedy,
        "path": [_step(step, sources) for step in finding.steps],
        "fix": _fix(planner.fix(finding), planner.files),
        "cell": start.cell,
        "url": None,  # until the rules have pages on the web; `detlint rule CODE` prints them
    }


def text_of(path: str) -> str:
    """A path as text; bytes of a name that are none are shown as `\\xff`."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _fix(fix: Fix | None, files: Files) -> dict[str, Any] | None:
    if fix is None:
        return None
    edits = []
    for path, edit in fix.placed(files):
        row = {
            "content": edit.text,
            "cell": edit.cell,
            "location": _location(*edit.start),
            "end_location": _location(*edit.end),
        }
        edits.append(row if path == fix.finding.path else {"filename": text_of(path), **row})
    return {"applicability": fix.applicability, "message": fix.message, "edits": edits}


def _step(step: Step, sources: Sources) -> dict[str, Any]:
    start = sources.start(step.path, step.span)
    return {
        "filename": text_of(step.path),
        "cell": start.cell,
        "location": _location(start.line, start.column),
        "message": step.message,
    }


def _location(row: int, column: int) -> dict[str, int]:
    return {"row": row, "column": column}
