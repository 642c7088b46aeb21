"""The seed flow of runs as one page: a tree in the order of execution, with the source lines and the findings.

The page is whole in itself: it loads nothing, and reads as well without its script.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Final

from detlint.checks.finding import Finding
from detlint.effects.trace import Call, Event
from detlint.inspect import Inspection, Traced
from detlint.model.module import Module
from detlint.model.runs.reach import Place
from detlint.model.sites.records import Span, plain
from detlint.report import shell
from detlint.report.deeds import Deed, deeds
from detlint.report.markup import escaped as escape
from detlint.report.place import at_name, shown
from detlint.source import Source

STATES: Final = {"drawn": ("bad", "unseeded"), "seeded": ("good", "seeded"), "optional": ("doubt", "optional"),
                 "entropy": ("bad", "differs every time")}  # fmt: skip
WIDEST: Final = 140


def page(inspection: Inspection, runs: Sequence[Traced]) -> str:
    """The page for some runs of one file."""
    title = f"Seed flow of {shown(inspection.module.path)}"
    body = "\n".join(line for number, run in enumerate(runs) for line in _Run(inspection, run, number).section())
    return shell.page(title, f"{LEGEND}\n{body}\n{SCRIPT}", STYLE)


class _Run:
    """Writes one run; its number makes its anchors its own."""

    def __init__(self, inspection: Inspection, run: Traced, number: int) -> None:
        self.inspection = inspection
        self.run = run
        self.number = number
        self.sources: dict[str, Source] = {}
        self.findings: dict[tuple[str, int, int], list[Finding]] = {}
        passed = {(p.module, p.module.sites[p.site].span) for reach in run.reaches for p in reach.places}
        told = {finding for reach in run.reaches for finding in inspection.engine.told(reach)}
        for module in dict.fromkeys([run.entry.module, *(module for module, _ in passed)]):
            for finding in inspection.reported(module, [run]):
                if finding.severity != "note" and (finding in told or (module, finding.span) in passed):
                    self.findings.setdefault(_key(module, finding.span), []).append(finding)
        self.placed: dict[Finding, str] = {}
        """The findings that stand at a row -> its anchor."""

    def section(self) -> Iterator[str]:
        rows = [*self._call(self.run.root)]
        yield f"<section><h2>{escape(self.run.label)}</h2>"
        yield from self._streams()
        yield from self._summary()
        yield '<p class="hint">In the order of execution. Point at a line to see the streams just before it.</p>'
        yield '<p class="now" hidden></p><div class="tree">'
        yield from rows
        yield "</div></section>"

    # -- the tree -----------------------------------------------------------------------------------------------

    def _call(self, call: Call) -> Iterator[str]:
        for item in call.steps():
            if isinstance(item, tuple):
                done, found = deeds(item), self._found(item[0].place)
                if done or found:
                    yield self._row(item[0].place, done, found, item[0])
                continue
            inner = [*self._call(item)]
            if item.how == "again":
                if item.matters() and item.place is not None:
                    yield self._row(item.place, [Deed("function", f"{plain(item.function.name)}, as before")], [], None)
            elif item.how == "call" and item.function is call.function and item.module is call.module:
                yield from inner  # what a process, a command or the run begins with
            elif inner:
                yield f"<details open><summary>{self._head(item)}</summary>"
                yield from inner
                yield "</details>"

    def _head(self, call: Call) -> str:
        if call.how == "later":
            return (
                '<span class="fn">later</span> <span class="dim">what is called or drawn once objects are used</span>'
            )
        name = call.module.facts.module if call.how == "import" else plain(call.function.name)
        word = {"call": "", "import": "import "}.get(call.how, f"{call.how} ")
        head = (
            f'<span class="fn">{escape(word + name)}</span> <span class="dim">{escape(shown(call.module.path))}</span>'
        )
        return head + (f" {self._source(call.place)}" if call.place is not None else "")

    def _row(self, place: Place, done: Sequence[Deed], found: Sequence[Finding], event: Event | None) -> str:
        anchor = f"run{self.number}-{len(self.placed)}"
        self.placed.update(dict.fromkeys(found, anchor))
        kind = next((k for k in ("bad", "doubt", "good", "switch") if any(deed.kind == k for deed in done)), "")
        streams = f" data-streams='{escape(json.dumps(dict(event.streams)))}'" if event is not None else ""
        name = f' id="{anchor}"' if found else ""
        chips = " ".join(f'<span class="chip {deed.kind}">{escape(deed.text)}</span>' for deed in done)
        told = "".join(f'<div class="finding {f.severity}">{_told(f)}</div>' for f in found)
        return f'<div class="row {kind}"{name}{streams} tabindex="0">{self._source(place)} {chips}{told}</div>'

    def _source(self, place: Place) -> str:
        path, span = place.module.path, place.module.sites[place.site].span
        text = self.sources.setdefault(path, Source(path)).line(span.line).strip()
        text = text if len(text) <= WIDEST else text[: WIDEST - 1] + "\u2026"
        return f'<span class="at">{escape(at_name(place))}</span> <code>{escape(text)}</code>'

    def _found(self, place: Place) -> list[Finding]:
        """The findings of a place, the first time that the run passes it."""
        found = self.findings.get(_key(place.module, place.module.sites[place.site].span), [])
        return [finding for finding in found if finding not in self.placed]

    # -- above the tree -----------------------------------------------------------------------------------------

    def _streams(self) -> Iterator[str]:
        """What becomes of each stream that the run draws from."""
        drawn: dict[str, dict[str, int]] = {}
        for event in self.run.root.events():
            if event.kind == "draws":
                counts = drawn.setdefault(event.name, {})
                counts[str(event.state)] = counts.get(str(event.state), 0) + 1
        yield '<p class="streams">'
        for stream, counts in sorted(drawn.items()):
            words = ", ".join(f"{count} {STATES[state][1]}" for state, count in counts.items())
            kinds = {STATES[state][0] for state in counts}
            kind = next(k for k in ("bad", "doubt", "good") if k in kinds)
            yield f'<span class="chip {kind}">{escape(stream)}: {words}</span>'
        yield "</p>" if drawn else "This run draws from no stream.</p>"

    def _summary(self) -> Iterator[str]:
        found = sorted({f for group in self.findings.values() for f in group}, key=Finding.sort_key)
        if not found:
            yield "<p>No findings.</p>"
            return
        yield f"<details><summary>{len(found)} finding{'s' if len(found) > 1 else ''}</summary><ul>"
        for finding in found:
            place = self.inspection.at(finding.path, finding.span.line)
            anchor = self.placed.get(finding)
            link = f'<a href="#{anchor}">{escape(place)}</a>' if anchor else escape(place)
            yield f'<li class="{finding.severity}">{link} {_told(finding)}</li>'
        yield "</ul></details>"


def _key(module: Module, span: Span) -> tuple[str, int, int]:
    return (module.path, span.line, span.column)


def _told(finding: Finding) -> str:
    remedy = f' <span class="dim">{escape(finding.remedy)}</span>' if finding.remedy else ""
    return f"<b>{finding.severity} {finding.code}</b> {escape(finding.message)}{remedy}"


LEGEND: Final = """<p><span class="chip good">the same in every run</span> <span class="chip doubt">if an option says so</span>
<span class="chip bad">varies</span> <span class="chip switch">a switch</span></p>"""
STYLE: Final = """\
body { max-width: 76rem; }
code { font: 13px/1.4 ui-monospace, Consolas, monospace; background: var(--code); padding: .1em .35em; border-radius: 4px;
  overflow-wrap: anywhere; }
