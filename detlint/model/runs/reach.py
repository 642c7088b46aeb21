"""What an entry point's run comes to: what it draws unseeded, seeds and switches, and what it passes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Protocol

import msgspec

from detlint.catalog import Entry, Scalar
from detlint.model.module import Module
from detlint.model.runs.entry import EntryPoint
from detlint.model.runs.outcome import Outcome
from detlint.model.runs.values import Spot
from detlint.model.sites.records import Const, Either, Member, Param, Ref, Value

BUILDS: Final = "builds"
"""The context of functions that build what draws only when it is used: `Net.from_pretrained`."""
HOST: Final = frozenset({"python", "numpy"})
"""The streams that Python's own library and NumPy draw from, whatever else runs."""
READING: Final = frozenset({
    "agrees-weights", "along-axis", "asks-for-file", "asks-for-release", "averages", "between-devices", "builds", "by-shape",
    "called-as-before", "calls-together", "chains", "closed", "collective", "coordinates", "copies-key", "cpu-in-pipelines",
    "dataset", "describes-data", "device", "draws-always", "draws-own", "getter", "gives-in-turn", "gives-outputs",
    "in-evaluation-mode", "keeps-global-states", "keeps-random-states", "key", "layer", "looks-up", "names-file", "no-grad",
    "one-hot", "parameter", "parses-records", "permutes", "picks", "prepares", "rank", "ranks", "ranks-alone", "ranks-share",
    "reads-checkpoint", "reads-into", "repeats", "reseeds", "returns-first", "returns-object", "returns-parts", "returns-record",
    "returns-self", "returns-with-more", "rows", "seeds-parts", "shares-memory", "splits", "traces", "weight-and-bias",
    "weights", "weights-only", "writes-checkpoint",
})  # fmt: skip
"""Contexts that only say how values and sites are read."""

GENERATOR: Final = "generator "
"""How the names of what generator objects give begin, among streams."""
DRAWS_WHEN_READ: Final = "draws-when-read"
TAKES_BATCHES: Final = "takes-batches"
TRAINING: Final = "training"
OFF: Final = (Const(0), Const(0.0), Const(False), Const(None))


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

    def argument(self, parameter: str) -> Given | None: ...


class Place(msgspec.Struct, frozen=True):
    """A site of a module."""

    module: Module
    site: int


Way = frozenset[tuple[Place, int]]
"""Which of several functions that a call may run was taken, by its number: the commands of a command line."""


class Seeding(msgspec.Struct, frozen=True):
    """What a seeding call does at its place."""

    place: Place
    streams: tuple[str, ...]
    kind: str
    """`fixed`, `entropy` (the seed varies), or `optional` (the seed may be left out)."""
    cause: Spot | None = None
    """Where the entropy is, or the default that leaves the seed out; None: at the call itself."""
    passing: bool = False
    """Whether it only holds for a while, or not for the run itself: in a scope that puts streams back, in a worker, for its own draws."""
    way: Way = frozenset()
    """What was chosen on the way there."""


MOST_PLACES: Final = 1000
"""So many draws are told one by one; of those beyond, their number."""


class Draws(msgspec.Struct):
    """The draws of one stream that the entry point reaches unseeded."""

    first: Place
    path: tuple[Place, ...]
    way: Way = frozenset()
    """What was chosen on the way to the first."""
    process: tuple[int, Spot] | None = None
    """Where the new process begins that draws, and how much of the path leads there; None in the run's own."""
    count: int = 0
    rest: Draws | None = None
    """Those of them that are more than the initial weights of layers, which loading a checkpoint overwrites."""
    sure: bool = True
    """Whether the run comes there whatever a configuration chooses."""
    places: list[Place] = []
    """Where they stand, the first `MOST_PLACES` of them."""

    def add(self, draw: Draws, weights: bool) -> None:
        """Count another draw.

        Args:
            weights: whether it is the initial weights of a layer.
        """
        self._count(draw.first)
        if not weights:
            if self.rest is None:
                self.rest = msgspec.structs.replace(draw, count=0, rest=None, places=[])
            self.rest._count(draw.first)

    def _count(self, place: Place) -> None:
        self.count += 1
        if len(self.places) < MOST_PLACES:
            self.places.append(place)

    def with_other(self, other: Draws) -> Draws:
        """These draws, and those of another way through the run."""
        rest = self.rest.with_other(other.rest) if self.rest is not None and other.rest is not None else None
        places = [*self.places, *other.places][:MOST_PLACES]
        return msgspec.structs.replace(
            self, count=self.count + other.count, rest=rest or self.rest or other.rest, places=places
        )


