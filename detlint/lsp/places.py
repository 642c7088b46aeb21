"""Where findings stand, in the words of the protocol: a document's URI, and columns in the units that the client counts in."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from lsprotocol import types
from pygls.uris import from_fs_path

from detlint.lsp.checker import Answer
from detlint.lsp.documents import Document, Part
from detlint.lsp.shift import Shift
from detlint.lsp.text import LINE, units
from detlint.model.sites.records import Span
from detlint.notebook import cell_of, is_notebook
from detlint.source import Source

NOWHERE: Final = types.Position(0, 0)


class Places:
    """The places of a report.

    Args:
        answer: what was found.
        documents: all that are open, by path.
        encoding: what the client counts columns in.
    """

    def __init__(
        self, answer: Answer, documents: Mapping[str, Document], encoding: types.PositionEncodingKind | str | None
    ) -> None:
        self._documents = {**documents, answer.document.path: answer.document}
        self._encoding = encoding
        self._read = answer.read
        self._texts = answer.report.texts if answer.report is not None else {}
        self._cells = answer.report.cells if answer.report is not None else {}
        self._sources: dict[str, Source] = {}
        self._shifts: dict[str, Shift] = {}

    def uri(self, path: str) -> str:
        """The URI of a file, as the client writes it if it has it open."""
        document = self._documents.get(path)
        return document.parts[0].uri if document and not document.notebook else from_fs_path(path) or ""

    def location(self, path: str, span: Span) -> types.Location | None:
        """Where a span is; None where its text is gone, or no URI leads to it: a notebook's cells have none that isn't open."""
        start, end = self.place(path, span.line, span.column), self.place(path, span.end_line, span.end_column)
        if start is None or end is None or start[0] != end[0]:
            return None
        return types.Location(start[0], types.Range(start[1], end[1]))

    def place(self, path: str, line: int, column: int) -> tuple[str, types.Position] | None:
        """Where a place is: the URI, and the position there.

        Args:
            line: from 1; in a notebook, of the joined code.
            column: in UTF-8, from 0.
        """
        if is_notebook(path):
            return self._in_cell(path, line, column)
        document = self._documents.get(path)
        if document is not None:
            return self._in_part(document.parts[0], line, column)
        lines = self._source(path).lines
        text = lines[line - 1] if 0 < line <= len(lines) else b""
        return self.uri(path), self._position(line, text, column)

    def _in_cell(self, path: str, line: int, column: int) -> tuple[str, types.Position] | None:
        document = self._documents.get(path)
        cell = cell_of(self._cells.get(path, ()), line)
        if document is None or cell is None or cell.number > len(document.parts):
            return None
        part = document.parts[cell.number - 1]
        if line < cell.line:
            return part.uri, NOWHERE
        return self._in_part(part, line - cell.line + 1, column + cell.margin)

    def placed(self, path: str, cell: int | None, line: int, column: int) -> tuple[str, types.Position] | None:
        """Where a place is, as edits have it: the line and the column in characters, both from 1, those of a notebook inside
        a cell."""
        document = self._documents.get(path)
        if cell is not None and (document is None or cell > len(document.parts)):
            return None
        part = document.parts[(cell or 1) - 1] if document is not None else None
        lines = _lines(part.text) if part is not None else self._source(path).lines
        text = lines[line - 1].decode("utf-8", "replace") if 0 < line <= len(lines) else ""
        uri = part.uri if part is not None else self.uri(path)
        return uri, types.Position(line - 1, units(text[: column - 1], self._encoding))

    def _in_part(self, part: Part, line: int, column: int) -> tuple[str, types.Position] | None:
        if part.uri in self._read:
            moved = self._shift(part).place(line, column)
            if moved is None:
                return None
            line, column = moved
        lines = _lines(part.text)
        text = lines[line - 1] if 0 < line <= len(lines) else b""
        return part.uri, self._position(line, text, column)

    def _shift(self, part: Part) -> Shift:
        if part.uri not in self._shifts:
            self._shifts[part.uri] = Shift(_lines(self._read[part.uri]), _lines(part.text))
        return self._shifts[part.uri]

    def _position(self, line: int, text: bytes, column: int) -> types.Position:
        return types.Position(max(line - 1, 0), units(text[:column].decode("utf-8", "replace"), self._encoding))

    def _source(self, path: str) -> Source:
        if path not in self._sources:
            self._sources[path] = Source(path, self._texts.get(path))
        return self._sources[path]


@lru_cache(maxsize=64)
def _lines(text: str) -> list[bytes]:
    """The lines of a text in UTF-8, without their ends."""
    return [line.rstrip("\r\n").encode("utf-8", "replace") for line in LINE.findall(text)]
