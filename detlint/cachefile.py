"""Files of a cache: each begins with a check sum, is seen whole or not at all, and is a file, not a link to one."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path
from typing import Final

import xxhash

from detlint import whole
from detlint.files import read

TAG: Final = "CACHEDIR.TAG"
_TAGGED: Final = (
    "Signature: 8a477f597d28d172789f06886806bc55\n# This folder holds detlint's cache; it can be deleted.\n"
)
CHECK: Final = 8
"""Bytes of the check sum that everything begins with: it tells what was written whole from what is damaged."""
_NAMES: Final = ("catalog-", "facts-", "queries-", "record-")
"""How the files of a cache begin."""
_MOST: Final = 1 << 40
"""Bytes: as many as a cache may have."""


def checksum(name: bytes, data: bytes | memoryview) -> bytes:
    """The check sum of something under the name by which it is asked for."""
    made = xxhash.xxh3_64(name)
    made.update(data)
    return made.digest()


def read_whole(path: Path, name: str = "") -> memoryview | None:
    """What `write_whole` has put into a file under a name; None where there is none, or it isn't as it was written.

    Args:
        name: by default that of the file.
    """
    try:
        kept = memoryview(b"" if path.is_symlink() else read(path, _MOST))
    except OSError:
        return None
    return kept[CHECK:] if checksum((name or path.name).encode(), kept[CHECK:]) == kept[:CHECK] else None


def write_whole(path: Path, data: bytes, name: str = "") -> None:
    """Write a file that nobody ever sees half-written. One that can't be written costs time, nothing else.

    Args:
        name: by which it is to be asked for; by default that of the file.
    """
    with contextlib.suppress(OSError):
        make_folder(path.parent)
        whole.replace(str(path), [checksum((name or path.name).encode(), data), data], sync=False)


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