class Reach(msgspec.Struct):
    """What one entry point does, all paths together."""

    entry: EntryPoint
    process: tuple[tuple[Place, ...], Spot, str] | None = None
    """Of a process that another one starts: the calls that lead there, where it begins, and the function that it runs."""
    starter: Reach | None = None
    """What started it."""
    by_launch: bool = False
    """Whether other launches of the same script come to something else."""
    unseeded: dict[str, Draws] = {}
    optional: dict[str, Seeding] = {}
    """Streams that are seeded only on a condition which is false by default."""
    optional_drawn: set[str] = set()
    """Those of them that the run draws from."""
    late: dict[str, tuple[Seeding, list[Draws]]] = {}
    """Streams seeded for the first time after a draw, and the draws on the ways there."""
    seedings: list[Seeding] = []
    switches: dict[str, tuple[Scalar, Place]] = {}
    """What some way through the run sets that needs no option, and where."""
    offered: dict[str, Place] = {}
    """What is only set on a condition which is false by default, and where."""
    again: list[tuple[str, Place]] = []
    """Switches that are set although they were, and where."""
    held: dict[str, Scalar] = {}
    """What every way through the run has set at its end."""
    trains: bool = False
    infers: bool = False
    """It says that it only evaluates: `model.eval()`, `set_train(False)`."""
    workers: bool = True
    """Whether a loader that it builds may have workers."""
    renews: bool = False
    """Whether a loader runs a function of the program first in each worker."""
    open: set[str] = set()
    """The streams that stand in for a seed which a call leaves out (DET107), or that it isn't decided whether a call draws from, and that
    nothing has seeded by then."""
    restarts: bool = False
    """Whether it runs the interpreter anew, which reads the hash seed again."""
    communicates: bool = False
    """Whether it may start to communicate with other processes."""
    adds_up: bool = False
    """Whether it may add up what they have."""
    alone: bool = False
    """Whether it only communicates where somebody asks for that, and its project says nowhere that anybody does."""
    applied: dict[Place, str] = {}
    """The calls that run the forward pass of a layer of the program, with the class of that, the first that it is of."""
    tries: bool = False
    """Whether it only tries something out: all that it shows is shapes."""
    loads: bool = False
    """Whether it loads weights."""
    applies: bool = False
    """Whether it only applies weights that it loads: it doesn't train, and nothing in its files speaks of that."""
    differentiates: bool = True
    """Whether it trains, something in its files speaks of that, or it builds networks that aren't trained yet."""
    leaves: bool = False
    """Whether it builds what trains and never runs it: it only evaluates."""
    never_switched: bool = False
    """Whether it trains layers of Keras and never tells them so."""
    stops: str = ""
    """Where it surely ends with an error, before it trains or evaluates anything; "" where it doesn't."""
    needs: set[str] = set()
    """Options of its own without which it surely raises, before it comes to anything behind."""
    shows: bool = False
    """Whether it only prints what the module of a package that it starts in makes of something made up."""
    measures: bool = False
    """Whether it counts the operations and parameters of a network, or takes its time."""
    made: dict[Place, set[str]] = {}
    """The generator objects that it makes -> what their seeds are: `fixed`, `optional`, `entropy`."""
    places: list[Place] = []
    """Every site that the run passes, once, but for those of functions, and of what it imports, that do nothing of interest."""
    handed: dict[Place, dict[str, Sequence[Effect]]] = {}
    """What those of them are that say nothing by themselves, by what the run hands them: `model.fit(...)` of a parameter."""
    by_context: dict[str, list[tuple[Place, Effect]]] | None = None
    """The places by what they mean, once somebody has asked for that; the run is over then."""
    judged: set[Place] = set()
    """Those of them that a rule knows."""
    drawing: set[Place] = set()
    """Those of them that may draw by what the run hands them."""
    spared: set[Place] = set()
    """Those that don't, at least once."""
    passed: set[str] = set()
    """The files of these places, and those whose classes it builds objects of."""
    through: set[str] = set()
    """The files of these places, and those of which it only runs a top level that passes nothing which the catalog knows."""
    visited: set[str] = set()
    """The files that the run runs functions of."""
    followed: set[tuple[str, int]] = set()
    """These functions, by file and number, but for those that only others run which do nothing of interest; with those that processes run
    which it starts."""
    inert: set[tuple[str, int]] = set()
    """Those of them that do nothing of interest."""
    built: set[str] = set()
    """The classes of the program that it builds objects of."""
    imported: set[str] = set()
    """Those whose top level it runs. They may be visited too."""
    behind: set[str] = set()
    """Those that only top levels come to, in what they do that is nothing of interest."""
    taken: dict[str, bool] = {}
    """The files of which it does what importing one is known to do -> whether that is all that it rests on of them."""

    @property
    def files(self) -> set[str]:
        """The files that the run comes to, that of the entry point too."""
        return {self.entry.module.path, *self.visited, *self.imported, *self.behind}

    def differs(self, other: Reach) -> bool:
        """Whether another run from the same entry point comes to something else."""

        def come_to(one: Reach) -> tuple[object, ...]:
            return one.held, one.unseeded.keys(), one.optional.keys(), one.offered.keys(), one.switches.keys()

        return come_to(self) != come_to(other)

    def outcome(self) -> Outcome:
        """What the run comes to."""
        held = dict(sorted(self.held.items()))
        unseeded, left_open = frozenset(self.unseeded), frozenset(self.open)
        path = self.entry.module.path
        return Outcome(
            path, unseeded, held, self.trains, self.infers, self.workers, self.renews, left_open, self.restarts,
            self.communicates, self.tries or self.shows, self.loads, self.applies, self.stops,
            self.leaves, self.alone, frozenset(_function_of(draws.first) for draws in self.unseeded.values()), self.never_switched,
            self.differentiates,
        )  # fmt: skip

    def sites(self) -> dict[str, frozenset[int]]:
        """The sites that the run passes and that a rule knows, by the path of each module that it passes."""
        known = _by_path(self.judged)
        return {path: known.get(path, frozenset()) for path in sorted(self.passed)}

    def seeded(self) -> dict[str, frozenset[int]]:
        """Those that make a generator object with a seed, or with one that an option gives, likewise."""
        return _by_path(place for place, kinds in self.made.items() if "entropy" not in kinds)

    def silent(self) -> dict[str, frozenset[int]]:
        """Those that draw nothing, by what the run hands them, likewise."""
        return _by_path(self.spared - self.drawing)


