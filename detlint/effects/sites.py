"""Sites: what is called where, and all that follows from it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from detlint import counters
from detlint.catalog import RAISES
from detlint.effects.handed import Handed
from detlint.effects.state import Later
from detlint.facts.model import SETTER, Member, Partial, Ref, Site, Value
from detlint.program.calls import CALLS, is_choice, is_option
from detlint.program.reach import Effect, Place, reads


class Sites(Handed):
    """Comes to sites."""

    def site(self, index: int) -> None:
        counters.now.visits += 1
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
        if self.importing and not frame.function.number and not (self.cells or self.ready or self.commands):
            plain = self.flow.plain(module, index)
            if plain is not None:
                self.call_idle(plain.module, plain.function, plain.seen)
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
            makes = isinstance(target, Ref) and self.resolver.classes.is_class(target.name)
            outer, self.empties = self.empties, overwritten and not makes
            self.hollow += overwritten and makes
            if self.is_unread(place):
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
                layer = self.resolver.kinds.layer(effect.name) is not None
                read = reads(effect)
                self.later += [Later(stream, place, self.path, layer, read) for stream in effect.entry.draws]
        if target is not None and self.flow.callees(target):
            self.build(target, place)
            self.handed.append((target, place, False, self.frame))
