"""Threads that a program starts: what holds for the thread that enters it is entered in them too."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from detlint.runtime.context import Context
from detlint.runtime.patches import Patches


def follow(patches: Patches, context: Context, enter: Callable[[], Any]) -> None:
    """Have each new thread begin by entering what `enter` makes.

    A thread that outlives the enforcement keeps it; what it makes must be without effect by then.
    """
    start = threading.Thread.start

    def started(thread: threading.Thread) -> None:
        if context.active:
            run = thread.run

            def entered() -> None:
                with enter():
                    run()

            thread.run = entered  # type: ignore[method-assign]
        start(thread)

    patches.attribute(threading.Thread, "start", started)
