"""Parts of sources as HTML: the lines around a finding with the span marked, and the lines of a diff."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeVar

from detlint.checks.finding import Finding
from detlint.notebook import cell_of
from detlint.report.markup import escaped
from detlint.report.place import Sources, line_in

BEFORE: Final = 2
BEHIND: Final = 1
MOST_LINES: Final = 8
"""Lines of source before, after and within what is found."""
WIDEST: Final = 200
_T = TypeVar("_T")


def source(sources: Sources, finding: Finding) -> str:
    """The lines around what is found, in a notebook those of its cell; "" where there are none."""
    file, span, cells = sources[finding.path], finding.span, sources.cells.get(finding.path, ())
    last = min(span.end_line, span.line + MOST_LINES - 1)
    around = range(max(1, span.line - BEFORE), min(last + BEHIND, len(file.lines)) + 1)
    lines = {n: file.line(n) for n in around if not cells or cell_of(cells, n) is cell_of(cells, span.line)}
    margin, told = _margin(lines.values()), list[str]()
    for number in _filled([*lines], lines.__getitem__):
        text, start, end = lines[number], 0, 0
        if span.line <= number <= last:
            start = file.column(number, span.column) - 1 if number == span.line else len(text) - len(text.lstrip())
            end = file.column(number, span.end_column) - 1 if number == span.end_line else len(text)
        label = line_in(cells, number).rpartition(":")[2]
        told.append(f"<span>{label}</span>{_marked(text, max(start, margin), end, margin)}")
    inside = "\n".join(told)
    return f'<pre class="source" tabindex="0" aria-label="Source">{inside}</pre>' if told else ""


def diff(lines: Sequence[str]) -> str:
    """The lines of a diff; the sign before each says what its colour does."""
    kept = _filled(lines, str)
    margin = _margin(line[1:] for line in kept)
    told = "\n".join(_changed(line[:1], cut(line[1 + margin :])) for line in kept)
    return f'<pre class="diff" tabindex="0" aria-label="Changes">{told}</pre>'


def cut(text: str) -> str:
    """A line without what makes it too long."""
    return text if len(text) <= WIDEST else text[: WIDEST - 1] + "\u2026"


def _changed(sign: str, text: str) -> str:
    tag = {"+": "ins", "-": "del"}.get(sign)
    line = f"{sign} {escaped(text)}"
    return f"<{tag}>{line}</{tag}>" if tag else line


def _marked(text: str, start: int, end: int, margin: int) -> str:
    """A line without its margin, with a part of it marked; the ends of long lines are left out."""
    left = max(margin, start - WIDEST // 2) if len(text) > WIDEST else margin
    right = min(len(text), left + WIDEST)
    start, end = (min(max(at, left), right) for at in (start, end))
    marked = f"<mark>{escaped(text[start:end])}</mark>" if start < end else ""
    parts = escaped(text[left:start]), marked, escaped(text[end:right])
    return ("\u2026" if left > margin else "") + "".join(parts) + ("\u2026" if right < len(text) else "")


def _filled(items: Sequence[_T], line: Callable[[_T], str]) -> Sequence[_T]:
    """Some lines without the empty ones at their ends."""
    filled = [number for number, item in enumerate(items) if line(item).strip()]
    return items[filled[0] : filled[-1] + 1] if filled else ()


def _margin(lines: Iterable[str]) -> int:
    """How many blanks or tabs all lines begin with that aren't empty."""
    margins = [line[: len(line) - len(line.lstrip())] for line in lines if line.strip()]
    first, last = min(margins, default=""), max(margins, default="")
    return next((at for at, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
