"""Opens a program to show what its runs do: for `detlint explain`, `detlint graph` and reports with pictures."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from detlint import run
from detlint.catalog import Catalog
from detlint.checks.engine import Engine
from detlint.checks.finding import Finding, Report
from detlint.checks.suppress import suppress
from detlint.config import Config
from detlint.discover import program
from detlint.effects.recorder import Recorder
from detlint.effects.trace import Call, Trace
from detlint.model.module import Module
from detlint.model.runs.entry import EntryPoint, entry_points, script
from detlint.model.runs.outcome import Passage, Runs
from detlint.model.runs.reach import Reach
from detlint.model.sites.records import plain
from detlint.report.place import at_line, line_in, shown
from detlint.source import Source
from detlint.visible import visible


class NotThere(Exception):
    """What was asked for doesn't exist. The text says what there is."""


class Traced(msgspec.Struct, frozen=True):
    """A run from one entry point, with the processes that it starts."""

    entry: EntryPoint
    reaches: Sequence[Reach]
    root: Call

    @property
    def label(self) -> str:
        """The entry point, as text."""
        return self.labelled(shown)

    def labelled(self, name: Callable[[str], str]) -> str:
        """The entry point, as text; `name` says how paths are written."""
        function = f" {plain(self.entry.function.name)}" if self.entry.function.name else ""
        started = self.entry.started
        by = f", as {name(started.path)}:{started.span.line} starts it" if started.path else ""
        return f"{at_line(self.entry.module, self.entry.span.line, name)}{function} ({self.entry.kind}){by}"


class Inspection:
    """One file, and the runs that may reach it.

    Args:
        text: what stands for its content.

    Raises:
        NotThere: the file can't be read.
    """

    def __init__(self, opened: run.Opened, path: str, text: bytes | None = None) -> None:
        self.engine: Engine = opened.engine
        self.source = Source(path, text)
        self.starts = opened.starts
        self.ignored = opened.ignored
        module = self.engine.resolver.module(path)
        if module is None:
            facts = self.engine.resolver.modules.facts(path)
            problem = facts.problem.message if facts and facts.problem else "cannot be read"
            raise NotThere(f"{shown(path)}: {visible(problem)}")
        self.module: Module = module

    def at(self, path: str, line: int) -> str:
        """A line of one of the program's files, as text."""
        module = self.engine.resolver.module(path)
        return f"{shown(path)}:{line_in(module.facts.cells if module is not None else (), line)}"

    def runs(self) -> list[Traced]:
        """The runs of the program that may reach the file."""
        found = []
        for path in self.starts:
            module = self.engine.resolver.module(path)
            if module is not None:
                found += self.follow(module, self.starts[path])
        return found

    def follow(self, module: Module, declared: Sequence[str] = ()) -> list[Traced]:
        """The runs that start in a module; `declared` as in `Engine.follow`."""
        entries = entry_points(module, declared)
        if not entries:
            # Whether a script's top level acts is the engine's to say.
            top = script(module) if self.engine.follow(module) else None
            entries = [top] if top is not None else []
        return [self.trace(one) for entry in entries for one in self.engine.starting(entry)[1] or [entry]]

    def trace(self, entry: EntryPoint) -> Traced:
        """One run."""
        flow = self.engine.flow
        trace = Trace(entry.module, entry.function)
        flow.recorder = trace
        try:
            reaches = flow.reach(entry)
            for reach in reaches:
                self.engine.complete(reach)
            return Traced(entry, reaches, trace.root)
        finally:
            flow.recorder = Recorder()

    def findings(self, module: Module, runs: Sequence[Traced]) -> list[Finding]:
        """All findings in a module, those that a comment covers included."""
        reaches = [reach for traced in runs for reach in traced.reaches]
        found = [f for reach in reaches for f in self.engine.told(reach) if f.path == module.path]
        return sorted(
            {*found, *self.engine.judge(module, runs_of(self.engine, reaches, module))[0]}, key=Finding.sort_key
        )

    def reported(self, module: Module, runs: Sequence[Traced]) -> list[Finding]:
        """The findings in a module that no comment covers and no configuration leaves out."""
        source = self.source if module is self.module else Source(module.path)
        found = self.findings(module, runs)
        kept, _ = suppress(found, module.facts.directives, module.path, source, None, self.engine.on)
        return [finding for finding in kept if not self.ignored(finding)]


def runs_of(engine: Engine, reaches: Sequence[Reach], module: Module) -> Runs:
    """What a module is judged by, of the runs that may reach it."""
    path, none = module.path, frozenset[int]()
    passages = [
        Passage(reach.outcome(), sites[path], reach.seeded().get(path, none), reach.silent().get(path, none))
        for reach in reaches
        if path in (sites := reach.sites())
    ]
    stops = reaches[0].stops if reaches and all(reach.stops for reach in reaches) else ""
    leaves = any(reach.leaves for reach in reaches)
    broken = next((reach.stops for reach in reaches if reach.stops), "")
    goes_on = any(engine.may_train(reach) and not reach.stops for reach in reaches)
    return Runs(passages, any(engine.may_train(r) for r in reaches), stops, leaves, "" if goes_on else broken)


@contextlib.contextmanager
def inspect(
    path: Path, config: Config, catalog: Catalog, cache_folder: Path | None, texts: Mapping[str, bytes] | None = None
) -> Iterator[Inspection]:
    """Open a file's program.

    Args:
        texts: what stands for the content of some files, by absolute path.

    Raises:
        NotThere: there is no such file, or it can't be read.
    """
    if not path.is_file():
        raise NotThere(f"no such file: {visible(str(path))}")
    real = path.resolve()
    with run.opened([real], config, catalog, cache_folder, program([real], config), texts) as opened:
        yield Inspection(opened, str(real), (texts or {}).get(str(real)))


def followed(report: Report, config: Config, catalog: Catalog, cache_folder: Path | None) -> Iterator[Traced]:
    """The runs that may come to the files of a report, one after the other. Each is let go of before the next."""
    asked, around = ([Path(path) for path in sorted(paths)] for paths in (report.paths, report.program))
    with run.opened(asked, config, catalog, cache_folder, around, report.texts) as opened:
        for start, declared in opened.starts.items():
            runs: list[Traced] = []
            with contextlib.suppress(
                Exception
            ):  # what goes wrong here has gone wrong in the check too, which tells of it
                inspection = Inspection(opened, start)
                runs = inspection.follow(inspection.module, declared)
            yield from runs
