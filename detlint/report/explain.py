"""`detlint explain`: what is known of one line, which runs come there, and why the verdict is what it is."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

import click

from detlint.catalog import Entry
from detlint.checks.seeds import written
from detlint.effects.trace import Call, Event
from detlint.inspect import Inspection, NotThere, Traced
from detlint.model.followed import not_followed, not_referred
from detlint.model.liveness import Piece, Program, live, way_to
from detlint.model.module import Module
from detlint.model.runs.reach import Place
from detlint.model.sites.records import Site, plain
from detlint.notebook import lines_of
from detlint.report.place import at, at_line, line_in, shown
from detlint.report.text import COLOURS
from detlint.report.why import Verdict, Verdicts
from detlint.source import Source

STATES: Final = {
    "": "unseeded",
    "drawn": "unseeded",
    "seeded": "seeded",
    "optional": "seeded only where an option gives a seed",
    "entropy": "seeded differently in every run",
}
"""A stream's state in a run -> in words."""
STATE_COLOURS: Final = {"": "red", "drawn": "red", "seeded": "green", "optional": "yellow", "entropy": "red"}
KINDS: Final = {
    "fixed": "fixed",
    "late": "fixed but late: the run has drawn from it before",
    "optional": "if an option says so",
    "entropy": "differently in every run",
}
"""What a seeding is -> in words."""
WIDTH: Final = 110


def explain(inspection: Inspection, line: int, cell: int | None = None) -> Iterator[str]:
    """The reasoning for one line.

    Args:
        cell: the cell of a notebook in which the line is counted.

    Raises:
        NotThere: the file has no such line.
    """
    module = inspection.module
    source = inspection.source
    line = _line(module, source, line, cell)
    indexes = _sites_at(module.sites, line)
    runs = inspection.runs()
    yield from _head(inspection, line, source, indexes)
    if indexes:
        yield from _known(inspection, indexes)
        yield from _runs(inspection, runs, indexes)
    else:
        yield from _title("What stands here")
        yield "  nothing that the catalog knows, and no call of the program's own"
    yield from _verdicts(inspection, Verdicts(inspection, runs), line, indexes)


def _line(module: Module, source: Source, line: int, number: int | None) -> int:
    """The line that is asked for, among all lines; a notebook's cells are counted like those of the findings."""
    cells, name = module.facts.cells, shown(module.path)
    lines = range(1, len(source.lines) + 1)
    if number is not None or cells:
        lines = lines_of(cells, number, len(source.lines))
        if not lines:
            listed = ", ".join(str(cell.number) for cell in cells) or "none"
            if number is None:
                raise NotThere(
                    f"{name} is a notebook: name a cell and a line, as in {name}:3:12; cells of code: {listed}"
                )
            raise NotThere(f"{name} has no cell {number} with Python; cells of code: {listed}")
        name = f"cell {number} of {name}"
    if not 0 < line <= len(lines):
        raise NotThere(f"{name} has {len(lines)} lines; there is no line {line}")
    return lines[line - 1]


def _sites_at(sites: Sequence[Site], line: int) -> list[int]:
    """The sites that begin on a line; where none does, those of the innermost call around it."""
    begin = [i for i, site in enumerate(sites) if site.span.line == line]
    if begin:
        return sorted(begin, key=lambda i: sites[i].span.column)
    around = [i for i, site in enumerate(sites) if site.span.line < line <= site.span.end_line]
    return [max(around, key=lambda i: (sites[i].span.line, sites[i].span.column))] if around else []


def _head(inspection: Inspection, line: int, source: Source, indexes: Sequence[int]) -> Iterator[str]:
    module = inspection.module
    function = module.function_of(module.sites[indexes[0]]).name if indexes else ""
    inside = click.style(f"  in {plain(function)}" if function else "", dim=True)
    yield click.style(at_line(module, line), bold=True) + inside
    number = line_in(module.facts.cells, line).rpartition(":")[2]
    yield click.style(f"{number:>5} | ", fg="blue") + source.line(line).expandtabs(4)


def _title(text: str) -> Iterator[str]:
    yield ""
    yield click.style(text, bold=True, underline=True)


# -- what the catalog knows -------------------------------------------------------------------------------------


def _known(inspection: Inspection, indexes: Sequence[int]) -> Iterator[str]:
    module, matcher = inspection.module, inspection.engine.matcher
    yield from _title("What the catalog knows")
    known: dict[str, dict[str, None]] = {}
    for index in indexes:
        matches = matcher.matches(module, index)
        entries = [match.entry for match in matches]
        if not any([*_facts(inspection, entry)] for entry in entries):
            entries += [entry for entry, _, _ in matcher.unfulfilled(module, index)]
        if entries:
            name = matches[0].name if matches else written(Place(module, index))
            known.setdefault(name, {}).update((text, None) for entry in entries for text in _facts(inspection, entry))
    if not known:
        yield "  nothing on this line"
    for name, texts in known.items():
        yield f"  {click.style(name, bold=True)}"
        for text in texts:
            yield from textwrap.wrap(text, WIDTH, initial_indent="    ", subsequent_indent="      ")


