"""The files that a process has open, for one that is forked from it and goes on later: both share their places in them.

https://man7.org/linux/man-pages/man2/fork.2.html and proc_pid_fd(5) say how.
"""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Collection, Iterable
from typing import Final, NamedTuple

_FOLDER: Final = "/proc/self/fd"
_STANDARD: Final = 2
"""The last of the descriptors that every process has, whatever they are."""
_MEMORY_DEVICES: Final = 1
"""The number of `/dev/null`, `/dev/zero` and `/dev/urandom`: they have no state."""


class Unsound(Exception):
    """Why no process can go on from here later. The text is what is the case."""


class File(NamedTuple):
    """One at some moment.

    Attributes:
        number: its descriptor.
        flags: as of `open(2)`.
        size: in bytes.
    """

    number: int
    flags: int
    place: int
    size: int

    @property
    def written(self) -> bool:
        """Whether it is written; a file that is open for both is none of these."""
        return self.flags & os.O_ACCMODE == os.O_WRONLY


def files(but: Collection[int]) -> list[File]:
    """Those that are open now.

    Args:
        but: descriptors that are detlint's.

    Raises:
        Unsound: something is open that can't be opened again: a pipe, a device, a file that is read and written.
    """
    found = []
    for number in sorted(map(int, os.listdir(_FOLDER))):
        if number in but:
            continue
        try:
            status = os.fstat(number)
        except OSError:
            continue  # that of the folder which was listed
        flags = fcntl.fcntl(number, fcntl.F_GETFL)
        if stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode):
            if flags & os.O_ACCMODE == os.O_RDWR:
                raise Unsound("a file is open for reading and writing")
            if not flags & os.O_PATH:
                found.append(File(number, flags, os.lseek(number, 0, os.SEEK_CUR), status.st_size))
        elif number > _STANDARD and not (stat.S_ISCHR(status.st_mode) and os.major(status.st_rdev) == _MEMORY_DEVICES):
            raise Unsound("a pipe, a socket or a device is open")
    return found


def reopen(taken: Iterable[File]) -> None:
    """Have files of this process's own at the places where the shared ones were.

    What is written from now on goes to memory that only this process has: a file that can't be read needs no content, only a size.
    """
    for file in taken:
        if file.written:
            own = os.memfd_create("detlint")
            os.ftruncate(own, file.size)
            fcntl.fcntl(own, fcntl.F_SETFL, file.flags & os.O_APPEND)
        else:
            own = os.open(f"{_FOLDER}/{file.number}", os.O_RDONLY)
        os.lseek(own, file.place, os.SEEK_SET)
        os.dup2(own, file.number, os.get_inheritable(file.number))
        os.close(own)
