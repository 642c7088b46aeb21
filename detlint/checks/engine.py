"""Checks a program: entry points against the seed and switch flow, the sites of each module against the catalog."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from detlint.catalog import HARDWARE, OPEN_SEED, SHUFFLED, UNORDERED, Applicability, Catalog, Entry, Recipe, Rule
from detlint.checks import keys, library, listings, seeds, switches, workers
from detlint.checks.attributes import Attributes
from detlint.checks.constants import Constants
from detlint.checks.exact import Exact
from detlint.checks.finding import Finding, Severity, at_most
from detlint.checks.gradients import Gradients
from detlint.checks.hardware import Hardware
from detlint.checks.leftover import Leftover
from detlint.checks.levels import Judgement, Levels, is_class
from detlint.checks.loaded import Loaded
from detlint.checks.match import Hiding, Match, Matcher
from detlint.checks.origins import Origins
from detlint.checks.scope import target_of
from detlint.checks.templates import Templates
from detlint.checks.tests import holds_tests, is_test
from detlint.checks.unnamed import Unnamed
from detlint.checks.untrained import Untrained
from detlint.checks.unused import Unused
from detlint.config import Settings, selected, severity_of
from detlint.facts.model import IDLE, SHAPES, Branch, Either, Ref, Site, Span, Step
from detlint.program.calls import DESCRIBES
from detlint.program.entry import entry_points, script, sites
from detlint.program.links import Registered
from detlint.program.outcome import Outcome, Passage, Runs
from detlint.program.reach import Reach, flows, follows_mode
from detlint.program.resolve import Module, Resolver
from detlint.program.users import ANYWHERE, Use, Users

SWITCH: Final = "deterministic-algorithms"
# Silent once the deterministic switch of their framework is on (DESIGN section 5, Rulings).
SWITCHED: Final = frozenset({"DET402", "DET406"})
OPERATORS: Final = "DET4"
"""The rules of operators that don't always give the same numbers begin with it."""
ON_DEVICE: Final = frozenset({"DET501", "DET502"})
STREAMS: Final = "DET10"
"""The rules of draws that nothing seeds begin with it."""
HASHES: Final = "DET115"
"""Silent in a run that starts the interpreter anew with a hash seed."""


