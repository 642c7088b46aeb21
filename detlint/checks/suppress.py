"""Suppression comments against findings, and the comments that suppress nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Final

from detlint.catalog import Rule
from detlint.checks.finding import Finding
from detlint.model.sites.records import Span
from detlint.model.sites.store import with_deep_stack
from detlint.source import Source
from detlint.sources.directives import Directive, confirmed
from detlint.sources.parse import expression_of

WHOLE_FILE: Final = 0
"""The line of what is about all lines."""


def suppress(
    findings: list[Finding],
    directives: Sequence[Directive],
    path: str,
    source: Source,
    unused: Rule | None,
    on: Collection[str],
) -> tuple[list[Finding], int]:
    """The findings that no comment covers, with those about the comments themselves; and how many were covered.

    A comment counts on the first line, the last line or the deciding argument's own line of what is found.

    Args:
        unused: DET002, None when it is off.
        on: the rules that are on; whether a suppression of another is needed can't be known.
    """
    if not directives:
        return findings, 0
    kept, used, covered = [], set[int](), 0
    at = defaultdict[int, list[int]](list)
    for number, directive in enumerate(directives):
        at[(directive.about or directive.line) if directive.scope == "line" else WHOLE_FILE].append(number)
    for finding in findings:
        lines = lines_of(finding, source)
        near = ((i, directives[i]) for line in (*lines, WHOLE_FILE) for i in at.get(line, ()))
        hits = [i for i, d in near if _covers(d, finding.code) and _real(d, source)]
        used.update(hits)
        covered += bool(hits)
        if not hits:
            kept.append(finding)
    if unused is not None:
        about = [_about(d, i in used, path, unused, on) for i, d in enumerate(directives)]
        named = [d for d in directives if unused.code in d.codes]
        kept += [
            f
            for f in about
            if f is not None
            and not any(_covers(d, f.code) for d in named if d.scope == "file" or d.line == f.span.line)
        ]
    return kept, covered


def _covers(directive: Directive, code: str) -> bool:
    """Whether a directive is about a rule, on the lines that it is about."""
    if directive.problem:
        return False
    return not directive.codes or any(code.startswith(prefix) for prefix in directive.codes)


def _real(directive: Directive, source: Source) -> bool:
    blanket = directive.style == "noqa" and not directive.codes
    return not blanket or source.yaml or source.cpp or confirmed(directive, source.data)


def lines_of(finding: Finding, source: Source) -> set[int]:
    """The lines on which a comment covers a finding."""
    span = finding.span
    lines = {span.line, span.end_line}
    if finding.argument and (source.yaml or span.end_line > span.line + 1):
        own = argument_span(source, span, finding.argument)
        if own is not None:
            lines.update((own.line, own.end_line))
    return lines


def argument_span(source: Source, span: Span, name: str) -> Span | None:
    """Where the keyword argument `name` of the call at `span` stands; of what a YAML file builds there."""
    if source.yaml:
        from detlint.model.launches import yaml_facts

        return with_deep_stack(lambda: yaml_facts.argument_span(source.data, span, name))
    try:
        call = expression_of(b"(" + source.text_at(span) + b"\n)")
    except (SyntaxError, ValueError, RecursionError):
        return None
    for keyword in getattr(call, "keywords", ()):
        if keyword.arg == name:
            first, last = keyword.lineno, keyword.value.end_lineno or keyword.lineno
            shift = span.column - 1
            return Span(
                span.line + first - 1,
                keyword.col_offset + (shift if first == 1 else 0),
                span.line + last - 1,
                (keyword.value.end_col_offset or 0) + (shift if last == 1 else 0),
            )
    return None


def _is_ours(directive: Directive, on: Collection[str]) -> bool:
    """Whether a directive is about rules that are on; a blanket `noqa` may be another tool's."""
    if not directive.codes:
        return directive.style == "ignore"
    return any(code.startswith(prefix) for prefix in directive.codes for code in on)


def _about(directive: Directive, used: bool, path: str, rule: Rule, on: Collection[str]) -> Finding | None:
    if directive.problem:
        message = f"this comment suppresses nothing: {directive.problem}"
    elif used or directive.scope == "file" or not _is_ours(directive, on):
        return None
    else:
        what = ", ".join(directive.codes) if directive.codes else "anything"
        message = f"nothing here needs this suppression of {what}"
    span = Span(directive.line, directive.column, directive.line, directive.end_column)
    return Finding(path, span, rule.code, rule.name, "warning", message, rule.remedy)
