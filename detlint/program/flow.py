"""Seed flow: what an entry point has seeded when it reaches a draw.

A run is followed from the entry point through the calls of the program, in execution order: imports run a module's top
level where they stand, branches meet by intersection, loops run their body once, a constructor runs `__init__`, calling a
layer runs its `forward`; what frameworks call by themselves runs at the end. Functions that can't touch any stream or
switch, however deep they go, are known once for all runs and left out. Switches (`deterministic-algorithms`, ...) flow
the same way, as things that are set rather than seeded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from collections.abc import Mapping as Table
from functools import partial, reduce
from typing import Any, Final, NamedTuple, TypeVar

import msgspec

from detlint.catalog import HARDWARE, RAISES, Entry, Scalar
from detlint.facts.model import (
    AS,
    BUT,
    CERTAIN,
    COMPLETE,
    IDLE,
    LENT,
    PRINTS,
    SETTER,
    SHAPES,
    UNUSED,
    Branch,
    Class,
    Const,
    Either,
    Expression,
    Function,
    Instance,
    Items,
    Mapping,
    Member,
    Param,
    Partial,
    Ref,
    Result,
    Site,
    Step,
    Value,
    flag_of,
    is_made_by,
    options,
    surely_after,
)
from detlint.program.calls import (
    BARE,
    CALLS,
    OF_INPUTS,
    ONLY_DIFFERENTIATES,
    PASSES_BACK,
    PREPARES,
    STARTS_COMMUNICATION,
    TRAINING_CELL,
    Callee,
    Calls,
    Knowledge,
    Quiet,
    holds_parameter,
    is_choice,
    is_chosen,
    is_option,
    is_self,
    left_out,
    owner_of,
    returned,
)
from detlint.program.entry import EntryPoint, sites
from detlint.program.kept import Kept
from detlint.program.reach import (
    GENERATOR,
    HOST,
    TRAINING,
    Draws,
    Effect,
    Place,
    Reach,
    Seeding,
    Way,
    agree,
    asks_mode,
    is_mode,
    is_object,
    reads,
)
from detlint.program.registries import BUILDS, last
from detlint.program.resolve import Module, Resolver
from detlint.program.values import Frame, Origin, Spot, Values, is_parsed

DEEPEST_CALL: Final = 200
MOST_CALLS: Final = 20_000
DEEPEST_MAKER: Final = 4
"""How many calls are looked through for the start method of processes."""
START_METHODS: Final = ("fork", "spawn", "forkserver")
MOST_CHOICES: Final = 16
"""Of the definitions in a registry, so many are run where nothing says which of them is chosen."""
LOADS_WEIGHTS: Final = "loads-weights"
FILLS: Final = "fills-weights"
"""An object by which layers, and others, draw their weights when they are made."""
WEIGHTS: Final = frozenset({FILLS, "initial-weights"})
"""What draws initial weights."""
ADDING: Final = frozenset({"between-devices", "sums-between-devices"})
"""What adds up what several devices have."""
CATCHING: Final = frozenset({"suppress", "raises", "assertRaises", "assertRaisesRegex"})
"""What libraries call managers that catch what is raised in their blocks."""
# Functions that a loader calls in its workers, in the order in which it does.
IN_WORKERS: Final = ("worker_init_fn", "collate_fn")
# Parameters whose value may decide on a seed; others are the same to the flow whatever they are given.
DECIDING: Final = re.compile(
    r"seed|determin|reprod|random|rng|generator|^(?:args|opts?|options|cfg|config|conf|hparams)$", re.I
)


CALLED: Final = ("__call__", "construct")
"""The methods that calling a layer of MindSpore's runs."""
PLAIN: Final = frozenset({"builtins.bool", "builtins.float", "builtins.int", "builtins.str"})
"""Types of what holds nothing else."""
ORDERED: Final = re.compile(r"(\w+)\s*[<>]=?\s*-?[\d.]+")
"""A name that is above or below a number."""


class _Later(NamedTuple):
    """A draw that an object makes when it is used."""

    stream: str
    place: Place
    path: tuple[Place, ...]
    layer: bool
    read: bool
    """Whether that is where data are read."""


class _Made(NamedTuple):
    """What a constructor keeps as an attribute."""

    owner: str
    """Its class, by normal name."""
    kept: Value
    frames: list[Frame]
    """What it has run with."""


class _State(msgspec.Struct):
    """What holds at a point of the run: a stream is absent, `drawn` (unseeded), `seeded`, `optional` or `entropy`."""

    streams: dict[str, str] = {}
    switches: dict[str, Scalar] = {}

    def copy(self) -> _State:
        return _State(dict(self.streams), dict(self.switches))


_T = TypeVar("_T")
Taken = Callable[[Frame, Value, Values], tuple[bool | None, Spot | None]]


class Recorder:
    """Is told what happens in a run, in order; this one keeps nothing."""

    def enter(self, how: str, module: Module, function: Function, place: Place | None) -> None:
        """A function begins: `call`, `import`, `again` (a call that does the same as an earlier one, and has no `leave`),
        `process`, `command`, or `later` (what frameworks call at the end, and the draws of what was built)."""

    def leave(self) -> None:
        """It ends."""

    def tell(self, kind: str, name: str, place: Place, state: object, streams: Table[str, str]) -> None:
        """Something happens at a place.

        Args:
            kind: `passes` (the catalog knows the site), `seeds`, `draws`, `sets`.
            name: the stream or the switch.
            state: what a seed is (`Seeding.kind`), whether a stream that is drawn from has one, the value of a switch.
            streams: the state of all streams, just before.
        """


class Words(NamedTuple):
    """What may happen in a file, by its words; each is asked with its path."""

    speaks: Callable[[str], bool]
    """Whether anything may train there."""
    updates: Callable[[str, bool], bool]
    """Whether weights may get new values there; and whether gradients are what tensors keep."""
    weighs: Callable[[str], bool]
    """Whether the size of gradients is asked there."""
    orders: Callable[[str], bool]
    """Whether anything may be told to train there."""
    hands: Callable[[str], bool]
    """Whether a layer may be called there by another name than its own, or as a part of another."""
    adds_up: Callable[[str, bool], bool]
    """Whether anything may add up there what several devices have; and whether what trains counts."""
    mends: Callable[[str], bool]
    """Whether a framework may be given there what it lacks."""
    sets: Callable[[str, str], bool]
    """Whether an attribute, which is asked first, may be set there of anything but `self`."""
    times_set: Callable[[str, str], int]
    """How often it is set there, of whatever it is."""
    looks_up: Callable[[str, str], bool]
    """Whether objects of a class, whose name is asked first, may be made there without that."""
    leaves_out: Callable[[Module, int], bool]
    """Whether what a site of a module makes is never used: a part of a layer, or a transform."""
    never_chosen: Callable[[Module, str], bool]
    """Whether what a registry keeps, a definition of a module, is chosen by nobody, where others of that module are."""
    keeps_from: Callable[[Module, int], bool]
    """Whether nothing comes to a draw at a site of a module, by what all files of settings have."""
    brings_to: Callable[[Module, int], bool]
    """Whether the function of a site always comes to it, by what all files of settings have."""
    gives: Callable[[str, str], bool]
    """Whether an option, whose name is asked first, may be set there by something else than a command line."""
    injects: Callable[[str, str], bool]
    """Whether a name, which is asked first, may be put there among those that all files have, or given to a module."""
    swaps: Callable[[str, str], bool]
    """Whether something else may be put there in the place of a definition, whose name is asked first."""


class Flow(Calls):
    """Follows entry points.

    Args:
        resolver: resolves what is called.
        knowledge: what the catalog says of sites.
        properties: the names of the properties that do something -> the files that define such.
        switch: the value that a site gives a switch.
        taken: whether a test holds by default (None when unknown), and where the default stands that decides.
        words: tells what may happen in a file.
        start: how processes start where nothing says it (`fork`, `spawn`, `forkserver`); "" where that isn't known.
    """

    recorder = Recorder()
    """Is told what the runs do, by who wants to show it."""

    def __init__(
        self,
        resolver: Resolver,
        knowledge: Knowledge,
        properties: Table[str, Sequence[str]],
        switch: Callable[[Any, Scalar], Scalar],
        taken: Taken,
        words: Words,
        start: str = "",
    ) -> None:
        super().__init__(resolver, knowledge, properties)
        self.switch = switch
        self.taken = taken
        self.words = words
        self.start = start
        trains = (name.rpartition(".")[0] for name in resolver.catalog.with_context("trains"))
        self.trained = {owner for owner in trains if resolver.is_class(owner)} - resolver.tensors
        """The classes whose methods train."""

    def reach(self, entry: EntryPoint) -> list[Reach]:
        """Everything that a run from this entry point does, and the processes that it starts."""
        run = _Run(self, entry, _State(), ())
        return run.follow()


