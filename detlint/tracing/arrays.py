"""Turns the calls of frameworks whose tensors can be had as arrays of NumPy's into rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Iterator
from types import FrameType
from typing import Any, ClassVar, Final, NamedTuple

from xxhash import xxh3_64_intdigest

from detlint.tracing.records import AIM, BRINGS, DRAWS, FAILED, NAMED, NOTHING, UNREAD, Row
from detlint.tracing.sites import Frames, Sites
from detlint.tracing.writer import Writer

_LONGEST: Final = 200
"""Characters of an argument list that are kept."""
_EMPTY: Final = 1


class Kind(NamedTuple):
    """What a tensor is, apart from its content."""

    dtype: str
    shape: tuple[int, ...]
    device: str = "cpu"


class Made(NamedTuple):
    """Who wrote a tensor last, and what."""

    row: int
    digest: int


class ArrayTracer(ABC):
    """One trace of one process: what a framework's hooks see becomes rows.

    Attributes:
        recording: whether rows are made.
        row: how many there are.
        path: of the module whose forward runs; empty outside of all.
    """

    by_content: ClassVar[bool] = False
    """Whether a tensor is taken for another one with the same content: where a view's address isn't that of what it is of."""

    def __init__(self, writer: Writer, *roots: str) -> None:
        """
        Args:
            roots: the folders whose frames are the framework's.
        """
        self.writer = writer
        self.recording = True
        self.row = 0
        self.path = ""
        self.names: dict[Hashable, str] = {}
        """What modules call the tensors that no row wrote."""
        self._sites = Sites(*roots)
        self._made: dict[Hashable, Made] = {}
        self._earlier: dict[Hashable, Made] = {}
        self._contents: dict[tuple[int, int], int] = {}
        self._kinds: dict[Kind, int] = {}
        self._numbers: dict[str, int] = {}

    # -- what a framework's tensors tell ------------------------------------------------------------------------------

    @abstractmethod
    def is_tensor(self, value: Any) -> bool:
        """Whether a value is one."""

    @abstractmethod
    def kind(self, tensor: Any) -> Kind:
        """What it is."""

    @abstractmethod
    def digest(self, tensor: Any) -> int:
        """The digest of its content; UNREAD where there is none to read."""

    @abstractmethod
    def key(self, tensor: Any) -> Hashable:
        """What tells it from others while it lives; None where nothing does."""

    @property
    @abstractmethod
    def goes_back(self) -> bool:
        """Whether the backward pass runs."""

    @abstractmethod
    def api(self, entry: FrameType) -> str:
        """The name of the public function that runs in a frame; empty where it has none."""

    # -- rows ---------------------------------------------------------------------------------------------------------

    def begin(
        self, op: str, inputs: Iterable[Any], others: Iterable[Any] = (), random: int = UNREAD, flags: int = 0
    ) -> Row:
        """A row whose inputs are read; what is called is called next."""
        frames, entry = self._sites.entered(3)
        name = self.api(entry) if entry is not None else ""
        said = ", ".join(filter(None, map(shown, others)))[:_LONGEST]
        row = Row(
            self.text(op),
            self.text(name) if name else NOTHING,
            self.writer.site(frames),
            self.text(self.path),
            self.writer.text(said) if said else NOTHING,
            NOTHING,
            NOTHING,
            random,
            [],
            [],
            flags,
        )
        for tensor in inputs:
            self.read(tensor, row)
        return row

    def read(self, tensor: Any, row: Row) -> int:
        """Add an input; its digest."""
        kind, digest = self.value(tensor)
        row.inputs += (kind, digest, self._producer(tensor, kind, digest))
        return digest

    def add(self, tensor: Any, row: Row, digest: int | None = None) -> None:
        """Add an output: the row that is written next is the one that made it."""
        found = self.digest(tensor) if digest is None else digest
        kind = self._kind(tensor)
        row.outputs += (kind, found)
        if self.by_content and found != UNREAD:
            self._contents[kind, found] = self.row
        key = self.key(tensor)
        if key is not None:
            self._made[key] = Made(self.row, found)

    def finish(self, row: Row, outputs: Iterable[Any] = ()) -> int:
        """Read a row's outputs, and write it; its number."""
        for tensor in outputs:
            self.add(tensor, row)
        self.writer.write(row)
        self.row += 1
        return self.row - 1

    def fail(self, row: Row) -> None:
        """Write the row of a call that raised an exception."""
        row.flags |= FAILED
        self.finish(row)

    def bring(self, op: str, outputs: Iterable[Any]) -> None:
        """Write the row of what comes from outside of the trace."""
        self.finish(self.begin(op, (), flags=BRINGS), outputs)

    def seed(self, op: str, numbers: Iterable[int], outputs: Iterable[Any] = ()) -> None:
        """Write the row of a stream that is seeded."""
        self.finish(self.begin(op, (), random=of_numbers(numbers), flags=DRAWS), outputs)

    def aim(self, op: str, tensors: Iterable[Any]) -> None:
        """Write the row of what the run is for: a loss, or parameters."""
        row = Row(
            self.text(op),
            NOTHING,
            self.writer.site(self._sites.here(3)),
            NOTHING,
            NOTHING,
            NOTHING,
            NOTHING,
            UNREAD,
            [],
            [],
            AIM,
        )
        for tensor in tensors:
            self.read(tensor, row)
        self.finish(row)

    def event(self, name: str, frames: Frames, arguments: str, digest: int) -> None:
        """Write the row of a function of Python's."""
        if self.writer.closed or self.goes_back:
            return  # the trace has ended, or the backward pass calls it
        self.finish(self.writer.event(name, frames, arguments, digest))

    def mark(self, step: Any) -> None:
        """Write a record other than a row, in its place among them. What was made two steps ago is forgotten."""
        self.writer.write(step)
        self._earlier, self._made = self._made, {}
        self._contents.clear()

    def maker(self, tensor: Any, kind: int, digest: int) -> int:
        """The row that gave a tensor this content; NOTHING where none did."""
        key = self.key(tensor)
        made = self._made.get(key) or self._earlier.get(key)
        if made is not None and made.digest in (digest, UNREAD):
            return made.row
        return self._contents.get((kind, digest), NOTHING) if self.by_content else NOTHING

    def value(self, tensor: Any) -> tuple[int, int]:
        """The numbers of a tensor's kind and of its content."""
        return self._kind(tensor), self.digest(tensor)

    def array(self, array: Any) -> tuple[int, int]:
        """The same of an array of NumPy's."""
        if not hasattr(array, "dtype"):
            return self._number(Kind("unknown", ())), UNREAD
        return self._number(Kind(str(array.dtype), tuple(array.shape))), of_array(array)

    def text(self, text: str) -> int:
        """The number of a text."""
        number = self._numbers.get(text)
        if number is None:
            number = self._numbers[text] = self.writer.text(text)
        return number

    def tensors(self, values: Iterable[Any]) -> Iterator[Any]:
        """The tensors among values, whatever lists they stand in."""
        for value in values:
            if isinstance(value, list | tuple):
                yield from self.tensors(value)
            elif isinstance(value, dict):
                yield from self.tensors(value.values())
            elif self.is_tensor(value):
                yield value

    # -- the parts of a row -------------------------------------------------------------------------------------------

    def _producer(self, tensor: Any, kind: int, digest: int) -> int:
        found = self.maker(tensor, kind, digest)
        if found == NOTHING and (name := self.names.get(self.key(tensor))):
            return NAMED - self.text(name)
        return found

    def _kind(self, tensor: Any) -> int:
        return self._number(self.kind(tensor))

    def _number(self, kind: Kind) -> int:
        number = self._kinds.get(kind)
        if number is None:
            number = self._kinds[kind] = self.writer.kind(kind.dtype, kind.shape, kind.device, "")
        return number


def of_array(array: Any) -> int:
    """The digest of an array of NumPy's: of every bit, in its place."""
    if array.dtype.hasobject:
        return _of_bytes(b"".join(_framed(item) for item in array.reshape(-1)))
    if not array.flags.c_contiguous:
        array = array.copy()
    return _of_bytes(array.reshape(-1).view("u1").data)


def of_numbers(numbers: Iterable[Any]) -> int:
    """A digest of numbers."""
    return _of_bytes(repr([*numbers]).encode())


def shown(value: Any) -> str:
    """An argument as text; an object that isn't a value has only its type, since its address differs in every run."""
    if isinstance(value, bool | int | float | complex | str | bytes) or value is None:
        return repr(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(shown, value))}]"
    if isinstance(value, dict):
        return ", ".join(f"{name}={shown(item)}" for name, item in value.items())
    return type(value).__name__


def _framed(item: Any) -> bytes:
    data = item if isinstance(item, bytes) else str(item).encode()
    return len(data).to_bytes(8, "little") + data


def _of_bytes(data: Any) -> int:
    return xxh3_64_intdigest(data) or _EMPTY
