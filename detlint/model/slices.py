"""What a value is made of, backwards through the program: names, parameters by all calls that are there, attributes by who sets them, and
what functions give back.

What it may assume: the files at hand, and those of the run that have a function's name, have all calls of it; an attribute that a
method reads was set by a method of its class.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cached_property
from typing import Final, NamedTuple

from detlint.ir import ops as op
from detlint.ir.code import Function
from detlint.ir.records import OTHERS, REST
from detlint.model.meaning import Meaning, Meanings
from detlint.model.module import Module
from detlint.model.uses import Users

MOST_FILES: Final = 24
"""So many files of a run are looked into for one question, the nearest to where it starts."""
MOST: Final = 2_000
"""So many values are looked at for one question."""


def of_run(users: Users, files: Collection[str], entry: str, words: Collection[str]) -> Slices:
    """Slices through the files of a run that have one of some names, and the one that it starts in; of very many, the nearest.

    Args:
        entry: that one.
    """

    def having(said: Collection[str]) -> Iterator[Meaning]:
        found = sorted({entry, *users.index.having(files, frozenset(said))})
        found.sort(key=lambda path: -len(os.path.commonpath([path, entry])))
        return (meaning for path in found[:MOST_FILES] if (meaning := users.meanings.at(path)) is not None)

    catalog = users.resolver.catalog
    return Slices(having(words), catalog.canonical, having, users.meanings, catalog.with_context("gives-in-turn"))


class Point(NamedTuple):
    """A value in a file."""

    meaning: Meaning
    function: Function
    at: int

    @property
    def key(self) -> tuple[str, int, int]:
        """What tells it from others."""
        return self.meaning.path, self.function.number, self.at

    @property
    def called(self) -> str:
        """The full name of what a call calls; "" for any other value."""
        operation = self.function.ops[self.at]
        return self.meaning.name(self.function, operation[1]) if operation[0] == op.CALL else ""


def point_at(users: Users, module: Module, index: int) -> Point | None:
    """The call of a site."""
    meaning = users.meanings.of(module)
    found = meaning.code.at(module.sites[index].span.place, op.CALL) if meaning is not None else None
    return Point(meaning, *found) if meaning is not None and found is not None else None


def _closure(start: Point, step: Callable[[Point], Iterable[Point]]) -> Iterator[Point]:
    """A value, and all to which a step leads from it, or from these."""
    waiting = [start]
    seen = {start.key}
    for point in waiting:  # grows meanwhile
        yield point
        for new in step(point) if len(waiting) < MOST else ():
            if new.key not in seen:
                seen.add(new.key)
                waiting.append(new)


class Slices:
    """Follows values back in some files.

    Args:
        canonical: gives the one full name of what has several.
        having: the files of the run that have one of some names.
        everywhere: the meanings of all files.
        in_turn: the full names of what gives back as many objects as it is handed, in their order.
    """

    def __init__(
        self,
        meanings: Iterable[Meaning],
        canonical: Callable[[str], str],
        having: Callable[[Collection[str]], Iterable[Meaning]],
        everywhere: Meanings,
        in_turn: Collection[str],
    ) -> None:
        self.canonical = canonical
        self._everywhere, self._in_turn = everywhere, in_turn
        self.files = {meaning.path: meaning for meaning in meanings}
        self._having = having
        self._callers = set[str]()
        """The files besides of which the calls are known, since they have the name of what a parameter belongs to."""
        self._sought = set[str]()
        """These names."""

    def calls(self) -> Iterator[tuple[Point, str]]:
        """All calls in the files that may be come to, with the full names of what they call."""
        for meaning in self.files.values():
            yield from self._calls_in(meaning)

    def _calls_in(self, meaning: Meaning) -> Iterator[tuple[Point, str]]:
        for function in meaning.code.functions():
            for at, name in meaning.calls(function):
                if not function.is_dead(at):
                    yield Point(meaning, function, at), self.canonical(name)

    @cached_property
    def named(self) -> dict[str, list[Point]]:
        """The full names of what is called -> the calls; of a method of an object that isn't known, `.` and its name."""
        found: dict[str, list[Point]] = {}
        for meaning in self.files.values():
            self._name(meaning, found)
        return found

    def _name(self, meaning: Meaning, found: dict[str, list[Point]]) -> None:
        for point, name in self._calls_in(meaning):
            method = point.function.called(point.at) if point.function.called_on(point.at) >= 0 else ""
            found.setdefault(name or f".{method}", []).append(point)

    def _called(self, names: Iterable[str], word: str) -> Iterator[Point]:
        """The calls of what has some full names, in the files at hand and in those of the run that have its name."""
        if word not in self._sought:
            self._sought.add(word)
            for meaning in self._having((word,)):
                if meaning.path not in self.files and meaning.path not in self._callers:
                    self._callers.add(meaning.path)
                    self._name(meaning, self.named)
        return (call for each in names for call in self.named.get(each, ()))

    def parts(self, meaning: Meaning, function: Function, value: int) -> Iterator[Point]:
        """A value and all that it is made of."""
        return _closure(Point(meaning, function, value), self._before)

    def held(self, meaning: Meaning, function: Function, value: int) -> Iterator[Point]:
        """A value and all that it may be, or may have in it: as what it is made of, but what a call of the program gives back stands for
        what that was handed, and one attribute of an object for all that this was made with."""
        return _closure(Point(meaning, function, value), self._inside)

    def _inside(self, point: Point) -> Iterator[Point]:
        meaning, function, at = point
        operation = function.ops[at]
        known: Iterable[Point] = ()
        if operation[0] == op.CALL:
            known = self._result(meaning.name(function, operation[1]))
        elif operation[0] == op.ATTR:
            known = self._of_object(point)
        elif operation[0] == op.PART:
            element = function.element(at)
            known = [point._replace(at=element)] if element != at else self._in_turn_given(point)
        return iter([*known] or self._before(point))

    def _result(self, name: str) -> Iterator[Point]:
        """What a function of the program gives back, in whichever file."""
        found = self._everywhere.definition(name)
        if found is None or found[1].is_class:
            return
        for _, operation in found[1].each(op.RETURN):
            if operation[1] >= 0:
                yield Point(*found, operation[1])

    def _of_object(self, point: Point) -> Iterator[Point]:
        """What the methods of its class set an attribute of an object to."""
        meaning, function, at = point
        operation = function.ops[at]
        found = self._everywhere.definition(meaning.kind(function, operation[1]))
        if found is None:
            return
        home, owner = found
        attribute = function.strings[operation[2]]
        for setter, place in home.code.setters(attribute):
            method = setter.method
            own = method is not None and method.parent is owner
            if own and setter.own(place) == attribute and setter.ops[place][0] == op.SET_ATTR:
                yield Point(home, setter, setter.ops[place][3])

    def _in_turn_given(self, point: Point) -> Iterator[Point]:
        """What is handed to a call that gives back as many objects in the same order, in the place of one of these."""
        _, _, number, count = point.function.ops[point.at][:4]
        made = point.function.ops[point.at][1]
        call = point.function.call(made) if point.function.ops[made][0] == op.CALL else None
        if call is None or len(call.positional) != count or call.unpacked or number < 0:
            return
        if self.canonical(point.meaning.name(point.function, call.callee)) in self._in_turn:
            yield point._replace(at=call.positional[number])

    def same(self, meaning: Meaning, function: Function, value: int) -> Iterator[Point]:
        """All that a value may be itself, by names: not what it is made of."""
        waiting = [Point(meaning, function, value)]
        seen = {waiting[0].key}
        for point in waiting:  # grows meanwhile
            operation = point.function.ops[point.at]
            new = list[Point]()
            if operation[0] == op.LOAD:
                new += self._of_name(point, operation[1])
            elif operation[0] == op.ATTR:
                new += self._of_attribute(point)
            elif operation[0] == op.PART and point.function.element(point.at) != point.at:
                new.append(Point(point.meaning, point.function, point.function.element(point.at)))
            elif operation[0] == op.CHOICE:
                new += (Point(point.meaning, point.function, arm) for arm in operation[2:4])
            else:
                yield point
            for each in new if len(waiting) < MOST else ():
                if each.key not in seen:
                    seen.add(each.key)
                    waiting.append(each)

    def _before(self, point: Point) -> Iterator[Point]:
        meaning, function, at = point
        operation = function.ops[at]
        if operation[0] == op.PART and (parts := self._part_given_back(point)):
            yield from parts
        elif not self._counts(point):
            yield from (Point(meaning, function, part) for part in function.values(at))
        if operation[0] == op.LOAD:
            yield from self._of_name(point, operation[1])
        elif operation[0] == op.COLLECT:
            given = (part for n, part in function.each(op.GIVE) if operation[2] < n < at)
            yield from (Point(meaning, function, value) for part in given for value in part[1:] if value >= 0)
        elif operation[0] == op.ATTR:
            yield from self._of_attribute(point)
        elif operation[0] == op.CALL:
            yield from self._given_back(meaning.name(function, operation[1]))

    def _counts(self, point: Point) -> bool:
        """Whether a value is the number of a round: `for i, batch in enumerate(batches)`."""
        meaning, function, at = point
        operation = function.ops[at]
        loop = function.ops[operation[1]] if operation[0] == op.PART and operation[2] == 0 else (op.END,)
        source = function.ops[loop[1]] if loop[0] == op.FOR else (op.END,)
        return source[0] == op.CALL and meaning.name(function, source[1]) == "builtins.enumerate"

    def _of_name(self, point: Point, slot: int) -> Iterator[Point]:
        meaning, function, at = point
        for definition in sorted(function.flow.reaching.get(at, ())):
            if definition >= 0 and function.ops[definition][0] == op.STORE:
                yield Point(meaning, function, function.ops[definition][2])
        may = function.may_give(at)  # also where the function puts another value in its place on some ways
        given = (function, may) if may >= 0 else function.given(at)
        if given is not None:
            yield from self._handed(meaning, *given)
        elif function.binding(slot).owner != function.number and function.binding(slot).slot >= 0:
            for around, stored in function.code.stores(function.binding(slot)):
                if around.ops[stored][0] == op.STORE:
                    yield Point(meaning, around, around.ops[stored][2])

    def _handed(self, meaning: Meaning, function: Function, number: int) -> Iterator[Point]:
        """What calls give a parameter."""
        name, owner, word = f"{meaning.path}::{function.qualified}", function.parent, function.name
        bound = 1 if function.receives else 0
        names = [name, f".{word}"] if bound else [name]
        if word == "__init__" and owner is not None:
            names, word = [f"{meaning.path}::{owner.qualified}"], owner.name
        kind, taken = function.header.parameters[number].kind, {*map(function.text, range(number))}
        for call in self._called(names, word):
            given = call.function.call(call.at)
            if kind == REST:
                values = [*given.positional[max(number - bound, 0) :]]
            elif kind == OTHERS:
                values = [value for key, value in given.named.items() if key not in taken]
            else:
                values = [given.argument(number - bound, function.text(number))]
            yield from (Point(call.meaning, call.function, value) for value in values if value >= 0)

    def _of_attribute(self, point: Point) -> Iterator[Point]:
        """What methods set an attribute of their object to."""
        meaning, function, at = point
        attribute = function.own(at)
        for setter, place in meaning.code.setters(attribute) if attribute and function.method is not None else ():
            if setter.own(place) == attribute and setter.ops[place][0] == op.SET_ATTR:
                yield Point(meaning, setter, setter.ops[place][3])

    def _part_given_back(self, point: Point) -> list[Point]:
        """The parts that a value is of what a function of the program gives back, where that always gives so many; nothing for any other
        value."""
        operation = point.function.ops[point.at]
        number, count, made = operation[2], operation[3], point.function.ops[operation[1]]
        given = [*self._given_back(point.meaning.name(point.function, made[1]))] if made[0] == op.CALL else []
        tuples = [(one, one.function.ops[one.at]) for one in given]
        if not all(display[0] == op.TUPLE and len(display) - 1 == count for _, display in tuples):
            return []
        return [one._replace(at=display[1 + number]) for one, display in tuples]

    def _given_back(self, name: str) -> Iterator[Point]:
        """What a function of the program gives back."""
        path, colon, inside = name.partition("::")
        meaning = self.files.get(path) if colon else None
        for function in meaning.code.by_name.get(inside, ()) if meaning is not None else ():
            for _, operation in function.each(op.RETURN) if not function.is_class else ():
                if operation[1] >= 0 and meaning is not None:
                    yield Point(meaning, function, operation[1])