class _Run:
    """One run: from an entry point, or from where a process or a command is started."""

    def __init__(self, flow: Flow, entry: EntryPoint, state: _State, path: tuple[Place, ...]) -> None:
        self.flow = flow
        self.recorder = flow.recorder
        self.resolver = flow.resolver
        self.result = Reach(entry)
        self.state = state
        self.path = path
        self.way: Way = frozenset()
        self.frame = Frame(entry.module, entry.module.facts.functions[0])
        self.values = Values(flow.resolver, self.differs, self.optional)
        self.done: dict[object, tuple[dict[str, str], dict[str, Scalar], str]] = {}
        self.stack: list[tuple[str, str]] = []
        self.imported: set[str] = set()
        self.asked: set[str] = set()
        """The files that were asked for options, and how many had been visited and imported by then."""
        self.asked_at = (0, 0)
        self.with_options: list[str] = []
        self.met: set[tuple[str, str]] = set()
        """The imports that it has come by, by file and name."""
        self.seen: set[tuple[str, int]] = set()
        self.calls = 0
        self.doubtful = 0
        """Above 0 in what only happens when an option is given: it draws nothing by default."""
        self.elsewhere = 0
        """Above 0 in a loader's workers."""
        self.trying = 0
        """Above 0 in functions that only show the shapes of what they make."""
        self.wasted = 0
        """Above 0 in calls whose results nobody reads."""
        self.training = 0
        """Above 0 in what only happens while a layer trains."""
        self.hollow = 0
        """Above 0 where tensors have no storage: initial weights draw nothing."""
        self.empties = False
        """Whether the weights are replaced of the layer that the function gives back which runs now."""
        self.drawn: dict[str, dict[Place, Draws]] = {}
        """The draws of each stream before it was seeded, by the first on each way."""
        self.first: dict[str, Place] = {}
        self.built: dict[str, Place] = {}
        """Classes of the program that the run has built objects of, and where first."""
        self.shelved: set[str] = set()
        """Those of them of which only imports have built objects."""
        self.importing = 0
        """Above 0 while a module is imported."""
        self.scopes: dict[Place, dict[str, str]] = {}
        """What leaving a `with` puts back (`torch.random.fork_rng()`), by the call that makes it; "" for an unseeded stream."""
        self.scoped: list[dict[str, str]] = []
        """The same for the blocks that the run is in."""
        self.process_of: tuple[int, Spot] | None = None
        """Where the process begins, and how long the path was there, if another one has started it."""
        self.exits = False
        """Whether the run has come to an end of the process."""
        self.returns = False
        """Whether the function that is run may have returned by now."""
        self.stopped = ""
        """Where something on this way has surely raised, which nothing has caught yet."""
        self.failed = ""
        """Where the body of a loop has, so that the run ends there if it goes through anything."""
        self.unsure = 0
        """Above 0 where what raises doesn't end the run: something may catch it, or another way be taken."""
        self.hopeless: set[Place] = set()
        """Calls that make what surely raises, or goes through a loop that does, once it is called: `value_and_grad(loss)`."""
        self.has_trained = False
        """Whether gradients have been taken, and not only something made that will take them."""
        self.required: set[Spot] = set()
        """Defaults with which the run ends, so that what follows has been given something else."""
        self.building = 0
        """Above 0 in the constructors of layers."""
        self.making: list[str] = []
        """The layers that are being built, or whose passes are followed although no statement asks for them."""
        self.trained_on: set[Scalar | None] = set()
        """The hardware that the run had chosen wherever it takes gradients."""
        self.ready: set[str] = set()
        """The layers whose own code gets ready to train; "" for code of none that only chooses the mode for it."""
        self.cells: set[str] = set()
        """The classes of a library's layers that it builds, and of those that derive from them, which train when they are called."""
        self.cells_in: set[str] = set()
        """The files in which it builds them."""
        self.cells_add = False
        """Whether those would add up what several devices have."""
        self.hands_cells = False
        """Whether what trains when it is called may be called out of sight: something else than a framework gets it, or something
        unknown is called."""
        self.by_hand = False
        """Whether gradients are taken by a function of the program."""
        self.trained = False
        """Whether a statement runs one of the layers that are ready."""
        self.differentiates = False
        """Whether gradients are taken that may be those of data."""
        self.of_weights = False
        """Whether some of its gradients are not just those of what a function is handed."""
        self.passes_back = False
        """Whether gradients are passed back to tensors that keep them, which may be weights."""
        self.kept: dict[str, dict[Ref, frozenset[str]]] = {}
        """What the files that were imported have put into registries, and the names by which it may be chosen."""
        self.names: set[str] = set()
        """All those names."""
        self.choices: dict[str, tuple[Place, tuple[Place, ...]]] = {}
        """Registries from which something was chosen by a name that isn't known; it is run at the end."""
        self.chosen: dict[int, tuple[str, list[Ref]]] = {}
        """Calls of what was chosen -> the registry, and what their names say that it is."""
        self.chosen_methods: dict[str, dict[str, tuple[Place, tuple[Place, ...]]]] = {}
        """Registries -> the methods that are called of what may have been chosen by a name that isn't known."""
        self.perhaps: set[str] = set()
        """Streams that only some of what may be chosen draws from."""
        self.commands: dict[str, list[Value | None]] = {}
        """The functions that were added to groups of commands."""
        self.pending: list[Callable[[], None]] = []
        """Generators and coroutines that were made and have not run yet."""
        self.using = False
        """Whether its statements are over, and frameworks use what it has made."""
        self.made: dict[tuple[str, str], list[Frame]] = {}
        """The constructors that have run, by the class of the object and their own -> with what."""
        self.later: list[_Later] = []
        """Draws of objects that were built on the way: they draw when they are used."""
        self.standing_in: set[str] = set()
        """Streams that objects made without a seed of their own draw from when they are used."""
        self.handed: list[tuple[Value, Place, bool, Frame]] = []
        """Functions that were handed to objects of libraries, which call them; whether in workers, and where that was."""
        self.workers: set[bool] = set()
        """Whether the loaders that were built have workers."""
        self.others: list[Reach] = []
        """The processes that the run starts."""
        self.started: set[tuple[str, str, int]] = set()
        """The functions that were run in processes, how those are started, and the pool."""
        self.pools: dict[int, _Run] = {}
        """What the processes of pools do, by the call that makes a pool."""

    # -- the whole run ------------------------------------------------------------------------------------------

    def follow(self) -> list[Reach]:
        entry = self.result.entry
        module = entry.module
        top = module.facts.functions[0]
        self.import_packages(module)
        self.imported.add(module.path)
        self.result.visited.add(module.path)
        self.note(module)
        if entry.function.number == 0:
            self.body(module.steps(top))
            if entry.called:
                value = self.values.look(self.frame, Ref(f"{module.facts.module}.{entry.called}")).value
                if value is not None and not self.command(value, None):
                    self.run(value, None)
        else:
            self.steps(_as_imported(module))
            self.call(module, entry.function, "", None, {})
        return self.finish()

    def import_packages(self, module: Module) -> None:
        """Run the packages around a module, which Python imports before it."""
        name = module.facts.module.rpartition(".")[0]
        if name:
            for package in self.flow.imported(module, name):
                self.import_module(package)

    def finish(self) -> list[Reach]:
        """What happens after the statements have run: what frameworks call, what objects draw, what processes come to."""
        result = self.result
        if (self.stopped or self.failed) and not (self.has_trained or result.infers):
            result.stops, result.trains = self.stopped or self.failed, False
            self.forget_objects()
        self.recorder.enter("later", self.frame.module, self.frame.function, None)
        self.use_objects()
        if self.differentiates and not result.trains:
            # The gradients of a network whose weights are loaded, and stay what they are, are those of a picture.
            by_itself = self.of_weights and not result.loads
            result.trains = by_itself or self.some_file(lambda path: self.flow.words.updates(path, False))
        if self.passes_back and not result.trains:
            # Those whose size alone is asked say how much something matters, and no weight follows.
            updates = self.some_file(lambda path: self.flow.words.updates(path, True))
            result.trains = updates or not self.some_file(self.flow.words.weighs)
        silent = result.loads and not result.trains and not self.some_file(self.flow.words.speaks)
        # A layer that trains may be built for nothing, where the run then evaluates. Those whose loaded weights are only tested are
        # also told to train.
        ready = bool(self.ready) and (self.trained or not result.infers) and not (silent and self.ready == {""})
        result.trains = result.trains or ready
        result.leaves = not result.trains and self.leaves_cells()
        result.trains = result.trains or (bool(self.cells) and not result.leaves)
        result.adds_up = result.adds_up or (self.cells_add and not result.leaves)
        result.applies = silent and not result.trains
        result.adds_up = result.communicates and not result.stops and (result.adds_up or not self.only_shares())
        result.held = self.state.switches
        if len(self.trained_on) == 1 and result.held.get(HARDWARE) is None and (chosen := next(iter(self.trained_on))):
            result.held = {**result.held, HARDWARE: chosen}  # on one way alone, which is the one that trains
        result.workers = self.workers != {False}
        self.draw_later()
        result.open.update(stream for stream in self.standing_in if self.is_open(stream))
        self.recorder.leave()
        # Who trains on may start without the checkpoint, or have layers that it doesn't know. Counts say nothing of weights. Those that
        # a run makes before it ends with an error come to nothing.
        shows = result.shows and not any(map(self.flow.words.speaks, sorted(result.visited)))
        as_loaded = (result.loads or result.measures or shows or result.stops) and not result.trains
        for stream, found in self.drawn.items() if result.trains or not result.tries else ():
            # A stream that is seeded late is told there.
            told = [*map(id, result.late[stream][1])] if stream in result.late else []
            open_ = [draws for draws in found.values() if id(draws) not in told]
            merged = reduce(Draws.with_other, open_) if open_ else None
            if merged is not None and as_loaded:
                merged = merged.rest
            if merged is not None:
                result.unseeded[stream] = msgspec.structs.replace(merged, sure=stream not in self.perhaps)
        if as_loaded:  # what the weights drew that are overwritten needed no seed
            late = {
                stream: (seeding, [d.rest for d in before if d.rest])
                for stream, (seeding, before) in result.late.items()
            }
            result.late = {stream: found for stream, found in late.items() if found[1]}
        pools = [reach for run in self.pools.values() for reach in run.finish()]
        del self.values  # which asks the run: Python frees what refers to each other late
        return [result, *self.others, *pools]

    def leaves_cells(self) -> bool:
        """Whether the run evaluates, and does nothing with layers that it builds and that train when they are called: it tells nothing
        to train, and calls none of them."""
        told = "" in self.ready or self.trained or self.hands_cells or not self.result.infers
        if not (self.cells or self.ready) or told or any(map(self.flow.words.hands, sorted(self.cells_in))):
            return False
        return not self.some_file(self.flow.words.orders)

    def only_shares(self) -> bool:
        """Whether what processes communicate is surely no sum: they share the data, say.

        Where gradients are taken by hand, it is also by hand that they are added up. Where they aren't seen to be taken, that may
        happen out of sight, unless the run only evaluates.
        """
        result = self.result
        if not (
            self.by_hand
            if result.trains
            else result.leaves
            or result.applies
            or (result.infers and not self.flow.words.speaks(result.entry.module.path))
        ):
            return False
        return not self.some_file(lambda path: self.flow.words.adds_up(path, result.trains))

    def some_file(self, tells: Callable[[str], bool]) -> bool:
        """Whether something holds for one of the files that a run comes to, by their words."""
        result = self.result
        inside = {result.entry.module.path, *result.visited}
        files = (*sorted(inside), *sorted(result.imported - inside))
        found = next(filter(tells, files), None)
        result.visited |= result.imported if found is None else {found}  # what it rests on
        return found is not None

    def is_mended(self) -> bool:
        """Whether something that the run has come to may give a framework what it lacks."""
        return self.some_file(self.flow.words.mends)

    def may_have(self, target: Value) -> bool:
        """Whether an object may have what its class lacks of a framework, where a method asks the object itself for that."""
        if not (isinstance(target, Member) and isinstance(target.base, Instance)):
            return False
        return self.some_file(partial(self.may_give, target.attr))

    def may_give(self, attribute: str, path: str) -> bool:
        """Whether a file may give some object an attribute, or has a class with such a method."""
        words, module = self.flow.words, self.resolver.module(path)
        if words.times_set(attribute, path) > 0 or words.sets(attribute, path):
            return True
        return module is not None and any(attribute in body.methods for body in module.classes.values())

    def may_be_swapped(self, target: Value | None) -> bool:
        """Whether something that the run has come to may put something else in the place of what is called, or its class."""
        called = target.of if isinstance(target, Result) else target
        names = called.name.partition("::")[2].split(".") if isinstance(called, Ref) else []
        if isinstance(target, Result) or len(names) == 1:
            names = [*names, "__init__", "__call__"]
        return any(self.some_file(partial(self.flow.words.swaps, name)) for name in names)

    def forget_objects(self) -> None:
        """Nothing is used any more of what was built: the run stops, having done nothing that counts."""
        self.stopped = ""
        self.differentiates = self.passes_back = False
        for built in (self.ready, self.cells, self.later, self.handed, self.built, self.choices):
            built.clear()

    def use_objects(self) -> None:
        """Run what frameworks call on the objects that were built: `forward`, `__getitem__`, the hooks of trainers."""
        outer, last_frame = self.path, self.frame
        self.using = True
        streams = self.worker_streams()
        for value, place, in_workers, frame in self.handed:
            self.frame = frame
            work = partial(self.run, value, place)
            if in_workers and streams is not None:
                streams = self.aside(streams, work)
            elif in_workers:
                self.apart(work)
            else:
                work()
        self.frame = last_frame
        used: set[str] = set()
        self.use_built(used, streams)
        self.use_registries(used, streams)
        self.path = outer

    def use_built(self, used: set[str], streams: dict[str, str] | None) -> None:
        """Run the methods that frameworks call on objects of the classes that were not `used` yet.

        Args:
            streams: those of a loader's workers.
        """
        while waiting := [name for name in self.built if name not in used]:
            for name in waiting:
                used.add(name)
                for module, function, _ in self.flow.hooks(name):
                    if function.name.endswith(".__call__") and name in self.shelved:
                        continue
                    self.path = (self.built[name],)
                    work = partial(self.call, module, function, name, self.built[name], {})
                    if streams is not None and "__getitem" in function.name:
                        self.aside(streams, partial(self.caught, work))
                    else:
                        self.for_layer(name, partial(self.caught, work))

    def use_registries(self, used: set[str], streams: dict[str, str] | None) -> None:
        """Run what may have been chosen from registries, and what it builds; each definition from where the run is now."""
        tried: set[str] = set()
        while waiting := [key for key in self.choices if key not in tried]:
            for key in waiting:
                tried.add(key)
                place, path = self.choices[key]
                before, ends = self.state, []
                for definition in self.likely(key)[:MOST_CHOICES]:
                    self.state, self.path = before.copy(), path
                    self.build(definition, place)
                    self.run(definition, place)
                    self.use_methods(key, definition)
                    self.use_built(used, streams)
                    ends.append(self.state)
                self.state = self.meet(ends)
                drawn = [{s for s, kind in end.streams.items() if kind == "drawn"} for end in ends]
                all_ = set.intersection(*drawn) if len(self.kept[key]) <= MOST_CHOICES else set()
                self.perhaps |= set.union(*drawn) - all_ - before.streams.keys()

    def likely(self, key: str) -> list[Ref]:
        """What may have been chosen from a registry, without what nobody chooses."""
        never, kept = self.flow.words.never_chosen, [*self.kept[key]]
        places = [(definition, definition.name.partition("::")) for definition in kept]
        return [d for d, (path, _, name) in places if not never(self.resolver.known(path), name)] or kept

    def use_methods(self, key: str, definition: Ref) -> None:
        """Call the methods that the run calls of what may have been chosen from a registry."""
        outer = self.path
        for method, (place, path) in self.chosen_methods.get(key, {}).items():
            self.path = path
            for callee in self.flow.method(definition.name, method):
                self.caught(partial(self.call, *callee, place, {}))
        self.path = outer

    def for_layer(self, name: str, work: Callable[[], object]) -> None:
        """Run something that building an object of a class does, or that a framework does with it."""
        layer = self.resolver.layer(name) is not None
        if layer:
            self.making.append(name)
        work()
        if layer:
            self.making.pop()

    def build(self, target: Value, place: Place) -> None:
        """Note that an object of a class of the program is built; one that importing a module builds is only kept there."""
        if isinstance(target, Ref) and "::" in target.name and self.resolver.is_class(target.name):
            self.built.setdefault(target.name, place)
            path = target.name.partition("::")[0]
            self.result.passed.add(path)
            self.result.visited.add(path)
            if not self.importing:
                self.shelved.discard(target.name)
            elif self.built[target.name] == place:
                self.shelved.add(target.name)

    def worker_streams(self) -> dict[str, str] | None:
        """The streams in a loader's worker processes, which seed Python's and NumPy's from PyTorch's; None where there
        may be no workers."""
        if self.workers != {True}:
            return None
        streams = dict(self.state.streams)
        kept = streams.get("torch", "")
        for stream in ("python", "numpy"):
            if kept in ("seeded", "optional", "entropy"):
                streams[stream] = kept
        return streams

    def draw_later(self) -> None:
        """What objects draw when they are used: transforms where data are read, maybe in the workers of a loader."""
        streams = self.worker_streams()
        for drawn in self.later:
            if self.is_open(drawn.stream) and self.flow.words.leaves_out(drawn.place.module, drawn.place.site):
                continue
            self.path = drawn.path
            # Where nothing is trained, a layer matters no more than its weights do.
            work = partial(self.draw, drawn.stream, drawn.place, drawn.layer and not self.result.trains)
            if streams is not None and drawn.read:
                streams = self.aside(streams, work)
            else:
                work()

    def aside(self, streams: dict[str, str], work: Callable[[], object]) -> dict[str, str]:
        """Run something with other streams; what becomes of those."""
        outer, self.state = self.state, _State(dict(streams), dict(self.state.switches))
        self.apart(work)
        after, self.state = self.state.streams, outer
        return after

    def apart(self, work: Callable[[], object]) -> None:
        """Run something that isn't the run itself: what it seeds is not seeded on purpose."""
        self.elsewhere += 1
        work()
        self.elsewhere -= 1

    def optional(self) -> Iterable[Module]:
        """The files with options of a command line that the run has run something of so far, in the order of their paths."""
        visited, imported = self.result.visited, self.result.imported
        if (len(visited), len(imported)) != self.asked_at:
            self.asked_at = (len(visited), len(imported))  # they only grow
            new = {path for path in (visited | imported) - self.asked if self.resolver.known(path).facts.options}
            self.asked = visited | imported
            self.with_options = sorted({*self.with_options, *new}) if new else self.with_options
        return map(self.resolver.known, self.with_options)

    def differs(self, made: Result) -> bool:
        """Whether what a call gives differs between runs: entropy, or a draw from a stream that isn't seeded here."""
        for entry in self.entries_of(made):
            if entry.entropy:
                return True
            if entry.draws and not entry.rule.startswith(("DET2", "DET3")):
                return any(self.state.streams.get(s, "drawn") in ("drawn", "entropy") for s in entry.draws)
        return False

    def entries_of(self, made: Result) -> Iterator[Entry]:
        """What the catalog says of a call; all that it says of the name where the arguments are not known."""
        place = self.resolver.place(made.site)
        if place is not None:
            found = self.flow.knowledge.matches(place[0], made.site & 0xFFFFFFFF)
            yield from (effect.entry for effect in found)
        elif isinstance(made.of, Ref):
            catalog = self.resolver.catalog
            yield from (catalog.entries[i] for i in catalog.calls.get(made.of.name, ()))

    # -- steps --------------------------------------------------------------------------------------------------

    def steps(self, steps: Iterable[Step]) -> bool:
        """Take steps in order; whether the flow leaves at their end."""
        for step in steps:
            if isinstance(step, Branch):
                if self.branch(step):
                    return True
            elif step == -1:
                return True
            elif step < 0:
                run = self.frame.module.body.runs[-2 - step]
                if isinstance(run, Member):
                    self.access(run)
                else:
                    self.import_name(run)
            else:
                failed, perhaps = self.failed, step in self.frame.module.body.perhaps
                self.perhaps_coming(partial(self.site, step)) if perhaps else self.site(step)
                if perhaps and (self.stopped or self.failed != failed):
                    self.stopped, self.failed = "", failed
            if self.stopped:
                return True
        return False

    def stop(self, what: str) -> bool:
        """Note that something surely raises here; whether the flow leaves: what a generator does may never be asked for."""
        if not self.frame.function.deferred:
            self.stopped = f"{what} in {self.frame.module.path}"
        return self.stopped != ""

    def import_name(self, name: str) -> None:
        """Run what importing a name runs, the first time that the file does."""
        module = self.frame.module
        if (module.path, name) in self.met:
            return
        self.met.add((module.path, name))
        for imported in self.flow.imported(module, name):
            if not self.stopped:
                self.import_module(imported)
        imports = self.flow.imports
        raises = not self.stopped and imports.raises(module, name, self.result.entry.module)
        if raises and not (imports.is_lacking(name) and self.is_mended()):
            self.stopped = f"the import of `{name}` in {module.path}"

    def caught(self, work: Callable[[], object]) -> bool:
        """Do something whose errors don't end the run: something catches them, or it may not happen. Whether it surely raised, or the
        body of a loop in it did."""
        outer, self.unsure, self.failed = (self.unsure, self.failed), 0, ""
        raised = self.perhaps_coming(lambda: self.raises(work) or self.failed)
        self.unsure, self.failed = outer
        return raised != ""

    def perhaps_coming(self, work: Callable[[], _T]) -> _T:
        """Do something that may not happen, or whose errors something catches: the run doesn't need what is needed for that."""
        needs = {*self.result.needs}
        done = work()
        self.result.needs = needs
        return done

    def raises(self, work: Callable[[], object]) -> str:
        """Do something; where it raised, "" if it didn't."""
        work()
        stopped, self.stopped = self.stopped, ""
        return stopped

    def import_module(self, module: Module) -> None:
        """Run the top level of a module of the program, the first time that it is imported."""
        if module.path in self.imported:
            return
        self.imported.add(module.path)
        top = module.facts.functions[0]
        if self.flow.is_idle(module, top):
            for file, inside in self.flow.seen_from(module, top):
                self.result.see(file, inside)
                self.note(self.resolver.known(file))
            return
        self.result.imported.add(module.path)
        self.note(module)
        outer, self.frame = self.frame, Frame(module, top)
        self.recorder.enter("import", module, top, None)
        self.importing += 1
        quiet = self.flow.quiet(module)
        if quiet is None:
            self.steps(_as_imported(module))
        else:
            self.import_from(module, quiet)
        self.importing -= 1
        self.recorder.leave()
        self.frame = outer

    def import_from(self, module: Module, quiet: Quiet) -> None:
        """Run what a module imports that does nothing else of interest."""
        for imported in quiet.imports:
            if self.stopped:
                return
            if imported.path not in self.imported:
                self.import_module(imported)
        for file, inside in quiet.seen:
            self.result.see(file, inside)
        new = [index for index in quiet.sites if (module.path, index) not in self.seen]
        self.seen.update((module.path, index) for index in new)
        self.result.places += [Place(module, index) for index in new]
        if quiet.sites:
            self.result.passed.add(module.path)

    def branch(self, branch: Branch) -> bool:
        if branch.kind in ("main", "loop"):
            if branch.kind == "main":
                self.result.tries = self.result.tries or branch.test == SHAPES
                packed = "." in self.frame.module.facts.module
                self.result.shows = self.result.shows or (packed and branch.test == PRINTS)
                self.steps(branch.arms[0])
            else:
                raised = self.perhaps_coming(partial(self.raises, partial(self.steps, branch.arms[0])))
                if not self.unsure:
                    self.failed = self.failed or raised  # but there may be nothing to go through
            return False
        if branch.kind == "trial":
            self.caught(partial(self.tried, branch.arms[0]))
            return False
        if branch.kind == "tests":  # no run but that of the tests takes its first arm
            return self.branch(Branch("if", None, branch.arms[1:]))
        if branch.kind in ("yield", "rebind"):
            return False
        if branch.kind == "exit":
            self.exits = True
            return True
        if branch.kind == "return":
            self.returns = True
            return True
        if branch.kind == "raise":
            name = str(branch.test.value) if isinstance(branch.test, Const) else ""
            given = name != "" and self.some_file(partial(self.flow.words.injects, name))
            return not given and self.stop(f"`{name}`")
        if branch.kind == "with":
            return self.block(branch)
        if branch.kind == "try":
            # The body is what runs; a handler stands in for it where an import or a device is missing.
            before = self.state.copy()
            self.caught(partial(self.steps, branch.arms[0]))
            after = self.state
            for arm in branch.arms[1:]:
                self.state = before.copy()
                self.caught(partial(self.steps, arm))
            self.state = after
            return False
        if self.orders_none(branch.test):
            return self.stop("an order of None and a number")
        taken, cause = None, None
        name, first = flag_of(branch.test)
        if name:
            taken, cause = self.values.flag(self.frame, Param(name))
            if taken is not None and cause is None and len(branch.arms) == 2:
                return self.steps(branch.arms[0 if taken is first else 1])  # as the call says
        if self.is_mode(branch.test) and len(branch.arms) == 2:
            return self.arms(branch.arms, by_mode=True)
        if isinstance(branch.test, Member) and len(branch.arms) == 2:
            kept = self.kept_flag(branch.test)
            return self.arms(branch.arms) if kept is None else self.steps(branch.arms[0 if kept else 1])
        if branch.test is not None and not isinstance(branch.test, Param):
            taken, cause = self.flow.taken(self.frame, branch.test, self.values)
            if cause is not None and branch.span is None and not (self.frame.given or _may_be_none(branch.test)):
                taken = None  # nobody knows what the call gives
        if taken is not None and len(branch.arms) == 2:
            if cause is None and branch.span is not None and not self.is_said(branch.test):
                cause = Spot(self.frame.module, branch.span)
            return self.decided(branch.arms[0 if taken else 1], branch.arms[1 if taken else 0], cause)
        return self.arms(branch.arms)

    def arms(self, arms: Sequence[tuple[Step, ...]], by_mode: bool = False) -> bool:
        """Alternatives of which each may be taken; whether the run comes out of none.

        Args:
            by_mode: whether the first is taken while a layer trains.
        """
        before, ends, stops = self.state, [], list[str]()
        self.unsure += 1
        for arm in arms:
            self.state = before.copy()
            self.training += by_mode and arm is arms[0]
            left = self.steps(arm)
            self.training -= by_mode and arm is arms[0]
            stops.append(self.stopped)
            self.stopped = ""
            if not left:
                ends.append(self.state)
        self.unsure -= 1
        if not ends:
            self.state, self.stopped = before, stops[0] if stops and all(stops) else ""
            return True
        self.stopped = next((stop for arm, stop in zip(arms, stops, strict=True) if stop and self.is_taken(arm)), "")
        self.state = before if self.stopped else self.meet(ends)
        return self.stopped != ""

    def is_taken(self, arm: tuple[Step, ...]) -> bool:
        """Whether an arm is always taken, by what all files of settings have."""
        first = next((step for step in arm if not isinstance(step, Branch) and step >= 0), None)
        return first is not None and self.flow.words.brings_to(self.frame.module, first)

    def is_said(self, test: Value | None) -> bool:
        """Whether the call itself says the text that an `if` asks for: no option, and no edit of a setting, can change that."""
        asked = [*test.names.values()] if isinstance(test, Expression) else []
        given = [self.frame.given.get(value.name) for value in asked if isinstance(value, Param)]
        return (
            bool(given)
            and len(given) == len(asked)
            and all(origin is not None and _is_text(origin) for origin in given)
        )

    def is_mode(self, test: Value | None) -> bool:
        """Whether an `if` asks a layer whether it trains, by itself or as the call was told."""
        return is_mode(self.values.look(self.frame, test).value) if isinstance(test, (Member, Param)) else False

    def kept_flag(self, asked: Member) -> bool | None:
        """Whether an attribute is true that a constructor keeps of what it is given, by all that the run has made; None where these
        differ or leave it open, something sets it anew, or objects may be made out of sight. Only known once all are made."""
        made = self.made_for(asked) if self.using else None
        if made is None:
            return None
        attributes = {asked.attr}
        kept = partial(self.kept_as, asked, attributes)
        held = {Kept(self.values, frame, kept).is_true(made.kept) for frame in made.frames}
        known = held.pop() if len(held) == 1 and all(frame.given for frame in made.frames) else None
        if known is None or self.some_file(partial(self.flow.words.looks_up, made.owner.rpartition("::")[2])):
            return None
        return None if any(self.some_file(partial(self.flow.words.sets, name)) for name in attributes) else known

    def kept_as(self, asked: Member, seen: set[str], name: str) -> Value | None:
        """What the constructor keeps as another attribute, which nothing else in the file sets.

        Args:
            seen: is told of it.
        """
        seen.add(name)
        made, module = self.made_for(Member(asked.base, name)), self.frame.module
        keeping = sum(name in body.attributes for body in module.classes.values())
        once = made is not None and self.flow.words.times_set(name, module.path) == keeping
        return made.kept if made is not None and once else None

    def made_for(self, asked: Member) -> _Made | None:
        """What the constructor of the class of `self` keeps as an attribute, and has run with; None where another class may say
        otherwise."""
        if not isinstance(asked.base, Instance):
            return None
        module = self.frame.module
        owner = f"{module.path}::{asked.base.of.removeprefix(module.prefix)}"
        receiver = self.frame.receiver or owner
        bodies = [body for name in self.resolver.mro(receiver) if (body := self.class_of(name)) is not None]
        kept = next(
            (body.attributes.get(asked.attr) for body in bodies if f"{module.path}::{body.name}" == owner), None
        )
        having = [body for body in bodies if asked.attr in body.attributes or asked.attr in body.methods]
        if kept is None or len(having) != 1 or any(body.decorators for body in bodies):
            return None
        frames = self.made.get((receiver, owner), [])
        return _Made(owner, kept, frames) if frames else None

    def class_of(self, name: str) -> Class | None:
        """A class of the program, by normal name."""
        path, colon, inside = name.partition("::")
        return self.resolver.known(path).classes.get(inside) if colon else None

    def hands_on_amiss(self, site: Site) -> bool:
        """Whether a call hands on what the function around it gets beyond its parameters (`self.network(*inputs)`) to a layer that
        takes more or fewer."""
        given = site.args[0] if len(site.args) == 1 else None
        if given is None or given.name != "*" or not isinstance(site.target, Member) or not self.path:
            return False
        frame = self.frame
        collects = any(
            p.kind == "*" and Param(p.name) == given.value for p in frame.module.detail(frame.function).parameters
        )
        count = self.beyond(frame.module, frame.function, self.path[-1]) if collects else None
        made = self.made_for(site.target) if count is not None else None
        if made is None or count is None or not isinstance(made.kept, Param):
            return False
        if self.some_file(partial(self.flow.words.sets, site.target.attr)):
            return False
        keeping = [
            body for body in frame.module.classes.values() if isinstance(body.attributes.get(site.target.attr), Param)
        ]
        if self.flow.words.times_set(site.target.attr, frame.module.path) != len(keeping):
            return False  # a method may set it anew
        values = {self.values.look(frame, made.kept).value for frame in made.frames}
        names = {value.of.name if isinstance(value, Result) and isinstance(value.of, Ref) else "" for value in values}
        return all(self.flow.raises.handed_on(frame.module, name, count) for name in names)

    def beyond(self, module: Module, function: Function, place: Place | None) -> int | None:
        """How many arguments a call gives a function beyond its parameters, by position; None where that isn't seen."""
        detail = module.detail(function)
        if place is None or detail.decorators or not any(parameter.kind == "*" for parameter in detail.parameters):
            return None
        call = place.module.sites[place.site]
        if call.kind != "call" or any(argument.name in ("*", "**") for argument in call.args):
            return None
        own = sum(not parameter.kind for parameter in detail.parameters) - bool(function.owner)
        return max(sum(not argument.name for argument in call.args) - own, 0)

    def tried(self, steps: Iterable[Step]) -> None:
        """The body of a function that only shows the shapes of what it makes: nothing that it draws, or builds, counts."""
        built, later, handed = dict(self.built), len(self.later), len(self.handed)
        self.trying += 1
        self.steps(steps)
        self.trying -= 1
        self.built = built
        del self.later[later:], self.handed[handed:]

    def orders_none(self, test: Value | None) -> bool:
        """Whether an `if` asks whether a parameter is above or below a number that the call leaves at None: that raises."""
        asked = ORDERED.fullmatch(test.text) if isinstance(test, Expression) else None
        parameter = test.names.get(asked[1]) if asked is not None and isinstance(test, Expression) else None
        if not isinstance(parameter, Param) or self.caller() is None:
            return False
        decorated = self.frame.module.detail(self.frame.function).decorators
        return not decorated and self.values.is_left_at_none(self.frame, parameter)

    def caller(self) -> Site | None:
        """The call that runs the function, if it says its name."""
        site = self.path[-1].module.sites[self.path[-1].site] if self.path else None
        called = site is not None and last(site.target) == self.frame.function.name.rpartition(".")[2]
        return site if called else None

    def is_unread(self, site: Site) -> bool:
        """Whether what a call gives is only given back, as one of several, to who never reads that one."""
        caller = self.caller() if site.use.startswith(AS) else None
        if caller is None or not caller.use.startswith(BUT):
            return False
        return site.use[len(AS) :] in caller.use[len(BUT) :].split(",")

    def unread(self, work: Callable[[], object]) -> None:
        """A call whose result nobody reads: what it builds is never used."""
        built, later, handed = dict(self.built), len(self.later), len(self.handed)
        self.wasted += 1
        work()
        self.wasted -= 1
        self.built = built
        del self.later[later:], self.handed[handed:]

    def decided(self, usual: tuple[Step, ...], other: tuple[Step, ...], cause: Spot | None) -> bool:
        """An `if` whose test is known by default: one arm is what runs, the other what an option can choose, or has to."""
        if cause is not None and cause in self.required:
            return self.steps(other)
        before = self.state.copy()
        self.exits = False
        self.unsure += cause is not None
        left = self.steps(usual)
        ran, exits = self.state, self.exits
        if cause is None:  # not even an option can choose it
            return left
        stopped, self.stopped = self.stopped, ""
        self.state, self.doubtful = before, self.doubtful + 1
        seedings = len(self.result.seedings)
        gone = self.steps(other)
        self.doubtful -= 1
        self.unsure -= 1
        self.stopped = self.stopped and stopped
        if left:
            if exits or stopped:
                self.required.add(cause)
            return gone
        chosen, self.state = self.state, ran
        if not gone and chosen.switches.get(HARDWARE) != ran.switches.get(HARDWARE):
            ran.switches.pop(HARDWARE, None)  # whoever starts the run chooses
        for stream, kind in chosen.streams.items():
            if kind in ("seeded", "optional") and ran.streams.get(stream, "drawn") == "drawn":
                seeding = next((s for s in self.result.seedings[seedings:] if stream in s.streams), None)
                if seeding is not None:
                    self.result.optional.setdefault(
                        stream, msgspec.structs.replace(seeding, cause=seeding.cause or cause)
                    )
                    ran.streams[stream] = "optional"
        return False

    def meet(self, ends: list[_State]) -> _State:
        """What holds after an `if` whose test can't be known (a configuration file).

        The program offers a seed then, and is taken at its word.
        """
        shared = ends[0].switches.items()
        met = _State(switches={k: v for k, v in shared if all(end.switches.get(k) == v for end in ends)})
        for stream in dict.fromkeys(stream for end in ends for stream in end.streams):
            kinds = {end.streams.get(stream, "") for end in ends}
            met.streams[stream] = next(k for k in ("entropy", "optional", "seeded", "drawn") if k in kinds)
        return met

    def block(self, branch: Branch) -> bool:
        """`with`: what entering it does, its body, and what leaving it does or undoes."""
        frame = self.frame
        entered = self.values.look(frame, branch.test).value
        before, after = self.entered(entered, branch.test)
        raw = branch.test
        saved: dict[str, str] = {}
        if isinstance(raw, Result):
            place = Place(frame.module, raw.site)
            saved = self.scopes.pop(place, {})
            if saved:  # what the call itself has seeded holds for the block only
                result = self.result
                result.seedings = [
                    msgspec.structs.replace(s, passing=s.passing or s.place == place) for s in result.seedings
                ]
                result.late = {stream: late for stream, late in result.late.items() if late[0].place != place}
        before()
        self.scoped.append(saved)
        hollow = isinstance(raw, Result) and self.has_no_storage(raw.site)
        self.hollow += hollow
        catches = self.may_catch(entered, raw)
        self.unsure += catches
        left = self.steps(branch.arms[0])
        self.unsure -= catches
        if self.stopped and catches:
            left, self.stopped = False, ""
        self.hollow -= hollow
        self.scoped.pop()
        after()
        for stream, kind in saved.items():
            self.state.streams.pop(stream, None)
            if kind:
                self.state.streams[stream] = kind
        return left

    def has_no_storage(self, site: int) -> bool:
        """Whether a call makes a block in which tensors have no storage, and initial weights no numbers."""
        found = self.flow.knowledge.matches(self.frame.module, site) if site >= 0 else ()
        return any("no-storage" in effect.entry.contexts for effect in found)

    def is_overwritten(self, target: Value, place: Place) -> bool:
        """Whether a call gives a layer whose weights, all of them, are replaced by stored ones before anything is done with them."""
        if self.resolver.layer(self.resolver.type_of(Result(target, -1))) is None:
            return False
        module, function = place.module, self.frame.function
        if self.empties and self.is_of(function.returns, place):
            return True
        loading = self.resolver.catalog.loading
        for other in surely_after(module.steps(function), place.site) or ():
            site = module.sites[other]
            if not isinstance(site.target, Member) or site.target.attr not in loading:
                continue
            if not self.is_of(site.target.base, place):
                continue
            strict = all(argument.value == Const(True) for argument in site.args if argument.name == "strict")
            effects = self.flow.knowledge.matches(module, other) if strict or site.use == COMPLETE else ()
            if any(LOADS_WEIGHTS in effect.entry.contexts for effect in effects):
                return not self.is_used_before(place, other)
        return False

    def gives_seeds(self, stream: str) -> bool:
        """Whether the seeds of a framework's initial weights are drawn from another stream than its own, and that is seeded."""
        return self.state.streams.get(self.resolver.catalog.weights_from.get(stream, "")) == "seeded"

    def is_replaced(self, stream: str, effect: Effect, place: Place) -> bool:
        """Whether stored weights replace what a library's layer draws for its own; not asked where a seed has fixed that."""
        fixed = self.state.streams.get(stream) in ("seeded", "entropy")
        return not fixed and self.is_overwritten(Ref(effect.name), place)

    def is_used_before(self, place: Place, load: int) -> bool:
        """Whether something may train a layer after a call has made it and before its weights are loaded."""
        module = place.module
        for number in range(place.site + 1, load):
            site = module.sites[number]
            if site.function != self.frame.function.number:
                continue
            if any("trains" in effect.entry.contexts for effect in self.flow.knowledge.matches(module, number)):
                return True
            if any(self.is_of(argument.value, place) for argument in site.args):
                target = self.resolver.normal(module.path, site.target, self.frame.function)
                if target is None or self.flow.callees(target):
                    return True
        return False

    def is_of(self, value: Value | None, place: Place) -> bool:
        """Whether a value may be what a call gives, itself or by way of methods that give their object back."""
        made = self.resolver.global_site(place.module.path, place.site)
        found = options(self.resolver.normal(place.module.path, value, self.frame.function))
        return any(is_made_by(option, made) for option in found)

    def entered(self, entered: Value | None, raw: Value | None) -> tuple[Callable[[], object], Callable[[], object]]:
        """What happens before and after the body of a `with`."""
        if isinstance(raw, Result):
            of = self.values.look(self.frame, raw.of).value
            if isinstance(of, Ref) and "::" in of.name:
                for module, function, _ in self.flow.callees(of):
                    if self.is_manager(module, function):
                        site = self.frame.module.sites[raw.site] if raw.site >= 0 else None
                        given = self.values.bind(self.frame, site, module, function) if site is not None else {}
                        before, after = _at_yield(module.steps(function))
                        frame = Frame(module, function, given, outer=self.frame)
                        return partial(self.inside, frame, before), partial(self.inside, frame, after)
        kind = self.resolver.type_of(entered)
        if "::" not in kind:
            return _nothing, _nothing
        place = self.path[-1] if self.path else None

        def run(method: str) -> None:
            for module, function, owner in self.flow.method(kind, method):
                self.call(module, function, owner, place, {})

        return lambda: run("__enter__"), lambda: run("__exit__")

    def may_catch(self, entered: Value | None, raw: Value | None) -> bool:
        """Whether a `with` may catch what is raised in it: managers of the program may, and those of libraries that are known to."""
        made = raw.of if isinstance(raw, Result) else raw
        named = self.values.look(self.frame, made).value
        own = "::" in self.resolver.type_of(entered) or (isinstance(named, Ref) and "::" in named.name)
        return own or (made is not None and last(made) in CATCHING)

    def is_manager(self, module: Module, function: Function) -> bool:
        """Whether a generator function is a context manager."""
        decorators = [self.resolver.normal(module.path, d) for d in module.detail(function).decorators]
        return any(isinstance(d, Ref) and d.name.endswith("contextmanager") for d in decorators)

    def inside(self, frame: Frame, steps: Iterable[Step]) -> None:
        outer, self.frame = self.frame, frame
        self.steps(steps)
        self.frame = outer

    # -- sites --------------------------------------------------------------------------------------------------

    def site(self, index: int) -> None:
        frame = self.frame
        module, site = frame.module, frame.module.sites[index]
        place = Place(module, index)
        key = (module.path, index)
        if key not in self.seen:
            self.seen.add(key)
            self.result.places.append(place)
            self.result.passed.add(module.path)
        if site.kind == "write":
            self.write(site, place)
            return
        target = self.target(index)
        misfits = (self.flow.raises.at(module, index) and not self.may_be_swapped(target)) or self.hands_on_amiss(site)
        if misfits and self.stop(f"line {site.span.line}"):
            self.result.visited.update(
                home.path for home, _, _ in self.flow.callees(target)
            )  # to edit these may mend it
            return
        effects = self.effects(index, target)
        if effects:
            self.recorder.tell("passes", "", place, "", self.state.streams)
            if any(effect.entry.rule for effect, _ in effects):
                self.result.judged.add(place)
            held = [(e, made) for e, made in effects if e.sure or made != place or self.may_hold(e, place)]
            self.spare(place, effects, held)
            effects = held
        raising = any(RAISES in e.entry.contexts and made == place and self.refuses(e, place) for e, made in effects)
        raising = raising and site.kind == "call" and not self.may_have(site.target) and not self.is_mended()
        if raising and self.stop(f"line {site.span.line}"):
            return
        restored = {stream for effect, _ in effects for stream in effect.entry.restores}
        if restored:
            # As they are before it seeds anything itself.
            self.scopes[place] = {stream: self.state.streams.get(stream, "") for stream in restored}
        for effect, made in effects:
            # A partial only prepares a call, and a configuration describes one.
            self.affect(place, effect, made, site.kind != "call" and site.kind in CALLS)
        if self.flow.is_prepared(target) or (self.cells and self.is_cell(target)):
            if self.is_hopeless(target) and self.stop(f"line {site.span.line}"):
                return
            self.train()
        if site.kind == "config":
            self.described(target, effects, place)
        if site.kind != "call":
            return
        if self.ready and not self.making and is_choice(site.target) and not isinstance(target, Ref):
            self.trained = self.trained or not self.flow.callees(target)  # it may be one of the layers
        if (self.cells or self.ready) and not self.making:
            self.hands_cells = self.hands_cells or self.may_call_cell(site, target)
        if self.adds_command(site) or self.is_remote(site, place) or self.choose(site, target, place) or target is None:
            return
        self.build(target, place)
        callees = self.flow.callees(target)
        if callees:
            overwritten = self.is_overwritten(target, place)
            makes = isinstance(target, Ref) and self.resolver.is_class(target.name)
            outer, self.empties = self.empties, overwritten and not makes
            self.hollow += overwritten and makes
            if self.is_unread(site):
                self.unread(partial(self.call_all, target, callees, place))
            else:
                self.call_all(target, callees, place)
            self.hollow -= overwritten and makes
            self.empties = outer
            self.command(target, place)
        elif self.command(target, place):
            pass
        elif not isinstance(target, Partial):
            self.hand_over(target, effects, place)

    def refuses(self, effect: Effect, place: Place) -> bool:
        """Whether a framework surely doesn't take what a call gives it: an option by its default says nothing. Where one of two values
        is taken, and an option decides between these, it is noted that the run needs this one."""
        if effect.sure:
            return True
        given = [name for name in effect.entry.when if (a := effect.arguments.get(name)) is not None and a.given]
        looked = {name: self.written(effect, place, name) for name in given}
        known = {n: o.value for n, o in looked.items() if isinstance(o.value, Const) and o.default is None}
        if self.flow.knowledge.settled(effect, known):
            return True
        for name, origin in looked.items():
            flag, otherwise = _by_option(origin.value)
            if flag and self.flow.knowledge.settled(effect, {**known, name: otherwise}):
                self.need(flag)
        return False

    def need(self, flag: str) -> None:
        """Note that the run raises here unless an option is true, which nothing sets but whoever starts it."""
        aside = self.elsewhere or self.using or self.frame.function.deferred
        sure = not (aside or self.unsure or self.returns or self.doubtful)
        if sure and not self.some_file(partial(self.flow.words.gives, flag)):
            self.result.needs.add(flag)

    def is_hopeless(self, target: Value | None) -> bool:
        """Whether what takes gradients raises, because the function of which it does."""
        made = self.resolver.place(target.site) if self.hopeless and isinstance(target, Result) else None
        return made is not None and Place(made[0], target.site & 0xFFFFFFFF) in self.hopeless  # type: ignore[union-attr]

    def access(self, target: Member, place: Place | None = None) -> bool:
        """Run the property that an attribute is when it is read, or set at a place; whether it is one."""
        if target.attr not in self.flow.properties:
            return False
        value = self.values.look(self.frame, target.base).value
        found = self.flow.accessors(value, target.attr, SETTER if place is not None else "")
        for module, function, owner in found:
            site = place.module.sites[place.site] if place is not None else None
            given = self.values.bind(self.frame, site, module, function) if site is not None else {}
            self.call(module, function, owner, place, given)
        return bool(found)

    def write(self, site: Site, place: Place) -> None:
        """`session.seed = 1`: a property's function runs, or an option of the command line is set anew."""
        assert isinstance(site.target, Member)
        if not self.access(site.target, place) and is_option(site.target) and not self.doubtful:
            self.values.assigned[site.target.attr] = self.values.look(self.frame, site.args[0].value)

    def described(self, target: Value | None, effects: Sequence[tuple[Effect, Place]], place: Place) -> None:
        """What a configuration describes is built and used when the statements of the run are over."""
        for effect, _ in effects:
            if not effect.entry.rule.startswith("DET1"):
                layer = self.resolver.layer(effect.name) is not None
                read = reads(effect)
                self.later += [_Later(stream, place, self.path, layer, read) for stream in effect.entry.draws]
        if target is not None and self.flow.callees(target):
            self.build(target, place)
            self.handed.append((target, place, False, self.frame))

    def target(self, index: int) -> Value | None:
        """What a site calls in this frame: methods of `self` by its own class, parameters by what they were given."""
        frame = self.frame
        raw = frame.module.sites[index].target
        known = self.flow.dispatched(frame.module, index, frame.receiver)
        if isinstance(known, Param):
            handed = self.values.handed.get(f"{frame.receiver}.{known.name}") if isinstance(raw, Member) else None
            return handed.value if handed is not None else self.values.look(frame, raw).value
        whole = known.base if isinstance(known, Member) and known.attr.startswith("[") else known
        made = isinstance(whole, Result) and isinstance(whole.of, Ref) and "::" in whole.of.name
        parsed = isinstance(raw, Member) and is_parsed(raw.base)
        if holds_parameter(raw) or made or parsed or (known is None and isinstance(raw, (Member, Result))):
            looked = self.values.look(frame, raw).value
            return looked if looked is not None else known
        return known

    def effects(self, index: int, target: Value | None) -> list[tuple[Effect, Place]]:
        """The catalog entries that a site may fulfil in this frame, each with the place that has its arguments."""
        module = self.frame.module
        here = Place(module, index)
        found = self.flow.knowledge.matches(module, index)
        raw = module.sites[index].target
        given = self.given_instead(raw) if found else None
        if given is not None:
            found, target = (), given.value  # what the call gives, and not what stands there where it doesn't
        shuffling = (e for e in self.flow.knowledge.shuffles(module, index) if self.is_told_to(e, here))
        known = [(effect, here) for effect in (*found, *shuffling)]
        if known or target is None:
            return known
        found_otherwise = given is not None or holds_parameter(raw) or is_choice(raw)
        effects: list[tuple[Effect, Place]] = []
        for option in options(target):
            if isinstance(option, Partial) and isinstance(option.of, Ref) and "::" not in option.of.name:
                place = self.resolver.place(option.site)
                if place is not None:
                    prepared = Place(place[0], option.site & 0xFFFFFFFF)
                    effects += [(e, prepared) for e in self.flow.knowledge.matches(prepared.module, prepared.site)]
            elif isinstance(option, Ref) and "::" not in option.name and found_otherwise:
                handed = self.flow.knowledge.matches_as(module, index, option)
                self.result.handed.setdefault(here, {})[option.name] = handed
                effects += [(e, here) for e in handed]
        return effects

    def given_instead(self, target: Value | None) -> Origin | None:
        """What the call gives for a parameter in whose place something else stands where it is left out; None where it is."""
        for option in target.options if isinstance(target, Either) else ():
            given = self.frame.given.get(left_out(self.frame.module, self.frame.function, option))
            if given is not None and given.value != Const(None):
                return given
        return None

    def spare(
        self, place: Place, effects: Sequence[tuple[Effect, Place]], held: Sequence[tuple[Effect, Place]]
    ) -> None:
        """Note whether a call that may draw does so in this frame: one that is told `shuffle=False` on the way surely doesn't."""
        draw = [effect for effect, _ in effects if effect.entry.draws]
        if any(effect.entry.draws for effect, _ in held) or any(
            self.may_hold(effect, place, sure=True) for effect in draw
        ):
            self.result.drawing.add(place)
        elif draw:
            self.result.spared.add(place)

    def may_hold(self, effect: Effect, place: Place, sure: bool = False) -> bool:
        """Whether the conditions of an entry that are open anywhere may hold in this frame: `shuffle=shuffle`.

        Whether a parameter is given at all (`seed=seed`) is known of what isn't: a caller has handed something on.

        Args:
            sure: whether that doesn't count, since what was handed on may be None.
        """
        given = {name: a for name in effect.entry.when if (a := effect.arguments.get(name)) is not None and a.given}
        looked = {name: self.written(effect, place, name).value for name in given}
        # A parameter that is annotated, or None.
        left_out = {n for n, v in looked.items() if isinstance(v, Instance) and v.name}
        asked = {n for n in looked.keys() - left_out if effect.entry.when[n].given is not None and not sure}
        known = {n: v for n, v in looked.items() if isinstance(v, Const) or n in asked}
        return not known or self.flow.knowledge.settled(effect, known) is not False

    def is_told_to(self, effect: Effect, place: Place) -> bool:
        """Whether the conditions of an entry that are open elsewhere surely hold in this frame."""
        given = [name for name in effect.entry.when if (a := effect.arguments.get(name)) is not None and a.given]
        looked = {name: self.written(effect, place, name).value for name in given}
        known = {name: value for name, value in looked.items() if isinstance(value, Const)}
        return self.flow.knowledge.settled(effect, known) is True

    def affect(self, place: Place, effect: Effect, made: Place, prepared: bool) -> None:
        """What a call of the catalog does, whose arguments stand at `made`."""
        entry = effect.entry
        self.result.loads = self.result.loads or (LOADS_WEIGHTS in entry.contexts and not self.doubtful)
        self.result.infers = self.result.infers or "evaluates" in entry.contexts
        self.result.measures = self.result.measures or "measures" in entry.contexts
        if "trains" in entry.contexts:
            # What an import makes ready may never be called.
            if not (self.importing and PREPARES in entry.contexts) and not self.is_tried_back(made):
                if TRAINING_CELL in entry.contexts and not self.making:
                    self.build_cell(effect, place)
                else:
                    self.train(entry.contexts)
                self.by_hand = self.by_hand or PREPARES in entry.contexts
        elif "readies" in entry.contexts and not self.making and not _gives_mode_back(made.module.sites[made.site]):
            self.ready.add("")  # what a layer tells its parts, it is told itself before it trains
        self.result.restarts = self.result.restarts or "restarts" in entry.contexts
        if STARTS_COMMUNICATION in entry.contexts:
            self.result.communicates = True
            known = effect.name.partition(".")[0] in self.resolver.catalog.adding
            self.result.adds_up = self.result.adds_up or not known
        adds = not ADDING.isdisjoint(entry.contexts)
        self.cells_add = self.cells_add or (adds and TRAINING_CELL in entry.contexts)
        self.result.adds_up = self.result.adds_up or (adds and TRAINING_CELL not in entry.contexts)
        if "loader" in entry.contexts:
            self.load(effect, made)
        if prepared:
            return
        if entry.seeds:
            self.seed(place, effect, made)
        if entry.rule == "DET103" or (entry.returns == "generator" and entry.seed):
            self.make(place, effect, made)
        elif entry.seed and not entry.seeds:
            self.seed_object(place, effect, made)
        if entry.unseeds and effect.sure:
            for stream in entry.unseeds:
                self.recorder.tell("seeds", stream, place, "entropy", self.state.streams)
            self.state.streams.update(dict.fromkeys(entry.unseeds, "entropy"))
        # A parameter left open (DET107), a generator object (DET103) and the like are findings of their own.
        if entry.rule == "DET107":
            self.leave_open(effect)
        if not entry.rule.startswith("DET1"):
            weights = "initial-weights" in entry.contexts or self.resolver.layer(effect.name) is not None
            kept = weights or self.makes_weights(place)
            by_mode = self.asks_mode(effect, made)
            read = reads(effect)
            used_later = by_mode or read or is_object(effect, weights) or (FILLS in entry.contexts and _is_kept(made))
            for stream in entry.draws if (used_later or not (kept and self.hollow)) and not self.is_idle(place) else ():
                if not WEIGHTS.isdisjoint(entry.contexts) and self.gives_seeds(stream):
                    continue
                if used_later:
                    layer = weights or by_mode or self.training > 0
                    self.later.append(_Later(stream, place, self.path, layer, read))
                elif self.matters(stream, place, entry) and not (weights and self.is_replaced(stream, effect, place)):
                    self.draw(stream, place, kept)
        for switch, value in entry.sets.items():
            chosen = self.flow.switch(effect, value)
            if chosen is not None:  # `Trainer(benchmark=None)` leaves the switch as it is
                self.recorder.tell("sets", switch, place, chosen, self.state.streams)
                before = self.result.switches.get(switch)
                if before is not None and before[1] != place and chosen:
                    self.result.again.append((switch, place))
                self.result.switches[switch] = (chosen, place)
                self.state.switches[switch] = chosen

    def asks_mode(self, effect: Effect, place: Place) -> bool:
        """Whether the layer around a call tells it whether it trains, perhaps by way of the function that it stands in."""
        told = effect.arguments.get(TRAINING)
        if told is not None and isinstance(told.value, Param):
            return is_mode(self.written(effect, place, TRAINING).value)
        return asks_mode(effect)

    def train(self, contexts: Collection[str] = ()) -> None:
        """Gradients are taken here: by the run, or by a layer that is being built, when it is called.

        Args:
            contexts: those of what takes them, which may do no more, so that they may be those of data.
        """
        self.trained_on.add(self.state.switches.get(HARDWARE))
        self.has_trained = self.has_trained or not (self.making or PREPARES in contexts)
        if self.making:
            self.ready.update(self.making)
        elif ONLY_DIFFERENTIATES in contexts:
            self.differentiates = True
            self.of_weights = self.of_weights or OF_INPUTS not in contexts
        elif PASSES_BACK in contexts:
            self.passes_back = True
        else:
            self.result.trains = True

    def build_cell(self, effect: Effect, place: Place) -> None:
        """A layer is built that takes gradients when it is called."""
        self.trained_on.add(self.state.switches.get(HARDWARE))
        target = self.target(place.site)
        self.cells.add(target.name if isinstance(target, Ref) else effect.name)
        self.cells_in.add(place.module.path)

    def may_call_cell(self, site: Site, target: Value | None) -> bool:
        """Whether a call may be one of a layer that trains, or of something that may call the one that it is handed: anything but what
        a framework has."""
        raw = site.target
        named = isinstance(raw, (Param, Result)) or is_choice(raw) or (isinstance(raw, Member) and is_self(raw.base))
        if named and not isinstance(target, Ref) and not self.flow.callees(target):
            return True
        if isinstance(raw, Member) and not isinstance(target, Ref):
            base = self.values.look(self.frame, raw.base).value
            part = "::" in self.resolver.type_of(base) and not self.flow.callees(target)
            if part or (raw.attr in CALLED and self.is_cell(base)):
                return True
        if isinstance(target, Ref) and target.name in self.flow.trained:
            return False  # what is made of it is told to train, or not
        given = (self.values.look(self.frame, argument.value).value for argument in site.args)
        return any(self.is_cell(inner) for value in given for inner in _inside(value))

    def is_cell(self, value: Value | None) -> bool:
        """Whether a value may be one of the layers that train when they are called."""
        made = [option for option in options(value) if isinstance(option, Result)]
        kinds = self.cells | self.ready
        return any(self.flow.is_prepared(option) or self.resolver.type_of(option) in kinds for option in made)

    def is_tried_back(self, place: Place) -> bool:
        """Whether a call stands in the `__main__` block of a run that only shows shapes, which drops nothing but passes back."""
        site = place.module.sites[place.site]
        own = place.module is self.result.entry.module and not site.function
        return self.result.tries and own and site.use == "dropped"

    def load(self, effect: Effect, place: Place) -> None:
        """Note whether a loader has workers, and what it runs in them."""
        workers = effect.arguments.get("num_workers")
        parsed: Value | None = Const(0)
        if workers is not None and workers.given is not False:
            parsed = self.written(effect, place, "num_workers").value
        known = isinstance(parsed, Const) and isinstance(parsed.value, int)
        self.workers.add(known and isinstance(parsed, Const) and bool(parsed.value))
        if workers is not None and workers.given is None:
            self.workers.add(False)  # only some of the tables that may be unpacked here have it
        for name in IN_WORKERS:
            given = effect.arguments.get(name)
            if given is not None and given.value is not None and given.given:
                self.handed.append((given.value, place, True, self.frame))
                self.result.renews = self.result.renews or name == "worker_init_fn"

    def written(self, effect: Effect, place: Place, parameter: str) -> Origin:
        """What a call gives a parameter, in this frame."""
        raw = self.flow.knowledge.written(place.module, place.site, effect, parameter)
        frame = self.frame
        if place.module is not frame.module:
            frame = Frame(place.module, place.module.function_of(place.module.sites[place.site]), outer=frame)
        return self.values.look(frame, raw)

    def seed(self, place: Place, effect: Effect, made: Place) -> None:
        entry = effect.entry
        kind, cause = self.seed_kind(effect, made, entry.seed)
        if kind == "entropy" and (self.doubtful or (self.elsewhere and cause is not None and self.is_drawn(cause))):
            return  # a worker that takes its seed from a stream which nobody seeds leaves its own as they are
        if kind == "entropy" and cause is None and entry.absent not in ("", "fixed", "entropy"):
            kind = self.seed_from(entry.absent, place, entry.seeds)
            if kind == "entropy":
                return
        seeding = Seeding(place, tuple(entry.seeds), kind, cause, self.is_passing(place), self.way)
        self.result.seedings.append(seeding)
        if cause is not None and kind == "entropy":
            self.forgive(cause)
        for stream in entry.seeds:
            self.recorder.tell("seeds", stream, place, "optional" if self.doubtful else kind, self.state.streams)
            if kind == "fixed":
                if not self.doubtful and not seeding.passing and (before := self.drawn_before(stream)):
                    self.result.late.setdefault(stream, (seeding, before))
                self.state.streams[stream] = "seeded"
            else:
                self.state.streams[stream] = kind
                if kind == "optional":
                    self.result.optional.setdefault(stream, seeding)

    def drawn_before(self, stream: str) -> list[Draws]:
        """The draws from a stream that the run may have made on its way to where it is now; the one that it surely made
        first."""
        found = self.drawn.get(stream, {})
        first = found.get(self.first[stream]) if stream in self.first else None
        if first is None or self.state.streams.get(stream) != "drawn":
            return []
        return [first, *(draws for draws in found.values() if draws is not first and agree(draws.way, self.way))]

    def seed_from(self, source: str, place: Place, seeds: Iterable[str]) -> str:
        """A call takes its seed from a stream: what the seed is. Where that stream isn't seeded, its draw is what is told."""
        self.draw(source, place)
        if self.state.streams.get(source) == "seeded":
            return "fixed"
        for stream in seeds:
            self.recorder.tell("seeds", stream, place, "entropy", self.state.streams)
            self.state.streams[stream] = "entropy"
        return "entropy"

    def seed_object(self, place: Place, effect: Effect, made: Place) -> None:
        """Note that the seed of an object is entropy: `default_rng(time.time_ns())`. One that is left out is DET103."""
        kind, cause = self.seed_kind(effect, made, effect.entry.seed)
        if kind == "entropy" and cause is not None and not self.doubtful:
            self.result.seedings.append(Seeding(place, ("the generator",), kind, cause))
            self.forgive(cause)

    def require(self, cause: Spot) -> bool:
        """Note that the run ends here where an option has no number: whatever it draws later, it has got one. Not so where it has
        drawn before, or may not come here."""
        if self.doubtful or self.result.optional_drawn or any(self.drawn.values()):
            return False
        self.required.add(cause)
        for stream in [stream for stream, seeding in self.result.optional.items() if seeding.cause == cause]:
            del self.result.optional[stream]
            self.state.streams[stream] = "seeded"
        return True

    def leave_open(self, effect: Effect) -> None:
        """Note which unseeded streams stand in for a seed that is left out; an object draws from them later."""
        if is_object(effect, weights=False):
            self.standing_in.update(effect.entry.draws)
        elif not self.doubtful:
            self.result.open.update(s for s in effect.entry.draws if self.is_open(s))

    def is_open(self, stream: str) -> bool:
        """Whether nothing has seeded a stream by now, nor said that its seed is entropy or an option."""
        return self.state.streams.get(stream) in (None, "drawn")

    def is_passing(self, place: Place) -> bool:
        """Whether what is seeded at a place soon gets its state back, or belongs to a worker."""
        here = {s for effect in self.flow.knowledge.matches(place.module, place.site) for s in effect.entry.seeds}
        return self.elsewhere > 0 or any(not here.isdisjoint(saved) for saved in self.scoped)

    def make(self, place: Place, effect: Effect, made: Place) -> None:
        """Note what the seed of a generator object is; what takes none is made from entropy."""
        entry = effect.entry
        parameter = entry.seed or next((name for name, asked in entry.when.items() if asked.given is False), "")
        kind, cause = self.seed_kind(effect, made, parameter) if parameter else ("entropy", None)
        if kind == "optional" and cause is not None and "rejects-none" in entry.contexts and self.require(cause):
            kind = "fixed"
        self.result.made.setdefault(place, set()).add(kind)
        if kind == "entropy" and cause is not None and not self.doubtful and not self.is_drawn(cause):
            self.result.seedings.append(Seeding(place, ("the generator",), kind, cause))
        if kind == "optional" and not self.doubtful:
            key = f"{GENERATOR}{cause} {place.module.path} {place.site}"
            self.result.optional.setdefault(key, Seeding(place, ("the generator",), kind, cause))
            self.result.optional_drawn.add(key)

    def seed_kind(self, effect: Effect, made: Place, parameter: str) -> tuple[str, Spot | None]:
        """Whether the seed of a call is `fixed`, `entropy` or `optional`, and where that comes from."""
        entry = effect.entry
        argument = effect.argument(parameter) if parameter else None
        if argument is None or argument.given is None:
            return "fixed", None
        if argument.given is False and (argument.value is None or argument.value == Const(None)):
            varies = entry.absent not in ("", "fixed") or entry.rule == "DET103"
            return ("entropy" if varies else "fixed"), None
        origin = self.written(effect, made, parameter)
        if origin.value == Const(None):
            if origin.default is not None and origin.default in self.required:
                return "fixed", None
            if entry.absent == "fixed":
                return "fixed", None
            return ("optional", origin.default) if origin.default is not None else ("entropy", None)
        spot = self.values.entropy(origin)
        return ("entropy", spot) if spot is not None else ("fixed", None)

    def forgive(self, cause: Spot) -> None:
        """A draw that made a seed is told as that seed's entropy."""
        for found in self.drawn.values():
            for place in [p for p in found if p.module is cause.module and p.module.sites[p.site].span == cause.span]:
                del found[place]

    def is_drawn(self, spot: Spot) -> bool:
        """Whether what stands at a place is drawn from a stream, rather than from the clock or the system."""
        here = (i for i, site in enumerate(spot.module.sites) if site.span == spot.span)
        return any(effect.entry.draws for i in here for effect in self.flow.knowledge.matches(spot.module, i))

    def matters(self, stream: str, place: Place, entry: Entry) -> bool:
        """Whether what a call draws decides anything: it is no example for a tracer, not just logged or dropped, and no id."""
        use = place.module.sites[place.site].use
        if use in ("id", "logged", CERTAIN, UNUSED) or (use == "dropped" and "only-gives" in entry.contexts):
            return False
        if use == "looked-at" and stream in HOST:
            return False
        return stream == "python" or not self.flow.knowledge.only_shown(place.module, place.site)

    def is_idle(self, place: Place) -> bool:
        """Whether nobody goes through the data set that a call gives: the script that is run does nothing with it, nor with what the
        function gives back that makes it."""
        use = place.module.sites[place.site].use
        if use != LENT:
            return use == IDLE and self.is_left(place)
        caller = self.caller()
        if caller is None or not caller.use.startswith(BUT):
            return caller is not None and self.is_left(self.path[-1])
        returned = self.frame.function.returns
        given = [*enumerate(returned.values)] if isinstance(returned, Items) else []
        places = {str(number) for number, value in given if _may_hold(value, place.site)}
        return bool(places) and places.issubset(caller.use[len(BUT) :].split(","))

    def is_left(self, place: Place | None) -> bool:
        """Whether nothing is done with what a call gives: it is dropped, or the top level of the script keeps it for nothing."""
        site = place.module.sites[place.site] if place is not None else None
        if place is None or site is None or site.use != IDLE:
            return site is not None and site.use == "dropped"
        entry = self.result.entry
        return entry.module is place.module and entry.function.number == site.function == 0 and not self.importing

    def makes_weights(self, place: Place) -> bool:
        """Whether a call that draws stands where a layer is built, and what it gives goes on into something, or is drawn in
        place (`m.weight.data.normal_()`)."""
        site = place.module.sites[place.site]
        in_place = site.use == "dropped" and last(site.target).endswith("_")
        return self.building > 0 and (not site.use or site.use.startswith("argument:") or in_place)

    def draw(self, stream: str, place: Place, weights: bool = False) -> None:
        held = self.state.streams.get(stream)
        if not self.doubtful:
            self.recorder.tell("draws", stream, place, held or "drawn", self.state.streams)
        if self.doubtful or self.trying or held in ("seeded", "entropy"):
            return
        if held == "optional":
            self.result.optional_drawn.add(stream)
            return
        found = self.drawn.setdefault(stream, {})
        first = self.first.get(stream)
        here = Draws(place, self.path, self.way, self.process_of)
        if held != "drawn" or first not in found:
            if self.flow.words.keeps_from(place.module, place.site):
                self.result.unlikely.setdefault(stream, msgspec.structs.replace(here, count=1))
                return
            self.state.streams[stream] = "drawn"
            self.first[stream] = first = place
            found.setdefault(place, here)
        assert first is not None
        found[first].add(here, weights or self.training > 0)

    # -- calls --------------------------------------------------------------------------------------------------

    def run(self, value: Value, place: Place | None) -> bool:
        """Call a value with arguments that are not known; who calls it may catch what it raises. Whether it did, all that it may be."""
        callees = self.flow.callees(value)
        raised = [self.caught(partial(self.call, *callee, place, {})) for callee in callees]
        return bool(raised) and all(raised)

    def call_all(self, target: Value, callees: list[Callee], place: Place) -> None:
        """Run what a site calls; of alternatives (`args.func(args)`), each from where the run is now."""
        frame = self.frame
        site = frame.module.sites[place.site]
        choose = isinstance(target, Either) and len(callees) > 1
        before, way, ends = self.state, self.way, []
        stops: list[str] = []
        for number, (module, function, owner) in enumerate(callees):
            if function.deferred and site.use.startswith(("kept", "assigned:", IDLE)):
                given = self.arguments(frame, site, target, module, function)
                self.pending.append(partial(self.call, module, function, owner, place, given))
                continue
            if choose:
                self.state, self.way = before.copy(), way | {(place, number)}
            given = self.arguments(frame, site, target, module, function)
            if not owner and function.owner:
                owner = self.owner(frame, site.target, module, function)
            bare = int(target.attr[len(BARE) :]) if isinstance(target, Member) and target.attr.startswith(BARE) else 0
            registry = self.owning(frame, site.target) if self.kept and function.owner else ""
            self.unsure += choose
            stops.append(self.raises(partial(self.call, module, function, owner, place, given, bare, registry)))
            self.unsure -= choose
            ends.append(self.state)
        if ends and choose:
            self.state, self.way = self.meet(ends), way
        self.stopped = stops[0] if stops and all(stops) else ""

    def arguments(
        self, frame: Frame, site: Site, target: Value, module: Module, function: Function
    ) -> dict[str, Origin]:
        """What a call gives the parameters, a partial's own arguments included."""
        given = self.values.bind(frame, site, module, function)
        if isinstance(target, Partial):
            place = self.resolver.place(target.site)
            if place is not None:
                inside = Frame(place[0], place[0].function_of(place[1]), outer=frame)
                given = self.values.bind(inside, place[1], module, function) | given
        return given

    def owner(self, frame: Frame, raw: Value, module: Module, function: Function) -> str:
        """The class of `self` in a method that is called."""
        own = f"{module.path}::{function.owner}"
        if isinstance(raw, Member):
            inner = raw.base
            if is_self(inner):
                return frame.receiver or own
            kind = self.resolver.type_of(self.values.look(frame, inner).value)
            return kind if "::" in kind else own
        return own

    def owning(self, frame: Frame, raw: Value) -> str:
        """The registry whose method is called, by its key."""
        if isinstance(raw, Member):
            if is_self(raw.base):
                return frame.registry
            return self.flow.registries.key(self.values.look(frame, raw.base).value)
        return self.flow.registries.owner(frame.module, raw)

    def call(
        self,
        module: Module,
        function: Function,
        receiver: str,
        place: Place | None,
        given: dict[str, Origin],
        bare: int = 0,
        registry: str = "",
    ) -> None:
        """Run a function of the program; once for each state and each choice of arguments that it is entered with.

        Args:
            bare: how many of its decorators have been run.
            registry: the one that `self` is, by its key.
        """
        name = (module.path, function.name)
        self.result.visited.add(module.path)
        self.calls += 1
        if name in self.stack or len(self.stack) > DEEPEST_CALL or self.calls > MOST_CALLS:
            return
        if self.is_manager(module, function):
            return  # it runs where it is entered
        self.trained = self.trained or (bool(receiver) and receiver in self.ready and not self.making)
        wrapper = self.wrapper(module, function, bare)
        if receiver and function.name.endswith(".__init__"):
            self.values.handed.update({f"{receiver}.{k}": v for k, v in given.items() if self.decides(k, v)})
            made = self.made.setdefault((receiver, f"{module.path}::{function.owner}"), [])
            made.append(Frame(module, function, given, receiver, registry, self.frame))
        if wrapper is None and self.flow.is_idle(module, function, receiver):
            for file, inside in self.flow.seen_from(module, function, receiver):
                self.result.see(file, inside)
            return
        environment = self.environment(module, function, given)
        deciding = {k: v for k, v in environment.items() if _is_text(v) or self.decides(k, v)}
        self.import_module(module)
        key = (
            *name,
            receiver,
            bare,
            registry,
            self.doubtful > 0,
            self.hollow > 0,
            self.empties,
            self.trying > 0,
            self.training > 0,
            self.is_left(place),
            _unread_of(place),
            self.wasted > 0,
            self.beyond(module, function, place),
            _state_key(self.state),
            self.state.switches.get(HARDWARE),
            _key(deciding),
            frozenset(given),
        )
        if key in self.done:
            self.recorder.enter("again", module, function, place)
            streams, switches, self.stopped = self.done[key]
            self.state = _State(dict(streams), {**self.state.switches, **switches})
            return
        self.stack.append(name)
        outer, self.frame = (
            self.frame,
            Frame(module, function, environment, receiver, registry, self.frame),
        )
        path = self.path
        if place is not None:
            self.path = (*self.path, place)
        self.recorder.enter("call", module, function, place)
        if wrapper is not None:
            self.stack.pop()
            inner, closure = wrapper
            self.call(inner[0], inner[1], "", None, closure)
            self.stack.append(name)
        elif receiver and function.name.endswith(".__init__"):
            self.for_layer(receiver, partial(self.construct, receiver, module.steps(function)))
        else:
            self.body(module.steps(function))
        self.recorder.leave()
        self.path = path
        self.frame = outer
        self.stack.pop()
        self.done[key] = (dict(self.state.streams), dict(self.state.switches), self.stopped)

    def construct(self, name: str, steps: Iterable[Step]) -> None:
        """Take the steps of the constructor of a class."""
        layer = self.resolver.layer(name) is not None
        self.building += layer
        self.body(steps)
        self.building -= layer

    def body(self, steps: Iterable[Step]) -> None:
        """Take the steps of a function; generators and coroutines that it keeps under a name run when it uses them, which
        is taken to be at its end."""
        outer, failed, self.pending, self.returns = (self.pending, self.returns), self.failed, [], False
        self.unsure += outer[1]  # what is behind a way out may not be come to
        self.steps(steps)
        self.unsure -= outer[1]
        if self.returns:
            self.stopped, self.failed = "", failed  # what raises behind may not have been come to
        for work in self.pending if not self.stopped else ():
            self.caught(work)  # it may not be gone through
        self.pending, self.returns = outer

    def environment(self, module: Module, function: Function, given: dict[str, Origin]) -> dict[str, Origin]:
        """What is known inside a function: its parameters, and those of the functions that it is defined in."""
        around = function.name.rpartition(".")[0]
        frame: Frame | None = self.frame if around in module.functions else None
        while frame is not None and (frame.function.name != around or frame.module is not module):
            frame = frame.outer
        closed = frame.given if frame is not None else {}
        texts = {k for k, v in given.items() if _is_text(v)}
        asked = texts & self.flow.worded(module, function) if texts else texts
        unknown = {k: Origin(None) for k, v in given.items() if not (k in asked or self.decides(k, v))}
        return {**closed, **unknown, **{k: v for k, v in given.items() if k not in unknown}}

    def decides(self, name: str, origin: Origin) -> bool:
        """Whether what a parameter was given may change what the function does to streams, or whether it trains."""
        made = isinstance(origin.value, Result) and self.resolver.type_of(origin.value)
        return made in self.flow.trained or _decides(name, origin, self.names)

    def wrapper(
        self, module: Module, function: Function, bare: int
    ) -> tuple[tuple[Module, Function], dict[str, Origin]] | None:
        """The function that a decorator of the program puts in the place of one, and what it closes over."""
        for i, decorator in enumerate(module.detail(function).decorators[bare:], bare + 1):
            made = decorator.of if isinstance(decorator, Result) else decorator
            named = self.resolver.normal(module.path, made)
            for home, outer, _ in self.flow.callees(named) if isinstance(named, Ref) else []:
                closed: dict[str, Origin] = {}
                if isinstance(decorator, Result):
                    if decorator.site >= 0:
                        top = Frame(module, module.facts.functions[0], outer=self.frame)
                        closed = self.values.bind(top, module.sites[decorator.site], home, outer)
                    outer = returned(home, outer) or outer
                inner = returned(home, outer)
                parameters = home.detail(outer).parameters
                if inner is not None and parameters:
                    own = Member(Ref(f"{module.path}::{function.name}"), f"{BARE}{i}")
                    return (home, inner), {**closed, parameters[0].name: Origin(own)}
        return None

    # -- functions that libraries call --------------------------------------------------------------------------

    def choose(self, site: Site, target: Value | None, place: Place) -> bool:
        """A call of what a registry gives, or of a method of what that makes (`RUNNERS[name](model).train()`); those of its
        definitions run that are named on the way here, else all of them at the end. Whether it is one."""
        if not self.kept:
            return False
        if isinstance(target, Member) and isinstance(target.base, Result) and target.base.site in self.chosen:
            self.use_chosen(*self.chosen[target.base.site], target, place)
            return True
        key = self.registry(site.target, target) if is_chosen(site.target) else ""
        if not key:
            return False
        words = self.words(site)
        named = [definition for definition, names in self.kept[key].items() if not names.isdisjoint(words)]
        self.chosen[self.resolver.global_site(place.module.path, place.site)] = key, named
        for definition in named:
            self.build(definition, place)
            self.call_all(definition, self.flow.callees(definition), place)
        if not named:
            self.choices.setdefault(key, (place, self.path))
        return True

    def use_chosen(self, key: str, named: list[Ref], target: Member, place: Place) -> None:
        """Call a method of an object of one of some classes, or of any that is in a registry."""
        for definition in named:
            self.call_all(target, self.flow.method(definition.name, target.attr), place)
        if not named:
            self.chosen_methods.setdefault(key, {}).setdefault(target.attr, (place, self.path))

    def registry(self, raw: Value, target: Value | None) -> str:
        """The registry that gives what a site calls, or that builds it, by its key; "" for none."""
        for value in (target, raw):
            made = value.of if isinstance(value, Result) else value
            if not isinstance(made, (Member, Ref)):
                continue
            # `MODELS[name](...)`, `MODELS.get(name)(...)`, `MODELS.build(...)`; what these give is an object of them.
            builds = last(made).startswith(BUILDS)
            if is_choice(made) or builds if value is made else not (is_choice(made) or builds):
                owner: Value | None = made.base if isinstance(made, Member) else Ref(owner_of(made))
                own = isinstance(owner.base if isinstance(owner, Member) else owner, Instance)
                if value is raw:
                    owner = self.values.look(self.frame, owner).value
                if isinstance(owner, Member) and is_choice(owner):
                    owner = owner.base  # `MODELS[name].build(...)`, a method of what is chosen
                key = self.frame.registry if own else self.flow.registries.key(owner)
                if key in self.kept:
                    return key
        key = self.flow.registries.chosen_by(target.of) if isinstance(target, Result) else ""
        return key if key in self.kept else ""

    def words(self, site: Site) -> set[str]:
        """The texts that a call is handed, or the one that gave what is called, that the calls on the way to it were, and that
        options are by default."""
        chooser = site.target.site if isinstance(site.target, Result) else -1
        arguments = (*site.args, *(self.frame.module.sites[chooser].args if chooser >= 0 else ()))
        found = [self.values.look(self.frame, argument.value).value for argument in arguments]
        frame: Frame | None = self.frame
        while frame is not None:
            found += [origin.value for origin in frame.given.values()]
            found += [option.default for option in frame.module.facts.options.values()]
            frame = frame.outer
        inside = [value.values if isinstance(value, Mapping) else (value,) for value in found]
        texts = {v.value for values in inside for v in values if isinstance(v, Const) and isinstance(v.value, str)}
        target = site.target.of if isinstance(site.target, Result) else site.target
        return texts | ({target.attr.strip("[]")} if isinstance(target, Member) else set())

    def hand_over(self, target: Value, effects: Sequence[tuple[Effect, Place]], place: Place) -> None:
        """A call of a library: functions that it is given are called by it, in new processes or later."""
        frame = self.frame
        site = frame.module.sites[place.site]
        contexts = {context for effect, _ in effects for context in effect.entry.contexts}
        functions = []
        for argument in site.args:
            if argument.name in IN_WORKERS:
                continue
            value = self.values.look(frame, argument.value).value
            if isinstance(value, (Ref, Partial)) and self.flow.callees(value):
                functions.append(value)
        if not functions:
            return
        how = "spawn" if "spawns" in contexts else "fork" if "forks" in contexts else None
        pool = -1
        if "processes" in contexts:
            how, pool = self.start_method(site, place)
        made = isinstance(target, Ref) and self.resolver.is_class(target.name)
        for value in functions:
            if how is not None:
                self.start(value, place, how, pool)
            elif isinstance(value, Ref) and self.resolver.is_class(value.name):
                if "calls" in contexts:  # who is only told of a class makes no object of it
                    self.offer(value, place)
            elif "keeps-functions" in contexts or (made and "calls" not in contexts):
                self.handed.append((value, place, False, frame))
            elif self.run(value, place) and PREPARES in contexts and len(functions) == 1:
                self.hopeless.add(place)

    def start_method(self, site: Site, place: Place) -> tuple[str, int]:
        """How a call starts processes ("" where that can't be known), and the call that made the pool, -1 for none."""
        pool = self.resolver.global_site(place.module.path, place.site)
        makers = [*self.makers(self.frame, site)]
        if makers and not last(site.target)[:1].isupper():
            pool = makers[0][0]  # `pool.map(...)`
        for _, frame, made in makers:
            for argument in made.args:
                value = self.values.look(frame, argument.value).value
                if argument.name in ("", "method") and isinstance(value, Const) and value.value in START_METHODS:
                    return str(value.value), pool
        chosen = self.state.switches.get("start-method")
        return (str(chosen) if chosen in START_METHODS else self.flow.start), pool

    def makers(self, frame: Frame, site: Site) -> Iterator[tuple[int, Frame, Site]]:
        """The calls that made what a call is made on, or what it is given to start processes with: a pool, its context."""
        for _ in range(DEEPEST_MAKER):
            given = next((a.value for a in site.args if a.name in ("mp_context", "context")), None)
            value = given or (site.target.base if isinstance(site.target, Member) else site.target)
            looked = self.values.look(frame, value).value
            place = self.resolver.place(looked.site) if isinstance(looked, Result) else None
            if place is None or not isinstance(looked, Result):
                return
            frame, site = Frame(place[0], place[0].function_of(place[1]), outer=frame), place[1]
            yield looked.site, frame, site

    def is_remote(self, site: Site, place: Place) -> bool:
        """`f.remote(...)` of Ray runs a function in a worker process."""
        if last(site.target) != "remote":
            return False
        owner = site.target.base if isinstance(site.target, Member) else Ref(owner_of(site.target))
        value = self.values.look(self.frame, owner).value
        if value is None or not self.flow.callees(value):
            return False
        self.start(value, place, "spawn")
        return True

    # -- command lines ------------------------------------------------------------------------------------------

    def note(self, module: Module) -> None:
        """Note what decorators in an imported file add to groups of commands, and what it puts into registries."""
        for key, value in self.flow.commands_in(module):
            self.commands.setdefault(key, []).append(value)
        for kept in self.flow.registries.kept_by(module):
            self.kept.setdefault(kept.registry, {})[kept.definition] = kept.names
            self.names |= kept.names

    def adds_command(self, site: Site) -> bool:
        """`group.add_command(f)`: nothing runs until the group is called."""
        frame, target = self.frame, site.target
        if isinstance(target, Result) and last(target.of) == "command":
            target = target.of  # `app.command()(f)`
        elif last(target) != "add_command":
            return False
        owner = target.base if isinstance(target, Member) else Ref(owner_of(target))
        values = [self.values.look(frame, argument.value).value for argument in site.args]
        self.commands.setdefault(repr(self.values.look(frame, owner).value), []).extend(values)
        return True

    def command(self, target: Value, place: Place | None) -> bool:
        """Calling a group of commands runs one of them: each is a run of its own from here."""
        found = self.commands.get(repr(target), ()) if self.commands else ()
        for callback in self.flow.callbacks.get(repr(target), ()) if found else ():
            self.run(callback, place)
        for value in found:
            for module, function, _ in self.flow.callees(value):
                if (module.path, function.name) not in self.stack:
                    path = (*self.path, place) if place is not None else self.path
                    run = _Run(self.flow, self.result.entry, self.state.copy(), path)
                    run.drawn = {stream: dict(draws) for stream, draws in self.drawn.items()}
                    run.first, run.frame, run.imported = dict(self.first), self.frame, self.imported
                    run.result.seedings, run.stack = list(self.result.seedings), list(self.stack)
                    run.kept, run.names, run.started = self.kept, self.names, self.started
                    self.recorder.enter("command", module, function, place)
                    run.call(module, function, "", place, {})
                    self.others += run.finish()
                    self.recorder.leave()
        return bool(found)

    def offer(self, value: Ref, place: Place) -> None:
        """A class whose methods a command line offers: each of them may be what is run."""
        for module, owner, method in self.flow.methods(value.name):
            function = module.functions.get(f"{owner}.{method}")
            if function is not None and (not method.startswith("_") or method == "__init__"):
                self.caught(partial(self.call, module, function, value.name, place, {}))

    def start(self, value: Value, place: Place, how: str, pool: int = -1) -> None:
        """A function in another process.

        Args:
            how: the start method; "" where it isn't known, so that the process may have this one's seeds or none.
            pool: the call that made the pool whose process it is, -1 for one of its own.
        """
        for module, function, _ in self.flow.callees(value):
            key = (function.name, how, pool)
            if key in self.started:
                continue
            self.started.add(key)
            self.recorder.enter("process", module, function, place)
            run = self.pools.get(pool) or self.process(how, place)
            run.path, run.frame = (*self.path, place), self.frame
            first = next(sites(module.steps(function)), None)
            run.process_of = (len(run.path), Spot(module, module.sites[first].span)) if first is not None else None
            run.call(module, function, "", None, {})
            if pool >= 0:
                self.pools[pool] = run
            else:
                self.others += run.finish()
            self.recorder.leave()

    def process(self, how: str, place: Place) -> _Run:
        """A process as it begins: a copy of this one, but that module random has seeded itself anew, or a new one."""
        state = _State(switches=dict(self.state.switches))
        run = _Run(self.flow, self.result.entry, state, (*self.path, place))
        run.started = self.started
        if how == "fork":
            state.streams = {stream: kind for stream, kind in self.state.streams.items() if stream != "python"}
            run.drawn = {stream: dict(draws) for stream, draws in self.drawn.items() if stream != "python"}
            run.first, run.imported, run.kept, run.names = dict(self.first), set(self.imported), self.kept, self.names
            return run
        run.import_module(self.result.entry.module)  # the new process imports it again, under another name
        if not how:
            run.perhaps = self.state.streams.keys() - {"python"}
        return run


