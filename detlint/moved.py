"""Edits that only move lines, change comments, or change what only the IR says of the inside of functions: what was found out without
looking there stays as it is, and stands somewhere else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from itertools import pairwise
from typing import NamedTuple

import msgspec

from detlint.checks.finding import Finding
from detlint.ir import ops as op
from detlint.ir.code import Code, Function
from detlint.ir.parts import parts_of
from detlint.ir.records import FileIR
from detlint.ir.spans import lines_of
from detlint.model.sites.records import Facts, Span, decode_body

Lines = Mapping[int, int]
"""Lines in which something of a file stands -> where that stands now."""
LINE = "line "
"""Is in what names a line in so many words."""


class Said(NamedTuple):
    """What was read of a file."""

    facts: Facts
    ir: FileIR


class Edit(NamedTuple):
    """An edit that leaves the facts of a file as they are, but for where they stand."""

    lines: Lines
    parts: Set[int]
    """The functions inside of which the IR says something else, or stands elsewhere, as `Function.part` has them."""
    names: Set[str]
    """The names that those have, or had, in which it says something else."""


def edit_of(then: Said, now: Said) -> Edit | None:
    """What an edit has done that has moved lines each as a whole and in the same order, and changed functions inside; None for one that
    has changed anything else that is read of a file."""
    comparison = _Comparison()
    try:
        same = comparison.same(then.facts, now.facts) and comparison.same(
            decode_body(then.facts), decode_body(now.facts)
        )
        changed = comparison.changed_code(then.ir, now.ir) if same else None
    except RecursionError:
        return None
    lines = [new for _, new in sorted(comparison.lines.items())]
    in_order = all(one < other for one, other in pairwise(lines))
    return Edit(comparison.lines, *changed) if changed is not None and in_order else None


class _Comparison:
    """Compares what was read of two texts, but for the lines in which it stands."""

    _ELSEWHERE = frozenset({"lines", "directives", "body"})
    """What only the report asks of a file; and what is compared by itself."""

    def __init__(self) -> None:
        self.lines: dict[int, int] = {}

    def same(self, one: object, other: object) -> bool:
        """Whether two values are the same."""
        if type(one) is not type(other):
            return False
        if isinstance(one, Span) and isinstance(other, Span):
            columns = (one.column, one.end_column) == (other.column, other.end_column)
            return columns and self._moved(one.line, other.line) and self._moved(one.end_line, other.end_line)
        if isinstance(one, msgspec.Raw) and isinstance(other, msgspec.Raw):
            return bytes(one) == bytes(other)
        if isinstance(one, msgspec.Struct):
            names = (name for name in one.__struct_fields__ if name not in self._ELSEWHERE)
            return all(self.same(getattr(one, name), getattr(other, name)) for name in names)
        if isinstance(one, dict) and isinstance(other, dict):
            return [*one] == [*other] and all(map(self.same, one.values(), other.values()))
        if isinstance(one, tuple | list) and isinstance(other, tuple | list):
            return len(one) == len(other) and all(map(self.same, one, other))
        return one == other

    def changed_code(self, one: FileIR, other: FileIR) -> tuple[Set[int], Set[str]] | None:
        """The functions of two files inside of which they don't say the same, and the names that these have; None where they say different
        things elsewhere."""
        before, after = Code(one), Code(other)
        then, now = parts_of(before), parts_of(after)
        if then.top != now.top or then.functions.keys() != now.functions.keys():
            return None
        changed = now.changed(then)
        for function in after.functions():
            if function.part not in changed and not self._stands_alike(one, other, function):
                if not function.part:
                    return None
                changed.add(function.part)
        return changed, now.names_changed(then)

    def _stands_alike(self, one: FileIR, other: FileIR, function: Function) -> bool:
        """Whether the ops of a function stand where they stood, but for the lines, and for where definitions in it end."""
        number, definitions = function.number, {at for at, _ in function.each(op.FUNCTION, op.CLASS)}
        header, there = one.functions[number], other.functions[number]
        if header.parent >= 0 and not self._moved(header.line, there.line):  # that of a whole file is its first
            return False
        (columns, lines), (others, new) = (lines_of(ir, number, definitions) for ir in (one, other))
        return columns == others and len(lines) == len(new) and all(map(self._moved, lines, new))

    def _moved(self, line: int, to: int) -> bool:
        return self.lines.setdefault(line, to) == to


def moved(findings: list[Finding], files: Mapping[str, Lines]) -> list[Finding] | None:
    """Findings with the places that they have now; None where one names lines in so many words.

    Args:
        files: where lines are in the files that were edited.
    """
    found = [_moved_finding(finding, files) for finding in findings]
    known = [finding for finding in found if finding is not None]
    return known if len(known) == len(found) else None


def _moved_finding(finding: Finding, files: Mapping[str, Lines]) -> Finding | None:
    told = (*finding.steps, *finding.others)
    places = [(finding.path, finding.span), *((step.path, step.span) for step in told)]
    if not any(path in files for path, _ in places):
        return finding
    spans = [_moved_span(span, files.get(path)) for path, span in places]
    said: Iterable[str] = (finding.message, finding.remedy, *(step.message for step in told))
    if None in spans or any(LINE in text for text in said):
        return None
    span, *others = (span for span in spans if span is not None)
    now = [msgspec.structs.replace(step, span=there) for step, there in zip(told, others, strict=True)]
    count = len(finding.steps)
    return msgspec.structs.replace(finding, span=span, steps=tuple(now[:count]), others=tuple(now[count:]))


def _moved_span(span: Span, lines: Lines | None) -> Span | None:
    if lines is None:
        return span
    if span.line not in lines or span.end_line not in lines:
        return None
    return Span(lines[span.line], span.column, lines[span.end_line], span.end_column)
