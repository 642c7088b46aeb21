"""Seed flow: what an entry point has seeded when it reaches a draw.

A run is followed from the entry point through the calls of the program, in execution order: branches meet by
intersection, loops run their body once, a constructor runs `__init__`, calling a layer runs its `forward`. Switches
(`deterministic-algorithms`, ...) flow the same way, as things that are set rather than seeded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import msgspec

from detlint.catalog import Entry, Scalar
from detlint.facts.model import Branch, Either, Function, Member, Partial, Ref, Result, Step, Value
from detlint.program.entry import EntryPoint
from detlint.program.resolve import Module, Resolver

DEEPEST_CALL: Final = 40
MOST_CALLS: Final = 20_000
MOST_MODULES: Final = 500
# What a framework calls by itself: the data model's methods of datasets and samplers, Lightning's hooks.
HOOKS: Final = re.compile(
    r"__(?:call|getitem|getitems|iter|next)__|\w+_step|\w+_dataloader|on_\w+|configure_\w+|collate\w*"
)


class Effect(Protocol):
    """What a site does to streams and switches; the rule engine's matches have this shape."""

    @property
    def entry(self) -> Entry: ...

    @property
    def name(self) -> str: ...


def is_object(effect: Effect) -> bool:
    """Whether a call builds something that draws only when it is used: a layer, a transform, a loader."""
    rule, name = effect.entry.rule, effect.name.rpartition(".")[2]
    return rule.startswith(("DET2", "DET3")) and name[:1].isupper()


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
    late: dict[str, Seeding] = field(default_factory=dict)
    """Streams seeded for the first time after a draw."""
    seedings: list[Seeding] = field(default_factory=list)
    drawn: set[str] = field(default_factory=set)
    switches: dict[str, tuple[Scalar, Place]] = field(default_factory=dict)
    """What some way through the run sets, and where."""
    again: list[tuple[str, Place]] = field(default_factory=list)
    """Switches that are set although they were, and where."""
    held: dict[str, Scalar] = field(default_factory=dict)
    """What every way through the run has set at its end."""
    trains: bool = False
    infers: bool = False
    """It says that it only evaluates: `model.eval()`, `set_train(False)`."""
    functions: set[tuple[str, str]] = field(default_factory=set)
    """(module, function) that the run passes through."""
    places: list[Place] = field(default_factory=list)
    """Every site that the run passes, once."""
    visited: set[str] = field(default_factory=set)
    """The files that the run runs something of."""

    def outcome(self) -> Outcome:
        """What the run comes to."""
        held = dict(sorted(self.held.items()))
        return Outcome(self.entry.module.path, frozenset(self.unseeded), held, self.trains, self.infers)

    def sites(self) -> dict[str, frozenset[int]]:
        """The sites that the run passes, by the path of their module."""
        sites: dict[str, set[int]] = {}
        for place in self.places:
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


Passage = tuple[Outcome, frozenset[int]]
"""A run's way through one module: what the run comes to, and the sites that it passes there."""


@dataclass(slots=True)
class _State:
    """What holds at a point of the run: a stream is absent, `seeded`, `optional` or `entropy`."""

    streams: dict[str, str] = field(default_factory=dict)
    switches: dict[str, Scalar] = field(default_factory=dict)

    def copy(self) -> _State:
        return _State(dict(self.streams), dict(self.switches))


Effects = Callable[[Module, int], Sequence[Effect]]
SeedKind = Callable[[Module, int, Any], str]


class Flow:
    """Follows entry points.

    Args:
        resolver: resolves what is called.
        effects: the catalog entries that a site fulfils.
        target: what a site calls, in normal form.
        seed_kind: whether a seeding's seed is `fixed`, `entropy` or `optional`.
        switch: the value that a site gives a switch.
        taken: whether a test holds by default, None when unknown.
    """

    def __init__(
        self,
        resolver: Resolver,
        effects: Effects,
        target: Callable[[Module, int], Value | None],
        seed_kind: SeedKind,
        switch: Callable[[Module, int, Any, Scalar], Scalar],
        taken: Callable[[Module, Value], bool | None],
    ) -> None:
        self.resolver = resolver
        self.effects = effects
        self.target = target
        self.seed_kind = seed_kind
        self.switch = switch
        self.taken = taken

    def reach(self, entry: EntryPoint) -> Reach:
        """Everything that a run from this entry point does."""
        return _Run(self, entry).follow()