class Engine:
    """Checks modules of one program.

    Args:
        resolver: the linked program.
        settings: what is asked for.
        root: the project's root, for telling test files.
        hiding: of the last components of some names, those that may stand for them, program-wide.
        properties: as `links.properties` tells them.
        registered: what the program registers under names that the catalog knows.
        users: finds who uses a definition.
        packaged: whether the project is made to be installed.
        declared: the entry points that its metadata and its configuration name.
    """

    def __init__(
        self,
        resolver: Resolver,
        settings: Settings,
        root: str,
        hiding: Hiding,
        properties: Mapping[str, Sequence[str]],
        registered: Registered,
        users: Users,
        packaged: bool,
        declared: Collection[str],
    ) -> None:
        self.resolver = resolver
        self.catalog: Catalog = resolver.catalog
        self.settings = settings
        self.root = root
        self.matcher = Matcher(resolver, settings, hiding, registered)
        self.users = users
        self.levels = Levels(settings, self.matcher, Gradients(self.matcher, users, root), root)
        self.loaded = Loaded(self.matcher, users, root)
        attributes = Attributes(resolver, users, users.texts)
        self.unused = Unused(self.matcher, users, attributes)
        self.unnamed = Unnamed(resolver, users, attributes, root, packaged, declared)
        self.templates = Templates(users)
        self.untrained = Untrained(self.catalog, users, self.unnamed.is_in_library)
        self.flow = seeds.flow(resolver, self.matcher, properties, self.untrained.speaks)
        self.constants = Constants(self.matcher, users, self.levels.gradients, self.unnamed)
        self.own_calls = Constants(self.matcher, users, self.levels.gradients, self.unnamed, offered=False)
        self.own_origins = Origins(self.matcher, self.levels.gradients, any_input=True)
        self.exact = Exact(self.matcher, users.texts, attributes)
        self.leftover = Leftover(self.matcher, users.texts, attributes)
        self.hardware = Hardware(resolver, users, root)
        self.keys = keys.Keys(self.matcher, root)
        self.seed_rules = seeds.SeedRules(self.catalog, settings, root, self.matcher)
        self.on = {code for code in self.catalog.rules if selected(settings, code)}
        self._reseeding = frozenset(name.rpartition(".")[2] for name in self.catalog.with_context("reseeds"))
        self._words = self.matcher.telling(self.catalog.words_of(self.on))
        self._drawing = self.matcher.telling(self.catalog.drawing_words)
        self._seeded = self.matcher.telling(self.catalog.seeded_words)

    def follow(self, module: Module, declared: Sequence[str] = ()) -> list[Reach]:
        """What the runs do that start in a module.

        Args:
            declared: functions of it that are said to be entry points.
        """
        found = [reach for entry in entry_points(module, declared) for reach in self.flow.reach(entry)]
        if found or module.path.endswith("__init__.py"):
            return found
        entry = script(module) if self.flow.acts(module) else None
        reaches = self.flow.reach(entry) if entry is not None else []
        return reaches if any(self._acts(module, reach) for reach in reaches) else []

    def told(self, reach: Reach) -> list[Finding]:
        """The findings of one entry point: its streams and its switches."""
        found = [*self.seed_rules.findings(reach)]
        found += switches.findings(reach, self.matcher, self.levels, self.catalog)
        return self._selected(found)

    def may_train(self, reach: Reach) -> bool:
        """Whether a run trains, or starts in a file that speaks of it: what it calls may be out of sight."""
        return reach.trains or self.untrained.speaks(reach.entry.module.path)

    def judge(self, module: Module, runs: Runs) -> tuple[list[Finding], bool, bool]:
        """The findings at a module's sites, in no particular order.

        Returns: the findings; whether they may be others with any other run, whichever of the sites that passes; and whether with
            one that trains and comes here by imports alone, or without it.
        """
        passages = runs.passages
        outcomes = [passage.outcome for passage in passages]
        found = [*workers.findings(module, self.matcher, self.settings, outcomes)]
        if not passages:
            strict = self.settings.library == "strict"
            found += library.findings(module, self.matcher, self._drawing, self.root, strict, self._is_tried)
            found += self.seed_rules.entropy(library.entropy(module, self.matcher, self._seeded), ())
        at_sites = [*self._sites(module, runs)]
        is_open = self.unnamed.is_in_library(module) and any(f.code.startswith(OPERATORS) for f in at_sites)
        varies = bool(passages or found) or any(finding.code == HASHES for finding in at_sites)
        if keys.CODE in self.on:
            found += self.keys.findings(module)
        return self._selected([*at_sites, *found]), varies, is_open

    def _selected(self, found: list[Finding]) -> list[Finding]:
        return [self._as_set(finding) for finding in dict.fromkeys(found) if finding.code in self.on]

    def _acts(self, module: Module, reach: Reach) -> bool:
        """Whether a top level does something that this tool cares about, rather than to describe it."""
        started = [draws.path[0] for draws in reach.unseeded.values() if draws.path]
        started += [seeding.place for seeding in reach.seedings if seeding.kind == "entropy"]
        if any(place.module is module and module.sites[place.site].kind == "call" for place in started):
            return True
        own = [place.site for place in reach.places if place.module is module]
        return any(
            flows(match.entry)
            for index in own
            if module.sites[index].kind not in DESCRIBES
            for match in self.matcher.matches(module, index)
        )

    def _sites(self, module: Module, runs: Runs) -> Iterator[Finding]:
        for index in self.matcher.suspects(module, self._words):
            for match in self.matches(module, index):
                if match.entry.rule in self.on:
                    *_, (severity, _) = self.verdict(module, index, match, runs)
                    if severity is not None:
                        rule = self.catalog.rules[match.entry.rule]
                        yield self._finding(module, module.sites[index], match, rule, severity)

    def matches(self, module: Module, index: int) -> Iterator[Match]:
        """What a site is, by itself and by what those who call the function around it hand to it."""
        yield from self.matcher.matches(module, index)
        yield from self.constants.handed_on(module, index)

    def verdict(self, module: Module, index: int, match: Match, runs: Runs) -> Iterator[Judgement]:
        """How a match with a rule is judged, step by step: the severity, None where it is no finding, and why."""
        passed = [passage for passage in runs.passages if index in passage.sites]
        through = [passage.outcome for passage in passed]
        silent = (
            self._silent(module, index, match, passed)
            or self._hashed_alike(module, match, runs.passages)
            or self._only_inferred(module, index, match, runs)
        )
        if silent:
            yield None, silent
            return
        drawn = {s for other in self.matcher.matches(module, index) for s in other.entry.draws}
        # A layer that is random by design draws nothing where a run only infers; and for its tests nobody seeds what they try.
        tests = not is_test(module.path, self.root) and any(not is_test(o.entry, self.root) for o in through)
        drawing = [
            o
            for o in through
            if not (o.infers and not o.trains and follows_mode(match)) and not (tests and is_test(o.entry, self.root))
        ]
        seeded = all(outcome.unseeded.isdisjoint(drawn) for outcome in drawing) if through else None
        rule = self.catalog.rules[match.entry.rule]
        severity: Severity | None = None
        trained = any(outcome.trains for outcome in through)
        for severity, why in self.levels.judged(match, rule, module, index, seeded, trained):
            yield severity, why
        if severity is None:
            return
        if severity != "note" and (reason := self.constants.rule_out(module, index, match)):
            yield None, reason
            return
        if severity != "note" and self.exact.holds(module, index, match):
            yield None, "it adds up whole numbers, which give the same in any order"
            return
        if severity != "note" and is_class(match.name) and self.leftover.holds(module, index):
            yield None, "nothing uses what it is a part of"
            return
        if severity != "note" and not passed and self.templates.is_template(module):
            severity = "note"
            yield severity, "another file is generated from this one, and runs in its place"
        by_itself = rule.code.startswith(STREAMS) and not passed
        if severity != "note" and by_itself and self._only_helps_tests(module):
            severity = "note"
            yield severity, "a library has it for tests, and nothing in it comes here"
        backward = match.entry.pass_ == "backward" and not any(outcome.trains for outcome in through)
        if severity != "note" and backward and self.settings.library != "strict" and self.untrained.holds(module):
            severity = "note"
            yield severity, "nothing trains in the project that it belongs to"
        if severity != "note" and backward and self.settings.library != "strict" and self.untrained.refuses(module):
            severity = "note"
            yield severity, "the file's networks refuse to be trained"
        if severity != "note" and not runs.train and self._is_left_open(module, index, match, through):
            severity = "note"
            yield severity, "it stands in a library, and no run that trains imports it: the caller decides"
        library = severity != "note" and self.settings.library != "strict" and self.unnamed.is_in_library(module)
        if library and (reason := self.own_calls.rule_out(module, index, match)):
            severity = "note"
            yield severity, f"within the library {reason}; others decide by how they call it"
        # A strict library is judged as if somebody ran all of it.
        tried = self.settings.library != "strict" and all(o.tries and not o.trains for o in through)
        if severity != "note" and tried and self.unnamed.is_idle(module, index):
            severity = "note"
            yield severity, "nothing that the program runs names what it stands in"
        if rule.code == "DET107" and seeded:
            seeded = all(outcome.open.isdisjoint(drawn) for outcome in through)
        now, why = self._on_the_way(match, severity, seeded, through)
        if module.sites[index].kind == "order":
            now, why = self._of_a_set(module, index, match, severity)
        if why:
            yield now, why

    def _silent(self, module: Module, index: int, match: Match, passed: list[Passage]) -> str:
        """Why a match is no finding; "" where it may be one."""
        code, site = match.entry.rule, module.sites[index]
        through = [passage.outcome for passage in passed]
        if code == "DET110" and through and any(m.entry.seeds for m in self.matcher.matches(module, index)):
            return "the seed flow of the runs that pass here says it"
        if match.entry.block and not self._draws_under(module, index):
            return "it heads no block in which something is drawn or a layer is built"
        if reason := self._out_of_place(match.entry, module, site, through):
            return reason
        if match.entry.unless_under and self.matcher.is_under(module, site, match.entry.unless_under):
            return "the block around it chooses a kernel whose order is fixed"
        if match.entry.unless_set and through and all(run.held.get(match.entry.unless_set) for run in through):
            return "every run that passes here has chosen a kernel whose order is fixed"
        if match.entry.targets and "cpu" not in match.entry.targets and self.matcher.on_cpu(match):
            return "it is handed tensors on the CPU"
        if code == "DET107" and seeds.set_later(module, index, match.entry.when, self._reseeding):
            return "the file gives it a seed later"
        if "only-gives" in match.entry.contexts and site.use == "dropped":
            return "what it gives is dropped"
        if (code.startswith(STREAMS) or code in ON_DEVICE) and self._is_tried(module, index):
            return "it only tries something out: tests come there, or no more than shapes are shown"
        if code.startswith(STREAMS) and site.use == "id":
            return "it only tells runs or files apart"
        if code.startswith(STREAMS) and site.use == "looked-at":
            return "what it chooses is only shown"
        if site.use == IDLE and code in (OPEN_SEED, SHUFFLED) and not self.users.is_imported(module):
            return "nothing is done with the object that it makes, but to show it"
        runs_load = bool(through) and all(outcome.loads and not outcome.trains for outcome in through)
        if code.startswith(STREAMS) and self.loaded.overwritten(module, index, runs_load):
            return "it makes weights, and all who build their layer load others"
        if code in ON_DEVICE and self.matcher.only_shown(module, index):
            return "it is an example for a tracer, or a function is tried out with it"
        if chosen := self._elsewhere(match.entry, module, through):
            return f"every run that comes here chooses {chosen}"
        by_order = site.kind == "order" or code in UNORDERED
        if by_order and os.path.basename(module.path) == "setup.py":
            return "a build script: what it lists is compiled or packed"
        if "picks" in match.entry.contexts and not listings.picks(module, site, match, self.catalog):
            return "its value picks nothing here"
        if by_order and not listings.matters(module, index, self.matcher, self._callers):
            return "the order of what it gives never matters, or is put right"
        if code == "DET103" and (
            seeds.seeded_later(module, index) or (passed and all(index in p.seeded for p in passed))
        ):
            return "the generator gets a seed, here or later"
        if code == "DET114" and self._restarts(module):
            return "the file starts the interpreter anew, which then reads it"
        if self._switched(match, through):
            return "every run that passes here has switched the deterministic path on"
        if "between-devices" in match.entry.contexts and through and not any(r.communicates for r in through):
            return "no run that passes here starts to communicate with other devices"
        if is_class(match.name) and self.unused.is_made_for_nothing(module, index, generator=code == "DET103"):
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
            if not own or self.users.may_be_imported(module, name):
                return ""
        elif runs.train and self.unnamed.is_in_library(module):
            return ""
        return "it is about the backward pass, and every run that passes here only infers"

    @staticmethod
    def _is_tried(module: Module, index: int) -> bool:
        """Whether a site stands in a `__main__` block, or a function, that only shows shapes, or where only tests come."""
        blocks = _branches(module.steps(module.function_of(module.sites[index])))
        tried = (
            block
            for block in blocks
            if block.kind in ("trial", "tests") or (block.kind == "main" and block.test == SHAPES)
        )
        return any(index in sites(block.arms[0]) for block in tried)

    def _hashed_alike(self, module: Module, match: Match, passages: Sequence[Passage]) -> str:
        """Why an order of hashes is always the same; "" where it isn't."""
        if match.entry.rule != HASHES:
            return ""
        starts_anew = self._restarts(module) or (passages and all(p.outcome.restarts for p in passages))
        return "the run starts the interpreter anew with a hash seed" if starts_anew else ""

    def _elsewhere(self, entry: Entry, module: Module, through: list[Outcome]) -> str:
        """The hardware that all runs choose, or all scripts that import a file, where it is none that the entry is about."""
        if self.settings.targets or not entry.targets:
            return ""
        # A backward pass is for runs that train; what only shows shapes is tried out on whatever is at hand.
        runs = self._training(through) if entry.pass_ == "backward" else []
        runs = runs or [o for o in through if o.trains or not o.tries] or through
        chosen = frozenset(target_of(outcome.held.get(HARDWARE)) for outcome in runs)
        chosen = chosen or self.hardware.everywhere(module)
        if "" in chosen or not chosen.isdisjoint(entry.targets):
            return ""
        return " or ".join(sorted(chosen))

    def _training(self, through: list[Outcome]) -> list[Outcome]:
        """The runs that train; if none is seen to, those that start in files which speak of training, by means out of sight."""
        runs = [outcome for outcome in through if outcome.trains]
        if runs or not through:
            return runs
        self.resolver.opened.update(outcome.entry for outcome in through)
        return [outcome for outcome in through if self.untrained.speaks(outcome.entry)]

    def _only_helps_tests(self, module: Module) -> bool:
        """Whether a file has no tests, but what a library's tests use, and those of others."""
        if self.settings.library == "strict" or not is_test(module.path, self.root):
            return False
        if holds_tests(module) or not self.unnamed.is_in_library(module):
            return False
        importers = self.users.importers(module.path)
        self.users.asked.update((ANYWHERE, os.path.basename(module.path).partition(".")[0]))
        self.resolver.opened.update(importers)
        return all(is_test(path, self.root) for path in importers)

    def _on_the_way(self, match: Match, severity: Severity, seeded: bool | None, through: list[Outcome]) -> Judgement:
        """The severity where it depends on what the runs that pass here have done, or on there being none; no reason
        where it doesn't."""
        code, caller = match.entry.rule, not through and self.settings.library == "caller"
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
        if self.settings.library == "strict" or self.settings.profile != "reproduce" or not code.startswith(OPERATORS):
            return False
        if any(outcome.trains or not backward for outcome in through):
            return False
        if not self.unnamed.is_in_library(module):
            return False
        if code in SWITCHED or not match.sure:
            return True
        return backward and not is_class(match.name) and self.own_origins.need_no_gradients(module, index, match)

    def _out_of_place(self, entry: Entry, module: Module, site: Site, through: list[Outcome]) -> str:
        """Why an entry that counts only in some places doesn't count where it stands; "" where it does."""
        if entry.inside and self._inside(module, site, entry.inside):
            return ""
        if entry.while_training and not any(outcome.trains for outcome in through):
            return "no run that trains comes here"
        if entry.inside and not entry.while_training:
            return f"it stands in no class that is a {' or '.join(entry.inside)}"
        if entry.outermost and any(
            other.target == site.target and _holds(other.span, site.span) for other in module.sites
        ):
            return "it stands inside another, which speaks for it"
        if entry.becomes and not site.use.startswith(tuple(entry.becomes)):
            return "what becomes of its result is none of what matters"
        return ""

    def _draws_under(self, module: Module, index: int) -> bool:
        """Whether a call heads a `with` block in which something is drawn or a layer is built."""
        for number, site in enumerate(module.sites):
            if index in site.within:
                target = self.matcher.target(module, number)
                if isinstance(target, Ref) and self.resolver.layer(target.name) is not None:
                    return True
                if any(match.entry.draws for match in self.matcher.matches(module, number)):
                    return True
        return False

    def _inside(self, module: Module, site: Site, kinds: Sequence[str]) -> bool:
        """Whether a site stands in a method of a class that is one of some kinds."""
        inside = module.function_of(site).owner
        if not inside:
            return False
        owner = f"{module.path}::{inside}"
        is_layer = "layer" in kinds and self.resolver.layer(owner) is not None
        return is_layer or ("dataset" in kinds and self.resolver.is_dataset(owner))

    def _callers(self, module: Module, name: str) -> list[Use] | None:
        """The uses of a function, outside of tests; None where there may be more: in what is installed, or by names put together."""
        return None if self.unnamed.is_in_library(module) else self.levels.gradients.uses(module, name)

    def _of_a_set(self, module: Module, index: int, match: Match, severity: Severity) -> Judgement:
        """The severity where a set gets an order: a note where its elements may be numbers, or the order may not matter."""
        if isinstance(match.arguments["elements"].value, Either):
            return "note", "the elements look like numbers, whose order is always the same"
        done = listings.matters(module, index, self.matcher, self._callers)
        if done < listings.CUT:
            return "note", "it is kept in that order, which may not matter to whoever uses it"
        if done == listings.CUT and not match.sure:
            return "note", "neither what is in the set is known, nor that its order matters"
        return severity, ""

    def _restarts(self, module: Module) -> bool:
        """Whether a file runs the interpreter anew, so that the environment that it writes is read after all."""
        return any(
            "restarts" in m.entry.contexts for i in range(len(module.sites)) for m in self.matcher.matches(module, i)
        )

    def _switched(self, match: Match, through: list[Outcome]) -> bool:
        """Whether every run that passes here has switched the deterministic path on."""
        known = self.catalog.switches.get(match.name.partition(".")[0])
        switch = None
        if match.entry.rule in SWITCHED:
            switch = known.name if known is not None else SWITCH
        if match.entry.rule == "DET303" and match.name.startswith("tensorflow."):
            switch = "tensorflow-determinism"  # it makes every tf.data operation keep its order
        if switch is None or not through or match.entry.category not in ("b", ""):
            return False
        held = [outcome.held.get(switch) for outcome in through]
        return all(value and not (match.entry.strict and value == "warn") for value in held)

    def _finding(self, module: Module, site: Site, match: Match, rule: Rule, severity: Severity) -> Finding:
        entry = match.entry
        name = match.name.removeprefix("builtins.")
        api = name if site.kind != "partial" else f"partial({name})"
        value = next((p for p in entry.when), "")
        message = (entry.message or rule.message).replace("{api}", api).replace("{value}", value)
        active = self.matcher.active(module)
        return Finding(
            module.path, site.span, rule.code, rule.name, severity, message, entry.remedy or rule.remedy,
            tuple(t for t in entry.targets if t in active), (), value, self._recipe(match, rule), match.name,
        )  # fmt: skip

    def _recipe(self, match: Match, rule: Rule) -> Recipe | None:
        """How a finding is fixed. What is random by design stays so where runs are only to be repeated."""
        entry, reproduces = match.entry, self.settings.profile == "reproduce"
        recipe = entry.fix if reproduces else entry.align or entry.fix
        if recipe is None:
            return None
        if recipe.unsure is not None and not match.sure:
            recipe = msgspec.structs.replace(recipe, applicability=recipe.unsure)
        if recipe.kind == "replace-target" and not recipe.text:
            recipe = _renamed(recipe, match.name, entry.known)
        if reproduces and (entry.level or rule.level) == "design":
            milder: Applicability = "display" if recipe.applicability == "unsafe" else recipe.applicability
            return msgspec.structs.replace(recipe, applicability=milder, repeated="display")
        return recipe

    def _as_set(self, finding: Finding) -> Finding:
        level = severity_of(self.settings, finding.code)
        return finding.with_severity(level) if level is not None and level != "off" else finding


def _renamed(recipe: Recipe, name: str, known: Sequence[str]) -> Recipe:
    """The recipe for a member that doesn't exist: the one that was meant, where exactly one is much like it."""
    import difflib

    owner, _, member = name.rpartition(".")
    alike = difflib.get_close_matches(member, known, cutoff=0.75)
    if len(alike) != 1:
        return msgspec.structs.replace(recipe, applicability="display", text=f"<{owner}.{known[0]}>")
    return msgspec.structs.replace(recipe, text=f"<{owner}.{alike[0]}>")


def _branches(steps: tuple[Step, ...]) -> Iterator[Branch]:
    """All branches under some steps."""
    for step in steps:
        if isinstance(step, Branch):
            yield step
            for arm in step.arms:
                yield from _branches(arm)


def _holds(outer: Span, inner: Span) -> bool:
    """Whether a place lies within another, larger one."""
    begins = (outer.line, outer.column) <= (inner.line, inner.column)
    ends = (inner.end_line, inner.end_column) <= (outer.end_line, outer.end_column)
    return begins and ends and outer != inner
