"""What verifying a program came to, for people."""

from __future__ import annotations

from collections.abc import Iterator

import click

from detlint.tracing import text
from detlint.tracing.curves import curves
from detlint.tracing.losses import Loss, same
from detlint.tracing.verify import Agreement, Outcome, Verification

_WORDS: dict[Outcome, tuple[str, str]] = {
    "equal": ("green", "equal bit for bit"),
    "close": ("yellow", "equal within the tolerance, not bit for bit"),
    "diverged": ("red", "different"),
    "crashed": ("red", "different: one broke off"),
    "unknown": ("yellow", "not comparable"),
}
_AGREEMENTS: dict[Agreement, tuple[str, str]] = {
    "bits": ("green", "fixed, bit for bit"),
    "close": ("yellow", "fixed within {atol:g}, not bit for bit"),
    "no": ("red", "not fixed: other values than within {atol:g}"),
}
_KINDS = {"output": "value", "printed": "line"}
"""What a row of the table is, where it is no iteration."""
_SHOWN = 6


def lines(found: Verification, width: int) -> Iterator[str]:
    """The losses, the verdict, and where the traces part."""
    yield from _table(found)
    if found.forward is not None:
        yield from curves(found.losses, width)
    for name, agreement in (("forward", found.forward), ("backward", found.backward)):
        if agreement is not None:
            colour, words = _AGREEMENTS[agreement]
            iteration = "first" if name == "forward" else "second"
            said = click.style(words.format(atol=found.atol), fg=colour)
            yield f"{name} pass: {said} (by the loss of the {iteration} iteration)"
    if found.how:
        yield f"traced: {found.how}"
    if found.trace is not None:
        yield ""
        yield from text.lines(found.trace)
    if found.said:
        yield ""
        yield found.said
    colour, words = _WORDS[found.outcome]
    why = f": {found.why}" if found.why else ""
    yield f"{click.style('verdict', bold=True)}: {found.what} {click.style(words, fg=colour, bold=True)}{why}"


def _table(found: Verification) -> Iterator[str]:
    """The losses of the first iterations in each run, and those around the first that differs."""
    names = [*dict.fromkeys(name for run in found.losses for name in run)]
    for name in names:
        runs = [run.get(name, []) for run in found.losses]
        if len(names) > 1:
            yield f"{name}:"
        for place in _places(runs):
            values = [run[place] if place < len(run) else None for run in runs]
            said = " ".join(_shown(loss).ljust(22) for loss in values)
            mark = _mark([loss for loss in values if loss is not None])
            kind = _KINDS.get(next(loss.source for loss in values if loss is not None), "iteration")
            yield f"  {kind} {next(loss.iteration for loss in values if loss is not None):<5} {said} {mark}".rstrip()


def _mark(values: list[Loss]) -> str:
    if len(values) < 2:
        return ""
    if all(same(values[0], other) for other in values):
        return "same"
    told = "differs" if len({loss.bits for loss in values}) > 1 else "same, from other parameters"
    return click.style(told, fg="red")


def _places(runs: list[list[Loss]]) -> list[int]:
    count = max(map(len, runs), default=0)
    differing = next(
        (i for i in range(count) if len({(run[i].bits, run[i].state) for run in runs if i < len(run)}) > 1), None
    )
    first = [*range(min(count, _SHOWN))]
    return first if differing is None or differing in first else [*first, differing]


def _shown(loss: Loss | None) -> str:
    return "-" if loss is None else loss.text or f"{loss.value:.17g}"
