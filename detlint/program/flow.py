"""Seed flow: what an entry point has seeded when it reaches a draw.

A run is followed from the entry point through the calls of the program, in execution order: imports run a module's top
level where they stand, branches meet by intersection, loops run their body once, a constructor runs `__init__`, calling a
layer runs its `forward`; what frameworks call by themselves runs at the end. Functions that can't touch any stream or
switch, however deep they go, are known once for all runs and left out. Switches (`deterministic-algorithms`, ...) flow
the same way, as things that are set rather than seeded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, NamedTuple, Protocol

import msgspec

from detlint.catalog import Entry, Scalar
from detlint.facts.model import (
    Branch,
    Const,
    Either,
    Function,
    Instance,
    Member,
    Param,
    Partial,
    Ref,
    Result,
    Site,
    Step,
    Value,
)
from detlint.program.entry import EntryPoint, sites
from detlint.program.resolve import Module, Resolver
from detlint.program.values import Frame, Origin, Spot, Values, is_parsed

DEEPEST_CALL: Final = 200
MOST_CALLS: Final = 20_000
# Methods of a function that hand it over to a library.
LATER: Final = ("add_command", "remote")
# Functions that a loader calls in its workers, in the order in which it does.
IN_WORKERS: Final = ("worker_init_fn", "collate_fn")
# What a framework calls by itself: the data model's methods of datasets and samplers, Lightning's hooks.
HOOKS: Final = re.compile(
    r"__(?:call|getitem|getitems|iter|next)__|\w+_step|\w+_dataloader|on_\w+|configure_\w+|collate\w*"
)
# Parameters whose value may decide on a seed; others are the same to the flow whatever they are given.
DECIDING: Final = re.compile(
    r"seed|determin|reprod|random|rng|generator|^(?:args|opts?|options|cfg|config|conf|hparams)$", re.I
)
CALLS: Final = ("call", "partial")
BARE: Final = "<bare>"
"""How the attribute begins by which a decorator's wrapper knows the function that it was given; then comes the number of
decorators that have been left behind."""


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
            self.entry.module.path, frozenset(self.unseeded), held, self.trains, self.infers, self.workers, self.renews
        )

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


class Passage(NamedTuple):
    """A run's way through one module."""

    outcome: Outcome
    sites: frozenset[int]
    """The sites that it passes."""
    seeded: frozenset[int]
    """Those of them that make a generator object with a seed."""


@dataclass(slots=True)
class _State:
    """What holds at a point of the run: a stream is absent, `drawn` (unseeded), `seeded`, `optional` or `entropy`."""

    streams: dict[str, str] = field(default_factory=dict)
    switches: dict[str, Scalar] = field(default_factory=dict)

    def copy(self) -> _State:
        return _State(dict(self.streams), dict(self.switches))


class Knowledge(Protocol):
    """What the rule engine knows of sites."""

    def matches(self, module: Module, index: int) -> Sequence[Effect]:
        """The catalog entries that a site fulfils."""

    def matches_as(self, module: Module, index: int, target: Value) -> Sequence[Effect]:
        """Those that it fulfils when it calls something else than it says (a parameter that was given a function)."""

    def target(self, module: Module, index: int) -> Value | None:
        """What a site calls, in normal form."""

    def written(self, module: Module, index: int, effect: Any, parameter: str) -> Value | None:
        """What a call gives a parameter, as the file has it."""


_Callee = tuple[Module, Function, str]
"""A function that is called, and the class of its `self`."""
_Method = tuple[str, int, str]
"""A module, a function of it by number, and the class of `self`."""
Taken = Callable[[Frame, Value, Values], tuple[bool | None, Spot | None]]


class _Matters(Exception):
    """A function touches a stream or a switch, or passes a site that a rule knows."""


class Recorder:
    """Is told what happens in a run, in order; this one keeps nothing."""

    def enter(self, how: str, module: Module, function: Function, place: Place | None) -> None:
        """A function begins: `call`, `import`, `again` (a call that does the same as an earlier one, and has no `leave`),
        `process`, `command`, or `later` (what frameworks call at the end, and the draws of what was built)."""

    def leave(self) -> None:
        """It ends."""

    def tell(self, kind: str, name: str, place: Place, state: object, streams: Mapping[str, str]) -> None:
        """Something happens at a place.

        Args:
            kind: `passes` (the catalog knows the site), `seeds`, `draws`, `sets`.
            name: the stream or the switch.
            state: what a seed is (`Seeding.kind`), whether a stream that is drawn from has one, the value of a switch.
            streams: the state of all streams, just before.
        """


