"""The formats of a report, by the names that the command line and the configuration use. Importing this imports no format."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from detlint.report.view import View

MODULES: Final = {
    "full": "text",
    "text": "text",
    "concise": "concise",
    "grouped": "grouped",
    "json": "json",
    "json-lines": "json_lines",
    "sarif": "sarif",
    "github": "github",
    "gitlab": "gitlab",
    "junit": "junit",
    "rdjson": "rdjson",
    "pylint": "pylint",
    "azure": "azure",
    "html": "html",
}
"""A format -> the module of `report` whose `lines` writes it."""
FOR_PROGRAMS: Final = frozenset({"json", "json-lines", "sarif", "gitlab", "junit", "rdjson", "html"})
"""Those whose lines are of another language, which has its own way to quote."""
FOR_PEOPLE: Final = frozenset({"full", "text", "concise", "grouped"})


def lines(name: str, view: View) -> Iterable[str]:
    """A report in a format, line by line."""
    written: Iterable[str] = import_module(f"detlint.report.{MODULES[name]}").lines(view)
    return written
