"""Where that lies which an attribute gives: of an object itself, of a tensor, of a module, of what a command line was parsed into."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from detlint.db import Memo
from detlint.domains.device.where import NOWHERE, OPEN, Value, Where
from detlint.ir import ops as op
from detlint.ir.code import Function
from detlint.ir.uses import Op
from detlint.model.meaning import Meaning
from detlint.model.options import read_as
from detlint.model.sites.records import PARSES

if TYPE_CHECKING:
    from detlint.domains.device.device import Devices

_ADDS: Final = "add_argument"
_FARTHEST: Final = 6
"""So many steps lead back from a value at most to where a command line was parsed."""


class Members:
    """Evaluates them."""

    def __init__(self, devices: Devices) -> None:
        self._devices = devices
        self._parses: Memo[tuple[Meaning, ...]] = Memo(devices.users.db)
        self._options_of: dict[str, dict[str, list[tuple[Function, int]]]] = {}
        self._tells = frozenset(name.rpartition(".")[2] for name in devices.places.tells)

    def read(self, value: Value, operation: Op) -> Where:
        """Where that lies which an `ATTR` gives."""
        function, meaning = value.function, value.meaning
        word, base = meaning.code.strings[operation[2]], value.of(operation[1])
        if word in self._tells:
            return NOWHERE
        name = meaning.name(function, value.at)
        _, colon, inside = name.partition("::")
        if inside.isidentifier() if colon else value.is_named:
            return self._devices.of_name(name)
        owner = function.receiver(operation[1])
        if owner is not None:
            return self.of_object(f"{meaning.path}::{owner.qualified}", word, base)
        kind = meaning.kind(function, operation[1])
        if "::" in kind:
            return self.of_object(kind, word, base)
        option = self._devices.any_of(self._options(base, word))
        return option if option is not None else self._devices.where(base) or OPEN

    def of_object(self, name: str, word: str, own: Value) -> Where:
        """Where an attribute of an object lies.

        Args:
            name: the full name of its class.
            own: the object.
        """
        resolver = self._devices.users.resolver
        bases = resolver.classes.mro(name)
        found = self._devices.any_of(where for owner in bases for where in self._of_class(name, owner, word, own))
        if found is not None:
            return found
        return self._devices.where(own) if resolver.kinds.layer(name) is not None else OPEN

    def _of_class(self, name: str, owner: str, word: str, own: Value) -> Iterator[Where]:
        """What the body of a class says of an attribute: a property, what its methods set, a field.

        Args:
            name: the class of the object.
            owner: that one, or one that it derives from.
        """
        found = self._devices.meanings.definition(owner)
        if found is None:
            return
        meaning, body = found
        for number in meaning.code.children.get(body.number, ()):
            method = meaning.code.function(number)
            if method.name == word and method.decorators:
                yield self._devices.given_back(Value(meaning, method, 0, ((0, self._devices.where(own)),)))
            for at, operation in method.each(op.SET_ATTR):
                if method.own(at) == word:
                    yield self._set(name, Value(meaning, method, operation[3]), own)
            if self._registers(meaning, method, word):
                yield self._devices.where(own)
        yield from self._field(meaning, body, owner, word)

    def _set(self, name: str, value: Value, own: Value) -> Where:
        """Where that lies which an object keeps: a part of a network moves with it."""
        devices = self._devices
        kind = value.meaning.kind(value.function, value.at)
        made = value.operation
        called = value.meaning.name(value.function, made[1]) if made[0] == op.CALL else ""
        moves = called in devices.places.own or devices.users.resolver.kinds.layer(kind) is not None
        if moves and devices.users.resolver.kinds.layer(name) is not None:
            return devices.where(own)
        return devices.where(value)

    def _registers(self, meaning: Meaning, method: Function, word: str) -> bool:
        """Whether a method of a layer keeps a buffer, or a parameter, under a name."""
        for at, _ in method.each(op.CALL) if word in meaning.code.texts else ():
            first = method.call(at).argument(0, "name")
            if method.called(at) in self._devices.places.keeps and first >= 0 and method.constant(first) == word:
                return True
        return False

    def _field(self, meaning: Meaning, body: Function, owner: str, word: str) -> Iterator[Where]:
        """What the body of a class binds, and what its constructor is handed by the name of a field."""
        names = [slot for slot in body.slots.get(word, ()) if body.names[slot].owner == body.number]
        for _, operation in body.each(op.STORE):
            if operation[1] in names and body.ops[operation[2]][0] != op.FUNCTION:
                yield self._devices.where(Value(meaning, body, operation[2]))
        annotated = any(operation[1] in names for _, operation in body.each(op.ANNOTATE))
        for caller, place in self._devices.callers.built(owner).places if annotated else ():
            given = place.function.call(place.at).named.get(word, -1)
            if given >= 0:
                yield self._devices.where(Value(caller, place.function, given))

    def _options(self, base: Value, word: str) -> Iterator[Where]:
        """What an option of the command line is by default, or is set to later, where a value is what that was parsed into."""
        for meaning in self._parsed(base):
            for function, default in self._added(meaning).get(word, ()):
                yield self._devices.where(Value(meaning, function, default)) if default >= 0 else OPEN
            for function, at in meaning.code.setters(word):
                operation = function.ops[at]
                if operation[0] == op.SET_ATTR and not function.own(at):
                    yield self._devices.where(Value(meaning, function, operation[3]))
            yield NOWHERE

    def _added(self, meaning: Meaning) -> Mapping[str, Sequence[tuple[Function, int]]]:
        """The options that a file adds to command lines, by their names: the defaults, -1 for none."""
        if meaning.path not in self._options_of:
            found = self._options_of[meaning.path] = dict[str, list[tuple[Function, int]]]()
            for function in meaning.code.functions() if _ADDS in meaning.code.identifiers else ():
                for at, _ in function.each(op.CALL):
                    for word in (read_as(function, at) or ()) if function.called(at) == _ADDS else ():
                        default = function.call(at).named.get("default", -1)
                        found.setdefault(word, []).append((function, default))
        return self._options_of[meaning.path]

    def _parsed(self, base: Value) -> tuple[Meaning, ...]:
        """The files in which a value was parsed from a command line."""
        key = (base.meaning.path, base.function.number, base.at)
        return self._parses.of(key, lambda: self._search_parsed(base), ())

    def _search_parsed(self, base: Value) -> tuple[Meaning, ...]:
        """By what it was made of, the nearest first: however many ways lead to a value, it is looked at once."""
        found, seen, level = dict[str, Meaning](), set[tuple[str, int, int]](), [base]
        for _ in range(_FARTHEST + 1):
            each = {(value.meaning.path, value.function.number, value.at): value for value in level}
            new = [value for key, value in each.items() if key not in seen]
            seen.update(each)
            parses = [value for value in new if self._parses_here(value)]
            found.update((value.meaning.path, value.meaning) for value in parses)
            level = [made for value in new if value not in parses for made in self._made_of(value)]
        return tuple(found.values())

    @staticmethod
    def _parses_here(value: Value) -> bool:
        return value.operation[0] == op.CALL and value.function.called(value.at) in PARSES

    def _made_of(self, value: Value) -> Iterator[Value]:
        """What a value may be: of a name, an attribute of the object itself, or what a function gives back."""
        function, operation = value.function, value.operation
        if operation[0] == op.PART:
            yield value.of(operation[1])
        elif operation[0] == op.CALL:
            found = self._devices.meanings.definition(value.meaning.name(function, operation[1]))
            for _, given in found[1].each(op.RETURN) if found is not None else ():
                if found is not None and given[1] >= 0:
                    yield Value(*found, given[1])
        elif operation[0] == op.LOAD:
            yield from self._kept(value)
        elif operation[0] == op.ATTR and (own := function.own(value.at)):
            owner = function.receiver(operation[1])
            inside = {*value.meaning.code.children.get(owner.number, ())} if owner is not None else set()
            for setter, at in value.meaning.code.setters(own):
                if setter.number in inside and setter.ops[at][0] == op.SET_ATTR:
                    yield Value(value.meaning, setter, setter.ops[at][3])

    def _kept(self, value: Value) -> Iterator[Value]:
        """What a name may stand for: what is bound to it, or what callers give a parameter."""
        function, code = value.function, value.meaning.code
        binding = function.binding(value.operation[1])
        for home, at in code.stores(binding) if binding.slot >= 0 else ():
            if home.ops[at][0] == op.STORE:
                yield Value(value.meaning, home, home.ops[at][2])
        around = code.function(binding.owner) if binding.owner else function
        if binding.owner and 0 <= binding.slot < len(around.header.parameters):
            for meaning, place in self._devices.callers.given(value.meaning, around, binding.slot).values:
                yield Value(meaning, *place)
