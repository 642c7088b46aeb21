"""What functions do with the order of the items that they are handed, and what those do with what a function gives back who call it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from detlint.catalog import UNORDERED, Catalog, Entry
from detlint.domains.numeric import numeric
from detlint.domains.order import ordering
from detlint.ir import ops as op
from detlint.ir.code import Function
from detlint.ir.exits import BEFORE
from detlint.ir.uses import Use
from detlint.model.growth import GROWS, WRITES, Grown
from detlint.model.meaning import Meaning, Meanings
from detlint.model.module import Module
from detlint.model.places import call_at, call_of
from detlint.model.resolve import Resolver
from detlint.model.sites.records import Ref
from detlint.model.uses import Callers

NOTHING: Final = 0
"""They are only handled one by one (deleted, copied, printed), tested or sorted."""
KEPT: Final = 1
"""They are gathered, returned or put somewhere as they come."""
CUT: Final = 2
"""Some are taken by position, all are made an array, or what was computed of each is shown."""
DECIDES: Final = 3
"""The order surely shows: they are counted, drawn from, written to a file, columns, or a loop over them draws."""

# Methods that show what they are given, or only look at it, by their names.
LOOKS: Final = frozenset({
    "add", "create_commit", "critical", "debug", "difference", "difference_update", "discard", "drop", "endswith", "error", "exception",
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
FIRST: Final = 3
"""The operand of a call that is its first argument."""
NESTED: Final = "nested"
"""Entries in this context list things that hold listings themselves."""
DEEPEST: Final = 4
"""Through so many functions that give it back a listing is followed."""
SHOWS: Final = frozenset({"builtins.print", "pprint.pprint"})
_SAME_NUMBER: Final = frozenset({"builtins.abs", "builtins.int"})

Unsaid = Callable[[Module, int, str, int], bool]
"""Whether a name is said so many times, all in the `__main__` block in which a site stands."""
Kind = Literal["set", "listing", "completion"]


class Asked(NamedTuple):
    """Who knows what the domain asks for."""

    resolver: Resolver
    meanings: Meanings
    callers: Callers
    unsaid: Unsaid
    entries: Callable[[Module, int], Sequence[Entry]]
    """What the catalog knows of a site."""
    draws: Callable[[Module, int], bool]
    """Whether a site draws where it stands."""


class Source(NamedTuple):
    """Where the items come from."""

    asked: Asked
    module: Module
    site: int
    """The position of the site."""
    kind: Kind
    """Of a set, which is gone through everywhere, rounding alone isn't worth a word; the order of a listing stays as it is as long as the
    folder does, so that what is only printed of it is no matter."""


class Handed(NamedTuple):
    """Where a function was handed some items."""

    by: Functions
    """What becomes of them in the function that did it."""
    call: int
    """The call, of which comes what it gives back."""


class Functions(msgspec.Struct):
    """What becomes of items in one function, as far as others have a hand in it."""

    source: Source
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
    handed: Handed | None = None
    """Where the function was handed the items; None where the site is its own."""
    in_parts: bool = False
    """Whether the items are in the parts of what is followed."""
    named: bool = False
    """Whether it is followed what a table is asked for that has the items by their names: by name, that is nothing."""
    under: str | None = None
    """The key under which a table has all the items; None where they aren't in one, or not by a key that is written out."""
    computed: bool = False
    """Whether it is followed what was computed of each item."""
    columns: bool = False
    """Whether it is followed a table whose columns, or rows, come in that order."""

    @property
    def module(self) -> Module:
        return self.meaning.module

    @property
    def catalog(self) -> Catalog:
        return self.source.asked.resolver.catalog

    def of(self, value: int) -> int:
        """What the order of the items in a value does."""
        raise NotImplementedError

    def inside(self, value: int, use: Use) -> int:
        """What it does in one use."""
        raise NotImplementedError

    def gone_through(self, loop: int, counted: bool) -> int:
        """What it does where a loop goes through the items, each of which has a number if they are counted."""
        raise NotImplementedError

    def gathered(self, grown: Grown) -> int:
        """What it does where things are put into something one by one."""
        raise NotImplementedError

    def _name(self, call: int) -> str:
        """The full name of what is called; "" where it has none."""
        callee, base = self.function.ops[call][1], self.function.called_on(call)
        operation = self.function.ops[callee]
        if base >= 0 and not ordering.is_named(self.meaning, self.function, base):
            return ""
        name = self.meaning.name(self.function, callee)
        if operation[0] == op.LOAD and self.function.text(operation[1]) in self.catalog.stand_ins:
            return self.catalog.stand_ins[self.function.text(operation[1])]
        return self.catalog.canonical(name)

    def called(self, value: int, use: Use) -> int:
        """What it does where a call is handed the items."""
        if use.place == 1:  # `Parallel(...)(...)`: what is built here makes what is used there
            return self.of(use.op) if self.function.ops[value][0] == op.CALL else NOTHING
        function, call = self.function, use.op
        name, word = self._name(call), function.called(call)
        if name in self.catalog.same_order or name in _SAME_NUMBER:
            left_out = use.place != FIRST and name in self.catalog.orderless
            return self._passed_on(call, name) if not left_out else NOTHING
        if function.called_on(call) >= 0 and not name:
            return self._method(call, value, word)
        if "::" in name:
            return self._handed_on(call, value, name)
        if name == "builtins.sum" and self.source.kind == "completion":
            return KEPT if self._are_fractions() else NOTHING
        return self._by_name(name, word)

    def _are_fractions(self) -> bool:
        """Whether the items are numbers with a fraction, by the function that a pool is told to call for each."""
        point = call_of(self.source.asked.resolver, self.source.module, self.source.module.sites[self.source.site])
        meanings = self.source.asked.meanings
        meaning = meanings.of(self.source.module)
        if point is None or meaning is None:
            return False
        given = point.function.call(point.at).values()
        return any(numeric.gives_fraction(meanings, meaning, point.function, value) for value in given)

    def _passed_on(self, call: int, name: str) -> int:
        """What it does where a call gives the items back in their order, with a number for each, perhaps."""
        given = map(self.function.called, self.function.call(call).positional)
        if name != "builtins.enumerate" and not (name == "builtins.zip" and not NUMBERS.isdisjoint(given)):
            return self.of(call)
        done = NOTHING
        for use in self.function.users[call]:
            code = self.function.ops[use.op][0]
            if code == op.FOR:
                done = max(done, self.gone_through(use.op, counted=True))
            elif (code == op.CALL and self._name(use.op) == "builtins.dict") or self.inside(call, use):
                return DECIDES
        return done

    def _method(self, call: int, value: int, word: str) -> int:
        """The same of a method whose name tells what it does, of an object of which no more is known, or of one of the program's."""
        function = self.function
        base = function.called_on(call)
        if word in GROWS:
            self.packed = self.packed or word != "extend"
            return self.gathered(Grown("object", base))
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
        return self._handed_on(call, value, f"{path}::{owner}.{word}", bound=1) if colon else KEPT

    def _by_name(self, name: str, word: str) -> int:
        """The same of what is called by its full name."""
        if not name:
            return KEPT if not word or not word.endswith(ordering.ERRORS) else NOTHING
        if name in SHOWS and self.computed and self.source.kind != "listing":
            return CUT
        last = name.rpartition(".")[2]
        sorts = last in ("sorted", "natsorted", "len", "set", "sort") or last.endswith(ordering.ERRORS)
        if sorts or name in MIXES or name in self.catalog.orderless:
            return NOTHING
        draws = any(self.catalog.entries[i].draws for i in self.catalog.calls.get(name, ()))
        if draws or name in self.catalog.numbers_texts:
            return DECIDES
        return CUT if name in self.catalog.keeps_order else KEPT

    def _handed_on(self, call: int, value: int, name: str, bound: int = 0) -> int:
        """What a function of the program does with the order of the items that a call hands it.

        Args:
            name: its normal name.
            bound: how many parameters are the object itself.
        """
        found = self.source.asked.meanings.definition(name)
        if found is not None and found[1].is_class and not bound:
            made = self.source.asked.resolver.classes.attribute(name, "__init__")
            done = (
                self._handed_on(call, value, made.name, bound=1)
                if isinstance(made, Ref) and "::" in made.name
                else KEPT
            )
            return max(done, KEPT)  # what else is done with what it keeps isn't followed
        if found is None or found[1].is_class or found[1].decorators:
            return KEPT
        meaning, body = found
        slots = [*body.taking(self.function, call, value, bound)]
        if not slots or not self._is_beside(call):
            return KEPT
        handed = Handed(self, call)
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
        if any(ordering.is_sorted(function, load, self.meaning) for load in loads):
            return NOTHING
        return max((self.of(load) for load in loads), default=NOTHING)

    def returned(self) -> int:
        """What those do with the items who call a function that gives them back: nothing, if it is nothing everywhere."""
        if self.handed is not None:
            by, call = self.handed
            return by.of(call)
        own = self.source.module.sites[self.source.site]
        name = self.function.qualified if self.depth else self.source.module.function_of(own).name
        owner = self.function.parent is not None and self.function.parent.is_class
        uses = self.source.asked.callers(self.module, name) if name and not owner and self.depth < DEEPEST else None
        if not uses or any(not use.called or use.site < 0 for use in uses):
            return KEPT
        return max(self._given_back(use.module, use.site) for use in uses)

    def _given_back(self, module: Module, index: int) -> int:
        """What it does where a call gives the items back: what surely is done to what may be more than these counts as kept."""
        asked = self.source.asked
        call = call_at(asked.resolver, asked.meanings, module, module.sites[index])
        if call is None:
            return KEPT
        meaning, point = call
        there = replace(self, meaning=meaning, function=point.function, depth=self.depth + 1)
        kept = any(point.function.ops[use.op][0] == op.STORE for use in point.function.users[point.at])
        flat = self._is_flat()
        if kept and not flat:
            return KEPT
        done = there.of(point.at)
        return done if flat else min(done, KEPT)

    def _is_flat(self) -> bool:
        """Whether what a function gives back is nothing but the items, each of them whole, and none a listing itself; or a table that has
        them under a key."""
        source = self.source
        found = source.asked.entries(source.module, source.site) if not self.depth else ()
        of_set = source.kind == "set"
        whole = of_set or (any(e.rule in UNORDERED for e in found) and not any(NESTED in e.contexts for e in found))
        yields = any(True for _ in self.function.each(op.YIELD, op.YIELD_FROM))
        return (whole or self.depth > 0) and (not self.packed or self.under is not None) and not yields
