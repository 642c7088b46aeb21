"""What a function does with the items that it takes one by one, in turns of a loop or in each of its calls: what comes in their order then.

It assumes that what a function has put somewhere before it waits for one item is the question to which that is the answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from detlint.domains.order import queues
from detlint.domains.order.calls import Asked
from detlint.domains.order.tasks import Starts
from detlint.ir import ops as op
from detlint.ir.code import UNKNOWN, Function
from detlint.model import growth
from detlint.model.growth import Grown
from detlint.model.meaning import Meaning
from detlint.model.training import TRAINS

_YIELDS: Final = frozenset({op.YIELD, op.YIELD_FROM})


def gathered(function: Function, item: int, loop: int) -> Iterator[Grown]:
    """What a loop puts somewhere of an item that it takes in each turn, but where what it takes says the place."""
    for part in growth.gathered(function, loop):
        if part.what in ("file", "numbers"):
            if any(
                item in function.made_of(value) for at in _takers(function, part.value) for value in function.values(at)
            ):
                yield part
        elif part.item >= 0 and item in function.made_of(part.item) and not _says_place(function, item, part.value):
            yield part
    for at in growth.ops_of(function, loop):
        code, *operands = function.ops[at]
        if code in _YIELDS and item in function.made_of(operands[0]) and not _is_awaited(function, item, at):
            yield Grown("yield", -1)
        elif code == op.SET_ITEM and function.constant(operands[1]) is UNKNOWN:
            key, value = (item in function.made_of(operand) for operand in operands[1:])
            if value and not key:
                yield Grown("object", operands[0], operands[2])


def _takers(function: Function, value: int) -> Iterator[int]:
    """What uses a value, and the calls of its methods."""
    for use in function.users[value]:
        yield use.op
        yield from (user.op for user in function.users[use.op])


def _says_place(function: Function, item: int, table: int) -> bool:
    """Whether an item says where in a list it is put: `rows.insert(bisect(numbers, number), row)`."""
    inserts = [at for at in _takers(function, table) if function.called(at) == "insert"]
    return any(item in function.made_of(place) for at in inserts for place in function.call(at).positional[:1])


def _is_awaited(function: Function, item: int, at: int) -> bool:
    """Whether an op is only come to by the very item whose turn it is: `if number == wanted`."""
    for guard in function.guards(at):
        test = function.ops[guard.test]
        if test[0] == op.COMPARE and guard.holds and function.strings[test[2]] == "==":
            sides = test[1], test[3]
            if sum(_is_part(function, item, side) for side in sides) == 1 and not any(
                function.constant(side) is not UNKNOWN for side in sides
            ):
                return True
    return False


def _is_part(function: Function, item: int, value: int) -> bool:
    """Whether a value is an item, or a part of it."""
    waiting = [value]
    for at in waiting:  # grows meanwhile
        if at == item:
            return True
        code, *operands = function.ops[at]
        if code in (op.ATTR, op.ITEM, op.PART):
            waiting.append(operands[0])
        elif code == op.LOAD:
            waiting += {*(function.stored(at) or ())} - {*waiting}
    return False


def is_given_back(function: Function, item: int) -> bool:
    """Whether a function gives an item back, or what is computed of it."""
    given = ((at, operation[1]) for at, operation in function.each(op.RETURN) if operation[1] >= 0)
    return any(item in function.made_of(value) and not _is_awaited(function, item, at) for at, value in given)


def asks_first(function: Function, item: int) -> bool:
    """Whether something is put somewhere before an item is taken."""
    return any(at < item and function.called(at) in queues.PUTS for at, _ in function.each(op.CALL))


def trains(asked: Asked, meaning: Meaning, function: Function, item: int, loop: int) -> bool:
    """Whether a loop trains with what it takes in each turn, itself or by functions of the program."""
    starts, body = Starts(asked.resolver, asked.meanings), growth.ops_of(function, loop)
    for call in (at for at in body if function.ops[at][0] == op.CALL):
        if any(item in function.made_of(value) for value in function.values(call)):
            if _is_training(asked, starts, meaning, function, call):
                return True
            for task in starts.reached([*starts.called(meaning, function, call)]):
                calls = (at for at, _ in task.function.each(op.CALL))
                if any(_is_training(asked, starts, task.meaning, task.function, at) for at in calls):
                    return True
    return False


def _is_training(asked: Asked, starts: Starts, meaning: Meaning, function: Function, call: int) -> bool:
    """Whether a call trains, by its full name, or as a method of something that isn't known: `loss.backward()`."""
    name, catalog = starts.name(meaning, function, call), asked.resolver.catalog
    if name or function.called_on(call) < 0:
        return name in catalog.with_context(TRAINS)
    # Without an argument, `model.train()` chooses a mode.
    word, given = function.called(call), function.call(call).values()
    return word in catalog.words_with(TRAINS) and bool(given or word == "backward")
