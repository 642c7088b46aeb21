"""Whether a fork of this process has all that the process has: one thread, no children, no memory that it shares, room for a copy."""

from __future__ import annotations

import ctypes
import os
import signal
import threading
from contextlib import suppress
from pathlib import Path
from typing import Final

from detlint.tracing.open_files import Unsound

_MAPS: Final = Path("/proc/self/maps")
_HARD: Final = 2
"""`omp_pause_hard`, of OpenMP 5.0's `omp_pause_resource_t`."""
_OPENMP: Final = ("libgomp", "libomp", "libiomp")
"""What libraries of OpenMP's are called."""
_SEMAPHORES: Final = "/dev/shm/sem."
"""Locks of `multiprocessing`: without children they are nobody else's, and nobody holds them between steps."""
_THREADS: Final = "threads run beside the main one"


def check() -> None:
    """Look before a fork.

    Raises:
        Unsound: something would be missing in it.
    """
    with suppress(ChildProcessError):
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        raise Unsound("it has child processes")
    if threading.active_count() > 1 or threading.current_thread() is not threading.main_thread():
        raise Unsound(_THREADS)
    if signal.getsignal(signal.SIGCHLD) is not signal.SIG_DFL:
        raise Unsound("the program handles the ends of its child processes")
    for line in _MAPS.read_text().splitlines():
        rights, path = line.split(maxsplit=1)[1][:4], line.split(maxsplit=5)[-1]
        if "w" in rights and "s" in rights and not path.startswith(_SEMAPHORES):
            raise Unsound("it shares memory with other processes, or writes to a file that is mapped")
    if memory_is_short():
        raise Unsound("memory is short")


def memory_is_short() -> bool:
    """Whether there is too little for a copy of all that this process has of its own, and as much again for what it needs itself."""
    return 2 * _of("/proc/self/status", "RssAnon") > min(_of("/proc/meminfo", "MemAvailable"), _granted())


def check_after() -> None:
    """Look after a fork, in the process that was forked: of pools of threads, handlers of forks have ended some.

    Raises:
        Unsound: threads are left, which the fork lacks.
    """
    if len(os.listdir("/proc/self/task")) > 1:
        raise Unsound(_THREADS)


def pause_openmp() -> None:
    """End the threads of OpenMP's pools. The next parallel region makes as many anew, here and in a fork, where it would wait for ever
    for those that only this process has. (`omp_pause_resource_all`; GCC's library has it since GCC 9.)"""
    paths = {line.split(maxsplit=5)[-1] for line in _MAPS.read_text().splitlines()}
    for path in sorted(path for path in paths if os.path.basename(path).startswith(_OPENMP)):
        with suppress(OSError, AttributeError):
            ctypes.CDLL(path).omp_pause_resource_all(_HARD)


def _of(file: str, name: str) -> int:
    """A number of bytes in one of the system's lists; 0 where it isn't there."""
    for line in Path(file).read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) << 10
    return 0


def _granted() -> float:
    """How many bytes more the group of processes may use that this one belongs to."""
    try:
        own = Path("/proc/self/cgroup").read_text().splitlines()[-1].rpartition(":")[2]
        folder = Path("/sys/fs/cgroup", own.lstrip("/"))
        return int((folder / "memory.max").read_text()) - int((folder / "memory.current").read_text())
    except (OSError, ValueError, IndexError):
        return float("inf")  # there is no limit, or it isn't told
