"""What kernels in Python add without calling anything for it, `mass[cell] += x`, and what they store where a counter says.

In Taichi and Warp `+=` to an array is atomic; rounds of Numba's `prange` race there. A counter that several share gives out places in
whatever order they come, so what is stored there has another order each time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from detlint.ir import ops as op
from detlint.ir.code import Function
from detlint.ir.places import Place
from detlint.model.kernels.locks import sums_behind, taken, varies
from detlint.model.kernels.numbers import WHOLE, Numbers, joined
from detlint.model.kernels.python import Kernels, Launch
from detlint.model.kernels.ways import SIGNS, Way, Ways
from detlint.model.kernels.writers import Writers
from detlint.model.meaning import Meaning


class Addition(NamedTuple):
    """What adds to a place to which others add as well, or appends to a list of theirs."""

    place: Place
    name: str
    numbers: Numbers
    is_counter: bool = False
    is_locked: bool = False
    """Whether it adds while it holds a lock, so that nothing is lost but the order varies."""
    is_own: bool = False
    """Whether it may be that nobody else adds there: a table tells the place, which may have each but once."""


class Additions:
    """Finds what kernels add to."""

    def __init__(self, kernels: Kernels, ways: Ways) -> None:
        self._kernels, self._ways, self._terms = kernels, ways, kernels.terms

    def of(self, meaning: Meaning, function: Function) -> Iterator[Addition]:
        """What a function adds, or appends, by no call that the catalog knows to add; nothing where each place has one that does."""
        yield from self._locked(meaning, function)
        if not self._ways.is_a("adding_kernels", meaning, function):
            return
        numbers, augmented = self._kernels.numbers(meaning), [*self._augmented(function)]
        for at, root, indices, made in augmented:
            into, added = numbers.of(function, root), numbers.of(function, function.ops[made][3])
            kind = WHOLE if WHOLE in (into, added) else into or added
            ways = [*self._ways.of(meaning, function, at)] if kind != WHOLE else []
            met = [way for way in ways if self._meets(way, at, root, indices)]
            if met:
                others = sum(function.dotted(other[1]) == function.dotted(root) for other in augmented)
                own = others < 2 and all(self._may_be_own(way, indices) for way in met)
                yield Addition(Place(function, at), self._name(function, made), kind, is_own=own)
        for at, (_, slot, made) in function.each(op.STORE):
            if self._adds(function, made) and numbers.of(function, made) != WHOLE:
                kept = any(self._is_of_kernel(way, slot) for way in self._ways.of(meaning, function, at))
                if kept:
                    yield Addition(
                        Place(function, at), f"{function.strings[function.ops[made][1]]}=", numbers.of(function, made)
                    )
        yield from self._appended(meaning, function)

    def _augmented(self, function: Function) -> Iterator[tuple[int, int, list[int], int]]:
        """What adds to an entry of something: the op, what that is, the numbers of the entry, what is made of it."""
        for at, operation in function.each(op.SET_ITEM, op.SET_ATTR):
            entry = operation[0] == op.SET_ITEM
            root, indices = _address(function, operation[1])
            if self._adds(function, operation[3]) and (entry or indices):
                yield at, root, [*indices, operation[2]] if entry else indices, operation[3]

    def _name(self, function: Function, made: int) -> str:
        return f"{function.strings[function.ops[made][1]]}="

    def _may_be_own(self, way: Way, indices: Sequence[int]) -> bool:
        """Whether a place is told by all numbers of a thread: `+=` is as usual in Warp where each has its own, since others are added to
        by `atomic_add`. Rounds have no such choice."""
        root = way
        while root.caller is not None:
            root = root.caller[0]
        return root.rounds < 0 and way.is_known and way.running <= self._ways.rests_on(way, indices)

    def _adds(self, function: Function, value: int) -> bool:
        operation = function.ops[value]
        return operation[0] == op.AUGMENT and function.strings[operation[1]] in SIGNS

    def _meets(self, way: Way, at: int, root: int, indices: Sequence[int]) -> bool:
        """Whether others that come on a way add to the same place."""
        function, writers = way.function, way.writers
        if not self._ways.is_shared(way, root) or writers.is_alone(function, at, [root, *indices], way.running):
            return False
        return not any(self._is_stored(way, at, indices[0], *other) for other in function.each(op.SET_ITEM))

    def _is_stored(self, way: Way, at: int, index: int, other: int, operation: Sequence[int]) -> bool:
        """Whether another op stores something of this round's own at the same entry, which is no other's then."""
        function = way.function
        if other == at or function.ops[operation[3]][0] == op.AUGMENT:
            return False
        root, indices = _address(function, operation[1])
        same = _same(function, [*indices, operation[2]][0], index)
        return same and self._ways.is_shared(way, root) and bool(self._ways.rests_on(way, [operation[3]]))

    def _is_of_kernel(self, way: Way, slot: int) -> bool:
        """Whether a variable is one for all rounds: it is there before their loop."""
        return way.rounds >= 0 and any(
            at < way.rounds and operation[1] == slot for at, operation in way.function.each(op.STORE)
        )

    # -- locks ------------------------------------------------------------------------------------------------------

    def _locked(self, meaning: Meaning, function: Function) -> Iterator[Addition]:
        """What a function adds to while it holds a lock: `out[0] += x`, or what it stores where it loaded a part of it."""
        numbers = self._kernels.numbers(meaning)
        begin = taken(function, lambda around, call: meaning.name(around, around.ops[call][1]), self._terms)
        for each in sums_behind(function, begin) if begin >= 0 else ():
            alone = self._ways.is_alone(meaning, function, each.at, each.place)
            kind = joined([numbers.of(function, each.into), numbers.of(function, each.added)])
            if not alone and kind != WHOLE and varies(function, each.added):
                yield Addition(Place(function, each.at), "+=", kind, is_locked=True)
        for call, name in meaning.calls(function) if begin >= 0 else ():
            given = function.call(call).positional
            if call > begin and self._terms.has("stores", name) and len(given) > 1:
                kind = numbers.of(function, given[1])
                loaded = kind != WHOLE and self._is_loaded(meaning, function, given[0], given[1], begin)
                if loaded and not self._ways.is_alone(meaning, function, call, given[:1]):
                    yield Addition(Place(function, call), name, kind, is_locked=True)

    def _is_loaded(self, meaning: Meaning, function: Function, address: int, value: int, begin: int) -> bool:
        """Whether a value is made of what was loaded from the address where it is stored, and isn't that."""
        value = function.meant(value)
        for call in function.made_of(value):
            loads = call > begin and call != value and function.ops[call][0] == op.CALL
            if loads and self._terms.has("loads", meaning.name(function, function.ops[call][1])):
                given = function.call(call).positional[:1]
                if any(
                    function.same(each, address) or function.meant(each) == function.meant(address) for each in given
                ):
                    return True
        return False

    # -- counters ---------------------------------------------------------------------------------------------------

    def gives_places(self, meaning: Meaning, function: Function, call: int) -> bool:
        """Whether something is stored where a call says that counts, and it is one's own, by which of them one is; or the count at a
        place that is one's own among all. What is made of the count alone, a task that is taken from a queue, is the same whoever takes
        it."""
        values, places, counts = list[int](), list[int](), {*self._kept(meaning, function, call)}
        for *place, value in self._stores(meaning, function):
            tells = not all(counts.isdisjoint(function.made_of(part)) for part in place)
            if tells == counts.isdisjoint(function.made_of(value)):
                values += [value] if tells else []
                places += [] if tells else place
        ways = [*self._ways.of(meaning, function, call)] if values or places else []
        return any(self._ways.rests_on(way, values) or self._is_among_all(way, places) for way in ways)

    def _kept(self, meaning: Meaning, function: Function, call: int) -> Iterator[int]:
        """A count, and what is read of an array of the kernel's own that it is kept in: `slot[0] = atomic_add(...)`."""
        yield call
        for _, (_, array, _, value) in function.each(op.SET_ITEM):
            made = function.ops[own := function.meant(array)]
            allocated = made[0] == op.CALL and self._terms.has("typed", meaning.name(function, made[1]))
            if allocated and call in function.made_of(value):
                yield from (at for at, item in function.each(op.ITEM) if function.meant(item[1]) == own)

    def _is_among_all(self, way: Way, place: Sequence[int]) -> bool:
        """Whether a place is one's own, and not only in a block."""
        return any(axis.startswith("program") for axis in self._ways.rests_on(way, place))

    def _stores(self, meaning: Meaning, function: Function) -> Iterator[Sequence[int]]:
        """The values that tell an address, and what is stored there."""
        for _, operation in function.each(op.SET_ITEM, op.SET_ATTR):
            yield operation[1:4] if operation[0] == op.SET_ITEM else (operation[1], operation[3])
        for call, name in meaning.calls(function):
            given = function.call(call).positional
            if self._terms.has("stores", name) and len(given) > 1:
                yield given[0], given[1]

    def _appended(self, meaning: Meaning, function: Function) -> Iterator[Addition]:
        """What is appended to lists: `ti.append(lists, cell, p)`, `lists[cell].append(p)`."""
        for call, name in meaning.calls(function):
            given, of = function.call(call).positional, function.called_on(call)
            by_method = of >= 0 and self._terms.has("appending_methods", function.called(call)) and len(given) == 1
            if not given or not (by_method or self._terms.has("appends", name)):
                continue
            root, indices = _address(function, of if by_method else given[0])
            indices += [] if by_method else given[1:-1]
            for way in self._ways.of(meaning, function, call):
                alone = way.writers.is_alone(function, call, [root, *indices], way.running)
                shared = not by_method or self._ways.is_shared(way, root)
                if shared and not alone and self._ways.rests_on(way, given[-1:]):
                    yield Addition(Place(function, call), function.called(call), WHOLE, is_counter=True)
                    break


