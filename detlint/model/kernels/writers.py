"""Whether one program of a kernel, or one thread, is alone to add to a place: then there is no order that could vary.

An address is asked which numbers of programs, threads and elements it keeps apart: `row * stride + column` keeps apart both, what was
loaded from a table keeps apart nothing, unless the next entry is loaded as well: then it is where a segment of each row begins and ends.
All that run have to be kept apart, but those that a test on the way leaves out; where a parameter chooses the way, on each way.

What it may assume: what a number is multiplied by is large enough for what is added to it, unless both are sizes of blocks and differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from types import MappingProxyType
from typing import Final

from detlint.ir import ops as op
from detlint.ir.code import UNKNOWN, Function
from detlint.ir.tests import denied
from detlint.model.kernels.digits import PARTS, Axes, Term, cancelled, complete, size_of, taken_apart
from detlint.model.kernels.numbers import Values

NOTHING: Final[Axes] = frozenset()
_LOOP: Final = "round"
"""Of a loop that is no launch: which round it is."""
_GIVEN_OUT: Final = "given out"
"""What a counter has given out, which no other has."""
_SHARED: Final = "__shared__"
DEEPEST: Final = 30
MOST_FLAGS: Final = 4
"""So many parameters are taken to choose the way; more are taken not to."""


def _in_one_program(axes: Axes) -> Axes:
    return frozenset(axis for axis in axes if not axis.startswith("program"))


class Writers:
    """Says who adds to places.

    Args:
        values: knows the names of values.
        threads: whether each program has threads that all do the same.
        zero: the parameters that some launch gives 0: strides of what all programs add to.
        rounds: the loop whose rounds run at the same time, where nothing that it goes through says so.
        handed: what the parameters of a function keep apart, by what it is called with.
    """

    def __init__(
        self,
        values: Values,
        *,
        threads: bool,
        zero: frozenset[int] = frozenset(),
        rounds: int = -1,
        handed: Mapping[int, Axes] = MappingProxyType({}),
    ) -> None:
        self._values = values
        self._terms = values.terms
        self._threads = threads
        self._zero = zero
        self._rounds = rounds
        self._handed = handed
        self._chosen: Mapping[str, bool] = {}

    def is_alone(self, function: Function, at: int, place: Sequence[int], grid: Axes | None = None) -> bool:
        """Whether what an op adds to has no other program, or thread, that adds to it.

        Args:
            place: the values that tell the address.
            grid: the programs of the launch, where they are known.
        """
        return all(self._is_alone(function, at, place, grid, way) for way in self._ways(function, at, place))

    def running(self, function: Function, at: int, grid: Axes | None = None) -> Axes:
        """The programs and threads that come to an op."""
        return frozenset((grid if grid is not None else self._running(function)) - self._left_out(function, at))

    def rounds(self, function: Function) -> Axes:
        """The rounds of the loop that run at the same time, as they are numbered: `for i, j in cells`."""
        return self._in_parts(function, self._rounds, frozenset({f"program {self._rounds}"}))

    def handed(self, function: Function, value: int, running: Axes) -> Axes:
        """What an address that is handed over keeps apart; one of a block's own memory keeps apart all blocks."""
        own = {axis for axis in running if axis.startswith("program")} if self._is_shared(function, value) else NOTHING
        return self._apart(function, [value]) | own

    def tells(self, function: Function, value: int) -> bool:
        """Whether a value is the number of a program, thread or round, as such."""
        operation = function.ops[value]
        return bool(self._own(function, operation[1] if operation[0] in (op.FOR, op.WITH) else value, value))

    def array(self, function: Function, place: int) -> int:
        """The name of the array that an address is one in; -1 for none."""
        for _ in range(DEEPEST):
            place = function.meant(place)
            operation = function.ops[place]
            if operation[0] in (op.UNARY, op.BINARY, op.AUGMENT):
                place = operation[2]
            elif operation[0] == op.ITEM:
                place = operation[1]
            elif operation[0] == op.CALL and operation[2] == 1:
                place = operation[3]
            else:
                return operation[1] if operation[0] == op.LOAD else -1
        return -1

    def is_same_array(self, function: Function, one: int, other: int) -> bool:
        """Whether two addresses are in one array, or in the same part of it: `field.real`."""
        array, name = self.array(function, one), function.dotted(one)
        return self.array(function, other) == array if array >= 0 else bool(name) and name == function.dotted(other)

    def is_beside(self, function: Function, at: int, place: Sequence[int], other: Sequence[int]) -> bool:
        """Whether one address is next to another of the same array, `out[i]` and `out[i + 1]`: so a thread adds where its neighbour does.
        A test that leaves out some may leave out the neighbour."""
        pairs = [*zip(self._entries(function, place), self._entries(function, other), strict=False)]
        apart = [pair for pair in pairs if not function.same(*pair)]
        if len(apart) != 1 or self._left_out(function, at):
            return False
        loads = [[v] if function.ops[v][0] != op.LOAD else function.stored(v) or [v] for v in apart[0]]
        one, two = ([self._step(function, made) for made in several] for several in loads)
        return any(a[0] and a[0] == b[0] and abs(a[1] - b[1]) == 1 for a, b in product(one, two))

    def _entries(self, function: Function, place: Sequence[int]) -> list[int]:
        """The numbers of an entry, or its address."""
        operation = function.ops[place[0]]
        operation = function.ops[operation[2]] if operation[0] == op.UNARY else operation
        found = [*place[1:]] or [operation[2] if operation[0] == op.ITEM else place[0]]
        return [part for n in found for part in (function.ops[n][1:] if function.ops[n][0] == op.TUPLE else (n,))]

    def _step(self, function: Function, value: int) -> tuple[str, int]:
        """A number as another one that neighbours have consecutively, and what is added to it; "" for none such."""
        base, step, operation = value, 0, function.ops[function.meant(value)]
        if operation[0] == op.BINARY and (word := function.strings[operation[1]]) in ("+", "-"):
            constant = function.constant(function.meant(operation[3]))
            base, step = (operation[2], constant if word == "+" else -constant) if type(constant) is int else (value, 0)
        terms, meant = self._terms_of(function, base, 0), function.meant(base)
        if not any(term.axes and term.scale < 0 and _LOOP not in term.axes for term in terms):
            return "", 0
        return (str(meant) if function.ops[meant][0] == op.CALL else self._size_name(function, base)), step

    def _ways(self, function: Function, at: int, place: Sequence[int]) -> Iterator[Mapping[str, bool]]:
        """The ways that parameters choose by which an address is made, among those that lead to an op."""
        made = (guard for value in place for n in function.made_of(value) for guard in function.guards(n))
        flags = sorted({name for guard in made if (name := self._flag(function, guard.test))})
        passed = {self._flag(function, guard.test): guard.holds for guard in function.guards(at)}
        for holds in product((True, False), repeat=len(flags) if len(flags) <= MOST_FLAGS else 0):
            chosen = dict(zip(flags, holds, strict=False))
            if all(passed.get(flag, value) == value for flag, value in chosen.items()):
                yield chosen

    def _flag(self, function: Function, test: int) -> str:
        """The parameter that a test asks for; "" for any other test."""
        return function.text(function.ops[test][1]) if function.given(test) is not None else ""

    def _is_alone(
        self, function: Function, at: int, place: Sequence[int], grid: Axes | None, way: Mapping[str, bool]
    ) -> bool:
        self._chosen = way
        wanted = {*(grid if grid is not None else self._running(function))} | self._lanes(function, place)
        if any(self._is_shared(function, value) for value in place):
            wanted = {axis for axis in wanted if not axis.startswith("program")}
        left_out = self._left_out(function, at)
        apart = complete(self._apart(function, place) | left_out)
        return _GIVEN_OUT in apart or wanted - left_out <= apart

    def _apart(self, function: Function, place: Sequence[int]) -> Axes:
        address = self._summed(function, [*self._terms_of(function, place[0], 0, address=True)]) if place else NOTHING
        return address.union(*(self.axes(function, index) for index in place[1:]))

    def _running(self, function: Function) -> set[str]:
        """The programs and threads that run a kernel."""
        return {*self.asked(function)} or {"program x"}

    def asked(self, function: Function) -> Axes:
        """Those whose numbers it asks for."""
        found = {"program x", "thread x"} if self._threads else set[str]()
        around: Function | None = function
        while around is not None and around.number:
            for at, operation in around.each(op.CALL, op.ATTR, op.FOR, op.WITH):
                asked = operation[1] if operation[0] in (op.FOR, op.WITH) else at
                own = self._own(around, at if operation[0] in (op.CALL, op.ATTR) else asked, at)
                found |= self._in_parts(around, at, own)
            around = around.parent
        return frozenset(a for a in found if not a.startswith(("lane", _LOOP)) and f"{a}.0" not in found)

    def _own(self, function: Function, value: int, at: int) -> Axes:
        """Which number an op is by itself: `program_id(0)`, `threadIdx.x`, the variable of a loop over all programs."""
        terms, operation = self._terms, function.ops[value]
        if function.ops[at][0] in (op.FOR, op.WITH):
            call = operation if operation[0] == op.CALL else (op.END,)
            name = self._values.named(function, call[1]) if call[0] == op.CALL else ""
            runs = terms.has("programs", name) or at == self._rounds
            kind = "program" if runs else "lane" if terms.has("lanes", name) else ""
            return frozenset({f"{kind} {at}"}) if kind else NOTHING
        if operation[0] == op.ATTR:
            of, axis = self._values.named(function, operation[1]), function.strings[operation[2]]
            kind = "program" if terms.has("programs", of) else "thread" if terms.has("threads", of) else ""
            return frozenset({f"{kind} {axis}"}) if kind else NOTHING
        name = self._values.named(function, operation[1]) if operation[0] == op.CALL else ""
        if terms.has("programs", name) and self._is_for_values(function, value):
            number = function.constant(function.meant(function.call(value).argument(0, "axis")))
            return frozenset({f"program {'xyz'[number] if number in (0, 1, 2) else number}"})
        if (items := terms.has("items", name)) or terms.has("block_items", name):
            number = function.constant(function.meant(function.call(value).argument(0, "axis")))
            axis = "xyz"[number] if number in (0, 1, 2) else "x"
            return frozenset({f"thread {axis}", *([f"program {axis}"] if items else [])})
        if terms.has("grids", name):
            return frozenset({"program x", "thread x"} if self._threads else {"program x"})
        counts = terms.has("lanes", name) and self._is_for_values(function, value)
        return frozenset({f"lane {value}"}) if counts else NOTHING

    def _in_parts(self, function: Function, value: int, axes: Axes) -> Axes:
        """Numbers as they are taken apart: `world, item = tid()`."""
        parts = (function.ops[use.op] for use in function.users[value])
        count = max((part[3] for part in parts if part[0] == op.PART), default=0)
        return frozenset(f"{axis}.{number}" for axis in axes for number in range(count)) if count > 0 else axes

    def _is_for_values(self, function: Function, call: int) -> bool:
        """Whether a call gives a number, and isn't gone through by a loop or block."""
        return not any(function.ops[use.op][0] in (op.FOR, op.WITH) for use in function.users[call])

    def _lanes(self, function: Function, place: Sequence[int]) -> set[str]:
        """The elements of which an address is made."""
        found = set[str]()
        for value in place:
            for at in function.made_of(value):
                found |= {axis for axis in self._own(function, at, at) if axis.startswith("lane")}
        return found

    def _is_shared(self, function: Function, value: int) -> bool:
        """Whether a place is in the memory of one block."""
        for at in function.made_of(value):
            operation = function.ops[at]
            kinds = function.annotations.get(operation[1], ()) if operation[0] == op.LOAD else ()
            if any(
                function.dotted(function.ops[kind][1]) == _SHARED for kind in kinds if function.ops[kind][0] == op.CALL
            ):
                return True
        return False

    # -- addresses --------------------------------------------------------------------------------------------------

    def axes(self, function: Function, value: int, depth: int = 0) -> Axes:
        """The numbers that a value keeps apart."""
        if depth > DEEPEST:
            return NOTHING
        operation = function.ops[value]
        code = operation[0]
        if own := self._own(function, value, value):
            return own
        if code == op.LOAD:
            return self._loaded(function, value, depth)
        if code == op.BINARY and function.strings[operation[1]] in ("+", "-"):
            return self._summed(function, [*self._terms_of(function, value, depth)])
        if code == op.BINARY and (word := function.strings[operation[1]]) in PARTS:
            size = size_of(word, self._size_name(function, operation[3]))
            return taken_apart(self.axes(function, operation[2], depth + 1), word, size) if size else NOTHING
        if code == op.BINARY and function.strings[operation[1]] in ("*", "<<"):
            one, other = (self.axes(function, side, depth + 1) for side in operation[2:4])
            vanishes = any(self._vanishes(function, side) for side in operation[2:4])
            return one or other if not ((one and other) or vanishes) else NOTHING
        if code == op.AUGMENT and self._is_plain(function, value):
            return self._summed(function, [*self._terms_of(function, value, depth)])
        if code == op.AUGMENT and function.strings[operation[1]] in ("+", "-"):
            return self.axes(function, operation[2], depth + 1) | {_LOOP}
        if code in (op.UNARY, op.CHOICE):
            return self.axes(function, operation[2], depth + 1) if code == op.UNARY else NOTHING
        if code in (op.PART, op.FOR, op.WITH):
            return self._element(function, value, operation, depth)
        if code == op.CALL:
            return self._of_call(function, value, depth)
        if code in (op.LIST, op.TUPLE):
            return NOTHING.union(*(self.axes(function, item, depth + 1) for item in operation[1:]))
        if code == op.ITEM and self._only_shapes(function, operation[2]):
            return self.axes(function, operation[1], depth + 1)
        return (
            self.axes(function, operation[2], depth + 1)
            if code == op.ITEM and self._begins(function, value)
            else NOTHING
        )

    def _begins(self, function: Function, value: int) -> bool:
        """Whether what is loaded is where a segment begins: the next entry of the same table is loaded, too. So is what a loop counts from
        there on, `for k in range(begin, end, BLOCK)`."""
        value = function.meant(value)
        rounds = function.ops[value]
        if rounds[0] == op.FOR and function.ops[rounds[1]][0] == op.CALL:
            given = function.call(rounds[1]).positional
            value = function.meant(given[0]) if len(given) > 1 else value
        place = self._entry(function, value)
        following = {*self._next(function, place[1])} if place[1] >= 0 else set[str]()
        others = (self._entry(function, at) for at, _ in function.each(op.CALL, op.ITEM))
        return any(
            other[1] >= 0 and other[0] == place[0] and self._size_name(function, other[1]) in following
            for other in others
        )

    def _entry(self, function: Function, value: int) -> tuple[str, int]:
        """The table from which an op loads, and the value that tells the entry: an index, or an address."""
        operation = function.ops[value]
        if operation[0] == op.ITEM:
            return function.dotted(operation[1]), operation[2]
        call = function.call(value) if operation[0] == op.CALL else None
        loads = call is not None and self._terms.has("loads", self._values.named(function, call.callee))
        return "", call.positional[0] if call is not None and loads and call.positional else -1

    def _next(self, function: Function, value: int) -> Iterator[str]:
        """How the next one may be written: `(table + (row + 1))` and `((table + row) + 1)` after `(table + row)`; after `row * 3` it is
        none of the next row, but another one of the same."""
        text, operation = self._size_name(function, value), function.ops[function.meant(value)]
        if text and (operation[0] != op.BINARY or function.strings[operation[1]] != "*"):
            yield f"({text} + 1)"
        if operation[0] == op.BINARY and text:
            one, other = (self._size_name(function, side) for side in operation[2:4])
            sign = function.strings[operation[1]]
            yield from (f"({following} {sign} {other})" for following in self._next(function, operation[2]))
            yield from (f"({one} {sign} {following})" for following in self._next(function, operation[3]))

    def _vanishes(self, function: Function, value: int) -> bool:
        given = function.given(value)
        return given is not None and given[0] is function and given[1] in self._zero

    def _only_shapes(self, function: Function, index: int) -> bool:
        """Whether an index only adds axes: `offsets[:, None]`."""
        operation = function.ops[index]
        parts = operation[1:] if operation[0] == op.TUPLE else (index,)
        return all(function.constant(part) is None or function.ops[part] == (op.SLICE, -1, -1, -1) for part in parts)

    def _loaded(self, function: Function, value: int, depth: int) -> Axes:
        given = function.given(value) if self._handed else None
        if given is not None and given[0] is function and given[1] in self._handed:
            return self._handed[given[1]]
        stored = function.stored(value)
        if stored is not None:
            stored = [made for made in stored if self._is_chosen(function, made)]
            known = [
                self.axes(function, made, depth + 1) for made in stored if not self._is_round(function, made, value)
            ]
            rounds = {_LOOP} if len(known) < len(stored) else set()
            return frozenset.intersection(*known) | rounds if known else NOTHING
        owner, home = function.binding(function.ops[value][1])
        stores = function.code.stores(function.binding(function.ops[value][1])) if home >= 0 else ()
        if owner not in (0, function.number) and len(stores) == 1 and stores[0][0].ops[stores[0][1]][0] == op.STORE:
            around, at = stores[0]
            return self.axes(around, around.ops[at][2], depth + 1)
        return NOTHING

    def _is_chosen(self, function: Function, made: int) -> bool:
        """Whether the way on which a value is made is one of those that are looked at."""
        guards = ((self._flag(function, guard.test), guard.holds) for guard in function.guards(made))
        return all(self._chosen.get(flag, holds) == holds for flag, holds in guards)

    def _is_round(self, function: Function, made: int, value: int) -> bool:
        """Whether a value is what a loop makes of a variable itself: `i += step`."""
        operation = function.ops[made]
        if self._is_plain(function, made):
            return False
        return operation[0] == op.AUGMENT and function.ops[operation[2]][:2] == function.ops[value][:2]

    def _is_plain(self, function: Function, value: int) -> bool:
        """Whether something is added to a name in no loop: `pointer += row * stride`."""
        operation = function.ops[value]
        adds = operation[0] == op.AUGMENT and function.strings[operation[1]] in ("+", "-")
        return adds and not any(function.ops[mark][0] in (op.FOR, op.WHILE) for mark in function.blocks(value))

    def _element(self, function: Function, value: int, operation: Sequence[int], depth: int) -> Axes:
        """What a loop or block gives in each round, and a part of that."""
        if operation[0] == op.PART:
            element = function.element(value)
            if element != value:  # a, b = program_id(0), program_id(1)
                return self.axes(function, element, depth + 1)
            if self._is_grid(function, operation[1]):
                return frozenset({f"{axis}.{operation[2]}" for axis in self.axes(function, operation[1], depth + 1)})
            return self.axes(function, operation[1], depth + 1)
        if own := self._own(function, operation[1], value):
            return own
        source = function.ops[operation[1]]
        if source[0] != op.CALL:
            return NOTHING
        call = function.call(operation[1])
        if self._terms.has("grids", self._values.named(function, call.callee)):
            return frozenset({"program x", "thread x"} if self._threads else {"program x"})
        steps = len(call.positional) == 3  # range(program_id(0), n, num_programs(0))
        begins = self.axes(function, call.positional[0], depth + 1) if steps else NOTHING
        return begins | {_LOOP}

    def _is_grid(self, function: Function, value: int) -> bool:
        operation = function.ops[value]
        called = self._values.named(function, operation[1]) if operation[0] == op.CALL else ""
        return operation[0] in (op.FOR, op.WITH) or self._terms.has("grids", called)

    def _of_call(self, function: Function, value: int, depth: int) -> Axes:
        """A cast keeps apart what its argument does; what loads, or cuts, nothing."""
        call, name = function.call(value), self._values.named(function, function.ops[value][1])
        if self._terms.has("atomics", name) and call.positional and not self._is_shared(function, call.positional[0]):
            return frozenset({_GIVEN_OUT})
        if self._terms.has("loads", name) and self._begins(function, value):
            return self.axes(function, call.positional[0], depth + 1)
        if self._terms.has("cuts", name):
            return NOTHING
        if self._terms.has("permutes", name) and call.positional:
            return self.axes(function, call.positional[-1], depth + 1)
        cast = self._terms.of_type(name) or function.ops[call.callee][0] == op.ITEM
        if (self._terms.has("first", name) or cast) and call.positional:
            return self.axes(function, call.positional[0], depth + 1)
        of = function.called_on(value)
        same = self._terms.has("same_methods", function.called(value)) or self._terms.has(
            "cast_methods", function.called(value)
        )
        return self.axes(function, of, depth + 1) if of >= 0 and same else NOTHING

    def _terms_of(self, function: Function, value: int, depth: int, *, address: bool = False) -> Iterator[Term]:
        """The terms of a sum, of an address also the parts of its indices: `&out[i * n + j]`, `out + i`."""
        value = function.meant(value) if depth < DEEPEST else value
        operation = function.ops[value]
        word = function.strings[operation[1]] if operation[0] in (op.BINARY, op.UNARY) else ""
        plus = operation[0] == op.BINARY and word in ("+", "-")
        if (plus or self._is_plain(function, value)) and depth < DEEPEST:
            yield from self._terms_of(function, operation[2], depth + 1, address=address)
            for term in self._terms_of(function, operation[3], depth + 1, address=address):
                yield term._replace(is_taken_away=(word == "-") != term.is_taken_away)
        elif operation[0] == op.UNARY and word == "&" and depth < DEEPEST:
            yield from self._indices(function, operation[2], depth + 1)
        elif address and operation[0] == op.ITEM and self._is_place(function, operation):
            yield from self._indices(function, value, depth + 1)
        else:
            axes, scale = self.axes(function, value, depth + 1), -1
            if operation[0] == op.BINARY and word in ("*", "<<"):
                scale = next((s for s in operation[2:4] if not self.axes(function, s, depth + 1)), -1)
            yield Term(axes, scale, value)

    def _is_place(self, function: Function, item: Sequence[int]) -> bool:
        """Whether an item is what is written to, in Python: of a parameter, or of what is allocated."""
        base = function.ops[item[1]][0] in (op.LOAD, op.ITEM, op.ATTR)
        return self._values.is_python and base and not self._only_shapes(function, item[2])

    def _indices(self, function: Function, value: int, depth: int) -> Iterator[Term]:
        """Those of an item, each of which stands for itself, and of what it is an item of."""
        operation = function.ops[value]
        while operation[0] == op.ITEM:
            yield Term(self.axes(function, operation[2], depth + 1), value, operation[2])
            value = operation[1]
            operation = function.ops[value]
        if operation[0] == op.ATTR:
            yield from self._indices(function, operation[1], depth + 1)
        elif operation[0] in (op.BINARY, op.LOAD):
            yield Term(self.axes(function, value, depth + 1), value, value)

    def _summed(self, function: Function, terms: Sequence[Term]) -> Axes:
        """What a sum keeps apart: nothing where two of its terms may make up for each other."""
        own = [term._replace(axes=term.axes - cancelled(terms)) for term in terms]
        own = [term for term in own if term.axes]
        plain = [term for term in own if term.scale < 0 and _GIVEN_OUT not in term.axes]
        several = len([term for term in plain if not self._begins(function, term.value)]) > 1
        if several or self._is_window(function, terms):
            return NOTHING
        sizes = {size for term in plain for size in self._sizes(function, term.value)}
        for term in own:
            scale = self._size_name(function, term.scale) if term.scale >= 0 else ""
            if scale and sizes and scale not in sizes and self._is_block(function, term.scale):
                return NOTHING
        if any(term.scale < 0 and self._is_loaded(function, term.value) for term in terms if not term.axes):
            own = [term._replace(axes=_in_one_program(term.axes)) if term.scale < 0 else term for term in own]
        return NOTHING.union(*(term.axes for term in own))

    def _is_window(self, function: Function, terms: Sequence[Term]) -> bool:
        """Whether a sum goes through a window that begins before its own place, and so overlaps others: `row * step - padding + k`."""
        begins = any(
            t.is_taken_away and not t.axes and function.constant(function.meant(t.value)) is UNKNOWN for t in terms
        )
        steps = any(t.scale >= 0 and t.axes - {_LOOP} for t in terms)
        return begins and steps and any(_LOOP in t.axes for t in terms)

    def _is_loaded(self, function: Function, value: int) -> bool:
        """Whether a value comes out of a table, where any number may stand for a row: `begins[row]`."""
        for at in function.made_of(value):
            table, entry = self._entry(function, at)
            if entry >= 0 and (table or function.ops[at][0] == op.CALL) and function.constant(entry) is UNKNOWN:
                return not self._only_shapes(function, entry)
        return False

    def _sizes(self, function: Function, value: int) -> Iterator[str]:
        """How many elements a value has, as it is written: `arange(0, BLOCK)`."""
        for at in function.within(value):
            if function.ops[at][0] == op.CALL and self._terms.has(
                "lanes", self._values.named(function, function.ops[at][1])
            ):
                given = function.call(at).positional
                yield self._size_name(function, given[-1]) if given else ""

    def _size_name(self, function: Function, value: int) -> str:
        """A size as it is written, so that the same ones are told by it: `H * W`; "" for what is none."""
        meant = function.meant(value)
        constant, operation = function.constant(meant), function.ops[meant]
        if constant is not UNKNOWN:
            return repr(constant)
        if operation[0] == op.BINARY:
            parts = [self._size_name(function, side) for side in operation[2:4]]
            return f"({parts[0]} {function.strings[operation[1]]} {parts[1]})" if all(parts) else ""
        return function.dotted(value)

    def _is_block(self, function: Function, value: int) -> bool:
        """Whether a value is the size of a block, known when the kernel is compiled."""
        given = function.given(value) if function.ops[value][0] == op.LOAD else None
        if function.constant(function.meant(value)) is not UNKNOWN:
            return True
        annotation = given[0].header.parameters[given[1]].annotation if given is not None else -1
        around = given[0].parent if given is not None else None
        return around is not None and annotation >= 0 and around.dotted(annotation).endswith("constexpr")

    # -- who is left out --------------------------------------------------------------------------------------------

    def _left_out(self, function: Function, at: int) -> set[str]:
        """The numbers of which the tests on the way leave one: `if (threadIdx.x == 0)`."""
        found = set[str]()
        for guard in function.guards(at):
            waiting, holds = [guard.test], guard.holds
            for test in waiting:  # grows meanwhile
                operation = function.ops[test]
                inner = denied(function, test)
                word = function.strings[operation[1]] if operation[0] in (op.BINARY, op.CHOICE) else ""
                if operation[0] in (op.BINARY, op.CHOICE) and word in ("&", "and") and holds:
                    waiting += operation[2:4]
                elif operation[0] == op.COMPARE and function.strings[operation[2]] == ("==" if holds else "!="):
                    found |= self.axes(function, operation[1]) | self.axes(function, operation[3])
                elif operation[0] == op.LOAD and (made := function.meant(test)) != test:
                    waiting.append(made)
                elif inner >= 0 and holds:
                    found |= self.axes(function, inner)
        return found
