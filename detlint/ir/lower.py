"""A syntax tree to the IR of a file, in one walk."""

from __future__ import annotations

import ast
import gc
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final, NamedTuple

import msgspec

from detlint.ir import ops as op
from detlint.ir.builder import Builder, File
from detlint.ir.depth import at_any_depth
from detlint.ir.expressions import value_of
from detlint.ir.records import (
    CLASS,
    MODULE,
    OF_CLASS,
    OF_FUNCTION,
    OF_IMPORT,
    OF_VALUE,
    SEVERAL,
    Class,
    Export,
    FileIR,
    Header,
    Import,
)
from detlint.ir.spans import encoded_spans
from detlint.ir.statements import block
from detlint.ir.storage import encoded_body, encoded_ops


def lower(tree: ast.Module) -> FileIR:
    """The IR of a file, whose tree may be as deep as Python builds one."""
    collects = gc.isenabled()
    gc.disable()  # what is made here lives to the end, and there is nothing to find
    try:
        return at_any_depth(partial(_lowered, tree))
    finally:
        if collects:
            gc.enable()


def _lowered(tree: ast.Module) -> FileIR:
    file = File()
    Builder(file, MODULE, "", 1, None).body = tree.body
    return assembled(file, _body)


def assembled(file: File, lowered: Callable[[Builder], None]) -> FileIR:
    """The IR of a file whose functions are lowered one after the other, beginning with the top level.

    Args:
        lowered: does that; it adds those that stand in one.
    """
    functions = file.functions
    done = [_done(f, lowered) for f in functions]
    names = [f.resolved() for f in reversed(functions)][::-1]
    headers = [
        Header(f.kind, file.string(f.name), f.parent.number if f.parent else -1, f.line, tuple(f.parameters), f.returns)
        for f in functions
    ]
    imports = tuple(
        Import(function, module, level, file.optional(member), file.optional(name))
        for function, module, level, member, name in file.imports
    )
    exports, classes = tuple(_exports(file)), tuple(_classes(file, done))
    made = FileIR(
        tuple(file.strings),
        tuple(key if key.__class__ is str else key[-1] for key in file.constants),  # type: ignore[index]
        tuple(headers),
        imports,
        exports,
        classes,
        tuple(encoded_body(found, own.ops) for found, own in zip(names, done, strict=True)),
        tuple(own.spans for own in done),
    )
    functions.clear()  # they lead to the file, and it to them: nothing would ever free either while garbage isn't looked for
    return made


class _Done(NamedTuple):
    """What is kept of the ops of a function. They are let go of at once: memory that was used a moment ago is the fastest."""

    ops: msgspec.Raw
    spans: bytes
    methods: list[tuple[int, int]]
    """Of a class: the slots that it stores functions in, and these."""


def _body(f: Builder) -> None:
    """Lower a function of Python."""
    if isinstance(f.body, list):
        block(f, f.body)
    else:
        f.put((op.RETURN, value_of(f, f.body)), f.body)


def _done(f: Builder, lowered: Callable[[Builder], None]) -> _Done:
    """Lower a function, and pack it."""
    lowered(f)
    ops, methods = f.ops, list[tuple[int, int]]()
    if f.kind == CLASS:
        stored = [part for part in ops if part[0] == op.STORE]
        methods = [(slot, ops[made][1]) for _, slot, made in stored if ops[made][0] == op.FUNCTION]
    done = _Done(encoded_ops(ops), encoded_spans(f.nodes + f.given), methods)
    f.nodes.clear()
    if f.kind != MODULE:
        ops.clear()
    return done


_KINDS: Final = {op.FUNCTION: OF_FUNCTION, op.CLASS: OF_CLASS, op.IMPORT: OF_IMPORT, op.MEMBER: OF_IMPORT}
_BINDING: Final = frozenset({op.STORE, op.DELETE, op.STAR_IMPORT})


def _exports(file: File) -> Iterator[Export]:
    """What the module binds, in the order of its slots. Those are its imports that come first: it is lowered before all others."""
    module = file.functions[0]
    binding, imports = _BINDING, 0
    seen: dict[int, tuple[int, int]] = {}
    for part in [part for part in module.ops if part[0] in binding]:
        if part[0] == op.STAR_IMPORT:
            imports += 1
            continue
        found = SEVERAL, -1
        if part[0] == op.STORE:
            made = module.ops[part[2]]
            kind = _KINDS.get(made[0], OF_VALUE)
            number = imports if kind == OF_IMPORT else made[1] if kind != OF_VALUE else -1
            imports += kind == OF_IMPORT
            if part[1] not in seen:
                found = kind, number
        seen[part[1]] = found
    for slot in sorted(module.bound - module.private):
        yield Export(file.string(module.names[slot]), *seen.get(slot, (SEVERAL, -1)))


def _classes(file: File, done: Sequence[_Done]) -> Iterator[Class]:
    for number, bases in file.bases.items():
        names = file.functions[number].names
        methods = tuple((file.string(names[slot]), function) for slot, function in done[number].methods)
        yield Class(number, tuple(map(file.optional, bases)), methods)