def _address(function: Function, value: int) -> tuple[int, list[int]]:
    """What an entry is one of, and its numbers: `self.cells[i].velocity[0]`."""
    indices = list[int]()
    while True:
        root, _ = function.chain(value)
        if function.ops[root][0] != op.ITEM:
            return value, indices
        indices.insert(0, function.ops[root][2])
        value = function.ops[root][1]


def _same(function: Function, one: int, other: int) -> bool:
    """Whether two indices are the same."""
    parts = [function.ops[value][1:] if function.ops[value][0] == op.TUPLE else (value,) for value in (one, other)]
    return len(parts[0]) == len(parts[1]) and all(function.same(a, b) for a, b in zip(*parts, strict=True))


def races(kernels: Kernels, meaning: Meaning, function: Function) -> Iterator[tuple[Place, bool]]:
    """What rounds of a loop that run at the same time do to one place: `total[index[i]] += x[i]`, also by functions of the file; and
    whether it is one sum over all of them, which is put together from those of threads."""
    numbers = kernels.numbers(meaning)
    writers, parallel = Writers(numbers, threads=False), set[int]()
    for mark, operation in function.each(op.FOR):
        source = function.ops[operation[1]]
        named = numbers.named(function, source[1]) if source[0] == op.CALL else ""
        if not kernels.terms.has("parallel_ranges", named) or any(
            around in parallel for around in function.blocks(mark)
        ):
            continue  # a loop in one that runs in parallel is serial
        parallel.add(mark)
        end = function.parts[mark][-1]
        before = {part[1] for at, part in function.each(op.STORE) if at < mark}
        for at, place in _added_to(function, mark, end):
            own = _is_own(function, place[0], mark, end)
            if not own and not writers.is_alone(function, at, place, frozenset({f"program {mark}"})):
                yield Place(function, at), False
        for call, _ in function.each(op.CALL):
            for raced in _races_in(kernels, meaning, function, call, mark) if mark < call < end else ():
                yield raced, False
        for at, (_, slot, value) in function.each(op.STORE):
            adds = mark < at < end and slot in before and function.ops[value][0] == op.AUGMENT
            if adds and numbers.of(function, value) != WHOLE:
                yield Place(function, at), True


