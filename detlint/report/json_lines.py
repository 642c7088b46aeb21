"""The rows of the JSON format, each on a line of its own."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from detlint.report.json import rows
from detlint.report.view import View


def lines(view: View) -> Iterator[str]:
    """A line a finding."""
    for row in rows(view):
        yield msgspec.json.encode(row).decode()
