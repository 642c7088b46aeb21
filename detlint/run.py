"""One run: files to facts (in parallel, cached by content), facts to a program, the program to findings."""

from __future__ import annotations

import gc
import os
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import Final

from detlint import catalog as catalogs
from detlint.cache import Cache, content_key
from detlint.catalog import Catalog
from detlint.checks.finding import Finding, Report
from detlint.config import Config, selected
from detlint.facts.model import Facts, Problem, Span, decode, encode
from detlint.gate import Gate
from detlint.program.modules import Modules, module_name
from detlint.source import Source

Progress = Callable[[int, int], None]

FEWEST_FOR_PROCESSES: Final = 40
"""Below this many files to parse, starting processes takes longer than it saves."""
CHUNK: Final = 24
STACK: Final = 512 * 1024 * 1024
RECURSION: Final = 12_000
GATED: Final = b""


@dataclass(slots=True)
class _File:
    path: Path
    module: str
    package: bool
    key: bytes = b""
    facts: bytes | None = None
    """Encoded; `GATED` for a file that can't produce a finding."""
    text: bytes | None = None
    """What standard input gave for it."""
    size: int = 0

    def read(self) -> bytes:
        """The content to check.

        Raises:
            OSError: the file can't be read.
        """
        return self.text if self.text is not None else self.path.read_bytes()


@dataclass(slots=True)
class _Session:
    """What the steps of a run share."""

    catalog: Catalog
    cache: Cache
    files: dict[str, _File] = field(default_factory=dict)
    fresh: dict[bytes, bytes] = field(default_factory=dict)


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
    session = _Session(catalog, Cache(cache_folder, catalog.fingerprint))
    collecting = gc.isenabled()
    gc.disable()
    try:
        report = Report()
        unreadable = [*problems]
        for path in files if stdin is None else [stdin[0]]:
            real = path.absolute()
            module, package = module_name(real)
            session.files[str(real)] = _File(path, module, package, text=stdin[1] if stdin is not None else None)
        _facts(session, config, unreadable, progress)
        _judge(session, config, report)
        for path, reason in unreadable:
            report.findings += _unreadable(catalog, config, path, Problem(reason))
        report.findings = sorted((f for f in report.findings if not _ignored_here(f, config)), key=Finding.sort_key)
        session.cache.put(session.fresh)
    finally:
        session.cache.close()
        if collecting:
            gc.enable()
    report.seconds = time.perf_counter() - started
    return report


def _facts(
    session: _Session, config: Config, unreadable: list[tuple[Path, str]], progress: Progress | None
) -> None:
    """Facts for every file: from the gate, from the cache, or read, in processes when there are many.

    A file's bytes are dropped as soon as they are hashed and gated, so memory doesn't grow with the sources.
    """
    gate = Gate(session.catalog)
    passing: dict[str, bool] = {}
    for real, file in [*session.files.items()]:
        try:
            data = file.read()
        except OSError as error:
            unreadable.append((file.path, f"can't be read: {error.strerror}"))
            del session.files[real]
            continue
        file.size = len(data)
        file.key = content_key(data, file.module, file.package)
        passing[real] = file.size > config.settings.max_file_size or gate.passes(data)
    known = session.cache.get(file.key for file in session.files.values())
    todo = []
    for real, file in session.files.items():
        if file.size > config.settings.max_file_size:
            size, limit = file.size, config.settings.max_file_size
            problem = Problem(f"is skipped: {size:,} bytes are more than max-file-size ({limit:,})")
            file.facts = encode(Facts(file.module, problem=problem))
        elif not passing[real]:
            file.facts = GATED
        elif file.key in known:
            file.facts = known[file.key]
        else:
            todo.append(file)
    done, total = len(session.files) - len(todo), len(session.files)
    # Large files first, so that no process is left with one at the end.
    todo.sort(key=lambda file: (-file.size, str(file.path)))
    for file, facts in _read_all(todo, session.catalog, config.settings.jobs):
        file.facts = session.fresh[file.key] = facts
        done += 1
        if progress is not None:
            progress(done, total)


