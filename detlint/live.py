"""A program that is kept in memory while its files are edited, and checked each time that their texts have changed.

What it says is what a run over the same texts says.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

from detlint import counters
from detlint.answers import Known
from detlint.cache import Cache
from detlint.checks.finding import Report
from detlint.config import ConfigError
from detlint.discover import program
from detlint.effects.recorder import Recorder
from detlint.model.module import Module
from detlint.model.runs.reach import Place
from detlint.model.sites.gate import yaml_gate_of
from detlint.model.sites.records import Facts, Function
from detlint.model.sites.store import Look, Progress, Store
from detlint.project import Project
from detlint.run import Run, of_one_state

Reports = dict[str, Report]
"""What is found in each file, as if it was checked alone within its program."""


class Superseded(BaseException):
    """A newer text has come: nobody waits for the answer any more. (No `Exception`: what can go wrong in one file ends
    there, and the run goes on.)"""


class _Interruptible(Recorder):
    """Gives a run that is followed the occasion to stop.

    Args:
        stop: raises `Superseded` if it shall.
    """

    def __init__(self, stop: Callable[[], None]) -> None:
        self._stop = stop

    def enter(self, how: str, module: Module, function: Function, place: Place | None) -> None:
        self._stop()


class _Memory(Cache):
    """A cache that keeps the facts of unsaved texts to itself: every key that is pressed makes another such text."""

    def __init__(self, folder: Path | None, fingerprint: str) -> None:
        super().__init__(folder, fingerprint)
        self.unsaved: dict[bytes, bytes] = {}
        self._saved: dict[bytes, bytes] | None = {} if folder is None else None
        """What there is besides, if there is no folder for it."""

    def get(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        wanted = [*keys]
        found = {key: row for key in wanted if (row := self.unsaved.get(key)) is not None}
        if self._saved is not None:
            return found | {key: self._saved[key] for key in wanted if key in self._saved}
        return found | super().get(key for key in wanted if key not in found)

    def put(self, rows: Mapping[bytes, bytes]) -> bool:
        if self._saved is None:
            return super().put(rows)
        self._saved.update(rows)
        return True


class Live:
    """A program, and what is known of it.

    Used by one thread at a time.
    """

    def __init__(self, project: Project) -> None:
        self.project = project
        settings = project.config.settings
        self._cache = _Memory(project.cache, f"{project.catalog.fingerprint}-{settings.max_file_size}")
        self._known: Known | None = None
        self._around: Sequence[str] | None = None
        self._versions: dict[str, dict[str, str]] = {}
        """Those of libraries that hold in some of its folders."""
        self.inside: frozenset[str] = frozenset()
        """The program's own files."""
        self.garbage = 0
        """How many modules were loaded in checks that are over. Python frees them when it looks for cycles."""

    def close(self) -> None:
        """Let go of the cache."""
        if self._known is not None:
            self._known.close()
        self._cache.close()

    def files_changed(self) -> None:
        """Files may have come or gone."""
        self._around = None

    def check(
        self,
        files: Sequence[str],
        texts: Mapping[str, bytes],
        stop: Callable[[float], None],
        mend: Callable[[str, Facts], bytes | None],
        pause: float = 0.0,
        progress: Progress | None = None,
    ) -> Reports:
        """Check some files.

        Args:
            files: absolute paths.
            texts: what stands for the content of some of them.
            stop: raises `Superseded` if the answer isn't wanted any more, or will not be within some seconds.
            mend: is given the path and the facts of a text that can't be read, and gives another that stands for it.
            pause: how many seconds to wait for a newer text before runs are followed anew.
            progress: as in `run.check`.

        Raises:
            Superseded: by way of `stop`.
            ConfigError: the baseline can't be read.
        """

        def advance(done: int, total: int) -> None:
            stop(0)
            if progress is not None:
                progress(done, total)

        def attempt(look: Look) -> Reports:
            run, store = self._run(texts, files, lambda: stop(0), look)
            try:
                self._mend(store, mend)
                known = self._known = self._known or run.recorded()
                run.settle(known, advance)
                if pause and run.waits():
                    stop(pause)
                with counters.counted():  # apart: they would grow as long as the server runs, and nobody asks for them
                    run.judge()
            finally:
                self._keep(store)
                self.garbage += len(run.engine.resolver.by_path) if run.engine is not None else 0
            reports = self._told(run, files)
            self._settled(run)
            return reports

        return of_one_state(attempt)

    def _run(
        self, texts: Mapping[str, bytes], files: Iterable[str], stop: Callable[[], None], look: Look
    ) -> tuple[Run, Store]:
        settings = self.project.config.settings
        store = Store(self.project.catalog, self._cache, settings.max_file_size, look)
        run = Run(store, self.project.config, [])
        run.recorder = _Interruptible(stop)
        for path in files:
            run.add(path, texts)
        run.reported = {*store.files}
        changed = self._around is None
        if self._around is None:
            self._around = program([*map(Path, files)], self.project.config)
        for file in self._around:
            run.add(file, texts)
        if not changed:
            run.versions = self._versions
        elif run.versions != self._versions:
            self._known, self._versions = None, run.versions
        return run, store

    def _mend(self, store: Store, mend: Callable[[str, Facts], bytes | None]) -> None:
        """Put other texts in the place of those that can't be read."""
        gate = partial(yaml_gate_of, store.catalog)
        for path, file in store.files.items():
            if file.text is None:
                continue
            file.hash(store.look, gate)
            if not self._cache.get([file.key]):
                store.fill([file], 1, None)
                self._cache.unsaved.update(store.fresh)
            facts = store.known(file.key)
            if facts is not None and (facts.problem or facts.left_out) and (better := mend(path, facts)) is not None:
                file.text = better

    def _told(self, run: Run, files: Iterable[str]) -> Reports:
        reports = {path: run.told({path}) for path in files}
        with contextlib.suppress(ConfigError):  # of a baseline that can't be read, the command line tells
            accepted = self.project.accepted()
            if accepted is None:
                return reports
            for path, report in reports.items():
                file = run.store.files.get(path)
                report.texts = {path: file.text} if file is not None and file.text is not None else {}
                accepted.silence(report, self.project.config, None)
        return reports

    def _keep(self, store: Store) -> None:
        """Keep what was read, on disk if it stands there."""
        unsaved = {file.key for file in store.files.values() if file.text is not None}
        fresh = store.fresh
        store.fresh = {key: row for key, row in fresh.items() if key not in unsaved}
        store.keep()
        known = self._cache.unsaved | fresh
        self._cache.unsaved = {key: known[key] for key in unsaved if key in known}

    def _settled(self, run: Run) -> None:
        """Remember what was found out, for the next check; on disk, if that is where all texts stand."""
        store = run.store
        if all(file.text is None for file in store.files.values()):
            run.remember()
            store.keep()
        self.inside = frozenset(run.inside)
