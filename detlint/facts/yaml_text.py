"""The text of a YAML file, and its lines. Knowing this needs no parser."""

from __future__ import annotations

import codecs
import os
from typing import Final

SUFFIXES: Final = (".yaml", ".yml")
_BOMS: Final = {
    codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF32_BE: "utf-32", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16",
}  # fmt: skip
"""In this order: one of the first begins like one of the last."""
_BREAKS: Final = dict.fromkeys(map(ord, "\x85\u2028\u2029"), " ")
"""Line breaks to YAML 1.1, and to nothing else today: not to editors, nor to YAML 1.2."""


def is_yaml(path: str | os.PathLike[str]) -> bool:
    """Whether a file is YAML, by its name."""
    return os.fspath(path).endswith(SUFFIXES)


def decoded(data: bytes) -> str:
    """The text: in UTF-8, or in what a byte order mark says.

    Raises:
        UnicodeDecodeError: it is in neither.
    """
    encoding = next((name for mark, name in _BOMS.items() if data.startswith(mark)), "utf-8-sig")
    text = data.decode(encoding)
    return text if text.isascii() else text.translate(_BREAKS)


def lines_of(text: str) -> list[bytes]:
    """The lines in UTF-8, without their ends."""
    return text.encode("utf-8", "replace").splitlines()