.dim, .hint, .at { color: var(--dim); font-size: 13px; }
.at { font-family: ui-monospace, Consolas, monospace; }
.fn { font-weight: 600; }
.tree details { margin-left: .4rem; padding-left: 1rem; border-left: 1px solid var(--line); }
summary { cursor: pointer; padding: .15rem 0; }
.row { margin: .15rem 0 .15rem .4rem; padding: .15rem .6rem; border-left: 3px solid var(--line); }
.row:hover, .row:focus { background: var(--code); outline: none; }
.row:target { outline: 2px solid var(--blue); }
.row.good { border-color: var(--good); } .row.doubt { border-color: var(--doubt); } .row.bad { border-color: var(--bad); }
.row.switch { border-color: var(--blue); }
.chip { display: inline-block; }
.chip.good { color: var(--good); } .chip.doubt { color: var(--doubt); } .chip.bad { color: var(--bad); }
.chip.switch { color: var(--blue); } .chip.function { color: var(--grey); }
.finding { margin: .2rem 0 .3rem; font-size: 14px; } .error b { color: var(--bad); } .warning b { color: var(--doubt); }
a { color: var(--blue); }
.now { position: sticky; top: 0; background: var(--paper); border-bottom: 1px solid var(--line); padding: .4rem 0; margin: 0; }
"""
SCRIPT: Final = """<script>
// Shows the state of the streams just before the line that is pointed at.
const words = { drawn: ["bad", "unseeded"], seeded: ["good", "seeded"], optional: ["doubt", "optional"],
  entropy: ["bad", "differs every time"] };
for (const row of document.querySelectorAll("[data-streams]")) {
  const show = () => {
    const bar = row.closest("section").querySelector(".now"), streams = Object.entries(JSON.parse(row.dataset.streams));
    bar.hidden = false;
    bar.replaceChildren("Before: ", ...(streams.length ? streams : [["no stream", ""]]).map(([name, state]) => {
      const chip = document.createElement("span"), [kind, word] = words[state] || ["function", "touched yet"];
      chip.className = "chip " + kind;
      chip.textContent = name + " " + word;
      return chip;
    }));
  };
  row.addEventListener("mouseenter", show);
  row.addEventListener("focus", show);
}
</script>"""
