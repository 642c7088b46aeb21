"""What the parts of a file say, each for itself, whatever stands before it: its top level with all class bodies, and each function that
stands in none but these, with what stands in it.

A part that has the same digest in two states of a file says the same in both; names and constants are compared, not their rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import xxhash

from detlint.ir import ops as op
from detlint.ir.code import Code, Function
from detlint.ir.words import words_in

_STRINGS: Final[Mapping[int, int]] = {
    op.ATTR: 2, op.BINARY: 1, op.UNARY: 1, op.COMPARE: 2, op.CHOICE: 1, op.COLLECT: 1, op.IMPORT: 1, op.MEMBER: 2, op.AUGMENT: 1,
    op.TYPE_PARAMETER: 1, op.SET_ATTR: 2, op.DELETE_ATTR: 2, op.ANNOTATE_ATTR: 2,
}  # fmt: skip
"""The ops that have a string -> where."""
REFLECTING: Final = frozenset({
    "__call__", "__class__", "__delattr__", "__dict__", "__getattr__", "__path__", "__setattr__", "add_module", "delattr", "eval", "exec",
    "f_locals", "globals", "insert_child_to_cell", "locals", "modules", "patch", "register_forward_pre_hook", "register_module", "setattr",
    "sys", "type", "vars",
})  # fmt: skip
"""By what code may come to names, attributes and classes that it doesn't say."""


class Part(NamedTuple):
    """What a function says."""

    digest: int
    names: frozenset[str]
    """The names that it has, as `Words` has them; of long texts, too."""


class Parts(NamedTuple):
    """The parts of a file."""

    top: int
    """The digest of the top level and all class bodies, of the functions that bind something there, and of what is asked of all functions
    together: which variables of the top level they have, which attributes they set how often, which names are texts of theirs, and by what
    they may come to others."""
    functions: dict[int, Part]
    """The others, by their numbers."""

    def changed(self, before: Parts) -> set[int]:
        """The functions that say something else than those of these numbers did before, or are new."""
        return {number for number, part in self.functions.items() if before.functions.get(number) != part}

    def names_changed(self, before: Parts) -> frozenset[str]:
        """The names that those functions have, or had, which aren't as they were, wherever they stand."""
        parts = {*self.functions.values()} ^ {*before.functions.values()}
        return frozenset[str]().union(*(part.names for part in parts))


def parts_of(code: Code) -> Parts:
    """The parts of a file."""
    top, found, shared, sets = list[object](), dict[int, Part](), set[str](), list[tuple[str, ...]]()
    for function in code.functions():
        shared.update(_variables(function) if function.number else ())
        sets += _sets(function)
        if not function.number or (function.is_class and not function.part):
            top.append(_said(function, set()))
        elif function.part == function.number:
            names = set[str]()
            inside = [*code.inside(function.number)]
            said = [_said(inner, names) for inner in inside]
            if any(map(_binds_outside, inside)):
                top.append(said)
            else:
                found[function.number] = Part(_digest(said), frozenset(names))
    texts = sorted(text for text in code.texts if text.rpartition(".")[2].isidentifier())
    asked = [sorted(shared), sorted(sets), sorted(REFLECTING & code.identifiers), texts]
    return Parts(_digest([top, asked]), found)


def _variables(function: Function) -> Iterator[str]:
    """The variables of the top level that a function has, and by what it comes to others that it doesn't say."""
    for slot, name in enumerate(function.names):
        text = function.text(slot)
        if not name.owner and (name.slot >= 0 or text in REFLECTING):
            yield text


def _sets(function: Function) -> Iterator[tuple[str, ...]]:
    """The attributes that a function sets or deletes, each with whose it is: under whatever name that stands there."""
    for _, operation in function.each(op.SET_ATTR, op.DELETE_ATTR):
        of = function.meant(operation[1])
        body, root = function.receiver(of), function.meant(function.chain(of).root)
        owner = body.qualified if body is not None else ""
        yield owner, function.dotted(of), str(function.ops[root][0]), function.strings[operation[2]]


def _binds_outside(function: Function) -> bool:
    """Whether a function binds, or deletes, a variable of the top level, or of a function around it."""
    return any(
        function.names[operation[1]].owner != function.number for _, operation in function.each(op.STORE, op.DELETE)
    )


def _said(function: Function, names: set[str]) -> Sequence[object]:
    """What a function says itself, without rows of the file's tables; its names are added to others."""
    header, code = function.header, function.code
    slots = [
        (function.text(slot), name.owner == function.number or code.function(name.owner).qualified, name.slot >= 0)
        for slot, name in enumerate(function.names)
    ]
    names.add(function.name)
    names.update(text for text, _, _ in slots)
    ops = [(*_resolved(function, at, operation, names),) for at, operation in enumerate(function.ops)]
    return function.qualified, header.kind, header.parameters, header.returns, slots, ops


def _resolved(function: Function, at: int, operation: tuple[int, ...], names: set[str]) -> Iterator[object]:
    """An op with texts in place of rows."""
    code, strings, texts = operation[0], function.strings, set[int]()
    if code in _STRINGS:
        texts = {_STRINGS[code]}
    elif code in (op.CALL, op.CLASS):
        start = 2 if code == op.CALL else 3 + operation[2]
        texts = {*range(start + 1 + operation[start], len(operation), 2)}
    elif code == op.MATCHES_CLASS:
        texts = {*range(4, len(operation))}
    for place, operand in enumerate(operation):
        if place in texts and operand >= 0:
            names.update(strings[operand].split("."))
            yield strings[operand]
        elif place == 1 and code == op.CONST:
            constant = function.constants[operand]
            if isinstance(constant, str):
                names |= words_in(constant)
            yield (type(constant).__name__, constant)
        elif place == 1 and code in (op.FUNCTION, op.CLASS):
            inner = function.code.function(operand)
            names.add(inner.name)
            yield inner.name, inner.header.parameters
        else:
            yield operand


def _digest(said: object) -> int:
    return xxhash.xxh3_64_intdigest(repr(said).encode("utf-8", "surrogatepass"))
