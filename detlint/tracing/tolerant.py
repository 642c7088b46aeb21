"""Compares two traces within tolerances: of a GPU and an NPU, say, where no bits agree. What an operator adds to the error counts.

How far two outputs are apart is told by their sketches, or by msprobe's statistics. An operator adds what its outputs are farther apart
than its inputs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import click
import msgspec

from detlint.report.place import shown
from detlint.tracing.align import Keyed, align
from detlint.tracing.calls import Call, call
from detlint.tracing.compare import Items, items
from detlint.tracing.reader import Trace
from detlint.tracing.records import AIM, EVENT
from detlint.tracing.runs import NotComparable, by_rank, own
from detlint.visible import visible

STATISTICS: Final = 4
"""As many numbers msprobe has for a tensor; a sketch has more."""
_DEFAULT: Final = {
    "float16": (1e-3, 1e-5), "bfloat16": (1.6e-2, 1e-5), "float32": (1.3e-6, 1e-5), "float64": (1e-7, 1e-7),
    "complex64": (1.3e-6, 1e-5), "complex128": (1e-7, 1e-7),
}  # fmt: skip
"""By type: rtol and atol of torch.testing.assert_close (torch 2.13, torch/testing/_comparison.py). Others must be equal."""
_SHOWN: Final = 10


class Tolerances(msgspec.Struct, frozen=True):
    """What operators may add.

    Attributes:
        named: by operator or public function, by `name:type`, or by `:type`: rtol, and atol where that is said, too.
    """

    rtol: float | None = None
    atol: float | None = None
    named: Mapping[str, tuple[float, float | None]] = {}

    def of(self, names: Iterable[str], dtype: str) -> tuple[float, float]:
        """The relative and the absolute tolerance of an operator's output."""
        keys = [*(f"{name}:{dtype}" for name in names), *names, f":{dtype}"]
        said = next((self.named[key] for key in keys if key in self.named), (self.rtol, self.atol))
        rtol, atol = _DEFAULT.get(dtype, (0.0, 0.0))
        return rtol if said[0] is None else said[0], atol if said[1] is None else said[1]


def parsed(said: Iterable[str]) -> dict[str, tuple[float, float | None]]:
    """Tolerances as they are said: `NAME=RTOL`, `NAME:TYPE=RTOL,ATOL`, `:TYPE=RTOL`.

    Raises:
        ValueError: something else is there.
    """
    found = dict[str, tuple[float, float | None]]()
    for one in said:
        name, equals, numbers = one.rpartition("=")
        rtol, _, atol = numbers.partition(",")
        try:
            found[name] = (float(rtol), float(atol) if atol else None)
        except ValueError:
            equals = ""
        if not equals or not name:
            raise ValueError(f"`{one}`: say NAME=RTOL, NAME:TYPE=RTOL or NAME=RTOL,ATOL")
    return found


class Added(msgspec.Struct, frozen=True):
    """What one call adds to the error.

    Attributes:
        before, after: the relative error of its inputs and outputs, the largest of each; `added` is what is new.
        allowed: how much of it may be.
    """

    rank: int
    step: int
    row: int
    op: str
    api: str
    file: str
    line: int
    dtype: str
    backward: bool
    before: float
    after: float
    added: float
    allowed: float

    @property
    def share(self) -> float:
        """How many times its tolerance it adds."""
        return self.added / self.allowed if self.allowed else math.inf

    @property
    def exceeds(self) -> bool:
        """Whether that is too much."""
        return self.added > self.allowed


class Errors(msgspec.Struct, kw_only=True):
    """What comes of it.

    Attributes:
        calls: how many were compared; `alone`: how many only one run has; `unread`: how many have no values.
        added: those that add something, the largest share of its tolerance first.
    """

    left: str
    right: str
    calls: int = 0
    alone: tuple[int, int] = (0, 0)
    unread: int = 0
    exceeding: int = 0
    added: list[Added] = []

    @property
    def equal(self) -> bool:
        """Whether no call adds too much, and both runs made the same calls."""
        return not self.exceeding


def errors(left: Path, right: Path, tolerances: Tolerances) -> Errors:
    """Compare two folders of traces, or of msprobe's dumps.

    Raises:
        Unreadable: one of them can't be read.
        NotComparable: they have no values, or no ranks or levels in common.
    """
    found = Errors(left=str(left), right=str(right))
    with TemporaryDirectory(prefix="detlint-diff-") as kept:
        ours, others = by_rank(own(left, Path(kept, "left"))), by_rank(own(right, Path(kept, "right")))
        for key in sorted(ours.keys() & others.keys()):
            if ours[key].header.level != others[key].header.level:
                raise NotComparable(
                    f"{left} is of level {ours[key].header.level}, {right} of {others[key].header.level}"
                )
            _Process(key[0], ours[key], others[key], tolerances, found).compare()
    if not found.calls and not any(found.alone):
        raise NotComparable(f"{left} and {right} have no calls in common")
    if found.unread == found.calls:
        raise NotComparable(f"{left} or {right} has no values: trace both with `detlint trace --values`")
    found.added.sort(key=lambda one: -one.share)
    found.exceeding = sum(one.exceeds for one in found.added)
    return found


