"""States of a run, stored as it goes on: forks of its process, which wait until they are told to go on from there, with a trace.

What costs is a fork at some of the steps, and the memory that the process changes after it: the system copies what either one writes to.
"""

from __future__ import annotations

import os
import random
import signal
import socket
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import msgspec

from detlint.runtime.imports import when_imported
from detlint.tracing import forkable, losses
from detlint.tracing.open_files import File, Unsound, files, reopen
from detlint.tracing.stored import FIRST, LONGEST, Told, Wanted
from detlint.tracing.watch import Watch

_MOST: Final = 8
"""States that wait. When there is one more, every second is given up, and the next ones are twice as far apart."""
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


class States:
    """Those of this process."""

    def __init__(self, watch: Watch, recorder: losses.Recorder) -> None:
        self._verifier = socket.socket(fileno=watch.states)
        self._verifier.set_inheritable(False)
        self._verifier.setblocking(False)  # the program never waits for it
        self._recorder = recorder
        self._kept: dict[int, int] = {}
        """Those that wait: their processes, by step."""
        self._interval = FIRST
        self._over = False
        self._why = ""

    def stepped(self, step: int) -> None:
        """Store the state, if it is time to."""
        if self._over or step % self._interval:
            return
        if len(self._kept) >= _MOST or (self._kept and forkable.memory_is_short()):
            self._thin()
        if step % self._interval:
            return
        try:
            self._store(step)
        except Unsound as error:
            self._interval *= 2  # to look takes time, too
            self._tell_why(str(error))
        except OSError as error:
            self._over = True
            self._tell_why(f"the system refused ({error})")

    def _thin(self) -> None:
        """Give up every second one. Its number is that of no other process: whoever verifies waits for its end only after the run's."""
        self._interval *= 2
        for step in [step for step in self._kept if step % self._interval]:
            with suppress(ProcessLookupError):
                os.kill(self._kept.pop(step), signal.SIGKILL)

    def _store(self, step: int) -> None:
        forkable.check()
        taken = files({self._verifier.fileno()})
        forkable.pause_openmp()
        for stream in (sys.stdout, sys.stderr):
            with suppress(Exception):
                stream.flush()  # else both would write what waits there
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with ours, theirs:
            if (process := self._waiting(ours, theirs, taken)) == 0:
                return
            try:
                forkable.check_after()
            except Unsound:
                self._over = True  # pools stay
                os.kill(process, signal.SIGKILL)
                raise
            told = msgspec.json.encode(Told(step=step, process=process))
            socket.send_fds(self._verifier, [told], [ours.fileno()])
        self._kept[step] = process

    def _waiting(self, ours: socket.socket, theirs: socket.socket, taken: list[File]) -> int:
        """Fork a process that waits; its number. In what goes on from it one day: 0."""
        # Till it knows what to do about signals, it gets none: as the program, it would raise an exception.
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
        try:
            if (process := _apart()) == 0:
                with _or_ended():
                    ours.close()
                    self._go_on(_waited(theirs, mask), taken)
            return process
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)

    def _go_on(self, wanted: Wanted, taken: list[File]) -> None:
        """Be another run, from here on."""
        self._over = True
        self._verifier.close()
        os.setsid()
        reopen(taken)
        with Path(wanted.output).open("ab") as output:
            for number in (1, 2):
                os.dup2(output.fileno(), number)
        watch = msgspec.structs.replace(wanted.watch, first=os.getpid())
        watch.prepare(os.environ)
        self._recorder.go_on(watch)
        from detlint.tracing.attach import trace_later

        trace_later(watch, self._recorder)

    def _tell_why(self, why: str) -> None:
        if why != self._why:
            self._why = why
            with suppress(OSError):
                self._verifier.send(msgspec.json.encode(Told(why=why)))


def begin(watch: Watch) -> None:
    """Store states of this process, if it is the one that is to."""
    assert losses.current is not None
    losses.current.after = States(watch, losses.current).stepped
    when_imported("tqdm", _alone)


def _alone(tqdm: ModuleType) -> None:
    """Have bars of progress start no thread, which would only see to it that they are drawn in time."""
    with suppress(AttributeError):
        tqdm.tqdm.monitor_interval = 0


@contextmanager
def _or_ended() -> Iterator[None]:
    """Whatever goes wrong within, this process ends: it must not go on as if it were the program that it was forked from."""
    try:
        yield
    except BaseException:
        with suppress(BaseException):
            traceback.print_exc()
        os._exit(1)


def _apart() -> int:
    """Fork a process that is no child of this one, which might wait for its children: 0 in it, here its number.

    Raises:
        OSError: there can't be one more.
    """
    ours, theirs = os.pipe()
    if (between := _fork()) == 0:
        try:
            process = _fork()
            if process != 0:
                os.write(theirs, str(process).encode())
        except BaseException:
            os._exit(1)
        if process != 0:
            os._exit(0)
        os.close(ours)
        os.close(theirs)
        return 0
    os.waitpid(between, 0)
    os.close(theirs)
    with open(ours, "rb") as told:
        process = int(told.read() or 0)
    if process == 0:
        raise OSError("no process can be forked")
    return process


def _fork() -> int:
    """A fork whose stream of `random` is that of this process: Python seeds it anew."""
    stream = random.getstate()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # since Python 3.12, of threads; those are looked for
        process = os.fork()
    if process == 0:
        random.setstate(stream)
    return process


def _waited(verifier: socket.socket, mask: set[Any]) -> Wanted:
    """What this process is told to do. It stays, and forks another for it; it ends when nobody is left who might tell it something.

    Args:
        mask: the signals that the program has blocked.
    """
    with suppress(OSError):  # where memory runs out, no state is missed as the run would be
        Path("/proc/self/oom_score_adj").write_text("1000")
    handlers = {sort: signal.getsignal(sort) for sort in _SIGNALS}
    _handle(dict.fromkeys(_SIGNALS, signal.SIG_DFL))
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    while told := verifier.recv(LONGEST):
        try:
            process = _apart()
        except OSError:
            break
        if process == 0:
            verifier.close()
            _handle(handlers)
            return msgspec.json.decode(told, type=Wanted)
        verifier.send(str(process).encode())
    os._exit(0)  # without what the program has left to do at its end: that was the program's own


def _handle(handlers: dict[signal.Signals, Any]) -> None:
    for sort, handler in handlers.items():
        if handler is not None:  # one of C's
            signal.signal(sort, handler)
