"""By which programs, threads or rounds a place in a kernel is come to, and whether several of them add to one place there.

Who runs a kernel is known in three ways: by the grids of its launches, by the threads that it asks for, or by its outermost loop, whose
rounds run at the same time. A function that kernels call is run by whoever comes to these calls.

What it may assume: what is stored at a place by plain assignment, by each round its own, belongs to that round alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from detlint.catalog import Entry
from detlint.ir import ops as op
from detlint.ir.code import Function
from detlint.model.kernels.digits import Axes
from detlint.model.kernels.python import DEEPEST, Kernels, Launch
from detlint.model.kernels.writers import Writers
from detlint.model.meaning import Meaning

SIGNS: Final = frozenset({"+", "-"})
"""What adds up."""
_LOOPS: Final = frozenset({op.FOR, op.WHILE})


class Way(NamedTuple):
    """How a place in a function is come to."""

    meaning: Meaning
    function: Function
    writers: Writers
    running: Axes
    """The programs, threads or rounds that come there."""
    is_known: bool = True
    """Whether they are known, and not only taken to be several."""
    rounds: int = -1
    """The loop whose rounds they are; -1 for none."""
    caller: tuple[Way, Launch] | None = None
    """Of a function that a kernel calls: how the call is come to."""


class Ways:
    """Knows who comes to the places of a program's kernels."""

    def __init__(self, kernels: Kernels) -> None:
        self._kernels, self._terms = kernels, kernels.terms

    def of(self, meaning: Meaning, function: Function, at: int, depth: int = 0) -> Iterator[Way]:
        """The ways to an op of a kernel; none where it is one round, or thread, that comes there."""
        values = self._kernels.numbers(meaning)
        if self.is_a("loop_kernels", meaning, function):
            mark = self._round(meaning, function, at)
            writers = Writers(values, threads=False, rounds=mark)
            if mark >= 0:
                yield Way(
                    meaning, function, writers, writers.running(function, at, writers.rounds(function)), rounds=mark
                )
            return
        calls = [*self._calls(meaning, function)] if depth < DEEPEST else []
        for launch in calls:
            for way in self.of(launch.meaning, launch.function, launch.call, depth + 1):
                writers = Writers(values, threads=False, handed=self._handed(way, launch, function))
                own = writers.asked(function)
                all_known = own | way.running if way.is_known else own or way.running
                running = writers.running(function, at, all_known)
                yield Way(meaning, function, writers, running, bool(own) or way.is_known, caller=(way, launch))
        if not calls and not self.is_a("loop_functions", meaning, function):
            yield from self._launched(meaning, function, at)

    def _launched(self, meaning: Meaning, function: Function, at: int) -> Iterator[Way]:
        """The ways by launches, or of as many as a kernel itself asks for."""
        values = self._kernels.numbers(meaning)
        asked = (values.named(function, n) for n, _ in function.each(op.ATTR, op.LOAD))
        threads = any(self._terms.has("grids", name) or self._terms.has("threads", name) for name in asked)
        launches = self._kernels.launches(meaning, function)
        zero = self._kernels.zero(launches, function)
        writers = Writers(values, threads=threads, zero=zero)
        grids = [self._kernels.grid(launch) for launch in launches if launch.grid >= 0] if not threads else []
        known = [grid for grid in grids if grid is not None]
        for grid in known if known and len(known) == len(grids) else (None,):
            known_of = grid is not None or bool(writers.asked(function))
            yield Way(meaning, function, writers, writers.running(function, at, grid), known_of)

    def _calls(self, meaning: Meaning, function: Function) -> Iterator[Launch]:
        """The calls of a function in kernels, or in others that kernels call."""
        for launch in self._kernels.launches(meaning, function):
            around = launch.function
            plain = launch.grid < 0 and launch.results < 0 and around.number != function.number
            if plain and any(self.is_a(key, launch.meaning, around) for key in ("kernels", "functions")):
                yield launch

    def _handed(self, way: Way, launch: Launch, function: Function) -> Mapping[int, Axes]:
        """What the arguments of a call keep apart, by the parameters that they are for."""
        numbers = range(len(function.header.parameters))
        given = {number: self._kernels.handed(launch, function, number) for number in numbers}
        return {n: way.writers.axes(way.function, value) for n, value in given.items() if value >= 0}

    def is_a(self, key: str, meaning: Meaning, function: Function) -> bool:
        """Whether a function is made something of a language for kernels by its decorators."""
        around = function.parent
        if around is None:
            return False
        named = (around.ops[value][1] if around.ops[value][0] == op.CALL else value for value in function.decorators)
        return any(self._terms.has(key, meaning.name(around, value)) for value in named)

    # -- rounds -----------------------------------------------------------------------------------------------------

    def _round(self, meaning: Meaning, function: Function, at: int) -> int:
        """The loop around an op whose rounds run at the same time: the outermost one; -1 for none."""
        found = -1
        for mark in function.blocks(at):
            operation = function.ops[mark]
            static = self._is_static(meaning, function, operation)
            if operation[0] in _LOOPS and not static:
                found = mark if operation[0] == op.FOR else -1
            elif found >= 0 and not static and operation[0] in (op.IF, op.ELSE):
                return -1  # a loop in a test is serial
        return found if found >= 0 and not self._is_serial(meaning, function, found) else -1

    def _is_static(self, meaning: Meaning, function: Function, operation: Sequence[int]) -> bool:
        """Whether a loop, or a test, is done when a kernel is compiled: `for d in ti.static(range(3))`."""
        asked = function.ops[operation[1]] if operation[0] in (op.FOR, op.IF) else (op.END,)
        if operation[0] == op.ELSE:
            return True
        return asked[0] == op.CALL and self._terms.has("statics", meaning.name(function, asked[1]))

    def _is_serial(self, meaning: Meaning, function: Function, mark: int) -> bool:
        """Whether a loop has one round, or is told to be serial by what is called right before it."""
        asked = function.ops[mark][1]
        steps = function.call(asked).positional if function.ops[asked][0] == op.CALL else ()
        if len(steps) == 1 and function.constant(function.meant(steps[0])) == 1:
            return True
        before = (n for n, part in function.each(op.FOR, op.WHILE) if n < mark and function.parts[n][-1] < mark)
        begin = max((function.parts[n][-1] for n in before), default=-1)
        for call, name in meaning.calls(function):
            if begin < call < mark and self._terms.has("loop_settings", name):
                given = function.call(call).named
                told = [function.constant(given[word]) for word in ("serialize", "parallelize") if word in given]
                if any(constant is True or constant == 1 for constant in told):
                    return True
        return False

    # -- who adds ---------------------------------------------------------------------------------------------------

    def is_alone(self, meaning: Meaning, function: Function, at: int, place: Sequence[int]) -> bool:
        """Whether each place that a kernel adds to has one program, thread or round, that does."""
        ways = self.of(meaning, function, at)
        return all(way.writers.is_alone(function, at, place, way.running) for way in ways)

    def is_met(self, meaning: Meaning, function: Function, call: int, name: str, entry: Entry) -> bool:
        """Whether what a call adds to is an array to which another such call adds, in places that several add to, or in the next."""
        adding, ways = self._kernels.adding(function, call, name, entry), [*self.of(meaning, function, call)]
        calls = [other for other, named in meaning.calls(function) if ways and named == name and other != call]
        places = {at: place for at in calls if (place := self._kernels.adding(function, at, name, entry).place)}
        same = [at for at in places if ways[0].writers.is_same_array(function, adding.place[0], places[at][0])]
        beside = (way.writers.is_beside(function, call, adding.place, places[at]) for at in same for way in ways)
        return any(beside) or any(not self.is_alone(meaning, function, at, places[at]) for at in same)

    def rests_on(self, way: Way, values: Sequence[int]) -> Axes:
        """The numbers of programs, threads and rounds on a way of which values are made."""
        function, found = way.function, set[str]()
        for at in dict.fromkeys(n for value in values for n in function.made_of(value)):
            given = function.given(at)
            if way.writers.tells(function, at) or function.ops[at][0] == op.PART:
                found |= way.writers.axes(function, at)
            elif way.caller is not None and given is not None and given[0] is function:
                around, launch = way.caller
                handed = self._kernels.handed(launch, function, given[1])
                found |= self.rests_on(around, [handed] if handed >= 0 else [])
        return frozenset(found)

    def is_shared(self, way: Way, root: int) -> bool:
        """Whether something is one for all who come on a way: an array, or a field, no variable of each one's own."""
        function = way.function
        operation = function.ops[root]
        if operation[0] == op.ATTR:
            return self.is_shared(way, function.chain(root).root)
        if operation[0] == op.CALL:
            static = self._terms.has("statics", way.meaning.name(function, operation[1]))
            return static and any(self.is_shared(way, value) for value in function.call(root).positional)
        if operation[0] == op.PART:
            return self.is_shared(way, operation[1])
        if operation[0] != op.LOAD:
            return False
        if function.binding(operation[1]).owner != function.number:
            return True
        given = function.given(root)
        if given is not None:
            handed = self._kernels.handed(way.caller[1], function, given[1]) if way.caller is not None else -1
            return self.is_shared(way.caller[0], handed) if way.caller is not None and handed >= 0 else True
        stored = function.stored(root) or []
        named = len(stored) == 1 and function.ops[stored[0]][0] in (op.ATTR, op.LOAD, op.PART, op.CALL)
        return (named and self.is_shared(way, stored[0])) or (bool(stored) and max(stored) < way.rounds)
