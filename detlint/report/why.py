"""Why the verdict at a line is what it is: the reasons of each finding there, and of each that could be and isn't."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from detlint.catalog import Entry
from detlint.checks.finding import Finding, Step
from detlint.checks.seeds import written
from detlint.checks.suppress import suppress
from detlint.config import severity_of
from detlint.domains.matching.record import Match
from detlint.inspect import Inspection, Traced, runs_of
from detlint.model.arguments import Argument
from detlint.model.runs.reach import Place, Reach
from detlint.model.sites.records import Const, Expression, Param, Ref, Value
from detlint.report.apis import condition_text
from detlint.report.place import at, shown

FLOW: Final = {
    "DET110": "the seed flow of a run found a seed that isn't the same in every run",
    "DET111": "by default the run leaves the seed out, and then draws from the stream; a warning, as whoever starts it may give one",
    "DET112": "what was drawn before the seeding differs in every run",
    "DET113": "the run seeds some streams on purpose, and forgets this one; told once, at the first draw of it",
    "DET602": "told once for a run, where it starts",
    "DET603": "the configured torch version asks for it",
}
"""Rule -> why the flow of a run leads to it."""
FIRST: Final = "no seeding comes before it in this run; told once, at the first draw of the stream"


@dataclass(frozen=True, slots=True)
class Verdict:
    """A finding and how it came about, or what could have been one and why it is none."""

    title: str
    """The code, and the message or what the rule is about."""
    level: str
    """The severity, `none`, or `suppressed`."""
    reasons: tuple[str, ...]
    steps: tuple[Step, ...] = ()


class Verdicts:
    """The verdicts over some sites of a file.

    Args:
        runs: those that may reach the file.
    """

    def __init__(self, inspection: Inspection, runs: Sequence[Traced]) -> None:
        self.engine = inspection.engine
        self.inspection = inspection
        self.module = inspection.module
        self.reaches: list[Reach] = [reach for traced in runs for reach in traced.reaches]
        self.runs = runs_of(self.engine, self.reaches, self.module)
        self.told = {finding: None for reach in self.reaches for finding in self.engine.told(reach)}
        self.found = inspection.findings(self.module, runs)

    def at(self, line: int, indexes: Sequence[int]) -> Iterator[Verdict]:
        """The verdicts over the sites of a line."""
        spans = {self.module.sites[index].span for index in indexes}
        findings = [f for f in self.found if f.span in spans or f.span.line == line]
        for finding in findings:
            yield self._finding(finding, indexes)
        codes = {finding.code for finding in findings}
        seen: dict[Verdict, None] = {}
        for index in indexes:
            for verdict in (
                *self._silent(index, codes),
                *self._unfulfilled(index, codes),
                *self._drawn(index, findings),
            ):
                seen[verdict] = None
        yield from seen

    def through(self, line: int) -> list[Finding]:
        """Findings elsewhere, whose path leads over a line."""
        return [
            f
            for f in self.told
            if (f.path, f.span.line) != (self.module.path, line)
            and any((step.path, step.span.line) == (self.module.path, line) for step in f.steps)
        ]

    # -- findings -----------------------------------------------------------------------------------------------

    def _finding(self, finding: Finding, indexes: Sequence[int]) -> Verdict:
        reasons = [*self._reasons(finding, indexes)]
        chosen = severity_of(self.engine.settings, finding.code)
        if chosen is not None:
            reasons.append(f"{chosen}: the configuration's `severity` says so")
        hidden = self._hidden(finding)
        if hidden:
            reasons.append(hidden)
        level = "suppressed" if hidden else finding.severity
        return Verdict(f"{finding.code} {finding.message}", level, tuple(reasons), finding.steps)

    def _reasons(self, finding: Finding, indexes: Sequence[int]) -> Iterator[str]:
        if finding in self.told:
            yield FLOW.get(finding.code, FIRST if finding.code.startswith("DET10") else "the flow of a run says so")
            return
        for index in indexes:
            for match in self.engine.verdicts.matches(self.module, index):
                if match.entry.rule == finding.code and self.module.sites[index].span == finding.span:
                    yield from (
                        f"{found.severity}, {found.certainty}: {why}" if found is not None else why
                        for found, why in self.engine.verdicts.of(self.module, index, match, self.runs)
                    )
                    return

    def _hidden(self, finding: Finding) -> str:
        """What keeps a finding out of the report."""
        directives = self.module.facts.directives
        _, covered = suppress([finding], directives, finding.path, self.inspection.source, None, self.engine.on)
        if covered:
            return "a comment suppresses it"
        return "`per-file-ignores` leaves it out" if self.inspection.ignored(finding) else ""

    # -- what is no finding -------------------------------------------------------------------------------------

    def _silent(self, index: int, codes: set[str]) -> Iterator[Verdict]:
        """Rules whose entries hold, and that say nothing all the same."""
        for match in self.engine.verdicts.matches(self.module, index):
            code = match.entry.rule
            if not code or code in codes:
                continue
            if code not in self.engine.on:
                yield self._none(match.entry, "the rule is not selected")
                continue
            *_, (_, why) = self.engine.verdicts.of(self.module, index, match, self.runs)
            yield self._none(match.entry, why)

    def _unfulfilled(self, index: int, codes: set[str]) -> Iterator[Verdict]:
        """Rules that know the API, and whose condition doesn't hold."""
        for entry, parameter, argument in self.engine.matcher.unfulfilled(self.module, index):
            if not entry.rule or entry.rule in codes:
                continue
            if argument is None:
                where = f"on {', '.join(entry.targets)}" if entry.targets else f"for {entry.versions}"
                yield self._none(entry, f"it holds {where}, which this file isn't judged for")
            else:
                condition = entry.when[parameter]
                has = _value_text(argument) if condition.given is None else "it is" if argument.given else "it isn't"
                yield self._none(entry, f"it asks that `{parameter}` {condition_text(condition)}, and {has}")

    def _drawn(self, index: int, findings: Sequence[Finding]) -> Iterator[Verdict]:
        """Why a draw isn't told as an unseeded one."""
        matches: list[Match] = self.engine.matcher.matches(self.module, index)
        if any(f.family == 1 for f in findings):
            return
        passing = [r for r in self.reaches if Place(self.module, index) in r.places]
        for stream in dict.fromkeys(s for m in matches if not m.entry.rule.startswith("DET1") for s in m.entry.draws):
            title = f"unseeded draw of {stream}"
            if not passing:
                yield Verdict(title, "none", ("no entry point comes here, so the caller decides",))
                continue
            firsts = {r.unseeded[stream].first: r for r in passing if stream in r.unseeded}
            if firsts:
                places = [f"{at(p)} (`{written(p)}`)" for p in firsts]
                yield Verdict(title, "none", (f"told once for a run, at its first unseeded draw: {', '.join(places)}",))
            else:
                yield Verdict(title, "none", tuple(dict.fromkeys(_unheeded(r, stream) for r in passing)))

    def _none(self, entry: Entry, why: str) -> Verdict:
        rule = self.engine.catalog.rules[entry.rule]
        return Verdict(f"{rule.code} {rule.name}", "none", (why,))


