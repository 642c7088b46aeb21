"""Why what the catalog knows is no finding where it stands: nothing draws there, nothing comes there, the order never matters."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from detlint.catalog import HARDWARE, OPEN_SEED, TRANSFORM, UNORDERED, Entry
from detlint.checks import seeds
from detlint.checks.finding import Step
from detlint.checks.keras_mode import KerasMode
from detlint.db import Memo
from detlint.domains.device.hardware import target_of
from detlint.domains.draws import makes_generator
from detlint.domains.entropy import Picked
from detlint.domains.known import Domains
from detlint.domains.matching.record import Match
from detlint.domains.matching.scope import implied_by_imports
from detlint.domains.order import order, queues
from detlint.domains.order.rows import ROWS, are_sorted
from detlint.effects.loaded import Loaded
from detlint.model.module import Module
from detlint.model.places import call_at
from detlint.model.runs.outcome import Outcome, Passage, Runs
from detlint.model.runs.reach import is_mode, is_object
from detlint.model.sites.records import SHAPES, Ref, Site, Span, branches, sites

SWITCH: Final = "deterministic-algorithms"
# Silent once the deterministic switch of their framework is on (DESIGN section 5, Rulings).
SWITCHED: Final = frozenset({"DET402", "DET406"})
ON_DEVICE: Final = frozenset({"DET501", "DET502"})
STREAMS: Final = "DET10"
"""The rules of draws that nothing seeds begin with it."""
HASHES: Final = "DET115"
"""Silent in a run that starts the interpreter anew with a hash seed."""


class Silence:
    """Says why a match with a rule is no finding, before its severity is asked for.

    Args:
        domains: what is known of the program.
    """

    def __init__(self, domains: Domains) -> None:
        matcher, users = domains.matcher, domains.users
        self._matcher, self._settings = matcher, domains.settings
        self._resolver, self._catalog = matcher.resolver, matcher.catalog
        self._users = users
        self._unnamed, self._untrained, self._unused = domains.unnamed, domains.untrained, domains.unused
        self._documented, self._hardware, self._placed = domains.documented, domains.hardware, domains.placed
        self._fixed_data = domains.fixed_data
        self.keras_mode = KerasMode(matcher, users)
        self._loaded = Loaded(matcher, users)
        self._reseeding = self._catalog.words_with("reseeds")
        self._by_imports: Memo[frozenset[str]] = Memo(users.db)
        """By script."""
        self._picked = Picked(self._resolver, users.meanings, domains.callers, self._entries)
        self._asked = order.Asked(
            self._resolver, users.meanings, domains.callers, self._unused.is_unsaid, self._perhaps, self._draws_in_turn
        )

    def why(self, module: Module, index: int, match: Match, runs: Runs) -> str:
        """Why a match is no finding; "" where it may be one."""
        return (
            self._by_itself(module, index, match, runs)
            or self._hashed_alike(module, match, runs.passages)
            or self._only_inferred(module, index, match, runs)
            or self._on_host(module, index, match)
        )

    def is_unused(self, module: Module, index: int) -> bool:
        """Whether nothing is done with the object, or the data set, that a script makes, but to show it."""
        return not self._users.is_imported(module) and self._matcher.sinks.is_unused_at_top(module, index)

    def _is_seeded_part(self, module: Module, index: int) -> bool:
        """Whether an object is only handed to what gives it a seed: `AdaBoostRegressor(tree, random_state=7)`."""
        using = [
            number
            for number, site in enumerate(module.sites)
            if any(seeds.has(value, index) for value in (site.target, *(argument.value for argument in site.args)))
        ]
        return bool(using) and all(
            any("seeds-parts" in match.entry.contexts and match.sure for match in self._matcher.matches(module, number))
            for number in using
        )

    def _on_host(self, module: Module, index: int, match: Match) -> str:
        """Asked last: it may lead through the whole program."""
        elsewhere = match.entry.targets and "cpu" not in match.entry.targets
        return "it is handed tensors on the CPU" if elsewhere and self._placed.is_on_host(module, index) else ""

    def _by_itself(self, module: Module, index: int, match: Match, runs: Runs) -> str:
        """Why a match is no finding, by where it stands, what becomes of it, and what the runs that pass it have done."""
        passed = [passage for passage in runs.passages if index in passage.sites]
        through = [passage.outcome for passage in passed]
        return (
            self._by_passages(module, index, match, passed)
            or self._by_seed(module, index, match)
            or self._by_result(module, index, match, through)
            or self._by_hardware(module, match, through)
            or self._by_order(module, index, match)
            or self._by_later(module, index, match, passed, runs)
        )

    def _by_passages(self, module: Module, index: int, match: Match, passed: list[Passage]) -> str:
        """By where it stands, and what the runs have set that come there."""
        code, entry, through = match.entry.rule, match.entry, [passage.outcome for passage in passed]
        if code == "DET606" and passed and all(index in passage.silent for passage in passed):
            return "every run that comes here switches it on again before anything computes"
        if code == "DET110" and through and any(m.entry.seeds for m in self._matcher.matches(module, index)):
            return "the seed flow of the runs that pass here says it"
        if entry.block and not self._draws_under(module, index):
            return "it heads no block in which something is drawn or a layer is built"
        if reason := self._out_of_place(entry, module, index, through):
            return reason
        if self.keras_mode.holds(match, passed):
            return "no run that comes here tells its layers to train"
        if entry.unless_under and self._matcher.is_under(module, module.sites[index], entry.unless_under):
            return "the block around it chooses a kernel whose order is fixed"
        if entry.unless_set and through and all(run.held.get(entry.unless_set) for run in through):
            return "every run that passes here has chosen a kernel whose order is fixed"
        return ""

    def _by_seed(self, module: Module, index: int, match: Match) -> str:
        """By what it is handed to, or what goes through it: that seeds it, or draws nothing."""
        if "draws-ahead" in match.entry.contexts and self._fixed_data.holds(module, index, match.name):
            return "nothing draws in the data that it goes through"
        if match.entry.rule != OPEN_SEED:
            return ""
        if seeds.set_later(module, index, match.entry.when, self._reseeding):
            return "the file gives it a seed later"
        return "all that it is handed to give it a seed" if self._is_seeded_part(module, index) else ""

    def _by_result(self, module: Module, index: int, match: Match, through: list[Outcome]) -> str:
        """By what becomes of what it gives."""
        code, sinks = match.entry.rule, self._matcher.sinks
        of_stream = code.startswith(STREAMS)
        if "only-gives" in match.entry.contexts and sinks.is_dropped(module, index):
            return "what it gives is dropped"
        if (of_stream or code in ON_DEVICE) and is_tried(module, index):
            return "it only tries something out: tests come there, or no more than shapes are shown"
        if of_stream and sinks.tells_apart(module, index):
            return "it only tells runs or files apart"
        if code.startswith((STREAMS, TRANSFORM)) and sinks.is_only_shown(module, index):
            return "what it gives is only shown"
        if code == OPEN_SEED and self.is_unused(module, index):
            return "nothing is done with the object that it makes, but to show it"
        runs_load = bool(through) and all(outcome.loads and not outcome.trains for outcome in through)
        if of_stream and self._loaded.overwritten(module, index, runs_load):
            return "it makes weights, and all who build their layer load others"
        if code in ON_DEVICE and self._matcher.only_shown(module, index):
            return "it is an example for a tracer, or a function is tried out with it"
        return ""

    def _by_hardware(self, module: Module, match: Match, through: list[Outcome]) -> str:
        """By the hardware that the runs choose which come there."""
        if self._matcher.is_for_runs(module, match.entry) and not any(
            run.trains and target_of(run.held.get(HARDWARE)) == "cpu" for run in through
        ):
            return "it holds on the CPU, which no run that comes here and trains is seen to choose"
        chosen = self._elsewhere(match.entry, module, through)
        return f"every run that comes here chooses {chosen}" if chosen else ""

    def _by_order(self, module: Module, index: int, match: Match) -> str:
        """By what the order, or the value, of what it gives decides."""
        by_order = module.sites[index].kind == "order" or match.entry.rule in UNORDERED
        if by_order and os.path.basename(module.path) == "setup.py":
            return "a build script: what it lists is compiled or packed"
        if "picks" in match.entry.contexts and not self._picked.holds(module, index):
            return "its value picks nothing here"
        if ROWS in match.entry.contexts and are_sorted(module, index):
            return "the rows are sorted at once, by all columns that tell one from another"
        if by_order and not self.order_of(module, index):
            return "the order of what it gives never matters, or is put right"
        return ""

    def _by_later(self, module: Module, index: int, match: Match, passed: list[Passage], runs: Runs) -> str:
        """By what is done later: a seed, a switch, a new start, or nothing."""
        code, through = match.entry.rule, [passage.outcome for passage in passed]
        if code == "DET103" and (
            seeds.seeded_later(module, index, self._matcher.sinks.kept_as(module, index), self._reseeding)
            or (passed and all(index in p.seeded for p in passed))
        ):
            return "the generator gets a seed, here or later"
        if code == "DET114" and self._restarts(module):
            return "the file starts the interpreter anew, which then reads it"
        if self._switched(match, through or [passage.outcome for passage in runs.passages]):
            return "every run that passes here has switched the deterministic path on"
        if "between-devices" in match.entry.contexts and through and not any(r.communicates for r in through):
            return "no run that passes here starts to communicate with other devices"
        layer = match.name if any(run.trains for run in through) else ""
        if match.builds and self._unused.is_made_for_nothing(module, index, layer, generator=code == "DET103"):
            return "nothing uses what it makes"
        return ""

    def _only_inferred(self, module: Module, index: int, match: Match, runs: Runs) -> str:
        """Why no gradients are taken at a match, by the runs that pass it; "" where they may be.

        All of them only infer: they say so, or they start in its file, of which nobody has the definition that it stands in, and apply
        weights that they load. In a library, one that trains may come there out of sight: networks are made by their names.
        """
        through = [passage.outcome for passage in runs.passages if index in passage.sites]
        if match.entry.pass_ != "backward" or not through or any(run.trains for run in through):
            return ""
        if not all(run.infers for run in through):
            own = all(run.applies and run.entry == module.path for run in through)
            name = module.function_of(module.sites[index]).name.partition(".")[0]
            if not own or self._users.may_be_imported(module, name):
                return ""
        elif runs.train and self._unnamed.is_in_library(module):
            return ""
        return "it is about the backward pass, and every run that passes here only infers"

    def _hashed_alike(self, module: Module, match: Match, passages: Sequence[Passage]) -> str:
        """Why an order of hashes is always the same; "" where it isn't."""
        if match.entry.rule != HASHES:
            return ""
        if self._restarts(module) or (passages and all(p.outcome.restarts for p in passages)):
            return "the run starts the interpreter anew with a hash seed"
        launched = passages and all(self._documented.sets_hash_seed(p.outcome.entry) for p in passages)
        return "all that starts it sets the hash seed" if launched else ""

    def _elsewhere(self, entry: Entry, module: Module, through: list[Outcome]) -> str:
        """The hardware that all runs choose, or all scripts that import a file, where it is none that the entry is about."""
        if self._settings.targets or not entry.targets:
            return ""
        # A backward pass is for runs that train; what only shows shapes is tried out on whatever is at hand.
        runs = [outcome for outcome in through if not outcome.only_tries]
        telling = self._training(runs) if entry.pass_ == "backward" else runs
        # Where none of these comes, the scripts tell that would, had nothing stopped them before.
        chosen = self._chosen(telling) or self._hardware.everywhere(module) or self._chosen(runs or through)
        if "" in chosen or not chosen.isdisjoint(entry.targets):
            return ""
        return " or ".join(sorted(chosen))

    def _chosen(self, runs: Sequence[Outcome]) -> frozenset[str]:
        """The hardware that some runs have chosen, or that their scripts settle by what they import; "" for one that leaves it open."""
        found = set[str]()
        for outcome in runs:
            said, script = target_of(outcome.held.get(HARDWARE)), outcome.entry
            implied = (
                self._by_imports.of(script, partial(self._targets_by_imports, script), frozenset()) if not said else ()
            )
            found |= {*implied} or {said}
        return frozenset(found)

    def _targets_by_imports(self, script: str) -> frozenset[str]:
        module = self._resolver.module(script)
        code = self._resolver.code(script)
        return implied_by_imports(module, self._catalog, code) if module is not None else frozenset()

    def _training(self, through: list[Outcome]) -> list[Outcome]:
        """The runs that train; if none is seen to, those that start in files which speak of training, by means out of sight."""
        runs = [outcome for outcome in through if outcome.trains]
        if runs or not through:
            return runs
        return [outcome for outcome in through if self._untrained.may_train(outcome.entry)]

    def _out_of_place(self, entry: Entry, module: Module, index: int, through: list[Outcome]) -> str:
        """Why an entry that counts only in some places doesn't count where it stands; "" where it does."""
        site = module.sites[index]
        if entry.inside and self._inside(module, site, entry.inside):
            return ""
        if entry.while_training and not any(outcome.trains for outcome in through):
            return "no run that trains comes here"
        if "in-evaluation-mode" in entry.contexts and self._untrained.is_left(module):
            return "it comes in evaluation mode, and nothing of the project is told to train"
        if entry.inside and not entry.while_training:
            return f"it stands in no class that is a {' or '.join(entry.inside)}"
        if entry.outermost and any(
            other.target == site.target and _holds(other.span, site.span) for other in module.sites
        ):
            return "it stands inside another, which speaks for it"
        if entry.becomes and not any(
            role.startswith(tuple(entry.becomes)) for role in self._matcher.sinks.becomes(module, index)
        ):
            return "what becomes of its result is none of what matters"
        return ""

    def _draws_under(self, module: Module, index: int) -> bool:
        """Whether a call heads a `with` block in which something is drawn or a layer is built."""
        for number, site in enumerate(module.sites):
            if index in site.within:
                target = self._matcher.target(module, number)
                if isinstance(target, Ref) and self._resolver.kinds.layer(target.name) is not None:
                    return True
                if any(match.entry.draws for match in self._matcher.matches(module, number)):
                    return True
        return False

    def _inside(self, module: Module, site: Site, kinds: Sequence[str]) -> bool:
        """Whether a site stands in a method of a class that is one of some kinds."""
        inside = module.function_of(site).owner
        if not inside:
            return False
        owner = f"{module.path}::{inside}"
        is_layer = "layer" in kinds and self._resolver.kinds.layer(owner) is not None
        return is_layer or ("dataset" in kinds and self._resolver.kinds.is_dataset(owner))

    def order_of(self, module: Module, index: int) -> int:
        """What the order of what a site gives does."""
        return order.matters(self._asked, module, index)

    def fillers(self, module: Module, index: int) -> Iterator[Step]:
        """Who puts into the queue that a site takes from, and what starts them."""
        found = call_at(self._resolver, self._users.meanings, module, module.sites[index])
        filled = queues.filled(self._asked, module, *found[1]) if found is not None else None
        if filled is not None:
            put, start = filled.put, filled.start
            yield Step(put.meaning.path, Span(*put.function.spans[put.at]), "the tasks put into it here")
            yield Step(start.meaning.path, Span(*start.function.spans[start.at]), "they are started here")

    def _entries(self, module: Module, index: int) -> list[Entry]:
        return [match.entry for match in self._matcher.matches(module, index)]

    def _perhaps(self, module: Module, index: int) -> list[Entry]:
        """With what it may be, for all that is known of its values: `table.get(key)` of something may take from a queue."""
        return [*self._entries(module, index), *(match.entry for match in self._matcher.unknown(module, index))]

    def _draws_at(self, module: Module, index: int) -> bool:
        """Whether a site draws where it stands."""
        return any(
            match.entry.draws
            and not match.entry.rule.startswith("DET1")
            and not is_object(match, self._resolver.kinds.layer(match.name) is not None)
            for match in self._matcher.matches(module, index)
        )

    def _draws_in_turn(self, module: Module, index: int) -> bool:
        """The same, also of a generator that has numbers of its own, one after the other."""
        if self._draws_at(module, index):
            return True
        found = call_at(self._resolver, self._users.meanings, module, module.sites[index])
        if found is None:
            return False
        meaning, (function, at) = found
        owner = function.called_on(at)
        return owner >= 0 and makes_generator(meaning.value(function, owner), self._catalog)

    def _restarts(self, module: Module) -> bool:
        """Whether a file runs the interpreter anew, so that the environment that it writes is read after all."""
        return any(
            "restarts" in m.entry.contexts for i in range(len(module.sites)) for m in self._matcher.matches(module, i)
        )

    def _switched(self, match: Match, through: list[Outcome]) -> bool:
        """Whether every run that passes here has switched the deterministic path on."""
        known = self._catalog.switches.get(match.name.partition(".")[0])
        switch = None
        if match.entry.rule in SWITCHED:
            switch = known.name if known is not None else SWITCH
        if match.entry.rule == "DET303" and match.name.startswith("tensorflow."):
            switch = "tensorflow-determinism"  # it makes every tf.data operation keep its order
        answered = match.entry.category in ("b", "") or match.entry.rule == "DET406"
        if switch is None or not through or not answered:
            return False
        held = [outcome.held.get(switch) for outcome in through]
        return all(value and not (match.entry.strict and value == "warn") for value in held)


def is_tried(module: Module, index: int) -> bool:
    """Whether a site stands in a `__main__` block, or a function, that only shows shapes, or where only tests come."""
    blocks = branches(module.steps(module.function_of(module.sites[index])))
    tried = (
        block for block in blocks if block.kind in ("trial", "tests") or (block.kind == "main" and block.test == SHAPES)
    )
    return any(index in sites(block.arms[0]) for block in tried)


def only_trains(module: Module, index: int) -> bool:
    """Whether a site is only come to while the layer around it trains: by an attribute, or a parameter, that says so."""
    blocks = branches(module.steps(module.function_of(module.sites[index])))
    return any(block.kind == "if" and is_mode(block.test) and index in sites(block.arms[0]) for block in blocks)


def _holds(outer: Span, inner: Span) -> bool:
    """Whether a place lies within another, larger one."""
    begins = (outer.line, outer.column) <= (inner.line, inner.column)
    ends = (inner.end_line, inner.end_column) <= (outer.end_line, outer.end_column)
    return begins and ends and outer != inner
