"""Reads trace files, row by row: how long a trace is has no bearing on the memory that reading it takes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from detlint.tracing.records import (
    LENGTH,
    MAGIC,
    NAMED,
    SUFFIX,
    End,
    Header,
    Kind,
    Rank,
    Record,
    Row,
    Site,
    Step,
    Text,
    Values,
)

_AT_ONCE: Final = 1 << 20
_LONGEST: Final = 64 << 20
"""Bytes: no record is longer, whatever its frame says."""


class Unreadable(Exception):
    """A file that is no trace, or a folder without one. The text names it."""


@dataclass
class Trace:
    """One process's trace: an iterator over its rows, and what is known so far of what they name by number."""

    path: Path
    header: Header
    texts: list[str] = field(default_factory=list)
    sites: list[list[int]] = field(default_factory=list)
    kinds: list[Kind] = field(default_factory=list)
    rank: int | None = None
    world: int | None = None
    step: int = 0
    values: dict[int, Values] = field(default_factory=dict)
    """By row, of those that nobody has taken out yet."""
    end: End | None = None
    """What closed it; None at the end of the file means that the process was killed."""

    @classmethod
    def open(cls, path: Path) -> Trace:
        """Read the header.

        Raises:
            Unreadable: the file is no trace.
        """
        frame = next(_frames(path), None)
        if frame is None:
            raise Unreadable(f"{path}: the trace is empty: the run ended before it began")
        try:
            header = msgspec.msgpack.decode(frame, type=Header)
        except ValueError as error:
            raise Unreadable(f"{path}: damaged: {error}") from None
        return cls(path, header, rank=header.rank, world=header.world)

    def rows(self) -> Iterator[Row]:
        """Every row; the other attributes are filled as the rows that need them come.

        Raises:
            Unreadable: the file is damaged. What is read until then names only what there is.
        """
        for record in _records(self.path):
            if isinstance(record, Row):
                if not self._sound(record):
                    raise Unreadable(f"{self.path}: damaged: a row names what isn't there")
                yield record
            elif isinstance(record, Text):
                self.texts.append(record.text)
            elif isinstance(record, Site):
                if len(record.frames) % 3 or not all(map(self._known, record.frames[::3] + record.frames[2::3])):
                    raise Unreadable(f"{self.path}: damaged: a line names what isn't there")
                self.sites.append(record.frames)
            elif isinstance(record, Kind):
                if max(record.dtype, record.device, record.layout) >= len(self.texts):
                    raise Unreadable(f"{self.path}: damaged: a type names what isn't there")
                self.kinds.append(record)
            elif isinstance(record, Step):
                self.step = record.number
            elif isinstance(record, Rank):
                self.rank, self.world = record.rank, record.world
            elif isinstance(record, End):
                self.end = record
            elif isinstance(record, Values):
                self.values[record.row] = record

    def _known(self, number: int) -> bool:
        return 0 <= number < len(self.texts)

    def _sound(self, row: Row) -> bool:
        """Whether what a row names by number has been read."""
        texts, kinds = len(self.texts), len(self.kinds)
        inputs, outputs = row.inputs, row.outputs
        return (
            max(row.op, row.api, row.module, row.arguments, row.node) < texts
            and row.site < len(self.sites)
            and not len(inputs) % 3
            and not len(outputs) % 2
            and all(0 <= kind < kinds for kind in inputs[::3])
            and all(0 <= kind < kinds for kind in outputs[::2])
            and (not inputs or NAMED - min(inputs[2::3]) < texts)
        )

    def text(self, number: int) -> str:
        """A text by its number; empty where there is none."""
        return self.texts[number] if number >= 0 else ""

    def frames(self, site: int) -> list[tuple[str, int, str]]:
        """A call stack: file, line, function, innermost first."""
        if site < 0:
            return []
        parts = self.sites[site]
        return [(self.texts[parts[i]], parts[i + 1], self.texts[parts[i + 2]]) for i in range(0, len(parts), 3)]


def traces(folder: Path) -> list[Path]:
    """The files of a run, one a process; a file stands for itself.

    Raises:
        Unreadable: there are none.
    """
    if folder.is_file():
        return [folder]
    found = sorted(folder.glob(f"*{SUFFIX}"))
    if not found and folder.exists() and not folder.is_dir():
        raise Unreadable(f"{folder}: neither a file nor a folder")
    if not found:
        raise Unreadable(f"{folder}: no trace is there (`detlint trace {folder} script.py` makes one)")
    return found


def _records(path: Path) -> Iterator[Record]:
    decoder = msgspec.msgpack.Decoder(Record)
    frames = _frames(path)
    next(frames, None)
    try:
        for frame in frames:
            yield decoder.decode(frame)
    except ValueError as error:
        raise Unreadable(f"{path}: damaged: {error}") from None


def regular(path: Path) -> BinaryIO:
    """A file, opened for reading. Others may never end, or wait for somebody to write.

    Raises:
        Unreadable: it is none.
        OSError: it can't be opened.
    """
    if not path.is_file():
        path.stat()
        raise Unreadable(f"{path}: can't be read: it is no regular file")
    return path.open("rb")


def _frames(path: Path) -> Iterator[memoryview]:
    """The frames that are whole."""
    try:
        with regular(path) as file:
            if file.read(len(MAGIC)) != MAGIC:
                raise Unreadable(f"{path}: not a trace, or one of another version of detlint")
            data = b""
            while more := file.read(_AT_ONCE):
                data, at = data + more, 0
                while at + LENGTH <= len(data):
                    length = int.from_bytes(data[at : at + LENGTH], "little")
                    if length == 0:
                        return
                    if length > _LONGEST:
                        raise Unreadable(f"{path}: damaged: a record of {length:,} bytes")
                    if at + LENGTH + length > len(data):
                        break
                    yield memoryview(data)[at + LENGTH : at + LENGTH + length]
                    at += LENGTH + length
                data = data[at:]
    except OSError as error:
        raise Unreadable(f"{path}: can't be read: {error.strerror}") from None
