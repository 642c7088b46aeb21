"""Which definitions of a name are lost where more is known than the flow of one function tells, and under which tests one is used."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import takewhile

from detlint.ir import ops as op
from detlint.ir.code import Function
from detlint.ir.flow import Guard
from detlint.ir.places import Test
from detlint.ir.tests import denied
from detlint.ir.uses import Use

_ARMS = frozenset({op.IF, op.ELSE})
_PLAIN = frozenset(range(op.CONST, op.AUGMENT)) - {op.AWAIT, op.YIELD, op.YIELD_FROM} | {op.STORE, op.SET_ATTR}
"""What surely goes on to the next op, if it doesn't raise."""


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


def gets_at_once(function: Function, call: int, names: Collection[str]) -> bool:
    """Whether an object is kept as soon as a call has made it, and the statements behind give it attributes of some names, all of them,
    or the data of these, before anything reads it: `conv = Conv2d(1, 4, 3); conv.weight = filters`."""
    kept = [use.op for use in function.users[call]]
    is_it = _reads_of(function, kept[0]) if len(kept) == 1 else None
    missing = {*names}
    if is_it is None:
        return False
    for at in range(kept[0] + 1, len(function.ops)):
        operation = function.ops[at]
        if operation[0] not in _PLAIN or function.flow.blocks[at] != function.flow.blocks[call]:
            return False
        if operation[0] == op.LOAD and function.dotted(at) == "super":
            return False  # a method of its base may read it
        if is_it(at) or (operation[0] == op.LOAD and function.is_self(at)):
            if not all(_only_sets(function, use, is_it, names) for use in function.users[at]):
                return False
        elif operation[0] == op.SET_ATTR:
            missing.discard(_set_on(function, at, is_it))
            if not missing:
                return True
    return False


def _reads_of(function: Function, kept: int) -> Callable[[int], bool] | None:
    """Says which ops read what is kept under a name of the function alone, or as an attribute of its object; None for any other."""
    code, ops = function.ops[kept][0], function.ops
    if code == op.STORE and ops[kept][1] not in function.shared:
        return lambda at: ops[at][0] == op.LOAD and ops[at][1] == ops[kept][1]
    own = function.own(kept) if code == op.SET_ATTR else ""
    return (lambda at: ops[at][0] == op.ATTR and function.own(at) == own) if own else None


def _only_sets(function: Function, use: Use, is_it: Callable[[int], bool], names: Collection[str]) -> bool:
    """Whether an object, or that to which it belongs, is read to set an attribute of it, or of another part of that."""
    operation = function.ops[use.op]
    if operation[0] == op.SET_ATTR and use.place == 1:
        return True
    if operation[0] != op.ATTR:
        return False
    called = any(function.ops[other.op][0] == op.CALL and other.place == 1 for other in function.users[use.op])
    if not is_it(operation[1]):
        return not called  # another attribute of the object that has it
    return function.strings[operation[2]] in names and all(
        function.ops[other.op][0] == op.SET_ATTR and other.place == 1 for other in function.users[use.op]
    )


def _set_on(function: Function, at: int, is_it: Callable[[int], bool]) -> str:
    """The attribute of an object that is set, or whose data are; "" for any other."""
    _, of, name, _ = function.ops[at]
    if is_it(of):
        return function.strings[name]
    inner = function.ops[of]
    data = function.strings[name] == "data" and inner[0] == op.ATTR and is_it(inner[1])
    return function.strings[inner[2]] if data else ""


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
