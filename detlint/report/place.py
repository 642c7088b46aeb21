"""Where things stand, as people and programs are told: lines of files, and lines of a notebook's cells."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from detlint.checks.finding import Report
from detlint.model.sites.records import Span
from detlint.notebook import cell_of
from detlint.source import Source
from detlint.sources.parse import Cell
from detlint.visible import visible

if TYPE_CHECKING:  # a run of which all is known needs none of the program
    from detlint.model.module import Module
    from detlint.model.runs.reach import Place


class Position(NamedTuple):
    """A place in a file, or in a cell of a notebook; lines and columns count from 1."""

    cell: int | None
    line: int
    column: int


def shown(path: str, folder: str = "") -> str:
    """A path as people type it: relative to where they are, or to another folder, when it is below."""
    here = (folder or os.getcwd()).rstrip(os.sep) + os.sep
    name = visible(path.removeprefix(here))
    return f"./{name}" if name.startswith(("::", "##")) else name  # else CI services take it for a command


def line_in(cells: Sequence[Cell], line: int) -> str:
    """A line of a file, as text: `12`; of a notebook as ruff writes it: `cell 3:12`."""
    cell = cell_of(cells, line)
    return str(line) if cell is None else f"cell {cell.number}:{max(1, line - cell.line + 1)}"


def at_line(module: Module, line: int, name: Callable[[str], str] = shown) -> str:
    """A line of a module: `train.py:12`, `train.ipynb:cell 3:12`.

    Args:
        name: how paths are written.
    """
    return f"{name(module.path)}:{line_in(module.facts.cells, line)}"


def at(place: Place) -> str:
    """Where a site begins: `train.py:12`, `train.ipynb:cell 3:12`."""
    return at_line(place.module, place.module.sites[place.site].span.line)


def at_name(place: Place) -> str:
    """The same, with the file's name only."""
    return f"{visible(Path(place.module.path).name)}:{line_in(place.module.facts.cells, place.module.sites[place.site].span.line)}"


class Sources(dict[str, Source]):
    """The files of a report, each read when something in it is shown; and where its findings stand."""

    def __init__(self, report: Report) -> None:
        super().__init__({path: Source(path, text) for path, text in report.texts.items()})
        self.cells = report.cells
        self.unfixed = report.unfixed

    def __missing__(self, path: str) -> Source:
        source = self[path] = Source(path)
        return source

    def line(self, path: str, line: int) -> str:
        """A line as text: `train.py:12`, `train.ipynb:cell 3:12`."""
        return f"{shown(path)}:{line_in(self.cells.get(path, ()), line)}"

    def start(self, path: str, span: Span) -> Position:
        """Where a span begins."""
        return self._position(path, span.line, span.column)

    def end(self, path: str, span: Span) -> Position:
        """Where it ends."""
        return self._position(path, span.end_line, span.end_column)

    def _position(self, path: str, line: int, offset: int) -> Position:
        column = self[path].column(line, offset)
        cell = cell_of(self.cells.get(path, ()), line)
        if cell is None:
            return Position(None, line, column)
        return Position(cell.number, max(1, line - cell.line + 1), column + cell.margin)
