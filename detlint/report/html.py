"""The report as a page to look at: the findings of each run, with its seed flow, and the pages of their rules.

The page is whole in itself: it loads nothing. All of it is there without its script, which only filters and opens things.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from detlint import __version__
from detlint.checks.finding import ANOTHER_RUN, ORDER, Finding
from detlint.inspect import Traced, followed
from detlint.model.sites.records import Span
from detlint.model.sites.store import with_deep_stack
from detlint.report import changes, rules
from detlint.report.document import markdown
from detlint.report.excerpt import cut, diff, source
from detlint.report.markup import broken, counted, escaped, sentence
from detlint.report.place import line_in
from detlint.report.seedflow import lanes, tree
from detlint.report.view import View

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

    from detlint.catalog import Rule

MOST_WHOLE: Final = 5_000
"""Findings, the most severe first, that are shown with source, path and fix; of the others there is the line alone."""
MOST_LISTED: Final = 20_000
"""Findings that are listed at all: the page stays below some 15 MB."""
MOST_RUNS: Final = 200
"""Runs, the first of those that may come to a finding, whose seed flow is drawn."""
SIGNS: Final = {"error": "\u2715", "warning": "\u25b2", "note": "\u25cb"}
"""A level's sign, beside its name: nothing is told by colour alone."""


def lines(view: View) -> Iterator[str]:
    """The page."""
    page = _Page(view)
    with_deep_stack(page.follow)
    name = escaped(view.config.root.absolute().name)
    style, script = (files("detlint.report").joinpath(f"html.{kind}").read_text("utf-8") for kind in ("css", "js"))
    yield "<!doctype html>"
    yield '<html lang="en"><head><meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f'<meta name="generator" content="detlint {escaped(__version__)}"><title>detlint: {name}</title>'
    yield f"<style>\n{style}</style></head><body>"
    yield '<a class="skip" href="#findings">To the findings</a>'
    yield from page.header(name)
    yield '<div class="columns">'
    yield from page.filters()
    yield '<main id="findings">'
    yield from page.sections()
    yield "</main></div>"
    yield f"<script>\n{script}</script></body></html>"


@dataclass
class _Section:
    """A run, and the findings that it is the first to come to.

    Attributes:
        path: where it starts.
        flow: its seed flow, as HTML.
        others: the findings that an earlier run comes to as well.
    """

    label: str
    path: str
    flow: list[str]
    findings: list[Finding] = field(default_factory=list)
    others: int = 0


