"""Sources in C++: which threads come to a place, by the calls of the functions on the way, and what they store where a counter says.

What it may assume: a function that kernels call is only called by those that are seen; one that none is seen to call is come to by all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from detlint.ir import ops as op
from detlint.ir.code import Function
from detlint.model.kernels.digits import Axes
from detlint.model.kernels.writers import Writers

if TYPE_CHECKING:
    from detlint.model.kernels.sources import Source

DEEPEST: Final = 3
"""So many functions are followed to those that call them."""
MOST: Final = 12
"""So many calls of one."""


class SourceWay(NamedTuple):
    """How a place in a function is come to."""

    writers: Writers
    running: Axes
    """The programs and threads that come there."""


class SourceWays:
    """Knows who comes to the places of a source."""

    def __init__(self, source: Source) -> None:
        self._source, self._terms = source, source.terms

    def of(self, function: Function, at: int, depth: int = 0) -> Iterator[SourceWay]:
        """The ways to an op: by the calls of its function, or straight by a launch."""
        calls = [*self._calls(function)] if depth < DEEPEST else []
        for source, around, call in calls:
            for way in source.ways.of(around, call, depth + 1):
                handed = self._handed(way, around, call, function)
                writers = Writers(self._source.values, threads=False, handed=handed)
                yield SourceWay(writers, writers.running(function, at, way.running | writers.asked(function)))
        if not calls:
            writers = Writers(self._source.values, threads=True)
            yield SourceWay(writers, writers.running(function, at))

    def _calls(self, function: Function) -> list[tuple[Source, Function, int]]:
        """The calls of a function that isn't launched itself; none where there are too many."""
        name, around = function.name, function.parent
        kernel = around is None or any(self._terms.has("kernels", around.dotted(n)) for n in function.decorators)
        if kernel or not name or not function.header.parameters:
            return []
        found = [(source, place.function, place.at) for source, place in self._source.calls(name)]
        found = [call for call in found if call[1].name != name and call[1].number]
        return found if len(found) <= MOST else []

    def _handed(self, way: SourceWay, around: Function, call: int, function: Function) -> Mapping[int, Axes]:
        """What the arguments of a call keep apart."""
        given = around.call(call).positional[: len(function.header.parameters)]
        return {number: way.writers.handed(around, value, way.running) for number, value in enumerate(given)}

    def is_alone(self, function: Function, at: int, place: Sequence[int]) -> bool:
        """Whether only one thread adds to a place, also by other additions to the same array."""
        return all(self._is_alone(way, function, at, place) for way in self.of(function, at))

    def _is_alone(self, way: SourceWay, function: Function, at: int, place: Sequence[int]) -> bool:
        writers = way.writers
        if not writers.is_alone(function, at, place, way.running):
            return False
        array, called = writers.array(function, place[0]), self._source.called
        calls = (other for other, _ in function.each(op.CALL) if self._terms.has("atomics", called(function, other)))
        others = ((other, function.call(other).positional[:1]) for other in calls if other != at)
        return all(
            writers.array(function, given[0]) != array
            or (
                writers.is_alone(function, other, given, way.running)
                and not writers.is_beside(function, at, place, given)
            )
            for other, given in others
            if given
        )

    # -- counters ---------------------------------------------------------------------------------------------------

    def gives_places(self, function: Function, at: int) -> bool:
        """Whether a thread stores what it has by its own number where a counter says that others share: `out[atomicAdd(&n, 1)] = x[i]`.
        What is made of the count alone, a task that is taken from a queue, is the same whoever takes it."""
        given = function.call(at).positional
        counts = len(given) in (1, 2) and function.called_on(at) < 0
        return counts and not self.is_alone(function, at, given[:1]) and self._stores_own(function, at)

    def _stores_own(self, function: Function, count: int, depth: int = 0) -> bool:
        """Whether something of a thread's own is stored where a count says, or the count at a place of the thread's own; also by whom
        the count is given back to."""
        for _, operation in function.each(op.SET_ITEM, op.SET_ATTR):
            address = operation[1:3] if operation[0] == op.SET_ITEM else operation[1:2]
            placed = dict.fromkeys(n for part in address for n in self._made_of(function, part))
            made = dict.fromkeys(self._made_of(function, operation[3]))
            own = made if count in placed else placed if self._is_of_all(function, address[0]) else ()
            if (count in placed) != (count in made) and any(self._is_own(function, part) for part in own):
                return True
        returned = (operation[1] for _, operation in function.each(op.RETURN) if operation[1] >= 0)
        given_back = depth < DEEPEST and any(count in function.made_of(value) for value in returned)
        calls = self._calls(function) if given_back else ()
        return any(source.ways._stores_own(around, call, depth + 1) for source, around, call in calls)

    def _is_of_all(self, function: Function, array: int) -> bool:
        """Whether an array is one that was handed to a kernel, and none of a block's, or thread's, own."""
        root = function.chain(array).root
        return function.ops[root][0] != op.LOAD or any(function.given(n) is not None for n in function.made_of(root))

    def _made_of(self, function: Function, value: int) -> Iterator[int]:
        """What a value is made of, also by what is put into an array of the function's own: by itself, or by what it is handed to."""
        for at in function.made_of(value):
            yield at
            operation = function.ops[at]
            declared = operation[0] == op.LOAD and operation[1] in function.annotations
            if declared and not function.stored(at):
                for call, _ in function.each(op.CALL):
                    given = function.call(call).positional
                    if any(function.ops[each][:2] == operation[:2] for each in given):
                        yield from (part for each in given for part in function.made_of(each))
                for _, put in function.each(op.SET_ITEM):
                    if function.ops[put[1]][:2] == operation[:2]:
                        yield from function.made_of(put[3])

    def _is_own(self, function: Function, at: int, depth: int = 0) -> bool:
        """Whether a value is the number of a block, or that of a thread among all, or is made of it where a function is called."""
        operation = function.ops[at]
        if operation[0] == op.ATTR:
            return self._terms.has("programs", self._source.values.named(function, operation[1]))
        if operation[0] == op.CALL:
            called = self._source.called(function, at)
            return self._terms.has("grids", called) or self._terms.has("items", called)
        given = function.given(at)
        if given is None or given[0] is not function or depth > DEEPEST:
            return False
        for source, around, call in self._calls(function):
            handed = around.call(call).positional[given[1] : given[1] + 1]
            made = (part for value in handed for part in source.ways._made_of(around, value))
            if any(source.ways._is_own(around, part, depth + 1) for part in made):
                return True
        return False
