"""The sources that are files and folders."""

from __future__ import annotations

import errno
import os
import time
from typing import Final

import msgspec

from detlint.db.query import source
from detlint.files import read
from detlint.status import Status

_ABSENT: Final = b"-"
_PASSING: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.EIO, errno.ENOMEM, errno.EAGAIN, errno.EINTR})
"""Errors that say nothing of the file: its status doesn't prove that it still can't be read."""


def _status(path: str) -> bytes:
    """What proves that a file, or the names in a folder, are as they were; nothing does for what has just changed."""
    looked = time.time_ns()
    try:
        found = Status.of(os.stat(path), looked)
    except (FileNotFoundError, NotADirectoryError):
        return _ABSENT
    except (OSError, ValueError):
        return b""
    return b"" if found.young else msgspec.msgpack.encode(found)


@source(status=_status, kept=False)
def content(path: str) -> bytes | None:
    """What a file has; None where there is no regular file that can be read.

    Raises:
        OSError: it can't be read at the moment.
    """
    try:
        return read(path)
    except OSError as error:
        if error.errno in _PASSING:
            raise
        return None


@source(status=_status)
def listing(folder: str) -> tuple[str, ...] | None:
    """The names in a folder, sorted; those of folders end with a slash, those of links, whatever is behind, with an @. None where
    there is no folder that can be read.

    Raises:
        OSError: it can't be read at the moment.
    """
    try:
        with os.scandir(folder) as entries:
            return tuple(sorted(entry.name + _kind(entry) for entry in entries))
    except ValueError:
        return None
    except OSError as error:
        if error.errno in _PASSING:
            raise
        return None


def _kind(entry: os.DirEntry[str]) -> str:
    return "@" if entry.is_symlink() else "/" if entry.is_dir(follow_symlinks=False) else ""
