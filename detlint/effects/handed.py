"""Functions that others call: registries, loaders, processes, command lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from detlint.catalog import HARDWARE
from detlint.effects.calling import Calling
from detlint.effects.run import Run
from detlint.effects.state import IN_WORKERS, State
from detlint.effects.summary import Handing
from detlint.model.arguments import owner_of
from detlint.model.callees import Callee
from detlint.model.registries import BUILDS, last
from detlint.model.runs.calls import PREPARES, is_choice, is_chosen
from detlint.model.runs.reach import Effect, Place
from detlint.model.runs.values import Arguments, Frame, Spot
from detlint.model.sites.records import (
    Const,
    Instance,
    Mapping,
    Member,
    Partial,
    Ref,
    Result,
    Site,
    Value,
    options,
    sites,
)
from detlint.model.tables import parts_of

DEEPEST_MAKER: Final = 4
"""How many calls are looked through for the start method of processes."""
HOW: Final = {"spawns": "spawn", "forks": "fork", "in-peers": "peer"}
"""The contexts of what runs functions in other processes -> how these have come to be."""
RUNS_COMMANDS: Final = "runs-commands"
"""What the catalog says of methods that run a command of their object."""
START_METHODS: Final = ("fork", "spawn", "forkserver")


class Handed(Calling):
    """Calls what was handed to others."""

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
            self.call_any(definition, self.flow.callees(definition), place)
        if not named:
            self.choices.setdefault(key, (place, self.path))
        return True

    def use_chosen(self, key: str, named: list[Ref], target: Member, place: Place) -> None:
        """Call a method of an object of one of some classes, or of any that is in a registry."""
        for definition in named:
            self.call_any(target, self.flow.method(definition.name, target.attr), place)
        if not named:
            self.chosen_methods.setdefault(key, {}).setdefault(target.attr, (place, self.path))

    def call_any(self, target: Value, callees: list[Callee], place: Place) -> None:
        """Run what a site calls that a registry gives."""
        self.call_all(self.calls(target, callees, place), place, self.are_alternatives(target, callees))

    def registry(self, raw: Value, target: Value | None) -> str:
        """The registry that gives what a site calls, or that builds it, by its key; "" for none."""
        for value in (target, raw):
            made = value.of if isinstance(value, Result) else value
            if not isinstance(made, (Member, Ref)):
                continue
            # `MODELS[name](...)`, `MODELS.get(name)(...)`, `MODELS.build(...)`; what these give is an object of them.
            builds = last(made) in BUILDS
            if is_choice(made) or builds if value is made else not (is_choice(made) or builds):
                owner = owner_of(made)
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

    def handing(self, target: Value, effects: Sequence[tuple[Effect, Place]], place: Place) -> Handing | None:
        """The functions that a call of a library is handed in this frame; None for none."""
        frame = self.frame
        site = frame.module.sites[place.site]
        contexts = frozenset(context for effect, _ in effects for context in effect.entry.contexts)
        told = self.telling(effects, place)
        made = isinstance(target, Ref) and self.resolver.classes.is_class(target.name)
        arguments: Arguments = []
        if told is not None:
            given_with = self.flow.knowledge.given_with(place.module, place.site, told)
            functions, arguments = self.told(told, place), [(a.name, a.value) for a in given_with]
        else:
            looked = (self.values.look(frame, a.value).value for a in site.args if a.name not in IN_WORKERS)
            # what an object is made with, it may call, in tables too; a function goes through tables for what is in them
            given = (inner for value in looked for inner in (parts_of(value) if made else (value,)))
            functions = [v for v in given if isinstance(v, (Ref, Partial)) and self.flow.callees(v)]
        if not functions:
            return None
        return Handing(functions, arguments, told is not None, contexts, made)

    def telling(self, effects: Sequence[tuple[Effect, Place]], place: Place) -> Effect | None:
        """The entry that says which functions a call is handed."""
        return next((effect for effect, made in effects if effect.entry.hands is not None and made == place), None)

    def hand_over(self, handing: Handing, place: Place) -> None:
        """A call of a library: functions that it is given are called by it, in new processes or later."""
        frame, functions, contexts, told = self.frame, handing.functions, handing.contexts, handing.told
        how = next((HOW[context] for context in HOW if context in contexts), None)
        if not told and how is None and "returns-first" in contexts and "calls" not in contexts:
            return  # who gets it back calls it
        pool = -1
        if "processes" in contexts:
            how, pool = self.start_method(frame.module.sites[place.site], place)
        one_of = told and how is None and len(functions) > 1
        if one_of:
            self.run_one_of(functions, place)
        for value in functions if not one_of else ():
            if how is not None:
                self.start(value, place, how, pool, handing.arguments)
            elif self.is_own_class(value):
                # Who is only told of a class makes no object of it.
                for callee in self.offered(value) if "calls" in contexts else ():
                    self.caught(partial(self.call, *callee, place, {}))
            elif "keeps-functions" in contexts or (handing.made and "calls" not in contexts):
                self.keep(value, place)
            elif self.run(value, place, handing.arguments) and PREPARES in contexts and len(functions) == 1:
                self.hopeless.add(place)

    def told(self, effect: Effect, place: Place) -> list[Value]:
        """The functions that a call is handed, by what the catalog says of it; what it calls where it is handed none."""
        hands = effect.entry.hands
        assert hands is not None
        passed = effect.argument(hands.function)
        value = self.written(effect, place, hands.function).value
        if hands.otherwise and passed is not None and (passed.given is False or value == Const(None)):
            return self.of_script(hands.otherwise)
        found = (option for inner in parts_of(value) for option in options(inner))
        return [o for o in found if o is not None and (self.flow.callees(o) or self.is_own_class(o))]

    def of_script(self, name: str) -> list[Value]:
        """The function of a name in the module that the run starts with; `*` for all that have none with an underscore."""
        module = self.result.entry.module
        names = [name] if name != "*" else [f.name for f in module.facts.functions if f.name.isidentifier()]
        frame = Frame(module, module.facts.functions[0])
        found = (self.values.look(frame, Ref(module.prefix + each)).value for each in names if each[0] != "_")
        return [value for value in found if value is not None and self.flow.callees(value)]

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
        owner = owner_of(site.target)
        value = self.values.look(self.frame, owner).value
        if value is None or not self.flow.callees(value):
            return False
        self.start(value, place, "spawn", arguments=[(argument.name, argument.value) for argument in site.args])
        return True

    def adds_command(self, site: Site) -> bool:
        """`group.add_command(f)`: nothing runs until the group is called."""
        frame, target = self.frame, site.target
        if isinstance(target, Result) and last(target.of) == "command":
            target = target.of  # `app.command()(f)`
        elif last(target) != "add_command":
            return False
        owner = owner_of(target)
        values = [self.values.look(frame, argument.value).value for argument in site.args]
        self.commands.setdefault(repr(self.values.look(frame, owner).value), []).extend(values)
        return True

    def command(self, target: Value, place: Place | None) -> bool:
        """Calling a group of commands runs one of them: each is a run of its own from here."""
        group = self.group(target, place) if self.commands else None
        found = self.commands.get(repr(group), ()) if group is not None else ()
        for callback in self.flow.callbacks.get(repr(group), ()) if found else ():
            self.run(callback, place)
        self.run_one_of(found, place)
        return bool(found)

    def group(self, target: Value, place: Place | None) -> Value | None:
        """The group of which a call runs a command: what is called, or of a method that does so its object: `experiment.run()`."""
        if place is None or not isinstance(target, Ref) or RUNS_COMMANDS not in self.resolver.contexts(target.name):
            return target
        return self.values.look(self.frame, owner_of(place.module.sites[place.site].target)).value

    def run_one_of(self, values: Sequence[Value | None], place: Place | None) -> None:
        """One of several functions is called: each is a run of its own from here."""
        if not values or self.is_probed():
            return
        for value in values:
            callees = [*self.offered(value)] if self.is_own_class(value) else self.flow.callees(value)
            new = [callee for callee in callees if (callee[0].path, callee[1].name) not in self.stack]
            if new:
                path = (*self.path, place) if place is not None else self.path
                run = self.beside(self.state.copy(), path)
                run.drawn = {stream: dict(draws) for stream, draws in self.drawn.items()}
                run.first, run.frame, run.imported = dict(self.first), self.frame, self.imported
                run.result.seedings, run.stack = list(self.result.seedings), list(self.stack)
                run.kept, run.values.names, run.started = self.kept, self.values.names, self.started
                self.recorder.enter("command", new[0][0], new[0][1], place)
                for callee in new:
                    run.call(*callee, place, {})
                self.others += run.finish()
                self.recorder.leave()

    def offered(self, value: Value | None) -> Iterator[Callee]:
        """The methods of a class that a command line offers: each of them may be what is run."""
        if isinstance(value, Ref):
            for module, owner, method in self.flow.methods(value.name):
                function = module.functions.get(f"{owner}.{method}")
                if function is not None and (not method.startswith("_") or method == "__init__"):
                    yield module, function, value.name

    def is_own_class(self, value: Value | None) -> bool:
        """Whether a value is a class of the program."""
        return isinstance(value, Ref) and "::" in value.name and self.resolver.classes.is_class(value.name)

    def start(self, value: Value, place: Place, how: str, pool: int = -1, arguments: Arguments = ()) -> None:
        """A function in another process.

        Args:
            how: the start method; `peer` for a process of the same program, which has done what this one had when it joined the others;
                "" where it isn't known, so that the process may have this one's seeds or none.
            pool: the call that made the pool whose process it is, -1 for one of its own.
        """
        if self.is_probed():
            return
        for module, function, owner in self.flow.callees(value):
            if function.name.endswith(".__call__"):
                self.shelved.add(owner)  # its object is called there, not here
            given = self.arguments(self.frame, arguments, value, module, function)
            deciding = {k: v.value for k, v in given.items() if self.decides(module, function, k, v)}
            key = (function.name, how, pool, repr(deciding))
            if key in self.started:
                continue
            self.started.add(key)
            self.result.followed.add((module.path, function.number))
            self.recorder.enter("process", module, function, place)
            run = self.pools.get(pool) or self.process(how, place)
            run.path, run.frame = (*self.path, place), self.frame
            first = next(sites(module.steps(function)), None)
            run.result.starter = self.result
            if first is not None:
                begins = Spot(module, module.sites[first].span)
                run.process_of, run.result.process = (len(run.path), begins), (run.path, begins, function.name)
            run.call(module, function, "", None, given)
            if pool >= 0:
                self.pools[pool] = run
            else:
                self.others += run.finish()
            self.recorder.leave()

    def process(self, how: str, place: Place) -> Run:
        """A process as it begins: a copy of this one, but that module random has seeded itself anew, a peer, or a new one, which only has
        its environment."""
        state = State(switches=dict(self.state.switches))
        run = self.beside(state, (*self.path, place))
        run.started = self.started
        run.result.switches, run.result.offered = dict(self.result.switches), dict(self.result.offered)
        if how in ("spawn", "forkserver"):
            gone = {name for name, (_, at) in self.result.switches.items() if not _in_environment(at)} - {HARDWARE}
            gone |= {name for name, at in self.result.offered.items() if not _in_environment(at)}
            for switches in (state.switches, run.result.switches, run.result.offered):
                for name in gone:
                    switches.pop(name, None)
        if how in ("fork", "peer"):
            before = self.joined if how == "peer" and self.joined is not None else self.state
            anew = "python" if how == "fork" else ""
            state.streams = {stream: kind for stream, kind in before.streams.items() if stream != anew}
            run.drawn = {stream: dict(draws) for stream, draws in self.drawn.items() if stream != anew}
            run.joined = self.joined
            run.first, run.imported = dict(self.first), set(self.imported)
            run.kept, run.values.names = self.kept, self.values.names
            return run
        run.import_module(self.result.entry.module.path)  # the new process imports it again, under another name
        if not how:
            run.perhaps = self.state.streams.keys() - {"python"}
        return run


def _in_environment(place: Place) -> bool:
    """Whether a switch is set by a variable of the environment, which processes hand on."""
    return place.module.sites[place.site].kind == "environment"
