"""The IR of a file as it is kept: what is known without bodies is decoded at once, a body and the places of ops when they are asked for."""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate, pairwise
from operator import add, sub
from typing import Any, Final

import msgspec

from detlint.ir.records import FileIR, FnIR

Span = tuple[int, int, int, int]
"""The first line, from 1, and its column in bytes, from 0; the last line, and the column behind its end."""

_ENCODER: Final = msgspec.msgpack.Encoder()
_FILE: Final = msgspec.msgpack.Decoder(FileIR)
_BODY: Final = msgspec.msgpack.Decoder(FnIR)
_COLUMNS: Final = msgspec.msgpack.Decoder(tuple[list[int], list[int], list[int], list[int], list[int]])
_LEVEL: Final = 1
"""Of compression: others take three bytes of a hundred less, and longer."""


def encode(ir: FileIR) -> bytes:
    """What is kept of a file."""
    return _ENCODER.encode(msgspec.structs.replace(ir, constants=tuple(map(_plain, ir.constants))))


def decode(data: bytes) -> FileIR:
    """A file out of what was kept of it.

    Raises:
        msgspec.DecodeError: it is damaged.
    """
    ir = _FILE.decode(data)
    if any(value.__class__ is list for value in ir.constants):
        return msgspec.structs.replace(ir, constants=tuple(map(_constant, ir.constants)))
    return ir


def body_of(ir: FileIR, function: int) -> FnIR:
    """What a function does."""
    return _BODY.decode(ir.bodies[function])


def spans_of(ir: FileIR, function: int) -> list[Span]:
    """Where each op of a function stands."""
    starts, columns = _columns(ir.spans)
    part = slice(starts[function], starts[function + 1] - len(ir.functions[function].parameters))
    lines, begins, heights, widths = (column[part] for column in columns)
    return [*zip(lines, begins, map(add, lines, heights), map(add, begins, widths), strict=True)]


def span_of(ir: FileIR, function: int, at: int) -> Span:
    """Where one op of a function stands, or, behind all of them, a parameter."""
    starts, (lines, begins, heights, widths) = _columns(ir.spans)
    place = starts[function] + at
    line, begin = lines[place], begins[place]
    return line, begin, line + heights[place], begin + widths[place]


def lines_of(ir: FileIR) -> tuple[list[object], list[int]]:
    """Where the ops of a file stand: all but the lines, and the lines."""
    starts, (lines, begins, heights, widths) = _columns(ir.spans)
    return [starts, begins, widths], [*lines, *map(add, lines, heights)]


def encoded_ops(ops: Sequence[tuple[int, ...]]) -> msgspec.Raw:
    """The ops of a function, for `encoded_body`."""
    return msgspec.Raw(_ENCODER.encode(ops))


def encoded_body(names: Sequence[tuple[int, int, int]], ops: msgspec.Raw) -> msgspec.Raw:
    """A function as `body_of` reads it; names as in `Name`."""
    return msgspec.Raw(_ENCODER.encode((names, ops)))


def encoded_spans(counts: Sequence[int], places: Sequence[Any]) -> bytes:
    """The places of the ops of each function and then of its parameters, as `spans_of` reads them: all of the file's in four columns, of
    which three hold differences, mostly 0: to the line before, and of the end to the beginning. That takes half of what they take one by
    one.

    Args:
        counts: how many places of each function there are.
        places: four numbers each, all in one row.
    """
    lines, columns = places[::4], places[1::4]
    parts = (
        counts,
        [*lines[:1], *map(sub, lines[1:], lines)],
        columns,
        [*map(sub, places[2::4], lines)],
        [*map(sub, places[3::4], columns)],
    )
    return zlib.compress(_ENCODER.encode(parts), _LEVEL)


def last_lines(ir: FileIR) -> list[int]:
    """The last line of what each function does; 0 for one that does nothing."""
    starts, (lines, _, heights, _) = _columns(ir.spans)
    ends = [*map(add, lines, heights)]
    return [max(ends[start:end], default=0) for start, end in pairwise(starts)]


@lru_cache(maxsize=64)
def _columns(data: bytes) -> tuple[list[int], tuple[Sequence[int], ...]]:
    """Where each function begins, and the four columns: lines, columns, and how far from there the end is."""
    counts, lines, *others = _COLUMNS.decode(zlib.decompress(data))
    return [*accumulate(counts, initial=0)], tuple(array("i", column) for column in ([*accumulate(lines)], *others))


def _plain(value: Any) -> Any:
    """A constant as MessagePack holds it: lists are those that it can't."""
    kind = value.__class__
    if kind is str:
        try:
            value.encode()
        except UnicodeEncodeError:  # half of a surrogate pair
            return ["text", value.encode("utf-8", "surrogatepass")]
    elif kind is int:
        return value if -(2**63) <= value < 2**63 else ["integer", hex(value)]
    elif kind is complex:
        return ["complex", value.real, value.imag]
    elif value is ...:
        return ["..."]
    return value


def _constant(value: Any) -> Any:
    """What `_plain` was given."""
    if value.__class__ is not list:
        return value
    kind, *parts = value
    if kind == "text":
        return parts[0].decode("utf-8", "surrogatepass")
    return int(parts[0], 16) if kind == "integer" else complex(*parts) if kind == "complex" else ...
