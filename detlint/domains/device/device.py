"""Where a value lies: the domain of devices.

A device, its name, a tensor and a network that lies there have one value. Transfer functions of library calls are data of the catalog
(`Places`). What it may assume: tensors that are computed with each other lie on one device, where one of them isn't a number; what a
network is handed lies where the network does; what the command line doesn't say is as by default.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import chain
from typing import Final

from detlint.domains.constant.members import Members
from detlint.domains.device.callers import Callers, argument
from detlint.domains.device.objects import Objects
from detlint.domains.device.where import (
    ACCELERATOR,
    HOST,
    LEFT,
    NOWHERE,
    OPEN,
    Value,
    Where,
)
from detlint.domains.search import Search
from detlint.ir import ops as op
from detlint.ir.code import Binding, Function
from detlint.ir.exits import BEFORE
from detlint.ir.places import Place
from detlint.ir.records import GENERATOR
from detlint.ir.uses import Op
from detlint.model.meaning import Meaning
from detlint.model.uses import Users

_DEFAULT: Final = -1
"""Stands in a file for the default device that holds there."""


class Devices:
    """Finds out where values lie.

    Args:
        callers: finds what calls give.
        enough: what is farther from the host needn't be told apart from this, so that nothing more is looked into where it is found.
    """

    def __init__(self, users: Users, callers: Callers, enough: Where) -> None:
        self.users = users
        self._enough = enough
        self.meanings = users.meanings
        self.catalog = users.resolver.catalog
        self.places = self.catalog.places
        self.callers = callers
        self._objects = Objects(self)
        self._members = Members(self)
        self.search = Search(users.db)
        self._asked: dict[tuple[str, int], list[int]] = {}
        """Functions -> the parameters by which it may be told where that lies which they give back."""

    def at(self, meaning: Meaning, place: Place) -> Where:
        """Where a value lies, in whichever context."""
        return self.where(Value(meaning, *place))

    def asked_at(self, meaning: Meaning, place: Place) -> Where:
        """The device that a value asks for, in whichever context."""
        return ACCELERATOR if _is_rank(*place) else self.at(meaning, place)

    def join(self, found: Iterable[Where]) -> Where:
        """What may be one of several, or is computed of them: numbers on the host may go with what is elsewhere."""
        joined = NOWHERE
        for where in found:
            joined = max(joined, where)
            if joined >= self._enough:
                return self._enough
        return joined

    def any_of(self, found: Iterator[Where]) -> Where | None:
        """What may be one of several, if there are any."""
        first = next(found, None)
        return self.join(chain((first,), found)) if first is not None else None

    def where(self, value: Value) -> Where:
        """Where a value lies; of one that comes to itself, by a fixed point."""
        key = (value.meaning.path, value.function.number, value.at, value.context)
        return self.search.of(key, lambda: self._transferred(value))

    def _transferred(self, value: Value) -> Where:
        transfer = self._transfers.get(value.operation[0])
        return min(transfer(value, value.operation) if transfer is not None else OPEN, self._enough)

    @cached_property
    def _transfers(self) -> dict[int, Callable[[Value, Op], Where]]:
        inner = self._of_first
        return {
            op.CONST: self._constant, op.LOAD: self._loaded, op.ATTR: self._members.read, op.ITEM: self._item, op.CALL: self._called,
            op.BINARY: self._computed, op.AUGMENT: self._computed, op.UNARY: self._computed, op.COMPARE: self._computed,
            op.CHOICE: lambda value, operation: self.join(self.where(value.of(arm)) for arm in operation[2:] if arm >= 0),
            op.LIST: self._display, op.TUPLE: self._display, op.SET: self._display, op.DICT: self._display, op.TEXT: self._text,
            op.STAR: inner, op.AWAIT: inner, op.YIELD_FROM: inner, op.FOR: inner, op.WITH: inner, op.PART: self._part,
            op.COLLECT: self._collected, op.MEMBER: self._imported, op.IMPORT: self._nowhere, op.FUNCTION: self._nowhere,
            op.CLASS: self._nowhere, op.FORMAT: self._nowhere, op.SLICE: self._nowhere,
        }  # fmt: skip

    @staticmethod
    def _nowhere(value: Value, operation: Op) -> Where:
        return NOWHERE

    def _of_first(self, value: Value, operation: Op) -> Where:
        return self.where(value.of(operation[1]))

    # -- texts and displays --------------------------------------------------------------------------------------------

    def named(self, text: object) -> Where:
        """The device that a text is the name of, or the beginning of one."""
        word = text.partition(":")[0].lower() if isinstance(text, str) else ""
        if word in ("cpu", "meta"):
            return HOST
        return ACCELERATOR if word in self.places.devices else NOWHERE

    def _constant(self, value: Value, operation: Op) -> Where:
        return self.named(value.function.constant(value.at))

    def _text(self, value: Value, operation: Op) -> Where:
        return self.where(value.of(operation[1])) if len(operation) > 1 else NOWHERE

    def _computed(self, value: Value, operation: Op) -> Where:
        values = [value.of(at) for at in value.function.values(value.at)]
        first = self.named(value.function.constant(values[0].at)) if values else NOWHERE
        return first or self.join(self.where(one) for one in values)  # "cuda:" + str(rank)

    def _display(self, value: Value, operation: Op) -> Where:
        values = [value.of(at) for at in value.function.values(value.at)]
        return self.join(map(self.where, chain(values, self._filled(value))))

    def _filled(self, value: Value) -> Iterator[Value]:
        """What is put into a list later, by the names that keep it: `rows.append(row)`."""
        for use in value.function.users[value.at]:
            operation = value.function.ops[use.op]
            reads = value.meaning.code.reads(value.function.binding(operation[1])) if operation[0] == op.STORE else ()
            for function, read in reads:
                for asked in function.users[read]:
                    taken = function.ops[asked.op]
                    fills = taken[0] == op.ATTR and function.strings[taken[2]] in self.catalog.fills
                    for call in function.users[asked.op] if fills else ():
                        given = function.call(call.op).values() if function.ops[call.op][0] == op.CALL else ()
                        yield from (Value(value.meaning, function, at) for at in given)

    def _item(self, value: Value, operation: Op) -> Where:
        base, key = self._kept_once(value.of(operation[1])), value.function.constant(operation[2])
        table = base.operation
        if table[0] == op.DICT and isinstance(key, str):
            pairs = zip(table[1::2], table[2::2], strict=True)
            of_key = [item for name, item in pairs if name >= 0 and base.function.constant(name) == key]
            if of_key:
                return self.where(base.of(of_key[-1]))
        return self.where(value.of(operation[1]))

    @staticmethod
    def _kept_once(value: Value) -> Value:
        """What a name stands for that is bound once, in this function or in one around."""
        meant = value.of(value.function.meant(value.at))
        operation, code = meant.operation, value.meaning.code
        home = value.function.binding(operation[1]) if operation[0] == op.LOAD else Binding(0, -1)
        stores = code.stores(home) if home.slot >= 0 and home.owner != value.function.number else ()
        if len(stores) != 1 or stores[0][0].ops[stores[0][1]][0] != op.STORE:
            return meant
        around, at = stores[0]
        return Value(value.meaning, around, around.ops[at][2])

    def _part(self, value: Value, operation: Op) -> Where:
        element = value.function.element(value.at)
        if element != value.at:
            return self.where(value.of(element))
        made = value.function.ops[operation[1]]
        callee = self._callee(value.of(operation[1])) if made[0] == op.CALL else None
        part = self.any_of(self._parts_given(callee, *operation[2:4])) if callee is not None else None
        return part if part is not None else self.where(value.of(operation[1]))

    def _parts_given(self, callee: Value, part: int, count: int) -> Iterator[Where]:
        """One of several things that a function gives back."""
        for _, operation in callee.function.each(op.RETURN):
            given = callee.function.ops[operation[1]] if operation[1] >= 0 else (op.END,)
            if given[0] == op.TUPLE and len(given) == count + 1 and part >= 0:
                yield self.where(callee.of(given[1 + part]))

    def _collected(self, value: Value, operation: Op) -> Where:
        gives = (o for n, o in value.function.each(op.GIVE) if value.function.collected(n) == value.at)
        return self.join(self.where(value.of(o[2] if o[2] >= 0 else o[1])) for o in gives)

    # -- names ---------------------------------------------------------------------------------------------------------

    def _loaded(self, value: Value, operation: Op) -> Where:
        function, slot = value.function, operation[1]
        owner, home = function.binding(slot)
        if home < 0:
            return OPEN if value.meaning.module.facts.stars else NOWHERE
        if owner != function.number:
            return self.variable(value.meaning, Binding(owner, home))
        return self.join(self._defined(value))

    def _defined(self, value: Value) -> Iterator[Where]:
        """By what a name of the function itself may have been bound to."""
        function = value.function
        for definition in function.flow.reaching.get(value.at, frozenset((BEFORE,))):
            if definition >= 0 and function.ops[definition][0] == op.STORE:
                yield self._kept(value.of(function.ops[definition][2]), value.at)
            elif definition < 0 and (taken := function.may_give(value.at)) >= 0:
                given = dict(value.context)
                yield given[taken] if taken in given else self.parameter(value, taken)

    def _kept(self, value: Value, read: int) -> Where:
        """Where that lies which a name was bound to, when it is read: what is done to an object later doesn't count."""
        operation = value.operation
        name = value.meaning.name(value.function, operation[1]) if operation[0] == op.CALL else ""
        if name and self.users.resolver.kinds.layer(name) is not None:
            return self._objects.made(value, before=read)
        return self.where(value)

    def variable(self, meaning: Meaning, binding: Binding) -> Where:
        """Where that lies which a variable of a function around, or of a module, may be."""
        return self.join(self._bound(meaning, binding))

    def _bound(self, meaning: Meaning, binding: Binding) -> Iterator[Where]:
        around = meaning.code.function(binding.owner)
        for function, at in meaning.code.stores(binding):
            if function.ops[at][0] == op.STORE:
                yield self.where(Value(meaning, function, function.ops[at][2]))
        if binding.owner and binding.slot < len(around.header.parameters):
            yield self.parameter(Value(meaning, around, 0), binding.slot)

    def _imported(self, value: Value, operation: Op) -> Where:
        return self.of_name(value.meaning.name(value.function, value.at))

    def of_name(self, name: str) -> Where:
        """Where that lies which a name of a library, or of the top level of a file of the program, means."""
        path, colon, inside = name.partition("::")
        if not colon:
            return ACCELERATOR if name in self.places.accelerator else NOWHERE
        meaning = self.meanings.at(path)
        slots = meaning.code.module.slots.get(inside, ()) if meaning is not None else ()
        return self.join(
            self.variable(meaning, meaning.code.module.binding(slot)) for slot in slots if meaning is not None
        )

    def parameter(self, value: Value, slot: int) -> Where:
        """Where that lies which a parameter of a function is handed: by its callers, or where the network lies that is handed it."""
        function = value.function
        owner = function.parent
        if slot == 0 and function.receives and owner is not None:
            return self._itself(value, owner)
        if owner is not None and self._is_forward(value.meaning, function):
            default = function.header.parameters[slot].default
            said = self.where(Value(value.meaning, owner, default)) if default >= 0 else NOWHERE
            return said or self.object(value.meaning, owner)
        given = self.callers.given(value.meaning, function, slot)
        others = [LEFT] if self._is_of_data(value.meaning, function) else [] if given.complete else [OPEN]
        return self.join(chain(others, (self.where(Value(meaning, *place)) for meaning, place in given.values)))

    def _is_of_data(self, meaning: Meaning, function: Function) -> bool:
        """Whether a function is handed data before a network gets them: a data pipeline calls it, or it is what is called of an object
        that is no network."""
        if self.callers.calls(meaning, function).prepares:
            return True
        owner, kinds = function.parent, self.users.resolver.kinds
        if owner is None or not owner.is_class or function.name not in self._called_names:
            return False
        name = f"{meaning.path}::{owner.qualified}"
        called = self.users.resolver.classes.attribute(name, "__call__") is not None
        return called and kinds.layer(name) is None and kinds.is_surely_no_layer(name)

    @cached_property
    def _called_names(self) -> frozenset[str]:
        return frozenset(
            {"__call__", *(framework.forward for framework in self.catalog.frameworks if framework.forward)}
        )

    def _itself(self, value: Value, owner: Function) -> Where:
        """Where the object lies whose method runs: in its constructor, and in what only that calls, nobody has moved it yet."""
        method = value.function
        if method.name == "__init__":
            return self.default(value)
        calls = self.callers.calls(value.meaning, method)
        called = [Value(caller, place.function, place.function.called_on(place.at)) for caller, place in calls.places]
        bases = called + [Value(caller, *place) for caller, place in calls.applied]
        known = calls.complete and bases and all(base.at >= 0 and not base.is_named for base in bases)
        return self.join(map(self.where, bases)) if known else self.object(value.meaning, owner)

    def _is_forward(self, meaning: Meaning, function: Function) -> bool:
        owner = function.parent
        if owner is None or not owner.is_class:
            return False
        layer = self.users.resolver.kinds.layer(f"{meaning.path}::{owner.qualified}")
        return layer is not None and function.name == layer.forward

    def object(self, meaning: Meaning, owner: Function) -> Where:
        """Where the objects of a class lie, by its body."""
        return self._objects.of_class(f"{meaning.path}::{owner.qualified}")

    # -- calls ---------------------------------------------------------------------------------------------------------

    def _called(self, value: Value, operation: Op) -> Where:
        function = value.function
        name, word = value.meaning.name(function, operation[1]), function.called(value.at)
        base = function.called_on(value.at)
        found = self._by_library(value, name)
        if found is None and base >= 0:
            found = self._by_method(value, name, word)
        if found is not None:
            return found
        callee = self._callee(value)
        if callee is not None:
            return self.given_back(callee)
        if self.users.resolver.kinds.layer(name) is not None:
            return self._objects.made(value)
        told = function.call(value.at).argument(-1, "device")
        if told >= 0 and value.meaning.is_class(function, operation[1]):
            return self.asked(value.of(told)) or OPEN
        values = [value.of(at) for at in function.call(value.at).values()]
        if base >= 0 and not value.of(operation[1]).is_named:
            values.insert(0, value.of(base))
        computes = name.startswith("builtins.") or name.partition(".")[0] in self.catalog.roots
        found = self.join(map(self.where, values))
        if not found and base < 0 and not computes:
            return self._objects.made(value, sure=False) if name else OPEN
        return found if computes or found else OPEN

    def _by_library(self, value: Value, name: str) -> Where | None:
        """Where that lies which a function of a library makes by what it is told of a device; None for any other."""
        places = self.places
        if name in places.accelerator:
            return ACCELERATOR
        if name in places.host:
            return LEFT
        call = value.function.call(value.at)
        first = call.argument(0, "input", "type", "t")
        if name in places.names:
            return self.asked(value.of(first)) if first >= 0 else OPEN
        if name in places.asked or name in places.at_home:
            told = first if name in places.at_home and "device" not in call.named else call.argument(-1, "device")
            found = self.asked(value.of(told)) if told >= 0 else OPEN if call.unpacked else NOWHERE
            return found or (LEFT if name in places.at_home else self.default(value))
        if name in places.alike:
            told = call.argument(-1, "device")
            found = self.asked(value.of(told)) if told >= 0 else NOWHERE
            return found or (self.where(value.of(first)) if first >= 0 else NOWHERE) or self.default(value)
        return None

    def _by_method(self, value: Value, name: str, word: str) -> Where | None:
        """The same of a method of a tensor, or of a network; None for any other."""
        if "::" in name or (name and name.rpartition(".")[2] != word):
            return None
        words, function = self._words, value.function
        if word in words["to_accelerator"]:
            return ACCELERATOR
        if word in words["to_host"]:
            return HOST
        if word in words["tells"]:
            return NOWHERE
        base = value.of(function.called_on(value.at))
        if word in words["moves"] or word in words["beside"]:
            told = function.call(value.at).argument(0 if word in words["moves"] else -1, "device", "other")
            return (self.asked(value.of(told)) if told >= 0 else NOWHERE) or self.where(base)
        return None

    @cached_property
    def _words(self) -> dict[str, frozenset[str]]:
        kinds = ("to_accelerator", "to_host", "moves", "beside", "tells")
        return {kind: frozenset(name.rpartition(".")[2] for name in getattr(self.places, kind)) for kind in kinds}

    def moved(self, value: Value) -> Where | None:
        """Where the object of a method lies when that has been called; None where it doesn't move it."""
        word = value.function.called(value.at)
        moves = any(word in self._words[kind] for kind in ("to_accelerator", "to_host", "moves"))
        return self._by_method(value, "", word) if moves and word not in ("numpy", "tolist") else None

    def asked(self, value: Value) -> Where:
        """The device that a value asks for."""
        return ACCELERATOR if _is_rank(value.function, value.at) else self.where(value)

    def _callee(self, value: Value) -> Value | None:
        """The function of the program that a call runs, in the context of that; None where it may be another."""
        function, operation = value.function, value.operation
        found = self.meanings.definition(value.meaning.name(function, operation[1]))
        if found is None or found[1].is_class:
            return None
        meaning, callee = found
        asked, context = self._rests_on(meaning, callee), list[tuple[int, Where]]()
        for slot in asked:
            given = argument(value.meaning, callee, slot, Place(function, value.at))
            if given >= 0:
                context.append((slot, self.where(value.of(given))))
        bound = asked[:1] == [0] and callee.receives == "object" and function.called_on(value.at) >= 0
        if bound and context[:1] != [(0, NOWHERE)]:
            context.insert(0, (0, self.where(value.of(function.called_on(value.at)))))
        return Value(meaning, callee, 0, tuple(dict(context).items()))

    def _rests_on(self, meaning: Meaning, function: Function) -> list[int]:
        """The parameters by which it may be told where that lies which a function gives back: what it gives back is made of them, or a
        comprehension, or they are the default in a block."""
        key = (meaning.path, function.number)
        if key not in self._asked:
            gives = (at for _, operation in function.each(op.GIVE) for at in operation[1:3] if at >= 0)
            withs = (operation[1] for _, operation in function.each(op.WITH))
            made = {slot for at in chain(self._gives(function), gives, withs) for slot in function.rests_on(at)}
            self._asked[key] = sorted(made)
        return self._asked[key]

    def given_back(self, callee: Value) -> Where:
        """Where that lies which a function gives back."""
        return self.join(self.where(callee.of(at)) for at in self._gives(callee.function))

    @staticmethod
    def _gives(function: Function) -> list[int]:
        """The values that a function gives back."""
        codes = (op.YIELD, op.YIELD_FROM) if function.header.kind & GENERATOR else (op.RETURN,)
        return [o[1] for n, o in function.each(*codes) if o[1] >= 0 and not function.is_dead(n)]

    # -- the default device --------------------------------------------------------------------------------------------

    def default(self, value: Value) -> Where:
        """Where that lies of which nobody says where it is to be made."""
        for mark in value.function.blocks(value.at):
            entered = value.function.ops[mark]
            if entered[0] == op.WITH and self._is_device(value.of(entered[1])):
                return self.where(value.of(entered[1]))
        key = (value.meaning.path, -1, _DEFAULT, ())
        return self.search.of(key, lambda: self._set_default(value.meaning)) or LEFT

    def _is_device(self, value: Value) -> bool:
        """Whether a value is a device, which is the default in a block."""
        meant = value.of(value.function.meant(value.at))
        return (
            meant.operation[0] == op.CALL
            and value.meaning.name(meant.function, meant.operation[1]) in self.places.names
        )

    def _set_default(self, meaning: Meaning) -> Where:
        """The default device that a file sets, or a script that leads to it."""
        words = {name.rpartition(".")[2] for name in self.places.default}
        return self.join(self._told_default(meaning, words))

    def _told_default(self, meaning: Meaning, words: set[str]) -> Iterator[Where]:
        for path in dict.fromkeys((meaning.path, *(self.users.ends(meaning.path) or ()))):
            other = self.meanings.at(path)
            if other is None or words.isdisjoint(other.code.identifiers):
                continue
            for function in other.code.functions():
                for at, name in other.calls(function):
                    given = function.call(at).values()[:1] if name in self.places.default else ()
                    yield from (self._default_told(Value(other, function, told)) for told in given)

    def _default_told(self, value: Value) -> Where:
        """The device that is made the default: by its name, or by a type of tensor, `"torch.cuda.FloatTensor"`."""
        text = value.function.constant(value.at)
        return self.where(value) or (self.of_name(text) if isinstance(text, str) else NOWHERE)


def _is_rank(function: Function, at: int) -> bool:
    """Whether a value is a whole number, which stands for the accelerator of that rank."""
    number = function.constant(function.meant(at))
    return isinstance(number, int) and not isinstance(number, bool)
