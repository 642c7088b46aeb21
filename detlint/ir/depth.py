"""Recursion as deep as sources are nested."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Final, TypeVar

T = TypeVar("T")

_LIMIT: Final = 200_000
"""Calls inside each other."""
_STACK: Final = 512 * 2**20
"""Bytes, of which only what is touched is ever taken. Python 3.10 needs about a kilobyte a call, later versions none."""


def at_any_depth(work: Callable[[], T]) -> T:
    """What a function without effects gives, however deep it calls itself: where Python's limit stops it, it is run again on a thread of
    its own with a larger one.

    Raises:
        RecursionError: it is deeper still.
    """
    try:
        return work()
    except RecursionError:
        pass
    done: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            done.append(work())
        except BaseException as error:
            failed.append(error)

    limit, size = sys.getrecursionlimit(), threading.stack_size(_STACK)
    sys.setrecursionlimit(max(limit, _LIMIT))
    try:
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(size)
        sys.setrecursionlimit(limit)
    if failed:
        raise failed[0]
    return done[0]
