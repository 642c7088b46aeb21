"""Taking code out of a file, but not the comments that stand with it."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterable
from typing import Final

from detlint.fixes.text import Edit, Text

_FOR_TOOLS: Final = re.compile(
    r"#\s*(?:noqa|nosec|type:|(?:fmt|yapf|isort|mypy|pyright|pylint|ruff|flake8|pragma|detlint):)", re.I
)
"""Comments that tell a program how to take the code beside them: without that, they would be about something else."""


def comments(code: str) -> list[str]:
    """The comments in some code that may stand in parentheses, or is a simple statement."""
    if "#" not in code:
        return []
    lines = io.StringIO("(" + code.replace("\r\n", "\n").replace("\r", "\n") + "\n)")
    return [token.string for token in tokenize.generate_tokens(lines.readline) if token.type == tokenize.COMMENT]


def on_lines(found: Iterable[str], margin: str, newline: str, end: str) -> str:
    """Comments on lines of their own; without those that tell a program how to take what is gone.

    Args:
        end: how the last of the lines ends.
    """
    kept = [margin + comment for comment in found if not _FOR_TOOLS.match(comment)]
    return newline.join(kept) + end if kept else ""


def without_lines(text: Text, start: int, end: int) -> Edit:
    """What takes code out that has its lines for itself; the comments on these get lines of their own."""
    first, last = text.starts[text.place(start)[0] - 1], text.place(end)[0]
    behind = text.starts[last - 1] + len(text.line(last))
    kept = on_lines(comments(text.text[start:behind]), text.text[first:start], text.newline, text.end(last))
    return Edit(first, behind, kept)


def has_lines(text: Text, start: int, end: int) -> bool:
    """Whether nothing but a comment stands on the lines of some code."""
    first, last = text.place(start)[0], text.place(end)[0]
    before, after = text.text[text.starts[first - 1] : start], text.line(last)[end - text.starts[last - 1] :]
    return not text.continues(first) and not before.strip() and not after.partition("#")[0].strip()
