"""The seed flow of a run as HTML: a lane for each stream, and the functions that the run passes as nested lists."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Final, NamedTuple

from detlint.inspect import Traced
from detlint.report.graph import Drawn, Node
from detlint.report.markup import counted, escaped

MOST_NODES: Final = 200
"""Steps of a run that are listed."""
MOST_MARKS: Final = 40
"""Things that happen one after the other and are drawn; neighbours of one kind in one stream are one."""
STEP: Final = 16
HEIGHT: Final = 18
WORDS: Final = {
    ("seeds", "fixed"): ("good", "seeded"),
    ("seeds", "late"): ("bad", "seeded too late"),
    ("seeds", "optional"): ("doubt", "seeded if an option says so"),
    ("seeds", "entropy"): ("bad", "seeded differently in every run"),
    ("draws", "drawn"): ("bad", "drawn unseeded"),
    ("draws", "seeded"): ("good", "drawn seeded"),
    ("draws", "optional"): ("doubt", "drawn, seeded only if an option says so"),
    ("draws", "entropy"): ("bad", "drawn, seeded differently in every run"),
}
"""What happens to a stream, in which state -> what that means, and in words."""


class _Mark(NamedTuple):
    """The same thing that happens to a stream one or several times on end."""

    stream: str
    verb: str
    state: str
    column: int


def lanes(run: Traced) -> Iterator[str]:
    """What becomes of each stream, from left to right; the words beside a lane say what its picture shows."""
    told = [
        (event.name, event.kind, "late" if event.late else str(event.state))
        for event in run.root.events()
        if event.kind in ("seeds", "draws") and (event.kind, str(event.state)) in WORDS
    ]
    marks = [_Mark(*key, column) for column, (key, _) in enumerate(groupby(told))]
    if not marks:
        return
    counts = Counter(told)
    width = STEP * min(len(marks), MOST_MARKS)
    yield '<table class="lanes"><caption class="unseen">What the run does with each stream of random numbers</caption>'
    for stream in dict.fromkeys(mark.stream for mark in marks):
        own = [mark for mark in marks if mark.stream == stream]
        words = "; ".join(_words(verb, state, n) for (name, verb, state), n in counts.items() if name == stream)
        yield f'<tr><th scope="row">{escaped(stream)}</th><td>{_lane(own, width)}</td><td>{escaped(words)}</td></tr>'
    yield "</table>"


def _words(verb: str, state: str, times: int) -> str:
    said = WORDS[verb, state][1]
    return said if times == 1 else f"{said} ({times} times)"


def _lane(marks: Sequence[_Mark], width: int) -> str:
    """A line that is dotted until the stream is seeded, with a diamond for a seeding, a circle for a draw that repeats and a
    cross for one that doesn't."""
    middle = HEIGHT // 2
    seeded = next((m.column for m in marks if m.verb == "seeds" and m.state in ("fixed", "late")), MOST_MARKS)
    turn = min(seeded * STEP + STEP // 2, width)
    parts = [f'<path class="open" d="M0 {middle}H{turn}"/>']
    if turn < width:
        parts.append(f'<path class="line" d="M{turn} {middle}H{width}"/>')
    for mark in marks:
        if mark.column < MOST_MARKS:
            kind, x = WORDS[mark.verb, mark.state][0], mark.column * STEP + STEP // 2
            parts.append(_sign(mark.verb, kind, x, middle))
    return f'<svg width="{width}" height="{HEIGHT}" aria-hidden="true" focusable="false">{"".join(parts)}</svg>'


def _sign(verb: str, kind: str, x: int, y: int) -> str:
    if verb == "seeds":
        return f'<path class="{kind} seed" d="M{x} {y - 6}l6 6-6 6-6-6z"/>'
    if kind == "good":
        return f'<circle class="good draw" cx="{x}" cy="{y}" r="4"/>'
    if kind == "doubt":
        return f'<path class="doubt draw" d="M{x - 4} {y + 4}l4-8 4 8z"/>'
    return f'<path class="bad draw" d="M{x - 4} {y - 4}l8 8m0-8l-8 8"/>'


def tree(run: Traced, name: Callable[[str], str]) -> Iterator[str]:
    """The functions on the way to something that touches a stream or a switch, in the order of execution.

    Args:
        name: how paths are written.
    """
    drawn = Drawn(name)
    drawn.add(run)
    nodes = {node.name: node for node in drawn.nodes.values()}
    inner: dict[str, list[str]] = {}
    for above, below in drawn.edges:
        inner.setdefault(above, []).append(below)
    seen: set[str] = set()

    def listed(at: str) -> Iterator[str]:
        again = at in seen
        seen.add(at)
        yield f"<li>{_node(nodes[at])}"
        if again and inner.get(at):
            yield ' <span class="dim">as before</span>'
        elif inner.get(at):
            yield "<ul>"
            for below in inner[at]:
                if len(seen) < MOST_NODES:
                    yield from listed(below)
            yield "</ul>"
        yield "</li>"

    yield '<ul class="tree">'
    yield from listed(next(iter(nodes)))
    yield "</ul>"
    if len(nodes) > MOST_NODES:
        yield f'<p class="dim">{counted(len(nodes) - MOST_NODES, "step")} more: <code>detlint graph</code> has them.</p>'


def _node(node: Node) -> str:
    first, *rest = node.lines()
    where = f' <span class="dim">{escaped(", ".join(rest))}</span>' if rest else ""
    return f'<span class="{node.kind}">{escaped(first)}</span>{where}'
