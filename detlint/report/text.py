"""Text for people: the line with the span marked, the message, the path to it, what to do; then a summary by rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

import click

from detlint.checks.finding import ORDER, Finding, Report
from detlint.model.sites.records import Span
from detlint.report.place import Sources, line_in, shown
from detlint.report.view import View
from detlint.source import Source
from detlint.visible import visible

COLOURS: Final = {"error": "red", "warning": "yellow", "note": "cyan"}
SWITCHED: Final = frozenset({"DET402", "DET406"})
"""One switch answers them all: they are shown once, with where else they stand."""
FEWEST: Final = 4
"""So many findings in the same words, none with a path of its own, are shown once too; of those about whole runs it is the cause that
counts, wherever they start."""
OF_RUNS: Final = 6
"""The family of what whole runs are told."""
MOST_FILES: Final = 8
WIDEST: Final = 160


def lines(view: View) -> Iterator[str]:
    """A paragraph a finding, then the summary. What one switch answers, and what is said in the same words again and again, is
    shown once, with where else it stands."""
    visible = view.findings
    alike: dict[tuple[str, str], list[Finding]] = {}
    for finding in visible:
        alike.setdefault(_kind(finding), []).append(finding)
    for finding in visible:
        others = alike[_kind(finding)]
        own_path = finding.steps and finding.family != OF_RUNS
        if len(others) < FEWEST or own_path or not view.fold:
            yield from _paragraph(finding, [], view)
        elif finding is others[0]:
            yield from _paragraph(finding, others[1:], view)
    yield from summary(view)


def _kind(finding: Finding) -> tuple[str, str]:
    """What findings have in common that are shown as one."""
    if finding.code in SWITCHED:
        return finding.code, ""
    message = finding.message.partition(";")[0] if finding.family == OF_RUNS else finding.message
    return finding.code, f"{message}\n{finding.remedy}{finding.severity}"


def _paragraph(finding: Finding, folded: list[Finding], view: View) -> Iterator[str]:
    sources = view.sources
    span, start = finding.span, sources.start(finding.path, finding.span)
    colour = COLOURS[finding.severity]
    head = click.style(f"{finding.severity}[{finding.code}]", fg=colour, bold=True)
    yield f"{head} {click.style(visible(finding.message), bold=True)}"
    gutter = len(str(start.line)) + 1
    arrow = click.style(" " * (gutter - 1) + "-->", fg="blue")
    name = click.style(visible(finding.name), dim=True)
    yield f"{arrow} {sources.line(finding.path, span.line)}:{start.column}  {name}"
    bar, mark = click.style(" " * gutter + "|", fg="blue"), click.style(" " * gutter + "=", fg="blue")
    yield bar
    end = sources.end(finding.path, span).line if span.end_line > span.line else None
    yield from _marked(sources[finding.path], span, start.line, end, gutter, colour)
    for step in finding.steps:
        yield f"{mark} {click.style('path', bold=True)}: {sources.line(step.path, step.span.line)}: {visible(step.message)}"
    if finding.remedy:
        yield f"{mark} {click.style('help', fg='green', bold=True)}: {visible(finding.remedy)}"
    made, refused = view.fix(finding), view.refused(finding)
    if refused:
        yield f"{mark} {click.style('fix', fg='green', bold=True)}: not made here: {visible(refused)}"
    elif made is not None and finding.fix is not None and made.applicability != "display":
        option = "--fix" if made.applicability == "safe" else "--fix --unsafe-fixes"
        yield f"{mark} {click.style('fix', fg='green', bold=True)}: {option} can {visible(made.message[0].lower() + made.message[1:])}"
    if folded:
        yield from _elsewhere(folded, mark, sources)
    yield ""


def _elsewhere(folded: list[Finding], mark: str, sources: Sources) -> Iterator[str]:
    """Where else the same rule was found, file by file."""
    files = Counter(finding.path for finding in folded)
    why = "which the same switch answers" if folded[0].code in SWITCHED else "in the same words"
    why = "for the same cause" if folded[0].family == OF_RUNS else why
    yield f"{mark} {click.style('also', bold=True)}: {len(folded)} more, {why}; --no-fold lists them"
    for path, count in files.most_common(MOST_FILES):
        cells = sources.cells.get(path, ())
        lines = [line_in(cells, finding.span.line) for finding in folded if finding.path == path]
        listed = ", ".join(lines[:6]) + (f" and {len(lines) - 6} more" if len(lines) > 6 else "")
        word = "" if cells else "lines " if count > 1 else "line "
        yield f"{mark}       {shown(path)}: {word}{listed}"
    if len(files) > MOST_FILES:
        yield f"{mark}       and {len(files) - MOST_FILES} more files"


def _marked(source: Source, span: Span, number: int, last: int | None, gutter: int, colour: str) -> Iterator[str]:
    """The first line of a span, with the marks under it.

    Args:
        number: the line as it is counted for people, and `last` the span's last one where that is another.
    """
    line = source.line(span.line)
    text = visible(line.expandtabs(4))
    if len(text) > WIDEST:
        text = text[: WIDEST - 3] + "..."
    head = click.style(f"{number:>{gutter - 1}} |", fg="blue")
    yield f"{head} {text}".rstrip()
    start = _width(line[: source.column(span.line, span.column) - 1])
    end_column = span.end_column if span.end_line == span.line else len(line.encode())
    end = _width(line[: source.column(span.line, end_column) - 1])
    if start < WIDEST:
        marks = "^" * max(1, min(end, WIDEST) - start)
        more = click.style(f" (to line {last})", dim=True) if last is not None else ""
        yield f"{click.style(' ' * gutter + '|', fg='blue')} {' ' * start}{click.style(marks, fg=colour, bold=True)}{more}"


def _width(text: str) -> int:
    return len(visible(text.expandtabs(4)))


def summary(view: View) -> Iterator[str]:
    """How many findings of each rule, and what was looked at."""
    report, show_notes = view.report, view.show_notes
    if view.findings:
        yield from _counts(view)
        yield ""
    levels = Counter(finding.severity for finding in report.findings)
    counted = [
        f"{levels[level]} {level}{'s' if levels[level] != 1 else ''}" for level in ("error", "warning") if levels[level]
    ]
    files = f"{report.files} file{'s' if report.files != 1 else ''}"
    notes = levels["note"]
    hint = (
        f"{notes} note{'s' if notes != 1 else ''}" + ("" if show_notes else " (--show-notes lists them)")
        if notes
        else ""
    )
    if not report.files:
        yield "No files to check: there is nothing here that detlint reads, or it is excluded or ignored by git (--show-settings)."
        return
    if counted or (show_notes and notes):
        said = f"Found {' and '.join(counted) or 'no problems'} in {files}"
    else:
        said = f"No problems {'left' if report.fixed else 'found'} in {files}"
    if report.fixed:
        said += f"; {report.fixed} fixed"
    yield said + "." + (f" {hint}." if hint else "")
    yield from _fixable(view)
    if report.earlier:
        yield f"{report.earlier} more {'was' if report.earlier == 1 else 'were'} there before the change."
    if report.baselined or report.stale:
        yield _of_the_baseline(report)


def _fixable(view: View) -> Iterator[str]:
    """How many of the findings `--fix` repairs, as it is asked for or with what it may do besides."""
    safe, unsafe = view.fixable
    if view.config.settings.unsafe_fixes:
        safe, unsafe = safe + unsafe, 0
    if safe or unsafe:
        more = f"; {unsafe} more with --unsafe-fixes" if unsafe and safe else ""
        yield f"{safe} fixable with --fix{more}." if safe else f"{unsafe} fixable with --fix --unsafe-fixes."


def _of_the_baseline(report: Report) -> str:
    said = f"The baseline has {report.baselined} more"
    if report.stale:
        said += f", and {report.stale} that {'is' if report.stale == 1 else 'are'} found no more"
        return f"{said}: `detlint baseline --prune` drops {'it' if report.stale == 1 else 'them'}."
    return f"{said}."


def statistics(view: View) -> Iterator[str]:
    """The number of findings of each rule, and how many of them can be repaired."""
    yield from _counts(view)
    yield from _fixable(view)


def _counts(view: View) -> Iterator[str]:
    """A line a rule, most severe and most frequent first."""
    rows = Counter((f.severity, f.code, visible(f.name)) for f in view.findings)
    if not rows:
        return
    width = len(str(max(rows.values())))
    name_width = max(len(name) for _, _, name in rows)
    order = sorted(rows.items(), key=lambda row: (-ORDER[row[0][0]], -row[1], row[0][1]))
    for (level, code, name), count in order:
        yield f"{count:>{width}}  {click.style(code, bold=True)}  {name:<{name_width}}  {click.style(level, fg=COLOURS[level])}"
