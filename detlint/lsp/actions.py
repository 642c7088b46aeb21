"""What an editor can do about findings: repair them, ignore them, have them explained."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import msgspec
from lsprotocol import types

from detlint.catalog import Catalog
from detlint.checks.finding import Report
from detlint.fixes import noqa
from detlint.fixes.files import Files
from detlint.fixes.fixer import fix
from detlint.fixes.originals import Originals
from detlint.fixes.plan import Fix, Planner
from detlint.fixes.recipe import NoFix
from detlint.fixes.text import Text, shortest
from detlint.lsp.checker import Answer
from detlint.lsp.diagnostics import Shown
from detlint.lsp.documents import Document
from detlint.lsp.places import Places

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
        config = self._live.project.config
        self._files = Files(Originals(self._report, config.root).__getitem__, self._catalog)
        self._planner = Planner(self._catalog, config.settings, self._files, self._live.inside)

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
            for path, edit in made.placed(self._files):
                start, end = (self._places.placed(path, edit.cell, *place) for place in (edit.start, edit.end))
                if start is None or end is None:
                    return None
                changes.setdefault(start[0], []).append(types.TextEdit(types.Range(start[1], end[1]), edit.text))
        except NoFix:
            return None
        return self.workspace_edit(changes)

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
        document = self._answer.document
        data = document.data({})
        new = noqa.add([shown.finding], lambda _: data).texts.get(document.path) if not self._answer.read else None
        if new is not None:
            yield types.CodeAction(
                f"Ignore {shown.finding.code} here", QUICK_FIX, [shown.diagnostic],
                edit=self.workspace_edit(changes(document, new, self._places)),
            )  # fmt: skip

    @staticmethod
    def _explaining(shown: Shown) -> types.Command:
        arguments = [shown.uri, shown.diagnostic.range.start.line]
        return types.Command(f"Explain {shown.finding.code}", EXPLAIN, arguments=arguments)

    def fixable(self) -> bool:
        """Whether something can be repaired safely, without a change to any other file."""
        if self._answer.read:
            return False
        settings = self._live.project.config.settings
        planner = Planner(self._catalog, settings, self._files, {self._answer.document.path})
        shown = (f for f in self._report.findings if settings.show_notes or f.severity != "note")
        fixes = (planner.fix(finding) for finding in shown)
        return any(made is not None and made.applicability == "safe" for made in fixes)


def fixed(answer: Answer, documents: Mapping[str, Document], places: Places) -> dict[str, list[types.TextEdit]]:
    """The edits that repair all that can be repaired safely in a document, by URI, as `detlint --fix` does for it alone.

    To be called where programs may be looked into.
    """
    live, document = answer.live, answer.document
    assert live is not None
    unsaved = {d.path: data for d in documents.values() if (data := d.unsaved()) is not None}

    def check(texts: Mapping[str, bytes]) -> Report:
        found = live.check([document.path], {**unsaved, **texts}, lambda _: None, lambda *_: None)
        return found[document.path]

    config = live.project.config
    safe = msgspec.structs.replace(config, settings=msgspec.structs.replace(config.settings, unsafe_fixes=False))
    done = fix(check, live.project.catalog, safe, {document.path: document.data({})})
    new = done.texts.get(document.path)
    return changes(document, new, places) if new is not None else {}


def changes(document: Document, data: bytes, places: Places) -> dict[str, list[types.TextEdit]]:
    """The edits that give a document another content, by URI."""
    found = {}
    new = document.texts(data)
    for number, part in enumerate(document.parts, 1):
        if new[part.uri] == part.text:
            continue
        edit, text = shortest(part.text, new[part.uri], 0), Text(part.text)
        cell = number if document.notebook else None
        ends = [text.place(offset) for offset in (edit.start, edit.end)]
        start, end = (places.placed(document.path, cell, line, column + 1) for line, column in ends)
        assert start is not None
        assert end is not None
        found[part.uri] = [types.TextEdit(types.Range(start[1], end[1]), edit.text)]
    return found


def wanted(kind: str, kinds: Sequence[str]) -> bool:
    """Whether an action of a kind is asked for; `source.fixAll` asks for `source.fixAll.detlint` too."""
    return not kinds or any(f"{kind}.".startswith(f"{asked}.") for asked in kinds)
