"""A run: all that it knows, and what its parts need of each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Final, TypeVar

from detlint import counters
from detlint.catalog import Entry
from detlint.effects.doing import Doing
from detlint.effects.ground import Ground
from detlint.effects.state import Made, State
from detlint.effects.summary import CALLED, Access, Contexts, Guards, Site
from detlint.model.module import Module
from detlint.model.registries import last
from detlint.model.runs.calls import Seen, holds_parameter, rests_on_call
from detlint.model.runs.entry import EntryPoint
from detlint.model.runs.reach import Effect, Place, Reach
from detlint.model.runs.values import HANDED, NAMED, Frame, Origin, Values, Watch, is_parsed
from detlint.model.sites.records import Class, Function, Instance, Items, Mapping, Member, Param, Ref, Result, Value
from detlint.model.sites.records import Site as Called

_T = TypeVar("_T")
_R = TypeVar("_R", bound="Run")


PASSING: Final = frozenset({
    "asked", "asked_at", "done", "entered", "flow", "frame", "imported", "met", "probe", "recorder", "resolver", "result", "saw", "seen",
    "values", "with_options",
})  # fmt: skip
"""What a run that only passes sites and imports is told."""
SITES: Final = frozenset({"built", "followed", "inert", "imported", "judged", "passed", "places", "through", "visited"})
"""What is said of the sites that it passes."""


class Run(Doing):
    """One run: from an entry point, or from where a process or a command is started."""

    def __init__(self, flow: Ground, entry: EntryPoint, state: State, path: tuple[Place, ...]) -> None:
        super().__init__()
        self.flow = flow
        self.recorder = flow.recorder
        self.resolver = flow.resolver
        self.result = Reach(entry)
        self.state = state
        self.path = path
        self.frame = Frame(entry.module, entry.module.facts.functions[0])
        self.values = Values(flow.resolver, self.differs, self.is_any_drawn, self.optional)
        self.values.script = entry.module.path
        self.values.assigned |= {name: Origin(value) for name, value in entry.started.options}

    def beside(self: _R, state: State, path: tuple[Place, ...]) -> _R:
        """Another run of the same entry point, from where it is started."""
        return type(self)(self.flow, self.result.entry, state, path)

    def some_file(self, tells: Callable[[str], bool]) -> bool:
        """Whether something holds for one of the files that a run comes to, by their words."""
        result = self.result
        inside = {result.entry.module.path, *result.visited, *result.behind}
        files = (*sorted(inside), *sorted(result.imported - inside))
        found = next(filter(tells, files), None)
        self.rests = True
        result.visited |= result.files if found is None else {found}  # what it rests on
        return found is not None

    def is_mended(self) -> bool:
        """Whether something that the run has come to may give a framework what it lacks."""
        return self.some_file(self.flow.words.patches)

    def may_have(self, target: Value) -> bool:
        """Whether an object may have what its class lacks of a framework, where a method asks the object itself for that."""
        if not (isinstance(target, Member) and isinstance(target.base, Instance)):
            return False
        return self.some_file(partial(self.may_give, target.attr))

    def may_give(self, attribute: str, path: str) -> bool:
        """Whether a file may give some object an attribute, or has a class with such a method."""
        words, module = self.flow.words, self.resolver.module(path)
        if words.writers.times_set(attribute, path) > 0 or words.writers.sets(attribute, path):
            return True
        return module is not None and any(attribute in body.methods for body in module.classes.values())

    def may_be_swapped(self, target: Value | None) -> bool:
        """Whether something that the run has come to may put something else in the place of what is called, or its class."""
        called = target.of if isinstance(target, Result) else target
        names = called.name.partition("::")[2].split(".") if isinstance(called, Ref) else []
        if isinstance(target, Result) or len(names) == 1:
            names = [*names, "__init__", "__call__"]
        return any(self.some_file(partial(self.flow.words.writers.swaps, name)) for name in names)

    def for_layer(self, name: str, work: Callable[[], object]) -> None:
        """Run something that building an object of a class does, or that a framework does with it."""
        layer = self.resolver.kinds.layer(name) is not None
        if layer:
            self.making.append(name)
        work()
        if layer:
            self.making.pop()

    def aside(self, streams: dict[str, str], work: Callable[[], object]) -> dict[str, str]:
        """Run something with other streams; what becomes of those."""
        outer, self.state = self.state, State(dict(streams), dict(self.state.switches))
        self.apart(work)
        after, self.state = self.state.streams, outer
        return after

    def apart(self, work: Callable[[], object]) -> None:
        """Run something that isn't the run itself: what it seeds is not seeded on purpose."""
        self.elsewhere += 1
        work()
        self.elsewhere -= 1

    def does_as(self, other: Run) -> bool:
        """Whether a run has done nothing more than another one, but for the sites that it passes and what it imports."""
        mine, others = ({k: v for k, v in vars(run).items() if k not in PASSING} for run in (self, other))
        values = self.values
        return (
            mine == others
            and not (values.handed or values.names)
            and values.assigned == other.values.assigned
            and all(
                getattr(self.result, name) == getattr(other.result, name)
                for name in Reach.__struct_fields__
                if name not in SITES
            )
        )

    def probed(self, made: str = "") -> bool:
        """Whether a top level is only looked at, at a site that makes something: each run comes to that site by itself, unless no run is to
        know of what is made.

        Args:
            made: the class of the program of which it is an object.
        """
        probe, frame = self.probe, self.frame
        if probe is None:
            return False
        inert = self.flow.inert(made) if made else None
        if inert is not None:
            probe.behind |= inert
            probe.made.update(module.path for module, _ in self.resolver.classes.family(made))
        elif probe.at is None or frame.function.number or frame.module is not self.result.entry.module:
            self.rests = True
        else:
            probe.come(probe.numbers[id(probe.at)], caught=self.unsure + self.catching > 0)
            inert = self.flow.inert_at(frame.module, probe.at.place.site)
            probe.behind |= inert or frozenset()
            probe.strange = probe.strange or inert is None
        return True

    def is_probed(self) -> bool:
        """Whether a top level is only looked at that starts other runs, so that importing it does more than is known once."""
        self.rests = True
        return self.probe is not None

    def keep(self, value: Value, place: Place) -> None:
        """Note that something was handed a function, which it calls later."""
        if not self.probed():
            self.handed.append((value, place, False, self.frame))

    def see(self, seen: Seen) -> None:
        """Note that the run runs what some files say that does nothing of interest."""
        if id(seen) not in self.saw:
            self.saw.add(id(seen))
            self.result.visited |= seen.visited
            self.result.imported |= seen.imported

    def optional(self, name: str) -> Module | None:
        """The first file, in the order of their paths, of those that the run has run something of so far, that has an option of a command
        line of a name."""
        result = self.result
        sizes = len(result.visited), len(result.imported), len(result.behind)
        if sizes != self.asked_at:
            self.asked_at = sizes  # they only grow
            files = result.visited | result.imported | result.behind
            for path in files - self.asked:
                for option in self.resolver.brief(path).options:
                    self.with_options[option] = min(path, self.with_options.get(option, path))
            self.asked = files
        having = self.with_options.get(name)
        return self.resolver.known(having) if having is not None else None

    def differs(self, made: Result) -> bool | tuple[str, ...]:
        """Whether what a call gives differs between runs: entropy, or a draw from some streams, where one of them isn't seeded."""
        for entry in self.entries_of(made):
            if entry.entropy:
                return True
            if entry.draws and not entry.rule.startswith(("DET2", "DET3")):
                return tuple(entry.draws)
        return False

    def is_any_drawn(self, streams: tuple[str, ...]) -> bool:
        """Whether one of some streams isn't seeded here."""
        return any(self.state.streams.get(stream, "drawn") in ("drawn", "entropy") for stream in streams)

    def in_context(self, contexts: Contexts[_T], find: Callable[[], _T]) -> _T:
        """What a step comes to in this frame and at this point of the run: as it was found before, where that rests on the same."""
        frame, values = self.frame, self.values
        for guards, known in contexts.known:
            for kind, of, answer in guards:
                now = values.answer(frame, kind, of)
                if now is not answer and now != answer:
                    break
            else:
                if self.probe is not None:
                    self.rest_on(guards)
                return known
        counters.now.interpreted += 1
        watch = values.watch = Watch(frame)
        try:
            found = find()
        finally:
            values.watch = None
        guards = tuple((kind, of, answer) for (kind, of), answer in watch.asked.items())
        contexts.add(guards, found)
        self.rest_on(guards)
        return found

    def rest_on(self, guards: Guards) -> None:
        """Note that something which is found out rests on what a run has done before, if it does. What rests on a name that a registry may
        have by then is a site that each run comes to by itself."""
        kinds = {kind for kind, _, _ in guards} - CALLED
        if kinds - {NAMED}:
            self.rests = True
        elif kinds:
            self.probed()

    def entries_of(self, made: Result) -> Iterator[Entry]:
        """What the catalog says of a call; all that it says of the name where the arguments are not known."""
        place = self.resolver.place(made.site)
        if place is not None:
            found = self.flow.knowledge.matches(place[0], made.site & 0xFFFFFFFF)
            yield from (effect.entry for effect in found)
        elif isinstance(made.of, Ref):
            catalog = self.resolver.catalog
            yield from (catalog.entries[i] for i in catalog.calls.get(made.of.name, ()))

    def stop(self, what: str) -> bool:
        """Note that something surely raises here; whether the flow leaves: what a generator does may never be asked for."""
        if not self.frame.function.deferred:
            self.stopped = f"{what} in {self.frame.module.path}"
        return self.stopped != ""

    def caught(self, work: Callable[[], object]) -> bool:
        """Do something whose errors don't end the run: something catches them, or it may not happen. Whether it surely raised, or the
        body of a loop in it did."""
        outer, self.unsure, self.failed = (self.unsure, self.failed), 0, ""
        self.catching += 1
        raised = self.perhaps_coming(lambda: self.raises(work) or self.failed)
        self.unsure, self.failed = outer
        self.catching -= 1
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

    def made_for(self, asked: Member) -> Made | None:
        """What the constructor of the class of `self` keeps as an attribute, and has run with; None where another class may say
        otherwise."""
        if not isinstance(asked.base, Instance):
            return None
        module = self.frame.module
        owner = f"{module.path}::{asked.base.of.removeprefix(module.prefix)}"
        receiver = self.frame.receiver or owner
        bodies = [body for name in self.resolver.classes.mro(receiver) if (body := self.class_of(name)) is not None]
        kept = next(
            (body.attributes.get(asked.attr) for body in bodies if f"{module.path}::{body.name}" == owner), None
        )
        having = [body for body in bodies if asked.attr in body.attributes or asked.attr in body.methods]
        if kept is None or len(having) != 1 or any(body.decorators for body in bodies):
            return None
        own = self.frame.own
        known = own is not None and f"{own.module.path}::{own.function.owner}" == owner
        frames = [own] if known and own is not None else self.made.get((receiver, owner), [])
        return Made(owner, kept, frames) if frames else None

    def class_of(self, name: str) -> Class | None:
        """A class of the program, by normal name."""
        module, inside = self.resolver.definition(name) or (None, "")
        return module.classes.get(inside) if module is not None else None

    def beyond(self, module: Module, function: Function, place: Place | None) -> int | None:
        """How many arguments a call gives a function beyond its parameters, by position; None where that isn't seen."""
        detail = module.detail(function)
        if place is None or detail.decorators or not any(parameter.kind == "*" for parameter in detail.parameters):
            return None
        call = place.module.sites[place.site]
        if call.kind != "call" or any(argument.name in ("*", "**") for argument in call.args):
            return None
        own = [parameter.kind for parameter in detail.parameters].index("*") - bool(function.owner)
        return max(sum(not argument.name for argument in call.args) - own, 0)

    def caller(self) -> Place | None:
        """The call that runs the function, if it says its name."""
        place = self.path[-1] if self.path else None
        target = place.module.sites[place.site].target if place is not None else None
        called = target is not None and last(target) == self.frame.function.name.rpartition(".")[2]
        return place if called else None

    def unread(self, work: Callable[[], object]) -> None:
        """A call whose result nobody reads: what it builds is never used."""
        built, later, handed = dict(self.built), len(self.later), len(self.handed)
        self.wasted += 1
        work()
        self.wasted -= 1
        self.built = built
        del self.later[later:], self.handed[handed:]

    def meet(self, ends: list[State]) -> State:
        """What holds after an `if` whose test can't be known (a configuration file).

        The program offers a seed then, and is taken at its word.
        """
        first = ends[0]
        if all(end == first for end in ends):
            return first
        shared = first.switches.items()
        met = State(switches={k: v for k, v in shared if all(end.switches.get(k) == v for end in ends)})
        for stream in dict.fromkeys(stream for end in ends for stream in end.streams):
            kinds = {end.streams.get(stream, "") for end in ends}
            met.streams[stream] = next(k for k in ("entropy", "optional", "seeded", "drawn") if k in kinds)
        return met

    def need(self, flag: str) -> None:
        """Note that the run raises here unless an option is true, which nothing sets but whoever starts it."""
        aside = self.elsewhere or self.using or self.frame.function.deferred
        sure = not (aside or self.unsure or self.returns or self.doubtful)
        if sure and not self.some_file(partial(self.flow.words.writers.gives, flag)):
            self.result.needs.add(flag)

    def target(self, index: int) -> Value | None:
        """What a site calls in this frame: methods of `self` by its own class, parameters by what they were given."""
        frame = self.frame
        raw = frame.module.sites[index].target
        known = self.flow.dispatched(frame.module, index, frame.receiver)
        if isinstance(known, Param):
            key = f"{frame.receiver}.{known.name}"
            handed = self.values.note(HANDED, key, self.values.handed.get(key)) if isinstance(raw, Member) else None
            return handed.value if handed is not None else self.values.look(frame, raw).value
        parsed = isinstance(raw, Member) and is_parsed(raw.base, self.resolver, self.frame.module.path)
        if (
            holds_parameter(raw)
            or holds_parameter(known)
            or rests_on_call(known)
            or self.flow.rests_on_settings(known)
            or parsed
            or (known is None and isinstance(raw, (Member, Result)))
        ):
            looked = self.values.look(frame, raw).value
            return looked if looked is not None else known
        return known

    def written(self, effect: Effect, place: Place, parameter: str) -> Origin:
        """What a call gives a parameter, in this frame."""
        unpacked = self.unpacked(effect, place, parameter)
        if unpacked is not None:
            return unpacked
        raw = self.flow.knowledge.written(place.module, place.site, effect, parameter)
        frame = self.frame
        if place.module is not frame.module:
            frame = Frame(place.module, place.module.function_of(place.module.sites[place.site]), outer=frame)
        return self.values.look(frame, raw)

    def unpacked(self, effect: Effect, place: Place, parameter: str) -> Origin | None:
        """What a call gives a parameter by tables that it unpacks, or leaves to its default; None where it does neither, or they aren't
        known in this frame."""
        passed = effect.argument(parameter)
        site = place.module.sites[place.site]
        if passed is None or passed.given is not None or place.module is not self.frame.module or "." in parameter:
            return None
        listed = self.listed(site) if site.kind == "call" else None
        if listed is None:
            return None
        places = {
            name: number for number, (name, _) in enumerate(self.resolver.catalog.signatures.get(effect.name, ()))
        }
        if (number := places.get(parameter, -1)) in range(len(listed)):
            return listed[number]
        found = Origin(passed.value)
        for argument in site.args:
            if argument.name == "**":
                table, inside = self.values.inside(self.frame, argument.value)
                if not isinstance(table, Mapping) or table.open:
                    return None
                found = next((o for key, o in zip(table.keys, inside, strict=True) if key == parameter), found)
        return found

    def listed(self, site: Called) -> list[Origin] | None:
        """What a call gives by position, where it unpacks sequences that are known in this frame; None where they aren't."""
        found: list[Origin] = []
        for argument in site.args if any(argument.name == "*" for argument in site.args) else ():
            if argument.name == "*":
                whole, inside = self.values.inside(self.frame, argument.value)
                if not isinstance(whole, Items):
                    return None
                found += inside
            elif not argument.name:
                found.append(self.values.look(self.frame, argument.value))
        return found

    def is_open(self, stream: str) -> bool:
        """Whether nothing has seeded a stream by now, nor said that its seed is entropy or an option."""
        return self.state.streams.get(stream) in (None, "drawn")

    def held(self, stream: str) -> str:
        """The seed that a stream has, unless the end of a block around takes it back; "" for none."""
        return (
            "" if self.is_open(stream) or any(stream in saved for saved in self.scoped) else self.state.streams[stream]
        )

    def note(self, module: Module) -> None:
        """Note what decorators in an imported file add to groups of commands, and what it puts into registries."""
        for key, value in self.flow.commands_in(module):
            self.commands.setdefault(key, []).append(value)
        for kept in self.flow.registries.kept_by(module):
            self.kept.setdefault(kept.registry, {})[kept.definition] = kept.names
            self.values.names |= kept.names

    # What the layers above do, and those below ask for.

    def follow(self) -> list[Reach]:
        """The whole run, and the processes that it has started."""
        raise NotImplementedError

    def finish(self) -> list[Reach]:
        """What happens after the statements have run: what frameworks call, what objects draw, what processes come to."""
        raise NotImplementedError

    def site(self, step: Site) -> None:
        """Come to a site."""
        raise NotImplementedError

    def read(self, step: Access) -> None:
        """Run the property that an attribute is, if it is one, when it is read."""
        raise NotImplementedError

    def call(
        self, module: Module, function: Function, receiver: str, place: Place | None, given: dict[str, Origin]
    ) -> None:
        """Run a function of the program, as `Calling` does."""
        raise NotImplementedError
