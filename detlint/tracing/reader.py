"""Reads trace files, row by row: how long a trace is has no bearing on the memory that reading it takes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec

from detlint.tracing.records import LENGTH, MAGIC, SUFFIX, End, Header, Kind, Rank, Record, Row, Site, Step, Text

_AT_ONCE: Final = 1 << 20


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
        except msgspec.DecodeError as error:
            raise Unreadable(f"{path}: damaged: {error}") from None
        return cls(path, header, rank=header.rank, world=header.world)

    def rows(self) -> Iterator[Row]:
        """Every row; the other attributes are filled as the rows that need them come."""
        for record in _records(self.path):
            if isinstance(record, Row):
                yield record
            elif isinstance(record, Text):
                self.texts.append(record.text)
            elif isinstance(record, Site):
                self.sites.append(record.frames)
            elif isinstance(record, Kind):
                self.kinds.append(record)
            elif isinstance(record, Step):
                self.step = record.number
            elif isinstance(record, Rank):
                self.rank, self.world = record.rank, record.world
            elif isinstance(record, End):
                self.end = record

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
    except msgspec.DecodeError as error:
        raise Unreadable(f"{path}: damaged: {error}") from None


def _frames(path: Path) -> Iterator[memoryview]:
    """The frames that are whole."""
    try:
        with path.open("rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                raise Unreadable(f"{path}: not a trace, or one of another version of detlint")
            data = b""
            while more := file.read(_AT_ONCE):
                data, at = data + more, 0
                while at + LENGTH <= len(data):
                    length = int.from_bytes(data[at : at + LENGTH], "little")
                    if length == 0:
                        return
                    if at + LENGTH + length > len(data):
                        break
                    yield memoryview(data)[at + LENGTH : at + LENGTH + length]
                    at += LENGTH + length
                data = data[at:]
    except OSError as error:
        raise Unreadable(f"{path}: can't be read: {error.strerror}") from None
