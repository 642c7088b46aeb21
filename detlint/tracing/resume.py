"""Tells whether a program that is broken off and started again goes on as if it had not been, and what it lacks if it doesn't."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Literal

import click
import msgspec

from detlint.runtime.launch import NotStarted
from detlint.tracing import losses, resumption
from detlint.tracing.losses import Loss
from detlint.tracing.output_tail import last
from detlint.tracing.snapshot import TITLES, Kind, Part
from detlint.tracing.start import Program, TimedOut
from detlint.tracing.watch import Watch

RUN: Final = "{run}"
"""In a program's arguments: a folder that the run which is broken off shares with the one that goes on, and with no other."""
_DRAWN: Final[tuple[Kind, ...]] = ("stream", "generator")
_FED: Final[tuple[Kind, ...]] = (*_DRAWN, "order", "data")
"""What matters only where something is drawn from it, or given by it."""
_FOLLOWING: Final[tuple[Kind, ...]] = ("buffers", "data")
"""What differs because something else does."""


class Missing(msgspec.Struct, frozen=True):
    """Something that the program doesn't restore."""

    kind: Kind
    name: str
    process: str

    @property
    def said(self) -> str:
        """It, in words."""
        return TITLES[self.kind].format(self.name)


class Resumed(msgspec.Struct, kw_only=True):
    """What came of it.

    Attributes:
        at: the iteration after which the checkpoint was written that the program went on from.
        losses: by process: the losses from there on, of the whole run and of the one that went on.
        missing: what it lacks, the most telling first.
        idle: what it lacks without any effect in the iterations that were compared.
        why: for `unknown`.
    """

    outcome: Literal["equal", "different", "unknown"]
    at: int = 0
    losses: dict[str, tuple[list[Loss], list[Loss]]] = {}
    missing: list[Missing] = []
    idle: list[Missing] = []
    why: str = ""
    said: str = ""

    @property
    def code(self) -> int:
        """The exit code."""
        return {"equal": 0, "different": 1, "unknown": 2}[self.outcome]


class _Unknown(Exception):
    """Why nothing can be told, and the last lines of the run that it is due to."""


def resumed(
    program: Program, folder: Path, at: int, iterations: int, again: str, tell: Callable[[str], None] = print
) -> Resumed:
    """Run a program to an iteration, start it again, and compare it with one that is not broken off.

    Args:
        at: before which iteration's loss it is broken off.
        iterations: how many are compared.
        again: further arguments with which it goes on.

    Raises:
        NotStarted: nothing can be run, or both runs would find the same checkpoint.
    """
    if not again and not any(RUN in argument for argument in program.arguments):
        raise NotStarted(
            f"say how the program goes on: --resume-with gives the arguments for that; or let it write to `{RUN}`, "
            f"as in `train.py --output {RUN}`, which is a folder of its own for each of the two runs that are compared"
        )
    runs = _Runs(program, folder, tell)
    try:
        return _compared(runs, at, iterations, again)
    except _Unknown as error:
        return Resumed(outcome="unknown", why=str(error.args[0]), said=str(error.args[1]) if error.args[1:] else "")


class _Runs:
    """Runs a program in its three ways."""

    def __init__(self, program: Program, folder: Path, tell: Callable[[str], None]) -> None:
        self.program = program
        self.folder = folder
        self.tell = tell

    def run(self, way: Literal["stopped", "resumed", "whole"], at: int, iterations: int, again: str = "") -> Path:
        """Where a run has left what was noted of it."""
        into = self.folder / way
        into.mkdir(parents=True)
        own = self.folder / ("run-whole" if way == "whole" else "run-resumed")
        own.mkdir(exist_ok=True)
        arguments = (*self.program.arguments, *shlex.split(again))
        program = replace(self.program, arguments=tuple(argument.replace(RUN, str(own)) for argument in arguments))
        watch = Watch(losses=str(into), iterations=iterations, resuming=way, at=at)
        try:
            code = program.run(watch, into / "output.txt")
        except TimedOut as error:
            raise _Unknown(f"the {way} run {error}", last(into / "output.txt")) from None
        if code:
            raise _Unknown(f"the {way} run failed with exit code {code}", last(into / "output.txt"))
        return into


def _compared(runs: _Runs, at: int, iterations: int, again: str) -> Resumed:
    runs.tell(f"a run that is broken off after {at} iterations")
    stopped = runs.run("stopped", at, 0)
    seen = _losses(stopped)
    if not seen:
        raise _Unknown(
            "no loss was seen, and so no iteration; call `detlint.runtime.log(loss=...)` in it",
            last(stopped / "output.txt"),
        )
    if all(found[-1].iteration < at - 1 for found in seen.values()):
        done = max(found[-1].iteration for found in seen.values()) + 1
        raise _Unknown(f"the program ends after {done} iterations; --resume-at must be less")
    saved = {name: resumption.read(resumption.path(stopped, name, "saved")) for name in seen}
    saves = [state.iteration for state in saved.values() if state is not None]
    since = max(saves, default=at)
    if since == 0:
        raise _Unknown(f"no checkpoint was written in the first {at} iterations")
    runs.tell(f"the run that goes on from the checkpoint of iteration {since}")
    after = runs.run("resumed", 0, iterations, again)
    runs.tell("a run that is not broken off")
    whole = runs.run("whole", since, since + iterations)
    return _judged(since, (stopped, after, whole), iterations)