def _added_to(function: Function, begin: int, end: int) -> Iterator[tuple[int, list[int]]]:
    """What adds to entries of arrays between two ops, with the array and the numbers of the entry."""
    sums = {each.at for each in sums_behind(function, begin)}
    for at, part in function.each(op.SET_ITEM):
        if begin < at < end and (function.ops[part[3]][0] == op.AUGMENT or at in sums):
            yield at, [*_row(function, part[1]), part[2]]


def _is_own(function: Function, array: int, begin: int, end: int) -> bool:
    """Whether an array is made anew in each round of a loop."""
    return begin < array < end and function.ops[array][0] != op.LOAD


def _races_in(kernels: Kernels, meaning: Meaning, function: Function, call: int, mark: int) -> Iterator[Place]:
    """What functions of the same file that are called in a loop add to arrays from before it."""
    rounds, outer = frozenset({f"program {mark}"}), Writers(kernels.numbers(meaning), threads=False)
    for other, made in kernels.called(meaning, function, call):
        launch = Launch(meaning, function, call, -1)
        given = {n: kernels.handed(launch, made, n) for n in range(len(made.header.parameters))}
        handed = {n: outer.axes(function, value) for n, value in given.items() if value >= 0}
        for at, place in _added_to(made, -1, len(made.ops)) if other.path == meaning.path else ():
            parameter = made.given(place[0])
            number = parameter[1] if parameter is not None and parameter[0] is made else -1
            value = given.get(number, -1)
            array = function.meant(_row(function, value)[0]) if value >= 0 else -1
            if array < 0 or _is_own(function, array, mark, function.parts[mark][-1]):
                continue
            apart = {**handed, number: outer.handed(function, value, frozenset())}
            if not Writers(kernels.numbers(other), threads=False, handed=apart).is_alone(made, at, place, rounds):
                yield Place(made, at)


def _row(function: Function, value: int) -> list[int]:
    """An array, or the one that it is a row of, with the numbers of that row: `row = table[index[i]]`."""
    array = function.meant(value)
    indices = list[int]()
    while function.ops[array][0] == op.ITEM and _is_number(function, function.ops[array][2]):
        indices.insert(0, function.ops[array][2])
        array = function.meant(function.ops[array][1])
    return [array, *indices] if indices else [value]


def _is_number(function: Function, index: int) -> bool:
    """Whether an index is one number, as an element of a table is, and what a loop counts."""
    return function.ops[function.meant(index)][0] in (op.BINARY, op.CONST, op.FOR, op.ITEM)
