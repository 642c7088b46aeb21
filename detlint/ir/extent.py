"""Which ops a statement is made of, and what they, or those of a file, say, wherever they stand and however they are laid out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from detlint.ir import ops as op
from detlint.ir.code import Code, Function
from detlint.ir.records import KIND, LAMBDA
from detlint.ir.uses import Op, places

_STRINGS: Final[dict[int, tuple[int, ...]]] = {
    op.ATTR: (2,), op.BINARY: (1,), op.UNARY: (1,), op.COMPARE: (2,), op.CHOICE: (1,), op.COLLECT: (1,), op.IMPORT: (1,),
    op.MEMBER: (2,), op.AUGMENT: (1,), op.TYPE_PARAMETER: (1,), op.SET_ATTR: (2,), op.DELETE_ATTR: (2,), op.ANNOTATE_ATTR: (2,),
}  # fmt: skip
"""Code -> where in an op strings stand."""
_SLOTS: Final = frozenset({op.LOAD, op.STORE, op.DELETE, op.ANNOTATE})
_DEFINES: Final = frozenset({op.FUNCTION, op.CLASS})


class Extent(NamedTuple):
    """The ops of one statement; of one that holds others, those of its head."""

    function: Function
    first: int
    last: int

    @property
    def line(self) -> int:
        """Where it begins, from 1."""
        return min(self.function.spans[at][0] for at in range(self.first, self.last + 1))


def statement(code: Code, line: int, column: int) -> Extent | None:
    """The innermost statement that holds a place; None for none, as between those of a block.

    Args:
        line: from 1.
        column: in bytes, from 0.
    """
    place = line, column
    found = code.covering(
        line, column, lambda function, at: function.ops[at][0] < op.IF and not _is_in_body(function, at, place)
    )
    if found is None:
        return None
    function, last = _root(*found)
    return Extent(function, _first(function, last), last)


def around(function: Function) -> str:
    """The functions and classes that a function stands in, and it itself, dotted; "" for the top level."""
    before = around(function.parent) if function.parent is not None and function.parent.number else ""
    named = function.number and function.header.kind & KIND != LAMBDA
    return f"{before}.{function.name}".lstrip(".") if named else before


def _is_in_body(function: Function, at: int, place: tuple[int, int]) -> bool:
    """Whether an op is a definition, and a place stands behind the head of that."""
    operation = function.ops[at]
    made = function.ops[operation[2]] if operation[0] == op.STORE else operation
    if made[0] not in _DEFINES:
        return False
    body = function.code.function(made[1])
    if body.header.kind & KIND == LAMBDA:
        return False
    begins = min((span[:2] for span in body.spans), default=(body.header.line + 1, 0))
    return place >= begins


def _root(function: Function, at: int) -> tuple[Function, int]:
    """The last op of the statement that an op is a part of, and the function that it stands in."""
    while True:
        above = max((use.op for use in function.users[at]), default=-1)
        if above >= 0 and function.ops[above][0] == op.IF:
            end = function.flow.parts[above][-1]
            behind = end + 1 if end + 1 < len(function.ops) else end
            if function.ops[behind][0] == op.CHOICE:
                at = behind
                continue
        elif above >= 0:
            at = above
            continue
        last = above if above >= 0 else at
        comprehension = next((mark for mark in function.blocks(last) if function.ops[mark][0] == op.COMPREHEND), -1)
        if comprehension >= 0:
            at = function.flow.parts[comprehension][-1] + 1
        elif function.header.kind & KIND == LAMBDA and function.parent is not None:
            function, at = function.parent, function.definition
        else:
            return function, last


def _first(function: Function, last: int) -> int:
    """The first op of a statement."""
    first, at = last, last
    while at >= first:
        taken = function.values(at)
        if function.ops[at][0] == op.CHOICE:
            taken.append(function.condition(at))
        elif function.ops[at][0] == op.COLLECT:
            taken.append(function.ops[at][2])
        first = min([first, *taken])
        at -= 1
    return first


def canonical(extent: Extent) -> Iterator[str]:
    """What a statement says, in order: names, constants, operations, and which takes what."""
    function = extent.function
    for at in range(extent.first, extent.last + 1):
        yield from _said(function, function.ops[at], lambda place: place - extent.first)


def _said(function: Function, operation: Op, place_of: Callable[[int], int]) -> Iterator[str]:
    code, strings = operation[0], function.code.strings
    values, texts = {*places(operation)}, {*_STRINGS.get(code, ()), *_words(operation)}
    yield op.NAMES[code]
    for place in range(1, len(operation)):
        operand = operation[place]
        if place in values or (code == op.COLLECT and place == 2):
            yield f"@{place_of(operand)}" if operand >= 0 else "@"
        elif place in texts:
            yield strings[operand] if operand >= 0 else "*"
        elif code in _SLOTS and place == 1:
            yield function.text(operand)
        elif code == op.CONST:
            constant = function.code.constants[operand]
            yield f"{type(constant).__name__}:{constant:x}" if isinstance(constant, int) else repr(constant)
        elif code in _DEFINES and place == 1:
            yield from _defined(function.code.function(operand))
        else:
            yield str(operand)


def _words(operation: Op) -> Iterator[int]:
    """Where the names of keywords, and of the attributes that a pattern asks for, stand in an op."""
    if operation[0] == op.CALL:
        yield from range(3 + operation[2], len(operation), 2)
    elif operation[0] == op.CLASS:
        bases = 3 + operation[2]
        yield from range(bases + 1 + operation[bases], len(operation), 2)
    elif operation[0] == op.MATCHES_CLASS:
        yield from range(4, len(operation))


def _defined(function: Function) -> Iterator[str]:
    """What a definition says without its body; all of it for a lambda."""
    yield function.name
    for slot, parameter in enumerate(function.header.parameters):
        yield f"{function.text(slot)}:{parameter.kind}"
    if function.header.kind & KIND == LAMBDA:
        for operation in function.ops:
            yield from _said(function, operation, lambda at: at)
