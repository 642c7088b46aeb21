"""Calls of the program: arguments, constructors, wrappers; once for each state that a function is entered with."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from collections.abc import Mapping as Keyed
from functools import partial
from typing import Final

from detlint import counters
from detlint.catalog import HARDWARE, Scalar
from detlint.effects.effects import Effects, by_option
from detlint.effects.state import SELF, State
from detlint.effects.summary import Call, Steps, is_text
from detlint.model.callees import BARE, Callee, returned
from detlint.model.launches.loaded import is_table as of_settings
from detlint.model.module import Module
from detlint.model.parameters import COMPARES, NAMES, SEEDS, UNPACKS
from detlint.model.runs.calls import Plain, is_self
from detlint.model.runs.reach import Place
from detlint.model.runs.values import CLOSED, NAMED, Arguments, Frame, Origin, closed, is_parsed
from detlint.model.sites.records import (
    Const,
    Either,
    Function,
    Items,
    Mapping,
    Member,
    Partial,
    Ref,
    Result,
    Value,
    options,
)

DEEPEST_CALL: Final = 200
MOST_CALLS: Final = 20_000


class Calling(Effects):
    """Calls functions of the program."""

    def build(self, target: Value, place: Place) -> None:
        """Note that an object of a class of the program is built; one that importing a module builds is only kept there, and a data set
        that nobody goes through comes to nothing."""
        if isinstance(target, Ref) and "::" in target.name and self.resolver.classes.is_class(target.name):
            if self.probed(target.name):
                return
            path = target.name.partition("::")[0]
            self.result.passed.add(path)
            self.result.visited.add(path)
            if self.is_left_alone(target.name, place):
                return
            self.built.setdefault(target.name, place)
            if not self.flow.knowledge.sinks.is_never_called(place.module, place.site):
                self.called.add(target.name)
            if not self.importing:
                self.shelved.discard(target.name)
            elif self.built[target.name] == place:
                self.shelved.add(target.name)

    def is_left_alone(self, name: str, place: Place) -> bool:
        """Whether nobody goes through the data set that an object is which a call makes: neither who has it, nor its own class."""
        if not self.is_never_read(place):
            return False
        family = [*self.resolver.classes.family(name)]
        self.result.visited.update(module.path for module, _ in family)
        return not any(self.flow.words.writers.hands_itself(inside, module.path) for module, inside in family)

    def run(self, value: Value, place: Place | None, arguments: Arguments = ()) -> bool:
        """Call a value, by default with arguments that are not known; who calls it may catch what it raises. Whether it did, all that it
        may be."""
        raised = [
            self.caught(partial(self.call, *callee, place, self.arguments(self.frame, arguments, value, *callee[:2])))
            for callee in self.flow.callees(value)
        ]
        return bool(raised) and all(raised)

    def calls(self, target: Value, callees: list[Callee], place: Place) -> tuple[Call, ...]:
        """What a site calls in this frame."""
        frame = self.frame
        site = frame.module.sites[place.site]
        arguments = [(argument.name, argument.value) for argument in site.args]
        if (built := self.values.table_of(frame, site)) is not None:
            arguments.append(("**", arguments.pop(built[1])[1]))
        bare = int(target.attr[len(BARE) :]) if isinstance(target, Member) and target.attr.startswith(BARE) else 0
        found = []
        for module, function, owner in callees:
            if not owner and function.owner:
                owner = self.owner(frame, site.target, module, function)
            given = partial(self.arguments, frame, arguments, target, module, function)
            registry = self.owning(frame, site.target) if function.owner else ""
            call = self.prepared(module, function, owner, place, given, bare, registry)
            if function.owner and self.flow.asks_itself(module, function.owner):
                call.made = self.maker(frame, site.target)
            found.append(call)
        return tuple(found)

    def are_alternatives(self, target: Value, callees: Sequence[Callee]) -> bool:
        """Whether one of several functions runs, and not each of them."""
        names = {function.name.rpartition(".")[2] for _, function, _ in callees}
        return len(callees) > 1 and (isinstance(target, Either) or len(names) < len(callees))

    def call_all(self, calls: Sequence[Call], place: Place, choose: bool) -> None:
        """Run what a site calls; of alternatives (`args.func(args)`), each from where the run is now."""
        before, way, ends = self.state, self.way, []
        stops: list[str] = []
        for number, call in enumerate(calls):
            if call.function.deferred and self.flow.knowledge.sinks.is_kept(self.frame.module, place.site):
                self.pending.append(partial(self.enter, call))
                continue
            if choose:
                self.state, self.way = before.copy(), way | {(place, number)}
            self.unsure += choose
            stops.append(self.raises(partial(self.enter, call)))
            self.unsure -= choose
            ends.append(self.state)
        if ends and choose:
            self.state, self.way = self.meet(ends), way
        self.stopped = stops[0] if stops and all(stops) else ""

    def arguments(
        self, frame: Frame, arguments: Arguments, target: Value, module: Module, function: Function
    ) -> dict[str, Origin]:
        """What a call gives the parameters, a partial's own arguments included."""
        place = self.resolver.place(target.site) if isinstance(target, Partial) else None
        if place is None:
            return self.values.give(frame, arguments, module, function)
        inside = Frame(place[0], place[0].function_of(place[1]), outer=frame)
        taken = sum(not argument.name for argument in place[1].args)
        before = self.values.bind(inside, place[1], module, function)
        return before | self.values.give(frame, arguments, module, function, taken)

    def owner(self, frame: Frame, raw: Value, module: Module, function: Function) -> str:
        """The class of `self` in a method that is called."""
        own = f"{module.path}::{function.owner}"
        if isinstance(raw, Member):
            inner = raw.base
            if is_self(inner):
                return frame.receiver or own
            kind = self.resolver.types.of(self.values.look(frame, inner).value)
            return kind if "::" in kind else own
        return own

    def maker(self, frame: Frame, raw: Value) -> int | None:
        """The site that makes the object whose method is called."""
        if not isinstance(raw, Member):
            return None
        if is_self(raw.base):
            return SELF
        value = self.values.look(frame, raw.base).value
        return value.site if isinstance(value, Result) and value.site >= 0 else None

    def owning(self, frame: Frame, raw: Value) -> str:
        """The registry whose method is called, by its key."""
        if isinstance(raw, Member):
            if is_self(raw.base):
                return frame.registry
            return self.flow.registries.key(self.values.look(frame, raw.base).value)
        return self.flow.registries.owner(frame.module, raw)

    def call(
        self, module: Module, function: Function, receiver: str, place: Place | None, given: dict[str, Origin]
    ) -> None:
        """Run a function of the program; once for each state and each choice of arguments that it is entered with."""
        self.enter(self.prepared(module, function, receiver, place, lambda: given))

    def prepared(
        self,
        module: Module,
        function: Function,
        receiver: str,
        place: Place | None,
        give: Callable[[], dict[str, Origin]],
        bare: int = 0,
        registry: str = "",
    ) -> Call:
        """A call of a function of the program in this frame.

        Args:
            give: finds out what it is given; most functions do nothing whatever that is.
            bare: how many of its decorators have been run.
            registry: the one that `self` is, by its key.
        """
        call = Call(module, function, receiver, place, {}, bare, registry)
        call.manager = self.is_manager(module, function)
        if call.manager:
            return call
        call.wrapper = self.wrapper(module, function, bare)
        call.constructs = bool(receiver) and function.name.endswith(".__init__")
        inert = call.wrapper is None and self.flow.is_inert(module, function, receiver)
        given = call.given = give() if call.constructs or not inert else {}
        if call.constructs:
            named = self.naming(module, function, given)
            decides = partial(self.decides, module, function)
            call.handed = {f"{receiver}.{k}": v for k, v in given.items() if k in named or decides(k, v)}
        if inert:
            call.seen = self.flow.seen_from(module, function, receiver)
            return call
        environment = call.environment = self.environment(module, function, given)
        naming = self.naming(module, function, given)
        deciding = {
            k: v
            for k, v in environment.items()
            if k in naming or is_text(v) or isinstance(v.value, Mapping) or self.decides(module, function, k, v)
        }
        if place is not None:
            sinks = self.flow.knowledge.sinks
            call.dropped = sinks.is_dropped(place.module, place.site)
            call.unused_at_top = not call.dropped and sinks.is_unused_at_top(place.module, place.site)
            call.unread = sinks.unread_parts(place.module, place.site)
        said = (module.path, function.name, receiver, bare, registry)
        call.key = self.flow.number(
            (*said, call.unread, self.beyond(module, function, place), _key(deciding), frozenset(given))
        )
        return call

    def enter(self, call: Call) -> None:
        """Run a call; one that the run has been in, with the same state, comes to what it came to then."""
        module, function, receiver, place = call.module, call.function, call.receiver, call.place
        if call.constructs and call.seen is not None and self.probed(receiver):
            return
        if not self.enters(module, function) or call.manager:
            return
        self.trained = self.trained or (bool(receiver) and receiver in self.ready and not self.making)
        if call.constructs:
            self.note_object(call)
        if call.seen is not None:
            self.result.inert.add((module.path, function.number))
            self.see(call.seen)
            return
        self.import_module(module.path)
        own = self.frame.own if call.made == SELF else self.made_at.get(call.made)
        key = (
            call.key,
            _key(own.given) if own is not None else None,
            self.doubtful > 0,
            self.hollow > 0,
            self.empties,
            self.trying > 0,
            self.training > 0,
            call.dropped or (call.unused_at_top and place is not None and self.is_own_top(place)),
            self.wasted > 0,
            frozenset(self.state.streams.items()),
            self.state.switches.get(HARDWARE),
        )
        if key in self.done:
            self.recorder.enter("again", module, function, place)
            streams, switches, self.stopped = self.done[key]
            self.state = State(dict(streams), {**self.state.switches, **switches})
            return
        counters.now.calls += 1
        name = (module.path, function.name)
        self.stack.append(name)
        outer, path, unread = self.frame, self.path, self.unread_parts
        self.frame = Frame(module, function, call.environment, receiver, call.registry, outer, own)
        if place is not None:
            self.path, self.unread_parts = (*path, place), call.unread
        self.recorder.enter("call", module, function, place)
        summary = self.flow.summary(module, function, receiver, call.registry)
        if call.wrapper is not None:
            self.stack.pop()
            (home, inner), closure = call.wrapper
            self.call(home, inner, "", None, closure)
            self.stack.append(name)
        elif call.constructs:
            self.for_layer(receiver, partial(self.construct, receiver, summary.steps))
        else:
            self.body(summary.steps)
        self.recorder.leave()
        self.path, self.unread_parts = path, unread
        self.frame = outer
        self.stack.pop()
        self.done[key] = (dict(self.state.streams), dict(self.state.switches), self.stopped)

    def note_object(self, call: Call) -> None:
        """Note with what a constructor is called, unless nothing is done with the object."""
        module, function, receiver, place = call.module, call.function, call.receiver, call.place
        self.values.handed.update(call.handed)
        made = self.made.setdefault((receiver, f"{module.path}::{function.owner}"), [])
        if place is None or not self.is_left_alone(receiver, place):
            made.append(Frame(module, function, call.given, receiver, call.registry, self.frame))
            if place is not None:
                self.keep_maker(place, made[-1])

    def keep_maker(self, place: Place, frame: Frame) -> None:
        """Note with what an object is made at a site; where another one is made there otherwise, nothing is known of either."""
        site = self.resolver.global_site(place.module.path, place.site)
        before = self.made_at.get(site, frame)
        self.made_at[site] = frame if before is not None and _key(before.given) == _key(frame.given) else None

    def call_inert(self, plain: Plain) -> None:
        """Run a function that does nothing of interest, and is called by its own name."""
        if self.enters(plain.module, plain.function):
            self.result.inert.add((plain.module.path, plain.function.number))
            self.see(plain.seen)

    def enters(self, module: Module, function: Function) -> bool:
        """Note that a function is called; whether it is followed: not where it calls itself, nor after too many calls."""
        self.result.visited.add(module.path)
        self.result.followed.add((module.path, function.number))
        self.entered += 1
        counters.now.entered += 1
        called = (module.path, function.name) in self.stack
        return not called and len(self.stack) <= DEEPEST_CALL and self.entered <= MOST_CALLS

    def construct(self, name: str, steps: Steps) -> None:
        """Take the steps of the constructor of a class."""
        layer = self.resolver.kinds.layer(name) is not None
        self.building += layer
        self.body(steps)
        self.building -= layer

    def body(self, steps: Steps) -> None:
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
        name = function.name.rpartition(".")[0]
        around: Keyed[str, Origin] = {}
        if name in module.functions:
            around = self.values.note(CLOSED, (module, name), closed(self.frame, module, name))
        texts = {k for k, v in given.items() if is_text(v)}
        asked = texts & self.flow.parameters.that(COMPARES, module, function) if texts else texts
        asked |= self.naming(module, function, given)
        tables = {k for k, v in given.items() if isinstance(v.value, Mapping) or _is_count(v.value)}
        asked |= tables & self.flow.parameters.that(UNPACKS, module, function) if tables else tables
        unknown = {
            k: Origin(None) for k, v in given.items() if not (k in asked or self.decides(module, function, k, v))
        }
        return {**around, **unknown, **{k: v for k, v in given.items() if k not in unknown}}

    def naming(self, module: Module, function: Function, given: dict[str, Origin]) -> Set[str]:
        """The parameters whose text, or one of those that they may be, is the name of what is used."""
        said = {name for name, origin in given.items() if _may_name(origin.value)}
        return said & self.flow.parameters.that(NAMES, module, function) if said else said

    def decides(self, module: Module, function: Function, name: str, origin: Origin) -> bool:
        """Whether what a parameter was given may change what the function does to streams, or whether it trains."""
        made = isinstance(origin.value, Result) and self.resolver.types.of(origin.value)
        parsed = isinstance(origin.value, (Result, Member)) and is_parsed(
            origin.value, self.resolver, self.frame.module.path
        )
        if parsed or made in self.flow.deciding or _decides(origin, self.is_name):
            return True
        return origin.value is not None and name in self.flow.parameters.that(SEEDS, module, function)

    def is_name(self, value: Scalar | None) -> bool:
        """Whether the registries that the run has come by keep something under a name."""
        return isinstance(value, str) and self.values.note(NAMED, value, value in self.values.names)

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


