"""Text documents whose lines are those of the protocol."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from lsprotocol import types
from pygls.workspace import TextDocument, Workspace

LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def units(text: str, encoding: types.PositionEncodingKind | str | None) -> int:
    """How many units of an encoding a text has."""
    if text.isascii() or encoding == types.PositionEncodingKind.Utf32:
        return len(text)
    if encoding == types.PositionEncodingKind.Utf8:
        return len(text.encode("utf-8", "surrogatepass"))
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def characters(text: str, count: int, encoding: types.PositionEncodingKind | str | None) -> int:
    """How many characters a number of units comes to, at the beginning of a text; no more than there are."""
    if text.isascii() or encoding == types.PositionEncodingKind.Utf32:
        return min(count, len(text))
    found = 0
    for character in text:
        count -= units(character, encoding)
        if count < 0:
            break
        found += 1
    return found


class Document(TextDocument):
    """A text as the protocol has it: lines end with LF, CR LF or CR, and with nothing else (a form feed is no end of a line,
    as it is to `str.splitlines`); a column behind the end of a line is its end."""

    @property
    def lines(self) -> Sequence[str]:
        return tuple(LINE.findall(self.source))

    def _offset(self, starts: list[int], position: types.Position) -> int:
        if position.line >= len(starts) - 1:
            return starts[-1]
        line = self.source[starts[position.line] : starts[position.line + 1]]
        return starts[position.line] + characters(line.rstrip("\r\n"), position.character, self.position_codec.encoding)

    def _apply_incremental_change(self, change: types.TextDocumentContentChangePartial) -> None:
        starts, text = [0], self.source
        for line in self.lines:
            starts.append(starts[-1] + len(line))
        start, end = (self._offset(starts, place) for place in (change.range.start, change.range.end))
        self._source = text[:start] + change.text + text[max(start, end) :]


class Documents(Workspace):
    """A workspace of such texts.

    Args:
        known: what the client has said of it.
    """

    def __init__(self, known: Workspace) -> None:
        super().__init__(
            known.root_uri, types.TextDocumentSyncKind.Incremental, [*known.folders.values()], known.position_encoding
        )

    def _create_text_document(
        self, doc_uri: str, source: str | None = None, version: int | None = None, language_id: str | None = None
    ) -> Document:
        return Document(doc_uri, source, version, language_id, position_codec=self.position_codec)
