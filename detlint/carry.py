"""What was known of a file's text, carried over to the text that an edit has made of it.

One region of the text is taken to be what the edit has replaced; what stands before and behind it is the same text, at the
same place or a little further on.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property

import msgspec
from msgspec.structs import replace

from detlint.answers import Followed
from detlint.checks.finding import Finding, Step
from detlint.facts.model import Body, Facts, Span, decode_body

Place = tuple[int, int]
"""A line from 1, and a column in its UTF-8 from 0."""


class Shift:
    """Where the places of a text are in another.

    Args:
        old: the lines of the text, in UTF-8.
        new: those of the other.
    """

    def __init__(self, old: Sequence[bytes], new: Sequence[bytes]) -> None:
        most = min(len(old), len(new))
        head = next((i for i in range(most) if old[i] != new[i]), most)
        tail = next((i for i in range(most - head) if old[-1 - i] != new[-1 - i]), most - head)
        self._lines = len(new) - len(old)
        self._start = (head + 1, _alike(old[head], new[head]) if head < most else 0)
        """Where what was replaced begins, in both."""
        self._end = (len(old) - tail + 1, 0)
        """Where it ended, and with it the line that it ended in, or at the beginning of a line."""
        self._end_shift = 0
        if tail < most - head:
            last, other = old[len(old) - tail - 1], new[len(new) - tail - 1]
            taken = self._start[1] if head + tail == most - 1 else 0
            same = _alike(last[taken:][::-1], other[taken:][::-1])
            self._end = (len(old) - tail, len(last) - same)
            self._end_shift = len(other) - len(last)

    def place(self, line: int, column: int) -> Place | None:
        """Where a place is now; None within what was replaced."""
        if (line, column) <= self._start:
            return line, column
        if (line, column) < self._end:
            return None
        return line + self._lines, column + (self._end_shift if line == self._end[0] else 0)

    def span(self, span: Span) -> Span | None:
        """Where a span is now; None where its beginning or its end was replaced."""
        start, end = self.place(span.line, span.column), self.place(span.end_line, span.end_column)
        return Span(*start, *end) if start is not None and end is not None and start <= end else None


def _alike(one: bytes, other: bytes) -> int:
    """How long the common beginning is."""
    most = min(len(one), len(other))
    return next((i for i in range(most) if one[i] != other[i]), most)


class Carried:
    """What is known of a file, for what an edit has made of it.

    Args:
        shift: from the old text to the new one.
        old: the facts of the old text.
        new: those of the new one; None where the gate keeps it out.
    """

    def __init__(self, shift: Shift, old: Facts, new: Facts | None) -> None:
        self._shift = shift
        self._old = old
        self._new = new

    @cached_property
    def _bodies(self) -> tuple[Body, Body]:
        return decode_body(self._old), decode_body(self._new) if self._new is not None else Body()

    @cached_property
    def _sites(self) -> dict[int, int]:
        """The old sites -> the new ones: those at the same place, then those that call the same in the same function."""
        old, new = (body.sites for body in self._bodies)
        at, left = defaultdict[object, list[int]](list), dict[int, None].fromkeys(range(len(new)))
        for number, site in enumerate(new):
            at[site.kind, site.span].append(number)
        found, missing = dict[int, int](), list[int]()
        for number, site in enumerate(old):
            there = at.get((site.kind, self._shift.span(site.span)))
            if there:
                found[number] = there.pop(0)
                del left[found[number]]
            else:
                missing.append(number)
        for number in missing:
            what = old[number].kind, old[number].target, _function(self._old, old[number].function)
            same = (i for i in left if what == (new[i].kind, new[i].target, _function(self._new, new[i].function)))
            if (other := next(same, None)) is not None:
                found[number] = other
                del left[other]
        return found

    @cached_property
    def _added(self) -> dict[int, list[int]]:
        """The sites that are new, by the function that they stand in."""
        known, added = {*self._sites.values()}, defaultdict[int, list[int]](list)
        for number, site in enumerate(self._bodies[1].sites):
            if number not in known:
                added[site.function].append(number)
        return added

    def sites(self, passed: frozenset[int]) -> frozenset[int]:
        """The sites that a run passes: those that it did, and what was added to functions in which it passes something."""
        found = {self._sites[number] for number in passed if number in self._sites}
        sites = self._bodies[1].sites
        functions = {sites[number].function for number in found}
        return frozenset(found.union(*(self._added.get(function, ()) for function in functions)))

    def same(self, sites: frozenset[int]) -> frozenset[int]:
        """Some sites, where they are now; without those that are gone."""
        return frozenset(self._sites[number] for number in sites if number in self._sites)

    def span(self, span: Span) -> Span | None:
        """Where a span is now; None where it is gone."""
        if (moved := self._shift.span(span)) is not None:
            return moved
        old, new = (body.sites for body in self._bodies)
        return next((new[self._sites[i]].span for i in self._sites if old[i].span == span), None)


def _function(facts: Facts | None, number: int) -> str:
    return facts.functions[number].name if facts is not None else ""


def carried(run: Followed, files: dict[str, Carried]) -> Followed:
    """What following a run gave, for what edits have made of some files."""
    if files.keys().isdisjoint(run.visited):
        return run
    findings = [moved for finding in run.findings if (moved := _finding(finding, files)) is not None]
    sites = {path: files[path].sites(own) if path in files else own for path, own in run.sites.items()}
    seeded = {path: files[path].same(own) if path in files else own for path, own in run.seeded.items()}
    silent = {path: files[path].same(own) if path in files else own for path, own in run.silent.items()}
    return msgspec.structs.replace(run, sites=sites, seeded=seeded, silent=silent, findings=findings)


def _finding(finding: Finding, files: dict[str, Carried]) -> Finding | None:
    """A finding where it stands now; None where that is gone."""
    span = _span(finding.path, finding.span, files)
    if span is None:
        return None
    steps = tuple(moved for step in finding.steps if (moved := _step(step, files)) is not None)
    return replace(finding, span=span, steps=steps)


def _step(step: Step, files: dict[str, Carried]) -> Step | None:
    span = _span(step.path, step.span, files)
    return replace(step, span=span) if span is not None else None


def _span(path: str, span: Span, files: dict[str, Carried]) -> Span | None:
    return files[path].span(span) if path in files else span