def _as_imported(module: Module) -> Iterator[Step]:
    """What a module's top level does when it is imported: all but its `__main__` block."""
    steps = module.steps(module.facts.functions[0])
    return (step for step in steps if not (isinstance(step, Branch) and step.kind == "main"))


def _is_kept(place: Place) -> bool:
    """Whether the top level of a file keeps what a call gives under a name."""
    module = place.module
    return not module.sites[place.site].function and any(
        is_made_by(value, place.site) for value in module.facts.names.values()
    )


def _gives_mode_back(site: Site) -> bool:
    """Whether a layer is told to be in the mode that it was in: `mode = net.training`, and later `net.set_train(mode)`."""
    told = [arg.value for arg in site.args]
    layer, attribute = _taken_of(told[0] if len(told) == 1 else None)
    return attribute == TRAINING and layer == _taken_of(site.target)[0]


def _taken_of(value: Value | None) -> tuple[Value | None, str]:
    """What an attribute is taken of, and its name."""
    if isinstance(value, Ref):
        base, _, name = value.name.rpartition(".")
        return Ref(base), name
    return (value.base, value.attr) if isinstance(value, Member) else (None, "")


def _nothing() -> None:
    """What entering most things does to streams."""


def _unread_of(place: Place | None) -> str:
    """Which of several things that a call gives are never read."""
    use = place.module.sites[place.site].use if place is not None else ""
    return use if use.startswith(BUT) else ""


