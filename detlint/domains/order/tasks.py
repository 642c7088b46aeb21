"""Which functions of the program run several times at once, as a call hands them to threads or processes, or starts coroutines.

It may assume that a pool which is told to have one worker has one, and that whoever is handed a coroutine goes on with it at each `await`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from detlint.ir import ops as op
from detlint.ir.code import Function
from detlint.ir.records import ASYNC
from detlint.model import growth
from detlint.model.growth import Grown
from detlint.model.meaning import Meaning, Meanings
from detlint.model.resolve import Resolver
from detlint.model.sites.records import Either, Ref, Value

TASKS: Final = "tasks"
"""Entries in this context start tasks."""
STARTS: Final = "starts-tasks"
"""What the catalog says of all that starts some, also in other processes."""
_UNPACK: Final = frozenset({"starmap", "starmap_async"})
"""What takes each item apart for its task."""
_FOR_EACH: Final = _UNPACK | {
    "imap", "imap_unordered", "map", "map_async", "process_map", "spawn", "start_processes", "thread_map",
}  # fmt: skip
"""What starts one for each of some items; others start one in each turn of a loop."""
ROUNDS: Final = frozenset({op.COMPREHEND, op.FOR, op.WHILE})
_PLAIN: Final = frozenset({"map", "spawn"})
"""Methods whose names don't say that they start tasks, as long as it isn't known of what they are."""
_MOST: Final = 200
"""So many functions are looked through that a task may come to."""


def started(meanings: Meanings, meaning: Meaning, function: Function, call: int) -> Iterator[tuple[Meaning, Function]]:
    """The functions that a call runs several times at once, perhaps."""
    if _has_one_worker(function, call):
        return
    for value in function.call(call).values():
        for part in range(function.first(value), value + 1):
            coroutine = function.ops[part][0] == op.CALL
            handed = part if part == value and not coroutine else function.ops[part][1] if coroutine else -1
            if handed >= 0 and (function.called(call) in _FOR_EACH or rounds(function, part)):
                yield from _functions(meanings, meaning.value(function, handed), coroutine)


def rounds(function: Function, at: int) -> set[int]:
    """The loops and comprehensions around an op."""
    return {mark for mark in function.blocks(at) if function.ops[mark][0] in ROUNDS}


def _functions(meanings: Meanings, value: Value | None, coroutine: bool) -> Iterator[tuple[Meaning, Function]]:
    """The functions of the program that a value may be; those that make coroutines, or the others."""
    for one in value.options if isinstance(value, Either) else (value,):
        found = meanings.definition(one.name) if isinstance(one, Ref) else None
        if found is not None and not found[1].is_class and bool(found[1].header.kind & ASYNC) is coroutine:
            yield found


def _has_one_worker(function: Function, call: int) -> bool:
    """Whether what starts tasks is told to have one thread: `ThreadPoolExecutor(1).submit(work)`."""
    base = function.called_on(call)
    made = function.meant(base) if base >= 0 else -1
    while made >= 0 and function.ops[made][0] == op.WITH:
        made = function.ops[made][1]
    return made >= 0 and function.ops[made][0] == op.CALL and _says_one(function, made)


def _says_one(function: Function, call: int) -> bool:
    """Whether a call is handed the number 1."""
    given = map(function.constant, function.call(call).values())
    return any(value == 1 and value is not True for value in given)


def gathered(function: Function) -> list[Grown]:
    """What the tasks that run a function put into things that others have, too, as they come to it. What a coroutine does before it
    waits for anything comes in the order in which it was begun."""
    grown = [part for part in growth.gathered(function, growth.WHOLE) if part.what != "yield"]
    if not function.header.kind & ASYNC:
        return grown
    first = next((at for at, _ in function.each(op.AWAIT)), len(function.ops))
    return [part for part in grown if part.value > first or part.item > first]


class Task(NamedTuple):
    """A function of the program that is called, or handed to what calls it."""

    meaning: Meaning
    function: Function
    bound: int = 0
    """How many of its parameters it has by then."""


class Handing(NamedTuple):
    """How a call hands functions to a library."""

    tasks: Sequence[Task] = ()
    position: int = -1
    """The position of the first of them; -1 where it goes by its name."""
    first: int = 0
    """How many parameters the library gives by itself."""
    plainly: bool = False
    """Whether what is handed over besides comes to the task as it is: `submit(work, path, queue)`."""
    unpacks: bool = False
    """Whether there is a task for each item, which is taken apart for it."""


class Start(NamedTuple):
    """A call that starts tasks."""

    meaning: Meaning
    function: Function
    at: int
    tasks: Sequence[Task]
    each: bool
    """Whether it starts one for each of some items."""
    reached: Sequence[Task]
    """The functions that they may come to."""
    own: Function | None = None
    """The class whose object the task is."""

    def runs(self, meaning: Meaning, function: Function) -> bool:
        """Whether a task may come to a function."""
        return any((task.meaning, task.function) == (meaning, function) for task in self.reached)

    def is_waited_for(self, end: int = -1) -> bool:
        """Whether its task is waited for in the same turn of a loop, `worker.join()`, or before an op."""
        function = self.function
        loop = next((mark for mark in function.blocks(self.at) if function.ops[mark][0] in ROUNDS), -1)
        joins = (
            at for at, _ in function.each(op.CALL) if function.called(at) == "join" and function.called_on(at) >= 0
        )
        near = (at for at in joins if (at < end if end >= 0 else loop in function.blocks(at)))
        return any(self.at in function.made_of(function.called_on(at)) for at in near)


class Starts:
    """Finds what starts tasks, in whatever process."""

    def __init__(self, resolver: Resolver, meanings: Meanings) -> None:
        self._resolver = resolver
        self._meanings = meanings
        self._names = resolver.catalog.with_context(STARTS)
        self._words = resolver.catalog.words_with(STARTS) - _PLAIN

    def name(self, meaning: Meaning, function: Function, call: int) -> str:
        """The full name of what is called, also of what a `with` block has entered; "" where it has none."""
        found, base = meaning.name(function, function.ops[call][1]), function.called_on(call)
        entered = function.meant(base) if base >= 0 and not found else -1
        if entered >= 0 and function.ops[entered][0] == op.WITH:
            kind = meaning.kind(function, function.ops[entered][1])
            found = f"{kind}.{function.called(call)}" if kind else ""
        return self._resolver.catalog.canonical(found)

    def of(self, meaning: Meaning) -> Iterator[Start]:
        """All that a file starts."""
        for function in meaning.code.functions():
            for call, _ in function.each(op.CALL):
                found = self._start(meaning, function, call)
                if found is not None:
                    yield found

    def _start(self, meaning: Meaning, function: Function, call: int) -> Start | None:
        name, word = self.name(meaning, function, call), function.called(call)
        if "::" in name:
            return self._of_class(meaning, function, call, name)
        known = name in self._names or (not name and function.called_on(call) >= 0 and word in self._words)
        tasks = self.handing(meaning, function, call).tasks if known and not _has_one_worker(function, call) else ()
        each = word in _FOR_EACH and not _says_one(function, call)
        return Start(meaning, function, call, tasks, each, self.reached(tasks)) if tasks else None

    def makes_task(self, meaning: Meaning, function: Function, call: int) -> bool:
        """Whether a call makes an object that is a task: `class Worker(Process)`."""
        bases = self._resolver.classes.mro(self.name(meaning, function, call))
        return not self._names.isdisjoint(map(self._resolver.catalog.canonical, bases[1:]))

    def _of_class(self, meaning: Meaning, function: Function, call: int, name: str) -> Start | None:
        """The start of the task that an object is."""
        if not self.makes_task(meaning, function, call):
            return None
        run, made = self._resolver.classes.attribute(name, "run"), self._meanings.definition(name)
        found = self._meanings.definition(run.name) if isinstance(run, Ref) else None
        tasks = [Task(*found, 1)] if found is not None else []
        own = made[1] if made is not None else None
        return Start(meaning, function, call, tasks, False, self.reached(tasks), own) if tasks else None

    def reached(self, tasks: Sequence[Task]) -> list[Task]:
        """The functions that some come to by their calls, with themselves."""
        waiting = [*tasks]
        found = {(task.meaning.path, task.function.number) for task in waiting}
        for task in waiting:  # grows meanwhile
            for call, _ in task.function.each(op.CALL) if len(waiting) < _MOST else ():
                for called in self.called(task.meaning, task.function, call):
                    key = called.meaning.path, called.function.number
                    if key not in found:
                        found.add(key)
                        waiting.append(called)
        return waiting

    def calling(self, start: Start) -> Iterator[tuple[Function, int]]:
        """The calls, in the same file, of the function that a start stands in."""
        for function in start.meaning.code.functions():
            for call, _ in function.each(op.CALL) if start.function.number else ():
                if any(task.function is start.function for task in self.called(start.meaning, function, call)):
                    yield function, call

    def called(self, meaning: Meaning, function: Function, call: int) -> Iterator[Task]:
        """The functions of the program that a call calls, of a class its constructor."""
        callee = function.ops[call][1]
        yield from self._tasks(meaning, function, callee)
        for name in meaning.names(function, callee):
            made = self._resolver.classes.attribute(name, "__init__") if "::" in name else None
            found = self._meanings.definition(made.name) if isinstance(made, Ref) else None
            if found is not None:
                yield Task(*found, 1)

    def handing(self, meaning: Meaning, function: Function, call: int) -> Handing:
        """How a call hands functions over, or one that is told by its keyword."""
        name, given = self.name(meaning, function, call), function.call(call)
        if "::" in name:
            return Handing()
        found = [task for value in given.values() for task in self._tasks(meaning, function, value)]
        positions = (at for at, value in enumerate(given.positional) if any(self._tasks(meaning, function, value)))
        catalog, word = self._resolver.catalog, function.called(call)
        told = (catalog.entries[index].hands for index in catalog.calls.get(name, ()))
        hands = next((one for one in told if one is not None), None)
        plainly = word == "submit" or (hands is not None and hands.arguments.startswith("*"))
        first = int(hands is not None and hands.first != "")
        return Handing(found, next(positions, -1), first, plainly, word in _UNPACK)

    def _tasks(self, meaning: Meaning, function: Function, value: int) -> Iterator[Task]:
        """The functions of the program that a value is, or calls with some of their parameters: `partial(work, queue)`."""
        value = function.meant(value)
        operation = function.ops[value]
        if operation[0] == op.CALL and meaning.name(function, operation[1]) == "functools.partial":
            given = function.call(value).positional
            for task in self._tasks(meaning, function, given[0]) if given else ():
                yield task._replace(bound=task.bound + len(given) - 1)
            return
        for name in meaning.names(function, value):
            found = self._meanings.definition(name)
            if found is not None and not found[1].is_class:
                by_object = operation[0] == op.ATTR and not meaning.is_class(function, operation[1])
                yield Task(*found, int(found[1].receives == "class" or (found[1].receives != "" and by_object)))
