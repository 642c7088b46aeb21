"""A source file's bytes, with the lines and columns that people see."""

from __future__ import annotations

import io
import tokenize
from functools import cached_property
from pathlib import Path

from detlint.facts.model import Span

BOM = b"\xef\xbb\xbf"


class Source:
    """The bytes of a file. Positions come from `ast`: 1-based lines, 0-based columns in the UTF-8 of the line."""

    def __init__(self, content: bytes | Path) -> None:
        self._content = content

    @cached_property
    def data(self) -> bytes:
        """The bytes; a file is read when they are first needed, and one that has become unreadable is empty."""
        if isinstance(self._content, bytes):
            return self._content
        try:
            return self._content.read_bytes()
        except OSError:
            return b""

    @cached_property
    def encoding(self) -> str:
        """The declared encoding (PEP 263), UTF-8 when there is none or it is unknown."""
        try:
            return tokenize.detect_encoding(io.BytesIO(self.data).readline)[0]
        except (SyntaxError, LookupError):
            return "utf-8"

    @cached_property
    def lines(self) -> list[bytes]:
        """The lines, in UTF-8, without their ends."""
        data = self.data.removeprefix(BOM)
        if self.encoding not in ("utf-8", "utf-8-sig"):
            try:
                data = data.decode(self.encoding, "replace").encode()
            except Exception:  # some codecs are no text encodings, and each fails in its own way
                return data.splitlines()
        return data.splitlines()

    def line(self, number: int) -> str:
        """A line as text, "" beyond the end."""
        return self.lines[number - 1].decode("utf-8", "replace") if 0 < number <= len(self.lines) else ""

    def column(self, line: int, offset: int) -> int:
        """The 1-based column in characters of a byte offset."""
        if not 0 < line <= len(self.lines):
            return offset + 1
        return len(self.lines[line - 1][:offset].decode("utf-8", "replace")) + 1

    def text_at(self, span: Span) -> bytes:
        """The UTF-8 text of a span."""
        lines = self.lines[span.line - 1 : span.end_line]
        if not lines:
            return b""
        lines = [*lines]
        lines[-1] = lines[-1][: span.end_column]
        lines[0] = lines[0][span.column :]
        return b"\n".join(lines)
