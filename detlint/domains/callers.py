"""What the calls of a function give its parameters, in the whole program.

What it may assume: a function that is handed on, or whose callers can't all be found, is also called by who isn't known; a method is
called on objects of its class, or of one that derives from it.
"""

from __future__ import annotations

from typing import NamedTuple

from detlint.db import Memo
from detlint.ir import ops as op
from detlint.ir.code import Function
from detlint.ir.places import Place
from detlint.ir.records import KEYWORD
from detlint.model.classes import deriving
from detlint.model.meaning import Meaning
from detlint.model.places import call_of
from detlint.model.uses import Use, Users


class Given(NamedTuple):
    """What calls give a parameter."""

    values: tuple[tuple[Meaning, Place], ...]
    """The values of the arguments, and the default where a call leaves it."""
    complete: bool
    """Whether that is all that it ever gets."""


NOTHING_KNOWN = Given((), False)


class Callers:
    """Finds them. What is found out is remembered."""

    def __init__(self, users: Users) -> None:
        self._users = users
        self._meanings = users.meanings
        self._given: Memo[Given] = Memo(users.db)
        self._calls: Memo[tuple[tuple[tuple[Meaning, Place], ...], bool]] = Memo(users.db)

    def given(self, meaning: Meaning, function: Function, slot: int) -> Given:
        """What the calls of a function give one of its parameters."""
        key = (meaning.path, function.number, slot)
        return self._given.of(key, lambda: self._find(meaning, function, slot), NOTHING_KNOWN)

    def calls(self, meaning: Meaning, function: Function) -> tuple[tuple[tuple[Meaning, Place], ...], bool]:
        """The calls of a function, of a constructor those of its class, and whether these are all."""
        key = (meaning.path, function.number)
        return self._calls.of(key, lambda: self._found(meaning, function), ((), False))

    def built(self, name: str) -> tuple[tuple[tuple[Meaning, Place], ...], bool]:
        """The calls that build objects of a class, or of one that derives from it, by its full name; and whether these are all."""
        return self._calls.of(name, lambda: self._classes(self._building(name)), ((), False))

    def _find(self, meaning: Meaning, function: Function, slot: int) -> Given:
        calls, complete = self.calls(meaning, function)
        parameter = function.header.parameters[slot]
        values = list[tuple[Meaning, Place]]()
        for caller, place in calls:
            value = argument(caller, function, slot, place)
            if value >= 0:
                values.append((caller, Place(place.function, value)))
            elif place.function.unpacks(place.at) or parameter.kind > KEYWORD:
                complete = False
            elif parameter.default >= 0 and function.parent is not None:
                values.append((meaning, Place(function.parent, parameter.default)))
        if not calls and parameter.default >= 0 and function.parent is not None:
            values.append((meaning, Place(function.parent, parameter.default)))
        return Given(tuple(dict.fromkeys(values)), complete and bool(calls))

    def _found(self, meaning: Meaning, function: Function) -> tuple[tuple[tuple[Meaning, Place], ...], bool]:
        owner = function.parent
        if function.name == "__init__" and owner is not None and owner.is_class:
            own = self._building(f"{meaning.path}::{owner.qualified}", function)
            if own is None:
                return (), False
            built, complete = self._classes(own)
            others, all_known = self._places(self._users.of(meaning.module, function.qualified))
            return (*built, *others), complete and all_known
        uses = self._users.of(meaning.module, function.qualified) if function.name.isidentifier() else None
        return self._places(uses)

    def _building(self, name: str, constructor: Function | None = None) -> list[Use] | None:
        """The uses of a class, and of those that derive from it and have no other constructor than a certain one."""
        path, _, inside = name.partition("::")
        module = self._users.resolver.module(path)
        found = self._users.of(module, inside) if module is not None else None
        if module is None or found is None:
            return None
        word = inside.rpartition(".")[2]
        for other in dict.fromkeys((path, *(use.module.path for use in found))):
            for sub in deriving(self._users.resolver, other, name):
                home = self._users.resolver.module(other)
                if home is not None and (constructor is None or "__init__" not in home.classes[sub].methods):
                    found = [*found, *(self._users.of(home, sub) or ())]
        return [use for use in found if not self._is_base(use, word)]

    @staticmethod
    def _is_base(use: Use, word: str) -> bool:
        """Whether a use only derives a class."""
        if use.site >= 0:
            return False
        bodies = use.module.classes.values()
        return any(word in str(base) for body in bodies for base in body.bases)

    def _places(self, uses: list[Use] | None) -> tuple[tuple[tuple[Meaning, Place], ...], bool]:
        """Where calls stand among some uses, and whether all of these are calls that can be found."""
        if uses is None:
            return (), False
        found, complete = list[tuple[Meaning, Place]](), True
        for use in uses:
            place = self._call(use)
            if place is None:
                complete = False
            else:
                found.append(place)
        return tuple(dict.fromkeys(found)), complete

    def _classes(self, uses: list[Use] | None) -> tuple[tuple[tuple[Meaning, Place], ...], bool]:
        """The same of what calls a class; a call of an object that it made is none of these."""
        found, complete = self._places(uses)
        building = ((m, p) for m, p in found if m.names(p.function, p.function.ops[p.at][1]))
        return tuple(building), complete

    def _call(self, use: Use) -> tuple[Meaning, Place] | None:
        if not use.called or use.site < 0 or use.module.sites[use.site].kind != "call":
            return None
        meaning = self._meanings.of(use.module)
        place = call_of(self._users.resolver, use.module, use.module.sites[use.site])
        return (meaning, place) if meaning is not None and place is not None else None


def argument(caller: Meaning, function: Function, slot: int, call: Place) -> int:
    """The value that a call gives a parameter of a function; -1 for none that is written out."""
    given = call.function.call(call.at)
    name = function.text(slot)
    if name in given.named:
        return given.named[name]
    position = slot - _bound(caller, function, call)
    takes = function.header.parameters[slot].kind < KEYWORD and 0 <= position < len(given.positional)
    splat = any(call.function.ops[value][0] == op.STAR for value in given.positional[: position + 1])
    return given.positional[position] if takes and not splat else -1


def _bound(caller: Meaning, function: Function, call: Place) -> int:
    """How many of a method's parameters a call doesn't name: the object, unless it is called by its class."""
    if not function.receives or (function.receives == "object" and _is_by_class(caller, function, call)):
        return 0
    return 1


def _is_by_class(caller: Meaning, function: Function, call: Place) -> bool:
    """Whether a method is called with its object as an argument: `Net.forward(net, x)`."""
    base = call.function.called_on(call.at)
    if base < 0 or (function.name == "__init__" and call.function.called(call.at) != "__init__"):
        return False
    return caller.is_class(call.function, base)
