"""Where the objects of classes lie: networks are made on the host, and moved.

An object is followed from where it is built, through the names that keep it, functions that are handed it, and objects that it becomes
part of, wherever in the program; the order of what is done to it isn't asked. What a library does with it isn't known.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING, Final

from detlint.domains.device.callers import argument
from detlint.domains.device.where import ACCELERATOR, LEFT, NOWHERE, OPEN, Value, Where
from detlint.ir import ops as op
from detlint.ir.code import Binding, Function
from detlint.ir.places import Place
from detlint.ir.uses import Use
from detlint.model.meaning import Meaning

if TYPE_CHECKING:
    from detlint.domains.device.device import Devices

_HOLDS: Final = frozenset(
    {op.LIST, op.TUPLE, op.SET, op.DICT, op.CHOICE, op.STAR, op.PART, op.FOR, op.ITEM, op.COLLECT, op.GIVE}
)
"""Codes of what holds an object, or gives it back."""
_PURE: Final = frozenset({
    "dict", "enumerate", "getattr", "hasattr", "id", "isinstance", "iter", "len", "list", "next", "print", "repr", "reversed", "set",
    "setattr", "sorted", "str", "sum", "tuple", "type", "vars", "zip",
})  # fmt: skip
"""Built-in functions: they move nothing."""
_DEEPEST: Final = 12
_OBJECTS: Final = -2
"""Stands with the name of a class for its objects."""


class Objects:
    """Follows them."""

    def __init__(self, devices: Devices) -> None:
        self._devices = devices

    def of_class(self, name: str) -> Where:
        """Where the objects of a class lie, or of one that derives from it, by its full name."""
        return self._devices.search.of((name, -1, _OBJECTS, ()), lambda: self._of_class(name))

    def _of_class(self, name: str) -> Where:
        built = self._devices.callers.built(name)
        others = [] if built.places and built.complete else [OPEN]
        made = (self.made(Value(meaning, *place)) for meaning, place in built.places)
        return self._devices.join(chain(others, self._moved_by_itself(name), made))

    def _moved_by_itself(self, name: str) -> Iterator[Where]:
        """What the methods of a class do with their object: `self.to(device)`."""
        found = self._devices.meanings.definition(name)
        meaning, owner = found if found is not None else (None, None)
        for number in meaning.code.children.get(owner.number, ()) if meaning is not None and owner is not None else ():
            method = meaning.code.function(number) if meaning is not None else None
            for at, _ in method.each(op.CALL) if method is not None and meaning is not None else ():
                base = method.called_on(at) if method is not None else -1
                if method is not None and meaning is not None and base >= 0 and method.is_self(base):
                    yield self._devices.moved(Value(meaning, method, at)) or NOWHERE

    def made(self, value: Value, sure: bool = True, before: int = -1) -> Where:
        """Where the object lies that a call makes.

        Args:
            sure: whether it is on the host as long as nobody moves it.
            before: where it is read, in the same function: what is done with it behind that, and in no loop around both, is left out.
        """
        seen = {
            (value.meaning.path, value.function.number, at)
            for at, _ in value.function.each(op.LOAD)
            if at > before >= 0 and not _comes_back(value.function, before, at)
        }
        told = value.function.call(value.at).argument(-1, "device")
        asked = self._devices.asked(value.of(told)) if told >= 0 else NOWHERE
        found = self._devices.join(chain((asked,), self._followed(value, seen, 0)))
        return found or (self._devices.default(value) if sure else OPEN) or LEFT

    def _followed(self, value: Value, seen: set[tuple[str, int, int]], depth: int) -> Iterator[Where]:
        """What is done with an object that an op gives."""
        key = (value.meaning.path, value.function.number, value.at)
        if key in seen:
            return
        seen.add(key)
        if depth > _DEEPEST:
            yield OPEN
            return
        for use in value.function.users[value.at]:
            yield from self._used(value, use, seen, depth + 1)

    def _used(self, value: Value, use: Use, seen: set[tuple[str, int, int]], depth: int) -> Iterator[Where]:
        function, operation = value.function, value.function.ops[use.op]
        code = operation[0]
        if code == op.STORE:
            yield from self._kept(value.meaning, function.binding(operation[1]), seen, depth)
        elif code == op.SET_ATTR and use.place == 3:
            yield from self._part_of(value, use.op, seen, depth)
        elif code in _HOLDS:
            for part in self._parts(function, use) or (use.op,):
                yield from self._followed(value.of(part), seen, depth)
        elif code == op.ATTR:
            yield from self._method(value, use.op, seen, depth)
        elif code == op.CALL and use.place > 1:
            yield from self._handed(value, use.op, seen, depth)
        elif code == op.RETURN:
            yield from self._given_back(value.meaning, function, seen, depth)
        elif code in (op.YIELD, op.YIELD_FROM):
            yield OPEN

    @staticmethod
    def _parts(function: Function, use: Use) -> list[int]:
        """Where an item of a display is taken out of it again, `a, b = A(), B()`; nowhere, if it isn't taken apart."""
        operation, found = function.ops[use.op], list[int]()
        if operation[0] in (op.TUPLE, op.LIST):
            parts = [other.op for other in function.users[use.op] if function.ops[other.op][0] == op.PART]
            found = [part for part in parts if function.ops[part][2:] == (use.place - 1, len(operation) - 1)]
        return found

    def _kept(self, meaning: Meaning, binding: Binding, seen: set[tuple[str, int, int]], depth: int) -> Iterator[Where]:
        for function, at in meaning.code.reads(binding):
            yield from self._followed(Value(meaning, function, at), seen, depth)

    def _part_of(self, value: Value, at: int, seen: set[tuple[str, int, int]], depth: int) -> Iterator[Where]:
        """Of an object that becomes an attribute of another."""
        function, code = value.function, value.meaning.code
        for number, read in code.attributes.get(code.strings[function.ops[at][2]], ()):
            other = code.function(number)
            if other.ops[read][0] == op.ATTR:
                yield from self._followed(Value(value.meaning, other, read), seen, depth)
        owner = function.receiver(function.ops[at][1])
        if owner is not None and self._devices.users.resolver.kinds.layer(f"{value.meaning.path}::{owner.qualified}"):
            yield self._devices.object(value.meaning, owner)

    def _method(self, value: Value, at: int, seen: set[tuple[str, int, int]], depth: int) -> Iterator[Where]:
        """Of an object whose method is called, perhaps one that moves it."""
        function = value.function
        for use in function.users[at]:
            if function.ops[use.op][0] != op.CALL or use.place != 1:
                continue
            moved = self._devices.moved(value.of(use.op))
            yield moved or NOWHERE
            if moved is not None or function.called(use.op) in self._devices.catalog.words_with("returns-self"):
                yield from self._followed(value.of(use.op), seen, depth)

    def _handed(self, value: Value, call: int, seen: set[tuple[str, int, int]], depth: int) -> Iterator[Where]:
        """Of an object that a call is handed."""
        devices, function = self._devices, value.function
        name = value.meaning.name(function, function.ops[call][1])
        if name in devices.places.takes:
            yield ACCELERATOR
        contexts = devices.users.resolver.contexts(name)
        layer = devices.users.resolver.kinds.layer(name)
        if "::" not in name and (layer is not None or "returns-first" in contexts or name in devices.places.takes):
            yield from self._followed(value.of(call), seen, depth)
        elif "::" in name:
            yield from self._taken(value, call, name, seen, depth)
        elif name.startswith("builtins.") and name.rpartition(".")[2] in _PURE:
            yield from self._followed(value.of(call), seen, depth)
        elif function.called_on(call) < 0 or function.called(call) not in devices.catalog.fills:
            yield OPEN

    def _taken(
        self, value: Value, call: int, name: str, seen: set[tuple[str, int, int]], depth: int
    ) -> Iterator[Where]:
        """Of an object that a function, or constructor, of the program is handed."""
        meanings = self._devices.meanings
        found = meanings.definition(name)
        if found is not None and found[1].is_class:
            found = meanings.definition(f"{name}.__init__")
        if found is None:
            yield OPEN
            return
        meaning, taking = found
        for slot in range(len(taking.header.parameters)):
            given = argument(value.meaning, taking, slot, Place(value.function, call))
            if given == value.at:
                yield from self._kept(meaning, Binding(taking.number, slot), seen, depth)

    def _given_back(
        self, meaning: Meaning, function: Function, seen: set[tuple[str, int, int]], depth: int
    ) -> Iterator[Where]:
        """Of an object that a function gives back."""
        calls = self._devices.callers.calls(meaning, function)
        for caller, place in calls.places:
            yield from self._followed(Value(caller, *place), seen, depth)
        if not calls.complete or not calls.places:
            yield OPEN


def _comes_back(function: Function, one: int, later: int) -> bool:
    """Whether a loop is around two ops, so that the later one may come before the other."""
    loops = {mark for mark in function.blocks(one) if function.ops[mark][0] in (op.FOR, op.WHILE, op.UNTIL)}
    return any(mark in loops for mark in function.blocks(later))
