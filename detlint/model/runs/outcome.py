"""What is kept of a run: all that the modules that it passes are judged by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from detlint.catalog import Scalar


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
    open: frozenset[str] = frozenset()
    """The streams that stand in for a seed which a call leaves out (DET107), or that it isn't decided whether a call draws from, and that
    nothing has seeded by then."""
    restarts: bool = False
    """Whether it runs the interpreter anew, which reads the hash seed again."""
    communicates: bool = False
    """Whether it may start to communicate with other processes."""
    tries: bool = False
    """Whether it only tries something out: all that it shows is shapes, or it only prints what the module of a package makes."""
    loads: bool = False
    """Whether it loads weights."""
    applies: bool = False
    """Whether it only applies those: it doesn't train, and nothing in its files speaks of that."""
    stops: str = ""
    """Where it surely ends with an error, before it trains or evaluates anything; "" where it doesn't."""
    leaves: bool = False
    """Whether it builds what trains and never runs it: it only evaluates."""
    alone: bool = False
    """Whether it only communicates where somebody asks for that, and its project says nowhere that anybody does."""

    first: frozenset[str] = frozenset()
    """The functions, by full name, in which it first draws from the streams that it leaves unseeded."""
    never_switched: bool = False
    """Whether it trains layers of Keras and never tells them so."""
    differentiates: bool = True
    """Whether it trains, something in its files speaks of that, or it builds networks that aren't trained yet."""

    @property
    def only_tries(self) -> bool:
        """Whether nothing of what varies in it could be seen."""
        return self.tries and not self.trains


class Passage(NamedTuple):
    """A run's way through one module."""

    outcome: Outcome
    sites: frozenset[int]
    """The sites that it passes and that a rule knows."""
    seeded: frozenset[int]
    """Those of them that make a generator object with a seed."""
    silent: frozenset[int] = frozenset()
    """Those that draw nothing, by what the run hands them: `shuffle=False`."""


class Runs(NamedTuple):
    """The runs that a module is judged by."""

    passages: Sequence[Passage] = ()
    """Their ways through it."""
    train: bool = False
    """Whether one that trains comes to it by imports, whatever it does there."""
    stop: str = ""
    """Where one ends with an error before it does anything, if some come to it by imports, and all of these end so, but for those
    that only try something out."""
    leaves: bool = False
    """Whether one comes to it by imports that builds what trains and never runs it."""
    broken: str = ""
    """Where one ends with an error before it does anything, if some come to it by imports that do, and none that trains goes on."""
