"""What is to be watched in the processes of a run: told to each by an environment variable."""

from __future__ import annotations

import os
from collections.abc import Mapping, MutableMapping
from pathlib import Path
from typing import Final, Literal

import msgspec

from detlint.runtime.launch import START
from detlint.tracing import environment
from detlint.tracing.settings import Level, Settings, Where

MAIN: Final = "main"
VARIABLE: Final = "DETLINT_WATCH"


class Watch(msgspec.Struct, frozen=True, kw_only=True):
    """One run.

    Attributes:
        parent: the process that starts the run; 0 where the run takes its place.
        first: the run's first process, where that is known before.
        trace: the folder of the trace; empty for none.
        losses: the folder that gets the loss of each iteration; empty for none.
        iterations: after how many iterations the run ends; 0: when it ends by itself.
        expected: the folder with the losses of an earlier run: this one ends at the first that differs. Empty for none.
        fill: what uninitialised memory is filled with while it is traced.
        resuming: what this run is of those that tell whether a program goes on as it should; empty: none of them.
        states: the descriptor of the socket to which the states are told that the run's first process stores; negative: it stores none.
        at: the iteration before which a run that is to be resumed ends, and at whose loss the whole run's state is noted.
        output: the expression whose value at the end of the program counts, instead of losses; empty for none.
        batches: the folder that gets the operators whose rows depend on the batch; empty: they aren't looked for.
        basis: the folder that gets what the run rests on; empty for none.
        twice: the file that gets the kernels which don't repeat; empty: they aren't tried.
    """

    parent: int = 0
    first: int = 0
    trace: str = ""
    steps: list[int] | None = None
    level: Level = "kernel"
    digest: Where = "auto"
    values: bool = False
    losses: str = ""
    iterations: int = 0
    expected: str = ""
    fill: int = 0
    twice: str = ""
    output: str = ""
    batches: str = ""
    basis: str = ""
    resuming: Literal["", "stopped", "resumed", "whole"] = ""
    at: int = 0
    states: int = -1

    def prepare(self, variables: MutableMapping[str, str]) -> None:
        """Tell it to the processes that are started with this environment."""
        before = variables.get("PYTHONPATH", "")
        paths = [path for path in before.split(os.pathsep) if path and path != str(START)]
        variables["PYTHONPATH"] = os.pathsep.join([str(START), *paths])
        variables[VARIABLE] = msgspec.json.encode(self).decode()

    @classmethod
    def read(cls, environment: Mapping[str, str] = os.environ) -> Watch:
        """What this process was told."""
        return msgspec.json.decode(environment[VARIABLE], type=cls)

    @property
    def name(self) -> str:
        """What this process's files are called: by its rank where a launcher has told it, else by its number."""
        rank, _ = environment.rank()
        if rank is not None:
            return f"rank{rank}"
        return MAIN if self.first == os.getpid() or self.parent == os.getppid() else f"process{os.getpid()}"

    @property
    def settings(self) -> Settings:
        """What to trace."""
        steps = None if self.steps is None else frozenset(self.steps)
        return Settings(Path(self.trace), steps, self.level, self.digest, self.fill, self.values)
