"""Facts on disk, by content: one database for each version of detlint and of the catalog. What is known of a whole program is
a file beside it.

A cache only saves time. One that can't be opened, read or written is a miss, and the run goes on.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import Path

import xxhash

from detlint.cachefile import CHECK, checksum, clear_place, make_folder


def content_key(data: bytes, module: str, package: bool) -> bytes:
    """The key of a file's facts: its bytes, and the name that relative imports start from."""
    key = xxhash.xxh3_128(data)
    key.update(f"\0{module}\0{package}".encode())
    return key.digest()


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
        self._path = folder / f"facts-{fingerprint}.sqlite"
        with contextlib.suppress(OSError, sqlite3.Error):
            make_folder(folder)
            try:
                self._database = _connect(self._path)
            except sqlite3.DatabaseError as error:
                if _may_be_right(error):
                    raise
                self._begin_anew()

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
                    if isinstance(row, bytes) and checksum(key, memoryview(row)[CHECK:]) == row[:CHECK]:
                        found[key] = row[CHECK:]
        except (sqlite3.Error, UnicodeDecodeError, TypeError) as error:
            self._mend(error)
        return found

    def put(self, rows: Mapping[bytes, bytes]) -> bool:
        """Remember some facts, all or none of them; whether that could be done."""
        if self._database is None:
            return False
        try:
            with self._database:
                signed = ((key, checksum(key, row) + row) for key, row in rows.items())
                self._database.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?)", signed)
            return True
        except sqlite3.Error as error:
            self._mend(error)
            return False

    def _mend(self, error: Exception) -> None:
        """Begin a new database where the old one is damaged, rather than busy, or on a disk that is full."""
        if not _may_be_right(error):
            with contextlib.suppress(OSError, sqlite3.Error):
                self._begin_anew()

    def _begin_anew(self) -> None:
        self.close()
        self._database = None
        for path in (Path(f"{self._path}-journal"), self._path):
            path.unlink(missing_ok=True)
        self._database = _connect(self._path)

    @property
    def folder(self) -> Path | None:
        """Where it is; None for nowhere."""
        return self._place[0]

    def reopened(self) -> Cache:
        """The same cache with a connection of its own, for another process."""
        return Cache(*self._place)

    def close(self) -> None:
        """Close the database."""
        if self._database is not None:
            self._database.close()


def _may_be_right(error: Exception) -> bool:
    """Whether a database that gave an error may be as it was written: it is locked, or can't be opened or written."""
    return isinstance(error, sqlite3.OperationalError) and "malformed" not in str(error) and "no such" not in str(error)


def _connect(path: Path) -> sqlite3.Connection:
    for there in (path, Path(f"{path}-journal")):
        clear_place(there)
    # Used by one thread at a time, but not always by the same: deep code is judged in a thread with a large stack.
    database = sqlite3.connect(path, timeout=5, check_same_thread=False)
    try:
        database.execute("PRAGMA synchronous = OFF")
        database.execute("PRAGMA journal_mode = TRUNCATE")  # a journal that is removed each time costs a third more
        # Rows are large: they fill long pages, and stay out of the index (WITHOUT ROWID writes five times as slowly).
        database.execute("PRAGMA page_size = 16384")
        database.execute("CREATE TABLE IF NOT EXISTS facts (key BLOB PRIMARY KEY, facts BLOB)")
    except BaseException:
        database.close()
        raise
    return database
