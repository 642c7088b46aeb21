"""Which objects and functions of the program are transforms: what a data set, a collating function or a pipeline of data applies to items.

It may assume that a class with `__getitem__` and `__len__` is a data set, that an object which holds another one and can be called calls
it, and that functions, methods and parameters of libraries which the catalog lists as `pipelines` are handed transforms.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from detlint.ir import ops as op
from detlint.ir.code import Function
from detlint.ir.exits import BEFORE
from detlint.ir.places import Place
from detlint.ir.uses import Use
from detlint.model.growth import GROWS
from detlint.model.meaning import Meaning, Meanings
from detlint.model.module import Module
from detlint.model.places import calls_among
from detlint.model.resolve import Resolver
from detlint.model.uses import Callers

MOST: Final = 200
"""So many values are followed for one object."""
_PASS_ON: Final = frozenset({op.BINARY, op.CHOICE, op.DICT, op.LIST, op.STAR, op.TUPLE})
_ITEMS: Final = frozenset({"__getitem__", "__len__"})

Seen = set[tuple[str, int, int]]


class Pipelines(NamedTuple):
    """Who knows what is asked of an object."""

    resolver: Resolver
    meanings: Meanings
    callers: Callers

    def take(self, module: Module, index: int) -> bool:
        """Whether what a call makes comes to where items of data are changed."""
        code, meaning = self.resolver.code(module.path), self.meanings.of(module)
        found = code.at(module.sites[index].span.place, op.CALL) if code is not None else None
        return found is not None and meaning is not None and self._takes(meaning, *found, set())

    def is_for_data(self, name: str) -> bool:
        """Whether a class of the program is a data set."""
        if "::" not in name:
            return False
        methods = {method for _, owner in self.resolver.classes.family(name) for method in self._methods(name, owner)}
        return self.resolver.kinds.is_dataset(name) or methods >= _ITEMS

    def _methods(self, name: str, owner: str) -> frozenset[str]:
        found = self.meanings.definition(f"{name.partition('::')[0]}::{owner}")
        if found is None or not found[1].is_class:
            return frozenset()
        body = found[1]
        return frozenset(body.text(operation[1]) for _, operation in body.each(op.STORE))

    def _takes(self, meaning: Meaning, function: Function, at: int, seen: Seen) -> bool:
        key = (meaning.path, function.number, at)
        if key in seen or len(seen) > MOST:
            return False
        seen.add(key)
        return any(self._taken(meaning, function, at, use, seen) for use in function.users[at])

    def _taken(self, meaning: Meaning, function: Function, at: int, use: Use, seen: Seen) -> bool:
        """Whether it comes there by one use."""
        operation = function.ops[use.op]
        code = operation[0]
        if code == op.STORE:
            return self._named(meaning, function, operation[1], use.op, seen)
        if code == op.SET_ATTR and use.place == 3:
            return self._kept(meaning, function, use.op, seen)
        if code == op.SET_ITEM and use.place == 3:
            return self._takes(meaning, function, operation[1], seen) or self._read(
                meaning, function, operation[1], seen
            )
        if code in _PASS_ON or (code == op.ITEM and use.place == 1):  # of a table, any item may be it
            return self._takes(meaning, function, use.op, seen)
        if code == op.RETURN:
            return self._given_back(meaning, function, seen)
        if code == op.FOR:  # each of some is called in turn
            return self._takes(meaning, function, use.op, seen)
        return code == op.CALL and self._called(meaning, function, at, use, seen)

    def _called(self, meaning: Meaning, function: Function, at: int, use: Use, seen: Seen) -> bool:
        """Whether it comes there where it is called, or handed to a call."""
        call = use.op
        if use.place == 1:
            return self._is_of_data(meaning, function) or self._is_applied(meaning, function, seen)
        word, base = function.called(call), function.called_on(call)
        if word in GROWS and base >= 0:
            return self._read(meaning, function, base, seen)
        name = meaning.name(function, function.ops[call][1])
        if "::" in name:
            return self.is_for_data(name) or self._inside(meaning, function, call, at, name, seen)
        words = self.resolver.catalog.pipelines
        named = {keyword for keyword, given in function.call(call).named.items() if given == at}
        if not name.startswith("builtins.") and (word in words or not named.isdisjoint(words)):
            return True
        return bool(name) and word[:1].isupper() and self._takes(meaning, function, call, seen)

    def _is_of_data(self, meaning: Meaning, function: Function, depth: int = 0) -> bool:
        """Whether a function is a method of a data set, or one of those calls it."""
        around = function.parent
        if around is not None and around.is_class:
            return self.is_for_data(f"{meaning.path}::{around.qualified}")
        calls = self._calls(meaning, function) if depth < 2 else ()
        return any(self._is_of_data(there, point.function, depth + 1) for there, point in calls)

    def _is_applied(self, meaning: Meaning, function: Function, seen: Seen) -> bool:
        """Whether a function stands in a class whose objects can be called, and one of these comes there."""
        around = function.parent
        if around is None or not around.is_class:
            return False
        if "__call__" not in self._methods(f"{meaning.path}::{around.qualified}", around.qualified):
            return False
        return self._given_back(meaning, around, seen)

    def _inside(self, meaning: Meaning, function: Function, call: int, at: int, name: str, seen: Seen) -> bool:
        """Whether it comes there by a function of the program that it is handed to, or by an object that keeps it."""
        found = self.meanings.definition(name)
        if found is None:
            return False
        there, body = found
        if not body.is_class:
            slots = [*body.taking(function, call, at)]
            return any(self._takes(there, body, load, seen) for slot in slots for load in _loads(body, slot))
        methods = self._methods(name, body.qualified)
        if "__call__" in methods and self._takes(meaning, function, call, seen):
            return True
        made = self.meanings.definition(f"{name}.__init__")
        if made is None:
            return False
        slots = [*made[1].taking(function, call, at, 1)]
        return any(self._takes(made[0], made[1], load, seen) for slot in slots for load in _loads(made[1], slot))

    def _named(self, meaning: Meaning, function: Function, slot: int, store: int, seen: Seen) -> bool:
        """Whether it comes there by a name: one of a class body is an attribute of its objects."""
        if function.is_class and self.is_for_data(f"{meaning.path}::{function.qualified}"):
            return True
        if function.is_class:
            return any(
                self._takes(meaning, other, read, seen)
                for number, read in function.code.attributes.get(function.text(slot), ())
                if (other := function.code.function(number)).ops[read][0] == op.ATTR
                and other.parent is not None
                and other.parent.number == function.number
            )
        loads = [(function, load) for load in function.loads.get(store, ())]
        owner, home = function.binding(slot)
        if home >= 0 and (owner != function.number or slot in function.shared):
            loads += [read for read in function.code.reads(function.binding(slot)) if read not in loads]
        return any(self._takes(meaning, other, load, seen) for other, load in loads)

    def _read(self, meaning: Meaning, function: Function, target: int, seen: Seen) -> bool:
        """Whether something that got it comes there: a list of a name, or of an attribute."""
        operation = function.ops[target]
        if operation[0] == op.ATTR:
            reads = [*function.code.same_attribute(function, target)]
            own = function.parent is not None and self.is_for_data(f"{meaning.path}::{function.parent.qualified}")
            return own or any(self._takes(meaning, other, read, seen) for other, read in reads)
        if operation[0] != op.LOAD:
            return False
        loads = [at for at, other in function.each(op.LOAD) if other == operation]
        return any(self._takes(meaning, function, load, seen) for load in loads)

    def _kept(self, meaning: Meaning, function: Function, store: int, seen: Seen) -> bool:
        """Whether it comes there as an attribute of an object."""
        around = function.parent
        if around is not None and around.is_class and self.is_for_data(f"{meaning.path}::{around.qualified}"):
            return True
        reads = function.code.same_attribute(function, store)
        return any(self._takes(meaning, other, read, seen) for other, read in reads)

    def _given_back(self, meaning: Meaning, function: Function, seen: Seen) -> bool:
        """Whether it comes there by those who call a function that gives it back, or a class of which it is an object."""
        return any(
            self._takes(there, point.function, point.at, seen) for there, point in self._calls(meaning, function)
        )

    def _calls(self, meaning: Meaning, function: Function) -> Iterator[tuple[Meaning, Place]]:
        """The calls of a function or class, but of a top level, whose places are known."""
        uses = self.callers(meaning.module, function.qualified) if function.number else None
        return calls_among(self.resolver, self.meanings, uses or ())


def _loads(body: Function, slot: int) -> Iterator[int]:
    """Where a parameter is read."""
    yield from body.loads.get(BEFORE - slot, ())
