"""One run: files to facts, facts to a program, the program to findings, in the same order however it was done."""

from __future__ import annotations

import contextlib
import gc
import hashlib
import multiprocessing
import os
import sys
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from detlint import catalog as catalogs
from detlint.cache import Cache
from detlint.catalog import Catalog
from detlint.checks.finding import Finding, Report, Step
from detlint.config import Config, selected, severity_of
from detlint.discover import glob
from detlint.facts.model import Facts, Problem, Span, decode
from detlint.facts.store import File, Progress, Store, processes, with_deep_stack
from detlint.program.modules import ModuleNames, Modules
from detlint.source import Source

if TYPE_CHECKING:
    from detlint.checks.engine import Engine

FEWEST_FOR_FORKS: Final = 400
"""Below this many files, judging them here is faster than forking."""


def check(
    files: Sequence[Path],
    config: Config,
    catalog: Catalog,
    cache_folder: Path | None = None,
    problems: Iterable[tuple[Path, str]] = (),
    stdin: tuple[Path, bytes] | None = None,
    progress: Progress | None = None,
) -> Report:
    """Check some files within their program.

    Args:
        files: what to report on; everything they import inside the project is read too.
        config: the settings and the project's root.
        cache_folder: where facts are kept; None keeps none.
        problems: paths that could not be read, with the reason: they become DET001.
        stdin: a path and the text that stands for its content.
        progress: called with the number of files done and their total.
    """
    started = time.perf_counter()
    collecting = gc.isenabled()
    gc.disable()  # most of what is made lives as long as the run
    store = Store(catalog, Cache(cache_folder, catalog.fingerprint), problems=[*problems])
    try:
        names = ModuleNames()
        for path in files if stdin is None else [stdin[0]]:
            real = os.path.abspath(path)
            store.files[real] = File(path, *names.of(real), text=stdin[1] if stdin is not None else None)
        store.hash()
        run = _Run(store, config, names)
        report = run.replayed()
        if report is None:
            store.fill(config.settings.max_file_size, processes(config.settings.jobs), progress)
            report = run.report()
            run.remember(report)
            store.cache.put(store.fresh)
    finally:
        store.cache.close()
        if collecting:
            gc.enable()
    report.seconds = time.perf_counter() - started
    report.texts = {real: file.text for real, file in store.files.items() if file.text is not None}
    return report


class _Replay(msgspec.Struct, array_like=True):
    """A report with everything that it depends on besides the checked files and the settings."""

    others: dict[str, bytes]
    folders: dict[str, int]
    """Folders whose listing was consulted -> time of their last change, in nanoseconds."""
    report: Report


@dataclass(slots=True)
class _Part:
    """What judging some of the files gave."""

    findings: list[Finding]
    lines: int
    others: dict[str, bytes]
    folders: list[str]
    fresh: dict[bytes, bytes]


