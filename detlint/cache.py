"""Facts on disk, by content: one database for each version of detlint and of the catalog. What is known of a whole program is
a file beside it.

A cache only saves time. One that can't be opened, read or written is a miss, and the run goes on.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

import xxhash

from detlint import whole
from detlint.files import read

CACHEDIR_TAG: Final = (
    "Signature: 8a477f597d28d172789f06886806bc55\n# This folder holds detlint's cache; it can be deleted.\n"
)
CHECK: Final = 8
"""Bytes of the check sum that a row begins with: it tells one that was written whole from a damaged one."""


def _signed(data: bytes) -> bytes:
    return _sum(data) + data


def _sum(data: bytes | memoryview) -> bytes:
    return xxhash.xxh3_64_digest(data)


def content_key(data: bytes, module: str, package: bool) -> bytes:
    """The key of a file's facts: its bytes, and the name that relative imports start from."""
    return xxhash.xxh3_128_digest(data + f"\0{module}\0{package}".encode())


class Cache:
    """Facts by content key, encoded.

    Args:
        folder: where the cache lives; None keeps nothing.
        fingerprint: what else the facts depend on (detlint's version, the catalog, Python).
    """

    def __init__(self, folder: Path | None, fingerprint: str) -> None:
        self._database: sqlite3.Connection | None = None
        self._place = (folder, fingerprint)
        if folder is None:
            return
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if not (folder / "CACHEDIR.TAG").exists():
                for name, text in (("CACHEDIR.TAG", CACHEDIR_TAG), (".gitignore", "*\n")):
                    # Never over somebody's, who has put the cache where other things are.
                    with contextlib.suppress(FileExistsError), (folder / name).open("x") as file:
                        file.write(text)
            self._database = self._open(folder / f"facts-{fingerprint}.sqlite")
        except (OSError, sqlite3.Error):
            self._database = None

    @staticmethod
    def _open(path: Path) -> sqlite3.Connection:
        try:
            return _connect(path)
        except sqlite3.DatabaseError:
            path.unlink(missing_ok=True)
            return _connect(path)

    def get(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """What is known of some keys."""
        found: dict[bytes, bytes] = {}
        if self._database is None:
            return found
        wanted = list(keys)
        try:
            for start in range(0, len(wanted), 500):
                part = wanted[start : start + 500]
                marks = ",".join("?" * len(part))
                for key, row in self._database.execute(f"SELECT key, facts FROM facts WHERE key IN ({marks})", part):
                    if isinstance(row, bytes) and _sum(memoryview(row)[CHECK:]) == row[:CHECK]:
                        found[key] = row[CHECK:]
        except (sqlite3.Error, UnicodeDecodeError):
            return {}
        return found

    def put(self, rows: Mapping[bytes, bytes]) -> bool:
        """Remember some facts, all or none of them; whether that could be done."""
        if self._database is None:
            return False
        with contextlib.suppress(sqlite3.Error), self._database:
            signed = ((key, _signed(row)) for key, row in rows.items())
            self._database.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?)", signed)
            return True
        return False

    def recall(self, name: str) -> memoryview | None:
        """What was last kept under a name."""
        if self._database is None or self._place[0] is None:
            return None
        try:
            row = memoryview(read(self._place[0] / name))
        except OSError:
            return None
        return row[CHECK:] if _sum(row[CHECK:]) == row[:CHECK] else None

    def replace(self, name: str, data: bytes) -> None:
        """Keep something large under a name, in the place of what was there: a file for itself, since a database writes twice
        what it replaces."""
        if self._database is not None and self._place[0] is not None:
            write_whole(self._place[0] / name, _sum(data), data)

    def reopened(self) -> Cache:
        """The same cache with a connection of its own, for another process."""
        return Cache(*self._place)

    def close(self) -> None:
        """Close the database."""
        if self._database is not None:
            self._database.close()


def write_whole(path: Path, *parts: bytes) -> None:
    """Write a file of the cache that nobody ever sees half-written. One that can't be written costs time, nothing else."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        whole.replace(str(path), parts, sync=False)


def _connect(path: Path) -> sqlite3.Connection:
    # Used by one thread at a time, but not always by the same: deep code is judged in a thread with a large stack.
    database = sqlite3.connect(path, timeout=5, check_same_thread=False)
    database.execute("PRAGMA synchronous = OFF")
    database.execute("PRAGMA journal_mode = TRUNCATE")  # a journal that is removed each time costs a third more
    # Rows are large: they fill long pages, and stay out of the index (WITHOUT ROWID writes five times as slowly).
    database.execute("PRAGMA page_size = 16384")
    database.execute("CREATE TABLE IF NOT EXISTS facts (key BLOB PRIMARY KEY, facts BLOB)")
    return database