def _may_hold(value: Value | None, site: int) -> bool:
    """Whether a value may be, or hold, what a call gives, itself or by way of methods."""
    if isinstance(value, Result):
        return value.site == site or _may_hold(value.of, site)
    if isinstance(value, Member):
        return _may_hold(value.base, site)
    if isinstance(value, (Either, Items, Mapping)):
        return any(_may_hold(part, site) for part in (value.options if isinstance(value, Either) else value.values))
    return not isinstance(value, (Const, Ref)) and not (isinstance(value, Instance) and value.of in PLAIN)


def _at_yield(steps: Sequence[Step]) -> tuple[list[Step], list[Step]]:
    """The steps of a generator before and after its first yield."""
    for i, step in enumerate(steps):
        if isinstance(step, Branch):
            if step.kind == "yield":
                return list(steps[:i]), list(steps[i + 1 :])
            for arm in step.arms[:1]:
                if _yields(arm):
                    before, after = _at_yield(arm)
                    return [*steps[:i], *before], [*after, *steps[i + 1 :]]
    return list(steps), []


def _may_be_none(test: Value) -> bool:
    """Whether an `if` asks for a parameter that may be left at None."""
    asked = test.names.values() if isinstance(test, Expression) else ()
    return any(isinstance(value, Param) and value.default == Const(None) for value in asked)


