"""The thread that checks what is open, and drops what it does as soon as something newer is asked of it."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol, TypeVar

from detlint.catalog import CatalogError
from detlint.checks.finding import Report
from detlint.config import ConfigError
from detlint.discover import discover, top
from detlint.live import Live, Superseded
from detlint.lsp.documents import Document
from detlint.model.sites.records import Facts
from detlint.notebook import cell_of
from detlint.project import Project

_T = TypeVar("_T")
PAUSE: Final = 0.2
IDLE: Final = 2.0
"""Seconds with nothing to do after which garbage is collected. It takes a quarter of a second where much was followed, in which
nobody should have to wait."""
MOST_GARBAGE: Final = 1500
"""Modules, as `Live.garbage` counts them, at which it is collected all the same. A thousand take some 150 MB."""


class Answer(NamedTuple):
    """What is found in one document.

    Attributes:
        document: as it was checked.
        report: None where it isn't checked: it is excluded, or its configuration is wrong.
        live: its program.
        read: the texts that were read instead of those of parts that can't be, by URI.
    """

    document: Document
    report: Report | None
    live: Live | None
    read: Mapping[str, str]


@dataclass(slots=True)
class Told:
    """What the editor says of how to check.

    Attributes:
        settings: as in a configuration file; they come before what that says.
        configuration: a file to use instead of the nearest.
        pause: seconds without a change after which runs are followed anew.
    """

    settings: dict[str, Any] = field(default_factory=dict)
    configuration: Path | None = None
    pause: float = PAUSE


class Listener(Protocol):
    """Who is told what comes of checking, in the checker's thread."""

    def answered(self, answers: Sequence[Answer]) -> None:
        """Documents were checked."""

    def refused(self, message: str) -> None:
        """A configuration can't be used."""

    def failed(self, error: BaseException) -> None:
        """Something went wrong that is a fault of detlint's."""

    def reading(self, done: int, total: int) -> None:
        """A program is read for the first time: how many files of how many; all of them at last, or none."""


