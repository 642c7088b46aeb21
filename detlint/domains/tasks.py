"""Which functions of the program run several times at once, as a call hands them to threads, or starts coroutines.

It may assume that a pool which is told to have one worker has one, and that whoever is handed a coroutine goes on with it at each `await`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from detlint.facts.model import Either, Ref, Value
from detlint.ir import ops as op
from detlint.ir.code import Function
from detlint.ir.records import ASYNC
from detlint.model import growth
from detlint.model.growth import Grown
from detlint.model.meaning import Meaning, Meanings

TASKS: Final = "tasks"
"""Entries in this context start tasks."""
_FOR_EACH: Final = frozenset({"imap", "imap_unordered", "map", "map_async", "starmap", "starmap_async", "thread_map"})
"""What starts one for each of some items; others start one in each turn of a loop."""
_ROUNDS: Final = frozenset({op.COMPREHEND, op.FOR, op.WHILE})


def started(meanings: Meanings, meaning: Meaning, function: Function, call: int) -> Iterator[tuple[Meaning, Function]]:
    """The functions that a call runs several times at once, perhaps."""
    if _has_one_worker(function, call):
        return
    for value in function.call(call).values():
        for part in range(function.first(value), value + 1):
            coroutine = function.ops[part][0] == op.CALL
            handed = part if part == value and not coroutine else function.ops[part][1] if coroutine else -1
            if handed >= 0 and (function.called(call) in _FOR_EACH or _in_turns(function, part)):
                yield from _functions(meanings, meaning.value(function, handed), coroutine)


def _in_turns(function: Function, at: int) -> bool:
    return any(function.ops[mark][0] in _ROUNDS for mark in function.blocks(at))


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
    return (
        made >= 0
        and function.ops[made][0] == op.CALL
        and any(function.constant(given) == 1 for given in function.call(made).values())
    )


def gathered(function: Function) -> list[Grown]:
    """What the tasks that run a function put into things that others have, too, as they come to it. What a coroutine does before it
    waits for anything comes in the order in which it was begun."""
    grown = [part for part in growth.gathered(function, growth.WHOLE) if part.what != "yield"]
    if not function.header.kind & ASYNC:
        return grown
    first = next((at for at, _ in function.each(op.AWAIT)), len(function.ops))
    return [part for part in grown if part.value > first or part.item > first]
