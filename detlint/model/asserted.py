"""What an assertion says of what a call gives: `assert not result.missing_keys`."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from detlint.ir import ops as op
from detlint.ir.code import Function


def is_empty_by_assertion(function: Function, call: int, parts: Collection[str]) -> bool:
    """Whether an assertion of the same block says that a part of what a call gives is empty.

    Args:
        parts: the attributes, and the items (`[0]`), of which any may be that part.
    """
    for at, assertion in function.each(op.ASSERT):
        marks = [use.op for use in function.users[assertion[1]] if function.ops[use.op][0] == op.IF]
        beside = any(function.flow.blocks[mark] == function.flow.blocks[call] for mark in marks)
        if at > call and beside and any(_is_part(function, v, call, parts) for v in _empty(function, assertion[1])):
            return True
    return False


def _is_part(function: Function, value: int, call: int, parts: Collection[str]) -> bool:
    value = function.meant(value)
    operation = function.ops[value]
    if operation[0] == op.ATTR:
        name = function.code.strings[operation[2]]
    elif operation[0] == op.PART:
        name = f"[{operation[2]}]"
    else:
        return False
    return name in parts and function.meant(operation[1]) == call


def _empty(function: Function, test: int) -> Iterator[int]:
    """The values that are empty if a test holds: `not missing`, `missing == []`, `len(missing) == 0`."""
    operation, strings = function.ops[test], function.code.strings
    if operation[0] == op.CHOICE and strings[operation[1]] == "and":
        for part in operation[2:]:
            yield from _empty(function, part)
    elif operation[0] == op.UNARY and strings[operation[1]] == "not":
        yield operation[2]
    elif operation[0] == op.COMPARE and strings[operation[2]] == "==":
        asked, other = function.ops[operation[1]], function.ops[operation[3]]
        if asked[0] == op.CALL and asked[2] == 1 and function.is_builtin(asked[1], "len"):
            if function.constant(operation[3]) == 0:
                yield asked[3]
        elif other in ((op.LIST,), (op.TUPLE,)):
            yield operation[1]
