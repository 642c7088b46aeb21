"""Whether a match with a rule is a finding, how severe it is, and why: step by step, for whoever asks (`detlint explain`)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Final

from detlint.checks import listings
from detlint.checks.attributes import Attributes
from detlint.checks.constants import Constants
from detlint.checks.device_tests import DeviceTests
from detlint.checks.distinct import differ
from detlint.checks.documented import Documented
from detlint.checks.exact import Exact
from detlint.checks.finding import Severity, at_most
from detlint.checks.frozen import Frozen
from detlint.checks.leftover import Leftover
from detlint.checks.levels import Judgement, Levels, is_class
from detlint.checks.match import Match, Matcher
from detlint.checks.origins import Origins
from detlint.checks.raising import Raising
from detlint.checks.silence import STREAMS, SWITCH, SWITCHED, Silence
from detlint.checks.templates import Templates
from detlint.checks.tests import holds_tests, is_test
from detlint.checks.unapplied import Unapplied
from detlint.checks.uncallable import Uncallable
from detlint.checks.unimportable import Unimportable
from detlint.checks.unnamed import Unnamed
from detlint.checks.unread import IN_PLACE, is_unread
from detlint.checks.untrained import Untrained
from detlint.config import Settings
from detlint.facts.model import Either, Member
from detlint.program.calls import TRAINING_CELL
from detlint.program.outcome import Outcome, Runs
from detlint.program.reach import follows_mode
from detlint.program.resolve import Module
from detlint.program.users import ANYWHERE, Users

OPERATORS: Final = "DET4"
"""The rules of operators that don't always give the same numbers begin with it."""

USED_LATER: Final = ("DET2", "DET301", "DET302", "DET303", "DET4")
"""The rules of what only counts once something is trained or evaluated: layers, operators, and the data that is gone through."""