def _unheeded(run: Reach, stream: str) -> str:
    """Why a run that passes a draw from a stream doesn't leave it unseeded by that."""
    fixed = any(seeding.kind == "fixed" and stream in seeding.streams for seeding in run.seedings)
    if run.stops and not (fixed or run.trains):
        what, _, path = run.stops.partition(" in ")
        return f"a run that comes here ends with an error before it trains, at {what} in {shown(path)}: its weights come to nothing"
    if run.tries and not (fixed or run.trains):
        return "a run that comes here only tries something out, and shows no more than shapes"
    if run.loads and not (fixed or run.trains):
        return "a run that comes here loads weights and doesn't train: initial weights, and what training layers draw, are no matter"
    if run.shows and not (fixed or run.trains):
        return "a run that comes here only prints what an untrained layer gives, in a module of a package"
    if run.measures and not (fixed or run.trains):
        return "a run that comes here only counts operations and parameters, or takes the time"
    return "no entry point that comes here leaves the stream unseeded, see above"


def _value_text(argument: Argument) -> str:
    """What a parameter gets, in words."""
    how = "is not given; its default is " if argument.given is False else "is "
    if argument.given is False and argument.value is None:
        return "it is not given"
    return f"it {how}{_text(argument.value)}"


def _text(value: Value | None) -> str:
    if isinstance(value, Const):
        return repr(value.value)
    if isinstance(value, Param):
        default = f", {_text(value.default)} by default" if value.default is not None else ""
        return f"the parameter `{value.name}`{default}"
    if isinstance(value, Ref):
        return f"`{value.name.rpartition('::')[2]}`"
    return f"`{value.text}`" if isinstance(value, Expression) else "something that is not known"
