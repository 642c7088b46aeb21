"""A notebook's JSON: where the code of its cells stands in it, and how lines of that code are replaced.

Nothing is written anew but the lines that change: all else keeps its bytes, whoever wrote the file in whichever layout.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from detlint.fixes.recipe import NoFix

_DECODER: Final = json.JSONDecoder()
_SPACE: Final = re.compile(r"[ \t\r\n]*")
_BREAK: Final = r'"[ \t\r\n]*,[ \t\r\n]*"'
"""From one string of a list to the next."""
_RETURN: Final = r"(?:\\r|\\u000[dD])"
_FEED: Final = r"(?:\\n|\\u000[aA])"
_PIECE: Final = re.compile(
    rf'(?P<end>(?:{_RETURN}(?:{_BREAK})*{_FEED}|{_RETURN}|{_FEED})(?:{_BREAK})*)|\\u....|\\.|{_BREAK}|[^"\\]+', re.S
)
_ESCAPED: Final = re.compile(r"(?<!\\)(?:\\\\)*\\u(?!00[0-7])[0-9a-fA-F]{4}")
"""A character beyond ASCII that need not be escaped."""


_SURROGATE: Final = re.compile(r"[\ud800-\udfff]")
"""Half a character: JSON can spell it, UTF-8 can't."""


def text_of(notebook: bytes) -> str:
    """A notebook as text. Bytes of its outputs that are no UTF-8 stay what they are: `bytes_of` gives them back."""
    return notebook.decode("utf-8", "surrogateescape")


def bytes_of(text: str) -> bytes:
    """The bytes of what `text_of` has made a text, or of a part of it."""
    return text.encode("utf-8", "surrogateescape")


class Replacement(NamedTuple):
    """Lines `first` to `last`, exclusively and from 0, become others."""

    first: int
    last: int
    lines: Sequence[str]


class _Line(NamedTuple):
    """A line as JSON spells it. Where the lines are strings of a list, the end goes on to the next string."""

    content: str
    end: str


class CellSource:
    """The code of a cell in the text of a notebook.

    Args:
        text: the notebook.
        start: where the string with the code, or the list of them, begins.
        end: where it ends.
    """

    def __init__(self, text: str, start: int, end: int) -> None:
        self.start = text.index('"', start, end) + 1
        self.end = text.rindex('"', start, end)
        self._listed = text[start] == "["
        self._space = text[start + 1 : self.start - 1] if self._listed else ""
        self._lines = [*_lines(text[self.start : self.end])]

    @property
    def lines(self) -> int:
        """How many lines it has. What stands behind the last end is none if it is empty."""
        return len(self._lines) - (not self._lines[-1].content)

    def line(self, number: int) -> str:
        """A line without its end, numbered from 0."""
        pieces = (piece[0] for piece in _PIECE.finditer(self._lines[number].content))
        line: str = json.loads('"' + "".join(piece for piece in pieces if piece[0] != '"') + '"')
        return line

    def replaced(self, replacements: Sequence[Replacement], ascii_only: bool) -> str:
        """What stands between `start` and `end` after some replacements, which are in order."""
        kept, at = list[_Line](), 0
        usual = Counter(line.end for line in self._lines if line.end).most_common(1)
        end = usual[0][0] if usual else r"\n" + (f'",{self._space}"' if self._listed else "")
        for first, last, lines in replacements:
            kept += self._lines[at:first]
            kept += (_Line(_spelled(line, ascii_only), end) for line in lines)
            at = last
        kept += self._lines[at : self.lines]
        parts = [part for line in kept for part in (line.content, line.end or end)]
        return "".join([*parts[:-1], self._lines[self.lines - 1].end]) if parts else ""


def _spelled(line: str, ascii_only: bool) -> str:
    """A line as JSON has it between quotes."""
    return json.dumps(line, ensure_ascii=ascii_only or _SURROGATE.search(line) is not None)[1:-1]


def _lines(spelled: str) -> Iterator[_Line]:
    """The lines of some code, and what stands behind the last end."""
    start = 0
    for piece in _PIECE.finditer(spelled):
        if piece["end"] is not None:
            yield _Line(spelled[start : piece.start()], piece["end"])
            start = piece.end()
    yield _Line(spelled[start:], "")


def cell_sources(text: str) -> list[CellSource | None]:
    """The code of each cell of any kind, in the order of the file; None where a cell has none.

    Args:
        text: a notebook. It may be of any version, but must be one.

    Raises:
        NoFix: Python's reader doesn't take what stands somewhere in it.
    """
    try:
        return _cell_sources(text)
    except (RecursionError, ValueError) as error:  # a number in an output can be too long for Python
        raise NoFix(f"the file can't be read: {error}") from None


def _cell_sources(text: str) -> list[CellSource | None]:
    top = _members(text, _skip(text, 0))
    if "cells" in top and text[top["cells"]] == "[":
        return [_source(text, cell) for cell in _items(text, top["cells"])]
    sheets = [_members(text, sheet) for sheet in _items(text, top["worksheets"])]
    return [_source(text, cell) for sheet in sheets if "cells" in sheet for cell in _items(text, sheet["cells"])]


def is_ascii_only(text: str) -> bool:
    """Whether a notebook escapes what is beyond ASCII."""
    return text.isascii() and _ESCAPED.search(text) is not None


def _source(text: str, cell: int) -> CellSource | None:
    """The code of a cell: `source`, or as before version 4 `input`."""
    members = _members(text, cell)
    for key in ("source", "input"):
        if key in members:
            code, end = _value(text, members[key])
            if code is not None:
                return CellSource(text, members[key], end) if code else None
    return None


def _members(text: str, start: int) -> dict[str, int]:
    """Where the values of an object begin. As for every decoder, the last of equal keys counts."""
    found, at = dict[str, int](), _skip(text, start + 1)
    while text[at] != "}":
        key, end = _value(text, at)
        found[key] = _skip(text, _skip(text, end) + 1)
        at = _next(text, found[key])
    return found


def _items(text: str, start: int) -> Iterator[int]:
    """Where the items of a list begin."""
    at = _skip(text, start + 1)
    while text[at] != "]":
        yield at
        at = _next(text, at)


def _next(text: str, start: int) -> int:
    """What comes behind a value and a comma."""
    at = _skip(text, _value(text, start)[1])
    return _skip(text, at + 1) if text[at] == "," else at


def _value(text: str, start: int) -> tuple[Any, int]:
    """A value, and where it ends."""
    return _DECODER.raw_decode(text, start)


def _skip(text: str, at: int) -> int:
    """The next character that isn't white space."""
    found = _SPACE.match(text, at)
    return found.end() if found is not None else at
