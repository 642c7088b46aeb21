"""What fixes do to files: as a unified diff, as a list of what was fixed, as the last line."""

from __future__ import annotations

import difflib
import io
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, groupby
from typing import TYPE_CHECKING, Final, NamedTuple

import click

from detlint.fixes.fixer import Fixed
from detlint.report.place import shown
from detlint.source import Source
from detlint.visible import visible

if TYPE_CHECKING:
    from detlint.report.view import Replacement

AROUND: Final = 1
"""Lines shown before and after what a fix changes."""


def diff(path: str, before: bytes, after: bytes) -> Iterator[str]:
    """A unified diff of a file, with its line ends; of a notebook, one of each cell's code.

    Args:
        path: the file, as in the report.
    """
    old, new = Source(path, before).parts, Source(path, after).parts
    for cell, text in new.items():
        name = _name(path) if cell is None else f"{_name(path)}:cell {cell}"
        for line in difflib.unified_diff(_lines(old.get(cell, "")), _lines(text), name, name):
            yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _name(path: str) -> str:
    """A file's name as git and `patch` read it: in C's quotes where it has control characters, or is none of UTF-8."""
    raw = path.removeprefix(os.getcwd().rstrip(os.sep) + os.sep)
    if visible(raw) == raw:
        return raw
    signs = (chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\' else f"\\{byte:03o}" for byte in os.fsencode(raw))
    return f'"{"".join(signs)}"'


class Hunk(NamedTuple):
    """Neighbouring lines that a fix changes, with a line before and one after.

    Attributes:
        lines: each as `-`, `+` or a blank, and the line without its end.
    """

    path: str
    cell: int | None
    line: int
    lines: list[str]


def hunks(replacements: Iterable[Replacement], sources: Mapping[str, Source]) -> Iterator[Hunk]:
    """What a fix changes, as in a unified diff. Only the lines around its edits are compared: files are long."""
    for (path, cell), made in groupby(replacements, key=lambda one: (one.path, one.start.cell)):
        lines = _lines(sources[path].parts.get(cell, ""))
        groups: list[list[Replacement]] = []
        for one in sorted(made, key=lambda one: (one.start, one.end)):
            if groups and one.start.line - groups[-1][-1].end.line <= 2 * AROUND:
                groups[-1].append(one)
            else:
                groups.append([one])
        for group in groups:
            first = max(1, group[0].start.line - AROUND)
            old = lines[first - 1 : group[-1].end.line + AROUND]
            new = _lines(_replaced("".join(old), group, old, first))
            compared = [*difflib.unified_diff(old, new, n=AROUND)][2:]
            yield Hunk(path, cell, first, [line.rstrip("\r\n") for line in compared if not line.startswith("@@")])


def _replaced(text: str, made: Sequence[Replacement], lines: Sequence[str], first: int) -> str:
    """Some lines with what is put into them; the first has a number."""
    starts = [0, *accumulate(map(len, lines))]
    for one in reversed(made):
        start, end = (starts[min(place.line - first, len(lines))] + place.column - 1 for place in (one.start, one.end))
        text = text[:start] + one.text + text[end:]
    return text


def _lines(text: str) -> list[str]:
    return [*io.StringIO(text, newline="")]


def coloured(line: str) -> str:
    """A line of a diff as a terminal shows it."""
    kinds = {
        "+++": {"bold": True},
        "---": {"bold": True},
        "@@ ": {"fg": "cyan"},
        "+": {"fg": "green"},
        "-": {"fg": "red"},
    }
    style = next((style for start, style in kinds.items() if line.startswith(start)), {})
    return click.style(line.rstrip("\n"), **style) + "\n" * line.endswith("\n") if style else line  # type: ignore[arg-type]


def would(fixed: Fixed) -> str:
    """How much would be fixed."""
    total = sum(fixed.counts.values())
    if not total:
        return "Nothing can be fixed."
    files = len(fixed.texts)
    return f"Would fix {total} finding{'s' * (total != 1)} in {files} file{'s' * (files != 1)}."


def listed(fixed: Fixed) -> Iterator[str]:
    """How many findings of each rule were fixed, file by file."""
    total = sum(fixed.counts.values())
    yield f"Fixed {total} finding{'s' * (total != 1)}:"
    for path in dict.fromkeys(path for path, _, _ in sorted(fixed.counts)):
        yield f"- {shown(path)}:"
        for (at, code, name), count in sorted(fixed.counts.items()):
            if at == path:
                yield f"    {count} × {click.style(code, bold=True)} ({name})"
    yield ""
