"""What the catalog says of a call, done to the run."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from detlint.catalog import HARDWARE, Entry, Scalar
from detlint.effects.state import IN_WORKERS, LOADS_WEIGHTS, Later
from detlint.effects.streams import Streams
from detlint.effects.summary import Visit
from detlint.model.launches.loaded import path_of
from detlint.model.parameters import WORKERS
from detlint.model.registries import last
from detlint.model.runs.calls import (
    OF_INPUTS,
    PREPARES,
    STARTS_COMMUNICATION,
    TRAINING_CELL,
    holds_parameter,
    is_choice,
    is_self,
    left_out,
)
from detlint.model.runs.reach import TRAINING, Effect, Place, asks_mode, is_mode, is_object, reads
from detlint.model.runs.values import Origin
from detlint.model.sites.records import (
    Const,
    Either,
    Instance,
    Member,
    Param,
    Partial,
    Ref,
    Result,
    Site,
    Value,
    is_made_by,
    options,
)
from detlint.model.tables import parts_of
from detlint.model.training import ONLY_DIFFERENTIATES, PASSES_BACK

FILLS: Final = "fills-weights"
"""An object by which layers, and others, draw their weights when they are made."""
WEIGHTS: Final = frozenset({FILLS, "initial-weights"})
"""What draws initial weights."""
ADDING: Final = frozenset({"between-devices", "sums-between-devices"})
"""What adds up what several devices have."""
JOINS_PEERS: Final = "joins-peers"
"""What makes a process one of several that run each other's functions."""
DOING: Final = ADDING | {
    "builds-settings",
    LOADS_WEIGHTS, JOINS_PEERS, STARTS_COMMUNICATION, "evaluates", "loader", "measures", "readies", "restarts", "seems-to-evaluate",
    "trains",
}  # fmt: skip
"""What a run is told that is neither a seed nor a draw nor a switch."""
CALLED: Final = ("__call__", "construct")
"""The methods that calling a layer of MindSpore's runs."""


