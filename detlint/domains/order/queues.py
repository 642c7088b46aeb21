"""Into which queues several tasks put, so that what is taken from them comes in whichever order those get there.

A queue is followed from where it is made, through names, attributes, tuples and lists, and functions of the program that are handed it, by
a call or by what starts them. It may assume that an attribute of an object is the same queue in all methods of its class, and that
a task which only puts constants says that it has come so far.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from detlint.domains.order.calls import Asked
from detlint.domains.order.tasks import Handing, Start, Starts, Task, rounds
from detlint.ir import ops as op
from detlint.ir.code import UNKNOWN, Binding, Function
from detlint.ir.uses import Op, Use
from detlint.model.meaning import Meaning
from detlint.model.module import Module

TAKEN: Final = "taken"
"""Entries in this context take from queues."""
MADE: Final = "queue"
"""Entries in this context make them."""
PUTS: Final = frozenset({"put", "put_nowait"})
_GETS: Final = frozenset({"get", "get_nowait"})
_EACH: Final = -1
"""Stands for each item of something that is gone through."""
_SAME: Final = frozenset({op.CHOICE, op.WITH})
_COPIES: Final = frozenset({"builtins.list", "builtins.tuple"})
_MOST: Final = 400
"""At so many places a queue is looked for."""
_MOST_USERS: Final = 24
"""So many definitions that come to who takes from a queue are asked for who uses them."""

Path = tuple[int | str, ...]


class Held(NamedTuple):
    """A value that is a queue, or holds it."""

    meaning: Meaning
    function: Function
    at: int
    inside: Path = ()
    """Where in the value: behind which index, or key, and behind which of that again."""
    by: tuple[Meaning, Function] | None = None
    """The function that has it by a name that others have, too, or has made it, and hands it to this one."""
    through: tuple[Function, int] | None = None
    """The call that starts tasks with it."""


class Filled(NamedTuple):
    """That several tasks put into a queue."""

    made: Held
    put: Held
    start: Start
    places: Sequence[Held]
    """Where the queue is."""

    def has(self, meaning: Meaning, function: Function, value: int) -> bool:
        """Whether a value is that queue."""
        return any(place[:4] == (meaning, function, value, ()) for place in self.places)


def filled(asked: Asked, module: Module, function: Function, call: int) -> Filled | None:
    """Who puts into the queue from which a call takes; None unless several tasks do, and the call is in none of them."""
    meaning, queues, queue = asked.meanings.of(module), Queues(asked), taken_from(function, call)
    for made in queues.made_around(module, function) if meaning is not None and queue >= 0 else ():
        places = [*queues.places(made)]
        taken = next((at for at in places if at[:4] == (meaning, function, queue, ())), None)
        if taken is not None and (found := queues.filled(made, places, taken)) is not None:
            return found
    return None


def is_one(asked: Asked, meaning: Meaning, function: Function, value: int) -> bool:
    """Whether a value is a queue, of which it is asked where it is taken from."""
    queues = Queues(asked)
    made = queues.made_around(meaning.module, function)
    return any(at[:4] == (meaning, function, value, ()) for one in made for at in queues.places(one))


def taken_from(function: Function, call: int) -> int:
    """The queue from which a call takes: `queue.get()`, or `iter(queue.get, None)`; -1 for none."""
    given = function.call(call).positional
    method = function.ops[given[0] if gives_all(function, call) and len(given) > 1 else function.ops[call][1]]
    return method[1] if method[0] == op.ATTR and function.strings[method[2]] in _GETS else -1


def gives_all(function: Function, call: int) -> bool:
    """Whether a call gives the items one after the other: `iter(queue.get, None)`."""
    return function.called_on(call) < 0


class Queues:
    """Follows queues through the program."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self._makes = asked.resolver.catalog.with_context(MADE)
        self._words = asked.resolver.catalog.words_with(MADE)
        self._starts = Starts(asked.resolver, asked.meanings)

    def made_around(self, module: Module, function: Function) -> Iterator[Held]:
        """The queues that a file makes, or one that comes to the definition in which a function stands."""
        for other in self._files(module, function):
            meaning = self._asked.meanings.of(other)
            if meaning is None or self._words.isdisjoint(meaning.code.identifiers):
                continue
            for around in meaning.code.functions():
                for at, _ in around.each(op.CALL):
                    if self._starts.name(meaning, around, at) in self._makes:
                        yield Held(meaning, around, at, (), (meaning, around))

    def _files(self, module: Module, function: Function) -> Iterator[Module]:
        """A file, those that use a definition of it, those that use what stands around that, and so on."""
        waiting, files = [(module, function.outermost.name if function.number else "")], {module.path}
        yield module
        for there, name in waiting:  # grows meanwhile
            for use in self._asked.callers(there, name) or () if name and len(waiting) < _MOST_USERS else ():
                if use.module.path not in files:
                    files.add(use.module.path)
                    yield use.module
                if (use.module, use.around) not in waiting:
                    waiting.append((use.module, use.around))

    def filled(self, made: Held, places: list[Held], taken: Held) -> Filled | None:
        """The same of a queue that is at some places."""
        puts = [put for place in places for put in _puts(place)]
        files = {place.meaning.path: place.meaning for place in (made, *places)} if puts else {}
        starts = (start for meaning in files.values() for start in self._starts.of(meaning))
        shared = [start for start in starts if not start.runs(made.meaning, made.function) and not _is_own(start, made)]
        putting = [Filled(made, put, start, places) for start in shared for put in puts if _is_with(start, put)]
        several = [found for found in putting if self._are_several(found.start, made, taken)]
        if any(found.start.runs(taken.meaning, taken.function) for found in several):
            return None
        return several[0] if several else _of_two(putting, taken)

    def _are_several(self, start: Start, made: Held, taken: Held) -> bool:
        """Whether a start is come to several times for one queue, before anything is waited for that its tasks do."""
        if start.each:
            return True
        turns = rounds(start.function, start.at)
        if not turns and made.function.method is None:
            calls = self._starts.calling(start)
            return any(rounds(by, at) - _rounds_in(by, made) - _rounds_in(by, taken) for by, at in calls)
        turns -= _rounds_in(start.function, made) | _rounds_in(start.function, taken)
        return bool(turns) and not start.is_waited_for()

    # -- where it comes to ---------------------------------------------------------------------------------------------

    def places(self, made: Held) -> Iterator[Held]:
        """All values that are a queue, or hold it."""
        found = {made: None}
        waiting = [made]
        for held in waiting:  # grows meanwhile
            yield held
            for use in held.function.users[held.at] if len(waiting) < _MOST else ():
                new = [place for place in self._used(held, use) if place not in found]
                found.update(dict.fromkeys(new))
                waiting += new

    def _used(self, held: Held, use: Use) -> Iterator[Held]:
        """What holds it by one use."""
        function, operation, path = held.function, held.function.ops[use.op], held.inside
        code = operation[0]
        if code == op.STORE:
            yield from _reads(held, function.binding(operation[1]))
        elif code == op.SET_ATTR and use.place == 3:
            yield from _of_object(held, use.op)
        elif code == op.TUPLE:
            yield held._replace(at=use.op, inside=(use.place - 1, *path))
        elif code == op.LIST:
            yield from (held._replace(at=use.op, inside=(key, *path)) for key in (use.place - 1, _EACH))
        elif code == op.DICT and isinstance(key := _key(function, operation, use.place), str):
            yield held._replace(at=use.op, inside=(key, *path))
        elif code == op.GIVE and use.place == 1:
            yield held._replace(at=function.collected(use.op), inside=(_EACH, *path))
        elif code in _SAME or (code == op.BINARY and path[:1] == (_EACH,)):
            yield held._replace(at=use.op)
        elif code == op.CALL and use.place > 1:
            yield from self._handed(held, use.op)
        elif path and _takes_out(function, operation, path[0], use.place):
            yield held._replace(at=use.op, inside=path[1:])

    def _handed(self, held: Held, call: int) -> Iterator[Held]:
        """What holds it that a call is handed it."""
        meaning, function, path = held.meaning, held.function, held.inside
        name, where = self._starts.name(meaning, function, call), _argument(function, call, held.at)
        if name == "itertools.repeat":
            yield held._replace(at=call, inside=(_EACH, *path))
        elif name == "builtins.zip" and path[:1] == (_EACH,):
            yield held._replace(at=call, inside=(_EACH, where, *path[1:]))
        elif name in _COPIES:
            yield held._replace(at=call)
        there = held._replace(through=(function, call)) if self._starts.makes_task(meaning, function, call) else held
        for task in self._starts.called(meaning, function, call):
            yield from _as_parameter(there, task, where, path)
        handing = self._starts.handing(meaning, function, call)
        for task in handing.tasks:
            there = held._replace(through=(function, call))
            yield from _as_parameter(there, task, *_in_task(handing, where, path))


