"""What an editor can do about findings: repair them, ignore them, have them explained."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from lsprotocol import types

from detlint.catalog import Catalog
from detlint.fixes.fixer import fix
from detlint.fixes.ignore import ignoring, reader
from detlint.fixes.plan import Files, Fix, Planner
from detlint.fixes.recipe import NoFix
from detlint.fixes.text import Edit, Text, shortest
from detlint.lsp.checker import Answer
from detlint.lsp.diagnostics import Shown
from detlint.lsp.documents import Document
from detlint.lsp.places import Places
from detlint.notebook import is_notebook
from detlint.source import Source

FIX_ALL: Final = "source.fixAll.detlint"
QUICK_FIX: Final = types.CodeActionKind.QuickFix.value
EXPLAIN: Final = "detlint.explain"
"""The command."""


class Actions:
    """Makes the actions for one document.

    Args:
        answer: what was found in it.
        documents: all that are open, by path.
        versioned: whether the client takes edits that name the version of the text that they are for.
    """

    def __init__(self, answer: Answer, places: Places, documents: Mapping[str, Document], versioned: bool) -> None:
        assert answer.live is not None and answer.report is not None
        self._answer = answer
        self._live = answer.live
        self._report = answer.report
        self._places = places
        self._versions = {part.uri: part.version for document in documents.values() for part in document.parts}
        self._versioned = versioned
        self._files = Files(lambda path: Source(path, self._report.texts.get(path)).data)
        settings = self._live.project.config.settings
        self._planner = Planner(self._catalog, settings, self._files, self._live.inside)

    @property
    def _catalog(self) -> Catalog:
        return self._live.project.catalog

    def of(self, shown: Sequence[Shown], kinds: Sequence[str]) -> Iterator[types.CodeAction | types.Command]:
        """What can be done about some findings.

        Args:
            kinds: what the client asks for; nothing: everything.
        """
        if wanted(QUICK_FIX, kinds):
            for one in shown:
                yield from self._fixing(one)
            for one in shown:
                yield from self._ignoring(one)
        if not kinds:
            for one in shown:
                yield self._explaining(one)

    def _fixing(self, shown: Shown) -> Iterator[types.CodeAction]:
        made = self._planner.fix(shown.finding) if not self._answer.read else None
        if made is None or made.applicability == "display":
            return
        edit = self._edit(made)
        if edit is not None:
            safe = made.applicability == "safe"
            title = f"{made.message} ({shown.finding.code}{'' if safe else ', unsafe'})"
            yield types.CodeAction(title, QUICK_FIX, [shown.diagnostic], is_preferred=safe or None, edit=edit)

    def _edit(self, made: Fix) -> types.WorkspaceEdit | None:
        changes: dict[str, list[types.TextEdit]] = {}
        try:
            for path, edit in made.all_edits(self._files):
                uri, change = self._change(path, self._files[path].text, edit)
                changes.setdefault(uri, []).append(change)
        except NoFix:
            return None
        return self.workspace_edit(changes)

    def _change(self, path: str, text: Text, edit: Edit) -> tuple[str, types.TextEdit]:
        ends = []
        for offset in (edit.start, edit.end):
            line, character = text.place(offset)
            ends.append(self._places.place(path, line, len(text.line(line)[:character].encode())))
        start, end = ends
        if start is None or end is None or start[0] != end[0]:
            raise NoFix("its place is in no text that the editor has")
        return start[0], types.TextEdit(types.Range(start[1], end[1]), edit.text)

    def workspace_edit(self, changes: Mapping[str, Sequence[types.TextEdit]]) -> types.WorkspaceEdit:
        """Some edits of texts, for the versions that they are made for."""
        if not self._versioned:
            return types.WorkspaceEdit(changes=dict(changes))
        return types.WorkspaceEdit(
            document_changes=[
                types.TextDocumentEdit(
                    types.OptionalVersionedTextDocumentIdentifier(uri, self._versions.get(uri)), [*edits]
                )
                for uri, edits in changes.items()
            ]
        )

    def _ignoring(self, shown: Shown) -> Iterator[types.CodeAction]:
        path, finding = self._answer.document.path, shown.finding
        source = Source(path, self._report.texts.get(path))
        if self._answer.read:
            return
        lines = source.data.splitlines() if is_notebook(path) else source.lines
        made = ignoring(finding, lines, reader(path, self._catalog))
        if made is None or lines[made.line - 1] != source.lines[made.line - 1]:
            return
        place = self._places.place(path, made.line, made.column)
        if place is not None:
            edit = types.TextEdit(types.Range(place[1], place[1]), made.text)
            yield types.CodeAction(
                f"Ignore {finding.code} here", QUICK_FIX, [shown.diagnostic],
                edit=self.workspace_edit({place[0]: [edit]}),
            )  # fmt: skip

    @staticmethod
    def _explaining(shown: Shown) -> types.Command:
        arguments = [shown.uri, shown.diagnostic.range.start.line]
        return types.Command(f"Explain {shown.finding.code}", EXPLAIN, arguments=arguments)

    def fixable(self) -> bool:
        """Whether something in the document can be repaired safely."""
        if self._answer.read or is_notebook(self._answer.document.path):
            return False
        notes = self._live.project.config.settings.show_notes
        found = (f for f in self._report.findings if notes or f.severity != "note")
        return any(
            finding.fix is not None
            and (made := self._planner.fix(finding)) is not None
            and made.applicability == "safe"
            for finding in found
        )


def fixed(answer: Answer, documents: Mapping[str, Document], places: Places) -> list[types.TextEdit]:
    """The edits that repair all that can be repaired safely in a document, as `detlint --fix` does for the file alone.

    To be called where programs may be looked into.
    """
    live, path = answer.live, answer.document.path
    assert live is not None
    unsaved = {d.path: data for d in documents.values() if (data := d.unsaved()) is not None}
    before: dict[str, bytes] = {path: answer.document.data({})}
    settings = live.project.config.settings
    done = fix(
        lambda texts: live.check(
            [path], {**unsaved, **texts}, lambda _: None, lambda _: None, lambda *_: None
        )[path],
        live.project.catalog, settings, before,
    )  # fmt: skip
    if path not in done.texts:
        return []
    old, new = Text(before[path]), Text(done.texts[path])
    edit = shortest(old.text, new.text, 0)
    ends = []
    for offset in (edit.start, edit.end):
        line, character = old.place(offset)
        ends.append(places.place(path, line, len(old.line(line)[:character].encode())))
    start, end = ends
    return [types.TextEdit(types.Range(start[1], end[1]), edit.text)] if start and end else []


def wanted(kind: str, kinds: Sequence[str]) -> bool:
    """Whether an action of a kind is asked for; `source.fixAll` asks for `source.fixAll.detlint` too."""
    return not kinds or any(f"{kind}.".startswith(f"{asked}.") for asked in kinds)
