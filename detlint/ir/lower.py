"""A syntax tree to the IR of a file, in one walk."""

from __future__ import annotations

import ast
import gc
from collections.abc import Iterator
from functools import partial
from typing import Final

from detlint.ir import ops as op
from detlint.ir.builder import Builder, File
from detlint.ir.depth import at_any_depth
from detlint.ir.expressions import value_of
from detlint.ir.records import (
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
from detlint.ir.statements import block
from detlint.ir.storage import encoded_body, encoded_spans


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
    block(Builder(file, MODULE, "", 1, None), tree.body)
    while file.waiting:
        f, body = file.waiting.popleft()
        if isinstance(body, list):
            block(f, body)
        else:
            f.put((op.RETURN, value_of(f, body)), body)
    functions = file.functions
    names = [f.resolved() for f in reversed(functions)][::-1]
    headers = [
        Header(f.kind, file.string(f.name), f.parent.number if f.parent else -1, f.line, tuple(f.parameters), f.returns)
        for f in functions
    ]
    imports = tuple(
        Import(function, module, level, file.optional(member), file.optional(name))
        for function, module, level, member, name in file.imports
    )
    exports, classes = tuple(_exports(file)), tuple(_classes(file))
    made = FileIR(
        tuple(file.strings),
        tuple(key if key.__class__ is str else key[-1] for key in file.constants),  # type: ignore[index]
        tuple(headers),
        imports,
        exports,
        classes,
        tuple(encoded_body(found, f.ops) for f, found in zip(functions, names, strict=True)),
        encoded_spans([f.places + f.given for f in functions]),
    )
    functions.clear()  # they lead to the file, and it to them: nothing would ever free either while garbage isn't looked for
    return made


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


def _classes(file: File) -> Iterator[Class]:
    for number, bases in file.bases.items():
        body = file.functions[number]
        methods = tuple(
            (file.string(body.names[part[1]]), body.ops[part[2]][1])
            for part in body.ops
            if part[0] == op.STORE and body.ops[part[2]][0] == op.FUNCTION
        )
        yield Class(number, tuple(map(file.optional, bases)), methods)