def _rounds_in(function: Function, held: Held) -> set[int]:
    """The loops around a value, if it stands in a function."""
    return rounds(function, held.at) if held.function is function else set()


def _is_with(start: Start, put: Held) -> bool:
    """Whether the tasks of a start put something there: they are handed the queue, or have it by its name."""
    if put.through is not None:
        return put.through == (start.function, start.at)
    return put.by is not None and start.runs(*put.by)


def _is_own(start: Start, made: Held) -> bool:
    """Whether a task makes a queue of its own: as the object that it is."""
    method = made.function.method
    return start.own is not None and method is not None and method.parent is start.own


def _puts(place: Held) -> Iterator[Held]:
    """The calls that put an item into a queue where it is read, and no sign that is the same each time, nor what tells of an error."""
    function = place.function
    for use in function.users[place.at] if not place.inside else ():
        operation = function.ops[use.op]
        calls = function.users[use.op] if operation[0] == op.ATTR and function.strings[operation[2]] in PUTS else ()
        for call in (user.op for user in calls if user.place == 1):
            item = function.call(call).argument(0, "item", "obj")
            handles = any(function.ops[mark][0] == op.EXCEPT for mark in function.blocks(call))
            if item >= 0 and function.constant(item) is UNKNOWN and not handles:
                yield place._replace(at=call)


