"""The IR of a file as it is kept."""

from __future__ import annotations

import msgspec

from detlint.ir.records import FileIR, FnIR

_BODY = msgspec.msgpack.Decoder(FnIR)
_SPANS = msgspec.msgpack.Decoder(list[tuple[int, int, int, int]])
_FILE = msgspec.msgpack.Decoder(FileIR)
_ENCODER = msgspec.msgpack.Encoder()


def encode(ir: FileIR) -> bytes:
    return _ENCODER.encode(ir)


def decode(data: bytes) -> FileIR:
    return _FILE.decode(data)


def body_of(ir: FileIR, number: int) -> FnIR:
    return _BODY.decode(ir.bodies[number])


def spans_of(ir: FileIR, number: int):
    return _SPANS.decode(ir.spans[number])