def _function_of(place: Place) -> str:
    module = place.module
    return f"{module.path}::{module.function_of(module.sites[place.site]).name}"


def agree(one: Way, other: Way) -> bool:
    """Whether one run may go both ways."""
    taken = dict(one)
    return all(taken.get(place, number) == number for place, number in other)


def _by_path(places: Iterable[Place]) -> dict[str, frozenset[int]]:
    sites: dict[str, set[int]] = {}
    for place in places:
        sites.setdefault(place.module.path, set()).add(place.site)
    return {path: frozenset(passed) for path, passed in sorted(sites.items())}


def flows(entry: Entry) -> bool:
    """Whether a call of an entry does something to streams and switches, or trains."""
    return bool(
        entry.draws or entry.seeds or entry.unseeds or entry.restores or entry.sets or "trains" in entry.contexts
    )


def touches(entry: Entry) -> bool:
    """Whether it does any of that, or gives an object a seed."""
    return flows(entry) or entry.seed != ""


def matters(entry: Entry) -> bool:
    """Whether a run that passes a call of an entry is to know of it: operators without a rule are told with a missing switch."""
    return touches(entry) or entry.rule != "" or entry.category != "" or not READING.issuperset(entry.contexts)


def is_object(effect: Effect, weights: bool) -> bool:
    """Whether a call builds something that draws only when it is used: a layer, a transform, a loader.

    Args:
        weights: whether it is a layer, whose initial weights are drawn at once unless the entry is about its use.
    """
    used = effect.entry.rule.startswith(("DET2", "DET3"))
    return (effect.name.rpartition(".")[2][:1].isupper() or BUILDS in effect.entry.contexts) and (used or not weights)


def reads(effect: Effect) -> bool:
    """Whether a call builds a transform that draws when data are read, not one of the batches that a loader gives."""
    if TAKES_BATCHES in effect.entry.contexts:
        return False
    made = DRAWS_WHEN_READ in effect.entry.contexts
    return made or (effect.entry.rule == "DET301" and is_object(effect, weights=False))


def follows_mode(effect: Effect) -> bool:
    """Whether a call builds a layer that draws while training alone, dropout and its kin, or does what such a layer does."""
    in_any_case = "draws-always" in effect.entry.contexts
    by_mode = is_object(effect, weights=False) or asks_mode(effect)
    return effect.entry.rule.startswith("DET2") and by_mode and not in_any_case


def asks_mode(effect: Effect) -> bool:
    """Whether a call is told by the layer around it whether that trains: `F.dropout(x, p, self.training)`, or does what it is about
    only while it trains: `scaled_dot_product_attention(q, k, v, dropout_p=p if self.training else 0.0)`."""
    told = effect.arguments.get(TRAINING)
    if told is not None and is_mode(told.value):
        return True
    values = (argument.value for name, argument in effect.arguments.items() if name in effect.entry.when)
    return any(isinstance(v, Either) and v.by.removeprefix(".") == TRAINING and v.options[1] in OFF for v in values)


def is_mode(value: Value | None) -> bool:
    """Whether a value is what says of a layer that it trains: `self.training`, or a parameter of that name."""
    if isinstance(value, Param):
        return value.name == TRAINING
    if isinstance(value, Ref):
        return value.name.endswith(f".{TRAINING}")
    return isinstance(value, Member) and value.attr == TRAINING
