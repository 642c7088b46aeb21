"""The language server: what detlint finds, while one types.

It speaks version 3.17 of the Language Server Protocol (https://microsoft.github.io/language-server-protocol/) over standard
input and output, by way of pygls.
"""

from __future__ import annotations

import asyncio
import gc
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

import click
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

from detlint import __version__
from detlint.discover import SUFFIXES
from detlint.lsp.actions import EXPLAIN, FIX_ALL, Actions, fixed, wanted
from detlint.lsp.checker import PAUSE, Answer, Checker, Told
from detlint.lsp.diagnostics import Shown, shown
from detlint.lsp.documents import Document, documents
from detlint.lsp.hover import hover
from detlint.lsp.places import Places
from detlint.lsp.text import Documents

CONFIGURATIONS: Final = ("pyproject.toml", "detlint.toml", ".detlint.toml", "setup.py", "setup.cfg", ".gitignore")
"""Files that say how to check, or which files there are."""
VERSIONS: Final = (
    "*requirements*.txt", "*.lock", "pylock*.toml", "Pipfile", "environment*.yml", "environment*.yaml",
)  # fmt: skip
"""Files that say which versions of libraries a project uses."""
LAUNCHES: Final = ("*.sh", "*.bash", "*.slurm", "*.sbatch", "Dockerfile*", "*.dockerfile", "Makefile", "*.mk")
"""Files that start programs."""
READING: Final = "detlint/reading"
"""The token of the progress of reading a program."""
SWITCH_SECONDS: Final = 0.001
"""How long the checker may keep the interpreter while a message waits. (Python's own choice is five times as long, and a
message needs it several times.)"""


class Cancelled(JsonRpcException):
    """The document has changed since the question was asked."""

    CODE = types.LSPErrorCodes.ServerCancelled
    MESSAGE = "the document has changed since"


