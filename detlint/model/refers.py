"""What a function, class body or top level refers to: definitions of the program, attributes of objects, files that it imports.

What it may assume: what is only said in annotations, to `isinstance`, or as a base isn't had as a value; what `Meaning` assumes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from detlint.ir import ops as op
from detlint.ir.code import Function
from detlint.model.meaning import Meaning
from detlint.model.resolve import Resolver
from detlint.model.sites.records import Ref
from detlint.model.unused import reads_any_name

ANY: Final = ""
"""Stands for the class of an object whose class isn't known."""
_SOURCES: Final = "::"


class Refers(msgspec.Struct, frozen=True):
    """What one piece of code refers to, and the first op that does so."""

    definitions: dict[str, int] = {}
    """Functions and classes of the program by their full names, `<file>::Net.forward`: called, or had as a value."""
    values: frozenset[str] = frozenset()
    """Those of them that are had otherwise than to be called at once."""
    attributes: dict[tuple[str, str], int] = {}
    """The classes of objects (`ANY` for one that isn't known), with the attributes that are had of them."""
    imports: dict[str, int] = {}
    """The files of the program whose top level runs by it."""
    tables: dict[str, dict[str, int]] = {}
    """The variables of a top level that hold tables, lists or tuples of definitions, with these: who reads one has them."""
    reads: tuple[str, ...] = ()
    """The names of the variables of files that it reads, and those of files of which it may read any, `<file>::`."""
    inside: dict[int, int] = {}
    """The numbers of the functions and class bodies that stand in it and that are come to where it is: class bodies, lambdas, and what
    decorators that aren't known are handed."""


def refers(resolver: Resolver, meaning: Meaning, function: Function) -> Refers:
    """What a function, class body or top level refers to, itself; not what those do that stand in it."""
    found, values, reads = Refers(), set[str](), dict[str, None]()
    by_any_name = not function.number and reads_any_name(meaning.code)
    for at, operation in enumerate(function.ops):
        if function.is_dead(at):
            continue
        kind = operation[0]
        if kind == op.MEMBER:
            reads.update(dict.fromkeys(_renamed(function, at)))
        if kind in (op.IMPORT, op.MEMBER, op.STAR_IMPORT):
            for path in _files(resolver, meaning, function, at):
                found.imports.setdefault(path, at)
        elif kind in (op.FUNCTION, op.CLASS):
            if kind == op.CLASS or not function.code.function(operation[1]).name.isidentifier():
                found.inside.setdefault(operation[1], at)
            if any(_may_keep(meaning, function, value) for value in operation[3 : 3 + operation[2]]):
                found.inside.setdefault(operation[1], at)
        elif kind in (op.LOAD, op.ATTR) and not _is_only_named(function, at):
            had, is_value = (
                sorted(name for name in meaning.names(function, at) if _SOURCES in name),
                _is_value(function, at),
            )
            names = {name: at for name in had if not name.endswith(_SOURCES)}
            if kind == op.LOAD and function.binding(operation[1]).owner == 0:
                reads[function.text(operation[1])] = None
            if is_value:  # whoever has a module may come to all that it has: `vars(tables)`
                reads.update((name, None) for name in had if name.endswith(_SOURCES))
            if names and not (function.number or by_any_name) and (table := _table(function, at)):
                found.tables.setdefault(table, {}).update(names)
                continue
            found.definitions.update({**names, **found.definitions})
            values.update(names if is_value else ())
            owner, attribute = _attribute(meaning, function, at) if kind == op.ATTR else (ANY, "")
            if attribute and (owner != ANY or not names):
                found.attributes.setdefault(
                    (owner, attribute), at
                )  # what it means may be another one in a derived class
        elif kind == op.CALL:
            for attribute in _asked(function, at):
                found.attributes.setdefault((ANY, attribute), at)
            callee = meaning.kind(function, operation[1])
            if _SOURCES in callee:
                found.attributes.setdefault((callee, "__call__"), at)
    return msgspec.structs.replace(found, values=frozenset(values), reads=(*reads,))


def _table(function: Function, value: int) -> str:
    """The variable that keeps a table of which a value is a part; "" where it is more than that."""
    held = value
    while len(function.users[held]) == 1:
        (use,) = function.users[held]
        kind = function.ops[use.op][0]
        if kind == op.STORE:
            return function.text(function.ops[use.op][1]) if held != value else ""
        if kind not in (op.DICT, op.LIST, op.TUPLE):
            return ""
        held = use.op
    return ""


def _renamed(function: Function, at: int) -> Iterator[str]:
    """The name of what is imported, if it gets another one here, or is one of a function's own."""
    name = function.code.strings[function.ops[at][2]]
    if function.number or any(
        function.ops[use.op][0] != op.STORE or function.text(function.ops[use.op][1]) != name
        for use in function.users[at]
    ):
        yield name


def _is_value(function: Function, at: int) -> bool:
    """Whether somebody has a value, who may call it later: nobody who only calls it, or has an attribute of it."""
    return any(use.place != 1 or function.ops[use.op][0] not in (op.CALL, op.ATTR) for use in function.users[at])


def _attribute(meaning: Meaning, function: Function, at: int) -> tuple[str, str]:
    """The class of the object of which an attribute is had, and its name; no name for what a module of a library has."""
    operation = function.ops[at]
    attribute, own = meaning.code.strings[operation[2]], function.receiver(operation[1])
    if own is not None:
        return f"{meaning.path}::{own.qualified}", attribute
    kind = meaning.kind(function, operation[1])
    if kind:
        return (kind, attribute) if _SOURCES in kind else (ANY, "")
    base = meaning.value(function, operation[1])
    of_library = isinstance(base, Ref) and _SOURCES not in base.name
    return ANY, "" if of_library else attribute


def _asked(function: Function, at: int) -> Iterator[str]:
    """The attributes that a call asks for by a text that is written out: `getattr(part, "reset")`."""
    operation = function.ops[at]
    if function.is_builtin(operation[1], "getattr"):
        for value in function.call(at).positional[1:2]:
            asked = function.constant(value)
            if isinstance(asked, str):
                yield asked


def _is_only_named(function: Function, at: int) -> bool:
    """Whether a value is only said in an annotation, to `isinstance`, or as a base: nobody has it by that."""
    uses = function.users[at]
    only_base = bool(uses) and all(
        function.ops[use.op][0] == op.CLASS and use.place >= 3 + function.ops[use.op][2] for use in uses
    )
    return only_base or function.is_hint(at)


def _may_keep(meaning: Meaning, function: Function, decorator: int) -> bool:
    """Whether a decorator may keep what it is handed, to call it later: one of the program, or a method of an object."""
    operation = function.ops[decorator]
    if operation[0] == op.CALL:
        return _may_keep(meaning, function, operation[1])
    value = meaning.value(function, decorator)
    return not isinstance(value, Ref) or _SOURCES in value.name


def _files(resolver: Resolver, meaning: Meaning, function: Function, at: int) -> Iterator[str]:
    """The files of the program whose top level an import runs: the module, and the packages around it."""
    value = function.ops[at][1] if function.ops[at][0] == op.STAR_IMPORT else at
    parts = meaning.imported(function, value).split(".")
    for count in range(1, len(parts) + 1):
        place = resolver.modules.find(meaning.path, ".".join(parts[:count]))
        if place is not None and not place[1]:
            yield place[0]