@dataclass(slots=True)
class _Run:
    store: Store
    config: Config
    names: ModuleNames
    others: dict[str, bytes] | None = None
    folders: tuple[str, ...] = ()

    # -- judging ------------------------------------------------------------------------------------------------

    def report(self) -> Report:
        """Link, check and suppress."""
        report = Report(files=len(self.store.files))
        paths = sorted(real for real, file in self.store.files.items() if file.facts)
        findings: list[Finding] = []
        others: dict[str, bytes] = {}
        folders: dict[str, None] = {}
        for part in self._parts(paths):
            findings += part.findings
            report.lines += part.lines
            others.update(part.others)
            folders.update(dict.fromkeys(part.folders))
            self.store.fresh.update(part.fresh)
        for path, reason in self.store.problems:
            findings += self._unreadable(os.path.abspath(path), Problem(reason))
        self.others, self.folders = others, tuple(folders)
        report.findings = sorted(
            (f for f in self._unsuppressed(findings, report) if not self._ignored(f)), key=Finding.sort_key
        )
        return report

    def _parts(self, paths: list[str]) -> list[_Part]:
        jobs = processes(self.config.settings.jobs)
        if jobs == 1 or len(paths) < FEWEST_FOR_FORKS or sys.platform != "linux":
            return [with_deep_stack(lambda: self.judge(paths))]
        global _forked
        _forked = self
        chunks = [paths[i : i + 64] for i in range(0, len(paths), 64)]
        context = multiprocessing.get_context("fork")
        with ProcessPoolExecutor(jobs, context, initializer=_start_fork) as pool:
            return list(pool.map(_judge, chunks))

    def engine(self) -> tuple[Engine, Modules]:
        """The rule engine over the program."""
        from detlint.checks.engine import Engine
        from detlint.program.resolve import Resolver

        root = str(self.config.root.absolute())
        modules = Modules(Path(root), self._facts)
        return Engine(Resolver(modules, self.store.catalog), self.config.settings, root), modules

    def _facts(self, path: str) -> Facts | None:
        return self.store.facts(path, self.names.of(path))

    def judge(self, paths: list[str], made: tuple[Engine, Modules] | None = None) -> _Part:
        """The findings of some modules, before suppression."""
        engine, modules = made or self.engine()
        part = _Part([], 0, self.store.others, [], {})
        before = set(self.store.fresh)
        for path in paths:
            facts = modules.facts(path)
            if facts is None:
                continue
            part.lines += facts.lines
            if facts.problem is not None:
                part.findings += self._unreadable(path, facts.problem)
                continue
            module = engine.resolver.module(path)
            if module is None:
                continue
            try:
                part.findings += engine.check(module)
            except RecursionError:
                part.findings += self._unreadable(path, Problem("can't be analysed: it is nested too deeply"))
            except Exception as error:  # the boundary of one file: the rest of the run goes on
                reason = f"can't be analysed, which is a fault of detlint's (please report it): {error!r}"
                part.findings += self._unreadable(path, Problem(reason))
            engine.matcher.forget(module)
        part.folders = modules.consulted()
        part.fresh = {key: value for key, value in self.store.fresh.items() if key not in before}
        return part

    def _unsuppressed(self, findings: list[Finding], report: Report) -> list[Finding]:
        """What no comment covers, in the files that are checked, and what is wrong with the comments."""
        from detlint.checks.suppress import suppress

        rule = self.store.catalog.rules.get("DET002")
        unused = rule if rule is not None and selected(self.config.settings, rule.code) else None
        on = {code for code in self.store.catalog.rules if selected(self.config.settings, code)}
        by_file: dict[str, list[Finding]] = {path: [] for path in self.store.files}
        kept = []
        for finding in findings:
            if finding.path in by_file:
                by_file[finding.path].append(finding)
            elif finding.code == "DET001":
                kept.append(finding)
            else:
                # What an entry point reaches in a file that isn't checked is reported on the way to it.
                step = next((s for s in reversed(finding.steps) if s.path in by_file), None)
                if step is not None:
                    there = Step(finding.path, finding.span, "here")
                    moved = replace(finding, path=step.path, span=step.span, steps=(*finding.steps, there), argument="")
                    by_file[step.path].append(moved)
        for path, group in by_file.items():
            file = self.store.files[path]
            if not file.facts:
                kept += group
                continue
            directives = decode(file.facts).directives if group or _has_directives(file) else ()
            source = Source(file.text if file.text is not None else file.path)
            left, covered = suppress(group, directives, path, source, unused, on)
            report.suppressed += covered
            kept += left
        level = severity_of(self.config.settings, "DET002")
        return [f.with_severity(level) if f.code == "DET002" and level and level != "off" else f for f in kept]

    def _unreadable(self, path: str, problem: Problem) -> list[Finding]:
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

    # -- replaying an unchanged run -----------------------------------------------------------------------------

    def _key(self) -> bytes:
        digest = hashlib.blake2b(self.store.catalog.fingerprint.encode(), digest_size=16)
        digest.update(msgspec.json.encode(self.config.settings))
        digest.update(str(self.config.root.absolute()).encode())
        for path, file in sorted(self.store.files.items()):
            digest.update(path.encode("utf-8", "surrogateescape") + b"\0" + file.key)
        digest.update(repr(self.store.problems).encode("utf-8", "surrogateescape"))
        return b"report" + digest.digest()

    def replayed(self) -> Report | None:
        """The report of an earlier run, if nothing that it rests on has changed since."""
        key = self._key()
        row = self.store.cache.get([key]).get(key)
        if row is None:
            return None
        try:
            replay = msgspec.msgpack.decode(row, type=_Replay)
        except msgspec.DecodeError:
            return None
        if any(_changed(folder) != time for folder, time in replay.folders.items()):
            return None
        for path, content in replay.others.items():
            file = File(Path(path), *self.names.of(path))
            other = Store(self.store.catalog, self.store.cache, {path: file})
            other.hash()
            if file.key != content:
                return None
        return replay.report

    def remember(self, report: Report) -> None:
        """Keep a report for the next run."""
        if self.others is not None:
            folders = {folder: _changed(folder) for folder in self.folders}
            with contextlib.suppress(UnicodeEncodeError):  # a file name that is no text: judged anew each time
                self.store.fresh[self._key()] = msgspec.msgpack.encode(_Replay(self.others, folders, report))


_forked: _Run | None = None
_forked_engine: tuple[Engine, Modules] | None = None


def _start_fork() -> None:
    """A forked process has the run as it stood; a database connection must not be shared with it."""
    global _forked_engine
    assert _forked is not None
    _forked.store.cache = _forked.store.cache.reopened()
    _forked_engine = _forked.engine()
    gc.disable()


def _judge(paths: list[str]) -> _Part:
    assert _forked is not None
    run = _forked
    return with_deep_stack(lambda: run.judge(paths, _forked_engine))


def _changed(folder: str) -> int:
    try:
        return os.stat(folder).st_mtime_ns
    except OSError:
        return 0


def _has_directives(file: File) -> bool:
    """Whether encoded facts may hold directives: their style is written out."""
    return file.facts is not None and (b"noqa" in file.facts or b"ignore" in file.facts)


def load_catalog(config: Config, cache_folder: Path | None) -> Catalog:
    """The shipped catalog with the project's own.

    Raises:
        CatalogError: a catalog file is wrong.
    """
    base = config.source.parent if config.source is not None else config.root
    return catalogs.load([base / name for name in config.settings.catalogs], cache_folder)
