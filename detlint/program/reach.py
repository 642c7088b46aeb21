"""What an entry point's run comes to: what it draws unseeded, seeds and switches, and what it passes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import msgspec

from detlint.catalog import Entry, Scalar
from detlint.facts.model import (
    Value,
)
from detlint.program.entry import EntryPoint
from detlint.program.resolve import Module
from detlint.program.values import Spot


class Given(Protocol):
    """What a call gives one parameter: the value in normal form; False where it is left to its default."""

    @property
    def value(self) -> Value | None: ...

    @property
    def given(self) -> bool | None: ...


class Effect(Protocol):
    """What a site does to streams and switches; the rule engine's matches have this shape."""

    @property
    def entry(self) -> Entry: ...

    @property
    def name(self) -> str: ...

    @property
    def sure(self) -> bool: ...

    @property
    def arguments(self) -> Mapping[str, Given]: ...


@dataclass(frozen=True, slots=True)
class Place:
    """A site of a module."""

    module: Module
    site: int


@dataclass(frozen=True, slots=True)
class Seeding:
    """What a seeding call does at its place."""

    place: Place
    streams: tuple[str, ...]
    kind: str
    """`fixed`, `entropy` (the seed varies), or `optional` (the seed may be left out)."""
    cause: Spot | None = None
    """Where the entropy is, or the default that leaves the seed out; None: at the call itself."""


@dataclass(slots=True)
class Draws:
    """The draws of one stream that the entry point reaches unseeded."""

    first: Place
    path: tuple[Place, ...]
    count: int = 1
    only_weights: bool = True
    """All of them are the initial weights of layers, which loading a checkpoint overwrites."""


@dataclass(slots=True)
class Reach:
    """What one entry point does, all paths together."""

    entry: EntryPoint
    unseeded: dict[str, Draws] = field(default_factory=dict)
    optional: dict[str, Seeding] = field(default_factory=dict)
    """Streams that are seeded only on a condition which is false by default."""
    optional_drawn: set[str] = field(default_factory=set)
    """Those of them that the run draws from."""
    late: dict[str, tuple[Seeding, Draws]] = field(default_factory=dict)
    """Streams seeded for the first time after a draw."""
    seedings: list[Seeding] = field(default_factory=list)
    switches: dict[str, tuple[Scalar, Place]] = field(default_factory=dict)
    """What some way through the run sets, and where."""
    again: list[tuple[str, Place]] = field(default_factory=list)
    """Switches that are set although they were, and where."""
    held: dict[str, Scalar] = field(default_factory=dict)
    """What every way through the run has set at its end."""
    trains: bool = False
    infers: bool = False
    """It says that it only evaluates: `model.eval()`, `set_train(False)`."""
    workers: bool = True
    """Whether a loader that it builds may have workers."""
    renews: bool = False
    """Whether a loader runs a function of the program first in each worker."""
    restarts: bool = False
    """Whether it runs the interpreter anew, which reads the hash seed again."""
    made: dict[Place, set[str]] = field(default_factory=dict)
    """The generator objects that it makes -> what their seeds are: `fixed`, `optional`, `entropy`."""
    places: list[Place] = field(default_factory=list)
    """Every site that the run passes, once, but for those of functions that do nothing of interest."""
    visited: set[str] = field(default_factory=set)
    """The files that the run runs something of."""

    def outcome(self) -> Outcome:
        """What the run comes to."""
        held = dict(sorted(self.held.items()))
        return Outcome(
            self.entry.module.path, frozenset(self.unseeded), held, self.trains, self.infers, self.workers, self.renews,
            self.restarts,
        )  # fmt: skip

    def sites(self) -> dict[str, frozenset[int]]:
        """The sites that the run passes, by the path of their module."""
        return _by_path(self.places)

    def seeded(self) -> dict[str, frozenset[int]]:
        """Those that make a generator object with a seed, or with one that an option gives, likewise."""
        return _by_path(place for place, kinds in self.made.items() if "entropy" not in kinds)


def _by_path(places: Iterable[Place]) -> dict[str, frozenset[int]]:
    sites: dict[str, set[int]] = {}
    for place in places:
        sites.setdefault(place.module.path, set()).add(place.site)
    return {path: frozenset(passed) for path, passed in sorted(sites.items())}


class Outcome(msgspec.Struct, frozen=True, array_like=True):
    """What an entry point's run comes to, for judging the sites that it passes."""

    entry: str
    """The file where it starts."""
    unseeded: frozenset[str]
    held: dict[str, Scalar]
    trains: bool
    infers: bool
    workers: bool
    renews: bool
    restarts: bool


class Passage(NamedTuple):
    """A run's way through one module."""

    outcome: Outcome
    sites: frozenset[int]
    """The sites that it passes."""
    seeded: frozenset[int]
    """Those of them that make a generator object with a seed."""


def touches(entry: Entry) -> bool:
    """Whether a call of an entry does something to streams and switches, or trains."""
    return bool(entry.draws or entry.seeds or entry.unseeds or entry.sets or "trains" in entry.contexts)


def is_object(effect: Effect, weights: bool) -> bool:
    """Whether a call builds something that draws only when it is used: a layer, a transform, a loader.

    Args:
        weights: whether it is a layer, whose initial weights are drawn at once unless the entry is about its use.
    """
    used = effect.entry.rule.startswith(("DET2", "DET3"))
    return effect.name.rpartition(".")[2][:1].isupper() and (used or not weights)
