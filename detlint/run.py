"""One run: files to facts, facts to a program, the program to findings, in the same order however it was done."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

import msgspec

from detlint import catalog as catalogs
from detlint import counters
from detlint.answers import Followed, Judged, Known, followed, imported, judged, passing_at, strays, ways_at
from detlint.cache import Cache
from detlint.catalog import Catalog
from detlint.checks.finding import Finding, Report
from detlint.config import Config
from detlint.counters import Counters
from detlint.files import StrPath
from detlint.ir.cpp_text import is_cpp
from detlint.marks import body, brief, facts, top
from detlint.model.links import Linked, hiding, properties, registered
from detlint.model.project import Project
from detlint.model.runs.outcome import Outcome, Runs
from detlint.model.sites.store import Changed, Look, Progress, Store, note_other, processes, with_deep_stack
from detlint.model.surroundings import Asked, Noted
from detlint.program_findings import ProgramFindings
from detlint.sources.parse import Problem
from detlint.state import State
from detlint.status import NOTHING, Status
from detlint.ways import runs_of

if TYPE_CHECKING:
    from detlint.checks.engine import Engine
    from detlint.effects.top import Top
    from detlint.model.runs.reach import Reach

FEWEST_FOR_FORKS: Final = 400
"""Below this many modules, judging them here is faster than forking."""
CHUNK: Final = 64
RUNS: Final = 8
"""Modules to judge, and modules whose runs to follow, that a process is handed at a time: neighbours run through the same
modules, and one run may take as long as judging hundreds."""
MOST_MODULES: Final = 1_200
"""With the facts of more modules in memory a process that judges begins anew."""
ATTEMPTS: Final = 3
"""So many times a program is looked at whose files change meanwhile; the last time, each is kept as it was when it was first read."""

_T = TypeVar("_T")
Work = tuple[str, bool]
"""A module, and whether it is to be judged; else the runs that start in it are to be followed."""
MANY: Final = 64
"""With more files than that to report on, all answers on disk are read at once."""


def check(
    files: Sequence[StrPath],
    config: Config,
    catalog: Catalog,
    cache_folder: Path | None = None,
    problems: Iterable[tuple[Path, str]] = (),
    texts: Mapping[str, bytes] | None = None,
    progress: Progress | None = None,
    around: Sequence[StrPath] = (),
) -> Report:
    """Check some files within their program.

    Args:
        files: what to report on.
        config: the settings and the project's root.
        cache_folder: where facts are kept; None keeps none.
        problems: paths that could not be read, with the reason: they become DET001.
        texts: what stands for the content of some files, by absolute path.
        progress: called with the number of files done and their total.
        around: the program's other files. What they all import inside the project is read too.
    """
    started = time.perf_counter()
    collecting = gc.isenabled()
    gc.disable()  # most of what is made lives as long as the run
    cache = _cache(cache_folder, catalog, config)

    def attempt(look: Look) -> Report:
        store = Store(catalog, cache, config.settings.max_file_size, look)
        run = Run(store, config, [*problems])
        for path in files:
            run.add(path, texts)
        run.reported = set(store.files)
        for path in around:
            run.add(path, texts)
        known = run.recorded()
        try:
            run.settle(known, progress)
            run.judge()
            report = run.told(run.reported)
            run.remember()
            store.keep()
        finally:
            known.close()
        return report

    try:
        report = of_one_state(attempt)
    finally:
        cache.close()
        if collecting:
            gc.enable()
    report.seconds = time.perf_counter() - started
    return report


def of_one_state(attempt: Callable[[Look], _T]) -> _T:
    """What is found out of a program with one content for each file: where one changes meanwhile, all is done again."""
    for _ in range(ATTEMPTS - 1):
        with contextlib.suppress(Changed):
            return attempt(Look(time.time_ns()))
    return attempt(Look(time.time_ns(), keeps=True))


def _cache(folder: Path | None, catalog: Catalog, config: Config) -> Cache:
    """The facts that hold for this catalog, and for what is too large to be read."""
    return Cache(folder, f"{catalog.fingerprint}-{config.settings.max_file_size}")


class Opened(NamedTuple):
    """A program that is read and linked, to look into it."""

    engine: Engine
    starts: dict[str, Sequence[str]]
    """The files in which runs start that may reach what was asked for -> the functions that are declared to start one."""
    ignored: Callable[[Finding], bool]
    """Whether `per-file-ignores` turns a rule off for a finding's file."""


