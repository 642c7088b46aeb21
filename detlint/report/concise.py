"""One line a finding, in the form that editors and GNU tools parse."""

from __future__ import annotations

from collections.abc import Iterator

from detlint.report.view import View
from detlint.visible import visible


def lines(view: View) -> Iterator[str]:
    """`train.py:12:5: error: DET101 ...`."""
    for finding in view.findings:
        place = f"{view.sources.line(finding.path, finding.span.line)}:{view.at(finding)[0].column}"
        yield f"{place}: {finding.severity}: {finding.code} {visible(finding.message)}"
