"""What a comparison tells, apart from any format: each text format and program says the same."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec

from detlint.project import Project
from detlint.tracing.calls import Call, Value, call_at
from detlint.tracing.cause import TITLES, Cause, Kind
from detlint.tracing.compare import Comparison
from detlint.tracing.events import sort_of
from detlint.tracing.known import Known, known
from detlint.tracing.runs import Process, Runs
from detlint.tracing.settings import Level

_GIVES: Final = {"order": "gives another order", "content": "finds something else", "chance": "gives something else"}


class Line(msgspec.Struct, frozen=True):
    """A line of the program."""

    file: str
    line: int
    function: str


class Input(msgspec.Struct, frozen=True):
    """What an operator was given, and where it came from."""

    value: str
    differs: bool
    origin: str
    place: Line | None


class Static(msgspec.Struct, frozen=True):
    """What the linter finds in the source."""

    code: str
    severity: str
    file: str
    line: int
    message: str


class Story(msgspec.Struct, kw_only=True):
    """Where the runs of one process part.

    Attributes:
        headline: one sentence.
        operator: the kernel, API or module, as the trace has it.
        api: the public function; the forward pass's for a call of the backward pass.
        stack: the lines that lead to it, innermost first; a backward kernel's are those of its forward pass.
        caller: for a backward kernel, the line that started the backward pass.
        forward: where a line of Python's calls it in the backward pass: the lines of the forward pass that it belongs to.
        code: the rule that speaks of it; empty where none does.
        near: whether the findings stand at the lines of the stack.
        within: the lines of libraries that the program's line has called, innermost first.
        reached: where a call of Python's is to blame: the operator that is given what it made, and where.
        origins: other operators that gave something else for the same.
    """

    rank: int
    step: int
    cause: Kind
    title: str
    headline: str
    said: str
    operator: str
    api: str
    module: str
    backward: bool
    row: int
    stack: list[Line]
    caller: Line | None = None
    forward: list[Line] = []
    code: str = ""
    name: str = ""
    message: str = ""
    why: str = ""
    help: str = ""
    inputs: list[Input] = []
    findings: list[Static] = []
    near: bool = False
    within: list[Line] = []
    reached: str = ""
    reached_at: Line | None = None
    origins: list[str] = []


class Ranked(msgspec.Struct, frozen=True):
    """One process's numbers, or those of one framework in it."""

    rank: int
    framework: str
    equal: bool
    rows: tuple[int, int]
    alone: tuple[int, int]
    differing: int
    cause: str
    first: str


class Verdict(msgspec.Struct, kw_only=True):
    """What comes of comparing two runs."""

    equal: bool
    left: str
    right: str
    level: Level
    story: Story | None
    processes: list[Ranked]
    apart: list[str] = []
    """Calls that differ though no loss is made of them."""
    warnings: list[str]
    notes: list[str]


def verdict(runs: Runs, left: Path, right: Path) -> Verdict:
    """Tell what two runs have come to; the linter reads the program's files for it."""
    first = runs.first
    header = runs.processes[0].comparison.left.header
    return Verdict(
        equal=runs.equal,
        left=str(left),
        right=str(right),
        level=header.level,  # type: ignore[arg-type]
        story=_story(first) if first is not None else None,
        processes=[_ranked(process) for process in runs.processes],
        apart=[*dict.fromkeys(_apart(call) for process in runs.processes for call in process.comparison.apart)],
        warnings=runs.warnings,
        notes=runs.notes,
    )


def _ranked(process: Process) -> Ranked:
    found, cause = process.comparison, process.cause
    call = cause.shown if cause is not None else None
    place = f" ({_short(call)})" if call is not None else ""
    return Ranked(
        process.rank, process.framework, found.equal, found.rows, found.alone, found.differing,
        cause.kind if cause is not None else "",
        f"{cause.call.op}{place}" if cause is not None and cause.call is not None else "",
    )  # fmt: skip


