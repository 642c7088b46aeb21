"""The comparison of two runs, for people."""

from __future__ import annotations

from collections.abc import Iterator

import click

from detlint.report.place import shown
from detlint.tracing import excerpt
from detlint.tracing.calls import Place
from detlint.tracing.story import Line, Story, Verdict
from detlint.visible import visible

_LABEL = 8
_FORWARD = 2
"""Lines of a forward pass that are shown where another line is to blame: of a function's own `forward`, and what calls it."""
_APART = 4
"""So many calls are shown that differ though no loss is made of them."""


def lines(told: Verdict) -> Iterator[str]:
    """A paragraph about the first difference, then each process in a line, then what else there is to say."""
    if told.story is not None:
        yield from _story(told.story, len(told.processes) > 1)
        yield ""
    ranks, frameworks = {one.rank for one in told.processes}, {one.framework for one in told.processes}
    for process in told.processes:
        parts = [f"rank {process.rank}"] * (len(ranks) > 1) + [process.framework] * (len(frameworks) > 1)
        name = visible(f"{', '.join(parts)}: ") if parts else ""
        yield f"{name}{_counts(process.rows, process.alone, process.differing)}" + (
            f"; first by {process.cause}: {visible(process.first)}"
            if not process.equal and len(told.processes) > 1
            else ""
        )
    if told.apart:
        calls = ", ".join(visible(call) for call in told.apart[:_APART])
        more = f" and {len(told.apart) - _APART} more" if len(told.apart) > _APART else ""
        differ = "differs" if len(told.apart) == 1 else "differ"
        yield f"{click.style('apart', fg='cyan', bold=True)}: no loss is made of {calls}{more}, which {differ}, too"
    for said in told.warnings:
        yield f"{click.style('warning', fg='yellow', bold=True)}: the runs differ in {visible(said)}"
    for said in told.notes:
        yield f"{click.style('note', fg='cyan', bold=True)}: {visible(said)}"
    verdict = (
        click.style("equal", fg="green", bold=True) if told.equal else click.style("different", fg="red", bold=True)
    )
    yield f"The runs are {verdict}, {'bit for bit' if told.equal else 'as told above'}."


def _counts(rows: tuple[int, int], alone: tuple[int, int], differing: int) -> str:
    if rows[0] == rows[1] and not any(alone):
        return f"{rows[0]:,} calls, {differing:,} of them different"
    return f"{rows[0]:,} and {rows[1]:,} calls; {alone[0]:,} and {alone[1]:,} only in one; {differing:,} different"


def _story(story: Story, several: bool) -> Iterator[str]:
    label = story.code or story.cause
    yield f"{click.style(f'first difference[{visible(label)}]', fg='red', bold=True)}: {click.style(visible(story.headline), bold=True)}"
    if story.stack:
        yield from _source(story.stack[0])
    yield from _row("cause", f"{story.title}: {story.said}")
    yield from _row("operator", _operator(story))
    yield from _row("when", f"step {story.step}, call {story.row}" + (f", rank {story.rank}" if several else ""))
    for line in story.stack[1:]:
        yield from _row("from", at(line))
    for line in story.within:
        yield from _row("within", at(line))
    if story.reached:
        yield from _row(
            "reaches", story.reached + (f" ({at(story.reached_at)})" if story.reached_at is not None else "")
        )
    if story.caller is not None:
        yield from _row("run by", at(story.caller))
    for line in story.forward[:_FORWARD]:
        yield from _row("forward", at(line))
    for i, given in enumerate(story.inputs):
        state = click.style("differs", fg="red") if given.differs else "same"
        place = f" ({at(given.place)})" if given.place is not None else ""
        yield from _row(f"input {i}", f": {given.value} from {given.origin}{place}", state=state)
    for origin in story.origins:
        yield from _row("also", f"{origin} gives something else for the same")
    if story.code:
        said = f": {story.message}" if story.message and not story.near else ""
        yield from _row("rule", f"{story.code} {story.name}{said}")
    for found in story.findings:
        yield from _row("linter", f"{shown(found.file)}:{found.line}: {found.severity} {found.code} {found.message}")
    if story.help:
        yield from _row("help", story.help, "green")


def _operator(story: Story) -> str:
    module = f", in module `{story.module}`" if story.module else ""
    if story.backward and (story.caller is not None or not story.api):
        return f"{story.operator}, in the backward pass{f' of {story.api}' if story.api else ''}{module}"
    return story.operator + (f", called by {story.api}" if story.api else "") + module


def _source(line: Line) -> Iterator[str]:
    gutter = len(str(line.line)) + 1
    bar = click.style(" " * gutter + "|", fg="blue")
    yield f"{click.style(' ' * (gutter - 1) + '-->', fg='blue')} {at(line)}"
    text = visible(excerpt.line(line.file, line.line).rstrip().expandtabs(4))
    if text:
        yield bar
        yield f"{click.style(f'{line.line} |', fg='blue')} {text}"
        yield bar


def _row(label: str, text: str, colour: str = "", state: str = "") -> Iterator[str]:
    yield f"  {click.style('=', fg='blue')} {click.style(label.ljust(_LABEL), bold=True, fg=colour or None)} {state}{visible(text)}"


def at(line: Line | Place) -> str:
    """A line of the program: `train.py:12 main`."""
    return f"{shown(line.file)}:{line.line} {visible(line.function)}".rstrip()
