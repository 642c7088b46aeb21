"""What the calls of a function give its parameters, in the whole program.

What it may assume: a function that is handed on, or whose callers can't all be found, is also called by who isn't known; a method is
called on objects of its class, or of one that derives from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from detlint.db import Memo
from detlint.ir import ops as op
from detlint.ir.code import Function
from detlint.ir.places import Place
from detlint.ir.records import KEYWORD
from detlint.model.classes import deriving
from detlint.model.meaning import Meaning
from detlint.model.places import call_at
from detlint.model.uses import Use, Users

At = tuple[Meaning, Place]


class Calls(NamedTuple):
    """Where a function is called, or a class."""

    places: Sequence[At] = ()
    applied: Sequence[At] = ()
    """The networks to whose parts it is applied."""
    complete: bool = False
    """Whether that is all."""
    prepares: bool = False
    """Whether a data pipeline calls it, too: `DataLoader(data, collate_fn=f)`."""


class Given(NamedTuple):
    """What calls give a parameter."""

    values: Sequence[At] = ()
    """The values of the arguments, and the default where a call leaves it."""
    complete: bool = False
    """Whether that is all that it ever gets."""


UNFOUND: Final = Calls()


class Callers:
    """Finds them. What is found out is remembered."""

    def __init__(self, users: Users) -> None:
        self._users = users
        self._meanings = users.meanings
        self._applies = users.resolver.catalog.places.applies
        self._given: Memo[Given] = Memo(users.db)
        self._calls: Memo[Calls] = Memo(users.db)

    def given(self, meaning: Meaning, function: Function, slot: int) -> Given:
        """What the calls of a function give one of its parameters."""
        key = (meaning.path, function.number, slot)
        return self._given.of(key, lambda: self._find(meaning, function, slot), Given())

    def calls(self, meaning: Meaning, function: Function) -> Calls:
        """The calls of a function, of a constructor those of its class."""
        key = (meaning.path, function.number)
        return self._calls.of(key, lambda: self._found(meaning, function), UNFOUND)

    def built(self, name: str) -> Calls:
        """The calls that build objects of a class, or of one that derives from it, by its full name."""
        return self._calls.of(name, lambda: self._classes(self._building(name)), UNFOUND)

    def _find(self, meaning: Meaning, function: Function, slot: int) -> Given:
        calls = self.calls(meaning, function)
        parameter, complete = function.header.parameters[slot], calls.complete
        default = (meaning, Place(function.parent, parameter.default)) if function.parent is not None else None
        values = [*calls.applied] if slot == int(function.receives != "") else []
        for caller, place in calls.places:
            value = argument(caller, function, slot, place)
            if value >= 0:
                values.append((caller, Place(place.function, value)))
            elif place.function.unpacks(place.at) or parameter.kind > KEYWORD:
                complete = False
            elif parameter.default >= 0 and default is not None:
                values.append(default)
        if not calls.places and parameter.default >= 0 and default is not None:
            values.append(default)
        return Given(tuple(dict.fromkeys(values)), complete and bool(values))

    def _found(self, meaning: Meaning, function: Function) -> Calls:
        owner = function.parent
        if function.name == "__init__" and owner is not None and owner.is_class:
            built = self._classes(self._building(f"{meaning.path}::{owner.qualified}", function))
            others = self._places(self._users.of(meaning.module, function.qualified))
            return Calls((*built.places, *others.places), (), built.complete and others.complete)
        return self._places(
            self._users.of(meaning.module, function.qualified) if function.name.isidentifier() else None
        )

    def _building(self, name: str, constructor: Function | None = None) -> list[Use] | None:
        """The uses of a class, and of those that derive from it and have no other constructor than a certain one."""
        path, _, inside = name.partition("::")
        module = self._users.resolver.module(path)
        found = self._users.of(module, inside) if module is not None else None
        if module is None or found is None:
            return None
        for other in dict.fromkeys((path, *(use.module.path for use in found))):
            home = self._users.resolver.module(other)
            for sub in deriving(self._users.resolver, other, name) if home is not None else ():
                if home is not None and (constructor is None or "__init__" not in home.classes[sub].methods):
                    found = [*found, *(self._users.of(home, sub) or ())]
        return found

    def _places(self, uses: Sequence[Use] | None) -> Calls:
        """Where calls stand among some uses."""
        if uses is None:
            return UNFOUND
        places, applied, complete, prepares = dict[At, None](), dict[At, None](), True, False
        for use in uses:
            place = self._call(use)
            if place is not None and use.called:
                places[place] = None
            elif place is not None and self._is_applied(*place):
                meaning, (function, at) = place
                applied[meaning, Place(function, function.called_on(at))] = None
            elif place is not None and self._prepares(use, *place):
                prepares = True
            else:
                complete = False
        return Calls(tuple(places), tuple(applied), complete, prepares)

    def _classes(self, uses: Sequence[Use] | None) -> Calls:
        """The same of what calls a class; a call of an object that it made is none of these."""
        found = self._places(uses)
        building = ((m, p) for m, p in found.places if m.names(p.function, p.function.ops[p.at][1]))
        return found._replace(places=tuple(building))

    def _call(self, use: Use) -> At | None:
        if use.site < 0 or use.module.sites[use.site].kind != "call":
            return None
        return call_at(self._users.resolver, self._meanings, use.module, use.module.sites[use.site])

    def _prepares(self, use: Use, meaning: Meaning, place: Place) -> bool:
        """Whether a call hands a data pipeline what is used there."""
        words, given = self._users.resolver.catalog.pipelines, place.function.call(place.at)
        if place.function.called(place.at) in words:
            return True
        return any(word in words and meaning.names(place.function, value) for word, value in given.named.items())

    def _is_applied(self, meaning: Meaning, place: Place) -> bool:
        """Whether a call hands the parts of a network to what it is handed: `net.apply(init_weights)`."""
        word, base = place.function.called(place.at), place.function.called_on(place.at)
        return base >= 0 and any(word == name.rpartition(".")[2] for name in self._applies)


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
