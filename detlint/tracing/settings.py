"""What to trace."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

Level = Literal["module", "api", "kernel"]
Framework = Literal["torch", "mindspore", "tensorflow"]
PLAIN: Final = "torch"
"""The framework whose files bear no name of a framework."""
Where = Literal["auto", "host", "device"]


@dataclass(frozen=True)
class Settings:
    """Where a trace goes and what it has.

    Attributes:
        steps: the training steps to record; None: all. Step 0 begins with the trace, and each ends as an optimizer has stepped.
        level: `kernel` is the finest.
        fill: what uninitialised memory is filled with.
        digest: where values are digested: `auto` is where they are.
        values: whether it is recorded, too, how large values are, so that traces can be compared within a tolerance.
    """

    folder: Path
    steps: frozenset[int] | None = None
    level: Level = "kernel"
    digest: Where = "auto"
    fill: int = 0
    values: bool = False

    def wants(self, step: int) -> bool:
        """Whether a step is recorded."""
        return self.steps is None or step in self.steps

    def over(self, step: int) -> bool:
        """Whether no later step is recorded either."""
        return self.steps is not None and step > max(self.steps, default=-1)


def parse_steps(text: str) -> frozenset[int]:
    """The steps that `0,1` or `0-3,10` names.

    Raises:
        ValueError: something else is there.
    """
    return frozenset(number for part in text.split(",") for number in _range(part.strip()))


def _range(part: str) -> Iterable[int]:
    first, dash, last = part.partition("-")
    try:
        numbers = range(int(first), int(last if dash else first) + 1)
    except ValueError:
        raise ValueError(f"`{part}` is no step: say 0,1 or 0-3") from None
    if not numbers:
        raise ValueError(f"`{part}` names no step")
    return numbers