class _Page:
    """Writes the parts of the page."""

    def __init__(self, view: View) -> None:
        self.view = view
        ranked = sorted(view.findings, key=lambda f: -ORDER[f.severity])  # stable: by place within a level
        listed = {*ranked[:MOST_LISTED]}
        self.listed = [finding for finding in view.findings if finding in listed]
        self.whole = {*ranked[:MOST_WHOLE]}
        self.unlisted = len(view.findings) - len(self.listed)
        self.runs: list[_Section] = []
        self.clean: list[str] = []
        """The runs that come to no finding."""
        self.also: dict[Finding, list[str]] = {}
        """The other runs that come to a finding."""
        # File by file, as they are listed: the sections have them in another order, and each file would be parsed again.
        self.fixes = {f: "\n".join(self._fix(f)) for f in self.listed if f in self.whole}
        """As HTML; empty where nothing repairs a finding."""
        self._numbers = {finding: number for number, finding in enumerate(self.listed, 1)}

    # -- which run comes to which finding -----------------------------------------------------------------------

    def follow(self) -> None:
        """Follow the runs, and give each finding to the first that comes to it."""
        view = self.view
        told, there = _by_start(self.listed), _by_place(self.listed)
        runs: list[tuple[_Section, Start, list[Finding]]] = []
        drawn = 0
        for run in followed(view.report, view.config, view.catalog, view.cache) if self.listed else ():
            start = (run.entry.module.path, run.entry.span)
            places = {(p.module.path, p.module.sites[p.site].span) for reach in run.reaches for p in reach.places}
            passed = [finding for place in places if place in there for finding in there[place]]
            may = bool(passed or start in told)
            flow = [*_flow(run, view.name)] if may and drawn < MOST_RUNS else []
            drawn += may
            runs.append((_Section(run.labelled(view.name), run.entry.module.path, flow), start, passed))
        self.starts = {start for _, start, _ in runs}
        given = set[Finding]()
        for section, start, passed in runs:
            # What was found in following runs belongs to these alone, although others may pass the place.
            found = {*told.get(start, ()), *(f for f in passed if self.starts.isdisjoint(_starts(f)))}
            section.findings = _ranked(found - given)
            section.others = len(found & given)
            for finding in found & given:
                self.also.setdefault(finding, []).append(section.label)
            given |= found
            if found:
                self.runs.append(section)
            else:
                self.clean.append(section.label)
        self.rest = [finding for finding in self.listed if finding not in given]

    # -- the parts ----------------------------------------------------------------------------------------------

    def header(self, name: str) -> Iterator[str]:
        """What was checked, and how much was found."""
        report, settings = self.view.report, self.view.config.settings
        levels = Counter(finding.severity for finding in report.findings)
        yield f'<header><h1><span>detlint</span> {name}</h1><ul class="totals">'
        for level in ("error", "warning", "note"):
            hidden = " (not listed)" if level == "note" and levels[level] and not self.view.show_notes else ""
            yield f'<li class="{level}">{_sign(level)} {counted(levels[level], level)}{hidden}</li>'
        yield "</ul>"
        where = f"findings in {len({f.path for f in self.view.findings}):,} of {counted(report.files, 'file')}"
        told = [where, f"profile {settings.profile}"]
        if settings.targets:
            told.append(f"for {', '.join(settings.targets)}")
        if report.suppressed:
            told.append(f"{report.suppressed:,} suppressed by comments")
        if report.baselined:
            told.append(f"{report.baselined:,} more in the baseline")
        if report.earlier:
            told.append(f"{report.earlier:,} more were there before the change")
        yield f'<p class="dim">{escaped("; ".join(told))}</p>'
        yield from self._limits()
        yield "</header>"

    def _limits(self) -> Iterator[str]:
        if self.unlisted:
            yield f"<p>{counted(self.unlisted, 'finding')} more, the mildest, are not listed: check fewer paths or rules.</p>"
        if len(self.listed) > len(self.whole):
            yield f"<p>The {MOST_WHOLE:,} most severe findings have source, path and fix; the others are lines only.</p>"

    def filters(self) -> Iterator[str]:
        """What to show of the findings; hidden without the script, which does it."""
        codes = Counter((finding.code, finding.name) for finding in self.listed)
        paths = Counter(self.view.name(finding.path) for finding in self.listed)
        levels = Counter(finding.severity for finding in self.listed)
        yield '<aside><form role="search" aria-label="Filter the findings" hidden>'
        yield '<label>Search<input name="words" type="search" placeholder="words in a finding" autocomplete="off"></label>'
        yield "<fieldset><legend>Level</legend>"
        for level in ("error", "warning", "note"):
            if levels[level]:
                yield f'<label class="{level}"><input type="checkbox" name="level" value="{level}" checked>'
                yield f'{_sign(level)} {level} <span class="dim">{levels[level]:,}</span></label>'
        yield "</fieldset>"
        yield '<label>Rule<select name="rule"><option value="">all rules</option>'
        for (code, name), count in sorted(codes.items()):
            yield f'<option value="{escaped(code)}">{escaped(code)} {escaped(name)} ({count:,})</option>'
        yield '</select></label><label>File<select name="file"><option value="">all files</option>'
        for path, count in sorted(paths.items()):
            yield f'<option value="{escaped(path)}">{escaped(path)} ({count:,})</option>'
        yield '</select></label><p class="buttons"><button type="reset">Show all</button>'
        yield '<button type="button" name="open">Open shown</button></p>'
        yield '<p><output aria-live="polite"></output></p></form>'
        yield from self._contents()
        yield "</aside>"

    def _contents(self) -> Iterator[str]:
        yield '<nav aria-label="Contents"><ol>'
        for number, section in enumerate(self.runs, 1):
            yield f'<li><a href="#run{number}">{broken(section.label)}</a> <span class="dim">{len(section.findings)}</span></li>'
        if self.rest:
            yield f'<li><a href="#rest">{self._title_of_the_rest()}</a> <span class="dim">{len(self.rest):,}</span></li>'
        yield '<li><a href="#rules">Rules</a></li></ol></nav>' if self.listed else "</ol></nav>"

    def sections(self) -> Iterator[str]:
        """The runs with their findings, the other findings, and the rules."""
        if not self.listed:
            yield "<p>No problems found.</p>"
        for number, section in enumerate(self.runs, 1):
            yield f'<section class="group" id="run{number}" aria-labelledby="run{number}-name">'
            yield f'<h2 id="run{number}-name">{broken(section.label)}</h2>'
            yield from section.flow
            yield '<h3 class="unseen">Findings</h3>'
            yield from self._list(section.findings, section.path)
            if section.others:
                word = "finding that an earlier run comes" if section.others == 1 else "findings that earlier runs come"
                yield f'<p class="dim">It passes {section.others} more {word} to as well.</p>'
            yield "</section>"
        yield from self._clean()
        yield from self._rest()
        yield from self._rules()

    def _clean(self) -> Iterator[str]:
        if self.clean:
            yield f'<details class="clean"><summary>{counted(len(self.clean), "run")} without findings</summary><ul>'
            yield from (f"<li>{escaped(label)}</li>" for label in self.clean)
            yield "</ul></details>"

    def _title_of_the_rest(self) -> str:
        return "On no run\u2019s way" if self.runs or self.clean else "Findings"

    def _rest(self) -> Iterator[str]:
        if not self.rest:
            return
        yield f'<section id="rest" aria-labelledby="rest-name"><h2 id="rest-name">{self._title_of_the_rest()}</h2>'
        for path in dict.fromkeys(finding.path for finding in self.rest):
            yield f'<div class="group"><h3>{broken(self.view.name(path))}</h3>'
            yield from self._list([finding for finding in self.rest if finding.path == path], path)
            yield "</div>"
        yield "</section>"

    # -- a finding ----------------------------------------------------------------------------------------------

    def _list(self, findings: Sequence[Finding], path: str) -> Iterator[str]:
        """Some findings, below the name of a file."""
        yield '<ul class="findings">'
        for finding in findings:
            yield from self._finding(finding, path)
        yield "</ul>"

    def _finding(self, finding: Finding, path: str) -> Iterator[str]:
        view, level, code = self.view, finding.severity, escaped(finding.code)
        start = view.at(finding)[0]
        line = line_in(view.sources.cells.get(finding.path, ()), finding.span.line)
        place = (
            f"{view.name(finding.path)}:{line}" if finding.path != path else f"{'line ' * (start.cell is None)}{line}"
        )
        head = (
            f'<span class="level {level}">{_sign(level)} {level}</span><span class="code">{code}</span>'
            f'<span class="message">{sentence(finding.message)}</span><span class="place">{broken(place)}</span>'
        )
        data = f'data-level="{level}" data-rule="{code}" data-file="{escaped(self.view.name(finding.path))}"'
        if finding not in self.whole:
            yield f'<li class="finding bare" {data}><div class="head">{head}</div></li>'
            return
        yield f'<li class="finding" id="f{self._numbers[finding]}" {data}><details><summary class="head">{head}</summary>'
        yield '<div class="body">'
        if excerpt := source(view.sources, finding):
            yield excerpt
        if finding.remedy:
            yield f"<h4>What to do</h4><p>{sentence(finding.remedy)}</p>"
        yield from self._way(finding)
        if fix := self.fixes[finding]:
            yield fix
        yield f'<p><a href="#{code}">{code} {escaped(finding.name)}: why it matters</a></p></div></details></li>'

    def _way(self, finding: Finding) -> Iterator[str]:
        sources = self.view.sources
        if way := [step for step in finding.steps if step.message != ANOTHER_RUN]:
            title = "How a run gets there" if not self.starts.isdisjoint(_starts(finding)) else "What it has to do with"
            yield f'<h4>{title}</h4><ol class="way">'
            for step in way:
                code = cut(sources[step.path].line(step.span.line).strip())
                line = line_in(sources.cells.get(step.path, ()), step.span.line)
                place = broken(f"{self.view.name(step.path)}:{line}")
                yield f'<li>{sentence(step.message)} <span class="place">{place}</span><code>{escaped(code)}</code></li>'
            yield "</ol>"
        if others := self.also.get(finding):
            more = f" and {len(others) - 5:,} more" if len(others) > 5 else ""
            yield f'<p class="also">Also on the way of {escaped(", ".join(others[:5]))}{more}.</p>'

    def _fix(self, finding: Finding) -> Iterator[str]:
        fix = self.view.fix(finding)
        if fix is None:
            return
        option = {"safe": "--fix", "unsafe": "--fix --unsafe-fixes"}.get(fix.applicability)
        how = f"<code>{option}</code> does it" if option else "to be made by hand"
        yield f'<h4>Fix <span class="dim">{escaped(fix.applicability)}: {how}</span></h4><p>{sentence(fix.message)}.</p>'
        for hunk in changes.hunks(self.view.replacements(fix), self.view.sources):
            cell = f":cell {hunk.cell}" if hunk.cell is not None else ""
            if hunk.path != finding.path or cell:
                yield f'<p class="place">{escaped(self.view.name(hunk.path))}{cell}</p>'
            yield diff(hunk.lines)

    # -- rules --------------------------------------------------------------------------------------------------

    def _rules(self) -> Iterator[str]:
        codes = sorted({finding.code for finding in self.listed})
        if not codes:
            return
        writer = _writer()
        yield '<section id="rules" aria-labelledby="rules-name"><h2 id="rules-name">Rules</h2>'
        for code in codes:
            rule = self.view.catalog.rules[code]
            head = f'<h3><span class="code">{escaped(code)}</span> {escaped(rule.name)}</h3>'
            summary = f'<span class="dim">{sentence(rule.summary)}</span>'
            yield f'<details class="rule" id="{escaped(code)}"><summary>{head} {summary}</summary><div class="body">'
            yield _written(writer, rule)
            yield "</div></details>"
        yield "</section>"


