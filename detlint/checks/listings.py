"""DET115, DET305, DET306: whether an order that nothing fixes becomes data: of a set, a listing, results as they come.

The items are followed from where they come, along the uses of what holds them: through names, attributes, loops, and functions of the
program that they are handed to or given back by.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import msgspec
from msgspec.structs import replace

from detlint.catalog import UNORDERED, Catalog
from detlint.checks.match import Matcher
from detlint.facts.model import Ref
from detlint.ir import ops as op
from detlint.ir.code import VALUES, Function
from detlint.ir.flow import BEFORE
from detlint.ir.uses import Use
from detlint.model import growth, order
from detlint.model.growth import GROWS, WRITES, Grown
from detlint.model.meaning import Meaning, Meanings
from detlint.model.module import Module
from detlint.model.places import call_of
from detlint.model.uses import Callers
from detlint.program.reach import is_object

# Methods that show what they are given, or only look at it, by their names.
LOOKS: Final = frozenset({
    "add", "create_commit", "critical", "debug", "difference", "difference_update", "discard", "endswith", "error", "exception",
    "format", "info", "intersection", "intersection_update", "isdisjoint", "isin", "issubset", "issuperset", "log", "pop",
    "print", "remove", "set_description", "startswith", "symmetric_difference", "union", "update", "warn", "warning",
    "warning_once",
})  # fmt: skip
MIXES: Final = frozenset({"numpy.random.shuffle", "random.shuffle"})
"""What puts a list into another order where it stands."""
MAPS: Final = frozenset({"map", "imap", "starmap"})
"""Methods of pools that give a result for each item, in order."""
NUMBERS: Final = frozenset({"range", "count", "arange"})
"""What `zip` gives items numbers by."""
_SAME_NUMBER: Final = frozenset({"builtins.abs", "builtins.int"})
_PASS_ON: Final = frozenset({op.AWAIT, op.STAR, op.WITH})
_ALIASES: Final = frozenset({op.ATTR, op.ITEM, op.LOAD, op.PART, op.FOR})
"""Codes of what gives an object that somebody else has, too."""
_NAMES: Final = frozenset({op.STORE, op.SET_ATTR})
_ASK: Final = frozenset({op.ITEM, op.COMPARE, op.UNARY, op.IF, op.UNTIL, op.ASSERT})
NESTED: Final = "nested"
"""Entries in this context list things that hold listings themselves."""
PARTS: Final = "parts"
"""Entries in this context give a few things by position, each of which holds items in that order."""
NOTHING: Final = 0
KEPT: Final = 1
CUT: Final = 2
DECIDES: Final = 3
DEEPEST: Final = 4
"""Through so many functions that give it back a listing is followed."""


Unsaid = Callable[[Module, int, str, int], bool]
"""Whether a name is said so many times, all in the `__main__` block in which a site stands."""


def matters(module: Module, index: int, matcher: Matcher, meanings: Meanings, callers: Callers, unsaid: Unsaid) -> int:
    """What the order of the items at a site does.

    Returns: `NOTHING` where they are only handled one by one (deleted, copied, printed), tested or sorted; `KEPT` where they
    are gathered, returned or put somewhere as they come; `CUT` where some are taken by position, or all made an array;
    `DECIDES` where the order surely shows: they are counted, drawn from, written to a file, or a loop over them draws.
    """
    site, meaning, code = module.sites[index], meanings.of(module), matcher.resolver.code(module.path)
    if code is None or meaning is None:
        return KEPT
    # Of a set, the place is that of what is taken in order, not of who takes it.
    codes = VALUES if site.kind == "order" else (op.CALL,)
    found = code.at(site.span.place, *codes)
    if found is None:
        return KEPT
    program = _Program(matcher, meanings, callers, unsaid, module, index, site.kind == "order")
    in_parts = any(PARTS in match.entry.contexts for match in matcher.matches(module, index))
    return _Order(program, meaning, found[0], in_parts=in_parts).of(found[1])


class _Handed(NamedTuple):
    """Where a function was handed some items."""

    by: _Order
    """What becomes of them in the function that did it."""
    call: int
    """The call, of which comes what it gives back."""


class _Program(NamedTuple):
    """What is asked, and of what."""

    matcher: Matcher
    meanings: Meanings
    callers: Callers
    unsaid: Unsaid
    module: Module
    site: int
    """The position of the site."""
    of_set: bool
    """Whether it is that of a set, which is gone through everywhere; rounding alone is not worth a word there."""


class _Order(msgspec.Struct):
    """What becomes of items in one function."""

    program: _Program
    meaning: Meaning
    function: Function
    depth: int = 0
    """How many functions have given the items back on the way."""
    seen: set[tuple[str, int, int]] = set()
    """Files, functions and values that were followed; a value that grows as its complement, which is negative."""
    packed: bool = False
    """Whether what is given back may hold all of the items as one of its own."""
    beside: frozenset[int] | None = None
    """The variables that the same loop gathers into, where the items are gathered: only with each other do they still belong together."""
    handed: _Handed | None = None
    """Where the function was handed the items; None where the site is its own."""
    in_parts: bool = False
    """Whether the items are in the parts of what is followed."""
    named: bool = False
    """Whether it is followed what a table is asked for that has the items by their names: by name, that is nothing."""

    @property
    def module(self) -> Module:
        return self.meaning.module

    @property
    def catalog(self) -> Catalog:
        return self.program.matcher.catalog

    def of(self, value: int) -> int:
        """What the order of the items in a value does."""
        if order.is_alone(self.function, value) or not self._is_new(value):
            return NOTHING
        return max((self._in(value, use) for use in self.function.users[value]), default=NOTHING)

    def _is_new(self, value: int) -> bool:
        """Whether a value wasn't followed before; from now on it was."""
        before = len(self.seen)
        self.seen.add((self.module.path, self.function.number, value))
        return len(self.seen) > before

    def _in(self, value: int, use: Use) -> int:
        """What it does in one use."""
        function, operation = self.function, self.function.ops[use.op]
        code = operation[0]
        if self.named and code in _ASK:
            return NOTHING
        if self.named and not (code in _NAMES or (code == op.CALL and use.place > 1 and "::" in self._name(use.op))):
            return replace(self, named=False)._in(value, use)
        if code == op.STORE:
            return self._read(operation[1], [use.op])
        if code == op.CALL:
            return self._called(value, use)
        if code == op.ATTR:
            return self._attribute(use.op)
        if code == op.ITEM:
            return self._taken(use) if use.place == 1 else NOTHING
        if code == op.FOR:
            return self._gone_through(use.op, counted=False)
        if code in (op.RETURN, op.YIELD, op.YIELD_FROM):
            return self._returned()
        if code == op.SET_ATTR:
            return self._kept_as_attribute(use.op) if use.place == 3 else NOTHING
        if code == op.SET_ITEM:
            return self._put_into(operation[1]) if use.place == 3 else NOTHING
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
            return self._among(use)
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
        if any(order.is_sorted(other, load, self.meaning) for other, load in loads):
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
        if any(other is function and order.is_asked(other, load) for other, load in loads):
            return False
        return not self.program.unsaid(self.module, self.program.site, function.text(slot), 1 + gathered)

    def _elsewhere(self, function: Function) -> _Order:
        """The same in another function of the file."""
        return self if function is self.function else replace(self, function=function)

    def _kept_as_attribute(self, at: int) -> int:
        """What it does where an attribute of some object holds the items; who else uses that isn't known."""
        function = self.function
        reads = [*function.code.same_attribute(function, at)]
        if any(order.is_sorted(other, read, self.meaning) for other, read in reads):
            return NOTHING
        kept = NOTHING if self.named and reads else KEPT
        return max((kept, *(self._elsewhere(other).of(read) for other, read in reads)))

    def _put_into(self, target: int) -> int:
        """What it does where a value gets the items, all of them as one, or one by one."""
        self.packed = True
        return self._gathered(Grown("object", target))

    def _gathered(self, grown: Grown) -> int:
        """What it does where things are put into something one by one."""
        if grown.what == "sum" and self.program.of_set:
            return NOTHING
        if grown.what in ("numbers", "file"):
            return DECIDES
        if grown.what == "yield":
            return self._returned()
        if not self._is_new(~grown.value):
            return NOTHING
        function, operation = self.function, self.function.ops[grown.value]
        if operation[0] == op.ATTR:
            reads = function.code.same_attribute(function, grown.value)
            return NOTHING if any(order.is_sorted(other, at, self.meaning) for other, at in reads) else KEPT
        if operation[0] != op.LOAD:
            put_right = operation[0] == op.ITEM and order.are_sorted_inside(function, operation[1], self.meaning)
            return NOTHING if put_right else KEPT
        definitions = order.definitions(function, grown.value)
        if definitions is None:
            return KEPT
        made = {function.element(function.ops[at][2]) for at in definitions}
        aliases = [value for value in sorted(made) if function.ops[value][0] in _ALIASES]
        if aliases:
            return max(self._gathered(Grown(grown.what, alias)) for alias in aliases)
        stores = (use.op for value in sorted(made) for use in function.users[value])
        others = [store for store in stores if function.ops[store][0] == op.STORE]
        own = self._read(operation[1], sorted(definitions), gathered=True)
        return max(
            (own, *(self._read(function.ops[store][1], [store]) for store in others if store not in definitions))
        )

    # -- who takes them -------------------------------------------------------------------------------------------------

    def _among(self, use: Use) -> int:
        """What it does where a display has the items, all of them as one."""
        operation = self.function.ops[use.op]
        if operation[0] == op.DICT and use.place % 2 and operation[use.place] >= 0:
            return NOTHING  # they are the key
        self.packed = True
        return self.of(use.op)

    def _attribute(self, attribute: int) -> int:
        """What it does where an attribute is read, or a method called, of what holds the items."""
        function = self.function
        calls = [use.op for use in function.users[attribute] if function.ops[use.op][0] == op.CALL and use.place == 1]
        if calls and function.code.strings[function.ops[attribute][2]] not in order.VIEWS:
            return NOTHING
        return max(map(self.of, calls or [attribute]))

    def _taken(self, use: Use) -> int:
        """What it does where some of the items are taken by position."""
        function, key = self.function, self.function.ops[use.op][2]
        operation = function.ops[key]
        if operation[0] == op.SLICE and all(bound < 0 or function.constant(bound) is None for bound in operation[1:]):
            return self.of(use.op)
        if order.is_alone(function, function.ops[use.op][1]) or order.is_only_shown(function, use.op, self.meaning):
            return NOTHING
        if operation[0] in (op.CONST, op.UNARY) and self.in_parts:
            return replace(self, in_parts=False).of(use.op)
        if operation[0] in (op.CONST, op.UNARY):
            returned = any(function.ops[more.op][0] == op.RETURN for more in function.users[use.op])
            return CUT if returned else KEPT if self.depth or self.program.of_set else NOTHING
        return KEPT if order.is_turn(function, key) else CUT

    def _gone_through(self, loop: int, counted: bool) -> int:
        """What it does where a loop goes through the items, each of which has a number if they are counted."""
        function = self.function
        made = function.collected(loop)
        if made >= 0:
            done = self._comprehended(loop, made, counted)
        elif growth.only_logs(function, loop) or (counted and order.only_numbers(function, loop)):
            return NOTHING
        else:
            done = self._looped(loop)
        return DECIDES if counted and done else done

    def _comprehended(self, loop: int, made: int, counted: bool) -> int:
        function = self.function
        kind = function.code.strings[function.ops[made][1]]
        if kind == "set":
            return NOTHING
        if kind == "dict" and self.program.of_set and not counted:
            return DECIDES if self._draws(loop) else NOTHING
        if kind == "dict" and order.is_keyed(function, loop, function.ops[made][2]):
            return replace(self, named=True).of(made)
        if kind == "list" and not function.users[made]:
            return self._looped(loop)
        return self.of(made)

    def _looped(self, loop: int) -> int:
        """What it does where a statement goes through the items, for its own sake."""
        function = self.function
        parts = [(use.op, function.ops[use.op]) for use in function.users[loop]]
        handed = [at for at, part in parts if part[0] == op.PART and part[2] > 0 and part[3] == 3]
        if len(handed) == 2 and all(order.is_put_right(function, part, self.meaning) for part in handed):
            return NOTHING
        done = DECIDES if self._draws(loop) else CUT if order.is_left_at_once(function, loop) else NOTHING
        grown = growth.gathered(function, loop)
        if self.program.of_set and not any(part.what != "sum" for part in grown):
            return done
        read = (function.ops[part.value] for part in grown if part.value >= 0)
        slots = (operation[1] for operation in read if operation[0] == op.LOAD)
        there = replace(self, beside=frozenset(slots))
        return max((done, *map(there._gathered, grown)))

    def _draws(self, loop: int) -> bool:
        """Whether a loop's body draws, so that the order says who gets which number."""
        matcher, function = self.program.matcher, self.function
        body = range(loop + 1, function.flow.parts[loop][1])
        spans = {function.spans[at] for at in body if function.ops[at][0] == op.CALL}
        return any(
            match.entry.draws
            and not match.entry.rule.startswith("DET1")
            and not is_object(match, matcher.resolver.kinds.layer(match.name) is not None)
            for index, site in enumerate(self.module.sites)
            if site.span.place in spans
            for match in matcher.matches(self.module, index)
        )

    # -- functions ------------------------------------------------------------------------------------------------------

    def _name(self, call: int) -> str:
        """The full name of what is called; "" where it has none."""
        callee, base = self.function.ops[call][1], self.function.called_on(call)
        operation = self.function.ops[callee]
        if base >= 0 and not isinstance(self.meaning.value(self.function, base), Ref):
            return ""
        name = self.meaning.name(self.function, callee)
        if operation[0] == op.LOAD and self.function.text(operation[1]) in self.catalog.stand_ins:
            return self.catalog.stand_ins[self.function.text(operation[1])]
        return self.catalog.canonical(name)

    def _called(self, value: int, use: Use) -> int:
        """What it does where a call is handed the items."""
        if use.place == 1:  # `Parallel(...)(...)`: what is built here makes what is used there
            return self.of(use.op) if self.function.ops[value][0] == op.CALL else NOTHING
        function, call = self.function, use.op
        name, word = self._name(call), function.called(call)
        if name in self.catalog.same_order or name in _SAME_NUMBER:
            return self._passed_on(call, name)
        if function.called_on(call) >= 0 and not name:
            return self._method(call, value, word)
        if "::" in name:
            return self._inside(call, value, name)
        return self._by_name(name, word)

    def _passed_on(self, call: int, name: str) -> int:
        """What it does where a call gives the items back in their order, with a number for each, perhaps."""
        given = map(self.function.called, self.function.call(call).positional)
        if name != "builtins.enumerate" and not (name == "builtins.zip" and not NUMBERS.isdisjoint(given)):
            return self.of(call)
        done = NOTHING
        for use in self.function.users[call]:
            code = self.function.ops[use.op][0]
            if code == op.FOR:
                done = max(done, self._gone_through(use.op, counted=True))
            elif (code == op.CALL and self._name(use.op) == "builtins.dict") or self._in(call, use):
                return DECIDES
        return done

    def _method(self, call: int, value: int, word: str) -> int:
        """The same of a method whose name tells what it does, of an object of which no more is known, or of one of the program's."""
        function = self.function
        base = function.called_on(call)
        if word in GROWS:
            self.packed = self.packed or word != "extend"
            return self._gathered(Grown("object", base))
        if word == "join" and (isinstance(function.constant(base), str) or function.ops[base][0] == op.TEXT):
            return self.of(call)
        if word in WRITES:
            return DECIDES
        if word in MAPS:
            return self.of(call)
        if word in self.catalog.all_drawing_words:
            return NOTHING if word == "shuffle" else DECIDES
        if word in LOOKS or word.startswith("assert"):
            return NOTHING
        return self._by_method(call, value, word)

    def _by_method(self, call: int, value: int, word: str) -> int:
        """What a method does of an object of a class of the program, which nothing replaces or wraps."""
        function = self.function
        kind = self.meaning.kind(function, function.called_on(call))
        path, colon, owner = kind.partition("::")
        return self._inside(call, value, f"{path}::{owner}.{word}", bound=1) if colon else KEPT

    def _by_name(self, name: str, word: str) -> int:
        """The same of what is called by its full name."""
        if not name:
            return KEPT if not word or not word.endswith(order.ERRORS) else NOTHING
        last = name.rpartition(".")[2]
        sorts = last in ("sorted", "natsorted", "len", "set", "sort") or last.endswith(order.ERRORS)
        if sorts or name in MIXES or name in self.catalog.orderless:
            return NOTHING
        draws = any(self.catalog.entries[i].draws for i in self.catalog.calls.get(name, ()))
        if draws or name in self.catalog.numbers_texts:
            return DECIDES
        return CUT if name in self.catalog.keeps_order else KEPT

    def _inside(self, call: int, value: int, name: str, bound: int = 0) -> int:
        """What a function of the program does with the order of the items that a call hands it.

        Args:
            name: its normal name.
            bound: how many parameters are the object itself.
        """
        found = self.program.meanings.definition(name)
        if found is None or found[1].is_class or found[1].decorators:
            return KEPT
        meaning, body = found
        slots = [*body.taking(self.function, call, value, bound)]
        if not slots or not self._is_beside(call):
            return KEPT
        handed = _Handed(self, call)
        there = replace(self, meaning=meaning, function=body, beside=None, handed=handed)
        return max(there._parameter(slot) for slot in slots)

    def _is_beside(self, call: int) -> bool:
        """Whether a call is handed no more than what is gathered side by side, if anything is gathered: `accuracy(labels, found)`."""
        function = self.function
        given = (function.ops[value] for value in function.call(call).values())
        return self.beside is None or all(value[0] == op.LOAD and value[1] in self.beside for value in given)

    def _parameter(self, slot: int) -> int:
        """What it does where a parameter is the items."""
        function = self.function
        loads = function.loads.get(BEFORE - slot, ())
        if any(order.is_sorted(function, load, self.meaning) for load in loads):
            return NOTHING
        return max((self.of(load) for load in loads), default=NOTHING)

    def _returned(self) -> int:
        """What those do with the items who call a function that gives them back: nothing, if it is nothing everywhere."""
        if self.handed is not None:
            by, call = self.handed
            return by.of(call)
        own = self.program.module.sites[self.program.site]
        name = self.function.qualified if self.depth else self.module.function_of(own).name
        owner = self.function.parent is not None and self.function.parent.is_class
        uses = self.program.callers(self.module, name) if name and not owner and self.depth < DEEPEST else None
        if not uses or any(not use.called or use.site < 0 for use in uses):
            return KEPT
        return max(self._given_back(use.module, use.site) for use in uses)

    def _given_back(self, module: Module, index: int) -> int:
        resolver = self.program.matcher.resolver
        point, meaning = call_of(resolver, module, module.sites[index]), self.program.meanings.of(module)
        if point is None or meaning is None:
            return KEPT
        there = replace(self, meaning=meaning, function=point.function, depth=self.depth + 1)
        kept = any(point.function.ops[use.op][0] == op.STORE for use in point.function.users[point.at])
        if kept and not self._is_flat():
            return KEPT
        return KEPT if there.of(point.at) else NOTHING

    def _is_flat(self) -> bool:
        """Whether what a function gives back is nothing but the items, each of them whole, and none a listing itself."""
        program = self.program
        found = [match.entry for match in program.matcher.matches(program.module, program.site) if not self.depth]
        whole = any(e.rule in UNORDERED for e in found) and not any(NESTED in e.contexts for e in found)
        yields = any(True for _ in self.function.each(op.YIELD, op.YIELD_FROM))
        return whole and not self.packed and not yields
