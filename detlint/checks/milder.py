"""Why a match is told as a note only: others decide, by how they use a library, or nothing of the program runs it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Final

from detlint.catalog import OPEN_SEED, SHUFFLED
from detlint.checks.silence import STREAMS, SWITCHED, Silence, only_trains
from detlint.domains.known import Domains
from detlint.domains.matching.match import OPERATORS
from detlint.domains.matching.record import Match
from detlint.model.kept_in_files import SPLITS, is_kept
from detlint.model.module import Module
from detlint.model.places import call_of
from detlint.model.runs.calls import TRAINING_CELL
from detlint.model.runs.outcome import Outcome, Runs
from detlint.model.runs.reach import follows_mode
from detlint.notebook import is_notebook

USED_LATER: Final = ("DET2", "DET301", "DET302", "DET303", "DET4")
"""The rules of what only counts once something is trained or evaluated: layers, operators, and the data that is gone through."""


class Milder:
    """Finds such reasons.

    Args:
        domains: what is known of the program.
        silence: knows what no use is made of.
    """

    def __init__(self, domains: Domains, silence: Silence) -> None:
        self._settings, self._resolver = domains.settings, domains.resolver
        self._silence, self._unnamed = silence, domains.unnamed
        self._untrained = domains.untrained
        self._own_calls, self._own_origins = domains.own_constants, domains.own_origins
        self._calls_by_settings = domains.configured_constants
        self._root = domains.project.root

    def reason(self, module: Module, index: int, match: Match, runs: Runs, through: list[Outcome]) -> str:
        """Why what would be told of a site is only a note; "" where it is more.

        Args:
            through: what came of the runs that pass there.
        """
        if reason := self._by_runs(module, index, match, runs, through):
            return reason
        # A strict library is judged as if somebody ran, and trained, all of it.
        if self._settings.library == "strict":
            return ""
        return self._by_training(module, index, match, runs, through) or self._by_uses(module, index, match, through)

    def _by_runs(self, module: Module, index: int, match: Match, runs: Runs, through: list[Outcome]) -> str:
        """The runs that come to a site, or its file, end before or make nothing of it."""
        passed = bool(through)
        stops = self._stop_of_training(runs, through) if match.entry.pass_ == "backward" else _stop(runs, through)
        used = match.entry.rule.startswith(USED_LATER) or match.entry.pass_ == "backward" or follows_mode(match)
        if stops and (used or not passed) and not self._unnamed.is_in_library(module):
            where = stops.replace(os.path.join(self._root, ""), "")
            return f"every run that would use it ends with an error, before it trains or evaluates anything: at {where}"
        talking = [outcome for outcome in through if outcome.communicates]
        if "between-devices" in match.entry.contexts and talking and all(outcome.alone for outcome in talking):
            return "nothing in the project starts a run that comes here on several devices"
        if match.entry.rule.startswith(STREAMS) and not passed and self._is_only_applied(module, index, runs):
            return "the runs that come to its file apply weights which they load, and none comes here"
        return ""

    def _by_training(self, module: Module, index: int, match: Match, runs: Runs, through: list[Outcome]) -> str:
        """Nobody imports its file and trains, or whoever does that decides."""
        untrained = match.entry.pass_ == "backward" and not any(outcome.trains for outcome in through)
        if untrained and self._untrained.holds(module):
            return "nothing trains in the project, or the notebook, that it belongs to"
        if runs.leaves and self._only_counts_in_training(module, index, match, runs, through):
            return "the runs that come to its file only evaluate, whatever they build that would train"
        if self._is_only_applied_anywhere(module, match, runs):
            return "all scripts that lead to its file only apply weights which they load"
        if self._takes_no_gradients_anywhere(module, match, runs):
            return "all scripts that lead to its file take no gradients, and nothing in their files does"
        if not runs.train and self._is_left_open(module, index, match, through):
            return "it stands in a library, and no run that trains imports it: the caller decides"
        return ""

    def _by_uses(self, module: Module, index: int, match: Match, through: list[Outcome]) -> str:
        """Nothing of the program calls or uses what it stands in, or not so that it counts."""
        if match.entry.rule == SHUFFLED and self._silence.is_unused(module, index):
            return "nothing goes through what it gives: no more of the script, or no cell of the notebook, but who keeps that open may"
        point = call_of(self._resolver, module, module.sites[index]) if SPLITS in match.entry.contexts else None
        if point is not None and is_kept(*point, self._resolver.catalog):
            return "it is only done where a file is missing, into which it is written: later runs read that"
        # Which seeds a library leaves open is told to those who call it as they like.
        offered = not through and match.entry.rule == OPEN_SEED and self._unnamed.is_in_library(module)
        if not offered and (reason := self._ruled_out(module, index, match)):
            return reason
        if all(outcome.only_tries for outcome in through) and self._unnamed.is_dead(module, index):
            return "nothing that the program runs names what it stands in"
        own = module.sites[index].function == 0 and all(outcome.entry == module.path for outcome in through)
        if own and self._unnamed.leaves_out(module):
            return "nothing of the program imports its file, or starts in it"
        return ""

    def _ruled_out(self, module: Module, index: int, match: Match) -> str:
        """What keeps the flow from a site, or its condition from holding, as the program calls it or its settings have it."""
        if reason := self._own_calls.rule_out(module, index, match):
            return f"as the program itself calls it, {reason}; others decide by how they do"
        if reason := self._calls_by_settings.rule_out(module, index, match):
            return f"as all files of settings of the project have it, {reason}; others decide by theirs"
        return ""

    def _stop_of_training(self, runs: Runs, through: list[Outcome]) -> str:
        """Where all runs end that may come to a backward pass, of those that come to a site, or to its file if none does; "" where one
        goes on. Those that only evaluate, or apply weights that they load, come to none."""
        if not runs.broken and not any(outcome.stops for outcome in through):
            return _stop(runs, through)
        training = [outcome for outcome in through if not self._comes_to_none(outcome)]
        left = len(training) < len(through) and all(outcome.only_tries for outcome in training)
        return runs.broken if left else _stop(runs, training)

    def _comes_to_none(self, outcome: Outcome) -> bool:
        """Whether a run goes on and comes to no backward pass."""
        if outcome.stops or outcome.trains or not (outcome.infers or outcome.applies):
            return False
        return not self._untrained.may_train(outcome.entry)

    def _only_counts_in_training(
        self, module: Module, index: int, match: Match, runs: Runs, through: list[Outcome]
    ) -> bool:
        """Whether a site only matters while something trains, and nothing does, though the runs that come to its file build what would."""
        training = match.entry.pass_ == "backward" or follows_mode(match)
        # A network of which no weights are loaded is none that is applied.
        evaluates = all(outcome.infers or not outcome.loads for outcome in through)
        training = training or (evaluates and only_trains(module, index))
        if not (training or self._is_in_cell(module, index)) or runs.train or any(o.trains for o in through):
            return False
        return self._untrained.is_left(module)

    def _is_only_applied_anywhere(self, module: Module, match: Match, runs: Runs) -> bool:
        """Whether a site only matters in a backward pass, and whoever comes to its file only applies weights that are loaded."""
        return self._only_led_to_by(module, match, runs, [p.outcome for p in runs.passages if not p.outcome.applies])

    def _takes_no_gradients_anywhere(self, module: Module, match: Match, runs: Runs) -> bool:
        """Whether a site only matters in a backward pass, and whoever comes to its file takes none, nor speaks of any: what prepares data.

        In notebooks people try things out, and whoever installs a library trains elsewhere.
        """
        others = [p.outcome for p in runs.passages if p.outcome.differentiates or is_notebook(p.outcome.entry)]
        return self._only_led_to_by(module, match, runs, others) and not self._unnamed.is_in_library(module)

    def _only_led_to_by(self, module: Module, match: Match, runs: Runs, others: Sequence[Outcome]) -> bool:
        """Whether a site only matters in a backward pass, and nobody comes to its file but runs of which none does something else.

        Args:
            others: those that do.
        """
        if match.entry.pass_ != "backward" or runs.train or others:
            return False
        scripts = frozenset(passage.outcome.entry for passage in runs.passages)
        return bool(scripts) and self._unnamed.is_led_to_by(module, scripts)

    def _is_in_cell(self, module: Module, index: int) -> bool:
        """Whether a site stands in a layer that trains when it is called, derived from a framework's."""
        owner = module.function_of(module.sites[index]).owner
        bases = self._resolver.classes.bases(f"{module.path}::{owner}") if owner else ()
        return any(TRAINING_CELL in self._resolver.contexts(base) for base in bases)

    def _is_only_applied(self, module: Module, index: int, runs: Runs) -> bool:
        """Whether a site stands in a layer, and all runs that come to its file load weights and train none."""
        outcomes = [passage.outcome for passage in runs.passages]
        owner = module.function_of(module.sites[index]).owner
        if self._settings.library == "strict" or runs.train or not outcomes or not owner:
            return False
        if self._resolver.kinds.layer(f"{module.path}::{owner}") is None:
            return False
        return all(outcome.loads and not outcome.trains for outcome in outcomes)

    def _is_left_open(self, module: Module, index: int, match: Match, through: list[Outcome]) -> bool:
        """Whether those who use a library decide about an operator: by a switch of their run, where a condition is open, by
        what they call it with, or by whether a gradient comes back to what they hand a network."""
        code, backward = match.entry.rule, match.entry.pass_ == "backward"
        if self._settings.profile != "reproduce" or not code.startswith(OPERATORS):
            return False
        if any(outcome.trains or not backward for outcome in through):
            return False
        if not self._unnamed.is_in_library(module):
            return False
        if code in SWITCHED or not match.sure:
            return True
        return backward and not match.builds and self._own_origins.need_no_gradients(module, index, match)


def _stop(runs: Runs, through: list[Outcome]) -> str:
    """Where all runs end that come to a site, or to its file if none does; "" where one goes on. Those don't count that only try
    something out."""
    counting = [outcome for outcome in through if not outcome.only_tries]
    if not counting:
        return runs.stop
    return counting[0].stops if all(outcome.stops for outcome in counting) else ""
