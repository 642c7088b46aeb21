"""What the file system says of a file or a folder, from which a later run sees that it can't have changed."""

from __future__ import annotations

import os
from typing import Final

import msgspec

_HAS_CHANGE_TIME: Final = os.name != "nt"
"""Whether `st_ctime` is when a file was last changed in any way, which no program can set; on Windows it is when it was created."""
_FINE: Final = 50_000_000
"""Nanoseconds: so long at most two changes in a row have the same time, where times are kept to the nanosecond (a tick of the kernel's
clock is at most 10 ms)."""
_COARSE: Final = 2_000_000_000
"""The same where nothing shows that they are, as on FAT."""


class Status(msgspec.Struct, array_like=True, frozen=True):
    """The size, the times, in nanoseconds, and the inode of a file or folder.

    The time of change goes forward with every change of a file, also where a program puts back the time of its modification
    (`touch -r`, `rsync -t`, an archive); the inode is another one where another file is put in the place.
    """

    size: int
    modified: int
    changed: int
    inode: int
    young: int = 0
    """When it was looked at, if it may have changed since without a later time: such a status equals no other one."""

    @classmethod
    def of(cls, found: os.stat_result, looked: int) -> Status:
        """The status of what the file system has found.

        Args:
            looked: a time at which it had not been asked yet, in nanoseconds.
        """
        changed = found.st_ctime_ns
        last = max(changed, found.st_mtime_ns) if _HAS_CHANGE_TIME else found.st_mtime_ns
        tick = _FINE if _HAS_CHANGE_TIME and last % 1_000_000 else _COARSE
        return cls(found.st_size, found.st_mtime_ns, changed, found.st_ino, 0 if last < looked - tick else looked)

    def holds(self, now: Status) -> bool:
        """Whether what has another status now surely has the same content as when it had this one."""
        return self == now and self != NOTHING


NOTHING: Final = Status(0, 0, 0, 0)
"""That of what isn't known."""


def status_of(path: str, looked: int) -> Status:
    """The status of a file or folder, `NOTHING` where it can't be looked at."""
    try:
        return Status.of(os.stat(path), looked)
    except OSError:
        return NOTHING
