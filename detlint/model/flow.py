"""Which definitions of a name are lost where more is known than the flow of one function tells."""

from __future__ import annotations

from collections.abc import Callable
from itertools import takewhile

from detlint.ir import ops as op
from detlint.ir.code import Function
from detlint.ir.places import Test

_ARMS = frozenset({op.IF, op.ELSE})


def is_replaced(function: Function, store: int, load: int, always: Callable[[Test], bool]) -> bool:
    """Whether a name always gets another value between where it is stored and where it is read, by tests that always hold.

    Args:
        always: says whether a test always is as it has to be.
    """
    between = (at for at in function.flow.reaching.get(load, ()) if store < at < load)
    return any(_always_follows(function, store, at, always) for at in between)


def _always_follows(function: Function, first: int, then: int, always: Callable[[Test], bool]) -> bool:
    """Whether an op is always come to behind another one, in the same block or in arms of tests that always hold."""
    around = {-1, *function.blocks(first)}
    inside = [*takewhile(lambda mark: mark not in around, function.blocks(then))]
    if next(iter(function.blocks(first)), -1) != next((mark for mark in function.blocks(then) if mark in around), -1):
        return False
    before = {id(guard) for guard in function.guards(first)}
    tests = [guard for guard in function.guards(then) if id(guard) not in before]
    return all(function.ops[mark][0] in _ARMS for mark in inside) and all(
        always(Test(function, guard.test, guard.holds)) for guard in tests
    )
