"""Jupyter notebooks: the code of their cells, joined to one Python source, and where in the cells its lines stand.

The format is described at https://nbformat.readthedocs.io/en/latest/format_description.html. Only the fields that are
needed are decoded; outputs, which are most of a notebook's bytes, are passed over.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from operator import attrgetter
from typing import Any, Final

import msgspec

from detlint.sources.parse import Cell, Problem

SUFFIX: Final = ".ipynb"
BOM: Final = b"\xef\xbb\xbf"
LEAD: Final = 2
"""Empty lines before the first cell. There, a comment would be taken for a declaration of the encoding (PEP 263)."""


def is_notebook(path: str | os.PathLike[str]) -> bool:
    """Whether a file is a notebook, by its name."""
    return os.fspath(path).endswith(SUFFIX)


class NotANotebook(Exception):
    """A file that can't be read as a notebook; `problem` says why, and what to do."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


class _VSCode(msgspec.Struct, rename="camel"):
    language_id: str | None = None


class _CellMetadata(msgspec.Struct):
    vscode: _VSCode | None = None


class _RawCell(msgspec.Struct):
    """A cell of any kind. Before version 4 the code stands under `input`, and a cell has a language of its own."""

    cell_type: str = ""
    source: str | list[str] | None = None
    input: str | list[str] | None = None
    language: str | None = None
    metadata: _CellMetadata | None = None


class _Worksheet(msgspec.Struct):
    cells: list[_RawCell] = []


class _Language(msgspec.Struct):
    name: str | None = None
    language: str | None = None


class _Metadata(msgspec.Struct):
    """`accelerator` is Colab's: `GPU` or `TPU`, where a notebook is to be opened on one."""

    language_info: _Language | None = None
    kernelspec: _Language | None = None
    accelerator: Any = None


class _RawNotebook(msgspec.Struct):
    """A notebook of version 4, whose cells stand at its top, or of an earlier one with its worksheets."""

    metadata: _Metadata | None = None
    cells: list[_RawCell] | None = None
    worksheets: list[_Worksheet] | None = None


_INDENT: Final = re.compile(r"[ \t]+")
_PROMPT: Final = re.compile(r"(?:>>>|\.\.\.)(?: |$)")
_DECODER: Final = msgspec.json.Decoder(_RawNotebook)


class Notebook:
    """The code cells of a notebook, joined in their order. Nothing where its language isn't Python.

    Attributes:
        cells: where each begins.
        texts: the lines of each as people see them, without a margin that all have.
        accelerator: the hardware on which it is to be opened, `gpu` or `tpu`; "" where it doesn't say.
        text: the same lines, joined, in UTF-8.
    """

    def __init__(self, cells: tuple[Cell, ...], texts: list[str], accelerator: str = "") -> None:
        self.cells = cells
        self.texts = texts
        self.accelerator = accelerator

    @cached_property
    def text(self) -> bytes:
        return _joined(self.texts)

    @cached_property
    def code(self) -> bytes:
        """The same lines as Python."""
        from detlint.ipython import as_python

        return _joined(map(as_python, self.texts))


def open_notebook(data: bytes) -> Notebook:
    """Read a notebook.

    Raises:
        NotANotebook: no JSON, no UTF-8, or JSON that isn't a notebook's.
    """
    try:
        raw = _decoded(data.removeprefix(BOM))
    except RecursionError:
        raise NotANotebook(Problem("can't be analysed: it is nested too deeply")) from None
    texts, cells, line = list[str](), list[Cell](), LEAD + 1
    for number, text in _code_cells(raw):
        text, margin = _without_margin(text)
        text += "" if text.endswith("\n") else "\n"
        text += "\n" if text.endswith("\\\n") else ""  # the next cell is no continued line of this one
        cells.append(Cell(line, number, margin))
        texts.append(text)
        line += text.count("\n")
    said = str(raw.metadata.accelerator).lower() if raw.metadata is not None else ""
    return Notebook(tuple(cells), texts, said if said in ("gpu", "tpu") else "")


def _joined(texts: Iterable[str]) -> bytes:
    return ("\n" * LEAD + "".join(texts)).encode("utf-8", "replace")