def _yields(steps: Sequence[Step]) -> bool:
    return any(isinstance(s, Branch) and (s.kind == "yield" or any(map(_yields, s.arms))) for s in steps)


def _decides(name: str, origin: Origin, names: set[str]) -> bool:
    """Whether what a parameter was given may change what the function does to streams.

    Args:
        names: those of what registries keep.
    """
    value = origin.value
    if isinstance(value, Const) and (value.value in names or isinstance(value.value, bool)):
        return True
    if isinstance(value, Mapping) and any(isinstance(v, Const) and v.value in names for v in value.values):
        return True
    if isinstance(value, Either):
        known = isinstance(_by_option(value)[1], Const)
        return known or any(isinstance(o, (Ref, Partial)) for o in value.options) or DECIDING.search(name) is not None
    if isinstance(value, (Ref, Partial)) or (isinstance(value, Member) and value.attr.startswith(BARE)):
        return True
    if isinstance(value, Result) and isinstance(value.of, Ref) and "::" in value.of.name:
        return True
    return DECIDING.search(name) is not None


def _inside(value: Value | None) -> Iterator[Value | None]:
    """A value, and all that it holds."""
    yield value
    if isinstance(value, (Items, Mapping)):
        for inner in value.values:
            yield from _inside(inner)


def _by_option(value: Value | None) -> tuple[str, Value | None]:
    """The option, as an attribute of all that are given, which decides between two values, and the one for where it isn't true; "" for
    none."""
    if not isinstance(value, Either) or "." not in value.by[1:] or value.by.startswith("self."):
        return "", None
    return last(Ref(value.by)), value.options[1]


def _is_text(origin: Origin) -> bool:
    """Whether a call says a text itself: what an option or a setting says may be another one."""
    return isinstance(origin.value, Const) and isinstance(origin.value.value, str) and origin[1:] == (None, False)


def _state_key(state: _State) -> frozenset[tuple[str, str]]:
    return frozenset(state.streams.items())


def _key(given: dict[str, Origin]) -> frozenset[tuple[str, str]]:
    return frozenset((name, repr(origin.value)) for name, origin in given.items())
