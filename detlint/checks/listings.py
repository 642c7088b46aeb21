"""DET115, DET305, DET306: whether an order that nothing fixes becomes data: of a set, a listing, results as they come.

The items are followed from where they come, along the uses of what holds them: through names, attributes, loops, and functions of the
program that they are handed to or given back by.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

import msgspec
from msgspec.structs import replace

from detlint.catalog import Catalog
from detlint.checks.match import Match, Matcher
from detlint.facts.model import Const, Either, Ref, Site
from detlint.ir import ops as op
from detlint.ir.code import VALUES, Function
from detlint.ir.flow import BEFORE
from detlint.ir.uses import Use
from detlint.model import growth
from detlint.model.growth import GROWS, LEVELS, WRITES, Grown
from detlint.model.meaning import Meaning, Meanings
from detlint.model.places import call_of, point_of
from detlint.program.reach import is_object
from detlint.program.resolve import Module
from detlint.program.users import Callers

ERRORS: Final = ("Error", "Exception", "Warning")
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
VIEWS: Final = frozenset({"items", "keys", "values"})
SORTS: Final = frozenset({"builtins.sorted", "natsort.natsorted"})
NUMBERS: Final = frozenset({"range", "count", "arange"})
"""What `zip` gives items numbers by."""
_SAME_NUMBER: Final = frozenset({"builtins.abs", "builtins.int"})
_PASS_ON: Final = frozenset({op.AWAIT, op.STAR, op.WITH})
_ALIASES: Final = frozenset({op.ATTR, op.ITEM, op.LOAD, op.PART, op.FOR})
"""Codes of what gives an object that somebody else has, too."""
_ASK: Final = frozenset({op.COMPARE, op.UNARY, op.IF, op.UNTIL, op.ASSERT})
LISTS: Final = frozenset({"DET305", "DET306"})
"""The rules of listings, and of results as they come."""
NESTED: Final = "nested"
"""Entries in this context list things that hold listings themselves."""
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
    return _Order(program, module, meaning, found[0]).of(found[1])


def picks(module: Module, site: Site, match: Match, catalog: Catalog, matcher: Matcher, meanings: Meanings) -> bool:
    """Whether a hash is cut down to pick something by it: `hash(name) % 10`. What seeds is the business of DET110."""
    point, meaning = point_of(matcher.resolver, module, site), meanings.of(module)
    if point is None or meaning is None or module.function_of(site).name.endswith("__hash__"):
        return False
    options = [o for a in match.arguments.values() if isinstance(a.value, Either) for o in a.value.options]
    if any(isinstance(option, Const) and not isinstance(option.value, str) for option in options):
        return False  # what stands in for a number is one
    function, at = point
    for use in function.users[at]:
        taking = function.ops[use.op]
        cut = taking[0] == op.BINARY and use.place == 2 and function.code.strings[taking[1]] in ("%", "&")
        if cut and not _seeds(function, use.op, meaning, catalog):
            return True
    return False


def _seeds(function: Function, at: int, meaning: Meaning, catalog: Catalog) -> bool:
    """Whether a number is made a seed."""
    for use in function.users[at]:
        taking = function.ops[use.op]
        if taking[0] != op.CALL or use.place == 1:
            continue
        api = catalog.canonical(meaning.name(function, taking[1]))
        if any(catalog.entries[i].seeds for i in catalog.calls.get(api, ())):
            return True
    return False


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
    module: Module
    meaning: Meaning
    function: Function
    depth: int = 0
    """How many functions have given the items back on the way."""
    seen: set[tuple[str, int, int]] = set()
    """Files, functions and values that were followed."""
    packed: bool = False
    """Whether what is given back may hold all of the items as one of its own."""
    beside: frozenset[int] | None = None
    """The variables that the same loop gathers into, where the items are gathered: only with each other do they still belong together."""
    handed: _Handed | None = None
    """Where the function was handed the items; None where the site is its own."""

    @property
    def catalog(self) -> Catalog:
        return self.program.matcher.catalog

    def of(self, value: int) -> int:
        """What the order of the items in a value does."""
        key = (self.module.path, self.function.number, value)
        if key in self.seen or _is_alone(self.function, value):
            return NOTHING
        self.seen.add(key)
        return max((self._in(value, use) for use in self.function.users[value]), default=NOTHING)

    def _in(self, value: int, use: Use) -> int:
        """What it does in one use."""
        function, operation = self.function, self.function.ops[use.op]
        code = operation[0]
        if code == op.STORE:
            return self._held(use.op)
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
        if code == op.PART:
            return (
                KEPT if self.depth and operation[3] != 1 else NOTHING
            )  # what a function gives back may be more than the items
        if code in _PASS_ON or (code == op.CHOICE and use.place > 1):
            return self.of(use.op)
        if code in (op.LIST, op.TUPLE, op.DICT):
            return self._among(use)
        if code == op.GIVE:
            self.packed = True
            return self._collected(function.collected(use.op))
        return NOTHING

    # -- what holds them ------------------------------------------------------------------------------------------------

    def _held(self, store: int) -> int:
        """What it does where a name holds the items."""
        slot = self.function.ops[store][1]
        return self._read(slot, [store], gathered=False)

    def _read(self, slot: int, stores: Sequence[int], gathered: bool) -> int:
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
        if any(_is_sorted(other, load, self.meaning) for other, load in loads):
            return NOTHING
        done = NOTHING
        if (
            owner == 0
            and home >= 0
            and not any(other is function and _is_asked(other, load) for other, load in loads)
            and not function.number
        ):
            # who else uses a name of the module isn't known
            unsaid = self.program.unsaid(self.module, self.program.site, name, 1 + gathered)
            done = NOTHING if unsaid else KEPT
        elif owner != function.number:
            done = KEPT
        return max((done, *(self._elsewhere(other).of(load) for other, load in loads)))

    def _elsewhere(self, function: Function) -> _Order:
        """The same in another function of the file."""
        return self if function is self.function else replace(self, function=function)

    def _kept_as_attribute(self, at: int) -> int:
        """What it does where an attribute of some object holds the items; who else uses that isn't known."""
        function = self.function
        name, base = function.code.strings[function.ops[at][2]], function.dotted(function.ops[at][1])
        reads = [(function.code.function(number), read) for number, read in function.code.attributes.get(name, ())]
        reads = [
            (other, read)
            for other, read in reads
            if other.ops[read][0] == op.ATTR and other.dotted(other.ops[read][1]) == base
        ]
        if any(_is_sorted(other, read, self.meaning) for other, read in reads):
            return NOTHING
        return max((KEPT, *(self._elsewhere(other).of(read) for other, read in reads)))

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
        function, operation = self.function, self.function.ops[grown.value]
        if operation[0] == op.ATTR:
            name, base = function.code.strings[operation[2]], function.dotted(operation[1])
            reads = ((function.code.function(n), at) for n, at in function.code.attributes.get(name, ()))
            put_right = any(
                other.ops[at][0] == op.ATTR
                and other.dotted(other.ops[at][1]) == base
                and _is_sorted(other, at, self.meaning)
                for other, at in reads
            )
            return NOTHING if put_right else KEPT
        if operation[0] != op.LOAD:
            return KEPT if not (operation[0] == op.ITEM and self._are_sorted_inside(operation[1])) else NOTHING
        definitions = _definitions(function, grown.value)
        if definitions is None:
            return KEPT
        made = {function.element(function.ops[at][2]) for at in definitions}
        aliases = [value for value in sorted(made) if function.ops[value][0] in _ALIASES]
        if aliases:
            return max(self._gathered(Grown(grown.what, alias)) for alias in aliases)
        others = [
            use.op for value in sorted(made) for use in function.users[value] if function.ops[use.op][0] == op.STORE
        ]
        own = self._read(operation[1], sorted(definitions), gathered=True)
        return max((own, *(self._held(store) for store in others if store not in definitions)))

    def _are_sorted_inside(self, table: int) -> bool:
        """Whether each item of a table is sorted: `for names in groups.values(): names.sort()`."""
        function = self.function
        if function.ops[table][0] != op.LOAD:
            return False
        for load, operation in function.each(op.LOAD):
            if operation != function.ops[table]:
                continue
            for use in function.users[load]:
                taking = function.ops[use.op]
                if taking[0] == op.ITEM and use.place == 1 and _is_sorted(function, use.op, self.meaning):
                    return True
                if taking[0] == op.ATTR and function.code.strings[taking[2]] in VIEWS and self._sorts_each(use.op):
                    return True
        return False

    def _sorts_each(self, view: int) -> bool:
        """Whether a loop goes through a table and sorts what is in it."""
        function = self.function
        calls = [use.op for use in function.users[view]]
        loops = [use.op for call in calls for use in function.users[call] if function.ops[use.op][0] == op.FOR]
        parts = loops + [use.op for loop in loops for use in function.users[loop] if function.ops[use.op][0] == op.PART]
        stores = [use.op for part in parts for use in function.users[part] if function.ops[use.op][0] == op.STORE]
        return any(
            _is_sorted(function, load, self.meaning) for store in stores for load in function.loads.get(store, ())
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
        if not calls:
            return self.of(attribute)
        word = function.code.strings[function.ops[attribute][2]]
        return max(map(self.of, calls)) if word in VIEWS else NOTHING

    def _taken(self, use: Use) -> int:
        """What it does where some of the items are taken by position."""
        function, key = self.function, self.function.ops[use.op][2]
        operation = function.ops[key]
        if operation[0] == op.SLICE and all(bound < 0 or function.constant(bound) is None for bound in operation[1:]):
            return self.of(use.op)
        if _is_alone(function, function.ops[use.op][1]) or _is_only_shown(function, use.op, self.meaning):
            return NOTHING
        if operation[0] in (op.CONST, op.UNARY):
            returned = any(function.ops[more.op][0] == op.RETURN for more in function.users[use.op])
            return CUT if returned else KEPT if self.depth or self.program.of_set else NOTHING
        return KEPT if _is_turn(function, key) else CUT

    def _collected(self, made: int) -> int:
        """What it does where a comprehension gathers things."""
        is_set = self.function.code.strings[self.function.ops[made][1]] == "set"
        return NOTHING if is_set else self.of(made)

    def _gone_through(self, loop: int, counted: bool) -> int:
        """What it does where a loop goes through the items.

        Args:
            counted: whether each has a number.
        """
        function = self.function
        made = function.collected(loop)
        if made >= 0:
            done = self._comprehended(loop, made, counted)
        elif growth.only_logs(function, loop) or (counted and _only_numbers(function, loop)):
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
        if kind == "dict" and _is_keyed(function, loop, function.ops[made][2]):
            return self._keyed(made)
        if kind == "list" and not function.users[made]:
            return self._looped(loop)
        return self.of(made)

    def _looped(self, loop: int) -> int:
        """What it does where a statement goes through the items, for its own sake."""
        function = self.function
        parts = [(use.op, function.ops[use.op]) for use in function.users[loop]]
        handed = [at for at, part in parts if part[0] == op.PART and part[2] > 0 and part[3] == 3]
        if len(handed) == 2 and all(self._is_put_right(part) for part in handed):
            return NOTHING
        done = DECIDES if self._draws(loop) else CUT if _is_left_at_once(function, loop) else NOTHING
        grown = growth.gathered(function, loop)
        if self.program.of_set and not any(part.what != "sum" for part in grown):
            return done
        read = (function.ops[part.value] for part in grown if part.value >= 0)
        slots = (operation[1] for operation in read if operation[0] == op.LOAD)
        there = replace(self, beside=frozenset(slots))
        return max((done, *map(there._gathered, grown)))

    def _is_put_right(self, part: int) -> bool:
        """Whether one of several things that a loop is handed is sorted, or never read: `for root, dirs, files in os.walk(folder)`."""
        function = self.function
        stores = [use.op for use in function.users[part]]
        if any(function.ops[store][0] != op.STORE for store in stores):
            return False
        loads = [load for store in stores for load in function.loads.get(store, ())]
        return not loads or any(_is_sorted(function, load, self.meaning) for load in loads)

    def _draws(self, loop: int) -> bool:
        """Whether a loop's body draws, so that the order says who gets which number."""
        matcher, function = self.program.matcher, self.function
        body = range(loop + 1, function.flow.parts[loop][1])
        spans = {function.spans[at] for at in body if function.ops[at][0] == op.CALL}
        return any(
            match.entry.draws
            and not match.entry.rule.startswith("DET1")
            and not is_object(match, matcher.resolver.layer(match.name) is not None)
            for index, site in enumerate(self.module.sites)
            if site.span.place in spans
            for match in matcher.matches(self.module, index)
        )

    def _keyed(self, made: int) -> int:
        """What it does where a table is made by the names of the items: nothing where the table is only asked for names."""
        return _Asked(self).of(made)

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
            inside = self._inside(call, value, name)
            return inside if inside is not None else KEPT
        return self._by_name(name, word)

    def _passed_on(self, call: int, name: str) -> int:
        """What it does where a call gives the items back in their order, with a number for each, perhaps."""
        counted = name == "builtins.enumerate" or (name == "builtins.zip" and self._zips_numbers(call))
        if not counted:
            return self.of(call)
        done = NOTHING
        for use in self.function.users[call]:
            code = self.function.ops[use.op][0]
            if code == op.FOR:
                done = max(done, self._gone_through(use.op, counted=True))
            elif (code == op.CALL and self._name(use.op) == "builtins.dict") or self._in(call, use):
                return DECIDES
        return done

    def _zips_numbers(self, call: int) -> bool:
        function = self.function
        return any(function.called(value) in NUMBERS for value in function.call(call).positional)

    def _method(self, call: int, value: int, word: str) -> int:
        """The same of a method whose name tells what it does, of an object of which no more is known, or of one of the program's."""
        function = self.function
        base = function.called_on(call)
        if word in ("append", "insert", "put", "appendleft", "extend"):
            self.packed = self.packed or word != "extend"
            return self._gathered(Grown("object", base))
        if word == "join" and (isinstance(function.constant(base), str) or function.ops[base][0] == op.TEXT):
            return self.of(call)
        if word in WRITES:
            return DECIDES
        if word in MAPS:
            return self.of(call)
        if word == "shuffle":
            return NOTHING
        if word in self.catalog.all_drawing_words:
            return DECIDES
        if word in LOOKS or word.startswith("assert"):
            return NOTHING
        return self._by_method(call, value, word)

    def _by_method(self, call: int, value: int, word: str) -> int:
        """What a method does of an object of a class of the program, which nothing replaces or wraps."""
        function = self.function
        kind = self.meaning.kind(function, function.called_on(call))
        path, colon, owner = kind.partition("::")
        if not colon:
            return KEPT
        inside = self._inside(call, value, f"{path}::{owner}.{word}", bound=1)
        return inside if inside is not None else KEPT

    def _by_name(self, name: str, word: str) -> int:
        """The same of what is called by its full name."""
        if not name:
            return KEPT if not word or not word.endswith(ERRORS) else NOTHING
        last = name.rpartition(".")[2]
        if name in MIXES or last in ("sorted", "natsorted", "len", "set", "sort") or last.endswith(ERRORS):
            return NOTHING
        if name in self.catalog.orderless:
            return NOTHING
        draws = any(self.catalog.entries[i].draws for i in self.catalog.calls.get(name, ()))
        if draws or name in self.catalog.numbers_texts:
            return DECIDES
        return CUT if name in self.catalog.keeps_order else KEPT

    def _inside(self, call: int, value: int, name: str, bound: int = 0) -> int | None:
        """What a function of the program does with the order of the items that a call hands it; None where that isn't seen.

        Args:
            name: its normal name.
            bound: how many parameters are the object itself.
        """
        found = self.program.meanings.definition(name)
        if found is None or found[1].is_class or found[1].decorators:
            return None
        meaning, body = found
        slots = [*_given(self.function, call, value, body, bound)]
        if not slots or not self._is_beside(call):
            return None
        handed = _Handed(self, call)
        there = replace(self, module=meaning.module, meaning=meaning, function=body, beside=None, handed=handed)
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
        if any(_is_sorted(function, load, self.meaning) for load in loads):
            return NOTHING
        return max((self.of(load) for load in loads), default=NOTHING)

    def _returned(self) -> int:
        """What those do with the items who call a function that gives them back: nothing, if it is nothing everywhere."""
        if self.handed is not None:
            by, call = self.handed
            return by.of(call)
        name = (
            self.module.function_of(self.program.module.sites[self.program.site]).name
            if not self.depth
            else self.function.qualified
        )
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
        there = replace(self, module=module, meaning=meaning, function=point.function, depth=self.depth + 1)
        kept = any(point.function.ops[use.op][0] == op.STORE for use in point.function.users[point.at])
        if kept and not self._is_flat():
            return KEPT
        return KEPT if there.of(point.at) else NOTHING

    def _is_flat(self) -> bool:
        """Whether what a function gives back is nothing but the items, each of them whole, and none a listing itself."""
        program = self.program
        found = (
            [match.entry for match in program.matcher.matches(program.module, program.site)] if not self.depth else []
        )
        whole = any(e.rule in LISTS for e in found) and not any(NESTED in e.contexts for e in found)
        yields = any(True for _ in self.function.each(op.YIELD, op.YIELD_FROM))
        return whole and not self.packed and not yields


class _Asked(NamedTuple):
    """Asks what a table is used for that has the items by their names."""

    order: _Order

    def of(self, table: int) -> int:
        """What the order does in a table: nothing where this is asked by name."""
        function = self.order.function
        return max((self._in(use) for use in function.users[table]), default=NOTHING)

    def _in(self, use: Use) -> int:
        order, function, operation = self.order, self.order.function, self.order.function.ops[use.op]
        if operation[0] == op.STORE:
            loads = [(function, load) for load in function.loads.get(use.op, ())]
            if operation[1] in function.shared or not function.number:
                loads = [*function.code.reads(function.binding(operation[1]))]
            return max((_Asked(order._elsewhere(other)).of(load) for other, load in loads), default=NOTHING)
        if operation[0] == op.SET_ATTR:
            return self._of_attribute(use.op)
        if operation[0] == op.ITEM or operation[0] in _ASK:
            return NOTHING
        if operation[0] == op.CALL and use.place > 1:
            return self._handed(use)
        return order._in(operation[use.place], use)

    def _of_attribute(self, at: int) -> int:
        """The same where an attribute holds it; who asks it nowhere in sight isn't known."""
        order, function = self.order, self.order.function
        name, base = function.code.strings[function.ops[at][2]], function.dotted(function.ops[at][1])
        reads = [(function.code.function(number), read) for number, read in function.code.attributes.get(name, ())]
        reads = [
            (other, read)
            for other, read in reads
            if other.ops[read][0] == op.ATTR and other.dotted(other.ops[read][1]) == base
        ]
        return max((_Asked(order._elsewhere(other)).of(read) for other, read in reads), default=KEPT)

    def _handed(self, use: Use) -> int:
        """The same of a function of the program that is handed it."""
        order, call = self.order, use.op
        function = order.function
        value, name = function.ops[call][use.place], order._name(call)
        found = order.program.meanings.definition(name)
        if found is None or found[1].is_class:
            return order._in(value, use)
        meaning, body = found
        there = replace(order, module=meaning.module, meaning=meaning, function=body, handed=_Handed(order, call))
        slots = [*_given(function, call, value, body, 0)]
        loads = [load for slot in slots for load in body.loads.get(BEFORE - slot, ())]
        return max(map(_Asked(there).of, loads), default=NOTHING) if slots else KEPT


def _given(function: Function, call: int, value: int, body: Function, bound: int) -> Iterator[int]:
    """The parameters of a function by which a call hands it a value."""
    given, parameters = function.call(call), body.header.parameters
    for position, handed in enumerate(given.positional):
        if handed == value and position + bound < len(parameters):
            yield position + bound
        if function.ops[handed][0] == op.STAR:
            break
    names = {body.text(slot): slot for slot in range(len(parameters))}
    yield from (names[word] for word, handed in given.named.items() if handed == value and word in names)


def _definitions(function: Function, load: int) -> set[int] | None:
    """The definitions of a variable that give it the object that it is somewhere, with those by which it is bound to itself with more;
    None where it may have it from elsewhere."""
    found, waiting = set[int](), [load]
    slot = function.ops[load][1]
    if function.names[slot].owner != function.number:
        return None
    while waiting:
        for definition in function.flow.reaching.get(waiting.pop(), frozenset((BEFORE,))):
            if definition < 0 or function.ops[definition][0] != op.STORE:
                return None
            if definition not in found:
                found.add(definition)
                made = function.ops[definition][2]
                waiting += [p for p in function.within(made) if function.ops[p] == function.ops[load]]
    after = {
        at
        for at, operation in function.each(op.STORE)
        if operation[1] == slot
        and any(
            function.ops[p] == function.ops[load] and found & function.flow.reaching.get(p, frozenset())
            for p in function.within(operation[2])
        )
    }
    return found | after


def _is_asked(function: Function, load: int) -> bool:
    """Whether anything is done where a name is read but to compare it, or to put something into what it holds."""
    for use in function.users[load]:
        taking = function.ops[use.op]
        grows = taking[0] == op.ATTR and function.code.strings[taking[2]] in GROWS
        if taking[0] != op.COMPARE and not grows:
            return True
    return False


def _is_left_at_once(function: Function, loop: int) -> bool:
    """Whether a loop never comes to its second turn."""
    body = range(loop + 1, function.flow.parts[loop][1])
    return any(function.ops[at][0] in (op.RETURN, op.BREAK) and function.flow.blocks[at] == loop for at in body)


def _is_sorted(function: Function, value: int, meaning: Meaning) -> bool:
    """Whether a value is sorted: where it stands, or for who asks."""
    for use in function.users[value]:
        taking = function.ops[use.op]
        if taking[0] == op.ATTR and function.code.strings[taking[2]] == "sort" and function.users[use.op]:
            return True
        if taking[0] == op.CALL and use.place == 3 and meaning.name(function, taking[1]) in SORTS:
            return True
    return False


def _is_alone(function: Function, load: int) -> bool:
    """Whether what a name holds has one item at most where it is read, which is in order however it came: `assert len(files) == 1`."""
    if function.ops[load][0] != op.LOAD:
        return False
    return any(_has_one(function, guard.test, guard.holds, function.ops[load][1]) for guard in function.guards(load))


_ONE: Final = {True: (("==", 1), ("<=", 1), ("<", 2)), False: (("!=", 1), (">", 1), (">=", 2))}


def _has_one(function: Function, test: int, holds: bool, slot: int) -> bool:
    """Whether a variable has one item at most if a test holds, or if it fails."""
    operation, strings = function.ops[test], function.code.strings
    if operation[0] == op.CHOICE and strings[operation[1]] == ("and" if holds else "or"):
        return any(_has_one(function, part, holds, slot) for part in operation[2:])
    if operation[0] != op.COMPARE or (strings[operation[2]], function.constant(operation[3])) not in _ONE[holds]:
        return False
    asked = function.ops[operation[1]]
    counts = asked[0] == op.CALL and asked[2] == 1 and function.is_builtin(asked[1], "len")
    return counts and function.ops[asked[3]] == (op.LOAD, slot)


def _is_only_shown(function: Function, value: int, meaning: Meaning) -> bool:
    """Whether a value is only shown to people: printed, logged, told by an error."""
    uses = function.users[value]
    for use in uses:
        taking = function.ops[use.op]
        if taking[0] in (op.FORMAT, op.TEXT):
            if not _is_only_shown(function, use.op, meaning):
                return False
            continue
        if taking[0] != op.CALL or use.place == 1:
            return False
        word = function.called(use.op)
        if not (word in LEVELS or word == "print" or word.endswith(ERRORS)):
            return False
    return bool(uses)


def _is_turn(function: Function, key: int) -> bool:
    """Whether a position is what a loop counts with: `for i in range(n)`."""
    stored = function.stored(key) if function.ops[key][0] == op.LOAD else None
    loops = [function.ops[value] for value in stored or ()]
    return bool(loops) and all(
        loop[0] == op.FOR
        and function.ops[loop[1]][0] == op.CALL
        and function.is_builtin(function.ops[loop[1]][1], "range")
        for loop in loops
    )


def _only_numbers(function: Function, loop: int) -> bool:
    """Whether a loop takes no more than the numbers of what it goes through: `for i, _ in enumerate(os.listdir(folder))`."""
    parts = [(use.op, function.ops[use.op]) for use in function.users[loop]]
    items = [at for at, part in parts if part[0] == op.PART and part[2:] == (1, 2)]
    stores = [use.op for at in items for use in function.users[at] if function.ops[use.op][0] == op.STORE]
    return bool(stores) and len(parts) == 2 and not any(function.loads.get(store) for store in stores)


def _is_keyed(function: Function, loop: int, mark: int) -> bool:
    """Whether a table is made by the names of what it is made of, and not of their numbers: `{name: load(name) for name in names}`."""
    gives = [operation for at, operation in function.each(op.GIVE) if mark in [*function.blocks(at)]]
    through = function.ops[function.ops[loop][1]]
    if through[0] == op.CALL and function.is_builtin(through[1], "enumerate", "zip"):
        return False
    return any(
        function.ops[part][0] == op.LOAD
        and any(_comes_of(function, found, loop) for found in function.flow.reaching.get(part, ()))
        for give in gives
        for part in function.within(give[1])
    )


def _comes_of(function: Function, definition: int, loop: int) -> bool:
    value = function.ops[definition][2] if definition >= 0 and function.ops[definition][0] == op.STORE else -1
    while value >= 0 and function.ops[value][0] == op.PART:
        value = function.ops[value][1]
    return value == loop
