"""Seeds and draws: what a stream is, what was drawn before it was seeded, what a seed reaches."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from detlint.catalog import Entry
from detlint.effects.state import LOADS_WEIGHTS
from detlint.effects.steps import Stepping
from detlint.ir.places import named
from detlint.model.flow import gets_at_once
from detlint.model.places import place_within
from detlint.model.registries import last
from detlint.model.runs.reach import GENERATOR, HOST, Draws, Effect, Place, Seeding, agree, is_object
from detlint.model.runs.values import Spot
from detlint.model.sites.records import (
    Branch,
    Const,
    Either,
    Instance,
    Items,
    Mapping,
    Member,
    Ref,
    Result,
    Site,
    Step,
    Value,
    is_made_by,
    options,
    surely_after,
)

PLAIN: Final = frozenset({"builtins.bool", "builtins.float", "builtins.int", "builtins.str"})
"""Types of what holds nothing else."""


class Streams(Stepping):
    """Seeds and draws."""

    def is_overwritten(self, target: Value, place: Place) -> bool:
        """Whether a call gives a layer whose weights, all of them, are replaced by stored ones before anything is done with them."""
        if self.resolver.kinds.layer(self.resolver.types.of(Result(target, -1))) is None:
            return False
        module, function = place.module, self.frame.function
        if self.empties and (self.is_of(function.returns, place) or self.is_handed_to(function.returns, place)):
            return True
        loading = self.resolver.catalog.loading
        if not self.flow.loads_weights(module, function):
            return False
        for other in surely_after(self.as_decided(module.steps(function)), place.site) or ():
            site = module.sites[other]
            if not isinstance(site.target, Member) or site.target.attr not in loading:
                continue
            if not self.is_of(site.target.base, place):
                continue
            strict = all(argument.value == Const(True) for argument in site.args if argument.name == "strict")
            effects = self.flow.knowledge.matches(module, other) if strict else ()
            if any(LOADS_WEIGHTS in effect.entry.contexts for effect in effects):
                return not self.is_used_before(place, other)
        return False

    def as_decided(self, steps: tuple[Step, ...]) -> tuple[Step, ...]:
        """What a function does, with an arm in the place of each `if` that this frame decides: `if pretrained:`."""
        found: list[Step] = []
        for step in steps:
            if not isinstance(step, Branch):
                found.append(step)
                continue
            arm = self.arm_of(step) if step.kind == "if" else None
            if arm is None:
                found.append(msgspec.structs.replace(step, arms=tuple(map(self.as_decided, step.arms))))
                continue
            taken = self.as_decided(arm)
            found += taken
            if -1 in taken:
                break
        return tuple(found)

    def arm_of(self, branch: Branch) -> tuple[Step, ...] | None:
        """The arm of an `if` that this frame, or all that the program has, decides for; None where it stays open."""
        test = self.tested(branch)
        if test.how in ("said", "decided"):
            return branch.arms[0 if test.first else 1]
        return None

    def gives_seeds(self, stream: str) -> bool:
        """Whether the seeds of a framework's initial weights are drawn from another stream than its own, and that is seeded."""
        return self.state.streams.get(self.resolver.catalog.weights_from.get(stream, "")) == "seeded"

    def is_replaced(self, stream: str, effect: Effect, place: Place) -> bool:
        """Whether other weights replace what a library's layer draws for its own; not asked where a seed has fixed that."""
        fixed = self.state.streams.get(stream) in ("seeded", "entropy")
        return not fixed and (self.is_overwritten(Ref(effect.name), place) or self.is_exchanged(effect, place))

    def is_exchanged(self, effect: Effect, place: Place) -> bool:
        """Whether a layer gets other weights as soon as it is built, all of them: `self.conv.weight = Parameter(filters)`."""
        if effect.name not in self.resolver.catalog.with_context("weight-and-bias"):
            return False
        bias = effect.argument("bias")
        drawn = {"weight"} if bias is None or bias.value == Const(False) else {"weight", "bias"}
        call = place_within(self.resolver, place.module, place.module.sites[place.site])
        return call is not None and gets_at_once(named(call.function), call.at, drawn)

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

    def is_handed_over(self, site: Site) -> bool:
        """Whether a call is handed what the function gives back that runs now."""
        given = (one.site for one in options(self.frame.function.returns) if isinstance(one, Result) and one.site >= 0)
        handed = {argument.value.site for argument in site.args if isinstance(argument.value, Result)}
        return not handed.isdisjoint(given)

    def is_handed_to(self, value: Value | None, place: Place) -> bool:
        """Whether a call of this file gives a value, and is handed what another one gives: a part of the network."""
        calls = (place.module.sites[one.site] for one in options(value) if isinstance(one, Result) and one.site >= 0)
        return any(self.is_of(argument.value, place) for call in calls for argument in call.args)

    def is_of(self, value: Value | None, place: Place) -> bool:
        """Whether a value may be what a call gives, itself or by way of methods that give their object back."""
        made = self.resolver.global_site(place.module.path, place.site)
        found = options(self.resolver.normal(place.module.path, value, self.frame.function))
        return any(is_made_by(option, made) for option in found)

    def seed(self, place: Place, effect: Effect, made: Place) -> None:
        entry = effect.entry
        kind, cause = self.seed_kind(effect, made, entry.seed)
        if kind == "entropy" and (self.doubtful or (self.elsewhere and cause is not None and self.is_drawn(cause))):
            return  # a worker that takes its seed from a stream which nobody seeds leaves its own as they are
        if kind == "entropy" and cause is None and entry.absent not in ("", "fixed", "entropy"):
            kind = self.seed_from(entry.absent, place, entry.seeds)
            if kind == "entropy":
                return
        passing = "seeds-its-draws" in entry.contexts or self.is_passing(place)
        seeding = Seeding(place, tuple(entry.seeds), kind, cause, passing, self.way)
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
        sinks, at = self.flow.knowledge.sinks, (place.module, place.site)
        if sinks.tells_apart(*at):
            return False
        if ("only-gives" in entry.contexts and sinks.is_dropped(*at)) or (stream in HOST and sinks.is_only_shown(*at)):
            return False
        return stream == "python" or not self.flow.knowledge.only_shown(place.module, place.site)

    def is_never_read(self, place: Place) -> bool:
        """Whether nobody goes through the data set that a call gives: the script that is run does nothing with it, nor with what the
        function gives back that makes it."""
        sinks = self.flow.knowledge.sinks
        places = sinks.lent(place.module, place.site)
        if places is None:
            return self.is_left(place) and sinks.is_unused_at_top(place.module, place.site)
        if not places:
            return True
        caller = self.caller()
        unread = sinks.unread_parts(caller.module, caller.site) if caller is not None else frozenset()
        if not unread:
            return caller is not None and self.is_left(caller)
        if -1 in places:
            returned = self.frame.function.returns
            given = [*enumerate(returned.values)] if isinstance(returned, Items) else []
            places = frozenset(number for number, value in given if _may_hold(value, place.site))
        return bool(places) and places <= unread

    def is_left(self, place: Place | None) -> bool:
        """Whether nothing is done with what a call gives: it is dropped, or the top level of the script keeps it for nothing."""
        if place is None:
            return False
        sinks = self.flow.knowledge.sinks
        if sinks.is_dropped(place.module, place.site):
            return True
        return self.is_own_top(place) and sinks.is_unused_at_top(place.module, place.site)

    def is_own_top(self, place: Place) -> bool:
        """Whether a place is in the script that is run, at its top level as far as calls there do nothing."""
        entry = self.result.entry
        return not (self.importing or entry.module is not place.module or entry.function.number)

    def makes_weights(self, place: Place) -> bool:
        """Whether a call that draws stands where a layer is built, and what it gives goes on into something, or is drawn in
        place (`m.weight.data.normal_()`)."""
        site = place.module.sites[place.site]
        sinks, at = self.flow.knowledge.sinks, (place.module, place.site)
        if not self.building or (sinks.is_kept_alone(*at) and not sinks.becomes_weights(*at)):
            return False
        return last(site.target).endswith("_") or not sinks.is_dropped(*at)

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
            if self.flow.words.draws_nothing(place.module, place.site):
                return
            self.state.streams[stream] = "drawn"
            self.first[stream] = first = place
            found.setdefault(place, here)
        assert first is not None
        found[first].add(here, weights or self.training > 0)


def _may_hold(value: Value | None, site: int) -> bool:
    """Whether a value may be, or hold, what a call gives, itself or by way of methods."""
    if isinstance(value, Result):
        return value.site == site or _may_hold(value.of, site)
    if isinstance(value, Member):
        return _may_hold(value.base, site)
    if isinstance(value, (Either, Items, Mapping)):
        return any(_may_hold(part, site) for part in (value.options if isinstance(value, Either) else value.values))
    return not isinstance(value, (Const, Ref)) and not (isinstance(value, Instance) and value.of in PLAIN)