class Flow:
    """Follows entry points.

    Args:
        resolver: resolves what is called.
        knowledge: what the catalog says of sites.
        switch: the value that a site gives a switch.
        taken: whether a test holds by default (None when unknown), and where the default stands that decides.
    """

    recorder = Recorder()
    """Is told what the runs do, by who wants to show it."""

    def __init__(
        self,
        resolver: Resolver,
        knowledge: Knowledge,
        switch: Callable[[Any, Scalar], Scalar],
        taken: Taken,
    ) -> None:
        self.resolver = resolver
        self.knowledge = knowledge
        self.switch = switch
        self.taken = taken
        self._idle: dict[_Method, int | None] = {}
        """Functions that do nothing of interest -> the modules that this was seen from, as bits; None for the others."""
        self._imports: dict[tuple[str, str], list[Module]] = {}
        self._commands: dict[str, list[tuple[str, Value]]] = {}
        self.callbacks: dict[str, list[Value]] = {}
        """What runs before any command of a group, by the group's key."""

    def reach(self, entry: EntryPoint) -> list[Reach]:
        """Everything that a run from this entry point does, and the processes that it starts."""
        run = _Run(self, entry, _State(), ())
        return run.follow()

    def imported(self, module: Module, name: str) -> list[Module]:
        """The files that importing a name runs: the packages around it, then the module itself."""
        key = (module.path, name)
        if key not in self._imports:
            found = dict[str, None]()
            parts = name.split(".")
            for i in range(1, len(parts) + 1):
                place = self.resolver.modules.find(module.path, ".".join(parts[:i]))
                if place is not None and place[0] != module.path:
                    found[place[0]] = None
            modules = map(self.resolver.module, found)
            self._imports[key] = [m for m in modules if m is not None]
        return self._imports[key]

    # -- functions that need not be followed --------------------------------------------------------------------

    def is_idle(self, module: Module, function: Function, receiver: str = "") -> bool:
        """Whether running a function can't touch a stream or a switch, nor pass a site that a rule knows.

        Args:
            receiver: the class of `self`; its methods are what a method calls.
        """
        key = (module.path, function.number, receiver)
        if key not in self._idle:
            found: dict[_Method, int] = {}
            open_: list[_Method] = []
            try:
                self._explore(module, function, receiver, found, open_)
            except _Matters:
                # Everything that is still open leads to what matters.
                self._idle.update(dict.fromkeys(open_))
        return self._idle[key] is not None

    def seen_from(self, module: Module, function: Function, receiver: str = "") -> Iterator[str]:
        """The files that say so of an idle function."""
        bits = self._idle[module.path, function.number, receiver] or 0
        while bits:
            low = bits & -bits
            found = self.resolver.numbered(low.bit_length() - 1)
            if found is not None:
                yield found.path
            bits ^= low

    def _explore(
        self, module: Module, function: Function, receiver: str, found: dict[_Method, int], open_: list[_Method]
    ) -> tuple[int, int]:
        """One visit of Tarjan's algorithm: functions that call each other in a circle are idle together, or none is.

        Args:
            found: the functions that were met, by the order in which they were.
            open_: those of them that are not settled.

        Returns: the first open function that it leads back to, and the modules looked into, as bits.

        Raises:
            _Matters: it leads to something that matters, or that can't be known.
        """
        key = (module.path, function.number, receiver)
        number = first = found[key] = len(found)
        if len(open_) > DEEPEST_CALL * 4:
            open_.append(key)
            raise _Matters
        open_.append(key)
        bits = 1 << module.number
        for callee in self._callees_of(module, module.steps(function), function, receiver):
            if callee is None:
                raise _Matters
            other = (callee[0].path, callee[1].number, callee[2])
            if other in self._idle:
                known = self._idle[other]
                if known is None:
                    raise _Matters
                bits |= known
            elif other in found:
                first = min(first, found[other])
            else:
                back, below = self._explore(*callee, found, open_)
                first, bits = min(first, back), bits | below
        if first == number:
            start = open_.index(key)
            self._idle.update(dict.fromkeys(open_[start:], bits))
            del open_[start:]
            if function.number == 0:
                module.rest()  # most modules are only imported
        return first, bits

    def _callees_of(
        self, module: Module, steps: Iterable[Step], function: Function, receiver: str
    ) -> Iterator[_Callee | None]:
        """What some steps run; None for something that matters or can't be known."""
        for step in steps:
            if isinstance(step, Branch):
                if step.kind == "main" and function.number == 0:
                    continue
                if step.kind == "exit":
                    yield None
                if step.kind == "with":
                    kind = self.resolver.type_of(self.resolver.normal(module.path, step.test))
                    for method in ("__enter__", "__exit__") if "::" in kind else ():
                        yield from self.method(kind, method)
                for arm in step.arms:
                    yield from self._callees_of(module, arm, function, receiver)
            elif step <= -2:
                for imported in self.imported(module, module.body.imports[-2 - step]):
                    yield imported, imported.facts.functions[0], ""
            elif step >= 0:
                yield from self._callees_at(module, step, receiver)

    def _callees_at(self, module: Module, index: int, receiver: str) -> Iterator[_Callee | None]:
        site = module.sites[index]
        if site.kind == "option" or self.knowledge.matches(module, index) or _last(site.target) in LATER:
            yield None
            return
        if site.kind not in CALLS:
            return
        target = self.dispatched(module, index, receiver)
        if (_holds_parameter(site.target) or isinstance(target, Param)) and receiver != BARE:
            yield None
            return
        if _is_choice(site.target) and any(
            isinstance(option, Ref) and self.knowledge.matches_as(module, index, option) for option in _options(target)
        ):
            yield None
            return
        handed = (self.resolver.normal(module.path, a.value) for a in site.args if isinstance(a.value, (Ref, Partial)))
        # A class that is handed over is seldom made there, and what draws is seen where it is.
        functions = (
            v for v in handed if not (isinstance(v, Ref) and "::" in v.name and self.resolver.is_class(v.name))
        )
        for value in (target, *functions):
            for found, callee, owner in self._run_by(value):
                own = receiver if isinstance(site.target, Member) and _is_self(site.target.base) else owner
                if not own and callee.owner and isinstance(site.target, Member):
                    own = self.resolver.type_of(self.resolver.normal(module.path, site.target.base))
                yield found, callee, own if callee.owner else ""
                yield from self._wrappers(found, callee)

    def _run_by(self, target: Value | None) -> Iterator[_Callee]:
        """The functions that calling a value may run at any time: a class's constructor, and what is called on its
        objects."""
        for option in _options(target):
            if isinstance(option, Result) and isinstance(option.of, Ref):
                for module, function, _ in self.callees(option.of):
                    inner = _returned(module, function)
                    if inner is not None:
                        yield module, inner, ""
            yield from self.callees(option)
            if isinstance(option, Ref) and "::" in option.name and self.resolver.is_class(option.name):
                yield from self.hooks(option.name)

    def hooks(self, name: str) -> Iterator[_Callee]:
        """The methods of a class of the program that frameworks call by themselves."""
        layer = self.resolver.layer(name)
        seen: set[str] = set()
        for owner in self.resolver.mro(name):
            key, colon, inside = owner.partition("::")
            module = self.resolver.by_path.get(key) if colon else None
            for method in module.classes[inside].methods if module is not None else ():
                if method not in seen and (HOOKS.fullmatch(method) or (layer is not None and method == layer.forward)):
                    seen.add(method)
                    yield from self.method(name, method)

    def _wrappers(self, module: Module, function: Function) -> Iterator[_Callee]:
        """The functions that decorators of the program put around one."""
        for decorator in module.detail(function).decorators:
            made = decorator.of if isinstance(decorator, Result) else decorator
            for home, outer, _ in self.callees(self.resolver.normal(module.path, made)):
                inner: Function | None = outer
                while inner is not None:
                    yield home, inner, BARE
                    inner = _returned(home, inner)

    def acts(self, module: Module) -> bool:
        """Whether a module's top level does anything that matters besides importing."""
        for index in sites(module.steps(module.facts.functions[0])):
            found = self.knowledge.matches(module, index)
            if any(touches(effect.entry) for effect in found):
                return True
            for callee in self._callees_at(module, index, "") if not found else ():
                if callee is None or not self.is_idle(*callee):
                    return True
        return False

    def commands_in(self, module: Module) -> list[tuple[str, Value]]:
        """The commands that decorators in a file add: (the key of their group, the function)."""
        if module.path not in self._commands:
            self._commands[module.path] = [
                (key, Ref(f"{module.path}::{function.name}"))
                for function in module.facts.functions
                for decorator in module.detail(function).decorators
                if isinstance(decorator, Result) and (key := self._group(module, decorator.of, "command"))
            ]
            for function in module.facts.functions:
                for decorator in module.detail(function).decorators:
                    made = decorator.of if isinstance(decorator, Result) else None
                    if made is not None and (key := self._group(module, made, "callback")):
                        self.callbacks.setdefault(key, []).append(Ref(f"{module.path}::{function.name}"))
        return self._commands[module.path]

    def _group(self, module: Module, made: Value, method: str) -> str:
        """The key of the group that `@group.command()` adds to; "" for another decorator."""
        if _last(made) != method:
            return ""
        return repr(self.resolver.normal(module.path, made.base if isinstance(made, Member) else Ref(_owner(made))))

    def dispatched(self, module: Module, index: int, receiver: str) -> Value | None:
        """What a site calls, methods of `self` by the class that it is of."""
        raw = module.sites[index].target
        if receiver and isinstance(raw, Member):
            if isinstance(raw.base, Instance):
                found = self.resolver.attribute_of_class(receiver, raw.attr)
                if found is not None:
                    return found
            elif _is_self(raw.base) and isinstance(raw.base, Member) and isinstance(raw.base.base, Instance):
                own = self.resolver.name(module.path, raw.base.base.of)
                if isinstance(own, Ref):
                    return self.resolver.inherited(own.name, raw.attr, receiver)
        return self.knowledge.target(module, index)

    # -- what calling a value runs ------------------------------------------------------------------------------

    def callees(self, target: Value | None) -> list[_Callee]:
        """The functions of the program that calling a value runs, with the class of their `self`."""
        if isinstance(target, Either):
            return [found for option in target.options for found in self.callees(option)][:8]
        if isinstance(target, Partial):
            return self.callees(target.of)
        if isinstance(target, Member) and target.attr.startswith(BARE):
            return self.callees(target.base)
        resolver = self.resolver
        if isinstance(target, Ref):
            key, colon, inside = target.name.partition("::")
            if not colon:
                return []
            module = resolver.known(key)
            if inside in module.classes:
                return [*self.method(target.name, "__init__"), *self.method(target.name, "__post_init__")]
            function = module.functions.get(inside)
            return [(module, function, "")] if function is not None else []
        if target is not None:
            kind = resolver.type_of(target)
            layer = resolver.layer(kind) if kind else None
            if kind and "::" in kind:
                return self.method(kind, layer.forward if layer is not None else "__call__")
        return []

    def method(self, name: str, method: str) -> list[_Callee]:
        """A method of a class of the program, with that class."""
        found = self.resolver.attribute_of_class(name, method)
        if not (isinstance(found, Ref) and "::" in found.name):
            return []
        return [(module, function, name) for module, function, _ in self.callees(found)]


