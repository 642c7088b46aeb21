"""What holds at a point of a run, and what is kept for later."""

from __future__ import annotations

from typing import Final, NamedTuple

import msgspec

from detlint.catalog import Scalar
from detlint.model.runs.reach import Place
from detlint.model.runs.values import Frame
from detlint.model.sites.records import Value

SELF: Final = -1
"""Stands for the site that has made `self`."""
LOADS_WEIGHTS: Final = "loads-weights"
# Functions that a loader calls in its workers, in the order in which it does.
IN_WORKERS: Final = ("worker_init_fn", "collate_fn")


class Later(NamedTuple):
    """A draw that an object makes when it is used."""

    stream: str
    place: Place
    path: tuple[Place, ...]
    layer: bool
    read: bool
    """Whether that is where data are read."""
    training: bool = False
    """Whether it only is one in a run that trains."""
    held: str = ""
    """The seed that the stream has where it is made, as in `State`, if nothing takes that back; "" for none."""


class Made(NamedTuple):
    """What a constructor keeps as an attribute."""

    owner: str
    """Its class, by normal name."""
    kept: Value
    frames: list[Frame]
    """What it has run with."""


class State(msgspec.Struct):
    """What holds at a point of the run: a stream is absent, `drawn` (unseeded), `seeded`, `optional` or `entropy`."""

    streams: dict[str, str] = {}
    switches: dict[str, Scalar] = {}

    def copy(self) -> State:
        return State(dict(self.streams), dict(self.switches))
