"""How the ops of a function nest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from detlint.ir import ops as op
from detlint.ir.uses import Op

if TYPE_CHECKING:
    from detlint.ir.code import Function

_PATTERNS: Final = frozenset({
    op.MATCHES_VALUE, op.MATCHES_SINGLETON, op.MATCHES_SEQUENCE, op.MATCHES_MAPPING, op.MATCHES_CLASS,
})  # fmt: skip


def parts_of(ops: Sequence[Op]) -> dict[int, list[int]]:
    """The marks that open blocks -> they, those that divide them, and their ends."""
    parts: dict[int, list[int]] = {}
    open_: list[list[int]] = []
    opening, dividing, end = op.OPENING, op.OF_A_BLOCK, op.END
    for at, operation in enumerate(ops):
        code = operation[0]
        if code < op.IF:
            continue
        if code in opening:
            parts[at] = [at]
            open_.append(parts[at])
        elif code == end:
            open_.pop().append(at)
        elif code in dividing and code != op.UNTIL:
            open_[-1].append(at)
    return parts


def is_pattern(function: Function, test: int) -> bool:
    """Whether a test is whether a subject matches a pattern."""
    ops = function.ops
    while ops[test][0] == op.CHOICE:
        test = ops[test][2]
    return ops[test][0] in _PATTERNS


def is_next(function: Function, mark: int, other: int, first: int) -> bool:
    """Whether an `IF` that the `ELSE` of another ends with is all of that: an `elif`, or the next case of a `match`.

    Args:
        other: the `ELSE`.
        first: the other `IF`.
    """
    ops = function.ops
    if is_pattern(function, ops[mark][1]):
        return is_pattern(function, ops[first][1])
    if ops[function.parts[mark][-1] - 1][0] == op.ASSERT:
        return False
    test, around = function.span(mark), function.span(other)
    return around[:2] <= test[:2] and test[2:] <= around[2:]


def nested(ops: Sequence[Op]) -> tuple[dict[int, list[int]], list[int], dict[int, int], dict[int, int]]:
    """The parts of each block: where it opens, is divided, and ends; for each op the mark that began the part around it; ends -> where
    their blocks open; and each `WHILE` -> its `UNTIL`."""
    parts: dict[int, list[int]] = {}
    blocks: list[int] = []
    begins: dict[int, int] = {}
    untils: dict[int, int] = {}
    open_: list[int] = []
    inside: list[int] = [-1]
    for at, operation in enumerate(ops):
        code = operation[0]
        if code in op.OPENING:
            blocks.append(inside[-1])
            parts[at] = [at]
            open_.append(at)
            inside.append(at)
        elif code == op.UNTIL:
            blocks.append(open_[-1])
            untils[open_[-1]] = at
        elif code in op.OF_A_BLOCK:
            blocks.append(blocks[open_[-1]])
            parts[open_[-1]].append(at)
            inside[-1] = at
        elif code == op.END:
            blocks.append(blocks[open_[-1]])
            begins[at] = open_[-1]
            parts[open_.pop()].append(at)
            inside.pop()
        else:
            blocks.append(inside[-1])
    return parts, blocks, begins, untils
