"""The rows of the JSON format, each on a line of its own."""

from __future__ import annotations

from collections.abc import Iterator

from detlint.report.json import rows
from detlint.report.view import View
from detlint.visible import encoded


def lines(view: View) -> Iterator[str]:
    """A line a finding."""
    for row in rows(view):
        yield encoded(row, 0)
