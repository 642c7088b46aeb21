"""Text for people: the line with the span marked, the message, the path to it, what to do; then a summary by rule."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Final

import click

from detlint.checks.finding import ORDER, Finding, Report
from detlint.facts.model import Span
from detlint.source import Source

COLOURS: Final = {"error": "red", "warning": "yellow", "note": "cyan"}
FOLDED: Final = frozenset({"DET402", "DET406"})
"""One switch answers them all: in a file they are shown once, with the other lines."""
WIDEST: Final = 160


def shown(path: str) -> str:
    """A path as people type it: relative to where they are, when it is below."""
    here = os.getcwd() + os.sep
    return path.removeprefix(here)


def concise(report: Report, show_notes: bool) -> Iterator[str]:
    """One line a finding, in the form that editors and GNU tools parse."""
    sources = _Sources()
    for finding in _visible(report, show_notes):
        column = sources[finding.path].column(finding.span.line, finding.span.column)
        place = f"{shown(finding.path)}:{finding.span.line}:{column}"
        yield f"{place}: {finding.severity}: {finding.code} {finding.message}"


def full(report: Report, show_notes: bool) -> Iterator[str]:
    """A paragraph a finding, then the summary."""
    sources = _Sources()
    for (_, code), group in groupby(_visible(report, show_notes, by_rule=True), lambda f: (f.path, f.code)):
        findings = [*group]
        step = len(findings) if code in FOLDED and len(findings) > 3 else 1
        for i in range(0, len(findings), step):
            yield from _paragraph(findings[i], findings[i + 1 : i + step], sources)
    yield from summary(report, show_notes)


def _paragraph(finding: Finding, folded: list[Finding], sources: _Sources) -> Iterator[str]:
    source, span = sources[finding.path], finding.span
    colour = COLOURS[finding.severity]
    head = click.style(f"{finding.severity}[{finding.code}]", fg=colour, bold=True)
    yield f"{head} {click.style(finding.message, bold=True)}"
    gutter = len(str(max([span.line, *(s.span.line for s in finding.steps)]))) + 1
    arrow = click.style(" " * (gutter - 1) + "-->", fg="blue")
    yield f"{arrow} {shown(finding.path)}:{span.line}:{source.column(span.line, span.column)}  {click.style(finding.name, dim=True)}"
    bar = click.style(" " * gutter + "|", fg="blue")
    yield bar
    yield from _marked(source, span, gutter, colour)
    if folded:
        lines = sorted({f.span.line for f in folded})
        listed = ", ".join(map(str, lines[:12])) + (", ..." if len(lines) > 12 else "")
        yield f"{bar} and {len(folded)} more of the same rule in this file, line{'s' if len(lines) > 1 else ''} {listed}"
    for step in finding.steps:
        place = f"{shown(step.path)}:{step.span.line}"
        yield f"{click.style(' ' * gutter + '=', fg='blue')} {click.style('path', bold=True)}: {place}: {step.message}"
    if finding.remedy:
        yield f"{click.style(' ' * gutter + '=', fg='blue')} {click.style('help', fg='green', bold=True)}: {finding.remedy}"
    yield ""


def _marked(source: Source, span: Span, gutter: int, colour: str) -> Iterator[str]:
    """The first line of a span, with the marks under it."""
    line = source.line(span.line)
    text = line.expandtabs(4)
    if len(text) > WIDEST:
        text = text[: WIDEST - 3] + "..."
    number = click.style(f"{span.line:>{gutter - 1}} |", fg="blue")
    yield f"{number} {text}".rstrip()
    start = len(line[: source.column(span.line, span.column) - 1].expandtabs(4))
    end_column = span.end_column if span.end_line == span.line else len(line.encode())
    end = len(line[: source.column(span.line, end_column) - 1].expandtabs(4))
    if start < WIDEST:
        marks = "^" * max(1, min(end, WIDEST) - start)
        more = click.style(f" (to line {span.end_line})", dim=True) if span.end_line > span.line else ""
        yield f"{click.style(' ' * gutter + '|', fg='blue')} {' ' * start}{click.style(marks, fg=colour, bold=True)}{more}"


def summary(report: Report, show_notes: bool) -> Iterator[str]:
    """How many findings of each rule, and what was looked at."""
    visible = [*_visible(report, show_notes)]
    if visible:
        yield from statistics(report, show_notes)
        yield ""
    levels = Counter(finding.severity for finding in report.findings)
    counted = [f"{levels[level]} {level}{'s' if levels[level] != 1 else ''}" for level in ("error", "warning") if levels[level]]
    files = f"{report.files} file{'s' if report.files != 1 else ''}"
    notes = levels["note"]
    hint = f"{notes} note{'s' if notes != 1 else ''}" + ("" if show_notes else " (--show-notes lists them)") if notes else ""
    if counted or (show_notes and notes):
        yield f"Found {' and '.join(counted) or 'no problems'} in {files}." + (f" {hint}." if hint else "")
    else:
        yield f"No problems found in {files}." + (f" {hint}." if hint else "")


def statistics(report: Report, show_notes: bool) -> Iterator[str]:
    """A line a rule, most severe and most frequent first."""
    rows = Counter((f.severity, f.code, f.name) for f in _visible(report, show_notes))
    if not rows:
        return
    width = len(str(max(rows.values())))
    name_width = max(len(name) for _, _, name in rows)
    order = sorted(rows.items(), key=lambda row: (-ORDER[row[0][0]], -row[1], row[0][1]))
    for (level, code, name), count in order:
        yield f"{count:>{width}}  {click.style(code, bold=True)}  {name:<{name_width}}  {click.style(level, fg=COLOURS[level])}"


def _visible(report: Report, show_notes: bool, by_rule: bool = False) -> list[Finding]:
    findings = [f for f in report.findings if show_notes or f.severity != "note"]
    if by_rule:
        # Folded rules come together, at the place of their first finding in the file.
        first: dict[tuple[str, str], int] = {}
        for i, f in enumerate(findings):
            first.setdefault((f.path, f.code) if f.code in FOLDED else (f.path, str(i)), i)
        order: Callable[[int], int] = lambda i: first[
            (findings[i].path, findings[i].code) if findings[i].code in FOLDED else (findings[i].path, str(i))
        ]
        return [findings[i] for i in sorted(range(len(findings)), key=lambda i: (order(i), i))]
    return findings


class _Sources(dict[str, Source]):
    """Files are read once, when a finding in them is shown."""

    def __missing__(self, path: str) -> Source:
        source = self[path] = Source(Path(path))
        return source
