"""A document of Markdown blocks and tables, written as Markdown, or as plain text for a terminal.

Only tables differ much: Markdown has room for columns, a terminal of 80 characters shows one row below the other.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import click


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells; a cell is a list of lines in Markdown.

    Attributes:
        title: what the fold around the table is called; without one there is no fold.
        open: whether the fold is open at first.
    """

    headers: Sequence[str]
    rows: Sequence[Sequence[Sequence[str]]]
    title: str = ""
    open: bool = True


INLINE: Final = re.compile(r"(?P<code>`[^`]*`)|\[(?P<link>[^\]]+)\]\([^)]*\)|\*(?P<em>[^*]+)\*|\\(?P<char>[\\`*_<\[])")
"""What Markdown marks inside a line, and a terminal shows without the marks; code keeps them."""
Block = str | Table
"""A heading, a paragraph, a list or fenced code in Markdown; or a table."""


def markdown(blocks: Iterable[Block]) -> str:
    """The document as Markdown, with tables and folds as GitHub understands them."""
    return "\n\n".join("\n".join(_table(b)) if isinstance(b, Table) else b for b in blocks) + "\n"


def text(blocks: Iterable[Block], width: int) -> str:
    """The document for a terminal."""
    return "\n\n".join("\n".join(_text(block, width)) for block in blocks)


def escaped(plain: str) -> str:
    """Text that Markdown shows as it is."""
    return re.sub(r"([\\`*_<\[])", r"\\\1", plain)


def _table(table: Table) -> Iterator[str]:
    headers, rows = _filled(table)
    if table.title:
        yield f"<details{' open' if table.open else ''}><summary>{table.title}</summary>\n"
    yield f"| {' | '.join(headers)} |"
    yield f"|{' --- |' * len(headers)}"
    for row in rows:
        yield "| " + " | ".join("<br>".join(cell).replace("|", "\\|") for cell in row) + " |"
    if table.title:
        yield "\n</details>"


def _filled(table: Table) -> tuple[list[str], list[list[Sequence[str]]]]:
    """The columns in which some row says something."""
    used = [i for i in range(len(table.headers)) if any(row[i] for row in table.rows)]
    return [table.headers[i] for i in used], [[row[i] for i in used] for row in table.rows]


def _text(block: Block, width: int) -> Iterator[str]:
    if isinstance(block, Table):
        yield from _records(block, width)
    elif block.startswith("```"):
        yield from textwrap.indent("\n".join(block.split("\n")[1:-1]), "    ").split("\n")
    elif block.startswith("#"):
        level, _, title = block.partition(" ")
        yield click.style(title, bold=True)
        yield click.style(("=" if level == "#" else "-") * len(title), bold=True)
    else:
        for line in block.split("\n"):
            yield from _wrapped(line, width, rest="  " if line.startswith("- ") else "")


def _records(table: Table, width: int) -> Iterator[str]:
    """One row below the other: the first cell, then each other one under the name of its column."""
    if table.title:
        yield click.style(table.title, bold=True)
        yield ""
    headers, rows = _filled(table)
    margin = "  " + " " * (max(map(len, headers[1:]), default=0) + 2)
    for number, row in enumerate(rows):
        if number and len(headers) > 1:
            yield ""
        names = _wrapped(", ".join(name.replace("`", "") for name in row[0]), width, "", "  ")
        yield from (click.style(line, fg="cyan") for line in names)
        for header, cell in zip(headers[1:], row[1:], strict=True):
            label = f"  {header.lower()}".ljust(len(margin))
            for line in cell:
                yield from _wrapped(line, width, label, margin)
                label = margin


def _wrapped(line: str, width: int, first: str = "", rest: str = "") -> list[str]:
    """A line of Markdown, wrapped; code is not broken between its words."""
    plain = INLINE.sub(_plain, line)
    lines = textwrap.wrap(
        plain, width, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
    )
    return [piece.replace("\0", " ") for piece in lines]


def _plain(found: re.Match[str]) -> str:
    """A mark without itself; the spaces in code become something that is not wrapped at."""
    if found["code"]:
        return found["code"].replace(" ", "\0")
    return found["char"] or (found["link"] or found["em"]).replace("\\", "")