class Effects(Streams):
    """Does what the catalog says."""

    def is_unread(self, place: Place) -> bool:
        """Whether what a call gives is only given back, as one of several, to who never reads that one."""
        sinks, caller = self.flow.knowledge.sinks, self.caller()
        unread = sinks.unread_parts(caller.module, caller.site) if caller is not None else ()
        return bool(unread) and sinks.given_back_as(place.module, place.site) in unread

    def refuses(self, effect: Effect, place: Place) -> bool:
        """Whether a framework surely doesn't take what a call gives it: an option by its default says nothing. Where one of two values
        is taken, and an option decides between these, it is noted that the run needs this one."""
        if effect.sure:
            return True
        given = [name for name in effect.entry.when if (a := effect.arguments.get(name)) is not None and a.given]
        looked = {name: self.written(effect, place, name) for name in given}
        known = {n: o.value for n, o in looked.items() if isinstance(o.value, Const) and o.default is None}
        if self.flow.knowledge.holds_with(effect, known):
            return True
        for name, origin in looked.items():
            flag, otherwise = by_option(origin.value)
            if flag and self.flow.knowledge.holds_with(effect, {**known, name: otherwise}):
                self.need(flag)
        return False

    def is_hopeless(self, target: Value | None) -> bool:
        """Whether what takes gradients raises, because the function of which it does."""
        made = self.resolver.place(target.site) if self.hopeless and isinstance(target, Result) else None
        return made is not None and Place(made[0], target.site & 0xFFFFFFFF) in self.hopeless  # type: ignore[union-attr]

    def effects(self, index: int, visit: Visit) -> list[tuple[Effect, Place]]:
        """The catalog entries that a site may fulfil in this frame, each with the place that has its arguments.

        Args:
            visit: is told besides what isn't decided.
        """
        module, target = self.frame.module, visit.target
        here = Place(module, index)
        found = self.flow.knowledge.matches(module, index)
        raw = module.sites[index].target
        given = self.given_instead(raw) if found else None
        if given is not None:
            found, target = (), given.value  # what the call gives, and not what stands there where it doesn't
        drawing = self.flow.knowledge.may_draw(module, index) if found else ()
        may = (*self.flow.knowledge.shuffles(module, index), *drawing)
        if not drawing and self.flow.draws_by_tables(module, index):
            may = (*may, *(effect for effect in self.flow.knowledge.unpacking(module, index) if effect.entry.draws))
        told = [effect for effect in may if self.is_told_to(effect, here)]
        for effect in drawing:
            if effect not in told and self.may_hold(effect, here):
                visit.standing |= {*effect.entry.draws}
        effects = [(effect, here) for effect in (*found, *told)]
        found_otherwise = not effects and (given is not None or holds_parameter(raw) or is_choice(raw))
        for option in options(target):
            of = option.of if isinstance(option, Partial) else option
            if option is None or not isinstance(of, Ref) or "::" in of.name:
                continue
            place = self.resolver.place(option.site) if isinstance(option, Partial) else None
            if place is not None and isinstance(option, Partial):
                prepared = Place(place[0], option.site & 0xFFFFFFFF)
                effects += [(e, prepared) for e in self.flow.knowledge.matches(prepared.module, prepared.site)]
            if found_otherwise:
                handed = self.flow.knowledge.matches_as(module, index, option)
                visit.handed = {**visit.handed, of.name: handed}
                effects += [(e, here) for e in handed]
        return effects

    def given_instead(self, target: Value | None) -> Origin | None:
        """What the call gives for a parameter in whose place something else stands where it is left out; None where it is."""
        for option in target.options if isinstance(target, Either) else ():
            name = left_out(self.frame.module, self.frame.function, option)
            given = self.values.given(self.frame, name) if name else None
            if given is not None and given.value != Const(None):
                return given
        return None

    def may_draw(self, place: Place, visit: Visit) -> bool | None:
        """Whether a call that may draw does so in this frame: one that is told `shuffle=False` surely doesn't. None for others."""
        draw = [effect for effect, _ in visit.effects if effect.entry.draws]
        if any(effect.entry.draws for effect, _ in visit.held) or any(
            self.may_hold(effect, place, sure=True) for effect in draw
        ):
            return True
        return False if draw else None

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
        return not known or self.flow.knowledge.holds_with(effect, known) is not False

    def is_told_to(self, effect: Effect, place: Place) -> bool:
        """Whether the conditions of an entry that are open elsewhere surely hold in this frame."""
        passed = {name: a for name in effect.entry.when if (a := effect.arguments.get(name)) is not None}
        looked = {name: self.written(effect, place, name).value for name, a in passed.items() if a.given}
        unpacked = {name: self.unpacked(effect, place, name) for name, a in passed.items() if a.given is None}
        looked |= {name: origin.value for name, origin in unpacked.items() if origin is not None}
        known = {name: value for name, value in looked.items() if isinstance(value, Const)}
        return self.flow.knowledge.holds_with(effect, known) is True

    def affect(self, place: Place, effect: Effect, made: Place, prepared: bool) -> None:
        """What a call of the catalog does, whose arguments stand at `made`."""
        contexts = effect.entry.contexts
        self.note_use(place, contexts)
        self.affect_training(place, effect, made)
        self.affect_communication(effect)
        if "loader" in contexts:
            self.load(effect, made)
        if "builds-settings" in contexts:
            self.build_settings(effect, made)
        if not prepared:
            self.affect_streams(place, effect, made)
            self.affect_switches(place, effect, made)

    def note_use(self, place: Place, contexts: Collection[str]) -> None:
        """Note what the run does with weights."""
        self.result.loads = self.result.loads or (LOADS_WEIGHTS in contexts and not self.doubtful)
        self.result.infers = self.result.infers or "evaluates" in contexts
        own = place.module is self.result.entry.module
        self.seems_to_infer = self.seems_to_infer or (own and "seems-to-evaluate" in contexts)
        self.result.measures = self.result.measures or "measures" in contexts
        self.result.restarts = self.result.restarts or "restarts" in contexts
        if JOINS_PEERS in contexts:
            self.joined = self.state.copy()

    def affect_training(self, place: Place, effect: Effect, made: Place) -> None:
        """A call that trains, or gets a layer ready for that."""
        contexts = effect.entry.contexts
        if "trains" in contexts:
            # What an import makes ready may never be called.
            if not (self.importing and PREPARES in contexts) and not self.is_tried_back(made):
                if TRAINING_CELL in contexts and not self.making:
                    self.build_cell(effect, place)
                else:
                    self.train(contexts)
                self.by_hand = self.by_hand or PREPARES in contexts
        elif "readies" in contexts and not self.making and not _gives_mode_back(made.module.sites[made.site]):
            self.ready.add("")  # what a layer tells its parts, it is told itself before it trains

    def affect_communication(self, effect: Effect) -> None:
        """A call that starts to communicate, or adds up what several devices have."""
        contexts = effect.entry.contexts
        if STARTS_COMMUNICATION in contexts:
            self.result.communicates = True
            known = effect.name.partition(".")[0] in self.resolver.catalog.adding
            self.result.adds_up = self.result.adds_up or not known
        adds = not ADDING.isdisjoint(contexts)
        self.cells_add = self.cells_add or (adds and TRAINING_CELL in contexts)
        self.result.adds_up = self.result.adds_up or (adds and TRAINING_CELL not in contexts)

    def build_settings(self, effect: Effect, made: Place) -> None:
        """What a file of settings names is built, or called, in order, where a call does that with what it reads."""
        if self.resolver.loaded is None:
            return
        self.rests = True  # on which script that is
        site, script = made.module.sites[made.site], self.result.entry.module.path
        table = self.resolver.loaded.read_by(made.module, site, effect.name, script)
        home = self.resolver.module(path_of(table)) if table is not None else None
        if home is not None:
            self.import_module(home.path)

    def affect_streams(self, place: Place, effect: Effect, made: Place) -> None:
        """A call that seeds, draws, or makes a generator."""
        entry = effect.entry
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
            self.draw_by_call(place, effect, made)

    def draw_by_call(self, place: Place, effect: Effect, made: Place) -> None:
        """What a call draws, now or when the object is used that it makes."""
        entry = effect.entry
        # A copy of a library's layer goes by a name of its own.
        layers = map(self.resolver.kinds.layer, (effect.name, *entry.names))
        weights = "initial-weights" in entry.contexts or any(layers)
        kept = weights or self.makes_weights(place)
        self.draws_weights = self.draws_weights or (kept and bool(entry.draws))
        by_mode, read = self.asks_mode(effect, made), reads(effect)
        used_later = by_mode or read or is_object(effect, weights) or (FILLS in entry.contexts and _is_kept(made))
        if not entry.draws or (kept and self.hollow and not used_later) or self.is_never_read(place):
            return
        for stream in entry.draws:
            if not WEIGHTS.isdisjoint(entry.contexts) and self.gives_seeds(stream):
                continue
            if used_later:
                layer = weights or by_mode or self.training > 0
                later = Later(stream, place, self.path, layer, read, entry.while_training, self.held(stream))
                self.later.append(later)
            elif self.matters(stream, place, entry) and not (weights and self.is_replaced(stream, effect, place)):
                self.draw(stream, place, kept)

    def affect_switches(self, place: Place, effect: Effect, made: Place) -> None:
        """A call that sets switches."""
        for switch, value in effect.entry.sets.items():
            chosen = self.flow.switch(effect, value)
            if chosen is True and isinstance(value, str) and self.is_off(effect, made, value.removeprefix("=")):
                self.result.offered.setdefault(switch, place)
                chosen = False
            if chosen is not None:  # `Trainer(benchmark=None)` leaves the switch as it is
                self.recorder.tell("sets", switch, place, chosen, self.state.streams)
                self.set_switch(switch, chosen, place)

    def is_off(self, effect: Effect, made: Place, parameter: str) -> bool:
        """Whether a call hands on an option, or a parameter, that is False unless somebody gives another value."""
        return self.written(effect, made, parameter).value == Const(False)

    def set_switch(self, switch: str, chosen: Scalar, place: Place) -> None:
        """Note what is set; what only happens when an option is given sets nothing by default."""
        result = self.result
        before = result.switches[switch][1] if switch in result.switches else result.offered.get(switch, place)
        if before != place and chosen:
            result.again.append((switch, place))
        if not self.doubtful:
            result.switches[switch] = (chosen, place)
        elif chosen:
            result.offered.setdefault(switch, place)
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
            part = "::" in self.resolver.types.of(base) and not self.flow.callees(target)
            if part or (raw.attr in CALLED and self.is_cell(base)):
                return True
        if isinstance(target, Ref) and target.name in self.flow.trained:
            return False  # what is made of it is told to train, or not
        given = (self.values.look(self.frame, argument.value).value for argument in site.args)
        return any(self.is_cell(inner) for value in given for inner in parts_of(value))

    def is_cell(self, value: Value | None) -> bool:
        """Whether a value may be one of the layers that train when they are called."""
        made = [option for option in options(value) if isinstance(option, Result)]
        kinds = self.cells | self.ready
        return any(self.flow.is_prepared(option) or self.resolver.types.of(option) in kinds for option in made)

    def is_tried_back(self, place: Place) -> bool:
        """Whether a call stands in the `__main__` block of a run that only shows shapes, which drops nothing but passes back."""
        site = place.module.sites[place.site]
        own = place.module is self.result.entry.module and not site.function
        return self.result.tries and own and self.flow.knowledge.sinks.is_dropped(place.module, place.site)

    def load(self, effect: Effect, place: Place) -> None:
        """Note whether a loader has workers, and what it runs in them."""
        workers = effect.arguments.get(WORKERS)
        parsed: Value | None = Const(0)
        if workers is not None and workers.given is not False:
            parsed = self.written(effect, place, WORKERS).value
        known = isinstance(parsed, Const) and isinstance(parsed.value, int)
        self.workers.add(known and isinstance(parsed, Const) and bool(parsed.value))
        if workers is not None and workers.given is None and self.unpacked(effect, place, WORKERS) is None:
            self.workers.add(False)  # only some of the tables that may be unpacked here have it
        for name in IN_WORKERS:
            given = effect.arguments.get(name)
            if given is not None and given.value is not None and given.given:
                self.handed.append((given.value, place, True, self.frame))
                self.result.renews = self.result.renews or name == "worker_init_fn"


def does(entry: Entry) -> bool:
    """Whether a call of an entry may do anything to a run."""
    if entry.seeds or entry.seed or entry.unseeds or entry.draws or entry.sets or entry.rule in ("DET103", "DET107"):
        return True
    return not DOING.isdisjoint(entry.contexts)


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


def by_option(value: Value | None) -> tuple[str, Value | None]:
    """The option, as an attribute of all that are given, which decides between two values, and the one for where it isn't true; "" for
    none."""
    if not isinstance(value, Either) or "." not in value.by[1:] or value.by.startswith("self."):
        return "", None
    return last(Ref(value.by)), value.options[1]
