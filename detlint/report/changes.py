"""What fixes do to files: as a unified diff, as a list of what was fixed, as the last line."""

from __future__ import annotations

import difflib
import io
from collections.abc import Iterator

import click

from detlint.fixes.fixer import Fixed
from detlint.report.place import shown
from detlint.source import Source


def diff(path: str, before: bytes, after: bytes) -> Iterator[str]:
    """A unified diff of a file, with its line ends; of a notebook, one of each cell's code.

    Args:
        path: the file, as in the report.
    """
    old, new = Source(path, before).parts, Source(path, after).parts
    for cell, text in new.items():
        name = shown(path) if cell is None else f"{shown(path)}:cell {cell}"
        for line in difflib.unified_diff(_lines(old.get(cell, "")), _lines(text), name, name):
            yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


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
