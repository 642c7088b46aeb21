"""One run: files to facts, facts to a program, the program to findings, in the same order however it was done."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property, partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

import msgspec
import xxhash

from detlint import catalog as catalogs
from detlint import counters
from detlint.answers import Followed, Judged, Known, followed, imported, judged, passing_at, said, strays, ways_at
from detlint.cache import Cache
from detlint.catalog import Catalog
from detlint.changes import Changes, begins, is_script, put_on_path
from detlint.checks.finding import Finding, Report, Step
from detlint.checks.levels import as_note
from detlint.config import Config, Runtime, selected, severity_of
from detlint.counters import Counters
from detlint.db import Storage
from detlint.ir.code import Code
from detlint.ir.cpp_text import is_cpp
from detlint.ir.launch_texts import is_settings
from detlint.ir.words import Words
from detlint.marks import NPU_AS_CUDA, Brief, body, brief, digest_of, followable, linked, listed, saying, top, users
from detlint.merged import found, once
from detlint.model.copies import Copies
from detlint.model.drawn import drawn_in
from detlint.model.index import Index
from detlint.model.launches.documents import Documents
from detlint.model.launches.scripts import is_packaged, scripts
from detlint.model.links import Linked, Links, hiding, properties, registered
from detlint.model.modules import ModuleNames, Modules
from detlint.model.project import Project
from detlint.model.runs.outcome import Outcome, Runs
from detlint.model.sites.gate import yaml_gate_of
from detlint.model.sites.records import Facts, Head, Span
from detlint.model.sites.store import Changed, File, Look, Progress, Store, note_other, processes, with_deep_stack
from detlint.model.surroundings import Asked, Noted
from detlint.patterns import glob
from detlint.source import Source
from detlint.sources.parse import Problem
from detlint.state import Row, State
from detlint.status import NOTHING, Status
from detlint.versions import below
from detlint.ways import Groups, runs_of

if TYPE_CHECKING:
    from detlint.checks.engine import Engine
    from detlint.effects.recorder import Recorder
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
StrPath = str | os.PathLike[str]
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
    original: Callable[[Finding], str]
    """The file that a finding's file is a copy of, so that it is told there and a note here; "" for none."""


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
        yield Opened(run._engine(), starts, run._ignored, run._original)
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


