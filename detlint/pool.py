"""Processes that work for this one."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.context import BaseContext
from typing import Any, Final

from detlint import interrupts

SAFE_PATH: Final = "PYTHONSAFEPATH"


class WorkerLost(Exception):
    """A process was ended from outside: by the system, where memory is short."""

    def __init__(self) -> None:
        super().__init__(
            "a process that was reading or judging files was killed: memory may be short; `--jobs 1` needs the least"
        )


@contextlib.contextmanager
def processes(
    jobs: int, context: BaseContext | None, initializer: Callable[..., object], *arguments: Any
) -> Iterator[ProcessPoolExecutor]:
    """Some processes, which end when the block is left; at once where an error, or an interrupt, leaves it.

    Args:
        context: how they are started; None: as the system does it.
        initializer: what each does first, with the arguments.

    Raises:
        WorkerLost: one of them was killed.
    """
    with _safe_path(), ProcessPoolExecutor(jobs, context, _start, (initializer, arguments)) as pool:
        try:
            yield pool
        except BaseException as error:
            for process in [*(pool._processes or {}).values()]:
                process.terminate()
            if isinstance(error, BrokenProcessPool):
                raise WorkerLost from None
            raise


def _start(initializer: Callable[..., object], arguments: tuple[Any, ...]) -> None:
    interrupts.leave_at_once()
    initializer(*arguments)


def safe() -> bool:
    """Whether processes import nothing from the current folder: those that aren't forked look there first, from Python 3.11 on
    unless told otherwise."""
    return multiprocessing.get_context().get_start_method() == "fork" or sys.version_info >= (3, 11)


@contextlib.contextmanager
def _safe_path() -> Iterator[None]:
    before = os.environ.get(SAFE_PATH)
    os.environ[SAFE_PATH] = "1"
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(SAFE_PATH, None)
        else:
            os.environ[SAFE_PATH] = before
