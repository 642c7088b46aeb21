"""DET115, DET305, DET306: whether an order that nothing fixes becomes data: of a set, a listing, results as they come.

The items are followed from where they come, along the uses of what holds them: through names, attributes, tables, texts, loops, and
functions of the program that they are handed to or given back by. What is computed of each comes in their order, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from detlint.domains.numeric import numeric
from detlint.domains.order import ordering, queues, taking, tasks
from detlint.domains.order.calls import (
    CUT,
    DECIDES,
    DEEPEST,
    KEPT,
    NOTHING,
    Asked,
    Functions,
    Kind,
    Source,
)
from detlint.ir import ops as op
from detlint.ir.code import VALUES, Function
from detlint.ir.uses import Use
from detlint.model import growth
from detlint.model.growth import Grown
from detlint.model.module import Module
from detlint.model.places import calls_among
from detlint.model.sites.records import TAKES_OUT

__all__ = ["CUT", "DECIDES", "KEPT", "NOTHING", "Asked", "matters"]

_PASS_ON: Final = frozenset({op.AWAIT, op.STAR, op.WITH})
_ALIASES: Final = frozenset({op.ATTR, op.ITEM, op.LOAD, op.PART, op.FOR})
"""Codes of what gives an object that somebody else has, too."""
_NAMES: Final = frozenset({op.STORE, op.SET_ATTR})
_ASK: Final = frozenset({op.ITEM, op.COMPARE, op.UNARY, op.IF, op.UNTIL, op.ASSERT})
PARTS: Final = "parts"
"""Entries in this context give a few things by position, each of which holds items in that order."""


def matters(asked: Asked, module: Module, index: int) -> int:
    """What the order of the items at a site does: `NOTHING`, `KEPT`, `CUT` or `DECIDES`."""
    site, meaning, code = module.sites[index], asked.meanings.of(module), asked.resolver.code(module.path)
    if code is None or meaning is None:
        return KEPT
    # Of a set, the place is that of what is taken in order, not of who takes it.
    codes = VALUES if site.kind == "order" else (op.CALL,)
    found, entries = code.at(site.span.place, *codes), asked.entries(module, index)
    if found is None:  # a queue's method that is only named takes nothing
        return NOTHING if any(queues.TAKEN in entry.contexts for entry in entries) else KEPT
    of_results = any(entry.rule == "DET306" for entry in entries)
    kind: Kind = "set" if site.kind == "order" else "completion" if of_results else "listing"
    source = Source(asked, module, index, kind)
    if any(tasks.TASKS in entry.contexts for entry in entries):
        run = tasks.started(asked.meanings, meaning, *found)
        return max((_Order(source, there, body).shared() for there, body in run), default=NOTHING)
    if any(queues.TAKEN in entry.contexts for entry in entries):
        filled = queues.filled(asked, module, *found)
        if filled is None:
            return NOTHING
        order = _Order(source, meaning, found[0])
        return order.of(found[1]) if queues.gives_all(*found) else order.taken(found[1], filled)
    in_parts = any(PARTS in entry.contexts for entry in entries)
    return _Order(source, meaning, found[0], in_parts=in_parts).of(found[1])


class _Order(Functions):
    """What becomes of items in one function."""

    def of(self, value: int) -> int:
        """What the order of the items in a value does."""
        if ordering.is_alone(self.function, value) or not self._is_new(value):
            return NOTHING
        return max((self.inside(value, use) for use in self.function.users[value]), default=NOTHING)

    def shared(self) -> int:
        """What the order does in which tasks that run the function come to put something into what they share, or draw."""
        if self._draws(growth.WHOLE):
            return DECIDES
        asked = self.source.asked
        grown = [
            part
            for part in tasks.gathered(self.function)
            if not (part.value >= 0 and queues.is_one(asked, self.meaning, self.function, part.value))
        ]
        return max(map(self.gathered, grown), default=NOTHING)

    def taken(self, item: int, filled: queues.Filled) -> int:
        """What the order does of items that are taken one by one: in turns of a loop, or by who calls the function again and again."""
        function = self.function
        loops = [mark for mark in function.blocks(item) if function.ops[mark][0] in tasks.ROUNDS]
        made = function.collected(loops[0]) if loops else -1
        if made >= 0:
            is_table = function.code.strings[function.ops[made][1]] == "dict"
            return NOTHING if is_table else self.gone_through(loops[0], counted=False)
        is_own = filled.made.function is function
        if not loops and (is_own or taking.asks_first(function, item)):
            return NOTHING
        done = max(self._taken_in(loop, item, filled) for loop in loops or [growth.WHOLE])
        if taking.is_given_back(function, item):
            done = max(done, KEPT if is_own else self._taken_by_callers(filled))
        return done

    def _taken_by_callers(self, filled: queues.Filled) -> int:
        """The same of an item that a function gives back, where it is called."""
        function, asked = self.function, self.source.asked
        owned = function.parent is not None and function.parent.is_class
        uses = asked.callers(self.module, function.qualified) if not owned and self.depth < DEEPEST else None
        points = [*calls_among(asked.resolver, asked.meanings, uses or ())]
        if not uses or len(points) < len(uses):
            return KEPT
        there = (replace(self, meaning=m, function=at.function, depth=self.depth + 1) for m, at in points)
        return max(order.taken(at.at, filled) for order, (_, at) in zip(there, points, strict=True))

    def _taken_in(self, loop: int, item: int, filled: queues.Filled) -> int:
        """The same in each turn of one loop; what is put back into the queue is gathered nowhere."""
        if taking.trains(self.source.asked, self.meaning, self.function, item, loop):
            return DECIDES
        done = NOTHING
        for part in taking.gathered(self.function, item, loop):
            if part.value >= 0 and filled.has(self.meaning, self.function, part.value):
                continue
            if part.what != "sum":
                done = max(done, self._of_item(part.item, loop).gathered(part))
            elif self._rounds(part, part.item):
                done = max(done, KEPT)
        return done

    def _is_new(self, value: int) -> bool:
        """Whether a value wasn't followed before; from now on it was."""
        before = len(self.seen)
        self.seen.add((self.module.path, self.function.number, value))
        return len(self.seen) > before

    def inside(self, value: int, use: Use) -> int:
        """What it does in one use."""
        function, operation = self.function, self.function.ops[use.op]
        code = operation[0]
        if self.named and code in _ASK:
            return NOTHING
        if self.named and not (code in _NAMES or (code == op.CALL and use.place > 1 and "::" in self._name(use.op))):
            return replace(self, named=False).inside(value, use)
        if code == op.STORE:
            return self._read(operation[1], [use.op])
        if code == op.CALL:
            return self.called(value, use)
        if code == op.ATTR:
            return self._attribute(use.op)
        if code == op.ITEM:
            return self._taken(use) if use.place == 1 else self._columns(use.op)
        if code == op.FOR:
            return self.gone_through(use.op, counted=False)
        if code in (op.RETURN, op.YIELD, op.YIELD_FROM):
            return self.returned()
        if code == op.SET_ATTR:
            return self._kept_as_attribute(use.op) if use.place == 3 else NOTHING
        if code == op.SET_ITEM:
            return self._put_into(operation[1], operation[2]) if use.place == 3 else NOTHING
        if code in (op.FORMAT, op.TEXT):
            # Most texts are for people: only what is surely done with one counts.
            return done if (done := self.of(use.op)) == DECIDES else NOTHING
        if code == op.AUGMENT:
            return self._put_into(operation[2]) if use.place == 3 else self.of(use.op)
        if code == op.BINARY:
            return self.of(use.op) if function.code.strings[operation[1]] == "+" else NOTHING
        if code == op.PART and self.in_parts:
            return replace(self, in_parts=False).of(use.op)
        if code == op.PART:
            # What a function gives back may be more than the items.
            return KEPT if self.depth and operation[3] != 1 else NOTHING
        if code in _PASS_ON or (code == op.CHOICE and use.place > 1):
            return self.of(use.op)
        if code in (op.LIST, op.TUPLE, op.DICT):
            return self._among(value, use)
        if code == op.GIVE:
            self.packed = True
            made = function.collected(use.op)  # of a set, the order is another one
            return NOTHING if function.code.strings[function.ops[made][1]] == "set" else self.of(made)
        return NOTHING

    # -- what holds them ------------------------------------------------------------------------------------------------

    def _read(self, slot: int, stores: Sequence[int], gathered: bool = False) -> int:
        """What it does where a variable is read that gets the items somewhere.

        Args:
            gathered: whether they are put into it one by one.
        """
        function = self.function
        name = function.text(slot)
        if name == "__all__":
            return NOTHING  # that of the names that a module offers is no matter
        if function.is_class:
            return KEPT
        owner, home = function.binding(slot)
        private = owner == function.number and slot not in function.shared
        loads = [(function, load) for store in stores for load in function.loads.get(store, ())]
        if not private and home >= 0:
            loads += [read for read in function.code.reads(function.binding(slot)) if read not in loads]
        if any(ordering.is_sorted(other, load, self.meaning) for other, load in loads):
            return NOTHING
        others = KEPT if self._others_use(slot, gathered, loads) else NOTHING
        return max((others, *(self._elsewhere(other).of(load) for other, load in loads)))

    def _others_use(self, slot: int, gathered: bool, loads: Sequence[tuple[Function, int]]) -> bool:
        """Whether others may use a variable than those that are seen to read it."""
        function = self.function
        owner, home = function.binding(slot)
        if self.named:
            return False
        if function.number or home < 0:
            return owner != function.number
        if any(other is function and ordering.is_asked(other, load) for other, load in loads):
            return False
        return not self.source.asked.unsaid(self.module, self.source.site, function.text(slot), 1 + gathered)

    def _elsewhere(self, function: Function) -> _Order:
        """The same in another function of the file."""
        return self if function is self.function else replace(self, function=function)

    def _kept_as_attribute(self, at: int) -> int:
        """What it does where an attribute of some object holds the items; who else uses that isn't known."""
        function = self.function
        reads = [*function.code.same_attribute(function, at)]
        if any(ordering.is_sorted(other, read, self.meaning) for other, read in reads):
            return NOTHING
        kept = NOTHING if self.named and reads else KEPT
        return max((kept, *(self._elsewhere(other).of(read) for other, read in reads)))

    def _put_into(self, target: int, key: int = -1) -> int:
        """What it does where a value gets the items, all of them as one, perhaps under a key, or one by one."""
        self.packed = True
        return self._under(key).gathered(Grown("object", target))

    def _under(self, key: int) -> _Order:
        """The same of a table that has the items under a key."""
        text = self.function.constant(key) if key >= 0 else None
        return replace(self, under=text) if isinstance(text, str) else self

    def gathered(self, grown: Grown) -> int:
        """What it does where things are put into something one by one."""
        if grown.what == "sum" and self.source.kind == "set":
            return NOTHING
        if grown.what == "sum" and self._rounds(grown, grown.item):
            return KEPT
        if grown.what in ("numbers", "file"):
            return DECIDES
        if grown.what == "yield":
            return self.returned()
        if not self._is_new(~grown.value):
            return NOTHING
        function, operation = self.function, self.function.ops[grown.value]
        if operation[0] == op.ATTR:
            reads = function.code.same_attribute(function, grown.value)
            return NOTHING if any(ordering.is_sorted(other, at, self.meaning) for other, at in reads) else KEPT
        if operation[0] != op.LOAD:
            put_right = operation[0] == op.ITEM and ordering.are_sorted_inside(function, operation[1], self.meaning)
            return NOTHING if put_right else KEPT
        definitions = ordering.definitions(function, grown.value)
        if definitions is None:
            return self._of_variable_around(operation[1])
        made = {function.element(function.ops[at][2]) for at in definitions}
        aliases = [value for value in sorted(made) if function.ops[value][0] in _ALIASES]
        if aliases:
            return max(self.gathered(Grown(grown.what, alias, grown.item)) for alias in aliases)
        stores = (use.op for value in sorted(made) for use in function.users[value])
        others = [store for store in stores if function.ops[store][0] == op.STORE]
        own = self._read(operation[1], sorted(definitions), gathered=True)
        return max(
            (own, *(self._read(function.ops[store][1], [store]) for store in others if store not in definitions))
        )

    def _of_variable_around(self, slot: int) -> int:
        """What it does where things are put into a variable of a function around; who else uses one of the file isn't known."""
        binding = self.function.binding(slot)
        if binding.owner in (0, self.function.number) or binding.slot < 0:
            return KEPT
        owner = self.function.code.function(binding.owner)
        stores = [at for other, at in self.function.code.stores(binding) if other is owner]
        return self._elsewhere(owner)._read(binding.slot, stores, gathered=True)

    # -- who takes them -------------------------------------------------------------------------------------------------

    def _among(self, value: int, use: Use) -> int:
        """What it does where a display has the items, all of them as one, or one by one behind a star."""
        operation = self.function.ops[use.op]
        if self.function.ops[value][0] == op.STAR:
            return self.of(use.op)
        if operation[0] == op.DICT and use.place % 2 and operation[use.place] >= 0:
            return NOTHING  # they are the key
        self.packed = True
        return self._under(operation[use.place - 1] if operation[0] == op.DICT else -1).of(use.op)

    def _attribute(self, attribute: int) -> int:
        """What it does where an attribute is read, or a method called, of what holds the items."""
        function = self.function
        calls = [use.op for use in function.users[attribute] if function.ops[use.op][0] == op.CALL and use.place == 1]
        word = function.code.strings[function.ops[attribute][2]]
        if calls and self.columns:
            return self._of_table(word, calls)
        if calls and self.under is not None and word in TAKES_OUT:
            keys = [function.constant(given) for call in calls for given in function.call(call).positional[:1]]
            return max(map(replace(self, under=None, packed=False).of, calls)) if self.under in keys else NOTHING
        if calls and word not in ordering.VIEWS:
            return DECIDES if word.startswith(ordering.SAVES) else NOTHING  # a frame's rows are written in their order
        return max(map(self.of, calls or [attribute]))

    def _columns(self, item: int) -> int:
        """What it does where a table is asked for the columns, or rows, that the items name: it gives them in that order."""
        return DECIDES if replace(self, columns=True).of(item) else NOTHING

    def _of_table(self, word: str, calls: Sequence[int]) -> int:
        """What a method does of a table whose columns come in that order."""
        if word.startswith(ordering.SAVES):
            return DECIDES
        return NOTHING if word in ordering.SUMS_UP else max(map(self.of, calls))

    def _taken(self, use: Use) -> int:
        """What it does where some of the items are taken by position."""
        function, key = self.function, self.function.ops[use.op][2]
        operation = function.ops[key]
        if operation[0] == op.SLICE and all(bound < 0 or function.constant(bound) is None for bound in operation[1:]):
            return self.of(use.op)
        if ordering.is_alone(function, function.ops[use.op][1]) or ordering.is_only_shown(
            function, use.op, self.meaning
        ):
            return NOTHING
        if operation[0] in (op.CONST, op.UNARY) and self.in_parts:
            return replace(self, in_parts=False).of(use.op)
        if self.under is not None and isinstance(word := function.constant(key), str):
            return replace(self, under=None, packed=False).of(use.op) if word == self.under else NOTHING
        if operation[0] in (op.CONST, op.UNARY):
            returned = any(function.ops[more.op][0] == op.RETURN for more in function.users[use.op])
            return CUT if returned else KEPT if self.depth or self.source.kind == "set" else NOTHING
        return KEPT if ordering.is_turn(function, key) else CUT

    def gone_through(self, loop: int, counted: bool) -> int:
        """What it does where a loop goes through the items, each of which has a number if they are counted."""
        function = self.function
        made = function.collected(loop)
        if self.under is not None:
            return KEPT  # all the items at once
        if made >= 0:
            done = self._comprehended(loop, made, counted)
        elif growth.only_logs(function, loop) or (counted and ordering.only_numbers(function, loop)):
            return NOTHING
        else:
            done = CUT if counted and ordering.is_split(function, loop) else self._looped(loop)
        return DECIDES if counted and done else done

    def _comprehended(self, loop: int, made: int, counted: bool) -> int:
        function = self.function
        kind = function.code.strings[function.ops[made][1]]
        if kind == "set":
            return NOTHING
        if kind == "dict" and self.source.kind == "set" and not counted:
            return DECIDES if self._draws(loop) else NOTHING
        if kind == "dict" and ordering.is_keyed(function, loop, function.ops[made][2]):
            return replace(self, named=True).of(made)
        if kind == "list" and not function.users[made]:
            return self._looped(loop)
        if kind == "dict" and counted:
            return replace(self, computed=True).of(made)
        given = next((function.ops[at][1] for at in range(made, loop, -1) if function.ops[at][0] == op.GIVE), -1)
        return self._of_item(given, loop).of(made)

    def _looped(self, loop: int) -> int:
        """What it does where a statement goes through the items, for its own sake."""
        function = self.function
        parts = [(use.op, function.ops[use.op]) for use in function.users[loop]]
        handed = [at for at, part in parts if part[0] == op.PART and part[2] > 0 and part[3] == 3]
        if len(handed) == 2 and all(ordering.is_put_right(function, part, self.meaning) for part in handed):
            return NOTHING
        done = DECIDES if self._draws(loop) else CUT if ordering.is_left_at_once(function, loop) else NOTHING
        grown = growth.gathered(function, loop)
        if self.source.kind == "set" and not any(part.what != "sum" for part in grown):
            return done
        read = (function.ops[part.value] for part in grown if part.value >= 0)
        slots = (operation[1] for operation in read if operation[0] == op.LOAD)
        there = replace(self, beside=frozenset(slots))
        return max((done, *(there._of_item(part.item, loop).gathered(part) for part in grown)))

    def _of_item(self, item: int, loop: int) -> _Order:
        """The same of what a loop puts somewhere in each turn, which may be computed of the items."""
        computed = item >= 0 and ordering.is_computed(self.function, item, loop)
        return replace(self, computed=True) if computed else self

    def _rounds(self, grown: Grown, item: int) -> bool:
        """Whether what is added up in order of completion are numbers with a fraction, so that the sum is another one each time."""
        meanings, function = self.source.asked.meanings, self.function
        numbers = [value for value in (grown.value, item) if value >= 0]
        return self.source.kind == "completion" and any(
            numeric.is_fraction(meanings, self.meaning, function, value) for value in numbers
        )

    def _draws(self, loop: int) -> bool:
        """Whether a loop's body draws, so that the order says who gets which number."""
        function = self.function
        spans = {function.spans[at] for at in growth.ops_of(function, loop) if function.ops[at][0] == op.CALL}
        sites = (index for index, site in enumerate(self.module.sites) if site.span.place in spans)
        return any(self.source.asked.draws(self.module, index) for index in sites)
