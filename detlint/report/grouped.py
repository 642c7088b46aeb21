"""The findings of each file under its name, then the summary."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

import click

from detlint.report.place import line_in, shown
from detlint.report.text import COLOURS, summary
from detlint.report.view import View
from detlint.visible import visible


def lines(view: View) -> Iterator[str]:
    """A block a file; a line of it a finding."""
    for path, group in groupby(view.findings, key=lambda finding: finding.path):
        yield f"{click.style(shown(path), underline=True)}:"
        cells = view.sources.cells.get(path, ())
        rows = [(f"{line_in(cells, f.span.line)}:{view.at(f)[0].column}", f) for f in group]
        width = max(len(place) for place, _ in rows)
        for place, finding in rows:
            level = click.style(finding.severity, fg=COLOURS[finding.severity])
            yield f"  {place:<{width}}  {level}: {click.style(finding.code, bold=True)} {visible(finding.message)}"
        yield ""
    yield from summary(view)