def _facts(inspection: Inspection, entry: Entry) -> Iterator[str]:
    """What an entry says, a sentence each."""
    if entry.rule:
        rule = inspection.engine.catalog.rules[entry.rule]
        where = f" (on {', '.join(entry.targets)})" if entry.targets else ""
        yield f"{rule.code} {rule.name}{where}: {rule.summary}"
    if entry.draws:
        yield f"draws from {', '.join(entry.draws)}"
    if entry.seeds:
        yield f"seeds {', '.join(entry.seeds)}" + (f", by its argument `{entry.seed}`" if entry.seed else "")
    if entry.unseeds:
        yield f"un-seeds {', '.join(entry.unseeds)}"
    if entry.restores:
        yield f"puts {', '.join(entry.restores)} back as they were where its block ends"
    if entry.entropy:
        yield "gives something else in every run"
    if entry.sets:
        yield "sets " + ", ".join(f"{switch} = {value}" for switch, value in entry.sets.items())
    if "trains" in entry.contexts:
        yield "trains"
    if entry.note:
        yield entry.note


# -- which runs come there --------------------------------------------------------------------------------------


def _runs(inspection: Inspection, runs: Sequence[Traced], indexes: Sequence[int]) -> Iterator[str]:
    yield from _title("Which runs come here")
    here = {Place(inspection.module, index) for index in indexes}
    passing = [run for run in runs if any(not here.isdisjoint(reach.places) for reach in run.reaches)]
    if not passing:
        yield from _may_come(inspection, runs, indexes)
    for run in passing:
        yield f"  {click.style(run.label, fg='cyan')}"
        items = [(item, way) for item, way in _items(run.root) if item.place in here]
        way = items[0][1] if items else _way_into(run, inspection.module, indexes)
        if way:
            yield f"    path: {_path(way)}"
        yield from _streams(run, [item for item, _ in items], here)
        yield from _switches(run)
    others = len(runs) - len(passing)
    if passing and others:
        yield click.style(
            f"  {others} other entry point{'s' if others > 1 else ''} can reach this file, not this line", dim=True
        )


def _may_come(inspection: Inspection, runs: Sequence[Traced], indexes: Sequence[int]) -> Iterator[str]:
    """What is known of runs that aren't seen to come to some sites: in which of them the code around may be had, how, and what keeps
    that way from being followed; or that they don't refer to it."""
    engine, module = inspection.engine, inspection.module
    program = Program(engine.resolver, engine.users.meanings)
    starts = inspection.starts.items()
    lives = {start: live(program, start, [f"{start}::{name}" for name in names]) for start, names in starts}
    piece = program.around(module, module.sites[indexes[0]].span)
    coming = [start for start, found in lives.items() if piece in found]
    importing = [start for start, found in lives.items() if Piece(module.path, 0) in found]
    if coming:
        yield "  no entry point of the program does, as far as calls can be followed; but these may:"
    elif importing:
        yield "  no entry point of the program does, so the caller decides; these import the file:"
    else:
        yield "  no entry point of the program imports the file: the caller decides"
    for start in coming or importing:
        yield f"  {click.style(shown(start), fg='cyan')}"
        if coming:
            way = way_to(lives[start], piece)
            yield f"    path: {' > '.join([*(_reference(program, by, op) for by, op in way), 'here'])}"
            reason = not_followed(program, _entered(runs, start), way, piece, partial(_at, program))
        else:
            reason = not_referred(program, engine.users, lives[start], piece, partial(_at, program))
        yield from textwrap.wrap(
            f"not followed because {reason}", WIDTH, initial_indent="    ", subsequent_indent="      "
        )


def _entered(runs: Sequence[Traced], start: str) -> set[tuple[str, str]]:
    """The functions that the runs of a file are seen to run, by file and name."""
    calls = (call for run in runs if run.entry.module.path == start for call, _ in _items(run.root))
    return {(call.module.path, plain(call.function.name)) for call in calls if isinstance(call, Call)}


def _at(program: Program, by: Piece, op: int) -> str:
    """The file and line of an op."""
    function, module = program.function(by), program.resolver.module(by.path)
    assert function is not None and module is not None
    return at_line(module, function.spans[op][0])


def _reference(program: Program, by: Piece, op: int) -> str:
    """The place of a reference, with the function that it stands in."""
    function = program.function(by)
    name = f"`{plain(function.qualified)}` " if function is not None and function.qualified else ""
    return f"{name}({_at(program, by, op)})"


