"""Workers of PyTorch's data loaders: each has a trace of its own, beside that of the process which it was forked from."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from torch.utils.data._utils import worker

from detlint.tracing import events, session
from detlint.tracing.session import Session
from detlint.tracing.wrapping import wrap


def follow_workers(main: Session, begin: Callable[[int], Session]) -> None:
    """Have workers traced that this process forks.

    Args:
        begin: makes the trace of a worker with this number.
    """
    process, before = os.getpid(), session.forks

    def loop(own: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        if os.getpid() == process or not main.settings.wants(0):
            return own(*args, **kwargs)
        trace = begin(session.forks - before)
        trace.start()
        if events.current is not None and trace.sink is not None:
            events.current.only(trace.sink)
        try:
            return own(*args, **kwargs)
        finally:
            trace.stop()

    wrap(main.stack, worker, "_worker_loop", loop)