class Checker(threading.Thread):
    """Checks documents.

    Args:
        listener: is told what comes of it.
    """

    def __init__(self, listener: Listener) -> None:
        super().__init__(name="detlint checker", daemon=True)
        self.told = Told()
        self._listener = listener
        self._asked = threading.Condition()
        self._news = threading.Event()
        """Set while there is something newer than what is being done."""
        self._tasks: list[tuple[Callable[[], Any], Future[Any]]] = []
        self._documents: Mapping[str, Document] = {}
        self._due: dict[str, None] = {}
        """The paths to check, the last that was changed first."""
        self._reload = False
        self._listing = False
        self._over = False
        self._projects: dict[Path, Live | None] = {}
        """By the folder of a file."""
        self._lives: dict[tuple[Path, Path | None], Live] = {}
        self._excluded: dict[str, bool] = {}
        self._good: dict[str, str] = {}
        """The last text of each part that could be read, by URI."""

    # -- what is asked, in any thread ---------------------------------------------------------------------------

    def ask(
        self, documents: Mapping[str, Document], paths: Iterable[str], reload: bool = False, listing: bool = False
    ) -> None:
        """Check some documents, and those in the same programs.

        Args:
            documents: all that are open, by path.
            paths: those that are to be checked.
            reload: whether configurations may have changed.
            listing: whether files may have come or gone.
        """
        with self._asked:
            self._documents = documents
            self._due = {**dict.fromkeys(paths), **self._due}
            self._reload |= reload
            self._listing |= listing
            self._news.set()
            self._asked.notify()

    def perform(self, task: Callable[[], _T]) -> Future[_T]:
        """Do something where programs may be looked into. Nothing is checked meanwhile."""
        future: Future[_T] = Future()
        with self._asked:
            self._tasks.append((task, future))
            self._news.set()
            self._asked.notify()
        return future

    def end(self) -> None:
        """Stop as soon as possible."""
        with self._asked:
            self._over = True
            self._news.set()
            self._asked.notify()

    # -- what is done, in this one ------------------------------------------------------------------------------

    def run(self) -> None:
        while not self._over:
            with self._asked:
                idle = not self._asked.wait_for(self._is_asked, IDLE if self._garbage() else None)
                self._news.clear()
                tasks, self._tasks = self._tasks, []
            if idle or self._garbage() > MOST_GARBAGE:
                self._sweep()
            for task, future in tasks:
                self._perform(task, future)
            try:
                self._check()
            except Superseded:
                continue
            except Exception as error:  # the server goes on
                self._listener.failed(error)
        for live in self._lives.values():
            live.close()

    def _is_asked(self) -> bool:
        return bool(self._over or self._tasks or self._due or self._reload)

    def _garbage(self) -> int:
        return sum(live.garbage for live in self._lives.values())

    def _sweep(self) -> None:
        gc.collect()
        for live in self._lives.values():
            live.garbage = 0

    def _perform(self, task: Callable[[], Any], future: Future[Any]) -> None:
        if future.set_running_or_notify_cancel():
            try:
                future.set_result(task())
            except BaseException as error:  # handed to who waits
                future.set_exception(error)

    def _check(self) -> None:
        # What is asked from here on belongs to newer documents than these, so it must not be taken for done with them.
        with self._asked:
            documents, due, self._due = self._documents, self._due, {}
            reload, self._reload = self._reload, False
            listing, self._listing = self._listing, False
        if reload:
            self._projects, self._excluded = {}, {}  # programs whose settings are as before stay
        if listing:
            for known in self._lives.values():
                known.files_changed()
        self._forget(documents)
        try:
            while due:
                self._check_next(documents, due)
        finally:
            with self._asked:
                self._due |= {path: None for path in due if path not in self._due}

    def _check_next(self, documents: Mapping[str, Document], due: dict[str, None]) -> None:
        """Check the first of the paths that are due, with all that is open of its program, and take them off."""
        path = next(iter(due))
        del due[path]
        live = self._live(path) if path in documents else None
        together = [p for p in documents if self._live(p) is live] if live is not None else [path]
        taken = [path, *(other for other in together if other in due)]
        for other in taken[1:]:
            del due[other]
        try:
            self._check_program(live, [documents[p] for p in together if p in documents])
        except ConfigError as error:
            self._listener.refused(str(error))
            self._check_program(None, [documents[p] for p in together if p in documents])
        except Superseded:
            due |= dict.fromkeys(taken)
            raise

    def _check_program(self, live: Live | None, documents: Sequence[Document]) -> None:
        """Check the documents of one program."""
        if live is None:
            self._listener.answered([Answer(document, None, None, {}) for document in documents])
            return
        texts = {document.path: data for document in documents if (data := document.unsaved()) is not None}
        by_path = {document.path: document for document in documents}
        broken, read = set[str](), dict[str, dict[str, str]]()

        def stop(seconds: float) -> None:
            if self._news.wait(seconds) if seconds else self._news.is_set():
                raise Superseded

        def mend(path: str, facts: Facts) -> bytes | None:
            parts = _broken(by_path[path], facts)
            broken.update(parts)
            read[path] = instead = {uri: self._good[uri] for uri in parts if uri in self._good}
            return by_path[path].data(instead) if instead else None

        first = self._listener.reading if not live.inside else None
        reports = live.check([*by_path], texts, stop, mend, self.told.pause, first)
        if first is not None:
            first(1, 1)
        self._good |= {p.uri: p.text for d in documents for p in d.parts if p.uri not in broken}
        self._listener.answered(
            [
                Answer(d, _without_typing(reports[d.path], d.path in texts), live, read.get(d.path, {}))
                for d in documents
            ]
        )

    def _forget(self, documents: Mapping[str, Document]) -> None:
        """Let go of what is no longer open."""
        uris = {part.uri for document in documents.values() for part in document.parts}
        self._good = {uri: text for uri, text in self._good.items() if uri in uris}

    # -- programs -----------------------------------------------------------------------------------------------

    def _live(self, path: str) -> Live | None:
        """The program of a file; None where it isn't to be checked."""
        folder = Path(path).parent
        if folder not in self._projects:
            self._projects[folder] = self._load(Path(path))
        live = self._projects[folder]
        if live is not None and path not in self._excluded:
            exists = Path(path).exists()
            self._excluded[path] = exists and not discover([Path(path)], live.project.config).files
        return live if live is not None and not self._excluded[path] else None

    def _load(self, path: Path) -> Live | None:
        try:
            overrides = {**self.told.settings, "jobs": 1, "force-exclude": True}
            project = Project.of(path, overrides, self.told.configuration)
        except (ConfigError, CatalogError) as error:
            self._listener.refused(str(error))
            return None
        root = project.config.root if project.config.project else top(path)
        live = self._lives.get((root, project.config.source))
        if live is not None and _same(live.project, project):
            return live
        if live is not None:
            live.close()
        live = self._lives[root, project.config.source] = Live(project)
        return live


def _broken(document: Document, facts: Facts) -> list[str]:
    """The URIs of the parts that can't be read."""
    if not document.notebook:
        return [document.parts[0].uri]
    cells = (cell_of(facts.cells, problem.line) for problem in facts.left_out)
    return [document.parts[cell.number - 1].uri for cell in cells if cell is not None]


def _without_typing(report: Report, unsaved: bool) -> Report:
    """A report without the syntax errors of a text that is being typed."""
    if unsaved:
        report.findings = [finding for finding in report.findings if finding.code != "DET001"]
    return report


def _same(one: Project, other: Project) -> bool:
    return one.config == other.config and one.catalog.fingerprint == other.catalog.fingerprint
