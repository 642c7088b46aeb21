"""Workflow commands of GitHub Actions, which makes annotations of a change from them.

https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands#setting-an-error-message
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from detlint.checks.finding import Finding
from detlint.report.view import View
from detlint.visible import visible

_COMMANDS: Final = {"error": "error", "warning": "warning", "note": "notice"}
_DATA: Final = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY: Final = _DATA | str.maketrans({":": "%3A", ",": "%2C"})


def lines(view: View) -> Iterator[str]:
    """A command a finding."""
    for finding in view.findings:
        fields = {"title": f"detlint ({finding.code})", "file": view.relative(finding.path), **_place(view, finding)}
        given = ",".join(f"{key}={visible(str(value).translate(_PROPERTY))}" for key, value in fields.items())
        help_ = f"\n  help: {finding.remedy}" if finding.remedy else ""
        text = f"{finding.code} {view.message(finding)}{help_}"
        yield f"::{_COMMANDS[finding.severity]} {given}::{visible(text.translate(_DATA))}"


def _place(view: View, finding: Finding) -> dict[str, int]:
    """Lines and columns; GitHub takes columns within one line only, and knows no cells: those are all at line 1."""
    start, end = view.at(finding)
    if start.cell is not None:
        return {"line": 1, "endLine": 1}
    if start.line != end.line:
        return {"line": start.line, "endLine": end.line}
    return {"line": start.line, "col": start.column, "endLine": end.line, "endColumn": end.column}
