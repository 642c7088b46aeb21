"""Reads files: the only place where the static tool does, so that no file can keep it waiting or fill the memory.

A repository may hold anything under any name: a link to a pipe or to `/dev/zero` named README.md, a file of 8 GB that takes no
room on disk. Only regular files are opened, and the size is asked before the first byte is read.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from detlint.status import Status

StrPath = str | os.PathLike[str]

MOST: Final = 100_000_000
"""Bytes of any file: GitHub takes none that is larger."""
MOST_OF_METADATA: Final = 10_000_000
"""Bytes of what describes a project: lock files have 3 MB, all others less."""

_FLAGS: Final = sum(getattr(os, name, 0) for name in ("O_BINARY", "O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC")) | os.O_RDONLY
_PART: Final = 1 << 16


def read(path: StrPath, most: int = MOST) -> bytes:
    """What a regular file has.

    Args:
        most: with more bytes it isn't read.

    Raises:
        OSError: it can't be read, is no regular file, or is too large; `strerror` says which.
    """
    with _opened(path) as (file, status):
        return _all_of(file, status, most, path)


def read_with_status(path: StrPath, most: int = MOST) -> tuple[bytes, os.stat_result | None]:
    """What a regular file has, and what the file system says of it: None where that was another thing before it was read than after.

    Raises:
        OSError: as `read`.
    """
    with _opened(path) as (file, before):
        data = _all_of(file, before, most, path)
        after = os.fstat(file)
        return data, after if Status.of(before, 0) == Status.of(after, 0) else None


def beginning(path: StrPath, most: int) -> bytes:
    """The first bytes of a regular file.

    Raises:
        OSError: as `read`, but for the size.
    """
    with _opened(path) as (file, status):
        return _taken(file, status.st_size, most)


def _all_of(file: int, status: os.stat_result, most: int, path: StrPath) -> bytes:
    if status.st_size > most:
        reason = f"it has {status.st_size:,} bytes, more than the {most:,} that are read"
        raise OSError(errno.EFBIG, reason, os.fspath(path))
    data = _taken(file, status.st_size, most + 1)
    if len(data) > most:  # files of /proc don't say their size
        raise OSError(errno.EFBIG, f"it has more bytes than the {most:,} that are read", os.fspath(path))
    return data


@contextmanager
def _opened(path: StrPath) -> Iterator[tuple[int, os.stat_result]]:
    """A descriptor for a regular file, and its status."""
    try:
        _expect_regular(os.stat(path), path)  # to open a device may do something: a watchdog starts to count
        file = os.open(path, _FLAGS)
    except ValueError:
        raise OSError(errno.EINVAL, "there is a NUL character in its name", os.fspath(path)) from None
    try:
        status = os.fstat(file)  # it may be another one by now
        _expect_regular(status, path)
        yield file, status
    finally:
        os.close(file)


def _expect_regular(status: os.stat_result, path: StrPath) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, "it is a folder", os.fspath(path))
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "it is no regular file but a pipe, a socket or a device", os.fspath(path))


def _taken(file: int, size: int, most: int) -> bytes:
    """The bytes of an open file, up to a number of them."""
    parts, left = list[bytes](), most
    while left > 0 and (part := os.read(file, min(left, max(size + 1, _PART)))):
        if len(part) == size and not parts and size < most:  # with one byte more asked for: that was all
            return part
        parts.append(part)
        left -= len(part)
    return b"".join(parts)
