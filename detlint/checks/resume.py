"""DET307: a run that goes on from a checkpoint, or writes one for that, without the random states, and draws afterwards."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from detlint.catalog import SHUFFLED, Catalog
from detlint.checks.finding import Finding, Step
from detlint.checks.levels import ALIGN, case_of, level
from detlint.checks.match import Match, Matcher
from detlint.checks.tests import is_test
from detlint.facts.model import Span
from detlint.ir import ops as op
from detlint.model.slices import Point, Slices, of_run
from detlint.model.uses import Users
from detlint.program.reach import Place, Reach

CODE: Final = "DET307"
_STATE: Final = "state_dict"
_LOADS: Final = "load_state_dict"
_DESIGN: Final = ("DET2", "DET301", "DET302")
_INITIAL: Final = ("torch.nn.init.", "mindspore.common.initializer.")
_SETS_EPOCH: Final = frozenset({"set_epoch"})
_KEEPING: Final = frozenset({"get_state", "set_state", "getstate", "setstate", "get_rng_state", "set_rng_state"})


class ResumeRules:
    """Judges the checkpoints of runs."""

    def __init__(self, matcher: Matcher, users: Users) -> None:
        self._matcher, self._users = matcher, users
        catalog: Catalog = matcher.catalog
        self._catalog = catalog
        self._writes, self._reads = catalog.with_context("writes-checkpoint"), catalog.with_context("reads-checkpoint")
        self._keeps = catalog.with_context("keeps-random-states")
        self._optimizers = tuple(name for framework in catalog.frameworks for name in framework.optimizers)

    def findings(self, reach: Reach) -> Iterator[Finding]:
        """What is told of one run: once."""
        goes_on = self._goes_on(reach)
        if goes_on is None and not self._may(reach):
            return
        shuffled = not self._says(reach, _SETS_EPOCH)
        if not reach.trains or (drawn := self._drawn(reach, shuffled=shuffled)) is None or self._keeps_states(reach):
            return
        words = {_STATE, _LOADS, *(name.rpartition(".")[2] for name in self._writes)} - {"save"}
        slices = of_run(self._users, reach.files, reach.entry.module.path, words)
        found = goes_on or self._by_hand(slices)
        if found is not None:
            yield self._finding(found, drawn)

    def _may(self, reach: Reach) -> bool:
        return self._says(reach, (_STATE, _LOADS))

    def _says(self, reach: Reach, words: Iterable[str]) -> bool:
        """Whether a file of the run has one of some names."""
        has = self._users.index.has_name
        return any(has(path, word) for path in sorted(reach.files) for word in words)

    # -- what the run does ------------------------------------------------------------------------------------------

    def _goes_on(self, reach: Reach) -> Point | None:
        """Where a library is told to go on that keeps no random states."""
        said = {}
        for place in reach.places:
            for match in self._matcher.matches(place.module, place.site):
                said.update(dict.fromkeys(match.entry.contexts, (place, match)))
        if "goes-on-in-full" in said:
            said = {"goes-on": said["only-model"]} if "only-model" in said else {}
        if "goes-on" not in said:
            return None
        place, match = said["goes-on"]
        return self._point(place) if match.sure and not self._is_none(match) else None

    def _is_none(self, match: Match) -> bool:
        """Whether what says where to go on is surely nothing."""
        for word in match.entry.when:
            argument = match.arguments.get(word)
            if argument is not None and getattr(argument.value, "value", 0) in (None, False):
                return True
        return False

    def _drawn(self, reach: Reach, *, shuffled: bool) -> Place | None:
        """Something that the run draws in each epoch: not the initial weights of a layer.

        Args:
            shuffled: whether the order of the data counts.
        """
        for place in reach.places:
            for match in self._matcher.matches(place.module, place.site):
                inside = "draws-inside" in match.entry.contexts
                if match.entry.rule == SHUFFLED and not shuffled:
                    continue
                if (
                    inside
                    or match.entry.rule.startswith(_DESIGN)
                    or (match.entry.draws and self._is_each_round(place, match))
                ):
                    return place
        return None

    def _is_each_round(self, place: Place, match: Match) -> bool:
        """Whether a function draws again and again: in a loop, or in a method, but no initial weights."""
        if match.name.rpartition(".")[2][:1].isupper() or match.name.startswith(_INITIAL):
            return False
        point = self._point(place)
        if point is None:
            return False
        loops = (point.function.ops[mark][0] in (op.FOR, op.WHILE) for mark in point.function.blocks(point.at))
        around = point.function.parent
        return any(loops) or (around is not None and around.is_class and not point.function.name.startswith("__init"))

    def _keeps_states(self, reach: Reach) -> bool:
        """Whether the run keeps random states, or seeds anew in each epoch."""
        words = {*_KEEPING, *(name.rpartition(".")[2] for name in self._keeps)}
        has = self._users.index.has_name
        for path in sorted(reach.files):
            meaning = self._users.meanings.at(path) if any(has(path, word) for word in words) else None
            for function in meaning.code.functions() if meaning is not None else ():
                for at, name in meaning.calls(function) if meaning is not None else ():
                    if function.called(at) in _KEEPING or self._catalog.canonical(name) in self._keeps:
                        return True
        return any(self._is_each_epoch(seeding.place) for seeding in reach.seedings if not seeding.passing)

    def _is_each_epoch(self, place: Place) -> bool:
        """Whether a seeding stands in a loop, and is told which round it is."""
        point = self._point(place)
        if point is None:
            return False
        function = point.function
        rounds = [mark for mark in function.blocks(point.at) if function.ops[mark][0] == op.FOR]
        made = {part for value in function.call(point.at).values() for part in function.made_of(value)}
        return any(mark in made for mark in rounds)

    def _point(self, place: Place) -> Point | None:
        meaning = self._users.meanings.of(place.module)
        found = meaning.code.at(place.module.sites[place.site].span.place, op.CALL) if meaning is not None else None
        return Point(meaning, *found) if meaning is not None and found is not None else None

    # -- checkpoints by hand ----------------------------------------------------------------------------------------

    def _by_hand(self, slices: Slices) -> Point | None:
        """Where a checkpoint is read to go on with an optimizer, or, if none is, written with one."""
        for point, _ in slices.calls():
            function, of = point.function, point.function.called_on(point.at)
            if function.called(point.at) == _LOADS and of >= 0 and self._is_optimizer(slices, point, of):
                read = self._read_from(slices, point, [*function.call(point.at).values()])
                if read is not None:
                    return read
        writes = (point for point, name in slices.calls() if self._catalog.canonical(name) in self._writes)
        return next((point for point in writes if self._has_optimizer(slices, point)), None)

    def _read_from(self, slices: Slices, point: Point, given: list[int]) -> Point | None:
        """The call that reads the file from which an optimizer's state comes."""
        for value in given:
            for part in slices.parts(point.meaning, point.function, value):
                operation = part.function.ops[part.at]
                name = part.meaning.name(part.function, operation[1]) if operation[0] == op.CALL else ""
                if self._catalog.canonical(name) in self._reads:
                    return part
        return None

    def _has_optimizer(self, slices: Slices, point: Point) -> bool:
        """Whether what is written has the state of an optimizer, together with more."""
        for value in point.function.call(point.at).positional[:1]:
            for part in slices.parts(point.meaning, point.function, value):
                function, of = part.function, part.function.called_on(part.at)
                if function.called(part.at) == _STATE and of >= 0 and self._is_optimizer(slices, part, of):
                    return True
        return False

    def _is_optimizer(self, slices: Slices, point: Point, value: int) -> bool:
        """Whether a value is an optimizer, by what made it."""
        for part in slices.parts(point.meaning, point.function, value):
            operation = part.function.ops[part.at]
            name = (
                self._catalog.canonical(part.meaning.name(part.function, operation[1]))
                if operation[0] == op.CALL
                else ""
            )
            if name and (f"{name}.".startswith(self._optimizers) or name in self._optimizers):
                return True
        return False

    def _finding(self, point: Point, drawn: Place) -> Finding:
        rule = self._catalog.rules[CODE]
        settings = self._matcher.settings
        own = "error" if settings.profile == ALIGN else ""  # a run with a break is no run to compare
        found = level(case_of(rule, settings, own, in_test=is_test(point.meaning.path)))
        step = Step(
            drawn.module.path, drawn.module.sites[drawn.site].span, "the run draws here, and goes on with other numbers"
        )
        span = Span(*point.function.span(point.at))
        return Finding(
            point.meaning.path, span, rule.code, rule.name, found.severity, rule.message, rule.remedy, steps=(step,)
        )