@contextlib.contextmanager
def opened(
    paths: Sequence[StrPath],
    config: Config,
    catalog: Catalog,
    cache_folder: Path | None,
    around: Sequence[StrPath],
    texts: Mapping[str, bytes] | None = None,
) -> Iterator[Opened]:
    """The program of some files, read and linked but not judged.

    Args:
        paths: the files that are asked about.
        around: the program's other files.
        texts: what stands for the content of some files, by absolute path.
    """
    look = Look(time.time_ns(), keeps=True)  # whoever looks into it can't begin again
    store = Store(catalog, _cache(cache_folder, catalog, config), config.settings.max_file_size, look)
    try:
        run = Run(store, config, [])
        for file in (*paths, *around):
            run.add(file, texts)
        run.reported = {os.path.abspath(path) for path in paths}
        jobs = processes(config.settings.jobs)
        store.fill(run._look(State()), jobs, None)
        run._link({}, set(), jobs)
        run._state_all()
        named = run.named
        starts: dict[str, Sequence[str]] = {start: named.get(start, ()) for start in sorted(run._starts())}
        yield Opened(run._engine(), starts, run._ignored)
        store.keep()
    finally:
        store.cache.close()


class _Part(msgspec.Struct):
    """What doing a part of the work gave."""

    followed: list[str] = []
    """The files that were followed from."""
    judged: list[str] = []
    """Those that were judged."""
    known: bytes = b""
    """What that gave, where another process has done it."""
    others: dict[str, bytes] = {}
    folders: dict[str, tuple[Status, str]] = {}
    missed: set[str] = set()
    documents: dict[str, tuple[str, str]] = {}
    keys: dict[tuple[str, str, str], tuple[str, str]] = {}
    around: dict[Asked, Noted] = {}
    fresh: dict[bytes, bytes] = {}
    counters: Counters = msgspec.field(default_factory=Counters)


