"""JSON for programs: ruff's fields and ours, as a list."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from detlint.checks.finding import Finding, Report
from detlint.facts.model import Span
from detlint.source import Source


def report(report: Report, show_notes: bool) -> str:
    """All findings as a JSON list.

    Each has `code`, `name`, `message`, `filename`, `location`, `end_location` (1-based rows and columns, in
    characters), `fix` (null, or `applicability`, `message`, `edits`), `cell`, `url`; and of our own `severity`,
    `family`, `target` (a list), `path` (the way from the entry point) and `remedy`.
    """
    sources = {path: Source(text) for path, text in report.texts.items()}
    rows = [_row(f, sources) for f in report.findings if show_notes or f.severity != "note"]
    return msgspec.json.format(msgspec.json.encode(rows), indent=2).decode()


def _row(finding: Finding, sources: dict[str, Source]) -> dict[str, Any]:
    location, end = _locations(finding.path, finding.span, sources)
    return {
        "code": finding.code,
        "name": finding.name,
        "message": finding.message,
        "filename": text_of(finding.path),
        "location": location,
        "end_location": end,
        "severity": finding.severity,
        "family": finding.family,
        "target": list(finding.targets),
        "remedy": finding.remedy,
        "path": [
            {"filename": text_of(s.path), "location": _locations(s.path, s.span, sources)[0], "message": s.message}
            for s in finding.steps
        ],
        "fix": None,
        "cell": None,
        "url": None,  # until the rules have pages on the web; `detlint rule CODE` prints them
    }


def text_of(path: str) -> str:
    """A path as text; bytes of a name that are none are shown as `\\xff`."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _locations(path: str, span: Span, sources: dict[str, Source]) -> tuple[dict[str, int], dict[str, int]]:
    if path not in sources:
        sources[path] = Source(Path(path))
    source = sources[path]
    return (
        {"row": span.line, "column": source.column(span.line, span.column)},
        {"row": span.end_line, "column": source.column(span.end_line, span.end_column)},
    )
