"""Logging commands of Azure Pipelines, which makes issues of a run from them.

https://learn.microsoft.com/en-us/azure/devops/pipelines/scripts/logging-commands
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from detlint.report.view import View
from detlint.visible import visible

_DATA: Final = str.maketrans({"%": "%AZP25", "\r": "%0D", "\n": "%0A"})
_PROPERTY: Final = _DATA | str.maketrans({";": "%3B", "]": "%5D"})


def lines(view: View) -> Iterator[str]:
    """A command a finding. There are two kinds of issue: a note is a warning. In a notebook, it stands at line 1."""
    for finding in view.findings:
        start = view.at(finding)[0]
        line, column = (start.line, start.column) if start.cell is None else (1, 1)
        fields = {
            "type": "error" if finding.severity == "error" else "warning",
            "sourcepath": view.relative(finding.path),
            "linenumber": str(line),
            "columnnumber": str(column),
            "code": finding.code,
        }
        given = "".join(f"{key}={visible(value.translate(_PROPERTY))};" for key, value in fields.items())
        yield f"##vso[task.logissue {given}]{visible(view.message(finding).translate(_DATA))}"