class Run(ProgramFindings):
    """One run over a program.

    Args:
        store: the facts of the program's files.
        problems: paths that could not be read, with the reason.
    """

    def remember(self) -> None:
        """Keep what was found out for the next run, if that is anything new."""
        self._collect()
        before, state = self.before, self.known.state
        if self.differs or (state.files.keys(), state.folders, state.documents, state.keys, state.around) != (
            before.files.keys(), before.folders, before.documents, before.keys, before.around
        ):  # fmt: skip
            self.known.keep()

    def _collect(self) -> None:
        """Note what was asked of files and folders meanwhile."""
        state = self.known.state
        if self.engine is not None:
            self.missed |= self.engine.resolver.missed
        state.missed = sorted(self.missed.union(state.missed))
        self._consult(self.modules.consulted())
        state.folders = state.folders | self.consulted
        for path, key in self.store.others.items():
            note_other(state.others, path, key)

    def _answer(self, known: Known) -> None:
        known.program = self

    # -- judging ------------------------------------------------------------------------------------------------

    def judge(self) -> None:
        """Follow the entry points that aren't known to be as before, then judge the modules that aren't."""
        try:
            self._judge()
        finally:
            self._collect()

    def _judge(self) -> None:
        known, starts = self.known, sorted(self._starts())
        if len(self.reported) > MANY:
            known.fetch()
        runs = [path for path in starts if not known.holds(followed, path)]
        self._work([(path, False) for path in runs])
        unjudged = self._unjudged(self.reported)
        self._work([(path, True) for path in unjudged])
        self.differs = self.differs or bool(runs or unjudged)

    def _work(self, work: list[Work]) -> None:
        """Do some work, in processes if it is much."""
        size = sum(1 if judges else CHUNK // RUNS for _, judges in work)
        jobs = processes(self.config.settings.jobs) if size >= FEWEST_FOR_FORKS else 1
        if jobs > 1:  # what all of them ask
            with_deep_stack(lambda: [self._ask_for(path) for path, judges in work if judges])
        if jobs == 1 or sys.platform != "linux":
            if work:
                self._take(with_deep_stack(lambda: self.do(work)))
            return
        import multiprocessing

        from detlint import pool

        self.index.tabulate()  # once, for all processes
        global _forked
        _forked = self
        with pool.processes(jobs, multiprocessing.get_context("fork"), _start_fork) as workers:
            parts = workers.map(_do, _chunks(work))
            self.store.keep()  # while others work
            for part in parts:
                self._take(part)

    def _ask_for(self, path: str) -> Runs:
        """Find out what runs are to a file, which all processes know then that are forked."""
        ways_at(self.known, path)
        return self.runs_at(path)

    def runs_at(self, path: str) -> Runs:
        """The runs that a file is judged by."""
        known = self.known
        if path not in self._runs:
            with known.noting():  # what rests on them rests on what tells them from others
                whole = passing_at(known, path)
                near = [*self.groups.starts(path), *strays(known).get(path, ())] if path in whole.ways else []
                starts = sorted(near)
                self._runs[path] = runs_of(whole, [followed(known, start) for start in starts], path)
        return self._runs[path]

    def _unjudged(self, paths: Iterable[str]) -> list[str]:
        """Those of some modules whose answer isn't known, in order."""
        files, known = self.store.files, self.known
        there = sorted(path for path in paths if files[path].head is not None)
        return with_deep_stack(lambda: [path for path in there if not known.holds(judged, path)])

    def do(self, work: list[Work], *, forked: bool = False) -> _Part:
        """Follow the runs that start in some modules, or judge them."""
        known, part, kept = self.known, _Part(), set(self.store.fresh)
        self._engine_kept()
        with counters.counted() as part.counters:
            for path, judges in work:
                if not judges:
                    followed(known, path)
                    part.followed.append(path)
                else:
                    judged(known, path)
                    part.judged.append(path)
        self.followed = self.followed or bool(part.followed)
        part.known = known.hand_over() if forked else b""
        part.others, part.folders = self.store.others, self.modules.consulted()
        part.missed = self._engine_kept().resolver.missed
        part.documents, part.keys = self.documents.noted, self.documents.noted_keys
        part.around = self.modules.around.noted
        part.fresh = {key: value for key, value in self.store.fresh.items() if key not in kept}
        return part

    def _engine_kept(self) -> Engine:
        self.engine = self.engine or self._engine()
        return self.engine

    def _engine(self) -> Engine:
        from detlint.checks.engine import Engine
        from detlint.model.resolve import Resolver
        from detlint.model.uses import Users

        catalog = self.store.catalog
        heads = {path: file.head for path, file in self.store.files.items() if file.head is not None}
        resolver = Resolver(self.modules, catalog, self.index.has_name, self.known)
        users = Users(resolver, self.index)
        linked = Linked(hiding(heads.values(), self.known.state.hidden), properties(heads), registered(heads.items()))
        project = Project(self.modules.root, self.packaged, self.declared, self.documents, self.versions)
        engine = Engine(users, self.config.settings, linked, project)
        engine.flow.top = partial(imported, self.known)
        if self.recorder is not None:
            engine.flow.recorder = self.recorder
        return engine

    def follow(self, path: str) -> list[Followed]:
        """What following the runs that start in a file gives."""
        engine, known = self._engine_kept(), self.known
        self._fetch(engine, path)
        module = engine.resolver.module(path)
        facts(known, path)
        if module is None:
            return []
        try:
            with self._following():  # of what a run comes to, that is what it goes through
                reaches, inert = engine.started(module, self.named.get(path, ()))
            counters.now.runs += len(reaches) + len(inert)
            for reach in inert:
                self._rest_on(reach, reach.visited)
            return [self._kept_of(reach, engine) for reach in reaches]
        except Exception as error:  # the boundary of one file: the rest of the run goes on
            nothing = Outcome(path, frozenset(), {}, False, False, True, False)
            return [Followed(nothing, {}, {}, frozenset({path}), frozenset(), self._fault(path, error))]

    def look(self, path: str) -> Top | None:
        """What importing a file does; None for one that can't be read."""
        engine, known = self._engine_kept(), self.known
        top(known, path)
        module = engine.resolver.module(path)
        if module is None:
            return None
        brief(known, path)
        with self._following(), counters.counted() as done:  # as of a run, which others count that come here
            found = engine.flow.look(module)
        counters.now.interpreted += done.interpreted
        loaded = engine.resolver.loaded
        self._rest_on_files({*found.behind, *(loaded.read_in((path,)) if loaded is not None else ())}, inside=(path,))
        return found

    @contextlib.contextmanager
    def _following(self) -> Iterator[None]:
        """Note which functions are looked into while runs are followed. What is found out of one run others take, so that each rests on
        all that was looked into of the files that it comes to."""
        resolver = self._engine_kept().resolver
        outer, resolver.follows = resolver.follows, True
        try:
            with self.known.noting() as noted:
                yield
        finally:
            resolver.follows = outer
        for path, marks in self.known.looked_into(noted).items():
            self.into.setdefault(path, {}).update(marks)

    def _kept_of(self, reach: Reach, engine: Engine) -> Followed:
        """What is kept of a run that was followed."""
        findings = engine.told(reach)
        sites, seeded = reach.sites(), reach.seeded()
        told = {f.path for f in findings} | {step.path for f in findings for step in f.steps}
        visited = reach.visited | told | seeded.keys() | {path for path, passed in sites.items() if passed}
        self._rest_on(reach, visited)
        read = frozenset(path for path in reach.imported if not reach.taken.get(path))
        return Followed(
            reach.outcome(), sites, seeded, frozenset(visited), read - visited, findings,
            engine.may_train(reach), reach.silent(),
        )  # fmt: skip

    def _rest_on(self, reach: Reach, visited: Set[str]) -> None:
        """Let what is being found out rest on what a run comes to.

        Args:
            visited: the files of which anything may count.
        """
        tops = (path for path in reach.imported - visited if not reach.taken.get(path))
        self._rest_on_files(visited, sorted(tops))
        for path in reach.taken:
            imported(self.known, path)

    def _rest_on_files(self, files: Set[str], tops: Iterable[str] = (), inside: Iterable[str] = ()) -> None:
        """Let what is being found out rest on what some files say, and do where they are imported.

        Args:
            inside: those besides of which functions count that were looked into.
        """
        self.known.rest_on(sorted(files), tops)
        for path in (*files, *inside):
            self.known.asked.update(self.into.get(path, {}))

    def _fetch(self, engine: Engine, path: str) -> None:
        """Bring the facts of all files at hand that the runs from a file passed when they were last followed."""
        before = self.known.before(followed, path) or ()
        visited = {one for run in before for one in (*run.visited, *run.imported)}
        wanted = visited - engine.resolver.by_path.keys()
        self.store.fetch(file.key for one in sorted(wanted) if (file := self.store.files.get(one)) is not None)

    def judge_one(self, path: str) -> Judged:
        """What judging a file gives."""
        engine = self._engine_kept()
        body(self.known, path)
        if is_cpp(path):
            return Judged(self._judged_source(engine, path))
        read, module = self.modules.facts(path), engine.resolver.module(path)
        if read is None or module is None:
            return Judged(self.unreadable(path, read.problem) if read is not None and read.problem else [])
        left_out = [finding for problem in read.left_out for finding in self.unreadable(path, problem)]
        try:
            findings, varies, is_open = engine.judge(module, self.runs_at(path))
        except Exception as error:  # the boundary of one file: the rest of the run goes on
            findings, varies, is_open = self._fault(path, error), False, False
        engine.matcher.forget(module)
        for told in {step.path for finding in findings for step in finding.steps}:
            facts(self.known, told)
        return Judged([*left_out, *findings], varies, is_open)

    def _judged_source(self, engine: Engine, path: str) -> list[Finding]:
        """What is found in a source of C++."""
        head = self._head(path)
        try:
            return engine.judge_source(path)
        except Exception as error:  # the boundary of one file: the rest of the run goes on
            return self._fault(path, error) if head is not None else []

    def _fault(self, path: str, error: Exception) -> list[Finding]:
        if isinstance(error, RecursionError):
            return self.unreadable(path, Problem("can't be analysed: it is nested too deeply"))
        reason = f"can't be analysed, which is a fault of detlint's (please report it): {error!r}"
        return self.unreadable(path, Problem(reason))

    def _take(self, part: _Part) -> None:
        if part.known:
            self.known.adopt(part.known)
        self.again.update(part.followed)
        self.anew.update(part.judged)
        for path, key in part.others.items():
            note_other(self.known.state.others, path, key)
        self._consult(part.folders)
        self.missed |= part.missed
        self.documents.learn(part.documents, part.keys)
        self.modules.around.learn(part.around)
        self.store.fresh.update(part.fresh)
        counters.now.add(part.counters)

    def _consult(self, folders: Mapping[str, tuple[Status, str]]) -> None:
        """Note folders that were listed; of one that processes have seen in several states, that nothing is known."""
        for folder, state in folders.items():
            same = self.consulted.setdefault(folder, state) == state
            self.consulted[folder] = state if same else (NOTHING, "")


def _chunks(work: list[Work]) -> list[list[Work]]:
    """Parts of some work to hand to processes, what to follow first."""
    runs = [item for item in work if not item[1]]
    modules = work[len(runs) :]
    parts = [runs[i : i + RUNS] for i in range(0, len(runs), RUNS)]
    return parts + [modules[i : i + CHUNK] for i in range(0, len(modules), CHUNK)]


_forked: Run | None = None


def _start_fork() -> None:
    """A forked process has the run as it stood; a database connection must not be shared with it."""
    assert _forked is not None
    _forked.store.cache = _forked.store.cache.reopened()
    gc.disable()


def _do(work: list[Work]) -> _Part:
    assert _forked is not None
    run = _forked
    judges = work[0][1]
    if judges and (run.followed or run.modules.held > MOST_MODULES):
        # Following loads much of the program; judging asks for it again, a module at a time.
        run.engine, run.followed = None, False
        run.modules.forget()
        gc.collect()
    return with_deep_stack(lambda: run.do(work, forked=True))


def load_catalog(config: Config, cache_folder: Path | None) -> Catalog:
    """The shipped catalog with the project's own.

    Raises:
        CatalogError: a catalog file is wrong.
    """
    base = config.source.parent if config.source is not None else config.root
    said = f"{config.source or 'settings'}: seeds"
    return catalogs.load(
        [base / name for name in config.settings.catalogs], cache_folder, catalogs.seeding(said, config.settings.seeds)
    )
