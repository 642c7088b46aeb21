"""What fixes do to files: as a unified diff, as a list of what was fixed, as the last line."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator

import click

from detlint.fixes.fixer import Fixed
from detlint.notebook import is_notebook
from detlint.report.place import shown
from detlint.source import Source


def diff(path: str, before: bytes, after: bytes) -> Iterator[str]:
    """A unified diff of a file, with its line ends; of a notebook, of its cells' code.

    Args:
        path: the file, as in the report.
    """
    old, new = _lines(path, before), _lines(path, after)
    for line in difflib.unified_diff(old, new, shown(path), shown(path)):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _lines(path: str, data: bytes) -> list[str]:
    if is_notebook(path):
        cells = json.loads(data)["cells"]
        return [line for cell in cells for line in ("".join(cell["source"]) + "\n").splitlines(keepends=True)]
    source = Source(path, data)
    return data.decode(source.encoding, "replace").splitlines(keepends=True)


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
