"""What Ctrl-C does: the command ends with 130, whenever it comes, and says nothing.

While modules are imported there is nothing to undo, and the process ends at once. A command that is at work gets a
`KeyboardInterrupt`, so that files which are there for the time being go. Whoever interrupts it again doesn't wait for that.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from typing import Final, NoReturn

CODE: Final = 130
"""The exit code, as shells have it for a program that SIGINT ends."""


def prepare() -> None:
    """Have interrupts end this process, and those that are forked from it. One that was started so as to ignore them still does."""
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return
    signal.signal(signal.SIGINT, _quit)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=leave_at_once)
    sys.unraisablehook = _unraisable


def leave_at_once() -> None:
    """Have an interrupt end this process, which works for another one: that one gets it too."""
    signal.signal(signal.SIGINT, _leave)


@contextlib.contextmanager
def undoing() -> Iterator[None]:
    """Meanwhile, the first interrupt is raised where the program is."""
    prepared = signal.getsignal(signal.SIGINT) is _quit
    if prepared:
        signal.signal(signal.SIGINT, _raise)
    try:
        yield
    finally:
        if prepared:
            signal.signal(signal.SIGINT, _quit)


def _raise(number: int, frame: object) -> NoReturn:
    signal.signal(signal.SIGINT, _quit)
    raise KeyboardInterrupt


def _quit(*_: object) -> NoReturn:
    """End, with the processes that work for this one."""
    multiprocessing = sys.modules.get("multiprocessing")
    if multiprocessing is not None:
        for process in multiprocessing.active_children():
            process.terminate()
    os._exit(CODE)


def _leave(*_: object) -> NoReturn:
    os._exit(CODE)


def _unraisable(what: sys.UnraisableHookArgs) -> None:
    """An interrupt that came while an object was finalized is lost, and Python tells of it."""
    if isinstance(what.exc_value, KeyboardInterrupt):
        _quit()
    sys.__unraisablehook__(what)
