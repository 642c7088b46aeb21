"""A syntax tree to the IR of a file, in one walk."""

from __future__ import annotations

import ast
from operator import attrgetter
from typing import Final

import msgspec

from detlint.ir.builder import Builder, File
from detlint.ir.expressions import LOWER
from detlint.ir import ops as op
from detlint.ir.records import CLASS, KIND, MODULE, FileIR, FnIR, Header, Name
from detlint.ir.statements import block

_ENCODER: Final = msgspec.msgpack.Encoder()
_PLACE: Final = attrgetter("lineno", "col_offset", "end_lineno", "end_col_offset")


def lower(tree: ast.Module) -> FileIR:
    """The IR of a file."""
    file = File()
    module = Builder(file, MODULE, "", None)
    block(module, tree.body)
    while file.waiting:
        f, body = file.waiting.popleft()
        if isinstance(body, list):
            block(f, body)
        else:
            f.put((op.RETURN, LOWER[body.__class__](f, body)), body)
    names = [resolved(f) for f in file.functions]
    encode = _ENCODER.encode
    headers, bodies, spans = [], [], []
    for f, found in zip(file.functions, names):
        place = f.node.lineno if f.number else 1
        headers.append(Header(f.kind, file.string(f.name), f.parent.number if f.parent else -1, place, tuple(f.parameters)))
        bodies.append(msgspec.Raw(encode((found, f.ops))))
        spans.append(msgspec.Raw(encode([*map(_PLACE, f.nodes)])))
    constants = [key if key.__class__ is str else key[1] for key in file.constants]
    return FileIR(tuple(file.strings), tuple(map(kept, constants)), tuple(headers), tuple(bodies), tuple(spans))

def kept(value):
    if value.__class__ is int and not -2**63 <= value < 2**63: return ["i", str(value)]
    if value is Ellipsis: return ["..."]
    return value

def resolved(f: Builder) -> list[Name]:
    """What the names of a function mean."""
    file = f.file
    module = file.functions[0]
    found = []
    own = set(f.bound)
    for slot, text in enumerate(f.names):
        row = file.string(text)
        if slot in own and text not in f.declared:
            found.append(Name(row, f.number, slot))
            continue
        if f.declared.get(text) == 0:
            module.bound.add(module.slot(text)) if slot in own else None
            home = None
        else:
            home = binding(f, text)
        if home is None:
            top = module.slots.get(text)
            home = (0, top if top is not None and top in module.bound else -1)
        found.append(Name(row, *home))
    return found


def binding(f: Builder, text: str) -> tuple[int, int] | None:
    """The function around it that binds a name, and its slot there."""
    if f.visible and text in f.visible:
        return f.visible[text]
    around = f.parent
    while around is not None and around.parent is not None:
        slot = around.slots.get(text)
        if around.kind & KIND != CLASS and slot is not None and slot in around.bound and text not in around.declared:
            return around.number, slot
        around = around.parent
    return None
