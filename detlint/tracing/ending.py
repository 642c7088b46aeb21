"""Ending a process of which all is known that was asked for, also one that threads of the program would keep alive."""

from __future__ import annotations

import atexit
import os
import sys
import threading
from contextlib import suppress
from typing import Final, NoReturn

_CLEARING_UP: Final = 10.0
"""Seconds that the main thread is given to end: what it has to close, it closes on its way out."""
_THREADS: Final = 1.0
"""Seconds that each other thread is given, once the main thread has ended."""


def enough() -> NoReturn:
    """End this process as a program ends that is through; surely, whichever thread finds out, and whichever others go on.

    Raises:
        SystemExit: always.
    """
    threading.Thread(target=_end_surely, name="detlint-end", daemon=True).start()
    raise SystemExit(0)


def _end_surely() -> None:
    """Python waits for all threads that aren't daemons, and a thread that isn't the main one ends nobody but itself."""
    main = threading.main_thread()
    main.join(_CLEARING_UP)
    if not main.is_alive() and not any(_outlives(thread) for thread in threading.enumerate()):
        return
    with suppress(Exception):
        atexit._run_exitfuncs()  # what was to be written at the end is
    with suppress(Exception):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(0)


def _outlives(thread: threading.Thread) -> bool:
    if thread.daemon or thread is threading.main_thread():
        return False
    thread.join(_THREADS)
    return thread.is_alive()