def _decoded(data: bytes) -> _RawNotebook:
    try:
        raw = _DECODER.decode(data)
    except msgspec.ValidationError as error:
        raise _wrong(error) from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        raw = _decoded_leniently(data)
    if raw.cells is None and raw.worksheets is None:
        raise NotANotebook(Problem("isn't a Jupyter notebook: it has no `cells`"))
    return raw


def _decoded_leniently(data: bytes) -> _RawNotebook:
    """As Python's own decoder takes it, which is what Jupyter uses: NaN in an output is no error. It is some ten times as
    slow, and knows the line of an error."""
    import json  # seldom needed

    try:
        return msgspec.convert(json.loads(data.decode()), _RawNotebook)
    except msgspec.ValidationError as error:
        raise _wrong(error) from None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise NotANotebook(Problem("isn't a Jupyter notebook: it is not in UTF-8", line)) from None
    except json.JSONDecodeError as error:
        problem = Problem(f"isn't a Jupyter notebook: it is not JSON ({error.msg})", error.lineno)
        raise NotANotebook(problem) from None
    except ValueError:
        raise NotANotebook(Problem("isn't a Jupyter notebook: a number has too many digits")) from None


def _wrong(error: msgspec.ValidationError) -> NotANotebook:
    reason, _, place = str(error).partition(" - at ")
    where = f" at {place}" if place else ""
    return NotANotebook(Problem(f"isn't a Jupyter notebook: {reason[0].lower()}{reason[1:]}{where}"))


def _code_cells(raw: _RawNotebook) -> Iterator[tuple[int, str]]:
    """The code cells with something in them: each one's number, and its text with plain line ends."""
    if not _is_python(raw.metadata):
        return
    listed = raw.cells if raw.cells is not None else [cell for sheet in raw.worksheets or () for cell in sheet.cells]
    for number, cell in enumerate(listed, 1):
        if cell.cell_type != "code" or not _speaks_python(cell):
            continue
        source = cell.source if cell.source is not None else cell.input or ""
        text = source if isinstance(source, str) else "".join(source)
        if text.strip():
            yield number, text.replace("\r\n", "\n").replace("\r", "\n")


def _is_python(metadata: _Metadata | None) -> bool:
    """Whether a notebook's language is Python; it is where nothing says otherwise."""
    info, kernel = (metadata.language_info, metadata.kernelspec) if metadata is not None else (None, None)
    languages = [info.name if info is not None else None, kernel.language if kernel is not None else None]
    return all(language.lower() in ("python", "ipython") for language in languages if language)


def _speaks_python(cell: _RawCell) -> bool:
    own = cell.metadata.vscode.language_id if cell.metadata is not None and cell.metadata.vscode is not None else None
    return all(language.lower() in ("python", "ipython") for language in (own, cell.language) if language)


def _without_margin(text: str) -> tuple[str, int]:
    """A cell whose lines are all indented, or all begin with Python's prompts, without that, as IPython takes it; and how
    many columns it was."""
    columns = 0
    for margin in (_INDENT, _PROMPT):
        lines = text.split("\n")
        found = margin.match(next(line for line in lines if line.strip()))
        if found is None:
            continue
        width = found.end()
        if all(
            line.startswith(found[0]) or (margin is _PROMPT and margin.match(line)) for line in lines if line.strip()
        ):
            columns += width
            text = "\n".join(line[width:] for line in lines)
    return text, columns


# -- positions --------------------------------------------------------------------------------------------------


_line = attrgetter("line")


def cell_of(cells: Sequence[Cell], line: int) -> Cell | None:
    """The cell that a line of the joined code stands in; the first for the lines before it, None where there is none."""
    return cells[max(0, bisect_right(cells, line, key=_line) - 1)] if cells else None


def lines_of(cells: Sequence[Cell], number: int | None, last: int) -> range:
    """The lines of the joined code that are a certain cell's, in order; none where there is no such cell of code.

    Args:
        last: the last line of the joined code.
    """
    ends = [*(cell.line for cell in cells[1:]), last + 1]
    return next(
        (range(cell.line, end) for cell, end in zip(cells, ends, strict=False) if cell.number == number), range(0)
    )