Start = tuple[str, Span]
"""A place: a path, and a span there."""


def _starts(finding: Finding) -> Iterator[Start]:
    """Where the runs may start that a finding was found in."""
    for step in finding.steps[:1]:
        yield step.path, step.span
    for step in finding.steps[1:]:
        if step.message == ANOTHER_RUN:
            yield step.path, step.span


def _by_start(findings: Sequence[Finding]) -> dict[Start, list[Finding]]:
    found: dict[Start, list[Finding]] = {}
    for finding in findings:
        for start in _starts(finding):
            found.setdefault(start, []).append(finding)
    return found


def _by_place(findings: Sequence[Finding]) -> dict[Start, list[Finding]]:
    found: dict[Start, list[Finding]] = {}
    for finding in findings:
        found.setdefault((finding.path, finding.span), []).append(finding)
    return found


def _ranked(findings: Iterable[Finding]) -> list[Finding]:
    """The most severe first, then by place."""
    return sorted(findings, key=lambda finding: (-ORDER[finding.severity], finding.sort_key()))


def _flow(run: Traced, name: Callable[[str], str]) -> Iterator[str]:
    yield from lanes(run)
    yield '<details class="flow"><summary>Seed flow, step by step</summary>'
    yield from tree(run, name)
    yield "</details>"


def _sign(level: str) -> str:
    return f'<span class="sign" aria-hidden="true">{SIGNS[level]}</span>'


def _writer() -> MarkdownIt:
    """Writes Markdown as HTML. HTML within it is shown as text: a catalog may come from anywhere."""
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False})


def _written(writer: MarkdownIt, rule: Rule) -> str:
    """What a rule's page says behind its summary, as HTML, with its headings below those of the report."""
    _summary, *rest = rules.guidance(rule)
    tokens = writer.parse(markdown(rest))
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = "h4"
    written: str = writer.renderer.render(tokens, writer.options, {})
    return written
