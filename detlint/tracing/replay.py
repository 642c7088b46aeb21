"""Traces two runs that have parted by going on from states that they have stored, instead of running the program again.

What goes on is the run itself: its losses until the first that differs are those that were recorded, or it doesn't count. Nor does it
where the trace only shows that something differs that was there before the state: it is another one's doing, which isn't traced.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from detlint.tracing import losses
from detlint.tracing.events import begins
from detlint.tracing.locate import TRIES, Failed, Located, Locator
from detlint.tracing.reader import Unreadable
from detlint.tracing.runs import NotComparable, Runs, compare_runs
from detlint.tracing.start import Program
from detlint.tracing.stored import Lost, State, Stored
from detlint.tracing.story import verdict
from detlint.tracing.watch import MAIN, Watch


@dataclass(frozen=True)
class Past:
    """A run that is over.

    Attributes:
        folder: has its losses.
    """

    folder: Path
    states: Stored

    def left_by(self, folder: Path, step: int) -> int | None:
        """The first iteration before a step whose loss is another one in a run that went on from a state of this one.

        Raises:
            Lost: that run ended before.
        """
        ours, theirs = (losses.read(where / f"{MAIN}{losses.SUFFIX}") for where in (self.folder, folder))
        if max((loss.iteration for loss in theirs), default=-1) < step:
            raise Lost("a replay ended too early")
        pairs = zip(ours, theirs, strict=False)
        return min(
            (one.iteration for one, two in pairs if one.iteration < step and not losses.same(one, two)), default=None
        )


class Pasts:
    """The runs whose states wait: the first, and the latest; to be used in a `with`, after which none does."""

    def __init__(self) -> None:
        self._runs: list[Past] = []

    @property
    def both(self) -> tuple[Past, Past] | None:
        """The two, if there are two."""
        return (self._runs[0], self._runs[-1]) if len(self._runs) > 1 else None

    @contextmanager
    def one_more(self, folder: Path) -> Iterator[int]:
        """A run that goes on within; gives the descriptor that it is to inherit. What was between it and the first is let go."""
        for past in self._runs[1:]:
            past.states.close()
        states = Stored()
        self._runs[1:] = [Past(folder, states)]
        yield states.number
        states.collect()

    def __enter__(self) -> Pasts:
        return self

    def __exit__(self, *_: object) -> None:
        for past in self._runs:
            past.states.close()


class Replays(Locator):
    """Traces two runs, each from a state of its own."""

    def __init__(self, program: Program, folder: Path, iterations: int, pasts: tuple[Past, Past]) -> None:
        """
        Args:
            iterations: as of the runs; 0: all.
        """
        super().__init__(program, folder, iterations, True)
        self._pasts = pasts
        self._state: State
        self._begun: list[int] = []

    def replay(self, step: int) -> Located:
        """Trace what is next to a step, the first that differs.

        Raises:
            Lost: that names nothing. The text says why.
        """
        try:
            folders, steps = self._faithful(step)
            runs = compare_runs(*folders)
            if runs.equal:
                runs, folders = self._unwritten(runs, folders, steps)
        except (Failed, Unreadable, NotComparable) as error:
            raise Lost(str(error)) from None
        if any(self._codes):
            raise Lost("a replay failed")
        if runs.equal:
            raise Lost("the replays are equal")
        begun = min(self._begun)
        if not _shows_origin(runs):
            raise Lost(f"what differs was there before step {begun}, from which it was replayed")
        found = Located(traces=[str(folder) for folder in folders], trace=verdict(runs, *folders), replayed_from=begun)
        found.how = f"replayed from the state of step {begun}"
        return found

    def _faithful(self, step: int) -> tuple[tuple[Path, Path], list[int] | None]:
        """Two traces of runs that are the recorded ones until they part; where one leaves its own before, the window is moved there."""
        for tries in range(TRIES):
            try:
                folders, steps = self._pair(step)
            except Lost:
                if tries == 0:
                    raise
                break  # it leaves it as soon as it goes on
            if any(self._codes):
                raise Lost("a replay failed")
            ran = (self.folder / f"traced{number}" for number in (self._number - 1, self._number))
            left = [past.left_by(folder, step) for past, folder in zip(self._pasts, ran, strict=True)]
            if not any(found is not None for found in left):
                return folders, steps
            step = min(found for found in left if found is not None)
        raise Lost("the replays computed something else than the runs had")

    def _run(self, side: int, steps: list[int] | None, fill: int = 0) -> Path:
        self._state = self._pasts[side].states.before(min(steps or [0]))
        self._begun.append(self._state.step)
        return super()._run(side, steps, fill)

    def _start(self, side: int, watch: Watch, output: Path) -> int:
        return self.program.wait(self._state.go_on(watch, output))


def _shows_origin(runs: Runs) -> bool:
    """Whether the difference begins in what was traced: a kernel gives something else for the same, or Python brings something in."""
    cause = runs.first.cause if runs.first is not None else None
    if cause is None:
        return False
    if cause.call is not None and cause.call.event:
        return begins(cause.call.op)
    return cause.kind in ("kernel", "collective", "memory")
