"""Findings as the protocol's diagnostics."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from lsprotocol import types

from detlint.checks.finding import Finding
from detlint.lsp.checker import Answer
from detlint.lsp.places import Places

SEVERITIES: Final = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "note": types.DiagnosticSeverity.Information,
}


class Shown(NamedTuple):
    """A finding, and what the editor is shown of it."""

    uri: str
    diagnostic: types.Diagnostic
    finding: Finding


def shown(answer: Answer, places: Places, related: bool) -> Iterator[Shown]:
    """What is shown of a report: of notes only what the configuration asks for.

    Args:
        related: whether the client shows the way to a finding.
    """
    if answer.report is None or answer.live is None:
        return
    notes = answer.live.project.config.settings.show_notes
    for finding in answer.report.findings:
        if finding.path != answer.document.path or (finding.severity == "note" and not notes):
            continue
        location = places.location(finding.path, finding.span)
        if location is not None:
            yield Shown(location.uri, _diagnostic(finding, location.range, places, related), finding)


def _diagnostic(finding: Finding, place: types.Range, places: Places, related: bool) -> types.Diagnostic:
    steps = [
        types.DiagnosticRelatedInformation(location, step.message)
        for step in (finding.steps if related else ())
        if (location := places.location(step.path, step.span)) is not None
    ]
    return types.Diagnostic(
        place, finding.message, SEVERITIES[finding.severity], finding.code, source="detlint",
        related_information=steps or None,
    )  # fmt: skip
