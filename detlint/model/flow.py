"""Which definitions of a name are lost where more is known than the flow of one function tells, and under which tests one is used."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import takewhile

from detlint.ir import ops as op
from detlint.ir.code import Function
from detlint.ir.flow import Guard
from detlint.ir.places import Test
from detlint.ir.tests import denied

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


def guards_of_uses(function: Function, at: int) -> Iterator[Guard]:
    """The tests that were passed wherever the name is read that alone keeps a value, and not yet where that is made: the innermost
    first."""
    stored = [use.op for use in function.users[at]]
    if len(stored) != 1 or function.ops[stored[0]][0] != op.STORE or function.ops[stored[0]][1] in function.shared:
        return
    around = [[*function.guards(load)] for load in function.loads.get(stored[0], ())]
    before = {id(guard) for guard in function.guards(at)}
    for guard in around[0] if around else ():
        if id(guard) not in before and all(any(guard is other for other in several) for several in around):
            yield guard


def flags_of_uses(function: Function, at: int) -> Iterator[tuple[str, bool]]:
    """Those of them that are a parameter, by its name, and whether it has to be true."""
    return flags(function, guards_of_uses(function, at))


def flags(function: Function, guards: Iterable[Guard]) -> Iterator[tuple[str, bool]]:
    """The parameters that some tests are, by their names, and whether they have to be true."""
    for guard in guards:
        inner = denied(function, guard.test)
        test, holds = (inner, not guard.holds) if inner >= 0 else (guard.test, guard.holds)
        if function.parameter(test) >= 0:
            yield function.text(function.ops[test][1]), holds