def _story(process: Process) -> Story:
    cause, found = process.cause, process.origin or process.comparison
    assert cause is not None and found.first is not None
    call = cause.call or found.first.call
    shown = cause.shown or call
    about = known(cause, Project.of(_start(shown), {}), found.left.header.framework)
    own = shown.stack.index(shown.place) if shown.place is not None else 0
    stack = [Line(*place) for place in shown.stack[own:]]
    said, headline, reached = cause.said, _headline(cause, call, shown), cause.reached
    if (blamed := about.blamed) is not None:
        stack.insert(0, Line(blamed.path, blamed.span.line, ""))
        headline = f"{blamed.message} ({Path(blamed.path).name}:{blamed.span.line})"
        said = f"the linter finds it, and nothing that the trace records differs before: {said}"
        reached = call
    caller = Line(*call.stack[0]) if cause.forward is not None and call.stack and not cause.within else None
    return Story(
        rank=process.rank, step=call.step, cause=cause.kind, title=TITLES[cause.kind], said=said,
        headline=headline, operator=call.op, api=shown.api, module=(cause.forward or shown).module,
        backward=call.backward, row=call.number, stack=stack, caller=caller, forward=_forward(cause), code=about.code, name=about.name,
        message=about.message, why=about.why, help=_help(cause, about), inputs=_inputs(found, call),
        findings=[Static(f.code, f.severity, f.path, f.span.line, f.message) for f in about.findings],
        near=about.near, reached=_name(reached), reached_at=_line(reached),
        within=[Line(*place) for place in shown.stack[:own]],
        origins=[*dict.fromkeys(_origin(d.call) for d in found.origins if d.call.number != call.number)],
    )  # fmt: skip


def _name(call: Call | None) -> str:
    return "" if call is None else call.api or call.op


def _line(call: Call | None) -> Line | None:
    return Line(*call.place) if call is not None and call.place is not None else None


def _forward(cause: Cause) -> list[Line]:
    return [Line(*place) for place in cause.forward.stack] if cause.within and cause.forward is not None else []


def _headline(cause: Cause, call: Call, shown: Call) -> str:
    place = f" at {_short(shown)}" if shown.stack else ""
    what = f"`{shown.api or call.op}`"
    if cause.kind == "memory":
        return f"{what}{place} gives memory that is read before it is written"
    if call.event:
        sort = sort_of(call.op)
        gives = (
            "fixes other random numbers"
            if sort == "seed"
            else "draws other random numbers"
            if sort == "draw"
            else _GIVES[sort]
        )
        return f"{what}{place} {gives} in each run"
    if cause.kind == "crash":
        return f"one run broke off after `{call.op}`{place}"
    if cause.kind == "control":
        return f"the runs go different ways{place}, where one calls {what}"
    if cause.kind == "kernel":
        part = "the backward pass of " if call.backward and not cause.within else ""
        return f"{part}{what}{place} gives something else for the same inputs"
    if cause.kind == "random":
        return f"{what}{place} draws other random numbers in each run"
    if cause.kind == "collective":
        return f"`{call.op}`{place} brings other data in each run"
    return f"{what}{place} is given other data in each run"


def _help(cause: Cause, about: Known) -> str:
    if about.remedy:
        return about.remedy
    if cause.kind == "kernel":
        return "Switch deterministic algorithms on, replace the operator by others, or run it on the CPU."
    if cause.kind == "memory":
        return "Use `zeros` in its place, or write all of it before it is read."
    if cause.kind == "data":
        return "Fix the order and the content of what is read: sort listings, seed what draws, don't shuffle unseeded."
    if cause.kind == "control":
        return "Look at the condition above that line: a set's order, the time, or a random number decides it."
    return ""


def _inputs(found: Comparison, call: Call) -> list[Input]:
    first = found.first
    assert first is not None
    path = (found.left if first.left is not None else found.right).path
    differing = first.inputs if call.number == first.call.number else ()
    return [_input(path, value, i in differing) for i, value in enumerate(call.inputs)]


def _input(path: Path, value: Value, differs: bool) -> Input:
    maker = call_at(path, value.producer)
    if maker is not None:
        return Input(str(value), differs, maker.op, Line(*maker.stack[0]) if maker.stack else None)
    return Input(str(value), differs, value.name or "outside of the trace", None)


def _origin(call: Call) -> str:
    return f"{call.op} ({_short(call)})" if call.stack else call.op


def _apart(call: Call) -> str:
    return f"`{call.api or call.op}`" + (f" ({_short(call)})" if call.stack else "")


def _short(call: Call) -> str:
    place = call.place
    return f"{Path(place.file).name}:{place.line}" if place is not None else call.op


def _start(call: Call) -> Path:
    files = [Path(place.file) for place in call.stack if Path(place.file).is_file()]
    return next((file for file in files if "site-packages" not in file.parts), Path.cwd())