def _of_two(found: list[Filled], taken: Held) -> Filled | None:
    """The first of two starts, of which the way to one comes by the other, before anything is waited for that its tasks do."""
    for one in found:
        for other in found:
            function, here, there = one.start.function, one.start.at, other.start.at
            ways = {*function.blocks(here)}, {*other.start.function.blocks(there)}
            follows = function is other.start.function and here < there and (ways[0] <= ways[1] or ways[1] <= ways[0])
            waits = one.start.is_waited_for(there) or (taken.function is function and here < taken.at < there)
            runs = any(start.runs(taken.meaning, taken.function) for start in (one.start, other.start))
            if follows and not waits and not runs:
                return one
    return None


def _argument(function: Function, call: int, value: int) -> int | str:
    """The parameter as which a call is handed a value, by its name, or its position."""
    given = function.call(call)
    word = next((word for word, handed in given.named.items() if handed == value), "")
    return word or (given.positional.index(value) if value in given.positional else -1)


def _in_task(handing: Handing, where: int | str, path: Path) -> tuple[int | str, Path]:
    """The parameter of a function that is handed over with a value, as which it gets what stands somewhere in that, and where in it."""
    behind = where - handing.position - 1 if isinstance(where, int) else where
    if handing.plainly or not path:
        return behind, path
    if path[0] != _EACH:
        return (path[0] + handing.first if isinstance(path[0], int) else path[0]), path[1:]
    if handing.unpacks and len(path) > 1:
        return path[1], path[2:]
    return (max(behind, 0) if isinstance(behind, int) else 0), path[1:]


def _as_parameter(held: Held, task: Task, where: int | str, path: Path) -> Iterator[Held]:
    """Where a function reads the parameter as which it gets what holds a queue."""
    function, parameters = task.function, task.function.header.parameters
    if isinstance(where, int):
        slot = where + task.bound
    else:
        slot = next((slot for slot in range(len(parameters)) if function.text(slot) == where), -1)
    if 0 <= slot < len(parameters):
        there = held._replace(meaning=task.meaning, function=function, inside=path)
        yield from _reads(there, Binding(function.number, slot))


def _reads(held: Held, binding: Binding) -> Iterator[Held]:
    """Where a variable is read that holds a queue."""
    for function, at in held.meaning.code.reads(binding) if binding.slot >= 0 else ():
        if function is held.function:
            yield held._replace(at=at)
        else:
            there = held._replace(function=function, at=at, by=(held.meaning, function))
            yield there._replace(through=None) if binding.owner == 0 else there


def _of_object(held: Held, at: int) -> Iterator[Held]:
    """Where an attribute is read that holds a queue."""
    function = held.function
    own = function.receiver(function.ops[at][1])
    for other, read in function.code.same_attribute(function, at):
        if other.receiver(other.ops[read][1]) is own if own is not None else other is function:
            yield held._replace(function=other, at=read, by=(held.meaning, other))


def _takes_out(function: Function, operation: Op, first: int | str, place: int) -> bool:
    """Whether an op takes a part out of a value."""
    if operation[0] == op.PART:
        return operation[2] == first and operation[3] > 0
    if operation[0] == op.ITEM:
        return place == 1 and first != _EACH and function.constant(operation[2]) == first
    return operation[0] == op.FOR and first == _EACH


def _key(function: Function, operation: Op, place: int) -> object:
    """The key of what a display of a dictionary has at a place; None for a key itself."""
    return function.constant(operation[place - 1]) if place % 2 == 0 and operation[place - 1] >= 0 else None
