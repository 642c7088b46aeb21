"""The IR of a file as it is kept: what is known without bodies is decoded at once, a body when it is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from detlint.ir.records import FileIR, FnIR

_ENCODER: Final = msgspec.msgpack.Encoder()
_FILE: Final = msgspec.msgpack.Decoder(FileIR)
_BODY: Final = msgspec.msgpack.Decoder(FnIR)


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


def encoded_ops(ops: Sequence[tuple[int, ...]]) -> msgspec.Raw:
    """The ops of a function, for `encoded_body`."""
    return msgspec.Raw(_ENCODER.encode(ops))


def encoded_body(names: Sequence[tuple[int, int, int]], ops: msgspec.Raw) -> msgspec.Raw:
    """A function as `body_of` reads it; names as in `Name`."""
    return msgspec.Raw(_ENCODER.encode((names, ops)))


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