def _items(call: Call, above: tuple[Call, ...] = ()) -> Iterator[tuple[Event | Call, tuple[Call, ...]]]:
    """All events and calls of a run, in order, each with the calls that lead there."""
    way = (*above, call)
    for item in call.inside:
        yield item, way
        if isinstance(item, Call):
            yield from _items(item, way)


def _way_into(run: Traced, module: Module, indexes: Sequence[int]) -> tuple[Call, ...]:
    """The calls that lead into the function that some sites stand in."""
    numbers = {module.sites[index].function for index in indexes}
    for item, way in _items(run.root):
        if isinstance(item, Call) and item.module is module and item.function.number in numbers:
            return (*way, item)
    return ()


def _path(way: Sequence[Call]) -> str:
    """The calls from the entry point to a line."""
    steps = ["what is called or drawn once objects are used"] if any(call.how == "later" for call in way) else []
    for call in way[1:]:
        if call.how == "import":
            steps.append(f"`import {call.module.facts.module}`")
        elif call.place is not None:
            steps.append(f"`{plain(call.function.name)}` ({at(call.place)})")
    return " > ".join([*steps, "here"]) if steps else "here, at the top level"


def _streams(run: Traced, items: Sequence[Event | Call], here: set[Place]) -> Iterator[str]:
    """The state of the streams that some events, or what some calls do, are about; and where the run seeds them."""
    events = [e for item in items for e in ([item] if isinstance(item, Event) else item.events())]
    states: dict[str, str] = {}
    for event in events:
        if event.kind == "draws" or (event.kind == "seeds" and event.name not in states):
            states[event.name] = event.streams.get(event.name, "")
    alike: dict[tuple[str, str, tuple[str, ...]], list[str]] = {}
    for name, state in states.items():
        verbs = " and ".join(dict.fromkeys(e.kind for e in events if e.name == name))
        alike.setdefault((verbs, state, tuple(_seedings(run, name, here))), []).append(name)
    for (verbs, state, seedings), names in alike.items():
        before = " before" if "seeds" in verbs else ""
        now = click.style(f"{STATES[state]}{before}", fg=STATE_COLOURS[state])
        yield f"    {verbs} {click.style(', '.join(names), bold=True)}: {now}"
        yield from (f"      {seeding}" for seeding in seedings)


def _seedings(run: Traced, stream: str, here: set[Place]) -> Iterator[str]:
    """Where a run seeds a stream, a line each."""
    seedings = dict.fromkeys(
        f"seeded {'here' if e.place in here else 'at ' + at(e.place)} by `{written(e.place)}`, {_kind(e)}"
        for e, _ in run.root.ways()
        if e.kind == "seeds" and e.name == stream
    )
    yield from seedings or ("nothing in this run seeds it",)


def _kind(event: Event) -> str:
    return KINDS["late" if event.late else str(event.state)]


def _switches(run: Traced) -> Iterator[str]:
    """The switches that a run sets."""
    switches = {name: at for reach in run.reaches for name, at in reach.switches.items()}
    if not switches:
        yield "    sets no switch"
    for name, (value, place) in sorted(switches.items()):
        yield f"    sets {click.style(name, bold=True)} = {value} at {at(place)}"


# -- the verdict ------------------------------------------------------------------------------------------------


def _verdicts(inspection: Inspection, verdicts: Verdicts, line: int, indexes: Sequence[int]) -> Iterator[str]:
    yield from _title("Verdict")
    found = [*verdicts.at(line, indexes)]
    if not found:
        yield "  no finding, and no rule that could have one"
    for verdict in found:
        yield from _verdict(inspection, verdict)
    for finding in verdicts.through(line):
        head = click.style(f"{finding.severity}[{finding.code}]", fg=COLOURS[finding.severity])
        yield f"  on the way to {head} {inspection.at(finding.path, finding.span.line)} {finding.message}"


def _verdict(inspection: Inspection, verdict: Verdict) -> Iterator[str]:
    code, _, rest = verdict.title.partition(" ")
    if verdict.level in COLOURS:
        yield f"  {click.style(f'{verdict.level}[{code}]', fg=COLOURS[verdict.level], bold=True)} {rest}"
    else:
        word = "no finding" if verdict.level == "none" else verdict.level
        yield f"  {click.style(word, fg='green')}: {verdict.title}"
    for reason in verdict.reasons:
        yield from textwrap.wrap(f"because: {reason}" if reason is verdict.reasons[0] else f"then: {reason}", WIDTH,
                                 initial_indent="    ", subsequent_indent="      ")  # fmt: skip
    for step in verdict.steps:
        yield click.style(f"    path: {inspection.at(step.path, step.span.line)}: {step.message}", dim=True)