class Server(LanguageServer):
    """What the client has open, and what was found in it. All of it is used in the thread of the event loop."""

    def __init__(self) -> None:
        notebooks = types.NotebookDocumentFilterWithNotebook("jupyter-notebook")
        super().__init__(
            "detlint", __version__, types.TextDocumentSyncKind.Incremental,
            types.NotebookDocumentSyncOptions([notebooks], save=True),
        )  # fmt: skip
        self.checker = Checker(_Listener(self))
        self.documents: dict[str, Document] = {}
        self.answers: dict[str, Answer] = {}
        self.loop: asyncio.AbstractEventLoop
        self._found: dict[str, list[Shown]] = {}
        """What is shown of each document, by path."""
        self._published: dict[str, tuple[int | None, list[types.Diagnostic]]] = {}
        """By URI."""
        self._waiting: list[tuple[str, tuple[object, ...], asyncio.Future[None]]] = []
        self._refused: set[str] = set()
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        """Where texts are that the client is to show."""
        self._percent: int | None = None
        """How much is read of a program that is read for the first time; None: none is, or the client isn't told."""

    # -- what the client can do ---------------------------------------------------------------------------------

    @property
    def pulls(self) -> bool:
        """Whether the client asks for diagnostics itself."""
        text = self.client_capabilities.text_document
        return text is not None and text.diagnostic is not None

    @property
    def refreshes(self) -> bool:
        """Whether it can be told to ask again."""
        workspace = self.client_capabilities.workspace
        return bool(workspace and workspace.diagnostics and workspace.diagnostics.refresh_support)

    @property
    def _related(self) -> bool:
        text = self.client_capabilities.text_document
        published = text.publish_diagnostics if text else None
        pulled = text.diagnostic if text else None
        return bool((published and published.related_information) or (pulled and pulled.related_information))

    @property
    def versioned(self) -> bool:
        """Whether edits may say which version of a text they are for."""
        workspace = self.client_capabilities.workspace
        return bool(workspace and workspace.workspace_edit and workspace.workspace_edit.document_changes)

    # -- what is open -------------------------------------------------------------------------------------------

    def look(self, paths: Iterable[str] | None = None, reload: bool = False, listing: bool = False) -> None:
        """Take what is open as it is now, and have checked what has changed.

        Args:
            paths: what to check besides; None: everything.
            reload: whether configurations may have changed.
            listing: whether files may have come or gone.
        """
        before = self.documents
        self.documents = documents(self.workspace, self.workspace.root_path or os.getcwd())
        states = {path: document.state for path, document in before.items()}
        changed = [path for path, document in self.documents.items() if states.get(path) != document.state]
        chosen = self.documents if paths is None else [path for path in paths if path in self.documents]
        for path in before.keys() - self.documents.keys():
            self.answers.pop(path, None)
            self._found.pop(path, None)
        self._clear()
        self._wake()
        self.checker.ask(self.documents, [*changed, *chosen], reload, listing)

    def _clear(self) -> None:
        """Take back what was said of texts that are no longer open: a file, or a cell of a notebook."""
        uris = {part.uri for document in self.documents.values() for part in document.parts}
        for uri in self._published.keys() - uris:
            del self._published[uri]
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    def document_of(self, uri: str) -> Document | None:
        """The document that a text belongs to."""
        return next((d for d in self.documents.values() if any(part.uri == uri for part in d.parts)), None)

    # -- what is found ------------------------------------------------------------------------------------------

    def take(self, answers: Sequence[Answer]) -> None:
        """Take what was found in some documents; what was found in an older state of one is nothing."""
        refresh = False
        for answer in answers:
            path = answer.document.path
            document = self.documents.get(path)
            if document is None or document.state != answer.document.state:
                continue
            known, before = self.answers.get(path), self._found.get(path)
            self.answers[path] = answer
            self._found[path] = [*shown(answer, self.places(answer), self._related)]
            told = known is not None and known.document.state == document.state
            refresh |= told and [*map(_told, before or ())] != [*map(_told, self._found[path])]
            if document.notebook or not self.pulls:
                self._publish(document)
        if refresh and self.pulls and self.refreshes:
            self.workspace_diagnostic_refresh(None)
        self._wake()

    def places(self, answer: Answer) -> Places:
        """Where things stand that were found."""
        return Places(answer, self.documents, self.workspace.position_encoding)

    def _publish(self, document: Document) -> None:
        for part in document.parts:
            diagnostics = self.diagnostics(document.path, part.uri)
            if self._published.get(part.uri) != (part.version, diagnostics):
                self._published[part.uri] = part.version, diagnostics
                self.text_document_publish_diagnostics(
                    types.PublishDiagnosticsParams(part.uri, diagnostics, part.version)
                )

    def diagnostics(self, path: str, uri: str) -> list[types.Diagnostic]:
        """What is shown of a text."""
        return [one.diagnostic for one in self._found.get(path, ()) if one.uri == uri]

    def found(self, document: Document, uri: str, place: types.Range) -> list[Shown]:
        """What stands on some lines of a text."""
        return [
            one
            for one in self._found.get(document.path, ())
            if one.uri == uri
            and one.diagnostic.range.start.line <= place.end.line
            and place.start.line <= one.diagnostic.range.end.line
        ]

    async def answer(self, uri: str) -> Answer | None:
        """What was found in a text as it is now; None where it isn't open.

        Raises:
            Cancelled: it has changed meanwhile.
        """
        document = self.document_of(uri)
        if document is None:
            return None
        while True:
            answer = self.answers.get(document.path)
            if answer is not None and answer.document.state == document.state:
                return answer
            news: asyncio.Future[None] = self.loop.create_future()
            self._waiting.append((document.path, document.state, news))
            await news

    def _wake(self) -> None:
        """Tell those who wait for an answer that there may be one, or that there will be none."""
        waiting, self._waiting = self._waiting, []
        for path, state, news in waiting:
            if news.cancelled():
                continue
            document = self.documents.get(path)
            if document is None or document.state != state:
                news.set_exception(Cancelled())
            else:
                news.set_result(None)

    # -- what it says besides -----------------------------------------------------------------------------------

    def log(self, message: str, kind: types.MessageType = types.MessageType.Error) -> None:
        """Write something into the client's log."""
        self.window_log_message(types.LogMessageParams(kind, message))

    def refuse(self, message: str) -> None:
        """Tell once that a configuration can't be used."""
        if message not in self._refused:
            self._refused.add(message)
            self.window_show_message(types.ShowMessageParams(types.MessageType.Error, f"detlint: {message}"))

    def report_server_error(self, error: Exception, source: Any) -> None:
        """An error is written into the client's log; the server goes on."""
        if not isinstance(error, Cancelled):
            self.log(f"{type(error).__name__}: {error}")

    def show_reading(self, done: int, total: int) -> None:
        """Tell how much is read of a program."""
        window = self.client_capabilities.window
        if window is None or not window.work_done_progress:
            return
        percent = 100 * done // max(total, 1)
        if self._percent is None and percent < 100:
            self._percent = percent
            self.window_work_done_progress_create(types.WorkDoneProgressCreateParams(READING))
            begin = types.WorkDoneProgressBegin("detlint: reading the program", percentage=percent)
            self.work_done_progress.begin(READING, begin)
        elif self._percent is not None and percent > self._percent:
            self._percent = percent
            if percent < 100:
                self.work_done_progress.report(READING, types.WorkDoneProgressReport(percentage=percent))
            else:
                self.work_done_progress.end(READING, types.WorkDoneProgressEnd())
                self._percent = None

    def configure(self, settings: Any) -> None:
        """Take what the client says of how to check."""
        settings = dict(settings) if isinstance(settings, Mapping) else {}
        configuration, pause = settings.pop("configuration", None), settings.pop("pause", None)
        self._refused.clear()
        self.checker.told = Told(
            settings,
            Path(configuration) if isinstance(configuration, str) else None,
            pause if isinstance(pause, (int, float)) else PAUSE,
        )

    def write(self, name: str, text: str) -> str:
        """Write a text to be shown; its URI."""
        self._folder = self._folder or tempfile.TemporaryDirectory(prefix="detlint-")
        file = Path(self._folder.name) / name
        file.write_text(text, "utf-8")
        return from_fs_path(str(file)) or ""


