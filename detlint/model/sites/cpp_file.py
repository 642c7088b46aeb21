"""Reads what is kept of a source in C++: its comments for detlint. What it does is asked of its IR when it is judged."""

from __future__ import annotations

from collections.abc import Iterator

from detlint.ir.cpp import comments
from detlint.model.sites.records import Facts
from detlint.sources.directives import Directive, of_comment


def read(data: bytes, module: str) -> Facts:
    """The facts of one file.

    Args:
        module: what to call it.
    """
    found = tuple(_directives(data)) if b"detlint" in data else ()
    return Facts(module, directives=found, lines=data.count(b"\n") + 1)


def _directives(data: bytes) -> Iterator[Directive]:
    """The suppression comments: as in Python, behind `//` or in `/* */`."""
    for text, line, column in comments(data):
        bare = text.removesuffix("*/")
        yield from (one for one in of_comment(f"#{bare[2:]}", line, column + 1) if one.style == "ignore")
