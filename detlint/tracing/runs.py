"""Compares two runs, each of one process or several, and tells which process parted first, and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import msgspec

from detlint.tracing import msprobe
from detlint.tracing.cause import Cause, cause
from detlint.tracing.compare import Comparison, compare
from detlint.tracing.explain import brought, by, explained
from detlint.tracing.reader import Trace, traces
from detlint.tracing.records import EVENT, SUFFIX, THREADS, WORKER, Header
from detlint.tracing.settings import PLAIN
from detlint.tracing.watch import MAIN

_VARYING: Final = frozenset({"RANK", "LOCAL_RANK", "TORCHELASTIC_RUN_ID", "DETLINT_WATCH", "DETLINT_RUN"})


class NotComparable(Exception):
    """Two runs that can't be compared. The text says why."""


@dataclass
class Process:
    """One process in two runs, as far as one framework computes in it."""

    rank: int
    framework: str
    comparison: Comparison
    cause: Cause | None
    origin: Comparison | None = None
    """Where the cause is in a worker's trace: the comparison of that."""


@dataclass
class Runs:
    """Two runs.

    Attributes:
        processes: by rank, then by framework.
        warnings: what the runs don't have in common and perhaps should.
    """

    processes: list[Process]
    warnings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    kept: TemporaryDirectory[str] | None = None
    """Where converted traces are, as long as they are asked about."""

    @property
    def equal(self) -> bool:
        """Whether no process parted."""
        return all(process.comparison.equal for process in self.processes)

    @property
    def first(self) -> Process | None:
        """The process in which the runs parted first.

        Processes run side by side, and are at the same point where they exchange data: the one that had exchanged least
        is the first. Of those, one that got its difference from another comes last.
        """
        parted = [process for process in self.processes if process.cause is not None]
        return min(parted, key=_order, default=None)


def compare_runs(left: Path, right: Path) -> Runs:
    """Compare two folders of traces, or two files.

    Raises:
        Unreadable: one of them can't be read.
        NotComparable: they aren't traces of the same kind.
    """
    kept = TemporaryDirectory(prefix="detlint-diff-")
    ours, others = by_rank(own(left, Path(kept.name, "left"))), by_rank(own(right, Path(kept.name, "right")))
    if ours.keys() != others.keys():
        raise NotComparable(f"{left} has {_listed(ours)}, {right} has {_listed(others)}: nothing to compare them by")
    runs = Runs([], kept=kept)
    for key in sorted(ours):
        _check(ours[key], others[key])
        found = compare(ours[key].path, others[key].path)
        runs.processes.append(_caused(Process(*key, found, _why(found))))
        runs.warnings.extend(_apart(found.left.header, found.right.header))
        for trace in (found.left, found.right):
            runs.notes.extend(trace.end.notes if trace.end is not None else [])
    runs.warnings = [*dict.fromkeys(runs.warnings)]
    runs.notes = [*dict.fromkeys(runs.notes)]
    return runs


def _why(found: Comparison) -> Cause | None:
    why = cause(found)
    return None if why is None else explained(found, why)


def _caused(process: Process) -> Process:
    """The process; where data comes from outside and a worker's trace shows why it differs, with that as the cause."""
    why = process.cause
    if why is None or why.kind != "data" or (why.call is not None and why.call.event):
        return process
    for found in _beside(process.comparison, f"{WORKER}*"):
        if (in_worker := _why(found)) is not None and in_worker.kind not in ("crash", "control"):
            return replace(process, cause=msgspec.structs.replace(in_worker, reached=why.call), origin=found)
    for found in _beside(process.comparison, THREADS):
        if (first := brought(found)) is not None:
            return replace(process, cause=by(first, why), origin=replace(found, first=first))
    return process


def _beside(found: Comparison, named: str) -> Iterator[Comparison]:
    """The comparisons of the files that stand beside that of a process in both runs."""
    left, right = found.left.path, found.right.path
    for file in sorted(left.parent.glob(f"{left.stem}{named}{SUFFIX}"), key=lambda file: (len(file.name), file.name)):
        other = right.with_name(right.stem + file.name.removeprefix(left.stem))
        if other.exists():
            yield compare(file, other)


def own(folder: Path, into: Path) -> Path:
    """A run's traces: what msprobe dumped is converted."""
    return msprobe.converted(folder, into) if msprobe.dumps(folder) else folder


def _order(process: Process) -> tuple[int, bool, int, str]:
    assert process.cause is not None and process.comparison.first is not None
    call = process.cause.reached or process.cause.call or process.comparison.first.call
    return (
        call.collectives if not process.cause.received else _before(process),
        process.cause.received,
        process.rank,
        process.framework,
    )


def _before(process: Process) -> int:
    """How many exchanges a process had had when it got a difference by one, itself among them."""
    first = process.comparison.first
    assert first is not None
    return first.call.collectives


def by_rank(folder: Path) -> dict[tuple[int, str], Trace]:
    """The traces of a run by rank and framework. Where nothing tells a rank, the one process that computed counts as rank 0.

    A framework that was imported and computed nothing is left out, unless nothing was computed at all.
    """
    found: dict[tuple[int, str], Trace] = {}
    unknown: list[Trace] = []
    empty: list[Trace] = []
    for path in traces(folder):
        trace = Trace.open(path)
        if trace.header.worker is not None:
            continue
        rows = 0
        for row in trace.rows():  # what tells the rank may stand behind rows
            rows += not row.flags & EVENT
            if trace.rank is not None:
                break
        whole = Trace.open(path)
        if trace.rank is not None and (rows or trace.header.framework == PLAIN):
            found[trace.rank, trace.header.framework] = whole
        else:
            (unknown if rows else empty).append(whole)
    if not found:
        for trace in sorted(unknown, key=lambda trace: trace.path.stem.partition("-")[0] != MAIN):
            found.setdefault((0, trace.header.framework), trace)
    return found or {(0, empty[0].header.framework): empty[0]}


def _check(left: Trace, right: Trace) -> None:
    for name in ("level", "digest"):
        ours, others = getattr(left.header, name), getattr(right.header, name)
        if ours != others:
            raise NotComparable(f"{left.path} and {right.path}: {name} is {ours} in one and {others} in the other")


def _apart(left: Header, right: Header) -> list[str]:
    """What two headers don't have in common."""
    said = []
    for name in ("argv", "python", "platform", "devices", "threads"):
        ours, others = getattr(left, name), getattr(right, name)
        if ours != others:
            said.append(f"{name}: {ours} and {others}")
    for name in ("versions", "flags", "environment", "git"):
        ours, others = getattr(left, name), getattr(right, name)
        keys = sorted(key for key in {*ours, *others} - _VARYING if ours.get(key) != others.get(key))
        said.extend(f"{name}: {key} is {ours.get(key, 'unset')} and {others.get(key, 'unset')}" for key in keys)
    return said


def _listed(found: dict[tuple[int, str], Trace]) -> str:
    frameworks = ", ".join(sorted({framework for _, framework in found}))
    return f"ranks {', '.join(map(str, sorted({rank for rank, _ in found})))} ({frameworks})"