class Run:
    """One run over a program.

    Args:
        store: the facts of the program's files.
        problems: paths that could not be read, with the reason.
    """

    def __init__(self, store: Store, config: Config, problems: list[tuple[Path, str]]) -> None:
        self.store = store
        self.config = config
        self.problems = problems
        self.names = ModuleNames()
        self.folders: dict[str, str] = {}
        """The absolute paths of folders, by how they were named; both with a separator at the end."""
        self.modules = Modules(
            config.root.absolute(),
            self._facts,
            self._code,
            self._head,
            self._is_script,
            self._is_taken,
            self._put,
            store.look.began,
        )
        self.links = Links()
        self.inside: set[str] = set()
        """The program's own files; what they import from outside of it is in the store too."""
        self.reported: set[str] = set()
        """Those of them to report on."""
        self.before = State()
        """The program as it was when it was last looked at."""
        self.known = Known()
        """What is known of it."""
        self.known.program = self
        self._runs: dict[str, Runs] = {}
        """The runs that files are judged by."""
        self.engine: Engine | None = None
        self.recorder: Recorder | None = None
        """Is told what happens in the runs that are followed."""
        self.consulted: dict[str, tuple[Status, str]] = {}
        """The folders whose listing an answer may depend on, with their states."""
        self.missed: set[str] = set()
        """The names that files were asked for and don't define."""
        self.differs = False
        """Whether anything was looked at that may not be as it was before."""
        self.anew: set[str] = set()
        """The files that were judged anew."""
        self.again: set[str] = set()
        """The files in which runs start that were followed anew."""
        self.followed = False
        """Whether the engine has followed runs, rather than judged modules."""
        root, launchers = str(config.root.absolute()), store.catalog.launchers
        self.documents = Documents(root, store.look.began, launchers, store.kept, self._given)
        self.declared = sorted({*config.settings.entry_points, *(scripts(config.root) if config.project else ())})
        """The entry points that the configuration and the project's metadata name."""
        self.packaged = is_packaged(config.root)

    def _given(self, path: str) -> bytes | None:
        """What stands for the content of a file; None for what it has."""
        file = self.store.files.get(path)
        return file.text if file is not None else None

    def add(self, path: StrPath, texts: Mapping[str, bytes] | None = None) -> None:
        """Make a file part of the program, if it is none yet.

        Args:
            texts: what stands for the content of some files, by absolute path.
        """
        path = os.fspath(path)
        if os.altsep is not None:
            path = path.replace(os.altsep, os.sep)
        folder, sep, name = path.rpartition(os.sep)
        folder += sep
        above = self.folders.get(folder)
        if above is None:
            above = self.folders[folder] = self._absolute(folder)
        real = above + name
        if real not in self.store.files:
            self.store.files[real] = File(path, *self.names.of(real), text=texts.get(real) if texts else None)
            self.inside.add(real)

    @cached_property
    def versions(self) -> dict[str, dict[str, str]]:
        """The versions of libraries that hold in some folders of the program, all of whose files have been added."""
        return below(self.config, self.folders.values())

    @cached_property
    def index(self) -> Index:
        """Which files have a name, once it is settled what is known of the program."""
        return Index(self._text, self.store.files, self._words, self.modules.code, self.known)

    def _absolute(self, folder: str) -> str:
        """The absolute path of a folder, by that of the one above where it is known; both with a separator at the end."""
        outer, sep, name = folder[:-1].rpartition(os.sep)
        if outer + sep in self.folders and name not in ("", os.curdir, os.pardir):
            return f"{self.folders[outer + sep]}{name}{os.sep}"
        return os.path.join(os.path.abspath(folder), "")

    def settle(self, known: Known, progress: Progress | None) -> None:
        """Read what has changed, link, and tell which answers may be others now.

        Args:
            known: what is known of the program; it is brought up to date.
            progress: as in `check`.
        """
        jobs = processes(self.config.settings.jobs)
        self.known, known.program = known, self
        self.before = before = known.state
        unsettled = self._look(before)
        changes = Changes(
            before, self.store, self.inside, self.names, self.modules, self.links, self.documents, self.index
        )
        news = changes.news()
        led = changes.led_elsewhere(news) if news else {}
        again = self.store.files if news is None else led
        same = [file for path, file in self.store.files.items() if path in again and before.has(path, file.key)]
        others = self.store.files.keys() != before.files.keys()  # the gate lets through who imports from the program
        unsettled += [
            file for file in same if not file.whole or (others and file.head is None and not is_settings(file.path))
        ]
        self.store.fill(unsettled, jobs, progress)
        if news is not None and changes.scripts_move(unsettled):
            news = None  # Python imports from the folders of scripts
            rest = [file for file in self.store.files.values() if not file.whole]
            self.store.fill(rest, jobs, progress)
            unsettled += rest
        linked = before.imports if news is not None else {}
        self._link(linked, {os.path.abspath(file.path) for file in unsettled}, jobs)
        self._renew(changes, led if news is not None else None)

    def _renew(self, changes: Changes, led: dict[str, list[str] | None] | None) -> None:
        """Note how the program is now, and touch what isn't as it was; without `led`, all may be something else."""
        before, known, files = self.before, self.known, self.store.files
        rows = {
            path: Row(
                file.status, file.key, path in self.inside,
                file.head.brief() if file.head and file.whole else file.head, "" if file.head else file.module,
            )
            for path, file in files.items()
        }  # fmt: skip
        state = State(rows, self.links.imports)
        state.documents, state.keys = self.documents.noted, self.documents.noted_keys
        state.around = self.modules.around.noted
        if led is None:
            known.distrust()
        else:
            asked, sought = (name for (name,) in known.marked(users)), known.marked(saying)
            same = changes.moved()
            known.move({path: lines for path, lines in same.items() if any(line != to for line, to in lines.items())})
            known.touch([*changes.touched(led, same.keys(), asked, sought)])
            state.others = before.others
            state.folders = {folder: self.modules.renewed(folder, *was) for folder, was in before.folders.items()}
            state.missed, state.hidden = before.missed, before.hidden if changes.still_hidden() else {}
        known.packed = known.packed if state.imports == before.imports else None
        known.state = state
        self._state_all()
        known.refresh()

    def told(self, paths: set[str]) -> Report:
        """What is found in some files, comments and configuration considered."""
        files = self.store.files
        paths = paths & self.reported
        report = Report(paths=frozenset(paths), program=frozenset(self.inside), files=len(paths))
        report.lines = sum(head.lines for path in paths if (head := files[path].head) is not None)
        findings = once(with_deep_stack(lambda: [*found(*self._said(paths))]))
        for path, reason in self.problems:
            findings += self.unreadable(os.path.abspath(path), Problem(reason))
        findings = self._unsuppressed(findings, report)
        if self.config.settings.per_file_ignores:
            findings = [f for f in findings if not self._ignored(f)]
        findings = [as_note(f) if self._original(f) else f for f in findings]
        report.findings = sorted(findings, key=Finding.sort_key)
        report.judged, report.followed = len(self.anew), len(self.again)
        report.cells = {path: file.head.cells for path, file in files.items() if file.head and file.head.cells}
        report.texts = {path: file.text for path, file in files.items() if file.text is not None}
        told = {finding.path for finding in findings} | {step.path for finding in findings for step in finding.steps}
        report.keys = {path: (files[path].key, files[path].module, files[path].package) for path in told & files.keys()}
        return report

    def _said(self, paths: set[str]) -> tuple[dict[str, list[Finding]], dict[str, list[Finding]]]:
        """What runs that reach some files say, and what judging these gave. Runs that reach none of them say nothing of them."""
        known, starts = self.known, self._starting & self._reaching(paths)
        there = [path for path in paths if self.store.files[path].head is not None]
        return {start: said(known, start) for start in starts}, {path: judged(known, path).findings for path in there}

    def waits(self) -> bool:
        """Whether runs have to be followed before the files to report on can be judged."""
        return any(not self.known.holds(followed, path) for path in self._starts())

    # -- what there is, and what has changed --------------------------------------------------------------------

    def _look(self, before: State) -> list[File]:
        """Find each file's key, reading only what may have changed; the files that weren't there."""
        for path, earlier in before.files.items():
            if path not in self.store.files and not earlier.inside:
                self.store.files[path] = File(path, *self.names.of(path))
        look, unsettled, gate = self.store.look, [], partial(yaml_gate_of, self.store.catalog)
        for path, file in [*self.store.files.items()]:
            row = before.files.get(path)
            try:
                if row is not None and file.text is None and not look.keeps:
                    file.status = Status.of(os.stat(path), look.began)
                    file.size = file.status.size
                    if row.holds(file):
                        file.key, file.head, file.whole = row.key, row.head, row.head is None
                        continue
                self.differs = True
                file.hash(look, gate)
            except OSError as error:
                if path in self.inside:
                    self.problems.append((Path(file.path), f"can't be read: {error.strerror}"))
                del self.store.files[path]
                self.inside.discard(path)
                self.reported.discard(path)
                continue
            if row is not None and row.key == file.key:
                file.head, file.whole = row.head, row.head is None
            else:
                unsettled.append(file)
        return unsettled

    def _link(self, known: dict[str, tuple[str, ...]], changed: set[str], jobs: int) -> None:
        """Note what each file imports; what imports lead to outside of the program is read too."""
        files, waiting = self.store.files, [*self.inside]
        while waiting:
            led: dict[str, None] = {}
            for path in waiting:
                head = files[path].head
                if path in known and path not in changed:
                    self.links.imports[path] = known[path]
                elif head is not None:
                    self.links.add(path, head, self.modules)
                targets = self.links.imports.get(path, ())
                if not self.inside.issuperset(targets):
                    led.update(dict.fromkeys(targets))
            waiting = [path for path in led if path not in self.links.imports and path not in self.inside]
            new = [self._outside(path) for path in waiting if path not in files]
            self.store.fill([file for file in new if file is not None], jobs, None)
            waiting = [path for path in waiting if path in files]
            self.links.imports.update((path, ()) for path in waiting if files[path].head is None)
        for path in [path for path in files if path not in self.inside and path not in self.links.imports]:
            del files[path]

    def _outside(self, path: str) -> File | None:
        file = File(path, *self.names.of(path))
        try:
            file.hash(self.store.look)
        except OSError:
            return None
        self.store.files[path] = file
        return file

    def _text(self, path: str) -> bytes | None:
        """The bytes of a file of the program; None for what is none: a link that leads nowhere is found, and told of, but not read."""
        file = self.store.files.get(path)
        return file.read() if file is not None else None

    def recorded(self) -> Known:
        """What the last run found out, whichever process that was."""
        folder = self.store.cache.folder
        return Known(Storage(folder, self._name()) if folder is not None else None)

    def _name(self) -> str:
        """By what the answers are known that hold under these settings; what only concerns the report leaves it as it is."""
        settings = msgspec.structs.replace(
            self.config.settings, jobs=0, output_format="full", show_notes=False, fail_on="warning", per_file_ignores={},
            fix=False, unsafe_fixes=False, fix_only=False, show_fixes=False, fix_seed=0, baseline="",
            runtime=Runtime(),
        )  # fmt: skip
        digest = xxhash.xxh3_128(self.store.catalog.fingerprint.encode())
        digest.update(msgspec.json.encode(settings) + str(self.config.root.absolute()).encode("utf-8", "replace"))
        digest.update("\0".join(self.declared).encode("utf-8", "replace"))
        digest.update(b"packaged" if self.packaged else b"")
        digest.update(repr(self.versions).encode("utf-8", "replace") if self.versions else b"")
        if not self.config.project:
            digest.update("\0".join(sorted(self.inside)).encode("utf-8", "replace"))
        return digest.hexdigest()

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

    @cached_property
    def groups(self) -> Groups:
        """The files that the same runs come to."""
        return Groups(self.links.imports, self._starting)

    def _state_all(self) -> None:
        """Say what tells the program as a whole from other states of it."""
        followable.set(self.known, tuple(sorted(self._starts())))
        linked.set(self.known, digest_of((sorted(self.links.imports.items()), sorted(self._starting))))
        # Of what the gate keeps out, only its facts say how a run may start in it.
        rows = sorted((path, begins(file) if file.head else file.key) for path, file in self.store.files.items())
        listed.set(self.known, digest_of(rows))

    def importers(self, path: str) -> Sequence[str]:
        """The files that import a file, sorted."""
        return self.links.importers(path)

    def begins(self, path: str) -> str:
        """How a run may start in a file, as its head says; "" where none does."""
        head = self.modules.head(path)
        return head.starts if head is not None else ""

    def brief(self, path: str) -> Brief:
        """What runs ask of a file."""
        facts = self.modules.facts(path)
        if facts is None:
            return Brief()
        libraries = sorted({name.partition(".")[0] for name in facts.imports})
        streams = drawn_in(facts, self.store.catalog)
        return Brief((*facts.options,), facts.mentions, (*libraries,), NPU_AS_CUDA in facts.imports, *streams)

    def files_in(self, folder: str) -> Iterator[str]:
        """The files of a folder itself, in order."""
        return (path for path in self.index.all_below(folder) if os.path.dirname(path) == folder)

    def below(self, folder: str) -> list[str]:
        """The files whose paths begin so, in order."""
        return [*self.index.all_below(folder)]

    def _unjudged(self, paths: Iterable[str]) -> list[str]:
        """Those of some modules whose answer isn't known, in order."""
        files, known = self.store.files, self.known
        there = sorted(path for path in paths if files[path].head is not None)
        return with_deep_stack(lambda: [path for path in there if not known.holds(judged, path)])

    def _starts(self) -> Iterator[str]:
        """The files in which runs start that may reach a file to report on."""
        reaching = self._reaching(self.reported)
        return (path for path in self._starting if path in reaching)

    def _reaching(self, paths: set[str]) -> set[str]:
        """The files of the program from which runs may reach some of them."""
        return self.inside if paths >= self.inside else self.links.reaching(paths)

    @cached_property
    def _starting(self) -> set[str]:
        """The files in which runs start."""
        heads = {path: head for path in self.inside if (head := self.store.files[path].head) is not None}
        acting = {path for path, head in heads.items() if head.starts == "script"}
        # To name something of a script in a YAML file is not to import it.
        imports = (
            others for path, others in self.links.imports.items() if path.endswith(".py") or not is_settings(path)
        )
        return acting.difference(chain.from_iterable(imports)) | {
            path
            for path, head in heads.items()
            if path in self.named or head.starts in ("main", "notebook") or path.endswith("__main__.py")
        }

    @cached_property
    def named(self) -> dict[str, list[str]]:
        """The declared entry points: functions (or "" for the top level), by file."""
        found: dict[str, list[str]] = {}
        inside = os.path.join(self.modules.root, "setup.py")
        for text in self.declared:
            module, _, function = text.partition(":")
            place = self.modules.find(inside, module)
            if place is not None and not place[1]:
                found.setdefault(place[0], []).append(function)
        return found

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

    def _facts(self, path: str) -> Facts | None:
        return self.store.facts(path, self.names.of(path))

    def _code(self, path: str) -> Code | None:
        return self.store.code(path, self.names.of(path))

    def _words(self, path: str) -> Words | None:
        return self.store.words(path, self.names.of(path))

    def _is_script(self, path: str) -> bool:
        """Whether a file has a `__main__` block."""
        return is_script(self.store.files, path)

    def _put(self) -> dict[str, list[str]]:
        """Folders of files -> those that these put on Python's search path."""
        return put_on_path(self.store.files)

    def _is_taken(self, name: str) -> bool:
        """Whether a library has a name: a folder of that name which doesn't say that it is a package hides none."""
        return name in self.store.catalog.libraries or name in sys.stdlib_module_names

    def _head(self, path: str) -> Head | None:
        file = self.store.files.get(path)
        return file.head if file is not None else None

    def follow(self, path: str) -> list[Followed]:
        """What following the runs that start in a file gives."""
        engine, known = self._engine_kept(), self.known
        self._fetch(engine, path)
        module = engine.resolver.module(path)
        body(known, path)
        if module is None:
            return []
        try:
            with known.noting():  # of what a run comes to, that is what it goes through
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
        with known.noting(), counters.counted() as done:  # as of a run, which others count that come here
            found = engine.flow.look(module)
        counters.now.interpreted += done.interpreted
        loaded = engine.resolver.loaded
        known.rest_on((*found.behind, *(sorted(loaded.read_in((path,))) if loaded is not None else ())), ())
        return found

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
        self.known.rest_on(sorted(visited), sorted(tops))
        for path in reach.taken:
            imported(self.known, path)

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
        facts = self.modules.facts(path)
        module = engine.resolver.module(path)
        if facts is None or module is None:
            return Judged(self.unreadable(path, facts.problem) if facts is not None and facts.problem else [])
        left_out = [finding for problem in facts.left_out for finding in self.unreadable(path, problem)]
        try:
            findings, varies, is_open = engine.judge(module, self.runs_at(path))
        except Exception as error:  # the boundary of one file: the rest of the run goes on
            findings, varies, is_open = self._fault(path, error), False, False
        engine.matcher.forget(module)
        for told in {step.path for finding in findings for step in finding.steps}:
            body(self.known, told)
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

    # -- reporting ----------------------------------------------------------------------------------------------

    def _unsuppressed(self, findings: list[Finding], report: Report) -> list[Finding]:
        """What no comment covers, in the files that are checked, and what is wrong with the comments."""
        from detlint.checks.suppress import suppress

        rule = self.store.catalog.rules.get("DET002")
        unused = rule if rule is not None and selected(self.config.settings, rule.code) else None
        on = {code for code in self.store.catalog.rules if selected(self.config.settings, code)}
        files = self.store.files
        said = {path: head.directives for path in report.paths if (head := files[path].head) and head.directives}
        by_file: dict[str, list[Finding]] = {path: [] for path in said}
        kept = list[Finding]()
        for finding in findings:
            if finding.path in report.paths:
                by_file.get(finding.path, kept).append(finding)
            elif finding.code == "DET001":
                kept.append(finding)
            else:
                # What an entry point reaches in a file that isn't checked is reported on the way to it.
                step = next((s for s in reversed(finding.steps) if s.path in report.paths), None)
                if step is not None:
                    there = Step(finding.path, finding.span, "here")
                    recipe = finding.fix if finding.fix is not None and finding.fix.kind == "start-run" else None
                    steps = (*finding.steps, there)
                    moved = msgspec.structs.replace(
                        finding, path=step.path, span=step.span, steps=steps, argument="", fix=recipe
                    )
                    by_file.get(step.path, kept).append(moved)
        for path, found_here in by_file.items():
            left, covered = suppress(found_here, said[path], path, Source(path, files[path].read), unused, on)
            report.suppressed += covered
            kept += left
        level = severity_of(self.config.settings, "DET002")
        return [f.with_severity(level) if f.code == "DET002" and level and level != "off" else f for f in kept]

    @cached_property
    def _copies(self) -> Copies:
        return Copies(self.modules.root, self.inside, self.modules.code, self.index.yaml, self.links)

    def _original(self, finding: Finding) -> str:
        """The file of which a finding's file is a copy, where that makes it a note; "" where it doesn't."""
        if finding.severity == "note" or severity_of(self.config.settings, finding.code):
            return ""
        return self._copies.original(finding.path)

    def unreadable(self, path: str, problem: Problem) -> list[Finding]:
        rule = self.store.catalog.rules.get("DET001")
        if rule is None or not selected(self.config.settings, rule.code):
            return []
        span = Span(problem.line, problem.column, problem.line, problem.column)
        level = severity_of(self.config.settings, rule.code) or "warning"
        finding = Finding(path, span, rule.code, rule.name, "warning", problem.message, rule.remedy)
        return [finding.with_severity(level)] if level != "off" else []

    def _ignored(self, finding: Finding) -> bool:
        """Whether `per-file-ignores` turns a rule off for the finding's file."""
        path = finding.path.removeprefix(f"{self.config.root.absolute()}{os.sep}").replace(os.sep, "/")
        for pattern, codes in self.config.settings.per_file_ignores.items():
            matches = glob(pattern.removeprefix("!")).match_file(path)
            if matches is not pattern.startswith("!") and any(
                code == "ALL" or finding.code.startswith(code) for code in codes
            ):
                return True
        return False


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
