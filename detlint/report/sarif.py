"""SARIF 2.1.0, which GitHub's code scanning and many viewers read.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html, and what GitHub takes of it:
https://docs.github.com/en/code-security/code-scanning/integrating-with-code-scanning/sarif-support-for-code-scanning
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any, Final

from detlint import __version__
from detlint.catalog import Rule
from detlint.checks.finding import ANOTHER_RUN, Finding, Step
from detlint.fixes.plan import Fix
from detlint.model.sites.records import Span
from detlint.report.document import INLINE, markdown, text
from detlint.report.place import Position
from detlint.report.rules import family, guidance
from detlint.report.view import Replacement, View
from detlint.visible import encoded

SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_PRECISION: Final = {"error": "very-high", "warning": "high", "note": "medium"}
_SEVERITY: Final = {"error": "error", "warning": "warning", "note": "recommendation"}
_MOST_STEPS: Final = 1000
"""GitHub takes no more places of one result."""
_LONGEST: Final = 1024
"""Characters that GitHub takes of a description."""
_WIDTH: Final = 80


def lines(view: View) -> Iterator[str]:
    """The log, with one run."""
    codes = sorted({finding.code for finding in view.findings})
    rules = [_rule(view, view.catalog.rules[code]) for code in codes]
    results = [_result(view, f, codes.index(f.code), view.fingerprints[i]) for i, f in enumerate(view.findings)]
    yield log(rules, results)


def log(rules: list[dict[str, Any]], results: list[dict[str, Any]]) -> str:
    """A log with one run of detlint's."""
    driver = {"name": "detlint", "version": __version__, "semanticVersion": __version__, "rules": rules}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"%SRCROOT%": {"description": {"text": "The folder of the repository."}}},
        "results": results,
    }
    return encoded({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})


def _rule(view: View, rule: Rule) -> dict[str, Any]:
    levels = [f.severity for f in view.findings if f.code == rule.code]
    level = next(level for level in ("error", "warning", "note") if level in levels)
    page = [*guidance(rule)]
    url = view.rule_url(rule.code)
    return {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": _plain(rule.summary)},
        "fullDescription": {"text": _cut(_plain(rule.why))},
        **({"helpUri": url} if url else {}),
        "help": {"text": _unstyled(text(page, _WIDTH)), "markdown": markdown(page)},
        "defaultConfiguration": {"level": level},
        "properties": {
            "tags": ["determinism", "reproducibility", *([family(rule)] if family(rule) else [])],
            "precision": _PRECISION[level],
            "problem.severity": _SEVERITY[level],
        },
    }


def _result(view: View, finding: Finding, index: int, fingerprint: str) -> dict[str, Any]:
    others = [step for step in finding.steps if step.message == ANOTHER_RUN]
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": finding.severity,
        "message": {"text": finding.message + (f"\n{finding.remedy}" if finding.remedy else "")},
        "locations": [_location(view, finding.path, finding.span)],
        "partialFingerprints": {"primaryLocationLineHash": fingerprint},
    }
    if others:
        result["relatedLocations"] = [_step(view, step) for step in others[:_MOST_STEPS]]
    if way := [*_way(finding)]:
        result["codeFlows"] = [{"threadFlows": [{"locations": [{"location": _step(view, step)} for step in way]}]}]
    fix, replaced = view.fix(finding), view.replaced_in_files(finding)
    if fix is not None and replaced:
        result["fixes"] = [_fix(view, fix, replaced)]
    result["properties"] = {"certainty": finding.certainty}
    if finding.targets:
        result["properties"]["targets"] = [*finding.targets]
    return result


def _way(finding: Finding) -> Iterator[Step]:
    """The way to a finding, with the finding at its end if it isn't on it."""
    way = [step for step in finding.steps if step.message != ANOTHER_RUN][: _MOST_STEPS - 1]
    yield from way
    if way and not any((step.path, step.span) == (finding.path, finding.span) for step in way):
        yield Step(finding.path, finding.span, finding.message)


def _step(view: View, step: Step) -> dict[str, Any]:
    return {**_location(view, step.path, step.span), "message": {"text": step.message}}


def _location(view: View, path: str, span: Span) -> dict[str, Any]:
    """A place. That of a notebook is its file's first line, with the cell as a logical location: SARIF knows no cells."""
    start, end = view.sources.start(path, span), view.sources.end(path, span)
    if start.cell is None:
        return {"physicalLocation": {"artifactLocation": _artifact(view, path), "region": _region(start, end)}}
    first = Position(None, 1, 1)
    return {
        "physicalLocation": {"artifactLocation": _artifact(view, path), "region": _region(first, first)},
        "logicalLocations": [{"fullyQualifiedName": f"cell {start.cell}:{start.line}:{start.column}", "kind": "cell"}],
    }


def _artifact(view: View, path: str) -> dict[str, str]:
    uri = view.uri(path)
    return {"uri": uri} if uri.startswith("file:") else {"uri": uri, "uriBaseId": "%SRCROOT%"}


def _region(start: Position, end: Position) -> dict[str, int]:
    return {"startLine": start.line, "startColumn": start.column, "endLine": end.line, "endColumn": end.column}


def _fix(view: View, fix: Fix, replacements: list[Replacement]) -> dict[str, Any]:
    changes = []
    for path, made in groupby(replacements, key=lambda one: one.path):
        replaced = [
            {"deletedRegion": _region(one.start, one.end), "insertedContent": {"text": one.text}} for one in made
        ]
        changes.append({"artifactLocation": _artifact(view, path), "replacements": replaced})
    described = f"{fix.message} ({fix.applicability})"
    return {"description": {"text": described}, "artifactChanges": changes}


def _plain(line: str) -> str:
    """Markdown without its marks."""
    return INLINE.sub(lambda found: (found["code"] or found["link"] or found["em"] or found["char"]).strip("`"), line)


def _unstyled(told: str) -> str:
    import click

    return click.unstyle(told)


def _cut(told: str) -> str:
    """Whole sentences, as many as fit."""
    if len(told) <= _LONGEST:
        return told
    return told[: told.rindex(". ", 0, _LONGEST) + 1]
