"""What a trace file holds: a header, then what is written once and named by its number, and a row for each operator.

A file is a sequence of frames: four bytes that say how long the frame is, little-endian, then one of these records in
MessagePack. The length is written last, so a file that broke off ends where a length is missing or zero.
"""

from __future__ import annotations

from typing import Final

import msgspec

MAGIC: Final = b"detlint trace 1\n"
WORKER: Final = "-worker"
"""Between the name of a process's file and the number of its worker."""
THREADS: Final = "-threads"
"""Behind the name of a process's file: what its other threads do."""
LENGTH: Final = 4
"""Bytes of the length before each frame."""
SUFFIX: Final = ".trace"
NOTHING: Final = -1
"""No row, no text, no site: numbers that may be missing have this value."""
NAMED: Final = -2
"""A producer that is a name of a module's: this less the number of its text."""
UNREAD: Final = 0
"""The digest of a value that wasn't read: a view of what an earlier row has, or memory that isn't ready yet."""


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """What a run was: what must be the same for two runs to be comparable, and what may explain a difference.

    Attributes:
        rank: the number of the process in a run of several; None where nothing says it yet.
        fill: what uninitialised memory was filled with.
        worker: of a worker of a data loader, how many processes had been forked before; 0 of a process's other threads; None of others.
        level: `kernel`, `api` or `module`.
        digest: how values are digested. Two traces are compared only if they have it in common.
    """

    level: str
    digest: str
    framework: str = ""
    rank: int | None = None
    world: int | None = None
    worker: int | None = None
    fill: int = 0
    argv: list[str] = []
    python: str = ""
    platform: str = ""
    versions: dict[str, str] = {}
    devices: list[str] = []
    threads: int = 0
    flags: dict[str, str] = {}
    environment: dict[str, str] = {}
    git: dict[str, str] = {}
    directory: str = ""


class Text(msgspec.Struct, tag=1, array_like=True, frozen=True):
    """A name or an argument list. Its number is how many came before it."""

    text: str


class Site(msgspec.Struct, tag=2, array_like=True, frozen=True):
    """A call stack, innermost first: file (a text's number), line, function (a text's number), and so on."""

    frames: list[int]


class Kind(msgspec.Struct, tag=3, array_like=True, frozen=True):
    """What a value is, apart from its content: a text's number each. The layout is empty where it is the usual one."""

    dtype: int
    shape: list[int]
    device: int
    layout: int


class Row(msgspec.Struct, tag=4, array_like=True):
    """One call of an operator.

    Attributes:
        op: the operator's name.
        api: the public function that the program called.
        site: where.
        module: the path of the module whose forward runs.
        arguments: what it was given besides tensors, as text.
        node: the autograd node that runs it, in the backward pass.
        forward: the row of the forward pass that the node belongs to.
        random: the digest of the state of the random numbers that it draws from, before it draws; UNREAD if it draws none.
        inputs: kind, digest and producer of each tensor, one after the other. The producer is the row that wrote it last.
        outputs: kind and digest of each.
        flags: SHARED, VIEW, FAILED, DRAWS, BRINGS, AIM, EVENT.
    """

    op: int
    api: int
    site: int
    module: int
    arguments: int
    node: int
    forward: int
    random: int
    inputs: list[int]
    outputs: list[int]
    flags: int


class Step(msgspec.Struct, tag=5, array_like=True, frozen=True):
    """A training step begins."""

    number: int


class Rank(msgspec.Struct, tag=6, array_like=True, frozen=True):
    """Which process of several this is, known later than the header."""

    rank: int
    world: int


class Values(msgspec.Struct, tag=8, array_like=True, frozen=True):
    """How large the values of a row are that follows, so that they can be compared within a tolerance.

    Attributes:
        row: its number.
        inputs: of each input that no row made; empty for the others.
        outputs: of each output. A sketch: length, how many values are no finite numbers, products. From msprobe: maximum,
            minimum, mean, length.
    """

    row: int
    inputs: list[list[float]]
    outputs: list[list[float]]


class End(msgspec.Struct, tag=7, array_like=True, frozen=True):
    """The trace was closed. `error` is the exception that ended the run, if one did."""

    error: str
    notes: list[str]


SHARED: Final = 1
"""A row that exchanges data with other processes: its outputs are ready later, and are read where they are used."""
VIEW: Final = 2
"""A row whose outputs are the memory of its inputs: only what it was called with says something."""
FAILED: Final = 4
"""A row whose operator raised an exception."""
DRAWS: Final = 8
"""A row whose operator draws random numbers from a state that the framework doesn't tell, or not all of it."""
BRINGS: Final = 16
"""A row whose outputs come from outside of the trace: a dataset's next batch, a file, a function of Python's."""
AIM: Final = 32
"""A row of what a run is for: a loss from which gradients are computed, or the parameters as an optimizer has left them."""
EVENT: Final = 64
"""A row of Python's: a draw, a seed, the time, a listing, a file. It tells where from data came, and is no difference by itself."""
Record = Text | Site | Kind | Row | Step | Rank | End | Values
