"""Writes a trace file in such a way that a run which is killed leaves every row that it has made."""

from __future__ import annotations

import mmap
import os
from collections.abc import Hashable
from pathlib import Path
from typing import Final

import msgspec

from detlint.tracing.records import EVENT, LENGTH, MAGIC, NOTHING, SUFFIX, UNREAD, Header, Kind, Record, Row, Site, Text

_GROWTH: Final = 1 << 20


class Occupied(Exception):
    """The folder holds the trace of another run."""


class Writer:
    """A trace file that grows; its memory map belongs to the system, which keeps it when the process dies."""

    def __init__(self, folder: Path, name: str, header: Header) -> None:
        """Make the file.

        Args:
            name: without its ending: `rank0`.

        Raises:
            Occupied: there is one.
            OSError: it can't be made.
        """
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / f"{name}{SUFFIX}"
        self._file = _new(self.path)
        self._size = 0
        self._at = 0
        self._map: mmap.mmap | None = None
        self._encoder = msgspec.msgpack.Encoder()
        self._buffer = bytearray()
        self._numbers: dict[Hashable, int] = {}
        self._texts = self._sites = self._kinds = 0
        self._grow(len(MAGIC))
        assert self._map is not None
        self._map[: len(MAGIC)] = MAGIC
        self._at = len(MAGIC)
        self.write(header)

    @property
    def closed(self) -> bool:
        """Whether nothing can be written any more."""
        return self._map is None

    def write(self, record: Header | Record) -> None:
        """Add a record; the first one is the header."""
        buffer = self._buffer
        self._encoder.encode_into(record, buffer)
        length = len(buffer)
        start = self._at + LENGTH
        if start + length + LENGTH > self._size:
            self._grow(length + 2 * LENGTH)
        room = self._map
        assert room is not None
        room[start : start + length] = buffer
        room[self._at : start] = length.to_bytes(LENGTH, "little")
        self._at = start + length

    def text(self, text: str) -> int:
        """The number of a text; it is written the first time."""
        number = self._numbers.get(text)
        if number is None:
            number = self._numbers[text] = self._texts
            self._texts += 1
            self.write(Text(text))
        return number

    def site(self, frames: tuple[tuple[str, int, str], ...]) -> int:
        """The number of a call stack (file, line, function), innermost first."""
        number = self._numbers.get(frames)
        if number is None:
            parts = [n for file, line, name in frames for n in (self.text(file), line, self.text(name))]
            number = self._numbers[frames] = self._sites
            self._sites += 1
            self.write(Site(parts))
        return number

    def kind(self, dtype: str, shape: tuple[int, ...], device: str, layout: str) -> int:
        """The number of a kind of value."""
        key = (dtype, shape, device, layout)
        number = self._numbers.get(key)
        if number is None:
            kind = Kind(self.text(dtype), list(shape), self.text(device), self.text(layout))
            number = self._numbers[key] = self._kinds
            self._kinds += 1
            self.write(kind)
        return number

    def event(self, name: str, frames: tuple[tuple[str, int, str], ...], arguments: str, digest: int) -> Row:
        """The row of a function of Python's, to be written in its place: who called it, with what, and the digest of what it gave."""
        op, kind = self.text(name), self.kind("python", (), "", "")
        given = self.text(arguments) if arguments else NOTHING
        return Row(op, op, self.site(frames), NOTHING, given, NOTHING, NOTHING, UNREAD, [], [kind, digest], EVENT)

    def close(self) -> None:
        """Cut the file to what is written."""
        if self._map is None:
            return
        self._map.flush()
        self._map.close()
        self._map = None
        os.ftruncate(self._file, self._at)
        os.close(self._file)

    def forsake(self) -> None:
        """Leave the file to the process that this one was forked from."""
        self._map = None

    def _grow(self, least: int) -> None:
        if self._map is not None:
            self._map.close()
        grown = self._at + max(least, _GROWTH)
        if hasattr(os, "posix_fallocate"):
            # A disk that is full is an error here; in a map of a file with holes it would be a signal, later.
            os.posix_fallocate(self._file, 0, grown)
        else:
            os.ftruncate(self._file, grown)
        self._size = grown
        self._map = mmap.mmap(self._file, grown)


def _new(path: Path) -> int:
    """The descriptor of a file that wasn't there."""
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o644)
    except FileExistsError:
        raise Occupied(f"{path}: there is a trace already; name another folder, or remove this one") from None
