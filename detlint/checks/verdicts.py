"""Whether a match with a rule is a finding, how severe it is, and why: step by step, for whoever asks (`detlint explain`)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from msgspec import structs

from detlint.checks.finding import Certainty, Finding
from detlint.checks.kernels import KernelRules
from detlint.checks.levels import ALIGN, Case, Level, level
from detlint.checks.milder import Milder
from detlint.checks.silence import SWITCH, Silence
from detlint.db import Memo
from detlint.domains.device.placed import asked
from detlint.domains.device.where import ACCELERATOR, OPEN
from detlint.domains.known import Domains
from detlint.domains.matching.record import Match
from detlint.domains.numeric.distinct import differ
from detlint.domains.order import order, queues
from detlint.ir.launch_texts import is_settings
from detlint.model.launches.launch_facts import OF_LAUNCHES
from detlint.model.module import Module
from detlint.model.places import call_of
from detlint.model.runs.outcome import Outcome, Passage, Runs
from detlint.model.runs.reach import follows_mode
from detlint.model.sites.records import Either, Member
from detlint.model.tests import is_test, stands_in_test


class Verdicts:
    """Judges matches at the sites of modules.

    Args:
        domains: what is known of the program.
    """

    def __init__(self, domains: Domains) -> None:
        self._matcher, self._settings = domains.matcher, domains.settings
        self._resolver, self._catalog, self._users = domains.resolver, domains.catalog, domains.users
        self._backward, self._constants, self._exact = domains.backward, domains.constants, domains.exact
        self._frozen, self._device_tests = domains.frozen, domains.device_tests
        self._unused, self._placed = domains.unused, domains.placed
        self.silence = Silence(domains)
        self.kernels = KernelRules(self._matcher, self._users)
        self._exactly: Memo[bool] = Memo(self._users.db)
        self._milder = Milder(domains, self.silence)

    def matches(self, module: Module, index: int) -> Iterator[Match]:
        """What a site is, by itself and by what those who call the function around it hand to it."""
        known = [*self._matcher.matches(module, index), *self._constants.handed_on(module, index)]
        yield from known
        told = {match.entry.rule for match in known}
        yield from (match for match in self._matcher.unknown(module, index) if match.entry.rule not in told)

    def of(self, module: Module, index: int, match: Match, runs: Runs) -> Iterator[tuple[Level | None, str]]:
        """How a match with a rule is judged, step by step: its level, None where it is no finding, and why."""
        if module.sites[index].kind in OF_LAUNCHES and is_settings(module.path):
            if "for-this-process" in match.entry.contexts:
                yield None, "it is set before the process starts"
            else:
                found = level(self._case(module, index, match, []))
                yield found, found.row
            return
        passed = [passage for passage in runs.passages if index in passage.sites]
        if not passed and match not in self._matcher.matches(module, index):
            passed = [*runs.passages]  # what a caller makes of a site no run notes there
        through = [passage.outcome for passage in passed]
        silent = self.silence.why(module, index, match, runs) or self._backward.why(match, module, index)
        if silent:
            yield None, silent
            return
        rule = self._catalog.rules[match.entry.rule]
        case = self._lying(module, index, match, self._case(module, index, match, passed), runs)
        if case is None:
            yield None, "it stays on the CPU, or only the caller knows where that lies"
            return
        found = level(case)
        yield found, found.row
        if (found.severity != "note" or rule.level in ("align", "compare")) and (
            reason := self._ruled_out(module, index, match)
        ):
            yield None, reason
            return
        if found.severity == "note":
            return
        if reason := self._doubt(module, index, match, case, through):
            case = case._replace(certainty="possible")
        elif reason := self._milder.reason(module, index, match, runs, through):
            case = case._replace(unused=True)
        if reason:
            found = level(case)
            yield found, f"{reason}; {found.row}"

    def told(self, finding: Finding, module: Module, index: int, match: Match) -> Finding:
        """A finding, with what else is told of it."""
        if queues.TAKEN in match.entry.contexts:
            return structs.replace(finding, steps=(*self.silence.fillers(module, index),))
        return self.kernels.told(finding, module, index, match)

    def _case(self, module: Module, index: int, match: Match, passed: list[Passage]) -> Case:
        """What decides the level of a match, as far as the site and the runs that pass it say."""
        drawn, through = self._drawn(module, index, match), [passage.outcome for passage in passed]
        # A layer that is random by design draws nothing where a run only infers; and for its tests nobody seeds what they try.
        tests = not is_test(module.path) and any(not is_test(o.entry) for o in through)
        drawing = [
            o
            for o in (passage.outcome for passage in passed if index not in passage.silent)
            if not (o.infers and not o.trains and follows_mode(match)) and not (tests and is_test(o.entry))
        ]
        seeded = all(outcome.unseeded.isdisjoint(drawn) for outcome in drawing) if through else None
        undecided = seeded and not match.sure and not all(outcome.open.isdisjoint(drawn) for outcome in drawing)
        if undecided and self._matcher.is_written_out(module, module.sites[index], match):
            seeded = False
        rule, align = self._catalog.rules[match.entry.rule], self._settings.profile == "align"
        own: Any = match.entry.level_or(rule.level)
        if rule.code == "DET401" and through and all(r.held.get(SWITCH) == "warn" for r in through):
            own = "warning"  # under `warn_only` it warns instead of raising
        if rule.code == "DET107" and match.entry.draws:
            stands_in = all(outcome.open.isdisjoint(drawn) for outcome in through) if seeded else False
            caller = not through and self._settings.library == "caller"
            # A global stream stands in: it is seeded, or whoever calls may do so, though what it asks for is a seed of its own.
            own = "note" if stands_in else "warning" if caller else own
        # What nothing is known of is told where back ends are compared: it is proof of its absence that is asked for.
        likely: Certainty = "likely" if match.known or align else "possible"
        certainty: Certainty = "certain" if match.sure else likely
        if match.sure and not self.kernels.is_sure(module, index, match):
            certainty = "likely"
        trained = any(outcome.trains for outcome in through)
        unused = self._backward.is_open(match, module, index, trained)
        return Case(
            own,
            rule.family,
            self._settings.profile,
            certainty,
            seeded is False,
            in_test=stands_in_test(module, self._catalog.testing),
            unused=unused,
        )

    def _lying(self, module: Module, index: int, match: Match, case: Case, runs: Runs) -> Case | None:
        """The case of what is about accelerators alone, by where it lies what the site makes; None where that is the CPU. What isn't known
        is the accelerator in a file that runs pass; elsewhere the caller decides, and it matters where back ends are compared."""
        where = self._placed.where(module, index, match) if asked(match.entry) else ACCELERATOR
        if where == ACCELERATOR:
            return case
        if where != OPEN:
            return None
        if any(passage.sites for passage in runs.passages):
            return case._replace(certainty="likely")
        return case._replace(certainty="possible") if case.profile == ALIGN else None

    def _drawn(self, module: Module, index: int, match: Match) -> set[str]:
        """The streams that a match draws from; of one that says none, those of all that is known of its site. So a layer's dropout isn't
        judged by the stream of its initial weights."""
        others = (stream for other in self._matcher.matches(module, index) for stream in other.entry.draws)
        drawn = {*match.entry.draws} or {*others}
        undecided = self._matcher.may_draw(module, index) if not (drawn or match.sure) else ()
        return drawn or {stream for other in undecided for stream in other.entry.draws}

    def is_harmless(self, module: Module, index: int, match: Match) -> bool:
        """Whether what is known of a layer never happens to the one that a site makes: it is about the gradient of its weights, and
        these are frozen, or nothing uses it. Or an operator that a site calls, or that it makes an object of, never varies, whichever run
        comes there."""
        if not match.builds:
            key = (module.path, index, match.name)
            return self._exactly.of(key, partial(self._is_exact, module, index, match), False)
        if self._is_frozen(module, index, match):
            return True
        if self._unused.is_made_for_nothing(module, index, match.name, generator=False):
            return True
        key = (module.path, index, match.name)
        return self._exactly.of(key, partial(self._exact.holds, module, index, match), False)

    def _is_exact(self, module: Module, index: int, match: Match) -> bool:
        return self._backward.never_varies(module, index, match) or self._exact.holds(module, index, match)

    def is_harmless_generator(self, module: Module, index: int) -> bool:
        """Whether nothing uses the generator of random numbers that a site makes."""
        return self._unused.is_made_for_nothing(module, index, "", generator=True)

    def _is_frozen(self, module: Module, index: int, match: Match) -> bool:
        of_weights = "weights-only" in match.entry.contexts and match.builds
        return of_weights and self._frozen.holds(module, index)

    def _ruled_out(self, module: Module, index: int, match: Match) -> str:
        """Why what would be told is no finding after all, by what is asked of the whole program; "" where it may be one."""
        if test := self._device_tests.excluded(module, index, match):
            return f"`{test}` keeps runs from it on the hardware that it is about"
        if reason := self._constants.rule_out(module, index, match) or self.kernels.ruled_out(module, index, match):
            return reason
        if self._exact.holds(module, index, match):
            return "it adds up whole numbers, or no more than two at a time, which give the same in any order"
        if match.entry.collides and self._differ(module, index):
            return f"none of the indices in `{match.entry.collides}` repeats where something is added"
        if self._is_frozen(module, index, match):
            return "it is about the gradient of its weights, and only networks have it whose weights are frozen"
        return ""

    def _differ(self, module: Module, index: int) -> bool:
        """Whether the indices of a call surely differ."""
        site = module.sites[index]
        point = call_of(self._resolver, module, site) if site.kind == "call" else None
        # `x.index_add_(0, index, y)`, `torch.index_add(x, 0, index, y)`
        position = 1 if isinstance(site.target, Member) else 2
        return point is not None and differ(point, position)

    def _doubt(self, module: Module, index: int, match: Match, case: Case, through: list[Outcome]) -> str:
        """Why a match is no more than possible; "" where it is more."""
        code, caller = match.entry.rule, not through and self._settings.library == "caller"
        if code == "DET110" and caller and case.certainty != "certain":
            return "no entry point comes here, so the caller decides what the seed is"
        if code == "DET606" and caller:
            return "no entry point comes here, so the caller decides"
        if module.sites[index].kind != "order":
            return ""
        if isinstance(match.arguments["elements"].value, Either):
            return "the elements look like numbers, whose order is always the same"
        done = self.silence.order_of(module, index)
        if done < order.CUT:
            return "it is kept in that order, which may not matter to whoever uses it"
        if done == order.CUT and not match.sure:
            return "neither what is in the set is known, nor that its order matters"
        return ""
