"""Context managers that keep exceptions from what stands behind their blocks.

What it may assume: an `__exit__` does so where it may give anything but what is written out as false; a generator does so where an
`except` around its `yield` doesn't end with a `raise`.
"""

from __future__ import annotations

from typing import Final

from detlint.ir import ops as op
from detlint.ir.code import Function

EXITS: Final = ("__exit__", "__aexit__")
"""The methods of managers that are handed what their blocks raise."""


def swallows(function: Function) -> bool:
    """Whether a block goes on behind it when it raises, by an `__exit__`, or a generator that is a context manager."""
    if function.name in EXITS:
        given = [operation[1] for at, operation in function.each(op.RETURN) if function.flow.reached[at]]
        return any(function.constant(value) not in (False, None) for value in given if value >= 0)
    return any(_is_caught(function, at) for at, _ in function.each(op.YIELD))


def _is_caught(function: Function, at: int) -> bool:
    """Whether something catches what an op raises, and comes out."""
    ops = function.ops
    for mark in function.blocks(at):
        if ops[mark][0] != op.TRY:
            continue
        parts = function.parts[mark]
        handlers = [number for number, part in enumerate(parts) if ops[part][0] == op.EXCEPT]
        if any(_comes_out(function, parts[number], parts[number + 1]) for number in handlers):
            return True
    return False


def _comes_out(function: Function, first: int, end: int) -> bool:
    """Whether a handler may come to its end, or leave without raising; a name of the exception is deleted at its end."""
    last = next(at for at in range(end - 1, first - 1, -1) if function.ops[at][0] != op.DELETE)
    return function.ops[last][0] != op.RAISE
