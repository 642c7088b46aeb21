"""The states that a run has stored, as whoever started the run has them: processes that wait to go on from there."""

from __future__ import annotations

import ctypes
import os
import select
import socket
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec

from detlint.tracing.watch import Watch

FIRST: Final = 8
"""The first step that is stored; also how many there are between two, at first."""
LONGEST: Final = 1 << 16
"""Bytes of a message."""
_REAPS: Final = 36
"""`PR_SET_CHILD_SUBREAPER`, of Linux's `prctl(2)`: what a run has left becomes a child of this process."""
_NONE: Final = "no state was stored: the steps were not those of the run's first process"
_GONE: Final = "the states that were stored have ended"
_ELSEWHERE: Final = "no state was stored: that needs Linux 5.3 or later"


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """What a run says of its states: that there is one (with a socket to it), or why there is none.

    Attributes:
        process: the number of the one that waits.
    """

    step: int = 0
    process: int = 0
    why: str = ""


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What a state is told to do: to go on as `watch` says, and to print into a file."""

    watch: Watch
    output: str


class Lost(Exception):
    """There is no state to go on from. The text says why."""


@dataclass
class Going:
    """A process that goes on from a state; what is asked of it is what a `Popen` would be asked.

    Attributes:
        pid: its number; its group has the same.
    """

    pid: int
    _code: int | None = field(default=None, init=False)

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code.

        Raises:
            TimeoutExpired: it goes on.
        """
        if self._code is None:
            ended = os.pidfd_open(self.pid)
            try:
                if not select.select([ended], [], [], timeout)[0]:
                    raise subprocess.TimeoutExpired("detlint", timeout or 0)
            finally:
                os.close(ended)
            self._code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self._code


@dataclass(frozen=True)
class State:
    """One of them.

    Attributes:
        step: how many steps the run had made.
    """

    step: int
    process: int
    socket: socket.socket

    @property
    def waits(self) -> bool:
        """Whether it still does: a run gives some up, and the system may have."""
        try:
            if os.waitid(os.P_PID, self.process, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
                return False
            return bool(self.socket.recv(1, socket.MSG_DONTWAIT | socket.MSG_PEEK))
        except BlockingIOError:
            return True
        except OSError:  # it isn't a child of this process
            return False

    def go_on(self, watch: Watch, output: Path) -> Going:
        """Have it go on in a process of its own, any number of times.

        Raises:
            Lost: it can't.
        """
        try:
            self.socket.send(msgspec.json.encode(Wanted(watch=watch, output=str(output))))
            process = int(self.socket.recv(LONGEST) or 0)
        except OSError as error:
            raise Lost(f"the state of step {self.step} doesn't go on: {error}") from None
        if not process:
            raise Lost(f"the state of step {self.step} doesn't go on")
        return Going(process)


class Stored:
    """Those of one run.

    Attributes:
        number: of the descriptor which the run is to inherit; -1 where states can't be stored.
    """

    def __init__(self) -> None:
        self._states: list[State] = []
        self._why = _NONE
        self._ours: socket.socket | None = None
        self._theirs: socket.socket | None = None
        if not _possible():
            self._why = _ELSEWHERE
            return
        self._ours, self._theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)

    @property
    def number(self) -> int:
        return -1 if self._theirs is None else self._theirs.fileno()

    def collect(self) -> None:
        """Take over what the run has told, which has ended."""
        if self._ours is None:
            return
        if self._theirs is not None:
            self._theirs.close()
            self._theirs = None
        self._ours.setblocking(False)  # Python passes no flags on to what brings descriptors
        with suppress(BlockingIOError):
            while True:
                message, numbers, _, _ = socket.recv_fds(self._ours, LONGEST, 1)
                if not message:
                    return
                told = msgspec.json.decode(message, type=Told)
                if numbers:
                    self._states.append(State(told.step, told.process, socket.socket(fileno=numbers[0])))
                else:
                    self._why = f"no state was stored: {told.why}"

    def before(self, step: int) -> State:
        """The last one that isn't later than a step.

        Raises:
            Lost: none is; the text says why.
        """
        waiting = [state for state in self._states if state.waits]
        if not waiting:
            raise Lost(_GONE if self._states else self._why)
        found = [state for state in waiting if state.step <= step]
        if not found:
            raise Lost(f"the first state is that of step {min(state.step for state in waiting)}, which is later")
        return max(found, key=lambda state: state.step)

    def close(self) -> None:
        """End all of them."""
        self.collect()
        if self._ours is not None:
            self._ours.close()
            self._ours = None
        for state in self._states:
            state.socket.close()
            with suppress(ChildProcessError):
                os.waitpid(state.process, 0)
        self._states.clear()


def _possible() -> bool:
    """Whether this system has what it takes: processes become this one's children, and can be waited for with a limit."""
    if sys.platform != "linux":
        return False
    try:
        os.close(os.pidfd_open(os.getpid()))
    except (OSError, AttributeError):
        return False
    return bool(ctypes.CDLL(None).prctl(_REAPS, 1, 0, 0, 0) == 0)
