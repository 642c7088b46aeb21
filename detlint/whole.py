"""Files that are written whole or not at all: a temporary file beside one gets the new content, then takes its place.

What a killed process leaves of that is removed by the next one that writes in the same folder.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from itertools import count
from typing import Final

_NAME: Final = re.compile(r"\.detlint-(\d+)-\d+\.tmp")
"""Of a temporary file: the process that writes it, and which of its files it is."""
_IN_PLACE: Final = frozenset({errno.EACCES, errno.EPERM, errno.EBUSY})
"""Errors where nothing may be put in a file's place, while it may be written to: of folders that others own, and of single files
that are mounted."""
_FLAGS: Final = (
    os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
)  # fmt: skip


def replace(
    path: str, parts: Iterable[bytes], ready: Callable[[str], None] | None = None, mode: int = 0o666, sync: bool = True
) -> None:
    """Give a file a new content.

    Args:
        path: the file; a link would be replaced by it.
        ready: called with the name of the temporary file when all is in it, right before it takes its place.
        mode: the permissions of the temporary file, which the process's mask narrows.
        sync: whether the content must be on the disk before, so that not even a power failure leaves half of it.

    Raises:
        OSError: it can't be written. The file is as it was.
    """
    folder = os.path.dirname(path) or os.curdir
    sweep(folder)
    file, name = _opened(folder, mode)
    try:
        with open(file, "wb") as temporary:
            for part in parts:
                temporary.write(part)
            temporary.flush()
            if sync:
                os.fsync(file)
        if ready is not None:
            ready(name)
        os.replace(name, path)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(name)


def save(path: str | os.PathLike[str], data: bytes) -> None:
    """Write what a user wants to have in a file, whatever that has now; a device or a pipe is written to as it is.

    Raises:
        OSError: it can't be written.
    """
    real = os.path.realpath(path)
    there = os.path.lexists(real)
    if there and not os.path.isfile(real):
        _pour(real, data)
        return
    try:
        replace(real, [data], partial(like, real) if there else None)
    except OSError as error:
        if not there or error.errno not in _IN_PLACE:
            raise
        _pour(real, data)


def _pour(path: str, data: bytes) -> None:
    with open(path, "wb") as file:
        file.write(data)


def like(path: str, other: str) -> None:
    """Give a file the owner, the mode and the extended attributes of one that it is to replace.

    Args:
        path: the one that is replaced.
    """
    import shutil  # takes some milliseconds, and most runs only read

    status = os.stat(path)
    if hasattr(os, "chown"):
        with contextlib.suppress(OSError):  # only root may give files away
            os.chown(other, status.st_uid, status.st_gid)
    shutil.copystat(path, other)
    os.utime(other)


def _opened(folder: str, mode: int) -> tuple[int, str]:
    """A temporary file that nobody else has, opened, and its name."""
    for number in count():
        name = os.path.join(folder, f".detlint-{os.getpid()}-{number}.tmp")
        with contextlib.suppress(FileExistsError):
            return os.open(name, _FLAGS, mode), name
    raise AssertionError


@lru_cache(maxsize=4096)
def sweep(folder: str) -> None:
    """Remove the temporary files of processes that are no more; each folder is looked into once."""
    try:
        with os.scandir(folder) as entries:
            found = [(entry.path, match) for entry in entries if (match := _NAME.fullmatch(entry.name))]
    except OSError:
        return
    for path, match in sorted(found, key=lambda one: one[0]):
        with contextlib.suppress(OSError):
            status = os.lstat(path)
            own = not hasattr(os, "geteuid") or status.st_uid == os.geteuid()
            if own and stat.S_ISREG(status.st_mode) and status.st_nlink == 1 and not _runs(int(match[1])):
                os.unlink(path)


def _runs(process: int) -> bool:
    """Whether a process is there. Windows lets nobody remove a file that is being written, so it need not be asked."""
    if os.name == "nt":
        return False
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        pass  # another user's
    return True