def _read_all(files: list[_File], catalog: Catalog, jobs: int) -> Iterator[tuple[_File, bytes]]:
    if not jobs:
        jobs = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if jobs == 1 or len(files) < FEWEST_FOR_PROCESSES:
        yield from zip(files, _with_deep_stack(lambda: [_read_one(f, catalog) for f in files]), strict=True)
        return
    count = -(-len(files) // CHUNK)
    chunks = [files[i::count] for i in range(count)]
    with ProcessPoolExecutor(jobs, initializer=_start_worker, initargs=(catalog,)) as pool:
        for chunk, facts in zip(chunks, pool.map(_work, chunks), strict=True):
            yield from zip(chunk, facts, strict=True)


_worker_catalog: Catalog | None = None


def _start_worker(catalog: Catalog) -> None:
    global _worker_catalog
    _worker_catalog = catalog
    gc.disable()


def _work(chunk: list[_File]) -> list[bytes]:
    assert _worker_catalog is not None
    catalog = _worker_catalog
    return _with_deep_stack(lambda: [_read_one(file, catalog) for file in chunk])


def _read_one(file: _File, catalog: Catalog) -> bytes:
    """The encoded facts of a file; whatever is in it, or becomes of it, the run goes on."""
    from detlint.facts.reader import read

    try:
        return encode(read(file.read(), file.module, file.package, catalog))
    except OSError as error:
        problem = f"can't be read: {error.strerror}"
    except (RecursionError, MemoryError):
        problem = "can't be analysed: it is nested too deeply"
    return encode(Facts(file.module, problem=Problem(problem)))


def _with_deep_stack(work: Callable[[], list[bytes]]) -> list[bytes]:
    """Run where deeply nested code can be walked: in a thread with a large stack."""
    result: list[list[bytes]] = []
    failure: list[BaseException] = []

    def target() -> None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                result.append(work())
        except BaseException as error:  # handed to the thread that waits
            failure.append(error)

    limit, size = sys.getrecursionlimit(), threading.stack_size(STACK)
    sys.setrecursionlimit(max(limit, RECURSION))
    try:
        thread = threading.Thread(target=target)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(size)
        sys.setrecursionlimit(limit)
    if failure:
        raise failure[0]
    return result[0]


def _judge(session: _Session, config: Config, report: Report) -> None:
    """Link and check, one module at a time."""
    from detlint.checks.engine import Engine
    from detlint.checks.suppress import suppress
    from detlint.program.resolve import Resolver

    def facts_of(path: str) -> Facts | None:
        file = session.files.get(path)
        if file is not None and file.facts:
            return decode(file.facts)
        return _read_on_demand(session, path, file)

    root = config.root.absolute()
    modules = Modules(root, facts_of)
    engine = Engine(Resolver(modules, session.catalog), config.settings, str(root))
    unused = session.catalog.rules.get("DET002")
    for real, file in sorted(session.files.items()):
        report.files += 1
        if not file.facts:
            continue
        facts = modules.facts(real)
        assert facts is not None
        report.lines += facts.lines
        if facts.problem is not None:
            report.findings += _unreadable(session.catalog, config, file.path, facts.problem)
            continue
        module = engine.resolver.module(real)
        if module is None:
            continue
        findings = engine.check(module)
        module.rest()
        if findings or facts.directives:
            here = [f for f in findings if f.path == real]
            off = unused is None or not selected(config.settings, unused.code)
            kept, covered = suppress(here, facts.directives, real, _source(file), None if off else unused)
            report.suppressed += covered
            report.findings += kept
            report.findings += _elsewhere(session, config, [f for f in findings if f.path != real], report)


def _source(file: _File) -> Source:
    return Source(file.text) if file.text is not None else Source.read(file.path)


def _elsewhere(session: _Session, config: Config, findings: list[Finding], report: Report) -> list[Finding]:
    """Findings of an entry point that stand in another file: reported if that file is checked too."""
    from detlint.checks.suppress import suppress

    kept: list[Finding] = []
    for finding in findings:
        file = session.files.get(finding.path)
        if file is None or not file.facts:
            continue
        left, covered = suppress([finding], decode(file.facts).directives, finding.path, _source(file), None)
        report.suppressed += covered
        kept += left
    return kept


def _read_on_demand(session: _Session, path: str, file: _File | None) -> Facts | None:
    """The facts of a file that names lead into: gated before, or not among the files to report on."""
    wanted = file if file is not None else _File(Path(path), *module_name(Path(path)))
    try:
        key = content_key(wanted.read(), wanted.module, wanted.package)
    except OSError:
        return None
    encoded = session.cache.get([key]).get(key)
    if encoded is None:
        encoded = session.fresh[key] = _with_deep_stack(lambda: [_read_one(wanted, session.catalog)])[0]
    return decode(encoded)


def _unreadable(catalog: Catalog, config: Config, path: Path, problem: Problem) -> list[Finding]:
    rule = catalog.rules.get("DET001")
    if rule is None or not selected(config.settings, rule.code):
        return []
    span = Span(problem.line, problem.column, problem.line, problem.column)
    level = config.settings.severity.get(rule.code, "warning")
    finding = Finding(str(path.absolute()), span, rule.code, rule.name, "warning", problem.message, rule.remedy)
    return [finding.with_severity(level)] if level != "off" else []


def _ignored_here(finding: Finding, config: Config) -> bool:
    """Whether `per-file-ignores` turns a rule off for the finding's file."""
    path = finding.path.removeprefix(f"{config.root.absolute()}{os.sep}").replace(os.sep, "/")
    name = path.rpartition("/")[2]
    for pattern, codes in config.settings.per_file_ignores.items():
        negated = pattern.startswith("!")
        pattern = pattern.removeprefix("!")
        matches = fnmatch(path, pattern) or fnmatch(name, pattern) or fnmatch(path, f"*/{pattern}")
        if matches is not negated and any(code == "ALL" or finding.code.startswith(code) for code in codes):
            return True
    return False


def load_catalog(config: Config, cache_folder: Path | None) -> Catalog:
    """The shipped catalog with the project's own.

    Raises:
        CatalogError: a catalog file is wrong.
    """
    base = config.source.parent if config.source is not None else config.root
    return catalogs.load([base / name for name in config.settings.catalogs], cache_folder)
