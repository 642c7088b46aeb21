"""A Code Quality report of GitLab, which shows it in merge requests.

https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, Final

from detlint.checks.finding import Finding
from detlint.report.place import Position
from detlint.report.view import View
from detlint.visible import encoded

_SEVERITIES: Final = {"error": "major", "warning": "minor", "note": "info"}


def lines(view: View) -> Iterator[str]:
    """A JSON list. Paths are relative to the folder of the job, `CI_PROJECT_DIR`, else to the repository's.

    Of entries with one fingerprint GitLab shows one, and what it has seen before it takes for old: so each has one of its
    own that doesn't change with its line.
    """
    top = os.path.realpath(os.environ.get("CI_PROJECT_DIR") or view.top)
    rows = [_row(view, finding, view.fingerprints[i], top) for i, finding in enumerate(view.findings)]
    yield encoded(rows)


def _row(view: View, finding: Finding, fingerprint: str, top: str) -> dict[str, Any]:
    begin, end = view.at(finding)
    if begin.cell is not None:  # GitLab knows no cells
        begin = end = Position(None, 1, 1)
    return {
        "check_name": finding.code,
        "description": f"{finding.code}: {view.message(finding)}",
        "severity": _SEVERITIES[finding.severity],
        "fingerprint": fingerprint,
        "location": {
            "path": view.relative(finding.path, top),
            "positions": {"begin": _place(begin), "end": _place(end)},
        },
    }


def _place(position: Position) -> dict[str, int]:
    return {"line": position.line, "column": position.column}