class Verdicts:
    """Judges matches at the sites of modules.

    Args:
        levels: judges how severe a match is.
        raising: finds what stands behind an error.
        documented: knows what documents say of the hardware.
        root: the project's root, for telling test files.
    """

    def __init__(
        self,
        matcher: Matcher,
        settings: Settings,
        users: Users,
        levels: Levels,
        attributes: Attributes,
        unnamed: Unnamed,
        untrained: Untrained,
        raising: Raising,
        device_tests: DeviceTests,
        documented: Documented,
        root: str,
    ) -> None:
        self._matcher = matcher
        self._settings = settings
        self._resolver, self._catalog = matcher.resolver, matcher.resolver.catalog
        self._users = users
        self._levels = levels
        self._unnamed = unnamed
        self._untrained = untrained
        self._root = root
        gradients = levels.gradients
        self.silence = Silence(matcher, settings, users, gradients, attributes, unnamed, untrained, documented, root)
        self._constants = Constants(matcher, users, gradients, unnamed)
        self._own_calls = Constants(matcher, users, gradients, unnamed, offered=False)
        self._own_origins = Origins(matcher, gradients, any_input=True)
        self._exact = Exact(matcher, users.texts, attributes)
        self._leftover = Leftover(matcher, users.texts, attributes, self._constants.always)
        self._frozen = Frozen(gradients, users, unnamed.is_in_library, unnamed.holds)
        self._templates = Templates(users)
        self._unimportable = Unimportable(users)
        self._raising = raising
        self._device_tests = device_tests
        self._uncallable = Uncallable(users, attributes, unnamed.is_in_library)
        self._unapplied = Unapplied(users, unnamed, self._is_for_nothing)

    def matches(self, module: Module, index: int) -> Iterator[Match]:
        """What a site is, by itself and by what those who call the function around it hand to it."""
        yield from self._matcher.matches(module, index)
        yield from self._constants.handed_on(module, index)

    def of(self, module: Module, index: int, match: Match, runs: Runs) -> Iterator[Judgement]:
        """How a match with a rule is judged, step by step: the severity, None where it is no finding, and why."""
        passed = [passage for passage in runs.passages if index in passage.sites]
        through = [passage.outcome for passage in passed]
        if silent := self.silence.why(module, index, match, runs):
            yield None, silent
            return
        drawn = {s for other in (match, *self._matcher.matches(module, index)) for s in other.entry.draws}
        # A layer that is random by design draws nothing where a run only infers; and for its tests nobody seeds what they try.
        tests = not is_test(module.path, self._root) and any(not is_test(o.entry, self._root) for o in through)
        drawing = [
            o
            for o in (passage.outcome for passage in passed if index not in passage.silent)
            if not (o.infers and not o.trains and follows_mode(match)) and not (tests and is_test(o.entry, self._root))
        ]
        seeded = all(outcome.unseeded.isdisjoint(drawn) for outcome in drawing) if through else None
        rule = self._catalog.rules[match.entry.rule]
        severity: Severity | None = None
        trained = any(outcome.trains for outcome in through)
        for severity, why in self._levels.judged(match, rule, module, index, seeded, trained):
            yield severity, why
        if severity is None:
            return
        if severity != "note":
            if reason := self._ruled_out(module, index, match):
                yield None, reason
                return
            if reason := self._milder(module, index, match, runs, through):
                severity = "note"
                yield severity, reason
        if rule.code == "DET107" and seeded:
            seeded = all(outcome.open.isdisjoint(drawn) for outcome in through)
        now, why = self._on_the_way(match, severity, seeded, through)
        if module.sites[index].kind == "order":
            now, why = self._of_a_set(module, index, match, severity)
        if why:
            yield now, why

    def is_idle_layer(self, module: Module, index: int, match: Match) -> bool:
        """Whether what is known of a layer never happens to the one that a site makes: it is about the gradient of its weights, and
        these are frozen, or nothing uses it."""
        if not is_class(match.name):
            return False
        if self._is_frozen(module, index, match):
            return True
        return self.silence.unused.is_made_for_nothing(module, index, match.name, generator=False)

    def _is_frozen(self, module: Module, index: int, match: Match) -> bool:
        of_weights = "weights-only" in match.entry.contexts and is_class(match.name)
        return of_weights and self._frozen.holds(module, index)

    def _ruled_out(self, module: Module, index: int, match: Match) -> str:
        """Why what would be told is no finding after all, by what is asked of the whole program; "" where it may be one."""
        if test := self._device_tests.excluded(module, index, match):
            return f"`{test}` keeps runs from it on the hardware that it is about"
        if reason := self._constants.rule_out(module, index, match):
            return reason
        if self._exact.holds(module, index, match):
            return "it adds up whole numbers, or no more than two at a time, which give the same in any order"
        computes = match.entry.rule.startswith(OPERATORS) and not is_class(match.name)
        if computes and not match.name.endswith(IN_PLACE) and is_unread(self._users.texts, module, module.sites[index]):
            return "nothing is made of what it gives"
        if match.entry.collides and self._differ(module, index):
            return f"none of the indices in `{match.entry.collides}` repeats where something is added"
        if is_class(match.name) and self._leftover.holds(module, index):
            return "nothing uses what it is a part of"
        if self._is_frozen(module, index, match):
            return "it is about the gradient of its weights, and only networks have it whose weights are frozen"
        return ""

    def _differ(self, module: Module, index: int) -> bool:
        """Whether the indices of a call surely differ, as the text of its function has them."""
        site = module.sites[index]
        text = self._users.texts.of(module.path) if module.path.endswith(".py") else None
        name = module.function_of(site).name.partition(".")[0]
        position = (
            1 if isinstance(site.target, Member) else 2
        )  # `x.index_add_(0, index, y)`, `torch.index_add(x, 0, index, y)`
        return text is not None and bool(name) and differ(text, name, site.span, position)

    def _milder(self, module: Module, index: int, match: Match, runs: Runs, through: list[Outcome]) -> str:
        """Why what would be told is only a note: others decide, or nothing runs it; "" where it is more."""
        passed = bool(through)
        stops = _stop(runs, self._training_ones(through) if match.entry.pass_ == "backward" else through)
        used = match.entry.rule.startswith(USED_LATER) or match.entry.pass_ == "backward" or follows_mode(match)
        if stops and (used or not passed) and not self._unnamed.is_in_library(module):
            where = stops.replace(os.path.join(self._root, ""), "")
            return f"every run that would use it ends with an error, before it trains or evaluates anything: at {where}"
        if not passed and self._templates.is_template(module):
            return "another file is generated from this one, and runs in its place"
        if match.entry.rule.startswith(STREAMS) and not passed and self._only_helps_tests(module):
            return "a library has it for tests, and nothing in it comes here"
        if match.entry.rule.startswith(STREAMS) and not passed and self._is_only_applied(module, index, runs):
            return "the runs that come to its file apply weights which they load, and none comes here"
        # A strict library is judged as if somebody ran, and trained, all of it.
        strict = self._settings.library == "strict"
        if not strict and (missing := self._unimportable.before(module, index)):
            return f"whoever imports its file gets no further than `{missing}`, which isn't there"
        if match.entry.pass_ == "backward" and not strict and not any(outcome.trains for outcome in through):
            if self._untrained.holds(module):
                return "nothing trains in the project that it belongs to"
            if self._untrained.refuses(module):
                return "the file's networks refuse to be trained"
        if runs.leaves and not strict and self._only_counts_in_training(module, index, match, runs, through):
            return "the runs that come to its file only evaluate, whatever they build that would train"
        if not strict and self._is_only_applied_anywhere(module, match, runs):
            return "all scripts that lead to its file only apply weights which they load"
        if not runs.train and self._is_left_open(module, index, match, through):
            return "it stands in a library, and no run that trains imports it: the caller decides"
        if not strict and (reason := self._own_calls.rule_out(module, index, match)):
            return f"as the program itself calls it, {reason}; others decide by how they do"
        if not strict and self._raising.holds(module, index, match.entry.targets):
            return "nothing comes of it, as something around it surely raises: a framework lacks what is named there"
        if not strict and self._uncallable.holds(module, index):
            return "it is part of a layer that can't be called: its framework knows no forward pass of that name"
        tried = not strict and all(outcome.only_tries for outcome in through)
        if tried and self._unnamed.is_idle(module, index):
            return "nothing that the program runs names what it stands in"
        if not strict and is_class(match.name) and self._is_part_of_nothing(module, index):
            return "it is a part of a layer that only methods use which nothing calls"
        if not strict and self._unapplied.holds(module, index):
            return "it stands in a layer of which nothing calls any object"
        return ""

    def _is_for_nothing(self, module: Module, index: int) -> bool:
        """Whether nothing uses the part of a layer that a site makes, nor what that is put into."""
        unused = self.silence.unused.is_made_for_nothing(module, index, "", generator=False)
        return unused or self._leftover.holds(module, index)

    def _training_ones(self, through: list[Outcome]) -> list[Outcome]:
        """Those of some runs that may come to a backward pass, if any ends with an error: not those that only evaluate."""
        if not any(outcome.stops for outcome in through):
            return through
        return [
            outcome
            for outcome in through
            if outcome.stops or outcome.trains or not outcome.infers or self._untrained.speaks(outcome.entry)
        ]

    def _only_counts_in_training(
        self, module: Module, index: int, match: Match, runs: Runs, through: list[Outcome]
    ) -> bool:
        """Whether a site only matters while something trains, and nothing does, though the runs that come to its file build what would."""
        backward = match.entry.pass_ == "backward" or follows_mode(match)
        if not (backward or self._is_in_cell(module, index)) or runs.train or any(o.trains for o in through):
            return False
        return self._untrained.is_left(module)

    def _is_only_applied_anywhere(self, module: Module, match: Match, runs: Runs) -> bool:
        """Whether a site only matters in a backward pass, and whoever comes to its file only applies weights that are loaded."""
        outcomes = [passage.outcome for passage in runs.passages]
        if match.entry.pass_ != "backward" or runs.train or not all(outcome.applies for outcome in outcomes):
            return False
        scripts = frozenset(outcome.entry for outcome in outcomes)
        return bool(scripts) and self._unnamed.is_led_to_by(module, scripts)

    def _is_in_cell(self, module: Module, index: int) -> bool:
        """Whether a site stands in a layer that trains when it is called, derived from a framework's."""
        owner = module.function_of(module.sites[index]).owner
        bases = self._resolver.bases(f"{module.path}::{owner}") if owner else ()
        return any(TRAINING_CELL in self._resolver.contexts(base) for base in bases)

    def _is_part_of_nothing(self, module: Module, index: int) -> bool:
        """Whether a site makes a part of a layer that only what nothing runs uses."""
        owner = f"{module.path}::{module.function_of(module.sites[index]).owner}"
        runs = self._unnamed.running(owner)
        return self.silence.unused.is_made_for_nothing(module, index, "", generator=False, counts=runs)

    def _is_only_applied(self, module: Module, index: int, runs: Runs) -> bool:
        """Whether a site stands in a layer, and all runs that come to its file load weights and train none."""
        outcomes = [passage.outcome for passage in runs.passages]
        owner = module.function_of(module.sites[index]).owner
        if self._settings.library == "strict" or runs.train or not outcomes or not owner:
            return False
        if self._resolver.layer(f"{module.path}::{owner}") is None:
            return False
        return all(outcome.loads and not outcome.trains for outcome in outcomes)

    def _only_helps_tests(self, module: Module) -> bool:
        """Whether a file has no tests, but what a library's tests use, and those of others."""
        if self._settings.library == "strict" or not is_test(module.path, self._root):
            return False
        if holds_tests(module) or not self._unnamed.is_in_library(module):
            return False
        importers = self._users.importers(module.path)
        self._users.asked.update((ANYWHERE, os.path.basename(module.path).partition(".")[0]))
        self._resolver.opened.update(importers)
        return all(is_test(path, self._root) for path in importers)

    def _on_the_way(self, match: Match, severity: Severity, seeded: bool | None, through: list[Outcome]) -> Judgement:
        """The severity where it depends on what the runs that pass here have done, or on there being none; no reason
        where it doesn't."""
        code, caller = match.entry.rule, not through and self._settings.library == "caller"
        if code == "DET110" and caller and not match.sure:
            return "note", "no entry point comes here, so the caller decides what the seed is"
        if code == "DET606" and caller:
            return "note", "no entry point comes here, so the caller decides"
        if code == "DET107" and match.entry.draws and (seeded or caller):
            # a global stream stands in, and it is seeded, or the caller may do so
            return "note", "a global stream stands in, and " + ("it is seeded" if seeded else "the caller may seed it")
        if code == "DET401" and through and all(r.held.get(SWITCH) == "warn" for r in through):
            return at_most(severity, "warning"), "under `warn_only` it warns instead of raising"
        return severity, ""

    def _is_left_open(self, module: Module, index: int, match: Match, through: list[Outcome]) -> bool:
        """Whether those who use a library decide about an operator: by a switch of their run, where a condition is open, by
        what they call it with, or by whether a gradient comes back to what they hand a network."""
        code, backward = match.entry.rule, match.entry.pass_ == "backward"
        if (
            self._settings.library == "strict"
            or self._settings.profile != "reproduce"
            or not code.startswith(OPERATORS)
        ):
            return False
        if any(outcome.trains or not backward for outcome in through):
            return False
        if not self._unnamed.is_in_library(module):
            return False
        if code in SWITCHED or not match.sure:
            return True
        return backward and not is_class(match.name) and self._own_origins.need_no_gradients(module, index, match)

    def _of_a_set(self, module: Module, index: int, match: Match, severity: Severity) -> Judgement:
        """The severity where a set gets an order: a note where its elements may be numbers, or the order may not matter."""
        if isinstance(match.arguments["elements"].value, Either):
            return "note", "the elements look like numbers, whose order is always the same"
        done = self.silence.order_of(module, index)
        if done < listings.CUT:
            return "note", "it is kept in that order, which may not matter to whoever uses it"
        if done == listings.CUT and not match.sure:
            return "note", "neither what is in the set is known, nor that its order matters"
        return severity, ""


def _stop(runs: Runs, through: list[Outcome]) -> str:
    """Where all runs end that come to a site, or to its file if none does; "" where one goes on. Those don't count that only try
    something out."""
    counting = [outcome for outcome in through if not outcome.only_tries]
    if not counting:
        return runs.stop
    return counting[0].stops if all(outcome.stops for outcome in counting) else ""
