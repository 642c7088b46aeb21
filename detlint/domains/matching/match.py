"""Which catalog entries a site fulfils."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from detlint.catalog import SHUFFLED, Condition, Entry
from detlint.config import Settings
from detlint.domains.constant.evaluator import parameters_in, settle
from detlint.domains.constant.experiments import BY_CONFIG
from detlint.domains.draws import Handed
from detlint.domains.entropy import SALTED
from detlint.domains.matching.candidates import CALLS, Candidates
from detlint.domains.matching.conditions import Judge, Verdict, argument_of
from detlint.domains.matching.record import Match, Passed
from detlint.domains.traced import Examples
from detlint.ir.yaml_text import is_yaml
from detlint.model.arguments import Argument, CallArgument, bind, given_with
from detlint.model.links import Linked
from detlint.model.module import Module
from detlint.model.project import Project
from detlint.model.sites.records import (
    Arg,
    Const,
    Function,
    Param,
    Site,
    Value,
    options,
)
from detlint.model.uses import Users

BY_DESIGN: Final = ("DET2", "DET3")
"""What the rules of layers and data begin with."""
OPERATORS: Final = "DET4"
"""The rules of operators begin with it."""
BY_VALUE: Final = ("DET2", "DET3", "DET4")
"""The rules of what varies or not by the values that calls pass."""
ON_DEVICE: Final = "DET5"
"""The rules of what is drawn on the device begin with it."""
NOTHING: list[Match] = []
"""What most sites match; shared, never changed."""


class Matcher(Candidates):
    """Matches sites against the catalog; every site is matched once.

    Args:
        users: tell who calls what, and what becomes of what sites give.
        settings: what is asked for.
        linked: what the program's files say together of names.
        project: what the project says of itself.
    """

    def __init__(self, users: Users, settings: Settings, linked: Linked, project: Project) -> None:
        super().__init__(users, settings, linked, project)
        numbers = {"whole": self.catalog.whole, "half": self.catalog.half}
        self.judge = Judge(self.resolver.types, self, Handed(self).draws, numbers)
        self._examples = Examples(self.resolver, self.sinks.meanings, users.of)

    def matches(self, module: Module, index: int) -> list[Match]:
        """All entries that a site fulfils, at most one for each rule, in catalog order."""
        known, db = self._matches.setdefault(module.number, {}), self.resolver.db
        found = known.get(index)
        if found is None:
            with db.noting() as noted:
                matches = self._match(module, index)
            found = known[index] = matches, db.shared(noted)
        db.asked.update(found[1])
        return found[0]

    def is_under(self, module: Module, site: Site, context: str) -> bool:
        """Whether a site stands in a `with` block that means a context."""
        return any(context in match.entry.contexts for i in site.within for match in self.matches(module, i))

    def matches_as(self, module: Module, index: int, target: Value) -> list[Match]:
        """The entries that a site fulfils when it calls `target` (a parameter that was given a function)."""
        site = module.sites[index]
        function = module.function_of(site)
        of, before, known = self._prepared(target)
        found = [
            m for n, entries in self.named(of) for m in self._fulfilled(module, site, function, n, entries, before)
        ]
        return [match for match in found if match.entry not in known]

    def given_with(self, module: Module, index: int, match: Match) -> list[Arg]:
        """What a site says that a function gets which it is handed, as the file has it."""
        site, signature = module.sites[index], self._signature(match.name, [match.entry])
        assert match.entry.hands is not None
        bound = bind([CallArgument(argument.name, argument.value) for argument in site.args], signature)
        return given_with(match.entry.hands, site, bound, signature)

    def handed(self, module: Module, index: int) -> tuple[Value | None, Site] | None:
        """The function that a site hands to a library, as the file has it, and the call that this makes of it; None where it hands over
        none, or nothing is known of how."""
        match = next((match for match in self.matches(module, index) if match.entry.hands is not None), None)
        if match is None or match.entry.hands is None or match.before:
            return None
        function = self.written(module, index, match, match.entry.hands.function)
        call = msgspec.structs.replace(module.sites[index], args=tuple(self.given_with(module, index, match)))
        return function, call

    def only_shown(self, module: Module, index: int) -> bool:
        """Whether what a site draws is an example for a tracer."""
        return self._examples.has(module, index)

    def holds_with(self, match: Match, values: Mapping[str, Value | None]) -> Verdict:
        """Whether a match's conditions hold when some parameters are given values that are known."""
        given = {name: Argument(value, True) for name, value in values.items()}
        return self.judge.fulfilled(match.entry, {**match.arguments, **given})

    def _match(self, module: Module, index: int) -> list[Match]:
        site = module.sites[index]
        if site.kind in ("write", "item"):
            return NOTHING
        if site.kind in CALLS and not self._may_match(module, site.target, self._words):
            return NOTHING
        function = module.function_of(site)
        found: dict[str, Match] = {}
        _, before, known = self._prepared(self.target(module, index) if site.kind in CALLS else None)
        for name, entries in self.candidates(module, index):
            for match in self._fulfilled(module, site, function, name, entries, before):
                if match.entry in known:
                    continue
                other = found.get(match.entry.rule)
                if match.entry.rule and (other is None or (match.sure and not other.sure)):
                    found[match.entry.rule] = match
                elif not match.entry.rule:
                    found[f"{len(found)}"] = match
        return list(found.values()) or NOTHING

    def forget(self, module: Module) -> None:
        """Let go of what is known of a module's sites; it is worked out again if a run passes there later."""
        self._matches.pop(module.number, None)
        self._shuffles.pop(module.number, None)
        self._unpacking.pop(module.number, None)
        self._normal.pop(module.number, None)
        module.rest()

    def _fulfilled(
        self,
        module: Module,
        site: Site,
        function: Function,
        name: str,
        entries: list[int],
        before: tuple[CallArgument, ...] = (),
    ) -> list[Match]:
        found = []
        for entry, verdict, passed in self._verdicts(module, site, function, name, entries, before):
            if verdict is None:
                usual = BY_CONFIG not in entry.contexts and self._holds_by_default(module, function, entry, passed)
                if entry.unsure == "report" or usual:
                    found.append(Match(entry, name, False, passed, before))
            elif verdict:
                found.append(Match(entry, name, not self._may_be_another(module, site, entry), passed, before))
        return found

    def _verdicts(
        self,
        module: Module,
        site: Site,
        function: Function,
        name: str,
        entries: list[int],
        before: tuple[CallArgument, ...] = (),
    ) -> Iterator[tuple[Entry, Verdict, Passed]]:
        """Whether the conditions of the entries that are about the file hold, with what the site passes."""
        applicable = self._applicable(module, entries)
        if not applicable:
            return
        passed = Passed(
            lambda: self._bound(module, site, function, self._signature(name, applicable), before),
            lambda by_default: self._ways(module, site, self._signature(name, applicable), before, by_default),
            lambda parameter: (
                self._place(module, site, self._signature(name, applicable), parameter) if not before else None
            ),
        )
        for entry in applicable:
            if SALTED in entry.contexts:
                yield entry, self._salt.of_site(module, site), passed
            elif not self._has_other_dimensions(module, site, name, entry):
                ways = passed.ways if entry.when else []
                if entry.reads and entry.when and self.resolver.loaded is not None:
                    table = self.resolver.loaded.filled(module, site, name)
                    ways = [{**way, entry.reads: Argument(table, True)} for way in ways]
                if config := self.experiments.config(module, site, entry) if ways else {}:
                    ways = [{**way, **config} for way in ways]
                verdicts = {self.judge.fulfilled(entry, way) for way in ways} if entry.when else {True}
                yield entry, verdicts.pop() if len(verdicts) == 1 else None, passed

    def _holds_by_default(self, module: Module, function: Function, entry: Entry, passed: Passed) -> bool:
        """Whether what the caller, or the command line, may choose is harmful by default, as is to be expected.

        A seed that nobody gives is missing. A function that hands a generator on, without one by default, leaves it to its
        caller where to draw.
        """
        if entry.rule.startswith(ON_DEVICE) and any(
            condition.given is False and isinstance(settle(passed.arguments[name].value), Param)
            for name, condition in entry.when.items()
            if name in passed.arguments
        ):
            return False
        ways = (self._usual(module, function, way, passed) for way in passed.usual)
        # What is found says that it may be; what only draws is to do so.
        return (any if entry.rule else all)(self.judge.fulfilled(entry, usual) for usual in ways)

    def undecided(self, module: Module, index: int, rules: str) -> Iterator[Match]:
        """What a site may be if a caller gives what the function around it hands on: `resize(x, mode=mode)`.

        Args:
            rules: what those begin with that are asked for.
        """
        site = module.sites[index]
        if site.kind not in CALLS or not any(parameters_in(argument.value) for argument in site.args):
            return
        function = module.function_of(site)
        for name, entries in self.candidates(module, index):
            asked = [i for i in entries if self.catalog.entries[i].rule.startswith(rules)]
            for entry, verdict, passed in self._verdicts(module, site, function, name, asked):
                if verdict is not None or entry.unsure == "report":
                    continue
                if not self._holds_by_default(module, function, entry, passed):
                    yield Match(entry, name, False, passed)

    def unknown(self, module: Module, index: int) -> Iterator[Match]:
        """What a site may be, for all that is known of the values which it passes: `batch(8, num_parallel_workers=min(4, n))`. Only rules
        are told of it, nothing that runs do; where something of a family is known, no more of that."""
        site, told = module.sites[index], {match.entry.rule[:4] for match in self.matches(module, index)}
        if site.kind not in CALLS or any(argument.name == "**" for argument in site.args):
            return
        function = module.function_of(site)
        _, before, _ = self._prepared(self.target(module, index))
        for name, entries in self.candidates(module, index):
            asked = [i for i in entries if self.catalog.entries[i].rule.startswith(BY_VALUE)]
            for entry, verdict, passed in self._verdicts(module, site, function, name, asked, before):
                family = entry.rule[:4]
                if verdict is None and family not in told and self._is_open(module, function, entry, passed):
                    told.add(family)
                    yield Match(entry, name, False, passed, before, known=False)

    def _is_open(self, module: Module, function: Function, entry: Entry, passed: Passed) -> bool:
        """Whether values decide of which nothing is known, by default neither."""
        usual = self._usual(module, function, passed.arguments, passed)
        return self.judge.asks_for_values(entry, usual)

    def unpacking(self, module: Module, index: int) -> list[Match]:
        """What a site isn't by itself, and may be by the tables that it unpacks: `DataLoader(data, **options)`."""
        site, known = module.sites[index], self._unpacking.setdefault(module.number, {})
        if site.kind not in CALLS or not any(argument.name == "**" for argument in site.args):
            return NOTHING
        if index not in known:
            told = [match.entry for match in self.matches(module, index)]
            of, before, _ = self._prepared(self.target(module, index))
            known[index] = [
                Match(entry, name, False, passed, before)
                for name, entries in self.named(of)
                for entry, verdict, passed in self._verdicts(
                    module, site, module.function_of(site), name, entries, before
                )
                if not verdict and entry not in told
            ]
        return known[index]

    def is_written_out(self, module: Module, site: Site, match: Match) -> bool:
        """Whether the program itself says what fulfils a match that isn't sure: one of two branches passes `shuffle=True`, or that is an
        option's default. Otherwise nothing is known of what it passes."""
        given, function = match.arguments, module.function_of(site)

        def holds(parameter: str, condition: Condition) -> bool:
            argument = match.argument(parameter) or Argument(None, False)
            usual = options(self.by_default(module, function, argument.value))
            passed = argument.given is not False
            return any(self.judge.holds(condition, Argument(option, passed), given) for option in usual)

        return all(holds(parameter, condition) for parameter, condition in match.entry.when.items())

    def may_draw(self, module: Module, index: int) -> list[Match]:
        """The draws of a site if a condition holds that isn't decided: `DataLoader(data, **options)`, of which the rule is told."""
        told = any(match.entry.rule.startswith(BY_DESIGN) and not match.sure for match in self.matches(module, index))
        site, found = module.sites[index], list[Match]()
        for name, entries in self.candidates(module, index) if told else ():
            drawing = [i for i in entries if self.catalog.entries[i].draws and not self.catalog.entries[i].rule]
            for entry, verdict, passed in self._verdicts(module, site, module.function_of(site), name, drawing):
                found += [Match(entry, name, False, passed)] if verdict is None else ()
        return found

    def shuffles(self, module: Module, index: int) -> list[Match]:
        """The draws of a site that only shuffles if it is handed what makes it: `make_csv_dataset(path, shuffle=shuffle)`."""
        known = self._shuffles.setdefault(module.number, {})
        found = known.get(index)
        if found is None:
            may = self._may_match(module, module.sites[index].target, self._shuffling)
            found = known[index] = [*self.undecided(module, index, SHUFFLED)] if may else NOTHING
        return found

    @staticmethod
    def _may_be_another(module: Module, site: Site, entry: Entry) -> bool:
        """Whether a name under `type:` in a YAML file may be something else's: `DCN` is a network of recommenders too. Of
        layers and transforms the word itself says enough."""
        return site.kind == "registry" and entry.rule >= "DET4" and is_yaml(module.path)

    def unfulfilled(self, module: Module, index: int) -> Iterator[tuple[Entry, str, Argument | None]]:
        """The entries that know what a site calls but don't hold for it: the first parameter whose condition fails with what
        it gets; no parameter where the file's hardware or the configured versions rule it out."""
        site = module.sites[index]
        known = [match.entry for match in self.matches(module, index)]
        for name, numbers in self.candidates(module, index) if site.kind not in ("write", "item") else ():
            entries = self._applicable(module, numbers)
            bound = self._bound(module, site, module.function_of(site), self._signature(name, entries))
            for entry in map(self.catalog.entries.__getitem__, numbers):
                if entry not in entries:
                    yield entry, "", None
                elif entry not in known:
                    for parameter, condition in entry.when.items():
                        argument = argument_of(bound, parameter) or bound.get("**") or Argument(None, False)
                        if not self.judge.holds(condition, argument, bound):
                            yield entry, parameter, argument
                            break


def known_constant(argument: Argument | None) -> object:
    """The literal that an argument is, `...` when it isn't one."""
    if argument is not None and isinstance(argument.value, Const):
        return argument.value.value
    return ...
