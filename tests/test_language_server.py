"""The language server under a real client, in a process of its own."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from conftest import detlint, findings, notebook
from lsp import PATIENCE, PULLED, Editor, edited, editor, session, shown
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from detlint.lsp.checker import Answer, Checker
from detlint.lsp.documents import Document, Part

NAMES = ("noise.py", "train.py")
NOISE = "import torch\n\n\ndef noise():\n    return torch.rand(3)\n"
BARE = "from noise import noise\n\nif __name__ == '__main__':\n    print(noise())\n"
SEEDED = BARE.replace("    print", "    torch.manual_seed(0)\n    print").replace("from", "import torch\nfrom", 1)
LISTED = """\
import os

import torch

def load(a, b):
    x = os.listdir(a)
    y = os.listdir(b)
    return [torch.load(file) for file in x], [torch.load(file) for file in y]
"""
SORT = "Write `sorted(...)` (DET305)"
ALL = "Fix all that is safe (detlint)"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    (tmp_path / "noise.py").write_text(NOISE)
    (tmp_path / "train.py").write_text(BARE)
    return tmp_path


# -- diagnostics ------------------------------------------------------------------------------------------------


def test_unsaved_texts_are_judged_within_their_program(folder: Path) -> None:
    async def work() -> None:
        async with editor(folder) as person:
            person.open("noise.py")
            await person.codes("noise.py", "DET104:5")
            one = (await person.diagnostics("noise.py"))[0]
            assert (one.severity, one.source, one.code_description) == (types.DiagnosticSeverity.Error, "detlint", None)
            assert one.related_information
            assert [(step.location.uri, step.location.range.start.line) for step in one.related_information] == [
                (person.uri("train.py"), 2),
                (person.uri("train.py"), 3),
            ]
            person.open("train.py")
            person.change("train.py", SEEDED)
            await person.codes("noise.py")
            person.close("train.py")  # what is on disk seeds nothing
            await person.codes("noise.py", "DET104:5")

    session(work())


def test_a_file_is_judged_as_if_it_was_checked_alone(folder: Path) -> None:
    async def work() -> None:
        async with editor(folder, python=sys.executable) as person:
            person.open("train.py")
            person.open("noise.py")
            await person.codes("train.py", "DET104:4")
            await person.codes("noise.py", "DET104:5")

    session(work())


def test_positions_are_in_the_units_of_the_client(folder: Path) -> None:
    text = "import torch\n\nx = '\U0001f600é'; y = torch.rand(3)\nprint(x, y)\n"
    columns = {"utf-8": 18, "utf-16": 15, "utf-32": 14}

    async def work(encoding: str) -> None:
        capabilities = types.ClientCapabilities(
            general=types.GeneralClientCapabilities(position_encodings=[types.PositionEncodingKind(encoding)])
        )
        async with editor(folder, capabilities) as person:
            person.open("new.py", text)
            await person.codes("new.py", "DET104:3")
            place = (await person.diagnostics("new.py"))[0].range
            assert place.start.character == columns[encoding]
            start, end = (
                types.Position(2, columns[encoding]),
                types.Position(2, columns[encoding] + len("torch.rand(3)")),
            )
            person.edit("new.py", types.TextDocumentContentChangePartial(types.Range(start, end), "1"))
            await person.codes("new.py")

    for encoding in columns:
        session(work(encoding))


def test_only_the_protocols_line_ends_end_lines(folder: Path) -> None:
    async def work() -> None:
        async with editor(folder) as person:
            person.open("new.py", "import torch\r\nx = 1\x0c\r\ny = 'a\u2028b'\r\nprint(torch.rand(3))\r\n")
            await person.codes("new.py", "DET104:4")
            place = types.Range(types.Position(3, 0), types.Position(3, 999))
            person.edit("new.py", types.TextDocumentContentChangePartial(place, "print(0)"))
            await person.codes("new.py")

    session(work())


def test_syntax_errors_are_not_told_while_typing(folder: Path) -> None:
    async def work() -> None:
        async with editor(folder) as person:
            person.open("noise.py")
            await person.codes("noise.py", "DET104:5")
            person.change("noise.py", "x = (\n" + NOISE)
            await person.codes("noise.py", "DET104:6")  # what was found last, where it stands now
            person.open("train.py")
            await person.codes("train.py", "DET104:4")
            person.save("noise.py", "x = (\n" + NOISE)
            await person.codes("noise.py", "DET001:1")
            person.change("noise.py", NOISE)
            await person.codes("noise.py", "DET104:5")

    session(work())


def test_a_text_that_comes_between_two_checks_is_not_lost(folder: Path) -> None:
    """Both files are due; while the answer for them is told, one of them changes. They are old enough to be known by
    their time, so that nothing is read that could be broken off."""
    for name in NAMES:
        os.utime(folder / name, (1, 1))
    old = [Document(str(folder / name), (Part(name, 1, (folder / name).read_text()),), 1) for name in NAMES]
    new = Document(str(folder / "noise.py"), (Part("noise.py", 2, f"#\n{NOISE}"),), 2)
    typed, done = threading.Event(), threading.Event()

    class Typing:
        def answered(self, answers: Sequence[Answer]) -> None:
            versions = [answer.document.version for answer in answers]
            if versions == [1, 1] and not typed.is_set():
                typed.set()
                checker.ask({document.path: document for document in (new, old[1])}, [new.path])
            elif 2 in versions:
                done.set()

        def refused(self, message: str) -> None: ...

        def failed(self, error: BaseException) -> None: ...

        def reading(self, done: int, total: int) -> None: ...

    checker = Checker(Typing())
    checker.start()
    checker.ask({document.path: document for document in old}, [document.path for document in old])
    assert done.wait(PATIENCE)
    checker.end()
    checker.join()


def test_notes_are_shown_where_they_are_asked_for(folder: Path) -> None:
    text = "import torch\n\ntorch.manual_seed(0)\nprint(torch.nn.Dropout(0.5)(torch.rand(3)))\n"

    async def work(options: dict[str, Any], *codes: str) -> None:
        async with editor(folder, options=options) as person:
            person.open("new.py", text)
            await person.codes("new.py", *codes)

    session(work({}))
    session(work({"show-notes": True}, "DET201:4"))


def test_what_the_baseline_has_is_silent(folder: Path) -> None:
    assert detlint("baseline", "--no-cache", folder).exit_code == 0

    async def work() -> None:
        async with editor(folder) as person:
            person.open("noise.py")
            await person.codes("noise.py")
            person.change("noise.py", f"# text\n{NOISE}".replace("rand(3)", "rand(4)"))
            await person.codes("noise.py", "DET104:6")
            person.change("noise.py", f"# text\n{NOISE}")
            await person.codes("noise.py")

    session(work())


def test_excluded_files_are_left_alone(folder: Path) -> None:
    (folder / "pyproject.toml").write_text("[tool.detlint]\nextend-exclude = ['old']\n")
    (folder / "old").mkdir()
    (folder / "old" / "noise.py").write_text("import torch\n\nprint(torch.rand(3))\n")

    async def work() -> None:
        async with editor(folder) as person:
            person.open("old/noise.py")
            await person.codes("old/noise.py")

    session(work())


def test_clients_may_ask_for_diagnostics(folder: Path) -> None:
    async def work() -> None:
        async with editor(folder, PULLED) as person:
            person.open("noise.py")
            assert shown(await person.pull("noise.py")) == ["DET104:5"]
            person.change("noise.py", "# moved\n" + NOISE)
            assert shown(await person.pull("noise.py")) == ["DET104:6"]
            assert person.published == {}

    session(work())


def test_who_can_ask_again_is_told_to(folder: Path) -> None:
    able = types.ClientCapabilities(
        text_document=types.TextDocumentClientCapabilities(diagnostic=types.DiagnosticClientCapabilities()),
        workspace=types.WorkspaceClientCapabilities(diagnostics=types.DiagnosticWorkspaceClientCapabilities(True)),
    )

    async def work() -> None:
        async with editor(folder, able) as person:
            person.open("noise.py")
            assert shown(await person.pull("noise.py")) == ["DET104:5"]
            person.open("train.py")
            person.change("train.py", SEEDED)
            await person.until(lambda: person.refreshed)
            assert await person.pull("noise.py") == []

    session(work())


def test_superseded_questions_get_no_answer(folder: Path) -> None:
    async def work() -> None:
        async with editor(folder, PULLED) as person:
            person.open("noise.py")
            await person.pull("noise.py")
            asked = []
            for number in range(5):
                person.change("noise.py", "#\n" * number + NOISE)
                asked.append(asyncio.ensure_future(person.pull("noise.py")))
            *earlier, last = await asyncio.gather(*asked, return_exceptions=True)
            assert not isinstance(last, BaseException)
            assert shown(last) == ["DET104:9"]
            for number, answer in enumerate(earlier):
                if isinstance(answer, BaseException):
                    assert "changed" in str(answer)
                else:
                    assert shown(answer) in ([f"DET104:{line}"] for line in range(5 + number, 10))

    session(work())


STATES = [
    NOISE,
    NOISE.replace("    return", "    torch.manual_seed(1)\n    return"),
    NOISE.replace("torch.rand(3)", "torch.nn.functional.dropout(torch.rand(3), 0.1)"),
    "import numpy as np\n" + NOISE.replace("torch.rand(3)", "np.random.rand(3)"),
    NOISE + "\n\ndef more():\n    return torch.randn(3)\n\n\nprint(more())\n",
    NOISE.replace("def noise():\n", "def noise(n=3):\n    x = torch.rand(n, device='cuda')\n"),
    "",
]


def test_in_the_end_it_says_what_a_run_says(folder: Path) -> None:
    async def work() -> None:
        async with editor(folder, PULLED, {"show-notes": True}) as person:
            person.open("noise.py")
            person.open("train.py")
            await person.pull("train.py")
            for state in (*STATES, *reversed(STATES)):
                person.change("noise.py", state)
                seen = {name: await person.pull(name) for name in ("noise.py", "train.py")}
                (folder / "noise.py").write_text(state)
                for name, diagnostics in seen.items():
                    told = findings(folder / name, isolated=False)
                    assert [_row(one) for one in diagnostics] == [
                        (f["location"]["row"] - 1, f["location"]["column"] - 1, f["end_location"]["row"] - 1,
                         f["end_location"]["column"] - 1, f["code"], f["message"])
                        for f in told
                    ]  # fmt: skip
                (folder / "noise.py").write_text(NOISE)

    session(work())


def _row(one: types.Diagnostic) -> tuple[int, int, int, int, object, str]:
    start, end = one.range.start, one.range.end
    return start.line, start.character, end.line, end.character, one.code, one.message


# -- notebooks --------------------------------------------------------------------------------------------------


class Cells:
    """A notebook that is open."""

    def __init__(self, person: Editor, name: str, *texts: str) -> None:
        self.person, self.name = person, name
        self.version = 1
        self.cells = [types.NotebookCell(types.NotebookCellKind.Code, self.uri(i)) for i in range(len(texts))]
        document = types.NotebookDocument(person.uri(name), "jupyter-notebook", 1, [*self.cells])
        items = [types.TextDocumentItem(self.uri(i), "python", 1, text) for i, text in enumerate(texts)]
        person.client.notebook_document_did_open(types.DidOpenNotebookDocumentParams(document, items))

    def uri(self, number: int) -> str:
        return self.person.uri(self.name).replace("file:", "vscode-notebook-cell:") + f"#{number}"

    def change(self, change: types.NotebookDocumentCellChanges) -> None:
        self.version += 1
        document = types.VersionedNotebookDocumentIdentifier(self.version, self.person.uri(self.name))
        params = types.DidChangeNotebookDocumentParams(document, types.NotebookDocumentChangeEvent(cells=change))
        self.person.client.notebook_document_did_change(params)

    def type(self, number: int, text: str) -> None:
        document = types.VersionedTextDocumentIdentifier(self.version + 1, self.uri(number))
        whole: list[types.TextDocumentContentChangeEvent] = [types.TextDocumentContentChangeWholeDocument(text)]
        self.change(
            types.NotebookDocumentCellChanges(text_content=[types.NotebookDocumentCellContentChanges(document, whole)])
        )

    async def see(self, *expected: list[str]) -> None:
        def seen() -> bool:
            sent = [self.person.published.get(cell.document) for cell in self.cells]
            return [shown(one.diagnostics) if one else None for one in sent] == [*expected]

        try:
            await self.person.until(seen)
        except (TimeoutError, asyncio.TimeoutError):
            raise AssertionError({u: shown(p.diagnostics) for u, p in self.person.published.items()}) from None


def test_cells_of_a_notebook_have_their_own_diagnostics(folder: Path) -> None:
    async def work() -> None:
        async with editor(folder) as person:
            cells = Cells(person, "new.ipynb", "import torch\n", "x = 1\n%time print(torch.rand(3))\n", "y = 2")
            await cells.see([], ["DET104:2"], [])
            cells.type(0, "import torch\ntorch.manual_seed(0)\n")
            await cells.see([], [], [])
            cells.type(0, "import torch\n")
            await cells.see([], ["DET104:2"], [])
            cells.type(1, "x = (\nprint(torch.rand(3))\n")
            await cells.see([], ["DET104:2"], [])
            gone = types.NotebookCellArrayChange(1, 1, [])
            closed = [types.TextDocumentIdentifier(cells.uri(1))]
            cells.change(
                types.NotebookDocumentCellChanges(types.NotebookDocumentCellChangeStructure(gone, did_close=closed))
            )
            await cells.see([], [], [])

    session(work())


def test_a_notebook_leads_into_the_program(folder: Path) -> None:
    (folder / "run.ipynb").write_text(notebook("from noise import noise\n", "noise()\n"))

    async def work() -> None:
        async with editor(folder) as person:
            (folder / "train.py").unlink()
            cells = Cells(person, "run.ipynb", "from noise import noise\n", "noise()\n")
            person.open("noise.py")
            await person.codes("noise.py", "DET104:5")
            steps = (await person.diagnostics("noise.py"))[0].related_information or []
            assert [step.location.uri for step in steps][-1] == cells.uri(1)
            cells.type(0, "import torch\nfrom noise import noise\n\ntorch.manual_seed(0)\n")
            await person.codes("noise.py")

    session(work())


# -- actions and hover ------------------------------------------------------------------------------------------


def test_a_finding_can_be_repaired(folder: Path) -> None:
    async def work() -> None:
        async with editor(folder) as person:
            person.open("new.py", LISTED)
            await person.codes("new.py", "DET305:6", "DET305:7")
            actions = await person.actions("new.py", 6)
            assert [*actions] == [SORT, "Ignore DET305 here", "Explain DET305", ALL]
            action = actions[SORT]
            assert isinstance(action, types.CodeAction)
            assert (action.kind, action.is_preferred) == (types.CodeActionKind.QuickFix, True)
            change = await person.edits("new.py", 6, SORT)
            assert (change.text_document.uri, change.text_document.version) == (person.uri("new.py"), 1)
            person.change("new.py", edited(LISTED, change.edits))
            await person.codes("new.py", "DET305:7")

    session(work())


def test_what_changes_the_training_is_called_unsafe(folder: Path) -> None:
    async def work() -> None:
        async with editor(folder, options={"profile": "align"}) as person:
            person.open("new.py", "import torch\n\ntorch.manual_seed(0)\nprint(torch.nn.Dropout(0.5))\n")
            await person.codes("new.py", "DET201:4")
            fixes = {t: a for t, a in (await person.actions("new.py", 4)).items() if t.endswith("(DET201, unsafe)")}
            (action,) = fixes.values()
            assert isinstance(action, types.CodeAction)
            assert action.is_preferred is None
            assert await person.actions("new.py", 4, ["source.fixAll"]) == {}

    session(work())


def test_a_repair_may_be_in_another_file_and_need_an_import(folder: Path) -> None:
    async def work() -> None:
        async with editor(folder) as person:
            person.open("noise.py")
            await person.codes("noise.py", "DET104:5")
            title = "Call `torch.manual_seed(n)` at the start of the run (DET104)"
            change = await person.edits("noise.py", 5, title, ["quickfix"])
            assert (change.text_document.uri, change.text_document.version) == (person.uri("train.py"), None)
            text = edited(BARE, change.edits)
            assert "import torch\n" in text
            person.open("train.py", text)
            await person.codes("noise.py")

    session(work())


def test_all_that_is_safe_can_be_repaired_at_once(folder: Path) -> None:
    async def work() -> None:
        async with editor(folder) as person:
            person.open("new.py", LISTED)
            await person.codes("new.py", "DET305:6", "DET305:7")
            change = await person.edits("new.py", 1, ALL, ["source.fixAll"])
            text = edited(LISTED, change.edits)
            person.change("new.py", text)
            await person.codes("new.py")
            assert await person.actions("new.py", 1, ["source.fixAll"]) == {}
            (folder / "new.py").write_text(LISTED)
            detlint("check", "--fix", folder / "new.py")
            assert (folder / "new.py").read_text() == text

    session(work())


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("    x = os.listdir(a)\n", "x = os.listdir(a)  # noqa: DET305\n"),
        ("    x = os.listdir(a)  # why\n", "  # why  # noqa: DET305\n"),
        ("    x = os.listdir(a)  # noqa: DET201\n", "# noqa: DET201, DET305\n"),
        ("    x = os.listdir(a)  # detlint: ignore[DET201] why\n", "ignore[DET201] why  # noqa: DET305\n"),
        ("    x = os.listdir('''\n''')\n", "''')  # noqa: DET305\n"),
        ("    x = os.listdir( \\\n a)\n", " a)  # noqa: DET305\n"),
    ],
)
def test_a_finding_can_be_ignored_where_it_stands(folder: Path, line: str, expected: str) -> None:
    text = f"import os\nimport torch\n\ndef load(a):\n{line}    return [torch.load(file) for file in x]\n"

    async def work() -> None:
        async with editor(folder, options={"ignore": ["DET002"]}) as person:
            person.open("new.py", text)
            await person.codes("new.py", "DET305:5")
            change = await person.edits("new.py", 5, "Ignore DET305 here")
            new = edited(text, change.edits)
            assert expected in new
            person.change("new.py", new)
            await person.codes("new.py")

    session(work())


def test_cells_are_repaired_and_commented(folder: Path) -> None:
    lines = LISTED.replace("os.listdir(b)", "[]").partition("def load")
    first, second = lines[0], lines[1] + lines[2]

    async def work(title: str, expected: str) -> None:
        async with editor(folder) as person:
            cells = Cells(person, "new.ipynb", first, second)
            await cells.see([], ["DET305:2"])
            change = await person.edits(cells.uri(1), 2, title)
            assert change.text_document.uri == cells.uri(1)
            assert expected in edited(second, change.edits)
            cells.type(1, edited(second, change.edits))
            await cells.see([], [])

    session(work(SORT, "sorted(os.listdir(a))"))
    session(work("Ignore DET305 here", "os.listdir(a)  # noqa: DET305"))


def test_pointing_at_a_finding_shows_the_rule(folder: Path) -> None:
    async def work() -> None:
        async with editor(folder) as person:
            person.open("noise.py")
            await person.codes("noise.py", "DET104:5")
            text = await person.hover("noise.py", 5)
            assert "**DET104**" in text
            assert "# DET104 unseeded-torch" in text
            assert await person.hover("noise.py", 1) == ""

    session(work())


def test_the_reasoning_is_shown_on_request(folder: Path) -> None:
    able = types.ClientCapabilities(
        window=types.WindowClientCapabilities(show_document=types.ShowDocumentClientCapabilities(True))
    )

    async def work() -> None:
        async with editor(folder, able) as person:
            person.open("noise.py")
            person.change("noise.py", "# unsaved\n" + NOISE)
            await person.codes("noise.py", "DET104:6")
            command = (await person.actions("noise.py", 6))["Explain DET104"]
            assert isinstance(command, types.Command)
            params = types.ExecuteCommandParams(command.command, command.arguments)
            text: object = await person.ask(person.client.workspace_execute_command_async(params))
            assert isinstance(text, str)
            assert "return torch.rand(3)" in text
            assert "train.py:4" in text
            assert len(person.shown) == 1

    session(work())


# -- configuration ----------------------------------------------------------------------------------------------


def test_changed_configuration_counts_at_once(folder: Path) -> None:
    able = types.ClientCapabilities(
        workspace=types.WorkspaceClientCapabilities(
            did_change_watched_files=types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True)
        )
    )

    async def work() -> None:
        async with editor(folder, able) as person:
            await person.until(lambda: person.registered)
            person.open("noise.py")
            await person.codes("noise.py", "DET104:5")
            (folder / "pyproject.toml").write_text("[tool.detlint]\nignore = ['DET1']\n")
            event = types.FileEvent(person.uri("pyproject.toml"), types.FileChangeType.Changed)
            person.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))
            await person.codes("noise.py")
            (folder / "pyproject.toml").write_text("[tool.detlint]\nignroe = ['DET1']\n")
            person.save("noise.py")
            await person.until(lambda: any("did you mean `ignore`" in message for message in person.messages))
            (folder / "pyproject.toml").write_text("[tool.detlint]\n")
            person.save("noise.py")
            await person.codes("noise.py", "DET104:5")

    session(work())


def test_the_client_may_configure(folder: Path) -> None:
    async def work() -> None:
        async with editor(folder, options={"ignore": ["DET104"]}) as person:
            person.open("noise.py")
            await person.codes("noise.py")
            settings = {"detlint": {"profile": "align"}}
            person.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings))
            await person.codes("noise.py", "DET104:5")

    session(work())


def test_files_that_come_and_go_count(folder: Path) -> None:
    async def work() -> None:
        async with editor(folder) as person:
            person.open("noise.py")
            await person.codes("noise.py", "DET104:5")
            for name, kind, codes in (
                ("train.py", types.FileChangeType.Deleted, ()),
                ("other.py", types.FileChangeType.Created, ("DET104:5",)),
            ):
                (folder / name).unlink() if name == "train.py" else (folder / name).write_text(BARE)
                event = types.FileEvent(person.uri(name), kind)
                person.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))
                await person.codes("noise.py", *codes)

    session(work())


def test_versions_that_a_folder_says_count_at_once(folder: Path) -> None:
    def change(person: Editor, requirements: Path, kind: types.FileChangeType) -> None:
        event = types.FileEvent(requirements.as_uri(), kind)
        person.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))

    async def work() -> None:
        start = "import numpy\nfrom scipy.sparse.linalg import eigs\n\nprint(eigs(numpy.eye(9), k=1))\n"
        requirements = folder / "old" / "requirements.txt"
        requirements.parent.mkdir()
        (requirements.parent / "start.py").write_text(start)
        async with editor(folder) as person:
            person.open("old/start.py")
            await person.codes("old/start.py", "DET107:4")
            requirements.write_text("scipy==1.5.4\n")
            change(person, requirements, types.FileChangeType.Created)
            await person.codes("old/start.py")
            requirements.unlink()
            change(person, requirements, types.FileChangeType.Deleted)
            await person.codes("old/start.py", "DET107:4")

    session(work())


def test_reading_a_program_shows_progress(folder: Path) -> None:
    able = types.ClientCapabilities(window=types.WindowClientCapabilities(work_done_progress=True))

    async def work() -> None:
        async with editor(folder, able) as person:
            person.open("noise.py")
            await person.codes("noise.py", "DET104:5")
            await person.until(lambda: "end" in person.progress)
            assert person.progress[0] == "begin"

    session(work())


# -- when things go wrong ---------------------------------------------------------------------------------------


def test_a_wrong_message_ends_nothing(folder: Path) -> None:
    async def work() -> None:
        async with editor(folder) as person:
            person.open("noise.py")
            params = types.ExecuteCommandParams("detlint.explain", ["file:///nowhere.py", "no line"])
            with pytest.raises(JsonRpcException):
                await person.ask(person.client.workspace_execute_command_async(params))
            person.versions["gone.py"] = 1
            person.change("gone.py", "x = 1\n")  # was never opened
            await person.until(lambda: person.log)
            await person.codes("noise.py", "DET104:5")

    session(work())


def test_without_pygls_it_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "pygls.py").write_text("raise ModuleNotFoundError(\"No module named 'pygls'\", name='pygls')\n")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); sys.argv = ['detlint', 'server']; from detlint.cli import main; main()"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert result.returncode == 2
    assert "pip install 'detlint[server]'" in result.stderr
