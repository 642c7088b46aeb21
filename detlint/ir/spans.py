"""Where ops stand: packed by function, as they are kept apart from all that a file says."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence, Set
from functools import cached_property, lru_cache
from itertools import accumulate
from operator import add
from typing import Any, Final, overload

import msgspec

from detlint.ir.records import FileIR

Span = tuple[int, int, int, int]
"""The first line, from 1, and its column in bytes, from 0; the last line, and the column behind its end."""

_ENCODER: Final = msgspec.msgpack.Encoder()
_COLUMNS: Final = msgspec.msgpack.Decoder(tuple[list[int], list[int], list[int], list[int]])


def encoded_spans(nodes: Iterable[Any]) -> bytes:
    """The places of the ops of a function and then of its parameters: columns, widths, and of lines and heights only where the line isn't
    that before, and the height not 0. That takes a third of what four numbers each would take.

    Args:
        nodes: what stands there.
    """
    columns: list[int] = []
    widths: list[int] = []
    moves: list[int] = []
    heights: list[int] = []
    before = moved = high = 0
    for at, node in enumerate(nodes):
        line, column, last = node.lineno, node.col_offset, node.end_lineno
        columns.append(column)
        widths.append(node.end_col_offset - column)
        if line != before:
            moves += at - moved, line - before
            before, moved = line, at
        if last != line:
            heights += at - high, last - line
            high = at
    return _ENCODER.encode((moves, heights, columns, widths))


class Spans(Sequence[Span]):
    """Where each op of a function stands: four numbers each, which become a span where one is asked for.

    Args:
        columns: the first lines, the columns there, how many lines each goes on for, and how many columns from the first.
    """

    def __init__(self, columns: Sequence[Sequence[int]]) -> None:
        self._lines, self._begins, self._heights, self._widths = columns

    def __len__(self) -> int:
        return len(self._lines)

    @overload
    def __getitem__(self, at: int) -> Span: ...
    @overload
    def __getitem__(self, at: slice) -> list[Span]: ...
    def __getitem__(self, at: int | slice) -> Span | list[Span]:
        if isinstance(at, slice):
            return [*self][at]
        line, begin = self._lines[at], self._begins[at]
        return line, begin, line + self._heights[at], begin + self._widths[at]

    def __iter__(self) -> Iterator[Span]:
        lasts, ends = map(add, self._lines, self._heights), map(add, self._begins, self._widths)
        return zip(self._lines, self._begins, lasts, ends, strict=True)

    def at(self, line: int, column: int) -> list[int]:
        """The ops that begin at a place, in order."""
        return [at for at in self._by_line.get(line, ()) if self._begins[at] == column]

    @cached_property
    def _by_line(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for at, line in enumerate(self._lines):
            found.setdefault(line, []).append(at)
        return found


def spans_of(ir: FileIR, function: int) -> Spans:
    """Where each op of a function stands."""
    columns = _columns(ir.spans[function])
    ops = len(columns[0]) - len(ir.functions[function].parameters)
    return Spans([column[:ops] for column in columns])


def span_of(ir: FileIR, function: int, at: int) -> Span:
    """Where one op of a function stands, or, behind all of them, a parameter."""
    lines, begins, heights, widths = _columns(ir.spans[function])
    return lines[at], begins[at], lines[at] + heights[at], begins[at] + widths[at]


def lines_of(ir: FileIR, function: int, without_end: Set[int]) -> tuple[list[object], list[int]]:
    """Where the ops of a function stand: all but the lines, and the lines.

    Args:
        without_end: those of which the end is left out.
    """
    lines, begins, heights, widths = _columns(ir.spans[function])
    ending = [at for at in range(len(lines)) if at not in without_end]
    return [begins, [widths[at] for at in ending]], [*lines, *(lines[at] + heights[at] for at in ending)]


def last_lines(ir: FileIR) -> list[int]:
    """The last line of what each function does; 0 for one that does nothing."""
    return [max(map(add, lines, heights), default=0) for lines, _, heights, _ in map(_columns, ir.spans)]


@lru_cache(maxsize=512)
def _columns(data: bytes) -> tuple[Sequence[int], Sequence[int], Sequence[int], Sequence[int]]:
    """Four columns: lines, columns, and how far from there the end is."""
    moves, heights, columns, widths = _COLUMNS.decode(data)
    lines = accumulate(_spread(moves, len(columns)))
    return array("i", lines), array("i", columns), array("i", _spread(heights, len(columns))), array("i", widths)


def _spread(pairs: Sequence[int], count: int) -> list[int]:
    """Numbers of which only those that aren't 0 are told: how far from the one before, and what."""
    found = [0] * count
    for at, number in zip(accumulate(pairs[::2]), pairs[1::2], strict=True):
        found[at] = number
    return found
