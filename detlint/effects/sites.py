"""Sites: what is called where, and all that follows from it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from detlint import counters
from detlint.catalog import RAISES
from detlint.effects.effects import does
from detlint.effects.handed import Handed
from detlint.effects.state import Later
from detlint.effects.summary import Access, Call, Contexts, Site, Visit
from detlint.model.registries import last
from detlint.model.runs.calls import CALLS, is_choice, is_chosen, is_seed
from detlint.model.runs.reach import Effect, Place, reads
from detlint.model.runs.values import Origin, is_parsed
from detlint.model.sites.records import SETTER, Member, Partial, Ref, Result, Value
from detlint.model.sites.records import Site as Called

INERT = Visit(inert=True)


class Sites(Handed):
    """Comes to sites."""

    def site(self, step: Site) -> None:
        counters.now.visits += 1
        frame, place = self.frame, step.place
        module, index = place.module, place.site
        if place not in self.seen:
            self.seen.add(place)
            self.result.places.append(place)
            self.result.passed.add(module.path)
            self.result.through.add(module.path)
        if self.probe is not None and not frame.function.number and module is self.result.entry.module:
            self.probe.at = step
        if self.importing and not frame.function.number and not (self.cells or self.ready or self.commands):
            plain = self.flow.plain(module, index)
            if plain is not None:
                self.call_inert(plain)
                return
        site = module.sites[index]
        if site.kind == "write":
            self.write(site, place)
            return
        visit = self.in_context(step.visits, partial(self.visited, index, place, site))
        self.rests = self.rests or visit.live or (self.probe is not None and is_chosen(site.target))
        if visit.inert and not (self.kept or self.commands or self.cells or self.ready):
            return
        if visit.inert and step.wholes is None:
            step.wholes = Contexts()
        if step.wholes is not None:
            visit = self.in_context(step.wholes, partial(self.visited, index, place, site, whole=True))
        self.come(visit, site, place)

    def visited(self, index: int, place: Place, site: Called, whole: bool = False) -> Visit:
        """What a site comes to in this frame.

        Args:
            whole: whether to tell it, too, where nothing happens.
        """
        module = place.module
        visit = Visit(self.values.described_by(self.frame, site) or self.target(index))
        visit.misfits = bool(self.flow.raises.at(module, index)) or (len(site.args) == 1 and site.args[0].name == "*")
        visit.effects = tuple(self.effects(index, visit))
        visit.judged = any(effect.entry.rule for effect, _ in visit.effects)
        if visit.effects:
            visit.held = tuple(
                (e, made) for e, made in visit.effects if e.sure or made != place or self.may_hold(e, place)
            )
            visit.draws = self.may_draw(place, visit)
        visit.refusing = tuple(e for e, made in visit.held if RAISES in e.entry.contexts and made == place)
        visit.acts = tuple((e, made) for e, made in visit.held if does(e.entry))
        visit.restored = frozenset(stream for effect, _ in visit.held for stream in effect.entry.restores)
        visit.prepared = self.flow.is_prepared(visit.target)
        if site.kind == "call":
            self.calling(visit, site, place)
        told = visit.effects or visit.standing or visit.handed or visit.misfits or visit.restored or visit.prepared
        done = visit.hands or visit.builds or visit.layered or visit.calls or visit.handing or visit.live
        visit.inert = not (told or done or site.kind == "config")
        return visit if whole or not visit.inert else INERT

    def calling(self, visit: Visit, site: Called, place: Place) -> None:
        """What a call runs in this frame."""
        raw, target = site.target, visit.target
        visit.chooses = is_chosen(raw) or (isinstance(target, Member) and isinstance(target.base, Result))
        visit.hands = last(raw) in ("add_command", "remote") or (isinstance(raw, Result) and last(raw.of) == "command")
        if target is None:
            return
        visit.builds = isinstance(target, Ref) and "::" in target.name and self.resolver.classes.is_class(target.name)
        callees = self.flow.callees(target)
        if callees:
            visit.layered = self.resolver.kinds.layer(self.resolver.types.of(Result(target, -1))) is not None
            kind = self.resolver.types.of(target) if not visit.builds else ""
            visit.applied = kind if "::" in kind and self.resolver.kinds.layer(kind) is not None else ""
            visit.choose = self.are_alternatives(target, callees)
            visit.calls = self.calls(target, callees, place)
        elif not isinstance(target, Partial):
            told = self.telling(visit.held, place)
            visit.live = told is not None and told.entry.hands is not None and bool(told.entry.hands.otherwise)
            visit.handing = None if visit.live else self.handing(target, visit.held, place)

    def come(self, visit: Visit, site: Called, place: Place) -> None:
        """Do what a site comes to."""
        module, target, result = place.module, visit.target, self.result
        raises = visit.misfits and self.flow.raises.at(module, place.site)
        misfits = (raises and not self.may_be_swapped(target)) or (visit.misfits and self.hands_on_amiss(site))
        if misfits and self.stop(f"line {site.span.line}"):
            result.visited.update(home.path for home, _, _ in self.flow.callees(target))  # to edit these may mend it
            return
        if not self.doubtful:
            self.standing_in |= visit.standing
        if visit.handed:
            result.handed.setdefault(place, {}).update(visit.handed)
        if visit.effects:
            self.recorder.tell("passes", "", place, "", self.state.streams)
            if visit.judged:
                result.judged.add(place)
            if visit.draws is not None:
                (result.drawing if visit.draws else result.spared).add(place)
        raising = any(self.refuses(effect, place) for effect in visit.refusing)
        raising = raising and site.kind == "call" and not self.may_have(site.target) and not self.is_mended()
        if raising and self.stop(f"line {site.span.line}"):
            return
        if visit.restored:
            # As they are before it seeds anything itself.
            self.scopes[place] = {stream: self.state.streams.get(stream, "") for stream in visit.restored}
        for effect, made in visit.acts:
            # A partial only prepares a call, and a configuration describes one.
            self.affect(place, effect, made, site.kind != "call" and site.kind in CALLS)
        if visit.prepared or (self.cells and self.is_cell(target)):
            if self.is_hopeless(target) and self.stop(f"line {site.span.line}"):
                return
            self.train()
        if site.kind == "config":
            self.described(target, visit.held, place)
        if site.kind == "call":
            self.run_call(visit, site, place)

    def run_call(self, visit: Visit, site: Called, place: Place) -> None:
        """Run what a call runs."""
        target, callees = visit.target, visit.calls
        if self.ready and not self.making and is_choice(site.target) and not isinstance(target, Ref):
            self.trained = self.trained or not self.flow.callees(target)  # it may be one of the layers
        if (self.cells or self.ready) and not self.making:
            self.hands_cells = self.hands_cells or self.may_call_cell(site, target)
        if visit.hands and (self.adds_command(site) or self.is_remote(site, place)):
            return
        if (visit.chooses and self.choose(site, target, place)) or target is None:
            return
        if visit.builds:
            self.build(target, place)
        if visit.applied:
            self.result.applied.setdefault(place, visit.applied)
        if callees:
            overwritten = visit.layered and self.is_overwritten(target, place)
            # What the network is handed to that is given back, and then overwritten, fills it: `initialize(model)`.
            hollow = (overwritten and visit.builds) or (self.empties and self.is_handed_over(site))
            outer, self.empties = self.empties, overwritten and not visit.builds
            self.hollow += hollow
            work = partial(self.call_all, callees, place, visit.choose)
            if self.unread_parts and self.is_unread(place):
                self.unread(work)
            else:
                work()
            self.hollow -= hollow
            self.empties = outer
            self.command(target, place)
        elif not self.command(target, place):
            handing = self.handing(target, visit.held, place) if visit.live else visit.handing
            if handing is not None:
                self.hand_over(handing, place)

    def read(self, step: Access) -> None:
        """Run the property that an attribute is, if it is one, when it is read."""
        if step.target.attr in self.flow.properties:
            for call in self.in_context(step.calls, partial(self.accessed, step.target)):
                self.enter(call)

    def accessed(self, target: Member, place: Place | None = None) -> tuple[Call, ...]:
        """The functions of the property that an attribute is in this frame, which run when it is read, or set at a place."""
        if target.attr not in self.flow.properties:
            return ()
        value = self.values.look(self.frame, target.base).value
        site = place.module.sites[place.site] if place is not None else None
        return tuple(
            self.prepared(
                module,
                function,
                owner,
                place,
                partial(self.values.bind, self.frame, site, module, function) if site else dict,
            )
            for module, function, owner in self.flow.accessors(value, target.attr, SETTER if place is not None else "")
        )

    def write(self, site: Called, place: Place) -> None:
        """`session.seed = 1`: a property's function runs, or an option of the command line is set anew."""
        assert isinstance(site.target, Member)
        calls = self.accessed(site.target, place)
        for call in calls:
            self.enter(call)
        if not calls and not self.doubtful:
            self.set_option(site.target, self.values.look(self.frame, site.args[0].value))

    def set_option(self, target: Member, value: Origin) -> None:
        """Note what an option of the command line is set to: a seed, or what no parser has and nothing sets to anything else."""
        path, attr = self.frame.module.path, target.attr
        if not is_seed(target):
            base = self.values.look(self.frame, target.base).value
            if not is_parsed(base, self.resolver, path, sure=True):
                return
            once = self.values.assigned.get(attr, value) == value and not self.unsure and self.optional(attr) is None
            value = value if once else Origin(None)  # there may be several such objects
        if self.values.assigned.setdefault(attr, value) != value:
            self.values.assigned[attr] = value
            self.done.clear()  # calls may come to something else from here on

    def described(self, target: Value | None, effects: Sequence[tuple[Effect, Place]], place: Place) -> None:
        """What a configuration describes is built and used when the statements of the run are over."""
        for effect, _ in effects:
            if not effect.entry.rule.startswith("DET1"):
                layer = self.resolver.kinds.layer(effect.name) is not None
                read = reads(effect)
                self.later += [
                    Later(stream, place, self.path, layer, read, held=self.held(stream))
                    for stream in effect.entry.draws
                ]
        if target is not None and self.flow.callees(target):
            self.build(target, place)
            self.keep(target, place)