class _Listener:
    """Hands what comes of checking to the event loop's thread."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def _call(self, function: Callable[..., object], *arguments: object) -> None:
        self._server.loop.call_soon_threadsafe(function, *arguments)

    def answered(self, answers: Sequence[Answer]) -> None:
        self._call(self._server.take, answers)

    def refused(self, message: str) -> None:
        self._call(self._server.refuse, message)

    def failed(self, error: BaseException) -> None:
        self._call(self._server.log, f"a fault of detlint's (please report it): {error!r}")

    def reading(self, done: int, total: int) -> None:
        self._call(self._server.show_reading, done, total)


def _told(one: Shown) -> types.Diagnostic:
    return one.diagnostic


def _table(value: Any) -> Any:
    """What a client's settings say, as plain tables."""
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, Mapping):
        return {key: _table(entry) for key, entry in value.items()}
    return [_table(entry) for entry in value] if isinstance(value, (list, tuple)) else value


_F = TypeVar("_F", bound=Callable[..., Any])
_FEATURES: Final[list[tuple[str, Any, Callable[..., Any]]]] = []
"""What the server answers to: the method, its options, and what is called."""


def _on(*methods: str, options: Any = None) -> Callable[[_F], _F]:
    def register(function: _F) -> _F:
        _FEATURES.extend((method, options, function) for method in methods)
        return function

    return register


@_on(types.INITIALIZE)
def initialize(ls: Server, params: types.InitializeParams) -> None:
    ls.protocol._workspace = Documents(ls.workspace)
    ls.configure(_table(params.initialization_options))