class _Process:
    """One process in two runs."""

    def __init__(self, rank: int, left: Trace, right: Trace, tolerances: Tolerances, found: Errors) -> None:
        self.rank = rank
        self.traces = left, right
        self.tolerances = tolerances
        self.found = found
        self.reached: dict[int, float] = {}
        """The error of what each row of the left run gave."""

    def compare(self) -> None:
        names, found = Items(*self.traces), self.found
        alone = [*found.alone]
        for ours, theirs in align(Keyed(items(self.traces[0], names, 0)), Keyed(items(self.traces[1], names, 1))):
            item = ours or theirs
            if item is not None and item.row.flags & (AIM | EVENT):
                continue
            if ours is None or theirs is None:
                alone[ours is None] += 1
                continue
            found.calls += 1
            here, there = self.traces[0].values.pop(ours.number, None), self.traces[1].values.pop(theirs.number, None)
            if here is None or there is None:
                self.reached[ours.number] = self._before(ours.row.inputs, [], [])
                found.unread += 1
                continue
            before = self._before(ours.row.inputs, here.inputs, there.inputs)
            after = max(map(apart, here.outputs, there.outputs), default=0.0)
            if len(here.outputs) != len(there.outputs):
                after = math.inf
            self.reached[ours.number] = after
            if after > before:
                self._add(call(self.traces[0], ours.row, ours.number, ours.step), here.outputs, before, after)
        found.alone = (alone[0], alone[1])

    def _before(self, inputs: list[int], here: list[list[float]], there: list[list[float]]) -> float:
        """The largest error of what a call is given."""
        made = (self.reached.get(producer, 0.0) for producer in inputs[2::3])
        return max(
            [*made, *(apart(one, other) for one, other in zip(here, there, strict=False) if one and other)], default=0.0
        )

    def _add(self, made: Call, outputs: list[list[float]], before: float, after: float) -> None:
        dtype = made.outputs[0].dtype if made.outputs else ""
        rtol, atol = self.tolerances.of((made.op, made.api), dtype)
        sizes = (_size(value, output.shape) for value, output in zip(outputs, made.outputs, strict=False))
        allowed = max((rtol + atol / size for size in sizes if size), default=rtol)
        place = made.place
        self.found.added.append(
            Added(self.rank, made.step, made.number, made.op, made.api, place.file if place else "", place.line if place else 0,
                  dtype, made.backward, before, after, after - before if before < math.inf else 0.0, allowed)
        )  # fmt: skip


def apart(one: list[float], other: list[float]) -> float:
    """How far two values are apart, relative to the larger; infinite where one has more that is no finite number."""
    if not one or not other or one == other:
        return 0.0
    if len(one) == STATISTICS:
        scale = max(map(abs, (*one[:3], *other[:3])))
        ratios = [abs(a - b) / scale for a, b in zip(one[:3], other[:3], strict=True) if scale]
        length = max(one[3], other[3])
        return max([*ratios, abs(one[3] - other[3]) / length if length else 0.0])
    if one[1] != other[1]:
        return math.inf
    length, products = max(one[0], other[0]), [a - b for a, b in zip(one[2:], other[2:], strict=True)]
    return math.sqrt(sum(product**2 for product in products) / len(products)) / length if length else 0.0


def _size(value: list[float], shape: tuple[int, ...]) -> float:
    """The root of the mean square of a value; 0 where it isn't known."""
    count = math.prod(shape)
    if not value or not count:
        return 0.0
    return (value[3] if len(value) == STATISTICS else value[0]) / math.sqrt(count)


def lines(found: Errors) -> Iterator[str]:
    """It for people."""
    if found.added:
        yield "   added   error in  error out  allowed"
    for one in found.added[:_SHOWN]:
        colour = "red" if one.exceeds else None
        where = f"{shown(one.file)}:{one.line}" if one.file else "?"
        name = (
            f"{one.op}{', backward' if one.backward else ''}{f' ({one.api})' if one.api and one.api != one.op else ''}"
        )
        numbers = f"{one.added:8.1e}  {one.before:8.1e}  {one.after:9.1e}  {one.allowed:7.1e}"
        yield f"{click.style(numbers, fg=colour)}  {visible(name)} at {visible(where)}, step {one.step}, {one.dtype}"
    rest = len(found.added) - _SHOWN
    if rest > 0:
        yield f"... and {rest:,} that add less"
    yield f"{found.calls:,} calls compared; {found.alone[0]:,} and {found.alone[1]:,} only in one; {found.unread:,} without values"
    if found.equal:
        yield f"The runs are {click.style('equal within the tolerances', fg='green', bold=True)}."
    else:
        yield f"The runs are {click.style('different', fg='red', bold=True)}: {found.exceeding:,} calls add more than their tolerance."
