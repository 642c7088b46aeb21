"""Pylint's parseable text, which many tools read: `train.py:12: [DET101] ...`."""

from __future__ import annotations

from collections.abc import Iterator

from detlint.report.place import shown
from detlint.report.view import View
from detlint.visible import visible


def lines(view: View) -> Iterator[str]:
    """A line a finding. In a notebook, whose cells the form doesn't know, that is line 1, and the message names the cell."""
    for finding in view.findings:
        start = view.at(finding)[0]
        line = start.line if start.cell is None else 1
        yield f"{shown(finding.path)}:{line}: [{finding.code}] {visible(view.message(finding))}"
