"""A page about two runs: both curves, and the place of the first difference. It is whole in itself."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

from detlint.report import shell
from detlint.report.markup import escaped
from detlint.report.place import shown
from detlint.tracing import excerpt
from detlint.tracing.frameworks import TITLES as FRAMEWORKS
from detlint.tracing.losses import Loss
from detlint.tracing.story import Line, Story, Verdict
from detlint.tracing.text import at
from detlint.tracing.verify import Verification

_WIDTH: Final = 720
_HEIGHT: Final = 260
_LEFT: Final = 70
_BOTTOM: Final = 30
_AROUND: Final = 3
"""Source lines shown above and below."""


def page(told: Verdict | None, found: Verification | None) -> str:
    """The page for the comparison of two traces, for verifying, or for both."""
    title = "Two runs compared" if found is None else "A program verified"
    body = [*(_verified(found) if found is not None else ()), *(_traces(told) if told is not None else ())]
    return shell.page(title, "\n".join(body), STYLE)


def plain(title: str, text: str) -> str:
    """A page with a text."""
    return shell.page(title, f"<pre>{escaped(text)}</pre>", STYLE)


def _verified(found: Verification) -> Iterator[str]:
    good = found.outcome == "equal"
    yield f'<p><span class="chip {"good" if good else "bad"}">{escaped(found.outcome)}</span> {escaped(found.why)}</p>'
    for name, fixed in (("forward pass", found.forward), ("backward pass", found.backward)):
        if fixed is not None:
            word = {
                "bits": "fixed, bit for bit",
                "close": f"fixed within {found.atol:g}, not bit for bit",
                "no": "not fixed",
            }
            yield f'<p>{name}: <span class="{"good" if fixed == "bits" else "bad"}">{word[fixed]}</span></p>'
    for name in dict.fromkeys(name for run in found.losses for name in run):
        runs = [run.get(name, []) for run in found.losses]
        yield f"<h2>Loss, {escaped(name)}</h2>"
        yield from _curves(runs)
        yield from _table(runs)
    if found.how:
        yield f'<p class="dim">traced: {escaped(found.how)}</p>'
    if found.said:
        yield f"<pre>{escaped(found.said)}</pre>"


def _curves(runs: list[list[Loss]]) -> Iterator[str]:
    values = [loss.value for run in runs for loss in run if math.isfinite(loss.value)]
    if not values:
        return
    low, high, last = min(values), max(values), max(max(map(len, runs)) - 1, 1)
    room = (high - low) or 1.0

    def at(place: int, value: float) -> tuple[float, float]:
        x = _LEFT + place / last * (_WIDTH - _LEFT - 10)
        return x, 10 + (high - value) / room * (_HEIGHT - _BOTTOM - 20)

    yield f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="The losses of each run">'
    for value in (low, high):
        y = at(0, value)[1]
        yield f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{value:.6g}</text>'
    for number, run in enumerate(runs):
        points = [at(i, loss.value) for i, loss in enumerate(run) if math.isfinite(loss.value)]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        yield f'<polyline class="run{number % 2}" points="{line}"/>'
        yield from (
            f'<circle class="run{number % 2}" cx="{x:.1f}" cy="{y:.1f}" r="{5 - 2 * (number % 2)}"/>' for x, y in points
        )
    first = _first(runs)
    if first is not None:
        x = at(first, low)[0]
        yield f'<line class="first" x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{_HEIGHT - _BOTTOM}"/>'
        yield f'<text class="bad" x="{x + 5:.1f}" y="{_HEIGHT - 10}">first difference: iteration {first}</text>'
    yield "</svg>"


def _first(runs: list[list[Loss]]) -> int | None:
    count = max(map(len, runs), default=0)
    return next(
        (i for i in range(count) if len({(run[i].bits, run[i].state) for run in runs if i < len(run)}) > 1), None
    )


def _table(runs: list[list[Loss]]) -> Iterator[str]:
    heads = "".join(f"<th>run {i}</th>" for i in range(1, len(runs) + 1))
    yield f"<details><summary>numbers</summary><table><tr><th>iteration</th>{heads}</tr>"
    for i in range(max(map(len, runs), default=0)):
        cells = [f"{run[i].value:.17g}" if i < len(run) else "" for run in runs]
        kind = ' class="bad"' if len({*filter(None, cells)}) > 1 else ""
        yield f"<tr{kind}><td>{i}</td>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
    yield "</table></details>"


def _traces(told: Verdict) -> Iterator[str]:
    yield "<h2>Traces</h2>"
    if told.story is not None:
        yield from _story(told.story)
    yield "<table><tr><th>rank</th><th>framework</th><th>calls</th><th>only in one</th><th>different</th><th>first by</th></tr>"
    for one in told.processes:
        framework = FRAMEWORKS.get(one.framework, one.framework)
        cells = (one.rank, framework, f"{one.rows[0]} / {one.rows[1]}", f"{one.alone[0]} / {one.alone[1]}", one.differing,
                 f"{one.cause} {one.first}" if one.cause else "equal")  # fmt: skip
        yield f"<tr>{''.join(f'<td>{escaped(str(cell))}</td>' for cell in cells)}</tr>"
    yield "</table>"
    for said in (*told.warnings, *told.notes):
        yield f'<p class="dim">{escaped(said)}</p>'


def _story(story: Story) -> Iterator[str]:
    yield f'<p class="head"><span class="chip bad">{escaped(story.code or story.cause)}</span> {escaped(story.headline)}</p>'
    if story.stack:
        yield from _source(story.stack[0])
    rows = [("cause", f"{story.title}: {story.said}"), ("operator", story.operator), ("public API", story.api),
            ("module", story.module), ("when", f"rank {story.rank}, step {story.step}, call {story.row}"),
            ("called from", "\n".join(map(at, story.stack))), ("backward run by", at(story.caller) if story.caller else ""),
            ("forward pass", "\n".join(map(at, story.forward))),
            ("inputs", "\n".join(f"{'differs' if i.differs else 'same'}: {i.value} from {i.origin}"
                                 f"{f' ({at(i.place)})' if i.place else ''}" for i in story.inputs)),
            ("also", "\n".join(story.origins)), ("rule", f"{story.code} {story.name} {story.message}".strip()),
            ("linter", "\n".join(f"{shown(f.file)}:{f.line}: {f.code} {f.message}" for f in story.findings)),
            ("help", story.help)]  # fmt: skip
    yield "<table>"
    for name, value in rows:
        if value:
            yield f'<tr><th>{name}</th><td class="lines">{escaped(value)}</td></tr>'
    yield "</table>"


def _source(line: Line) -> Iterator[str]:
    texts = [(n, excerpt.line(line.file, n)) for n in range(max(1, line.line - _AROUND), line.line + _AROUND + 1)]
    if not any(text for _, text in texts):
        return
    yield f'<p class="dim">{escaped(at(line))}</p><pre>'
    for number, text in texts:
        if text:
            row = f"{number:5} {escaped(text.rstrip())}"
            yield f'<span class="here">{row}</span>' if number == line.line else row
    yield "</pre>"


STYLE: Final = """\
svg { width: 100%; height: auto; font-size: 12px; } svg text { fill: var(--dim); }
polyline { fill: none; stroke-width: 2; } polyline.run0 { stroke: var(--blue); } polyline.run1 { stroke: var(--orange); }
circle.run0 { fill: var(--blue); } circle.run1 { fill: var(--orange); }
.grid { stroke: var(--line); } .first { stroke: var(--bad); stroke-dasharray: 4; } svg text.bad { fill: var(--bad); }
pre { background: var(--code); padding: .6em; overflow-x: auto; font: 13px/1.5 ui-monospace, Consolas, monospace; }
.here { display: inline-block; min-width: 100%; background: color-mix(in srgb, var(--bad) 18%, transparent); }
table { border-collapse: collapse; } th, td { text-align: left; vertical-align: top; padding: .25em .8em .25em 0; }
th { font-weight: 600; white-space: nowrap; } .lines { white-space: pre-line; overflow-wrap: anywhere; }
.dim { color: var(--dim); } .good { color: var(--good); } .bad { color: var(--bad); } .head { font-weight: 600; }
"""
