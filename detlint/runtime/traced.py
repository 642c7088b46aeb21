"""Tracing a part of a program."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from detlint.tracing.session import Session
    from detlint.tracing.settings import Framework, Level, Where


def trace(
    folder: str | Path,
    steps: Iterable[int] | None = None,
    level: Level = "kernel",
    digest: Where = "auto",
    framework: Framework | None = None,
    values: bool = False,
) -> Session:
    """Trace PyTorch, MindSpore or TensorFlow within a block: `with trace("runA", steps=range(2)): train()`.

    Two folders are compared with `detlint compare runA runB`. Step 0 begins with the block; a step ends as an optimizer has
    stepped, or where the program says so: `with trace("runA") as t: ...; t.step()`.

    Args:
        folder: gets one file a process, `main.trace`, or `rank3.trace` where a launcher tells the rank.
        steps: the steps to record; all by default.
        level: `kernel`: every kernel, those of the backward pass too; `api`: calls of public functions; `module`: modules.
        digest: where values are digested: `auto` is where they are, `host` copies them to the host first, `device` makes
            sums of integers on the CPU, too. MindSpore's and TensorFlow's are always made on the host.
        framework: the one to trace; None: the first of PyTorch, MindSpore and TensorFlow that is imported.

        values: whether it is recorded, too, how large values are, for `detlint compare --rtol`. PyTorch's only.

    Raises:
        detlint.tracing.writer.Occupied: on entering, if the folder has a trace already.
        RuntimeError: on entering, if the process is being traced.
    """
    from detlint.tracing import frameworks
    from detlint.tracing.settings import Settings

    chosen = None if steps is None else frozenset(steps)
    return frameworks.session(
        framework or frameworks.imported(), Settings(Path(folder), chosen, level, digest, values=values)
    )
