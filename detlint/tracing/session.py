"""Tracing a process from one point to another: hooks in, steps counted, and everything undone at the end.

What is hooked is each framework's own; a process that uses several has a file for each.
"""

from __future__ import annotations

import os
import weakref
from abc import ABC, abstractmethod
from collections.abc import Iterable
from contextlib import ExitStack
from types import TracebackType
from typing import Any, ClassVar, Protocol

import msgspec

from detlint.tracing import environment
from detlint.tracing.events import Sink
from detlint.tracing.records import THREADS, WORKER, End, Header, Rank, Step
from detlint.tracing.settings import PLAIN, Level, Settings
from detlint.tracing.watch import MAIN
from detlint.tracing.writer import Writer


class Tracing(Sink, Protocol):
    """What makes rows.

    Attributes:
        recording: whether it does.
    """

    recording: bool
    writer: Writer

    def tensors(self, values: Iterable[Any]) -> Iterable[Any]:
        """The tensors among values, whatever lists they stand in."""

    def aim(self, op: str, tensors: Iterable[Any]) -> None:
        """Write the row of what the run is for."""

    def mark(self, step: Any) -> None:
        """Write a record other than a row, in its place among them."""


class Session(ABC):
    """A trace of one framework in this process.

    Attributes:
        framework: its top-level module.
        step_number: the step that runs.
        notes: what is to be said when two traces are compared.
    """

    framework: ClassVar[str]
    digest: ClassVar[str]

    def __init__(self, settings: Settings, name: str = "", worker: int | None = None) -> None:
        """
        Args:
            name: the file's; empty: by the rank.
            worker: the number of a data loader's worker, which gets a file beside that of its process.
        """
        self.settings = settings
        self.worker = worker
        self.step_number = 0
        self.notes: list[str] = []
        self.stack = ExitStack()
        """Undoes what was hooked."""
        self._name = name
        self._tracer: Tracing | None = None
        self._ranked = False

    @property
    def level(self) -> Level:
        """The level that is traced: what the framework allows of the one asked for."""
        return self.settings.level

    @property
    def sink(self) -> Sink | None:
        """What writes rows of Python's: the tracer itself, of kernels; None where rows are larger."""
        return self._tracer if self.level == "kernel" else None

    def start(self) -> None:
        """Begin.

        Raises:
            Occupied: the folder has a trace of this process's rank.
            OSError: the file can't be made.
            RuntimeError: the process is being traced.
        """
        if any(running.framework == self.framework for running in _running):
            raise RuntimeError("this process is being traced already")
        rank, world = environment.rank()
        name = self._name or (MAIN if rank is None else f"rank{rank}")
        name += "" if self.framework == PLAIN else f"-{self.framework}"
        self._name, name = name, name if self.worker is None else f"{name}{WORKER}{self.worker}"
        writer = Writer(self.settings.folder, name, self._header(rank, world))
        self._ranked = rank is not None
        self._tracer = tracer = self._begin(writer)
        tracer.recording = self.settings.wants(self.step_number)
        _running.add(self)

    def beside(self) -> Writer:
        """A file beside that of the process, for what its other threads do."""
        header = msgspec.structs.replace(self._header(*environment.rank()), worker=0)
        return Writer(self.settings.folder, f"{self._name}{THREADS}", header)

    def step(self) -> None:
        """Go on to the next training step: what an optimizer's `step` does by itself."""
        tracer = self._tracer
        if tracer is None:
            return
        self.step_number += 1
        self._tell_rank(tracer)
        tracer.mark(Step(self.step_number))
        tracer.recording = self.settings.wants(self.step_number)
        if self.settings.over(self.step_number):
            self.stop()

    def aim(self, value: Any) -> None:
        """Say what the run is for: from tensors in it, differences are followed back."""
        tracer = self._tracer
        if (
            tracer is not None
            and tracer.recording
            and self.level == "kernel"
            and (found := [*tracer.tensors((value,))])
        ):
            tracer.aim("output", found)

    def stop(self, error: BaseException | None = None) -> None:
        """End, and undo everything. Doing it again does nothing."""
        tracer, self._tracer = self._tracer, None
        if tracer is None:
            return
        self.stack.close()
        _running.discard(self)
        self._tell_rank(tracer)
        tracer.recording = False
        said = f"{type(error).__name__}: {error}" if error is not None and not _is_exit(error) else ""
        tracer.mark(End(said, self.notes))
        tracer.writer.close()

    def abandon(self) -> None:
        """Leave the trace to the process that this one was forked from."""
        if self._tracer is not None:
            self._tracer.recording = False
            self._tracer.writer.forsake()
            self._tracer = None

    def note(self, text: str) -> None:
        """Have something said, once."""
        if text not in self.notes:
            self.notes.append(text)

    def __enter__(self) -> Session:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop(error)

    @abstractmethod
    def _begin(self, writer: Writer) -> Tracing:
        """Hook what is to be seen; the stack gets what undoes it."""

    @abstractmethod
    def _computing(self) -> dict[str, Any]:
        """Of the header: what the framework computes on, and how."""

    def _rank(self) -> tuple[int, int] | None:
        """The number of this process among several, and how many there are, where the framework knows it by now."""
        return None

    def _tell_rank(self, tracer: Tracing) -> None:
        """Launchers tell the rank before the run; a program that starts its own processes knows it only now."""
        if not self._ranked and (known := self._rank()) is not None:
            self._ranked = True
            tracer.writer.write(Rank(*known))

    def _header(self, rank: int | None, world: int | None) -> Header:
        computing = self._computing()
        return Header(
            level=self.level,
            digest=f"{self.settings.digest} {self.digest}",
            framework=self.framework,
            rank=rank,
            world=world,
            worker=self.worker,
            fill=self.settings.fill,
            argv=environment.argv(),
            python=environment.interpreter(),
            platform=environment.machine(),
            versions={**environment.versions(), **computing.pop("versions", {})},
            environment=environment.variables(),
            git=environment.git(),
            directory=os.getcwd(),
            **computing,
        )


forks = 0
"""How many processes this one has forked, or the one that it was forked from had by then."""
_running: weakref.WeakSet[Session] = weakref.WeakSet()


def _is_exit(error: BaseException) -> bool:
    return isinstance(error, SystemExit) and error.code in (None, 0)


def _counting() -> None:
    global forks
    forks += 1


def _forked() -> None:
    """A forked process (a worker of a data loader) inherits modes and hooks; its calls are none of the run's."""
    for session in [*_running]:
        session.abandon()
    _running.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_counting, after_in_child=_forked)
