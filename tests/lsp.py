"""An editor without a screen: a client of the language server, which runs in a process of its own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from conftest import CHECKING
from forks import server
from lsprotocol import types
from pygls.lsp.client import LanguageClient
from pygls.uris import from_fs_path

_T = TypeVar("_T")
PATIENCE = 120
"""Seconds after which a test fails that waits for the server."""
PUSHED = types.ClientCapabilities(
    text_document=types.TextDocumentClientCapabilities(
        publish_diagnostics=types.PublishDiagnosticsClientCapabilities(related_information=True)
    ),
    workspace=types.WorkspaceClientCapabilities(
        workspace_edit=types.WorkspaceEditClientCapabilities(document_changes=True)
    ),
)
"""What a client can do that is sent diagnostics."""
PULLED = types.ClientCapabilities(
    text_document=types.TextDocumentClientCapabilities(diagnostic=types.DiagnosticClientCapabilities())
)
"""What a client can do that asks for them."""


LOADED = CHECKING + "import detlint.language_server\n"


class Editor:
    """What a person sees and does. Texts are put in whole."""

    def __init__(self, client: LanguageClient, root: Path) -> None:
        self.client = client
        self.root = root
        self.published: dict[str, types.PublishDiagnosticsParams] = {}
        self.log: list[str] = []
        self.messages: list[str] = []
        self.registered: list[types.Registration] = []
        self.shown: list[types.ShowDocumentParams] = []
        self.progress: list[str] = []
        self.refreshed = 0
        self.versions: dict[str, int] = {}
        self._changed = asyncio.Event()

    def uri(self, name: str) -> str:
        return name if ":" in name else from_fs_path(str(self.root / name)) or ""

    def told(self) -> None:
        self._changed.set()

    async def until(self, true: Callable[[], _T]) -> _T:
        """Wait for messages of the server until something holds."""

        async def wait() -> _T:
            while not (found := true()):
                self._changed.clear()
                await self._changed.wait()
            return found

        return await asyncio.wait_for(wait(), PATIENCE)

    async def ask(self, answer: Awaitable[_T]) -> _T:
        return await asyncio.wait_for(answer, PATIENCE)

    # -- what is done -------------------------------------------------------------------------------------------

    def open(self, name: str, text: str | None = None, language: str = "python") -> None:
        text = (self.root / name).read_text() if text is None else text
        self.versions[name] = 1
        item = types.TextDocumentItem(self.uri(name), language, 1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def change(self, name: str, text: str) -> None:
        self.edit(name, types.TextDocumentContentChangeWholeDocument(text))

    def edit(self, name: str, *changes: types.TextDocumentContentChangeEvent) -> None:
        self.versions[name] += 1
        document = types.VersionedTextDocumentIdentifier(self.versions[name], self.uri(name))
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, [*changes]))

    def save(self, name: str, text: str | None = None) -> None:
        if text is not None:
            (self.root / name).write_text(text)
        self.client.text_document_did_save(
            types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(self.uri(name)))
        )

    def close(self, name: str) -> None:
        self.client.text_document_did_close(
            types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(self.uri(name)))
        )

    # -- what is seen -------------------------------------------------------------------------------------------

    async def diagnostics(self, name: str) -> list[types.Diagnostic]:
        """What was sent of the version that is open."""
        uri = self.uri(name)
        await self.until(lambda: uri in self.published and self.published[uri].version == self.versions[name])
        return [*self.published[uri].diagnostics]

    async def codes(self, name: str, *expected: str) -> None:
        """Wait until just these rules are told of the version that is open; each as in `DET104:3`, with its line."""
        uri = self.uri(name)

        def seen() -> bool:
            sent = self.published.get(uri)
            return sent is not None and sent.version == self.versions[name] and shown(sent.diagnostics) == [*expected]

        try:
            await self.until(seen)
        except (TimeoutError, asyncio.TimeoutError):
            sent = self.published.get(uri)
            raise AssertionError((sent and (sent.version, shown(sent.diagnostics)), self.log)) from None

    async def pull(self, name: str) -> list[types.Diagnostic]:
        params = types.DocumentDiagnosticParams(types.TextDocumentIdentifier(self.uri(name)))
        report = await self.ask(self.client.text_document_diagnostic_async(params))
        assert isinstance(report, types.RelatedFullDocumentDiagnosticReport)
        return [*report.items]

    async def actions(
        self, name: str, line: int, only: list[str] | None = None
    ) -> dict[str, types.CodeAction | types.Command]:
        """What can be done about a line, by title."""
        place = types.Range(types.Position(line - 1, 0), types.Position(line - 1, 0))
        context = types.CodeActionContext([], only)
        params = types.CodeActionParams(types.TextDocumentIdentifier(self.uri(name)), place, context)
        found = await self.ask(self.client.text_document_code_action_async(params)) or []
        return {action.title: action for action in found}

    async def edits(self, name: str, line: int, title: str, only: list[str] | None = None) -> types.TextDocumentEdit:
        """What an action changes, all in one file."""
        action = (await self.actions(name, line, only))[title]
        assert isinstance(action, types.CodeAction)
        assert action.edit
        assert action.edit.document_changes
        (change,) = action.edit.document_changes
        assert isinstance(change, types.TextDocumentEdit)
        return change

    async def hover(self, name: str, line: int) -> str:
        params = types.HoverParams(types.TextDocumentIdentifier(self.uri(name)), types.Position(line - 1, 0))
        found = await self.ask(self.client.text_document_hover_async(params))
        assert found is None or isinstance(found.contents, types.MarkupContent)
        return found.contents.value if found is not None else ""  # type: ignore[union-attr]


def shown(diagnostics: Any) -> list[str]:
    """Diagnostics as `CODE:LINE`, lines counted from 1."""
    return [f"{one.code}:{one.range.start.line + 1}" for one in diagnostics]


def edited(text: str, edits: Any) -> str:
    """A text with some edits made; columns are in characters."""
    starts = [0]
    for line in text.splitlines(True):
        starts.append(starts[-1] + len(line))
    at = [(starts[e.range.start.line] + e.range.start.character, starts[e.range.end.line] + e.range.end.character, e.new_text)
          for e in edits]  # fmt: skip
    for start, end, new in sorted(at, reverse=True):
        text = text[:start] + new + text[end:]
    return text


@asynccontextmanager
async def editor(
    root: Path,
    capabilities: types.ClientCapabilities = PUSHED,
    options: dict[str, Any] | None = None,
    python: str | None = None,
) -> AsyncIterator[Editor]:
    """A server, and a client that has begun to talk to it.

    Args:
        python: what the server runs in; None: a process that has loaded all that it takes.
    """
    client = LanguageClient("tests", "1")
    own = Editor(client, root)

    def published(params: types.PublishDiagnosticsParams) -> None:
        own.published[params.uri] = params
        own.told()

    def logged(params: types.LogMessageParams) -> None:
        own.log.append(params.message)
        own.told()

    def messaged(params: types.ShowMessageParams) -> None:
        own.messages.append(params.message)
        own.told()

    def registered(params: types.RegistrationParams) -> None:
        own.registered += params.registrations
        own.told()

    def refresh(params: None) -> None:
        own.refreshed += 1
        own.told()

    def created(params: types.WorkDoneProgressCreateParams) -> None:
        own.progress.clear()

    def progressed(params: types.ProgressParams) -> None:
        value: Any = params.value
        own.progress.append(value["kind"] if isinstance(value, dict) else value.kind)
        own.told()

    def document(params: types.ShowDocumentParams) -> types.ShowDocumentResult:
        own.shown.append(params)
        own.told()
        return types.ShowDocumentResult(True)

    for name, told in {
        types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS: published,
        types.WINDOW_LOG_MESSAGE: logged,
        types.WINDOW_SHOW_MESSAGE: messaged,
        types.CLIENT_REGISTER_CAPABILITY: registered,
        types.WORKSPACE_DIAGNOSTIC_REFRESH: refresh,
        types.WINDOW_SHOW_DOCUMENT: document,
        types.PROGRESS: progressed,
        types.WINDOW_WORK_DONE_PROGRESS_CREATE: created,
    }.items():
        client.feature(name)(told)
    await client.start_io(python or server(LOADED).python, "-m", "detlint", "server")
    try:
        folder = types.WorkspaceFolder(own.uri(""), root.name)
        params = types.InitializeParams(
            capabilities, root_uri=own.uri(""), workspace_folders=[folder], initialization_options={"pause": 0, **(options or {})}
        )  # fmt: skip
        own.server = (await asyncio.wait_for(client.initialize_async(params), PATIENCE)).capabilities  # type: ignore[attr-defined]
        client.initialized(types.InitializedParams())
        yield own
        await asyncio.wait_for(client.shutdown_async(None), PATIENCE)
        client.exit(None)
    except BaseException:
        if client._server is not None and client._server.returncode is None:
            client._server.kill()
        raise
    finally:
        await client.stop()  # type: ignore[no-untyped-call]


def session(work: Coroutine[Any, Any, None]) -> None:
    """Run what a test does."""
    asyncio.run(work)