class _Run:
    """One run: from an entry point, or from where a process or a command is started."""

    def __init__(self, flow: Flow, entry: EntryPoint, state: _State, path: tuple[Place, ...]) -> None:
        self.flow = flow
        self.recorder = flow.recorder
        self.resolver = flow.resolver
        self.result = Reach(entry)
        self.state = state
        self.path = path
        self.frame = Frame(entry.module, entry.module.facts.functions[0])
        self.values = Values(flow.resolver, self.differs, self.passed)
        self.done: dict[object, tuple[dict[str, str], dict[str, Scalar]]] = {}
        self.stack: list[tuple[str, str]] = []
        self.imported: set[str] = set()
        self.seen: set[tuple[str, int]] = set()
        self.calls = 0
        self.doubtful = 0
        """Above 0 in what only happens when an option is given: it draws nothing by default."""
        self.drawn: dict[str, dict[Place, Draws]] = {}
        """The draws of each stream before it was seeded, by the first on each way."""
        self.first: dict[str, Place] = {}
        self.built: dict[str, Place] = {}
        """Classes of the program that the run has built objects of, and where first."""
        self.objects: dict[str, Origin] = {}
        """What constructors were handed, by class and parameter."""
        self.scopes: dict[Place, dict[str, str]] = {}
        """What leaving a `with` puts back (`torch.random.fork_rng()`), by the call that makes it."""
        self.exits = False
        """Whether the run has come to an end of the process."""
        self.required: set[Spot] = set()
        """Defaults with which the run ends, so that what follows has been given something else."""
        self.loads = False
        """Whether the run loads weights."""
        self.commands: dict[str, list[Value | None]] = {}
        """The functions that were added to groups of commands."""
        self.pending: list[Callable[[], None]] = []
        """Generators and coroutines that were made and have not run yet."""
        self.later: list[tuple[str, Place, tuple[Place, ...]]] = []
        """Draws of objects that were built on the way: they draw when they are used."""
        self.handed: list[tuple[Value, Place, bool]] = []
        """Functions that were handed to objects of libraries, which call them; whether in workers."""
        self.workers: set[bool] = set()
        """Whether the loaders that were built have workers."""
        self.others: list[Reach] = []
        """The processes that the run starts."""
        self.started: set[str] = set()

    # -- the whole run ------------------------------------------------------------------------------------------

    def follow(self) -> list[Reach]:
        entry = self.result.entry
        module = entry.module
        top = module.facts.functions[0]
        self.import_packages(module)
        self.imported.add(module.path)
        self.result.visited.add(module.path)
        self.add_commands(module)
        if entry.function.number == 0:
            self.body(module.steps(top))
            if entry.called:
                value = self.values.look(self.frame, Ref(f"{module.facts.module}.{entry.called}")).value
                if value is not None and not self.command(value, None):
                    self.run(value, None)
        else:
            self.steps(s for s in module.steps(top) if not (isinstance(s, Branch) and s.kind == "main"))
            self.call(module, entry.function, "", None, {})
        return self.finish()

    def import_packages(self, module: Module) -> None:
        """Run the packages around a module, which Python imports before it."""
        name = module.facts.module.rpartition(".")[0]
        if name:
            for package in self.flow.imported(module, name):
                self.import_module(package)

    def finish(self) -> list[Reach]:
        """What happens after the statements have run: what frameworks call, and what objects draw."""
        self.recorder.enter("later", self.frame.module, self.frame.function, None)
        self.use_objects()
        result = self.result
        result.held = self.state.switches
        result.workers = self.workers != {False}
        for stream, place, path in self.later:
            self.path = path
            self.draw(stream, place)
        self.recorder.leave()
        for stream, found in self.drawn.items():
            merged: Draws | None = None
            for draws in found.values():
                if stream in result.late and result.late[stream][1] is draws:
                    continue
                if merged is None:
                    merged = replace(draws)
                else:
                    merged.count += draws.count
                    merged.only_weights = merged.only_weights and draws.only_weights
            if merged is not None and not (self.loads and merged.only_weights):
                result.unseeded[stream] = merged
        return [result, *self.others]

    def use_objects(self) -> None:
        """Run what frameworks call on the objects that were built: `forward`, `__getitem__`, the hooks of trainers."""
        done: set[str] = set()
        outer = self.path
        streams = self.worker_streams()
        for value, place, in_workers in self.handed:
            if in_workers and streams is not None:
                streams = self.aside(streams, partial(self.run, value, place))
            else:
                self.run(value, place)
        while waiting := [name for name in self.built if name not in done]:
            for name in waiting:
                done.add(name)
                for module, function, _ in self.flow.hooks(name):
                    self.path = (self.built[name],)
                    work = partial(self.call, module, function, name, self.built[name], {})
                    if streams is not None and "__getitem" in function.name:
                        self.aside(streams, work)
                    else:
                        work()
        self.path = outer

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

    def aside(self, streams: dict[str, str], work: Callable[[], object]) -> dict[str, str]:
        """Run something with other streams; what becomes of those."""
        outer, self.state = self.state, _State(dict(streams), dict(self.state.switches))
        work()
        after, self.state = self.state.streams, outer
        return after

    def passed(self) -> Iterator[Module]:
        """The files that the run has run something of so far, in the order of their paths."""
        return map(self.resolver.known, sorted(self.result.visited))

    def differs(self, name: str) -> bool:
        """Whether what a call gives differs between runs: entropy, or a draw from a stream that isn't seeded here."""
        for i in self.resolver.catalog.calls.get(name, ()):
            entry = self.resolver.catalog.entries[i]
            if entry.entropy:
                return True
            if entry.draws and not entry.rule.startswith(("DET2", "DET3")):
                return any(self.state.streams.get(s, "drawn") in ("drawn", "entropy") for s in entry.draws)
        return False

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
                module = self.frame.module
                for imported in self.flow.imported(module, module.body.imports[-2 - step]):
                    self.import_module(imported)
            else:
                self.site(step)
        return False

    def import_module(self, module: Module) -> None:
        """Run the top level of a module of the program, the first time that it is imported."""
        if module.path in self.imported:
            return
        self.imported.add(module.path)
        top = module.facts.functions[0]
        if self.flow.is_idle(module, top):
            self.result.visited.update(self.flow.seen_from(module, top))
            return
        self.result.visited.add(module.path)
        self.add_commands(module)
        outer, self.frame = self.frame, Frame(module, top)
        self.recorder.enter("import", module, top, None)
        self.steps(s for s in module.steps(top) if not (isinstance(s, Branch) and s.kind == "main"))
        self.recorder.leave()
        self.frame = outer

    def branch(self, branch: Branch) -> bool:
        if branch.kind in ("main", "loop"):
            self.steps(branch.arms[0])
            return False
        if branch.kind == "yield":
            return False
        if branch.kind == "exit":
            self.exits = True
            return True
        if branch.kind == "with":
            return self.block(branch)
        if branch.kind == "try":
            # The body is what runs; a handler stands in for it where an import or a device is missing.
            before = self.state.copy()
            self.steps(branch.arms[0])
            after = self.state
            for arm in branch.arms[1:]:
                self.state = before.copy()
                self.steps(arm)
            self.state = after
            return False
        taken, cause = (
            self.flow.taken(self.frame, branch.test, self.values) if branch.test is not None else (None, None)
        )
        if taken is not None and len(branch.arms) == 2:
            if cause is None and branch.span is not None:
                cause = Spot(self.frame.module, branch.span)
            return self.decided(branch.arms[0 if taken else 1], branch.arms[1 if taken else 0], cause)
        before, ends = self.state, []
        for arm in branch.arms:
            self.state = before.copy()
            if not self.steps(arm):
                ends.append(self.state)
        if not ends:
            self.state = before
            return True
        self.state = self.meet(ends)
        return False

    def decided(self, usual: tuple[Step, ...], other: tuple[Step, ...], cause: Spot | None) -> bool:
        """An `if` whose test is known by default: one arm is what runs, the other what an option can choose."""
        before = self.state.copy()
        self.exits = False
        left = self.steps(usual)
        ran, exits = self.state, self.exits
        if cause is None:  # not even an option can choose it
            return left
        self.state, self.doubtful = before, self.doubtful + 1
        seedings = len(self.result.seedings)
        gone = self.steps(other)
        self.doubtful -= 1
        if left:
            if exits:
                self.required.add(cause)
            return gone
        chosen, self.state = self.state.streams, ran
        for stream, kind in chosen.items():
            if kind in ("seeded", "optional") and ran.streams.get(stream, "drawn") == "drawn":
                seeding = next((s for s in self.result.seedings[seedings:] if stream in s.streams), None)
                if seeding is not None:
                    self.result.optional.setdefault(stream, replace(seeding, cause=seeding.cause or cause))
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
        saved = self.scopes.pop(Place(frame.module, raw.site), None) if isinstance(raw, Result) else None
        before()
        left = self.steps(branch.arms[0])
        after()
        if saved is not None:
            self.state.streams = saved
        return left

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
                self.call(module, function, owner, place, dict(self.objects))

        return lambda: run("__enter__"), lambda: run("__exit__")

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
        if site.kind == "option":
            if not self.doubtful and isinstance(site.target, Member):
                self.values.assigned[site.target.attr] = self.values.look(frame, site.args[0].value)
            return
        target = self.target(index)
        effects = self.effects(index, target)
        if any("scoped" in effect.entry.contexts for effect, _ in effects):
            self.scopes[place] = dict(self.state.streams)  # before it seeds anything itself
        if effects:
            self.recorder.tell("passes", "", place, "", self.state.streams)
        for effect, made in effects:
            # A partial only prepares a call.
            self.affect(place, effect, made, site.kind == "partial")
        if site.kind != "call":
            return
        if self.adds_command(site) or self.is_remote(site, place) or target is None:
            return
        if isinstance(target, Ref) and "::" in target.name and self.resolver.is_class(target.name):
            self.built.setdefault(target.name, place)
        callees = self.flow.callees(target)
        if callees:
            self.call_all(target, callees, place)
            self.command(target, place)
        elif self.command(target, place):
            pass
        elif not isinstance(target, Partial):
            self.hand_over(target, effects, place)

    def target(self, index: int) -> Value | None:
        """What a site calls in this frame: methods of `self` by its own class, parameters by what they were given."""
        frame = self.frame
        raw = frame.module.sites[index].target
        known = self.flow.dispatched(frame.module, index, frame.receiver)
        if isinstance(known, Param):
            handed = self.objects.get(f"{frame.receiver}.{known.name}") if isinstance(raw, Member) else None
            return handed.value if handed is not None else self.values.look(frame, raw).value
        made = isinstance(known, Result) and isinstance(known.of, Ref) and "::" in known.of.name
        if _holds_parameter(raw) or made or (known is None and isinstance(raw, (Member, Result))):
            looked = self.values.look(frame, raw).value
            return looked if looked is not None else known
        return known

    def effects(self, index: int, target: Value | None) -> list[tuple[Effect, Place]]:
        """The catalog entries that a site fulfils in this frame, each with the place that has its arguments."""
        module = self.frame.module
        here = Place(module, index)
        found = self.flow.knowledge.matches(module, index)
        if found or target is None:
            return [(effect, here) for effect in found]
        raw = module.sites[index].target
        found_otherwise = _holds_parameter(raw) or _is_choice(raw)
        options = target.options if isinstance(target, Either) else (target,)
        effects: list[tuple[Effect, Place]] = []
        for option in options:
            if isinstance(option, Partial) and isinstance(option.of, Ref) and "::" not in option.of.name:
                place = self.resolver.place(option.site)
                if place is not None:
                    prepared = Place(place[0], option.site & 0xFFFFFFFF)
                    effects += [(e, prepared) for e in self.flow.knowledge.matches(prepared.module, prepared.site)]
            elif isinstance(option, Ref) and "::" not in option.name and found_otherwise:
                effects += [(e, here) for e in self.flow.knowledge.matches_as(module, index, option)]
        return effects

    def affect(self, place: Place, effect: Effect, made: Place, prepared: bool) -> None:
        """What a call of the catalog does, whose arguments stand at `made`."""
        entry = effect.entry
        self.loads = self.loads or "loads-weights" in entry.contexts
        self.result.infers = self.result.infers or "evaluates" in entry.contexts
        self.result.trains = self.result.trains or "trains" in entry.contexts
        if "loader" in entry.contexts:
            self.load(effect, made)
        if prepared:
            return
        if entry.seeds:
            self.seed(place, effect, made)
        if entry.rule == "DET103":
            self.make(place, effect, made)
        if entry.unseeds and effect.sure:
            for stream in entry.unseeds:
                self.recorder.tell("seeds", stream, place, "entropy", self.state.streams)
            self.state.streams.update(dict.fromkeys(entry.unseeds, "entropy"))
        # A parameter left open (DET107), a generator object (DET103) and the like are findings of their own.
        if not entry.rule.startswith("DET1"):
            weights = self.resolver.layer(effect.name) is not None
            for stream in entry.draws:
                if is_object(effect, weights):
                    self.later.append((stream, place, self.path))
                else:
                    self.draw(stream, place, weights)
        for switch, value in entry.sets.items():
            chosen = self.flow.switch(effect, value)
            if chosen is not None:  # `Trainer(benchmark=None)` leaves the switch as it is
                self.recorder.tell("sets", switch, place, chosen, self.state.streams)
                before = self.result.switches.get(switch)
                if before is not None and before[1] != place and chosen:
                    self.result.again.append((switch, place))
                self.result.switches[switch] = (chosen, place)
                self.state.switches[switch] = chosen

    def load(self, effect: Effect, place: Place) -> None:
        """Note whether a loader has workers, and what it runs in them."""
        workers = effect.arguments.get("num_workers")
        parsed: Value | None = Const(0)
        if workers is not None and workers.given is not False:
            parsed = self.written(effect, place, "num_workers").value
        known = isinstance(parsed, Const) and isinstance(parsed.value, int)
        self.workers.add(known and isinstance(parsed, Const) and bool(parsed.value))
        for name in IN_WORKERS:
            given = effect.arguments.get(name)
            if given is not None and given.value is not None and given.given:
                self.handed.append((given.value, place, True))
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
        if self.doubtful and kind == "entropy":
            return
        seeding = Seeding(place, tuple(entry.seeds), kind, cause)
        self.result.seedings.append(seeding)
        if cause is not None and kind == "entropy":
            self.forgive(cause)
        for stream in entry.seeds:
            self.recorder.tell("seeds", stream, place, "optional" if self.doubtful else kind, self.state.streams)
            if kind == "fixed":
                draws = self.drawn.get(stream, {}).get(self.first[stream]) if stream in self.first else None
                if draws is not None and self.state.streams.get(stream) == "drawn" and not self.doubtful:
                    self.result.late.setdefault(stream, (seeding, draws))
                self.state.streams[stream] = "seeded"
            else:
                self.state.streams[stream] = kind
                if kind == "optional":
                    self.result.optional.setdefault(stream, seeding)

    def make(self, place: Place, effect: Effect, made: Place) -> None:
        """Note what the seed of a generator object is."""
        kind, cause = self.seed_kind(effect, made, effect.entry.seed or next(iter(effect.entry.when), ""))
        self.result.made.setdefault(place, set()).add(kind)
        if kind == "optional" and not self.doubtful:
            seeding = Seeding(place, ("the generator",), kind, cause)
            self.result.optional.setdefault(f"generator {cause}", seeding)
            self.result.optional_drawn.add(f"generator {cause}")

    def seed_kind(self, effect: Effect, made: Place, parameter: str) -> tuple[str, Spot | None]:
        """Whether the seed of a call is `fixed`, `entropy` or `optional`, and where that comes from."""
        entry = effect.entry
        argument = effect.arguments.get(parameter) if parameter else None
        if argument is None or argument.given is None:
            return "fixed", None
        if argument.given is False and (argument.value is None or argument.value == Const(None)):
            return ("entropy" if entry.absent == "entropy" or entry.rule == "DET103" else "fixed"), None
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

    def draw(self, stream: str, place: Place, weights: bool = False) -> None:
        held = self.state.streams.get(stream)
        if not self.doubtful:
            self.recorder.tell("draws", stream, place, held or "drawn", self.state.streams)
        if self.doubtful or held in ("seeded", "entropy"):
            return
        if held == "optional":
            self.result.optional_drawn.add(stream)
            return
        found = self.drawn.setdefault(stream, {})
        first = self.first.get(stream)
        if held == "drawn" and first in found:
            found[first].count += 1
            found[first].only_weights = found[first].only_weights and weights
            return
        self.state.streams[stream] = "drawn"
        self.first[stream] = place
        if place in found:
            found[place].count += 1
        else:
            found[place] = Draws(place, self.path, 1, weights)

    # -- calls --------------------------------------------------------------------------------------------------

    def run(self, value: Value, place: Place | None) -> None:
        """Call a value with arguments that are not known."""
        for module, function, owner in self.flow.callees(value):
            self.call(module, function, owner, place, {})

    def call_all(self, target: Value, callees: list[_Callee], place: Place) -> None:
        """Run what a site calls; of alternatives (`args.func(args)`), each from where the run is now."""
        frame = self.frame
        site = frame.module.sites[place.site]
        choose = isinstance(target, Either) and len(callees) > 1 and is_parsed(_base(site.target))
        before, ends = self.state, []
        for module, function, owner in callees:
            if function.deferred and site.use == "kept":
                given = self.arguments(frame, site, target, module, function)
                self.pending.append(partial(self.call, module, function, owner, place, given))
                continue
            if choose:
                self.state = before.copy()
            given = self.arguments(frame, site, target, module, function)
            if not owner and function.owner:
                owner = self.owner(frame, site.target, module, function)
            bare = int(target.attr[len(BARE) :]) if isinstance(target, Member) and target.attr.startswith(BARE) else 0
            self.call(module, function, owner, place, given, bare)
            ends.append(self.state)
        if choose:
            self.state = self.meet(ends)

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
            if _is_self(inner):
                return frame.receiver or own
            kind = self.resolver.type_of(self.values.look(frame, inner).value)
            return kind if "::" in kind else own
        return own

    def call(
        self,
        module: Module,
        function: Function,
        receiver: str,
        place: Place | None,
        given: dict[str, Origin],
        bare: int = 0,
    ) -> None:
        """Run a function of the program; once for each state and each choice of arguments that it is entered with.

        Args:
            bare: how many of its decorators have been run.
        """
        name = (module.path, function.name)
        self.calls += 1
        if name in self.stack or len(self.stack) > DEEPEST_CALL or self.calls > MOST_CALLS:
            return
        if self.is_manager(module, function):
            return  # it runs where it is entered
        wrapper = self.wrapper(module, function, bare)
        if receiver and function.name.endswith(".__init__"):
            self.objects.update({f"{receiver}.{k}": v for k, v in given.items() if _decides(k, v)})
        if wrapper is None and self.flow.is_idle(module, function, receiver):
            self.result.visited.update(self.flow.seen_from(module, function, receiver))
            return
        deciding = {k: v for k, v in given.items() if _decides(k, v)}
        self.import_module(module)
        key = (*name, receiver, bare, self.doubtful > 0, _state_key(self.state), _key(deciding))
        if key in self.done:
            self.recorder.enter("again", module, function, place)
            streams, switches = self.done[key]
            self.state = _State(dict(streams), {**self.state.switches, **switches})
            return
        self.result.visited.add(module.path)
        self.stack.append(name)
        outer, self.frame = (
            self.frame,
            Frame(module, function, self.environment(module, function, given), receiver, self.frame),
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
        else:
            self.body(module.steps(function))
        self.recorder.leave()
        self.path = path
        self.frame = outer
        self.stack.pop()
        self.done[key] = (dict(self.state.streams), dict(self.state.switches))

    def body(self, steps: Iterable[Step]) -> None:
        """Take the steps of a function; generators and coroutines that it keeps under a name run when it uses them, which
        is taken to be at its end."""
        outer, self.pending = self.pending, []
        self.steps(steps)
        for work in self.pending:
            work()
        self.pending = outer

    def environment(self, module: Module, function: Function, given: dict[str, Origin]) -> dict[str, Origin]:
        """What is known inside a function: its parameters, and those of the functions that it is defined in."""
        around = function.name.rpartition(".")[0]
        closed = self.frame.given if around in module.functions else {}
        unknown = {k: Origin(None) for k, v in given.items() if not _decides(k, v)}
        return {**closed, **unknown, **{k: v for k, v in given.items() if k not in unknown}}

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
                    outer = _returned(home, outer) or outer
                inner = _returned(home, outer)
                parameters = home.detail(outer).parameters
                if inner is not None and parameters:
                    own = Member(Ref(f"{module.path}::{function.name}"), f"{BARE}{i}")
                    return (home, inner), {**closed, parameters[0].name: Origin(own)}
        return None

    # -- functions that libraries call --------------------------------------------------------------------------

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
        fresh = "spawns" in contexts or self.spawning(site.target)
        for value in functions:
            if fresh:
                self.spawn(value, place)
            elif isinstance(target, Ref) and self.resolver.is_class(target.name) and "calls" not in contexts:
                self.handed.append((value, place, False))
            elif isinstance(value, Ref) and self.resolver.is_class(value.name):
                self.offer(value, place)
            else:
                self.run(value, place)

    def spawning(self, target: Value) -> bool:
        """Whether a call starts a process by the context that it is made from: `get_context("spawn").Process(...)`."""
        while isinstance(target, (Member, Result)):
            if isinstance(target, Result) and isinstance(target.of, Ref) and target.of.name.endswith("get_context"):
                made = self.frame.module.sites[target.site] if target.site >= 0 else None
                return made is not None and any(a.value in (Const("spawn"), Const("forkserver")) for a in made.args)
            target = target.base if isinstance(target, Member) else target.of
        return False

    def is_remote(self, site: Site, place: Place) -> bool:
        """`f.remote(...)` of Ray runs a function in a worker process."""
        if _last(site.target) != "remote":
            return False
        owner = site.target.base if isinstance(site.target, Member) else Ref(_owner(site.target))
        value = self.values.look(self.frame, owner).value
        if value is None or not self.flow.callees(value):
            return False
        self.spawn(value, place)
        return True

    # -- command lines ------------------------------------------------------------------------------------------

    def add_commands(self, module: Module) -> None:
        """Note the commands that decorators in an imported file add."""
        for key, value in self.flow.commands_in(module):
            self.commands.setdefault(key, []).append(value)

    def adds_command(self, site: Site) -> bool:
        """`group.add_command(f)`: nothing runs until the group is called."""
        frame, target = self.frame, site.target
        if isinstance(target, Result) and _last(target.of) == "command":
            target = target.of  # `app.command()(f)`
        elif _last(target) != "add_command":
            return False
        owner = target.base if isinstance(target, Member) else Ref(_owner(target))
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
                    self.recorder.enter("command", module, function, place)
                    run.call(module, function, "", place, {})
                    self.others += run.finish()
                    self.recorder.leave()
        return bool(found)

    def offer(self, value: Ref, place: Place) -> None:
        """A class whose methods a command line offers: each of them may be what is run."""
        for name in [value.name, *self.resolver.mro(value.name)]:
            key, colon, inside = name.partition("::")
            module = self.resolver.by_path.get(key) if colon else None
            for method in module.classes[inside].methods if module is not None else ():
                function = module.functions.get(f"{inside}.{method}") if module is not None else None
                if module is not None and function is not None and (not method.startswith("_") or method == "__init__"):
                    self.call(module, function, value.name, place, {})

    def spawn(self, value: Value, place: Place) -> None:
        """A function in a new process, which has none of this one's seeds."""
        for module, function, _ in self.flow.callees(value):
            if function.name in self.started:
                continue
            self.started.add(function.name)
            run = _Run(self.flow, self.result.entry, _State(switches=dict(self.state.switches)), (*self.path, place))
            run.started = self.started
            run.import_module(self.result.entry.module)  # the new process imports it again, under another name
            run.frame = self.frame
            self.recorder.enter("process", module, function, place)
            run.call(module, function, "", None, {})
            self.others += run.finish()
            self.recorder.leave()


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


def _nothing() -> None:
    """What entering most things does to streams."""


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


def _yields(steps: Sequence[Step]) -> bool:
    return any(isinstance(s, Branch) and (s.kind == "yield" or any(map(_yields, s.arms))) for s in steps)


def _returned(module: Module, function: Function) -> Function | None:
    """The inner function that a function gives back."""
    value = function.returns
    if not isinstance(value, Ref):
        return None
    return module.functions.get(value.name.removeprefix(f"{module.facts.module}."))


def _base(value: Value) -> Value:
    return value.base if isinstance(value, Member) else value


def _options(value: Value | None) -> Sequence[Value]:
    """A value, or its alternatives that are known."""
    if isinstance(value, Either):
        return [option for option in value.options if option is not None]
    return (value,) if value is not None else ()


def _holds_parameter(value: Value | None) -> bool:
    """Whether what is called may be something that a parameter was given."""
    while isinstance(value, (Member, Result)):
        value = value.base if isinstance(value, Member) else value.of
    return isinstance(value, Param)


def _is_self(value: Value) -> bool:
    """Whether a method's receiver is `self` or `super()`."""
    return isinstance(value, Instance) or (isinstance(value, Member) and value.attr == "<super>")


def _last(value: Value) -> str:
    """The last component of what is called."""
    return value.attr if isinstance(value, Member) else value.name.rpartition(".")[2] if isinstance(value, Ref) else ""


def _owner(value: Value) -> str:
    return value.name.rpartition(".")[0] if isinstance(value, Ref) else ""


def _is_choice(value: Value | None) -> bool:
    """Whether something is called that was taken out of a collection."""
    return isinstance(value, Member) and value.attr.startswith("[")


def _decides(name: str, origin: Origin) -> bool:
    """Whether what a parameter was given may change what the function does to streams."""
    value = origin.value
    if isinstance(value, (Ref, Partial)) or (isinstance(value, Member) and value.attr.startswith(BARE)):
        return True
    if isinstance(value, Result) and isinstance(value.of, Ref) and "::" in value.of.name:
        return True
    return DECIDING.search(name) is not None


def _state_key(state: _State) -> frozenset[tuple[str, str]]:
    return frozenset(state.streams.items())


def _key(given: dict[str, Origin]) -> frozenset[tuple[str, str]]:
    return frozenset((name, repr(origin.value)) for name, origin in given.items())
