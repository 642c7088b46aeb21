"""What a process's other threads bring into a run: calls of Python's, in a file beside that of the process, made for the first of them.

Where threads of a dataset call the program's functions, which of their calls comes between which operators differs from run to run; among
themselves they have an order, or the program doesn't repeat.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from detlint.tracing.records import End
from detlint.tracing.sites import Frames
from detlint.tracing.writer import Writer


class Beside:
    """Writes their rows. Whoever calls it sees to it that one thread does at a time."""

    def __init__(self, make: Callable[[], Writer]) -> None:
        self._make = make
        self._writer: Writer | None = None
        self._process = os.getpid()

    def event(self, name: str, frames: Frames, arguments: str, digest: int) -> None:
        """Write the row of one call."""
        if os.getpid() != self._process:
            return  # the file is that of the process which this one was forked from
        writer = self._writer = self._writer or self._make()
        if not writer.closed:
            writer.write(writer.event(name, frames, arguments, digest))

    def close(self) -> None:
        """End the file, if there is one."""
        if self._writer is not None and os.getpid() == self._process and not self._writer.closed:
            self._writer.write(End("", []))
            self._writer.close()
