"""Compares the traces of one process in two runs, row by row: where they part first, and what else parts by itself."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Literal

from detlint.tracing.align import Keyed, align
from detlint.tracing.ancestors import Ancestors, Item, Parted
from detlint.tracing.calls import Call, call
from detlint.tracing.reader import Trace
from detlint.tracing.records import AIM, BRINGS, EVENT, SHARED, UNREAD, Row

Part = Literal["sequence", "arguments", "random", "kinds", "inputs", "outputs", "end"]
_MOST: Final = 20
_EVENTS: Final = 10_000


@dataclass(frozen=True)
class Difference:
    """Where two runs part.

    Attributes:
        parts: what differs: `sequence`: only one run has the call; `arguments`: what it is given besides tensors; `random`:
            the state of the random numbers; `kinds`: types or shapes; `inputs`, `outputs`: contents; `end`: only one run
            goes on.
        left: the call in the first run; None where only the second has it.
        inputs: the inputs that differ, by their places.
        outputs: likewise.
    """

    parts: tuple[Part, ...]
    left: Call | None
    right: Call | None
    inputs: tuple[int, ...] = ()
    outputs: tuple[int, ...] = ()

    @property
    def call(self) -> Call:
        """The call, of the run that has it."""
        found = self.left or self.right
        assert found is not None
        return found


@dataclass
class Comparison:
    """Two traces of one process.

    Attributes:
        first: where they part first; None where they don't. Where a trace has losses, what none of them is made of doesn't count.
        origins: other calls that are given the same and give something else: more sources of difference.
        alone: how many rows only one of the runs has.
        differing: how many rows of both differ.
        drawn: the first draw that differs and that no loss is made of by operators alone: its numbers may have gone through Python.
        events: calls of Python's that gave something else, or that only one run makes.
        apart: calls where other values begin that no loss is made of: meters, timers, names of runs.
    """

    left: Trace
    right: Trace
    first: Difference | None = None
    origins: list[Difference] = field(default_factory=list)
    rows: tuple[int, int] = (0, 0)
    alone: tuple[int, int] = (0, 0)
    differing: int = 0
    drawn: Difference | None = None
    events: list[Difference] = field(default_factory=list)
    apart: list[Call] = field(default_factory=list)

    @property
    def filled(self) -> bool:
        """Whether what differs is what uninitialised memory was filled with."""
        return self.left.header.fill != self.right.header.fill

    @property
    def equal(self) -> bool:
        """Whether nothing differs."""
        return self.first is None


def compare(left: Path, right: Path) -> Comparison:
    """Compare two files.

    Raises:
        Unreadable: one of them can't be read.
    """
    one, other = Trace.open(left), Trace.open(right)
    found = Comparison(one, other)
    names = Items(one, other)
    ancestors = Ancestors(names)
    seen: set[Hashable] = set()
    counts, alone = [0, 0], [0, 0]
    reached: tuple[bool, int] | None = None
    """Of the run that lacks the first call: which it is, and how many rows it had until then."""
    for ours, theirs in align(Keyed(items(one, names, 0)), Keyed(items(other, names, 1))):
        counts[0] += ours is not None
        counts[1] += theirs is not None
        if ours is None or theirs is None:
            if _is_event(ours or theirs):
                if len(found.events) < _EVENTS:
                    found.events.append(Difference(("sequence",), _call(one, ours), _call(other, theirs)))
                continue
            alone[ours is None] += 1
            ancestors.alone(ours, theirs)
            missing = counts[ours is not None]
            if found.first is None:
                reached = (ours is not None, missing)
                found.first = Difference(("sequence",), _call(one, ours), _call(other, theirs))
            continue
        if ours.row.flags & AIM:
            ancestors.aim(ours, theirs)
            continue
        parts = names.parts(ours.row, theirs.row)
        if not parts:
            continue
        if _is_event(ours):
            if len(found.events) < _EVENTS:
                found.events.append(_difference(names, parts, ours, theirs))
            continue
        found.differing += 1
        ancestors.differs(parts, ours, theirs)
        if found.first is None:
            found.first = _difference(names, parts, ours, theirs)
        elif parts == ["outputs"] and _is_origin(ours, found.first, one.header.level):
            key = names.key(ours.row, 0)
            if key not in seen and len(found.origins) < _MOST:
                found.origins.append(_difference(names, parts, ours, theirs))
            seen.add(key)
    if found.first is not None and reached is not None and counts[reached[0]] == reached[1]:
        found.first = replace(found.first, parts=("end",))
    found.rows, found.alone = (counts[0], counts[1]), (alone[0], alone[1])
    if ancestors.aims:
        _look_back(found, names, ancestors)
    return found


def _look_back(found: Comparison, names: Items, ancestors: Ancestors) -> None:
    """Leave out what no loss is made of. Where one run goes on, or has other losses, all counts: nothing says what made it."""
    begun = ancestors.origins()
    if begun:
        found.first = _parted(names, begun[0])
        led = {at.left.number for at in begun if at.left is not None}
        found.origins = [
            other for other in found.origins if other.call.number in led or other.call.op.startswith("autograd.")
        ]
    elif not ancestors.uneven and (found.first is None or found.first.parts != ("end",)):
        found.first = None
    apart: dict[Hashable, Call] = {}
    for at in ancestors.others():
        if found.drawn is None and "random" in at.parts:
            found.drawn = _parted(names, at)
        side = int(at.left is None)
        item = at.right if at.left is None else at.left
        assert item is not None
        if len(apart) < _MOST and (key := names.key(item.row, side)) not in apart:
            apart[key] = call(names.traces[side], item.row, item.number, item.step, item.collectives)
    found.apart = [*apart.values()]


def _parted(names: Items, at: Parted) -> Difference:
    if at.left is not None and at.right is not None:
        return _difference(names, names.parts(at.left.row, at.right.row), at.left, at.right)
    one, other = names.traces
    return Difference(("sequence",), _call(one, at.left), _call(other, at.right))


def _is_event(item: Item | None) -> bool:
    return item is not None and bool(item.row.flags & EVENT)


def _is_origin(item: Item, first: Difference, level: str) -> bool:
    """Whether a row that gave something else says so of its operator: it must have got something, and all of it be in the row.

    The parameters of a module aren't: they are the same until the first step that differs has ended.
    """
    if not item.row.inputs or item.row.flags & BRINGS:
        return False
    return level == "kernel" or item.step == first.call.step


def items(trace: Trace, names: Items, side: int) -> Iterator[tuple[Hashable, Item]]:
    collectives = 0
    for number, row in enumerate(trace.rows()):
        yield names.key(row, side), Item(number, row, collectives, trace.step)
        collectives += bool(row.flags & SHARED)


class Items:
    """What the numbers of two traces stand for, so that rows can be compared by number."""

    def __init__(self, left: Trace, right: Trace) -> None:
        self.traces = (left, right)
        self._ids: dict[Hashable, int] = {}
        self._texts: tuple[list[int], list[int]] = ([], [])
        self._sites: tuple[list[int], list[int]] = ([], [])
        self._kinds: tuple[list[int], list[int]] = ([], [])
        self._keys: tuple[dict[tuple[int, ...], int], dict[tuple[int, ...], int]] = ({}, {})
        self._alike: dict[tuple[int, int], bool] = {}

    def text(self, number: int, side: int) -> int:
        """A text's number in both."""
        if number < 0:
            return number
        known, trace = self._texts[side], self.traces[side]
        while len(known) <= number:
            # Files of the program are the same wherever its folder is.
            known.append(self._id(trace.texts[len(known)].removeprefix(f"{trace.header.directory}/")))
        return known[number]

    def site(self, number: int, side: int) -> int:
        """The number in both of the line that calls: one function may be called from two lines, once in each run."""
        if number < 0:
            return number
        known, trace = self._sites[side], self.traces[side]
        while len(known) <= number:
            parts = trace.sites[len(known)][:3]
            key = tuple(part if i % 3 == 1 else self.text(part, side) for i, part in enumerate(parts))
            known.append(self._id(("site", key)))
        return known[number]

    def kind(self, number: int, side: int) -> int:
        """A kind's number in both."""
        known, trace = self._kinds[side], self.traces[side]
        while len(known) <= number:
            kind = trace.kinds[len(known)]
            words = tuple(self.text(word, side) for word in (kind.dtype, kind.device, kind.layout))
            known.append(self._id(("kind", *words, tuple(kind.shape))))
        return known[number]

    def key(self, row: Row, side: int) -> Hashable:
        """What makes two rows the same call: a number in both."""
        numbers = (row.op, row.site, row.module, row.node)
        known = self._keys[side].get(numbers)
        if known is None:
            text = self.text
            key = (text(row.op, side), self.site(row.site, side), text(row.module, side), text(row.node, side))
            known = self._keys[side][numbers] = self._id(("key", key))
        return known

    def parts(self, left: Row, right: Row) -> list[Part]:
        """What differs between two rows of the same call."""
        parts: list[Part] = []
        if self.text(left.arguments, 0) != self.text(right.arguments, 1):
            parts.append("arguments")
        if left.random != right.random:
            parts.append("random")
        ins, outs = self.inputs(left, right), self.outputs(left, right)
        if ins is None or outs is None:
            parts.append("kinds")
        if ins:
            parts.append("inputs")
        if outs:
            parts.append("outputs")
        return parts

    def inputs(self, left: Row, right: Row) -> list[int] | None:
        """The inputs whose contents differ; None if their kinds do."""
        return self._differing(left.inputs, right.inputs, 3)

    def outputs(self, left: Row, right: Row) -> list[int] | None:
        """The outputs whose contents differ; None if their kinds do."""
        return self._differing(left.outputs, right.outputs, 2)

    def _differing(self, left: list[int], right: list[int], width: int) -> list[int] | None:
        if len(left) != len(right):
            return None
        for pair in zip(left[::width], right[::width], strict=True):
            alike = self._alike.get(pair)
            if alike is None:
                alike = self._alike[pair] = self.kind(pair[0], 0) == self.kind(pair[1], 1)
            if not alike:
                return None
        if left[1::width] == right[1::width]:
            return []
        places = range(1, len(left), width)
        return [i // width for i in places if left[i] != right[i] and UNREAD not in (left[i], right[i])]

    def _id(self, key: Hashable) -> int:
        return self._ids.setdefault(key, len(self._ids))


def _difference(names: Items, parts: list[Part], left: Item, right: Item) -> Difference:
    one, other = names.traces
    return Difference(
        tuple(parts),
        _call(one, left),
        _call(other, right),
        tuple(names.inputs(left.row, right.row) or ()),
        tuple(names.outputs(left.row, right.row) or ()),
    )


def _call(trace: Trace, item: Item | None) -> Call | None:
    return None if item is None else call(trace, item.row, item.number, item.step, item.collectives)