def _judged(since: int, folders: tuple[Path, Path, Path], iterations: int) -> Resumed:
    _, after, whole = folders
    ours, others = _losses(whole), _losses(after)
    result = Resumed(outcome="equal", at=since)
    for name in sorted(ours.keys() & others.keys()):
        rest = [loss for loss in ours[name] if loss.iteration >= since]
        result.losses[name] = (rest, others[name][: len(rest)])
    if not any(one and other for one, other in result.losses.values()):
        raise _Unknown("the run that went on computed no loss: had it come to its end?", last(after / "output.txt"))
    differs = any(
        (a.bits, a.state if a.state and b.state else "") != (b.bits, b.state if a.state and b.state else "")
        for one, other in result.losses.values()
        for a, b in zip(one, other, strict=False)
    )
    lacks = [missing for name in result.losses for missing in _missing(name, folders, differs)]
    result.missing = [missing for missing in lacks if differs or missing.kind not in _FED]
    result.idle = [missing for missing in lacks if missing not in result.missing]
    result.outcome = "different" if differs or result.missing else "equal"
    return result


def _missing(name: str, folders: tuple[Path, Path, Path], differs: bool) -> list[Missing]:
    """What differs where the run went on from what the whole run has there."""
    stopped, after, whole = folders
    expected, found = (_parts(folder, name, "loss") for folder in (whole, after))
    saved, begun = _parts(stopped, name, "saved"), _parts(after, name, "begun")
    differing = [key for key, digest in expected.items() if key in found and found[key] != digest]
    # What is as it was saved when the first loader begins is restored, too: to begin draws from streams, which the whole run did
    # earlier, and what follows until the loss makes other buffers of other data.
    lacking = [key for key in differing if key not in begun or begun[key] != saved.get(key)]
    if not lacking and differs:
        lacking = differing
    if any(kind in ("order", *_DRAWN) for kind, _ in lacking):
        lacking = [key for key in lacking if key[0] not in _FOLLOWING]
    order = [*TITLES]
    return [Missing(kind, of, name) for kind, of in sorted(lacking, key=lambda key: order.index(key[0]))]


def _parts(folder: Path, name: str, when: resumption.When) -> dict[tuple[Kind, str], str]:
    state = resumption.read(resumption.path(folder, name, when))
    parts: list[Part] = state.parts if state is not None else []
    return {(part.kind, part.name): part.digest for part in parts}


def _losses(folder: Path) -> dict[str, list[Loss]]:
    read = {file.stem: losses.iterations(losses.read(file)) for file in sorted(folder.glob(f"*{losses.SUFFIX}"))}
    return {name: found for name, found in read.items() if found}


def lines(found: Resumed) -> Iterator[str]:
    """It for people."""
    for name, (one, other) in found.losses.items():
        if len(found.losses) > 1:
            yield f"{name}:"
        for a, b in zip(one, other, strict=False):
            mark = "same" if a.bits == b.bits else click.style("differs", fg="red")
            yield f"  iteration {a.iteration:<5} {f'{a.value:.17g}':<22} {f'{b.value:.17g}':<22} {mark}"
    for missing in found.missing:
        yield f"{click.style('not restored', fg='red', bold=True)}[{missing.kind}]: {missing.said}{_of(found, missing)}"
    for missing in found.idle:
        yield f"{click.style('note', fg='cyan', bold=True)}: not restored, without effect so far: {missing.said}{_of(found, missing)}"
    if found.outcome == "different" and not found.missing:
        yield (
            "All state that detlint knows of is restored, and what is computed differs: look for an order or a place in the data that the "
            "program keeps itself, and for what it computes of both (`detlint verify` without --resume-at tells whether it repeats at all)."
        )
    if found.missing:
        drawn = any(missing.kind in _FED for missing in found.missing)
        call = "`detlint.runtime.state_dict(...)` and `load_state_dict`" if drawn else "its `state_dict()`"
        yield f"{click.style('help', fg='green', bold=True)}: put it into the checkpoint: {call}."
    if found.said:
        yield found.said
    colour, words = {
        "equal": ("green", f"goes on as if it had not been broken off, from iteration {found.at} on"),
        "different": ("red", f"does not go on as a run that is not broken off, from iteration {found.at} on"),
        "unknown": ("yellow", f"can't be compared: {found.why}"),
    }[found.outcome]
    yield f"{click.style('verdict', bold=True)}: the program {click.style(words, fg=colour, bold=True)}"


def _of(found: Resumed, missing: Missing) -> str:
    return f" (in {missing.process})" if len(found.losses) > 1 else ""


def as_json(found: Resumed) -> dict[str, Any]:
    """It for programs."""
    told: dict[str, Any] = msgspec.to_builtins(found)
    for name in ("missing", "idle"):
        for row, missing in zip(told[name], getattr(found, name), strict=True):
            row["said"] = missing.said
    return told
