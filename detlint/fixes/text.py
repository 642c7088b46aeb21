"""A source file as text: its places as offsets, and back to the bytes that it had."""

from __future__ import annotations

import io
import re
import tokenize
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Final, NamedTuple

from detlint.ir.yaml_text import encoding_of
from detlint.model.sites.records import Span
from detlint.notebook import BOM

SURE: Final = frozenset({"utf-8", "ascii", "iso-8859-1"})
"""Encodings in which a text has one spelling, whatever stands around it: most files are in these."""
_LINE_END: Final = re.compile(r"\r\n|\r|\n")


class Edit(NamedTuple):
    """Characters `start` to `end` of a text become `text`. An insertion has `start == end`."""

    start: int
    end: int
    text: str


class Undecodable(Exception):
    """The bytes are not in the encoding that they declare, or that encoding doesn't give the same bytes back."""


class Text:
    """The text of a file.

    Args:
        text: what it says.
        encoding: how its bytes say it.
        mark: the byte order mark before them.
    """

    def __init__(self, text: str, encoding: str = "utf-8", mark: bytes = b"") -> None:
        self.text = text
        self.encoding = encoding
        self.mark = mark

    @cached_property
    def starts(self) -> list[int]:
        """Where each line begins."""
        return [0, *(match.end() for match in _LINE_END.finditer(self.text))]

    @cached_property
    def newline(self) -> str:
        """How the file ends its lines, by the first of them."""
        found = _LINE_END.search(self.text)
        return found[0] if found is not None else "\n"

    def offset(self, line: int, column: int) -> int:
        """Where a place is.

        Args:
            line: from 1.
            column: as `ast` counts it, in UTF-8 from 0.
        """
        if line > len(self.starts):
            return len(self.text)
        start = self.starts[line - 1]
        end = self.starts[line] if line < len(self.starts) else len(self.text)
        text = self.text[start:end]
        return start + (column if text.isascii() else len(text.encode()[:column].decode("utf-8", "replace")))

    def place(self, offset: int) -> tuple[int, int]:
        """The line, from 1, and the column in characters, from 0, of an offset."""
        line = bisect_right(self.starts, offset)
        return line, offset - self.starts[line - 1]

    def range(self, span: Span) -> tuple[int, int]:
        """Where a span begins and ends."""
        return self.offset(span.line, span.column), self.offset(span.end_line, span.end_column)

    def line(self, number: int) -> str:
        """A line with its end."""
        end = self.starts[number] if number < len(self.starts) else len(self.text)
        return self.text[self.starts[number - 1] : end]

    def end(self, number: int) -> str:
        """How a line ends; "" for the last one of a file that doesn't end it."""
        line = self.line(number)
        return line[len(line.rstrip("\r\n")) :]

    def continues(self, number: int) -> bool:
        """Whether a line goes on with the one above, by a backslash."""
        return number > 1 and self.line(number - 1).rstrip("\r\n").endswith("\\")

    def edited(self, edits: Iterable[Edit]) -> bytes:
        """The file with some edits made, in the encoding and with the mark that it has.

        Args:
            edits: none may overlap. Insertions at one place stand in their order.

        Raises:
            Undecodable: the encoding hasn't the characters, or bytes outside of the edits would change.
        """
        parts = [*self._parts(edits)]
        try:
            new = b"".join(part.encode(self.encoding) for _, part in parts)
            if self.encoding not in SURE:
                _same(b"".join(part.encode(self.encoding) for part, _ in parts), self.text.encode(self.encoding))
                _same(new.decode(self.encoding), "".join(part for _, part in parts))
        except UnicodeError as error:
            raise Undecodable(f"{self.encoding} can't say it: {error}") from None
        return self.mark + new

    def edited_text(self, edits: Iterable[Edit]) -> str:
        """The text with some edits made."""
        return "".join(part for _, part in self._parts(edits))

    def _parts(self, edits: Iterable[Edit]) -> Iterator[tuple[str, str]]:
        """The parts of the text, those that stay and those that don't, each with what it becomes."""
        end = 0
        for edit in sorted(edits, key=lambda edit: edit[:2]):
            yield (self.text[end : edit.start],) * 2
            yield self.text[edit.start : edit.end], edit.text
            end = edit.end
        yield (self.text[end:],) * 2


def of_python(data: bytes) -> Text:
    """The text of a Python file.

    Raises:
        Undecodable: the bytes are not in the encoding that they declare, or it doesn't give the same bytes back.
    """
    try:
        encoding = tokenize.detect_encoding(io.BytesIO(data).readline)[0].removesuffix("-sig")
        bare = data.removeprefix(BOM)
        text = bare.decode(encoding)
        if encoding not in SURE:
            _same(text.encode(encoding), bare)
    except (SyntaxError, LookupError, UnicodeError) as error:
        raise Undecodable(f"it can't be decoded: {error}") from None
    return Text(text, encoding, data[: len(data) - len(bare)])


def _same(one: str | bytes, other: str | bytes) -> None:
    """
    Raises:
        Undecodable: something would not be as it was.
    """
    if one != other:
        raise Undecodable("its encoding doesn't give back the bytes that it has, so more than the edit would change")


def of_yaml(data: bytes) -> Text:
    """The text of a YAML file.

    Raises:
        Undecodable: the bytes are neither in UTF-8 nor in what a byte order mark says.
    """
    mark, encoding = encoding_of(data)
    try:
        return Text(data.removeprefix(mark).decode(encoding), encoding, mark)
    except UnicodeDecodeError as error:
        raise Undecodable(f"it can't be decoded: {error}") from None


def shortest(old: str, new: str, start: int) -> Edit:
    """The edit that makes one text the other, without what they begin and end with alike.

    Args:
        start: where the old text begins.
    """
    most = min(len(old), len(new))
    head = next((i for i in range(most) if old[i] != new[i]), most)
    tail = next((i for i in range(most - head) if old[-1 - i] != new[-1 - i]), most - head)
    return Edit(start + head, start + len(old) - tail, new[head : len(new) - tail])