@_on(types.INITIALIZED)
async def initialized(ls: Server, params: types.InitializedParams) -> None:
    ls.loop = asyncio.get_running_loop()
    ls.checker.start()
    ls.look()
    workspace = ls.client_capabilities.workspace
    watched = workspace.did_change_watched_files if workspace else None
    if watched is not None and watched.dynamic_registration:
        sources = ",".join(f"*{suffix}" for suffix in SUFFIXES)
        names = ",".join((*CONFIGURATIONS, *VERSIONS, *LAUNCHES))
        watchers = [types.FileSystemWatcher(f"**/{{{pattern}}}") for pattern in (sources, names)]
        options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
        registration = types.Registration("detlint/files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
        await ls.client_register_capability_async(types.RegistrationParams([registration]))


@_on(types.SHUTDOWN)
def shutdown(ls: Server, params: None) -> None:
    ls.checker.end()


@_on(types.TEXT_DOCUMENT_DID_OPEN, types.NOTEBOOK_DOCUMENT_DID_OPEN)
def did_open(ls: Server, params: Any) -> None:
    ls.look((), listing=True)


@_on(types.TEXT_DOCUMENT_DID_CHANGE, types.NOTEBOOK_DOCUMENT_DID_CHANGE)
def did_change(ls: Server, params: Any) -> None:
    ls.look(())


@_on(types.TEXT_DOCUMENT_DID_CLOSE, types.NOTEBOOK_DOCUMENT_DID_CLOSE)
def did_close(ls: Server, params: Any) -> None:
    ls.look()


@_on(types.TEXT_DOCUMENT_DID_SAVE, types.NOTEBOOK_DOCUMENT_DID_SAVE)
def did_save(ls: Server, params: Any) -> None:
    ls.look(reload=True, listing=True)


@_on(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
def did_change_files(ls: Server, params: types.DidChangeWatchedFilesParams) -> None:
    paths = [to_fs_path(change.uri) or "" for change in params.changes]
    ls.look(reload=not all(path.endswith(SUFFIXES) for path in paths), listing=True)


@_on(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
def did_change_configuration(ls: Server, params: types.DidChangeConfigurationParams) -> None:
    settings = _table(params.settings)
    if isinstance(settings, Mapping) and isinstance(settings.get("detlint"), Mapping):
        ls.configure(settings["detlint"])
        ls.look(reload=True)


@_on(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
def did_change_folders(ls: Server, params: types.DidChangeWorkspaceFoldersParams) -> None:
    ls.look(reload=True, listing=True)


@_on(
    types.TEXT_DOCUMENT_DIAGNOSTIC,
    options=types.DiagnosticOptions(inter_file_dependencies=True, workspace_diagnostics=False, identifier="detlint"),
)
async def diagnostic(ls: Server, params: types.DocumentDiagnosticParams) -> types.DocumentDiagnosticReport:
    uri = params.text_document.uri
    document = ls.document_of(uri)
    answer = await ls.answer(uri) if document is not None and not document.notebook else None
    items = ls.diagnostics(answer.document.path, uri) if answer is not None else []
    return types.RelatedFullDocumentDiagnosticReport(items)


@_on(
    types.TEXT_DOCUMENT_CODE_ACTION,
    options=types.CodeActionOptions([types.CodeActionKind.QuickFix, FIX_ALL], resolve_provider=True),
)
async def code_action(ls: Server, params: types.CodeActionParams) -> list[types.CodeAction | types.Command]:
    uri = params.text_document.uri
    kinds = [kind.value if isinstance(kind, types.CodeActionKind) else kind for kind in params.context.only or ()]
    answer = await ls.answer(uri)
    if answer is None or answer.report is None or answer.live is None:
        return []
    actions = Actions(answer, ls.places(answer), ls.documents, ls.versioned)
    here = ls.found(answer.document, uri, params.range)
    made = await ls.loop.run_in_executor(None, lambda: [*actions.of(here, kinds)])
    if wanted(FIX_ALL, kinds) and await ls.loop.run_in_executor(None, actions.fixable):
        everything = types.CodeAction("Fix all that is safe (detlint)", FIX_ALL, data=uri)
        made.append(everything if _resolves(ls) or not kinds else await resolve(ls, everything))
    return made


def _resolves(ls: Server) -> bool:
    """Whether the client asks for an action's edit when it is chosen."""
    text = ls.client_capabilities.text_document
    support = text.code_action.resolve_support if text and text.code_action else None
    return support is not None and "edit" in support.properties


@_on(types.CODE_ACTION_RESOLVE)
async def resolve(ls: Server, action: types.CodeAction) -> types.CodeAction:
    uri = str(action.data)
    answer = await ls.answer(uri)
    if answer is None or answer.live is None:
        return action
    places, opened = ls.places(answer), ls.documents
    edits = await asyncio.wrap_future(ls.checker.perform(lambda: fixed(answer, opened, places)))
    actions = Actions(answer, places, opened, ls.versioned)
    action.edit = actions.workspace_edit(edits)
    return action


@_on(types.TEXT_DOCUMENT_HOVER)
async def on_hover(ls: Server, params: types.HoverParams) -> types.Hover | None:
    uri, position = params.text_document.uri, params.position
    answer = await ls.answer(uri)
    found = ls.found(answer.document, uri, types.Range(position, position)) if answer is not None else []
    if answer is None or answer.live is None or not found:
        return None
    text = ls.client_capabilities.text_document
    formats = text.hover.content_format if text and text.hover else None
    as_markdown = not formats or types.MarkupKind.Markdown in formats
    catalog = answer.live.project.catalog
    return await ls.loop.run_in_executor(None, lambda: hover(found, catalog, as_markdown))


async def explain(ls: Server, uri: str, line: int) -> str:
    """The reasoning for a line, counted from 0; it is shown too, where the client can show a document."""
    answer = await ls.answer(uri)
    if answer is None or answer.live is None or answer.report is None:
        return ""
    text = await asyncio.wrap_future(ls.checker.perform(lambda: _explained(answer, uri, line)))
    window = ls.client_capabilities.window
    if window is not None and window.show_document is not None and window.show_document.support:
        shown = ls.write(f"{Path(answer.document.path).name}-{line + 1}.txt", text)
        await ls.window_show_document_async(types.ShowDocumentParams(shown, take_focus=True))
    return text


def _explained(answer: Answer, uri: str, line: int) -> str:
    from detlint.inspect import NotThere, inspect
    from detlint.model.sites.store import with_deep_stack
    from detlint.report.explain import explain as explained

    document, live, report = answer.document, answer.live, answer.report
    assert live is not None and report is not None
    cell = next(n for n, part in enumerate(document.parts, 1) if part.uri == uri) if document.notebook else None

    def work() -> str:
        project = live.project
        with inspect(Path(document.path), project.config, project.catalog, project.cache, report.texts) as inspection:
            return "\n".join(explained(inspection, line + 1, cell)) + "\n"

    try:
        return click.unstyle(with_deep_stack(work))
    except NotThere as error:
        return f"{error}\n"


def main() -> None:
    """Serve until the client says that it is enough."""
    gc.disable()  # the checker collects garbage when it has nothing else to do
    sys.setswitchinterval(SWITCH_SECONDS)
    server = Server()
    for method, options, function in _FEATURES:
        server.feature(method, options)(function)
    server.command(EXPLAIN)(explain)
    server.start_io()
