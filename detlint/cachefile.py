"""Files of a cache: each begins with a check sum, is seen whole or not at all, and is a file, not a link to one."""

from __future__ import annotations

import contextlib
import os
import stat
import time
from pathlib import Path
from typing import Final

import xxhash

TAG: Final = "CACHEDIR.TAG"
_TAGGED: Final = (
    "Signature: 8a477f597d28d172789f06886806bc55\n# This folder holds detlint's cache; it can be deleted.\n"
)
CHECK: Final = 8
"""Bytes of the check sum that everything begins with: it tells what was written whole from what is damaged."""
_NAMES: Final = ("catalog-", "facts-", "record-")
"""How the files of a cache begin."""
_NEW: Final = ".new"
_LEFT: Final = 3600.0
"""Seconds: a file that is not whole after that was left by a run that was killed."""


def checksum(name: bytes, data: bytes | memoryview) -> bytes:
    """The check sum of something under the name by which it is asked for."""
    made = xxhash.xxh3_64(name)
    made.update(data)
    return made.digest()


def read_whole(path: Path) -> memoryview | None:
    """What `write_whole` has put into a file; None where there is none, or it isn't as it was written."""
    try:
        kept = memoryview(_bytes_of(path))
    except OSError:
        return None
    return kept[CHECK:] if checksum(path.name.encode(), kept[CHECK:]) == kept[:CHECK] else None


def _bytes_of(path: Path) -> bytes:
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    with open(os.open(path, flags), "rb") as file:
        return file.read() if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else b""


def write_whole(path: Path, data: bytes) -> None:
    """Write a file that nobody ever sees half-written. One that can't be written costs time, nothing else."""
    temporary = path.with_name(f"{path.name}.{os.urandom(4).hex()}{_NEW}")
    try:
        make_folder(path.parent)
        _tidy(path.parent)
        with temporary.open("xb") as file:
            file.write(checksum(path.name.encode(), data))
            file.write(data)
        temporary.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def _tidy(folder: Path) -> None:
    """Remove what runs that were killed have left half-written."""
    with os.scandir(folder) as entries:
        for entry in entries:
            ours = entry.name.startswith(_NAMES) and entry.name.endswith(_NEW)
            if ours and entry.stat(follow_symlinks=False).st_mtime < time.time() - _LEFT:
                os.unlink(entry.path)


def make_folder(folder: Path) -> None:
    """Make a folder for a cache, if there is none.

    Raises:
        OSError: there can't be one, or it is a link to a folder that has something else.
    """
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        if (folder / TAG).exists():
            return
        with os.scandir(folder) as entries:
            if not all(entry.name.startswith(_NAMES) for entry in entries):
                if folder.is_symlink():
                    raise
                return  # somebody uses it for other things, too: nothing is said of the whole of it
    for name, text in ((".gitignore", "*\n"), (TAG, _TAGGED)):
        with contextlib.suppress(FileExistsError), (folder / name).open("x") as file:
            file.write(text)


def clear_place(path: Path) -> None:
    """Remove what stands in the place of a file: a link, or something that one could wait for.

    Raises:
        OSError: it can't be removed.
    """
    with contextlib.suppress(FileNotFoundError):
        if not stat.S_ISREG(os.lstat(path).st_mode):
            path.unlink()
