"""The database on disk: one file of SQLite for each version of detlint, which has the graph and, apart from it, the values.

It only saves time. One that can't be opened, read or written is a miss, and the run goes on; a damaged or foreign one is thrown away.
The graph has a check sum of its own; a row is what it should be if it has the fingerprint that the graph says. So nothing that was half
written, or written by somebody else in the meantime, is ever believed.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import zlib
from collections.abc import Iterable, Sequence
from enum import Enum, auto
from pathlib import Path
from typing import Final

from detlint.cachefile import CHECK, checksum, clear_place, make_folder

_LARGE: Final = 1000
"""Bytes from which on a value is compressed."""
_NAME: Final = b"graph"


class Outcome(Enum):
    """What became of saving."""

    SAVED = auto()
    OTHER = auto()
    """Somebody else has saved since this one was read."""
    FAILED = auto()


class Storage:
    """The place of a database.

    Args:
        folder: where it is; it is made if it isn't there.
        fingerprint: what else the values depend on: detlint's version, and Python's.
    """

    def __init__(self, folder: Path, fingerprint: str) -> None:
        self._folder = folder
        self._path = folder / f"queries-{fingerprint}.sqlite"
        self._database: sqlite3.Connection | None = None
        self._process = 0

    def graph(self) -> bytes | None:
        """The graph that was saved."""
        found = self._one("SELECT data FROM graph")
        if found is None or not isinstance(found[0], bytes):
            return None
        data = memoryview(found[0])
        return bytes(data[CHECK:]) if checksum(_NAME, data[CHECK:]) == data[:CHECK] else None

    def row(self, node: int) -> tuple[bytes, bytes] | None:
        """The question and the value of a node, as they are on disk: whoever asks compares their fingerprint."""
        return _unpacked(self._one("SELECT text, packed, data FROM answers WHERE node = ?", node) or ())

    def rows(self) -> dict[int, tuple[bytes, bytes]]:
        """All of them, which takes as long as some hundreds one by one."""
        found = dict[int, tuple[bytes, bytes]]()
        database = self._connection()
        if database is not None:
            try:
                for node, *rest in database.execute("SELECT node, text, packed, data FROM answers"):
                    row = _unpacked(rest)
                    if row is not None:
                        found[node] = row
            except (sqlite3.Error, UnicodeDecodeError) as error:
                self._mend(error)
        return found

    def save(
        self,
        before: int | None,
        token: int,
        graph: bytes,
        rows: Iterable[tuple[int, bytes, bytes]],
        gone: Iterable[int],
    ) -> Outcome:
        """Save all or nothing.

        Args:
            before: the token of what was read; somebody else has saved where there is another one now. None: whoever has.
            token: that of the graph.
            gone: nodes without a row from now on.
        """
        database = self._connection()
        if database is None:
            return Outcome.FAILED
        try:
            with database:
                database.execute("BEGIN IMMEDIATE")
                now = database.execute("SELECT token FROM graph").fetchone()
                if now is not None and before is not None and now[0] != before:
                    return Outcome.OTHER
                database.executemany("DELETE FROM answers WHERE node = ?", ((node,) for node in gone))
                database.executemany("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?)", map(_packed, rows))
                data = checksum(_NAME, graph) + graph
                database.execute("INSERT OR REPLACE INTO graph VALUES (0, ?, ?)", (token, data))
            return Outcome.SAVED
        except sqlite3.Error as error:
            self._mend(error)
            return Outcome.FAILED

    def close(self) -> None:
        """Close the file. It is opened again when it is asked."""
        if self._database is not None and self._process == os.getpid():
            with contextlib.suppress(sqlite3.Error):
                self._database.close()
        self._database, self._process = None, 0

    def _one(self, question: str, *values: int) -> tuple[object, ...] | None:
        database = self._connection()
        if database is None:
            return None
        try:
            found = database.execute(question, values).fetchone()
            return found if isinstance(found, tuple) else None
        except (sqlite3.Error, UnicodeDecodeError) as error:
            self._mend(error)
            return None

    def _connection(self) -> sqlite3.Connection | None:
        """A connection of this very process: one that was forked must not use its parent's."""
        if self._process != os.getpid():
            self._process, self._database = os.getpid(), None
            with contextlib.suppress(OSError, sqlite3.Error):
                make_folder(self._folder)
                try:
                    self._database = _connect(self._path)
                except sqlite3.DatabaseError as error:
                    self._mend(error)
        return self._database

    def _mend(self, error: Exception) -> None:
        """Begin a new file where the old one is damaged, rather than busy, or on a disk that is full."""
        if isinstance(error, sqlite3.OperationalError) and not any(
            word in str(error) for word in ("malformed", "no such", "has no column", "columns but")
        ):
            return
        with contextlib.suppress(OSError, sqlite3.Error):
            if self._database is not None:
                self._database.close()
            self._database = None
            for path in (Path(f"{self._path}-journal"), self._path):
                path.unlink(missing_ok=True)
            self._database = _connect(self._path)


def _unpacked(row: Sequence[object]) -> tuple[bytes, bytes] | None:
    match row:
        case (bytes(text), packed, bytes(data)):
            with contextlib.suppress(zlib.error, MemoryError):
                return text, zlib.decompress(data) if packed else data
    return None


def _packed(row: tuple[int, bytes, bytes]) -> tuple[int, bytes, int, bytes]:
    node, text, data = row
    return (node, text, 1, zlib.compress(data, 1)) if len(data) >= _LARGE else (node, text, 0, data)


def _connect(path: Path) -> sqlite3.Connection:
    for there in (path, Path(f"{path}-journal")):
        clear_place(there)
    # Used by one thread at a time, but not always by the same: deep questions are answered in threads of their own.
    database = sqlite3.connect(path, timeout=5, check_same_thread=False, isolation_level=None)
    try:
        database.execute("PRAGMA synchronous = OFF")
        database.execute("PRAGMA journal_mode = TRUNCATE")
        database.execute("CREATE TABLE IF NOT EXISTS graph (one INTEGER PRIMARY KEY, token INTEGER, data BLOB)")
        database.execute(
            "CREATE TABLE IF NOT EXISTS answers (node INTEGER PRIMARY KEY, text BLOB, packed INTEGER, data BLOB)"
        )
    except BaseException:
        database.close()
        raise
    return database
