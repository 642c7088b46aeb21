"""A row with everything in it that the file names by number."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import msgspec

from detlint.runtime.places import whose
from detlint.tracing.reader import Trace
from detlint.tracing.records import BRINGS, DRAWS, EVENT, FAILED, NAMED, NOTHING, SHARED, VIEW, Row


class Place(NamedTuple):
    """A line of the program."""

    file: str
    line: int
    function: str


class Value(msgspec.Struct, frozen=True):
    """A tensor at some moment.

    Attributes:
        digest: 0 where it wasn't read.
        producer: the row that wrote it last; -1 where no row did, and for outputs.
        name: what a module calls it, where no row wrote it: `layer1.0.conv1.weight`.
    """

    dtype: str
    shape: tuple[int, ...]
    device: str
    layout: str
    digest: int
    producer: int = -1
    name: str = ""

    @property
    def kind(self) -> tuple[str, tuple[int, ...], str, str]:
        """All but the content."""
        return (self.dtype, self.shape, self.device, self.layout)

    def __str__(self) -> str:
        shape = ", ".join(map(str, self.shape))
        device = "" if self.device in ("", "cpu") else f" on {self.device}"
        return f"{self.dtype}[{shape}]{device}"


class Call(msgspec.Struct, frozen=True):
    """One call of an operator, as a report needs it. `number` counts the rows of its trace, `collectives` the exchanges
    with other processes before it."""

    number: int
    step: int
    op: str
    api: str
    stack: tuple[Place, ...]
    module: str
    arguments: str
    node: str
    forward: int
    random: int
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    flags: int
    collectives: int = 0

    @property
    def place(self) -> Place | None:
        """Where the program calls it; where only libraries do, where these do."""
        return next((at for at in self.stack if whose(at.file) == "user"), self.stack[0] if self.stack else None)

    @property
    def backward(self) -> bool:
        """Whether it runs in the backward pass."""
        return bool(self.node)

    @property
    def shared(self) -> bool:
        """Whether it exchanges data with other processes."""
        return bool(self.flags & SHARED)

    @property
    def view(self) -> bool:
        """Whether its results are its inputs' memory."""
        return bool(self.flags & VIEW)

    @property
    def draws(self) -> bool:
        """Whether it draws random numbers from a state that isn't known, or not all of it."""
        return bool(self.flags & DRAWS)

    @property
    def brings(self) -> bool:
        """Whether its outputs come from outside of the trace."""
        return bool(self.flags & BRINGS)

    @property
    def event(self) -> bool:
        """Whether it is a function of Python's, outside of any framework."""
        return bool(self.flags & EVENT)

    @property
    def failed(self) -> bool:
        """Whether it raised an exception."""
        return bool(self.flags & FAILED)


def call(trace: Trace, row: Row, number: int, step: int, collectives: int = 0) -> Call:
    """A row of a trace that has been read as far as this row, or further."""
    stack = tuple(Place(*frame) for frame in trace.frames(row.site))
    inputs, outputs = row.inputs, row.outputs
    return Call(
        number, step, trace.text(row.op), trace.text(row.api), stack, trace.text(row.module),
        trace.text(row.arguments), trace.text(row.node), row.forward, row.random,
        tuple(_value(trace, *inputs[i : i + 3]) for i in range(0, len(inputs), 3)),
        tuple(_value(trace, *outputs[i : i + 2]) for i in range(0, len(outputs), 2)),
        row.flags, collectives,
    )  # fmt: skip


def calls(path: Path) -> Iterator[Call]:
    """All of a file."""
    trace, collectives = Trace.open(path), 0
    for number, row in enumerate(trace.rows()):
        yield call(trace, row, number, trace.step, collectives)
        collectives += bool(row.flags & SHARED)


def call_at(path: Path, number: int) -> Call | None:
    """One row of a file, by its number; read from the beginning, so that no memory is needed for the others."""
    if not 0 <= number <= sys.maxsize:
        return None
    trace = Trace.open(path)
    row = next(islice(trace.rows(), number, None), None)
    return None if row is None else call(trace, row, number, trace.step)


def _value(trace: Trace, kind: int, digest: int, producer: int = -1) -> Value:
    known = trace.kinds[kind]
    text = trace.text
    name = text(NAMED - producer) if producer <= NAMED else ""
    shape = tuple(known.shape)
    return Value(text(known.dtype), shape, text(known.device), text(known.layout), digest, max(producer, NOTHING), name)
