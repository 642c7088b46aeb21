"""Runs a program that doesn't repeat again, with a trace around the first step that differs, until a call is named.

Losses, and the digest of the parameters after each step, are recorded in all runs, so however long a run is, its first step that
differs is known, and only what is next to it is traced.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec

from detlint.tracing import left_behind, losses, untraced
from detlint.tracing.output_tail import last
from detlint.tracing.reader import Unreadable
from detlint.tracing.runs import NotComparable, Runs, compare_runs
from detlint.tracing.start import Program, TimedOut
from detlint.tracing.story import Verdict, verdict
from detlint.tracing.watch import Watch

_SHORT: Final = 8
"""Steps that are traced from the first on, rather than from the one before the first that differs."""
TRIES: Final = 3
"""How often two runs are traced, each time around where they were seen to part."""
_EQUAL: Final = (
    "the traced runs are equal. A trace runs compiled code uncompiled, fills uninitialised memory, and slows the run down: look for what "
    "compiling changes, and for races. `--runs` shows how often it happens."
)


@dataclass
class Located:
    """What comes of it.

    Attributes:
        said: why no call is named.
        traces: the folders.
        how: whether the runs were replayed from a state, or why they were started again; empty where that's no question.
        replayed_from: the step of the state.
    """

    trace: Verdict | None = None
    said: str = ""
    traces: list[str] = field(default_factory=list)
    how: str = ""
    replayed_from: int | None = None


class Failed(Exception):
    """A traced run that can't be compared. The text says why."""


class Locator:
    """Traces one program.

    Attributes:
        end: the iteration after which traced runs end; 0: when they end by themselves.
    """

    def __init__(self, program: Program, folder: Path, iterations: int, ends: bool, output: str = "") -> None:
        """
        Args:
            iterations: how many are asked for; 0: all.
            ends: whether a run can be ended by its iterations: its losses are those of the framework.
            output: the expression whose value counts instead; empty for none.
        """
        self.program = program
        self.folder = folder
        self.iterations = iterations
        self.ends = ends
        self.output = output
        self._number = len([*folder.glob("traced*")])
        self._codes: list[int] = []

    def locate(self, step: int | None, began: float) -> Located:
        """Trace two runs, and compare them.

        Args:
            step: the first that differs; None where losses don't tell.
            began: when the first run did, in seconds since the epoch.
        """
        found = Located()
        try:
            for _ in range(TRIES):
                folders, steps = self._pair(step)
                runs = compare_runs(*folders)
                earlier = self._first_differing()
                if earlier is None or step is None or steps is None or not steps[0] or earlier >= step:
                    break
                step = earlier  # it differs from run to run where the runs part
            if runs.equal and not any(self._codes):
                runs, folders = self._unwritten(runs, folders, steps)
            if runs.equal and not any(self._codes):
                runs = left_behind.explained(runs, began)
            found.traces = [str(folder) for folder in folders]
            found.trace = verdict(runs, *folders)
        except (TimedOut, Failed) as error:
            found.said = f"no operator can be named: {error}"
        except Unreadable:
            found.said = untraced.explained(self.folder / f"traced{self._number}")
        except NotComparable as error:
            found.said = f"the traces can't be compared: {error}"
        if found.trace is not None and found.trace.equal:
            output = self.folder / f"traced{self._number}" / "output.txt"
            found.said = f"the runs failed while they were traced: {last(output)}" if any(self._codes) else _EQUAL
        return found

    def _pair(self, step: int | None) -> tuple[tuple[Path, Path], list[int] | None]:
        """Two runs, traced alike."""
        steps = None if self.output else window(step, self.iterations)
        return (self._run(0, steps), self._run(1, steps)), steps

    def _run(self, side: int, steps: list[int] | None, fill: int = 0) -> Path:
        self._number += 1
        into = self.folder / f"traced{self._number}"
        into.mkdir()
        folder = self.folder / f"trace{self._number}"
        end = self._end(steps)
        watch = Watch(losses=str(into), iterations=end if self.ends else 0, trace=str(folder), steps=steps)
        try:
            watch = msgspec.structs.replace(watch, fill=fill, output=self.output)
            self._codes.append(self._start(side, watch, into / "output.txt"))
        except TimedOut as error:
            raise Failed(f"the traced run {self._number} {error}") from None
        return folder

    def _end(self, steps: list[int] | None) -> int:
        """After how many iterations a run ends: one after those that are traced, so that what the last optimizer's step has made counts."""
        if not steps:
            return self.iterations
        after = max(steps) + 2
        return min(after, self.iterations or after)

    def _start(self, side: int, watch: Watch, output: Path) -> int:
        """Run the first or the second of the two; the exit code."""
        return self.program.run(watch, output)

    def _first_differing(self) -> int | None:
        """The first step in which the last two traced runs differ, by their losses."""
        ours, others = (self.folder / f"traced{number}" for number in (self._number - 1, self._number))
        steps: list[int] = []
        if self.output:
            return None
        for file in ours.glob(f"*{losses.SUFFIX}"):
            if (other := others / file.name).exists():
                pairs = zip(*(losses.iterations(losses.read(one)) for one in (file, other)), strict=False)
                steps.extend(one.iteration for one, two in pairs if not losses.same(one, two))
        return min(steps, default=None)

    def _unwritten(
        self, runs: Runs, folders: tuple[Path, Path], steps: list[int] | None
    ) -> tuple[Runs, tuple[Path, Path]]:
        """The comparison with a run whose uninitialised memory holds something else: what differs by that has read it."""
        filled = folders[0], self._run(0, steps, fill=1)
        other = compare_runs(*filled)
        named = other.first is not None and other.first.cause is not None and other.first.cause.kind == "memory"
        return (other, filled) if named else (runs, folders)


def window(step: int | None, iterations: int) -> list[int] | None:
    """The steps to trace, None for all that there are: of a step that differs, the one before it as well, for that one's backward pass
    may have made it; of none, all of so many iterations (0: to the end)."""
    if step is None:
        return [*range(iterations)] or None
    return [*range(step + 1)] if step < _SHORT else [step - 1, step]
