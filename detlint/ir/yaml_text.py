"""The text of a YAML file, and its lines. Knowing this needs no parser."""

from __future__ import annotations

import codecs
import os
from typing import Final

SUFFIXES: Final = (".yaml", ".yml")
_BOMS: Final = {
    codecs.BOM_UTF32_LE: "utf-32-le", codecs.BOM_UTF32_BE: "utf-32-be", codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be", codecs.BOM_UTF8: "utf-8",
}  # fmt: skip
"""In this order: one of the first begins like one of the last."""
_BREAKS: Final = dict.fromkeys(map(ord, "\x85\u2028\u2029"), " ")
"""Line breaks to YAML 1.1, and to nothing else today: not to editors, nor to YAML 1.2."""


def is_yaml(path: str | os.PathLike[str]) -> bool:
    """Whether a file is YAML, by its name."""
    return os.fspath(path).endswith(SUFFIXES)


def encoding_of(data: bytes) -> tuple[bytes, str]:
    """The byte order mark that a file begins with, if any, and its encoding."""
    return next(((mark, name) for mark, name in _BOMS.items() if data.startswith(mark)), (b"", "utf-8"))


def decoded(data: bytes) -> str:
    """The text: in UTF-8, or in what a byte order mark says.

    Raises:
        UnicodeDecodeError: it is in neither.
    """
    mark, encoding = encoding_of(data)
    return of_lines(data.removeprefix(mark).decode(encoding))


def of_lines(text: str) -> str:
    """The same text, with blanks for what only YAML 1.1 takes for line breaks."""
    return text if text.isascii() else text.translate(_BREAKS)


def lines_of(text: str) -> list[bytes]:
    """The lines in UTF-8, without their ends."""
    return text.encode("utf-8", "replace").splitlines()