class _Run:
    def __init__(self, flow: Flow, entry: EntryPoint) -> None:
        self.flow = flow
        self.result = Reach(entry)
        self.state = _State()
        self.path: tuple[Place, ...] = ()
        self.done: dict[tuple[str, str, frozenset[tuple[str, str]]], tuple[dict[str, str], dict[str, Scalar]]] = {}
        self.stack: list[tuple[str, str]] = []
        self.imported: set[str] = set()
        self.seen: set[tuple[str, int]] = set()
        self.calls = 0
        self.built: dict[str, Place] = {}
        """Classes of the program that the run has built objects of, and where first."""
        self.loads = False
        """Whether the run loads weights."""
        self.later: list[tuple[str, Place, tuple[Place, ...]]] = []
        """Draws of objects that were built on the way: they draw when they are used."""

    def follow(self) -> Reach:
        entry = self.result.entry
        self.imports(entry.module)
        self.steps(entry.module, entry.module.steps(entry.function))
        self.objects()
        self.result.held = self.state.switches
        for stream, place, path in self.later:
            self.path = path
            self.draw(stream, place)
        if self.loads:
            for stream in [s for s, draws in self.result.unseeded.items() if draws.only_weights]:
                del self.result.unseeded[stream]
        return self.result

    def objects(self) -> None:
        """Run what frameworks call on the objects that were built: `forward`, `__getitem__`, the hooks of trainers."""
        done: set[str] = set()
        while waiting := [name for name in self.built if name not in done]:
            for name in waiting:
                done.add(name)
                key, _, inside = name.partition("::")
                module = self.flow.resolver.by_path[key]
                if module is None:
                    continue
                layer = self.flow.resolver.layer(name)
                for method in module.classes[inside].methods:
                    if HOOKS.fullmatch(method) or (layer is not None and method == layer.forward):
                        function = module.functions.get(f"{inside}.{method}")
                        if function is not None:
                            self.path = (self.built[name],)
                            self.call(module, function, self.built[name])
        self.path = ()

    def imports(self, module: Module) -> None:
        """Run the top level of the program's modules that this one imports, first."""
        self.imported.add(module.path)
        self.result.visited.add(module.path)
        for target in self.flow.resolver.imported(module):
            if target.path not in self.imported and len(self.imported) < MOST_MODULES:
                self.imports(target)
                top = target.facts.functions[0]
                self.steps(
                    target, tuple(s for s in target.steps(top) if not (isinstance(s, Branch) and s.kind == "main"))
                )

    def steps(self, module: Module, steps: Iterable[Step]) -> bool:
        """Take steps in order; whether the flow leaves at their end."""
        for step in steps:
            if isinstance(step, Branch):
                if self.branch(module, step):
                    return True
            elif step == -1:
                return True
            elif step >= 0:
                self.site(module, step)
        return False

    def branch(self, module: Module, branch: Branch) -> bool:
        if branch.kind in ("main", "loop", "with"):
            return self.steps(module, branch.arms[0]) and branch.kind == "with"
        if branch.kind == "yield":
            return False
        if branch.kind == "try":
            # The body is what runs; a handler stands in for it where an import or a device is missing.
            before = self.state.copy()
            self.steps(module, branch.arms[0])
            after = self.state
            for arm in branch.arms[1:]:
                self.state = before.copy()
                self.steps(module, arm)
            self.state = after
            return False
        before, ends = self.state, []
        taken = self.flow.taken(module, branch.test) if branch.test is not None else None
        for arm in branch.arms:
            self.state = before.copy()
            if not self.steps(module, arm):
                ends.append(self.state)
        if not ends:
            self.state = before
            return True
        self.state = self.meet(ends, taken)
        return False

    def meet(self, ends: list[_State], taken: bool | None) -> _State:
        """What holds after an `if`.

        A stream that only some arms seed is `optional` when the test is known to be false by default. Where the test
        can't be known (a configuration file), the program offers a seed, and that is taken at its word.
        """
        shared = ends[0].switches.items()
        met = _State(switches={k: v for k, v in shared if all(end.switches.get(k) == v for end in ends)})
        for stream in dict.fromkeys(stream for end in ends for stream in end.streams):
            kinds = {end.streams.get(stream, "") for end in ends}
            if len(kinds) == 1:
                met.streams[stream] = kinds.pop()
            elif "seeded" in kinds and "entropy" not in kinds:
                met.streams[stream] = "optional" if taken is False or "optional" in kinds else "seeded"
            else:
                met.streams[stream] = "entropy" if "entropy" in kinds else "optional"
            if met.streams[stream] == "optional":
                seeding = next((s for s in reversed(self.result.seedings) if stream in s.streams), None)
                if seeding is not None:
                    self.result.optional.setdefault(stream, seeding)
        return met

    def site(self, module: Module, index: int) -> None:
        site = module.sites[index]
        place = Place(module, index)
        key = (module.path, index)
        if key not in self.seen:
            self.seen.add(key)
            self.result.places.append(place)
        for effect in self.flow.effects(module, index):
            self.loads = self.loads or "loads-weights" in effect.entry.contexts
            self.result.infers = self.result.infers or "evaluates" in effect.entry.contexts
            self.result.trains = self.result.trains or "trains" in effect.entry.contexts
            if effect.entry.seeds:
                self.seed(place, effect)
            if effect.entry.unseeds:
                self.state.streams.update(dict.fromkeys(effect.entry.unseeds, "entropy"))
            weights = self.flow.resolver.layer(effect.name) is not None
            # A parameter left open (DET107), a generator object (DET103) and the like are findings of their own.
            own = effect.entry.rule.startswith("DET1")
            for stream in () if own else effect.entry.draws:
                if is_object(effect):
                    self.later.append((stream, place, self.path))
                else:
                    self.draw(stream, place, weights)
            for switch, value in effect.entry.sets.items():
                chosen = self.flow.switch(module, index, effect, value)
                if chosen is not None:  # `Trainer(benchmark=None)` leaves the switch as it is
                    before = self.result.switches.get(switch)
                    if before is not None and before[1] != place and chosen:
                        self.result.again.append((switch, place))
                    self.result.switches[switch] = (chosen, place)
                    self.state.switches[switch] = chosen
        if site.kind != "call":
            return
        target = self.flow.target(module, index)
        if isinstance(target, Ref) and "::" in target.name and self.flow.resolver.is_class(target.name):
            self.built.setdefault(target.name, place)
        for callee_module, callee in self.callees(target):
            self.call(callee_module, callee, place)

    def seed(self, place: Place, effect: Effect) -> None:
        kind = self.flow.seed_kind(place.module, place.site, effect)
        seeding = Seeding(place, tuple(effect.entry.seeds), kind)
        self.result.seedings.append(seeding)
        for stream in effect.entry.seeds:
            if kind == "fixed":
                if stream in self.result.unseeded and stream not in self.result.late:
                    self.result.late[stream] = seeding
                self.state.streams[stream] = "seeded"
            else:
                self.state.streams[stream] = kind
                if kind == "optional":
                    self.result.optional.setdefault(stream, seeding)

    def draw(self, stream: str, place: Place, weights: bool = False) -> None:
        self.result.drawn.add(stream)
        if held := self.state.streams.get(stream):
            if held == "optional":
                self.result.optional_drawn.add(stream)
            return
        draws = self.result.unseeded.get(stream)
        if draws is None:
            self.result.unseeded[stream] = Draws(place, self.path, 1, weights)
        else:
            draws.count += 1
            draws.only_weights = draws.only_weights and weights

    def call(self, module: Module, function: Function, place: Place) -> None:
        """Run a function of the program; once for each state that it is entered in."""
        name = (module.path, function.name)
        self.calls += 1
        if name in self.stack or len(self.stack) > DEEPEST_CALL or self.calls > MOST_CALLS:
            return
        self.result.functions.add(name)
        key = (*name, frozenset(self.state.streams.items()))
        if key in self.done:
            streams, switches = self.done[key]
            self.state = _State(dict(streams), {**self.state.switches, **switches})
            return
        self.stack.append(name)
        outer, self.path = self.path, (*self.path, place)
        if module.path not in self.imported:
            self.imports(module)
        self.steps(module, module.steps(function))
        self.path = outer
        self.stack.pop()
        self.done[key] = (dict(self.state.streams), dict(self.state.switches))

    def callees(self, target: Value | None) -> list[tuple[Module, Function]]:
        """The functions of the program that calling a value runs."""
        if isinstance(target, Either):
            return [pair for option in target.options for pair in self.callees(option)][:4]
        if isinstance(target, Partial):
            return self.callees(target.of)
        resolver = self.flow.resolver
        if isinstance(target, Ref):
            key, colon, inside = target.name.partition("::")
            if not colon:
                return []
            module = resolver.known(key)
            if inside in module.classes:
                return self.method(target.name, "__init__")
            function = module.functions.get(inside)
            return [(module, function)] if function is not None else []
        if isinstance(target, (Result, Member)) or target is not None:
            kind = resolver.type_of(target)
            layer = resolver.layer(kind) if kind else None
            if kind and "::" in kind:
                return self.method(kind, layer.forward if layer is not None else "__call__")
        return []

    def method(self, name: str, method: str) -> list[tuple[Module, Function]]:
        found = self.flow.resolver.attribute_of_class(name, method)
        return self.callees(found) if isinstance(found, Ref) and "::" in found.name else []
