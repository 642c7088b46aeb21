"""Checks a program: entry points against the seed and switch flow, the sites of each module against the catalog."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import structs

from detlint import counters
from detlint.catalog import Catalog
from detlint.checks import evaluated, kernels, keys, library, ranks, resume, seeds, shared_steps, switches, workers
from detlint.checks.evaluated import EvaluationRules
from detlint.checks.finding import Finding, Step
from detlint.checks.levels import as_note
from detlint.checks.live_draws import LiveDraws
from detlint.checks.messages import finding
from detlint.checks.own_transforms import OwnTransforms
from detlint.checks.ranks import RankRules
from detlint.checks.resume import ResumeRules
from detlint.checks.shared_steps import SharedSteps
from detlint.checks.silence import HASHES, is_tried
from detlint.checks.sources import SourceRules
from detlint.checks.switched_again import switched_again
from detlint.checks.verdicts import Verdicts
from detlint.config import Settings, selected, severity_of
from detlint.domains.known import Domains, Followed
from detlint.domains.matching.match import OPERATORS, Matcher
from detlint.domains.pipelines import Pipelines
from detlint.effects.flow import Flow
from detlint.effects.sums import Sums
from detlint.effects.words import Words
from detlint.model.launches.launched import declared_in, ways
from detlint.model.launches.loaded import Loaded
from detlint.model.links import Linked
from detlint.model.liveness import Program
from detlint.model.module import Module
from detlint.model.project import Project
from detlint.model.runs.calls import DESCRIBES
from detlint.model.runs.entry import EntryPoint, entry_points, script
from detlint.model.runs.outcome import Runs
from detlint.model.runs.reach import Place, Reach, flows
from detlint.model.uses import Users


class Engine:
    """Checks modules of one program.

    Args:
        users: finds who uses a definition of the linked program.
        settings: what is asked for.
        linked: what the program's files say together of names.
        project: what the project says of itself.
    """

    def __init__(self, users: Users, settings: Settings, linked: Linked, project: Project) -> None:
        self.resolver, self.users, self.settings = users.resolver, users, settings
        self.catalog: Catalog = self.resolver.catalog
        self._documents = project.documents
        self.matcher = Matcher(users, settings, linked, project)
        self.resolver.loaded = Loaded(self.resolver, users.index, users.meanings, project.root)
        # Who follows runs asks the domains, and is asked by them, both later.
        followed = Followed(lambda: self.flow.imports, lambda module: self.flow.registries.kept_by(module))
        self.domains = domains = Domains(self.matcher, users, settings, project, followed)
        self.flow: Flow = seeds.flow(self.resolver, self.matcher, linked.properties, self._words_of_files())
        self.verdicts: Verdicts = Verdicts(domains)
        self._shared_steps = SharedSteps(self.matcher, users)
        self.sources = SourceRules(self.matcher, users)
        self.ranks, self.resume = RankRules(self.matcher, users), ResumeRules(self.matcher, users)
        self.keys = keys.Keys(self.matcher)
        pipelines = Pipelines(self.resolver, users.meanings, domains.callers)
        self._own = OwnTransforms(self.matcher, pipelines, settings)
        program = Program(self.resolver, users.meanings)
        self._live = LiveDraws(self.matcher, program, self.may_train)
        self._evaluated = EvaluationRules(domains, program, self._live.live)
        self.seed_rules = seeds.SeedRules(domains, self.verdicts.is_harmless_generator, self.may_train)
        self.on = {code for code in self.catalog.rules if selected(settings, code)}
        self._words = self.matcher.telling(self.catalog.words_of(self.on))
        self._drawing = self.matcher.telling(self.catalog.drawing_words)
        self._seeded = self.matcher.telling(self.catalog.seeded_words)

    def _words_of_files(self) -> Words:
        """What may happen in a file, for those who follow runs."""
        domains = self.domains
        untrained = domains.untrained
        return Words(
            untrained.may_train,
            untrained.updates,
            untrained.weighs,
            untrained.orders,
            untrained.hands,
            Sums(self.users, untrained.may_train_in).may,
            domains.patched.may,
            lambda *at: domains.constants.draw_nothing(*at),
            self.users.writers,
        )

    def follow(self, module: Module, declared: Sequence[str] = ()) -> list[Reach]:
        """What the runs do that start in a module.

        Args:
            declared: functions of it that are said to be entry points.
        """
        return self.started(module, declared)[0]

    def started(self, module: Module, declared: Sequence[str] = ()) -> tuple[list[Reach], list[Reach]]:
        """The same, and what the top level does of a module that starts no run, as nothing of that counts."""
        found = [reach for entry in entry_points(module, declared) for reach in self._as_started(entry)]
        inert = list[Reach]()
        if not found and not module.path.endswith("__init__.py"):
            entry = script(module) if self.flow.acts(module) else None
            reaches = self._as_started(entry) if entry is not None else []
            found, inert = (reaches, inert) if any(self._acts(module, reach) for reach in reaches) else (inert, reaches)
        for reach in found:
            self.complete(reach)
        return found, inert

    def complete(self, reach: Reach) -> None:
        """Add to a run what following it doesn't tell."""
        self.domains.documented.complete(reach)
        reach.never_switched = self.verdicts.silence.keras_mode.never_tells(reach)
        reach.spared |= switched_again(reach, self.matcher)
        reach.visited |= self.resolver.loaded.read_in(reach.files) if self.resolver.loaded is not None else set()

    def _as_started(self, entry: EntryPoint) -> list[Reach]:
        """The runs from an entry point: as each launch starts it, where launches give options that its files declare."""
        found, started = self.starting(entry)
        if not started:
            return found
        found = [reach for one in started for reach in self.flow.reach(one)]
        for reach in found:
            reach.by_launch = any(other.differs(reach) for other in found)
        return found

    def starting(self, entry: EntryPoint) -> tuple[list[Reach], list[EntryPoint]]:
        """What comes of an entry point that nobody gives an option, and as what launches start it; nothing where none gives it one."""
        found = self.flow.reach(entry)
        said = self._documents.around(entry.module.path)
        files = {path for reach in found for path in reach.files} if said.launches else ()
        modules = [module for path in sorted(files) if (module := self.resolver.module(path)) is not None]
        declared = {name: option for module in modules for name, option in declared_in(module)}
        started = ways(said, declared) if declared else ()
        return found, [structs.replace(entry, started=one) for one in started]

    def told(self, reach: Reach) -> list[Finding]:
        """The findings of one entry point: its streams and its switches."""
        self.domains.alone.complete(reach)
        found = [*self.seed_rules.findings(reach, self._live.of(reach))]
        asked = switches.Asked(self.domains, self._is_elsewhere, self.verdicts.is_harmless)
        found += switches.findings(reach, asked)
        found += self.ranks.findings(reach) if ranks.CODE in self.on else ()
        found += self.resume.findings(reach) if resume.CODE in self.on else ()
        found += self._evaluated.findings(reach) if evaluated.CODE in self.on else ()
        if reach.by_launch:
            started = reach.entry.started
            here = Step(started.path, started.span, "as it is started here") if started.path else None
            found = [structs.replace(one, steps=(*one.steps, here)) if here else one for one in found]
        return self._selected(found)

    def _is_elsewhere(self, reach: Reach, place: Place) -> bool:
        """Whether a run comes to a place on other hardware than Ascend alone."""
        by_test = self.domains.device_tests.keeps_from(place.module, place.site, ("ascend",))
        return by_test != "" or self.domains.documented.keeps_from(reach, place)

    def may_train(self, reach: Reach) -> bool:
        """Whether a run trains, or starts in a file that speaks of it: what it calls may be out of sight."""
        return reach.trains or (self._may_train(reach.entry.module.path) and not reach.leaves)

    def _may_train(self, path: str) -> bool:
        """Whether anything may train in a file, by its words."""
        return self.domains.untrained.may_train(path)

    def judge(self, module: Module, runs: Runs) -> tuple[list[Finding], bool, bool]:
        """The findings at a module's sites, in no particular order.

        Returns: the findings; whether they may be others with any other run, whichever of the sites that passes; and whether with
            one that trains and comes here by imports alone, or without it.
        """
        passages = runs.passages
        outcomes = [passage.outcome for passage in passages]
        found = [*workers.findings(module, self.matcher, outcomes)]
        if not passages:
            strict = self.settings.library == "strict"
            found += library.findings(module, self.matcher, self._drawing, strict, is_tried)
            found += self.seed_rules.entropy(library.entropy(module, self.matcher, self._seeded), ())
        if kernels.CODE in self.on:
            found += self.verdicts.kernels.findings(module)
        if shared_steps.CODE in self.on:
            found += self._shared_steps.findings(module)
        at_sites = [*self._sites(module, runs), *self._own.findings(module, runs)]
        is_open = self.domains.unnamed.is_in_library(module) and any(f.code.startswith(OPERATORS) for f in at_sites)
        varies = bool(passages or found) or any(finding.code == HASHES for finding in at_sites)
        if keys.CODE in self.on:
            behind = runs.stop and not passages and not self.domains.unnamed.is_in_library(module)
            keyed = self.keys.findings(module)
            found += map(as_note, keyed) if behind else keyed
        return self._selected([*at_sites, *found]), varies, is_open

    def judge_source(self, path: str) -> list[Finding]:
        """The findings in a source of C++."""
        return self._selected([*self.sources.findings(path)] if kernels.CODE in self.on else [])

    def _selected(self, found: list[Finding]) -> list[Finding]:
        return [self._as_set(finding) for finding in dict.fromkeys(found) if finding.code in self.on]

    def _acts(self, module: Module, reach: Reach) -> bool:
        """Whether a top level does something that this tool cares about, rather than to describe it."""
        started = [draws.path[0] for draws in reach.unseeded.values() if draws.path]
        started += [seeding.place for seeding in reach.seedings if seeding.kind == "entropy"]
        if any(place.module is module and module.sites[place.site].kind == "call" for place in started):
            return True
        # One that ends with an error is a run by what it would do behind that.
        own = range(len(module.sites)) if reach.stops else [p.site for p in reach.places if p.module is module]
        return any(
            flows(match.entry)
            for index in own
            if module.sites[index].kind not in DESCRIBES
            for match in self.matcher.matches(module, index)
        )

    def _sites(self, module: Module, runs: Runs) -> Iterator[Finding]:
        for index in self.matcher.suspects(module, self._words):
            counters.now.judged += 1
            for match in self.verdicts.matches(module, index):
                if match.entry.rule in self.on:
                    *_, (found, _) = self.verdicts.of(module, index, match, runs)
                    if found is not None:
                        rule, active = self.catalog.rules[match.entry.rule], self.matcher.active(module)
                        told = finding(module, module.sites[index], match, rule, found, active, self.settings)
                        yield self.verdicts.told(told, module, index, match)

    def _as_set(self, finding: Finding) -> Finding:
        level = severity_of(self.settings, finding.code)
        return finding.with_severity(level) if level is not None and level != "off" else finding
