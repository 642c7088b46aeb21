"""Reads TOML that may be anybody's: what would take Python's reader minutes, or overflow the stack, is refused first."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any, Final

from detlint.files import MOST_OF_METADATA, read

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

MOST_PARTS: Final = 100
"""Parts of one key (`a.b.c`): the reader's time grows with the square of their number, for each table below anew."""
_MARK: Final = re.compile(
    r"""#[^\n]*|"{3}[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*(?:"{3,5})?|"[^"\\\n]*(?:\\.[^"\\\n]*)*"?"""
    r"""|'{3}[^']*(?:'(?!'')[^']*)*(?:'{3,5})?|'[^'\n]*'?|[][{}.,=\n]""",
    re.S,
)
"""Comments, strings, and what keys and values are made of."""


class TomlError(ValueError):
    """A text that is no TOML, or one that nobody writes by hand; the text says why."""


def load(file: Path) -> dict[str, Any]:
    """What a TOML file says.

    Raises:
        OSError: it can't be read.
        TomlError: as `parse`.
    """
    return parse(read(file, MOST_OF_METADATA))


def parse(document: bytes | str) -> dict[str, Any]:
    """What a TOML document says.

    Raises:
        TomlError: it is no TOML, nested too deeply, or has a key of too many parts.
    """
    try:
        text = document if isinstance(document, str) else document.decode()
        _expect_short_keys(text)
        return tomllib.loads(text)
    except TomlError:
        raise
    except RecursionError:
        raise TomlError("it is nested too deeply") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise TomlError(str(error)) from None
    except ValueError:
        raise TomlError("a number has too many digits") from None


def _expect_short_keys(text: str) -> None:
    """Look at the dots outside of strings and comments, in time that grows with the text.

    Raises:
        TomlError: a key has too many.
    """
    if all(line.count(".") < MOST_PARTS for line in text.split("\n")):
        return
    dots = 0
    for found in _MARK.finditer(text):
        dots = dots + 1 if found[0] == "." else 0 if len(found[0]) == 1 else dots
        if dots >= MOST_PARTS:
            line = text.count("\n", 0, found.start()) + 1
            raise TomlError(f"a key has more than {MOST_PARTS} parts (at line {line})")