def _decides(origin: Origin, is_name: Callable[[Scalar | None], bool]) -> bool:
    """Whether what a parameter was given may change what the function does to streams.

    Args:
        is_name: whether registries keep something under a name.
    """
    value = origin.value
    if isinstance(value, Const) and (isinstance(value.value, bool) or is_name(value.value)):
        return True
    if isinstance(value, Mapping) and any(isinstance(v, Const) and is_name(v.value) for v in value.values):
        return True
    if isinstance(value, Either):
        known = isinstance(by_option(value)[1], Const)
        return known or any(map(_acts, value.options))
    return _acts(value) or (isinstance(value, Member) and value.attr.startswith(BARE))


def _acts(value: Value | None) -> bool:
    """Whether a value may be called, or is an object that the program gives, whose methods may be."""
    if isinstance(value, Result):
        return isinstance(value.of, Ref) and "::" in value.of.name
    return isinstance(value, (Ref, Partial)) or of_settings(value)  # which say what is to be built


def _is_count(value: Value | None) -> bool:
    """Whether of a sequence no more is known than how many it has: what a call gives beyond the parameters."""
    return isinstance(value, Items) and not any(value.values)


def _may_name(value: Value | None) -> bool:
    """Whether all that a value may be are texts."""
    return all(isinstance(option, Const) and isinstance(option.value, str) for option in options(value))


def _key(given: Keyed[str, Origin]) -> frozenset[tuple[str, str]]:
    return frozenset((name, repr(origin.value)) for name, origin in given.items())
