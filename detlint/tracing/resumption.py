"""Within the runs that tell whether a program goes on as it should: where each ends, and what its state is there."""

from __future__ import annotations

from functools import wraps
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from detlint.tracing import losses
from detlint.tracing.ending import enough
from detlint.tracing.snapshot import Part, digest, snapshot
from detlint.tracing.watch import Watch

When = Literal["saved", "begun", "loss"]
SUFFIX: Final = ".state"


class State(msgspec.Struct):
    """The state at one point.

    Attributes:
        iteration: how many steps the optimizers had made.
    """

    iteration: int
    parts: list[Part]


class _Run:
    """This process's.

    Attributes:
        given: what the batch that was given last consists of.
    """

    def __init__(self, watch: Watch, recorder: losses.Recorder) -> None:
        self.watch = watch
        self.recorder = recorder
        self.given: list[Part] = []
        self._noted = set[When]()

    def before(self, iteration: int) -> None:
        """A loss comes."""
        if self.watch.resuming == "stopped" and iteration >= self.watch.at:
            enough()
        if iteration == (self.watch.at if self.watch.resuming == "whole" else 0):
            self.note("loss")

    def note(self, when: When, again: bool = False) -> None:
        """Write the state, the first time, or each time over what was."""
        if when in self._noted and not again:
            return
        self._noted.add(when)
        given = self.given if when == "loss" else []
        state = State(self.recorder.steps, [*snapshot(), *given])
        path(self.watch.losses, self.watch.name, when).write_bytes(msgspec.json.encode(state))


def path(folder: str | Path, name: str, when: When) -> Path:
    """The file that has the state of a process."""
    return Path(folder, f"{name}-{when}{SUFFIX}")


def read(file: Path) -> State | None:
    """What it has; None where nothing was noted."""
    return msgspec.json.decode(file.read_bytes(), type=State) if file.exists() else None


_run: list[_Run] = []


def begin(watch: Watch) -> None:
    """Be one of these runs."""
    assert losses.current is not None
    _run[:] = [_Run(watch, losses.current)]
    losses.current.before = _run[0].before


def of_torch(torch: Any) -> None:
    """Note what checkpoints are written, and what loaders give."""
    run = _run[0]
    save, loader, iterator = torch.save, torch.utils.data.DataLoader, torch.utils.data.dataloader._BaseDataLoaderIter
    begin_, index, give = loader.__iter__, iterator._next_index, iterator.__next__

    @wraps(save)
    def saving(*args: Any, **kwargs: Any) -> Any:
        if run.watch.resuming == "stopped":
            run.note("saved", again=True)
        return save(*args, **kwargs)

    @wraps(begin_)
    def beginning(self: Any) -> Any:
        if run.watch.resuming == "resumed":
            run.note("begun")
        return begin_(self)

    @wraps(index)
    def indexing(self: Any) -> Any:
        found = index(self)
        self.__dict__.setdefault("_detlint_indices", []).append(found)
        return found

    @wraps(give)
    def giving(self: Any) -> Any:
        batch = give(self)
        if indices := self.__dict__.get("_detlint_indices"):
            name = type(self._dataset).__name__
            run.given = [Part("order", name, digest(indices.pop(0))), Part("data", name, digest(batch))]
        return batch

    torch.save = saving
    loader.__iter__, iterator._next_index, iterator.__next__ = beginning, indexing, giving
