"""Telling the loss where it can't be read from the run."""

from __future__ import annotations

from typing import Any


def log(loss: Any) -> None:
    """Tell `detlint verify` the loss of an iteration: a number, or a tensor or array of one.

    Once a program has told one, only what it tells counts. Outside of `detlint verify` this does nothing.
    """
    import sys

    losses = sys.modules.get("detlint.tracing.losses")
    if losses is None or losses.current is None:
        return
    recorder = losses.current
    if hasattr(loss, "detach"):
        recorder.add(*losses.torch_loss(loss), "log")
        return
    value = float(loss)
    recorder.add(value, value.hex(), "log")
