"""Who sets an attribute, and what may put something else in the place of a definition: asked of a file, by its IR.

What it may assume is what `detlint.ir.writes` does. What can't be read may do anything; what is no Python does nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Container, Iterator, Mapping, Set
from typing import Final, NamedTuple

from detlint.ir import ops as op
from detlint.ir.code import Code, Function
from detlint.ir.writes import ANY, BY_NAME, MODULES, OWN, Writes
from detlint.model.meaning import Meaning, Meanings
from detlint.model.resolve import Resolver
from detlint.notebook import is_notebook

_CLASS_OF: Final = ("type", "__class__")
"""By what code asks for the class of an object."""


class Written(NamedTuple):
    """What a file does to attributes, by their names; `ANY` among them where one isn't written out."""

    times: Mapping[str, int]
    """How often each is set, of whatever it is."""
    others: Set[str]
    """Those of anything but the object whose own method sets them; and any that isn't written out."""
    of_modules: Set[str]
    """Those of modules."""
    swapped: Set[str]
    """Those of anything but such an object; not written out ones, of modules and classes alone."""
    modules: bool
    """Whether it puts other modules in the place of some."""
    texts: Set[str]
    """The names that are texts of it, alone or behind a dot."""
    by_parameters: Set[tuple[str, int, str]]
    """The functions, and the positions and names of their parameters, that are names of what they set."""
    makes_another: bool
    """Whether it makes an object of another one's class."""


UNKNOWN: Final = Written(
    {}, frozenset({ANY}), frozenset({ANY}), frozenset({ANY}), False, frozenset({ANY}), frozenset(), True
)
NOTHING: Final = Written({}, frozenset(), frozenset(), frozenset(), False, frozenset(), frozenset(), False)


class Writers:
    """Asks files. What a file does is found out once."""

    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver
        self._known: dict[str, Written] = {}

    def of(self, path: str) -> Written:
        """What a file does to attributes. Those that it sets in so many words, and the texts that are names, are known outside of its
        functions (`detlint.ir.parts`)."""
        code = self._resolver.by_words(path, *BY_NAME, *_CLASS_OF)
        if path not in self._known:
            unread = UNKNOWN if path.endswith(".py") or is_notebook(path) else NOTHING
            self._known[path] = _written(code) if code is not None else unread
        return self._known[path]

    def sets(self, attribute: str, path: str) -> bool:
        """Whether a file may set an attribute of anything but the object whose own method does."""
        return _has(self.of(path).others, attribute)

    def times_set(self, attribute: str, path: str) -> int:
        """How often a file sets an attribute by its name, of whatever it is."""
        return self.of(path).times.get(attribute, 0)

    def gives(self, option: str, path: str) -> bool:
        """Whether a file may say what an option is, beside what parses the command line: it sets the attribute, or has its name as a
        text."""
        written = self.of(path)
        return _has(written.texts, option) or option in written.times

    def injects(self, name: str, path: str) -> bool:
        """Whether a file may put a name among the built-in ones, which all files have, or give it to a module."""
        return _has(self.of(path).of_modules, name) or self._replaces_module_with(name, path)

    def swaps(self, name: str, path: str) -> bool:
        """Whether a file may put something else in the place of a function, a class or a method of a name."""
        return _has(self.of(path).swapped, name) or self._replaces_module_with(name, path)

    def looks_up(self, name: str, path: str) -> bool:
        """Whether a file may make objects of a class without its name: by a text that says it, or by what another object is."""
        written = self.of(path)
        return written.makes_another or _has(written.texts, name)

    def hands_itself(self, name: str, path: str) -> bool:
        """Whether a class of a file may go through its own objects, or hand them to something: its methods do more with them than to
        ask for something that they have."""
        code = self._resolver.modules.code(path)
        bodies = code.by_name.get(name, ()) if code is not None else ()
        for body in bodies:
            for inner in body.code.inside(body.number):
                self._resolver.inside(path, inner)
        return not bodies or any(_hands_itself(body) for body in bodies)

    def setting(self, meanings: Meanings, path: str, attribute: str) -> Iterator[tuple[Function, int]]:
        """The values of which a file sets an attribute, directly or by what it hands its name to.

        Args:
            meanings: says what it hands that to.
        """
        code = self._resolver.code(path)
        if code is None or (attribute not in code.identifiers and attribute not in code.texts):
            return
        named = Writes(code).named.get(attribute, ())
        yield from ((write.function, write.of) for write in named if write.of >= 0)
        module = self._resolver.module(path) if attribute in code.texts else None
        meaning = meanings.of(module) if module is not None else None
        if meaning is not None:
            yield from (
                given for function in code.functions() for given in self._hands_name(meaning, function, attribute)
            )

    def _hands_name(self, meaning: Meaning, function: Function, attribute: str) -> Iterator[tuple[Function, int]]:
        """What a function hands, with the name of an attribute, to what sets that."""
        for at, operation in function.each(op.CALL):
            call = function.call(at)
            handed: list[tuple[int | str, int]] = [*enumerate(call.positional), *call.named.items()]
            words = {word for word, value in handed if function.constant(value) == attribute}
            if words and self._takes_name(meaning.name(function, operation[1]), words):
                yield function, next(value for _, value in handed)

    def _takes_name(self, called: str, words: Container[int | str]) -> bool:
        """Whether a function of the program sets an attribute by a name that it is given.

        Args:
            words: the position at which it is, or its keyword.
        """
        path, colon, inside = called.partition("::")
        return colon != "" and any(
            name == inside and (position in words or position - ("." in inside) in words or parameter in words)
            for name, position, parameter in self.of(path).by_parameters
        )

    def sets_of(self, meanings: Meanings, path: str, roots: Container[str]) -> bool:
        """Whether a file may set an attribute of something that some libraries have, by the first components of their names."""
        whole = self._resolver.by_words(path)
        code = whole if self.of(path).of_modules else None
        module = self._resolver.module(path)
        meaning = meanings.of(module) if module is not None and code is not None else None
        if code is None or meaning is None:
            return False
        of = ((write.function, write.of) for write in Writes(code).all() if write.of >= 0)
        return any(meaning.name(*each).partition(".")[0] in roots for each in of)

    def _replaces_module_with(self, name: str, path: str) -> bool:
        """Whether a file puts others in the place of modules, and says a name that these may have."""
        code = self._resolver.by_words(path, name) if self.of(path).modules else None
        return code is not None and (name in code.identifiers or name in code.texts)


def _has(names: Set[str], name: str) -> bool:
    return name in names or ANY in names


def _written(code: Code) -> Written:
    """What a file does to attributes."""
    writes = Writes(code)
    times, others, of_modules, swapped, modules = dict[str, int](), set[str](), set[str](), set[str](), False
    by_parameters = set[tuple[str, int, str]]()
    for write in writes.all():
        name = sys.intern(write.name)
        own, module = writes.is_own(write), writes.is_of_module(write)
        if name:
            times[name] = times.get(name, 0) + 1
        elif write.of == MODULES:
            modules = True
            continue
        position = write.function.parameter(write.by) if write.by >= 0 else -1
        if position >= 0:
            by_parameters.add((write.function.qualified, position, write.function.text(position)))
        if write.of != OWN:
            if not own or not name:
                others.add(name)
            if module:
                of_modules.add(name)
        if module or (name and not own) or writes.is_of_class(write):
            swapped.add(name)
    return Written(times, others, of_modules, swapped, modules, _names_in(code), by_parameters, _makes_another(code))


def _names_in(code: Code) -> frozenset[str]:
    """The names that are texts of a file, alone or behind a dot."""
    last = (text.rpartition(".")[2] for text in code.texts)
    return frozenset(sys.intern(name) for name in last if name.isidentifier())


def _makes_another(code: Code) -> bool:
    """Whether a file calls what the class of an object is: `type(layer)(width)`."""
    if code.identifiers.isdisjoint(_CLASS_OF):
        return False
    return any(
        _is_class_of(function, operation[1]) for function in code.each_once() for _, operation in function.each(op.CALL)
    )


def _is_class_of(function: Function, value: int) -> bool:
    """Whether a value is the class of some object, asked for there."""
    made = function.ops[function.meant(value)]
    if made[0] == op.ATTR:
        return function.code.strings[made[2]] == "__class__"
    return made[0] == op.CALL and made[2] == 1 and function.is_builtin(made[1], "type")


def _hands_itself(body: Function) -> bool:
    """Whether a class does more with its own objects than to ask them for something, to set that, or to ask its bases for them."""
    for function in body.code.inside(body.number):
        for at, _ in function.each(op.LOAD):
            if function.receiver(at) is body and not all(
                _only_asks(function, use.op, at) for use in function.users[at]
            ):
                return True
    return False


def _only_asks(function: Function, at: int, itself: int) -> bool:
    """Whether an op does no more with an object than to ask it, or its bases, for something, or to set that."""
    operation = function.ops[at]
    if operation[0] in (op.ATTR, op.SET_ATTR, op.DELETE_ATTR, op.ANNOTATE_ATTR):
        return operation[1] == itself
    if operation[0] != op.CALL:
        return False
    callee = function.ops[operation[1]]
    begins = callee[0] == op.ATTR and function.code.strings[callee[2]] == "__init__"
    return function.is_builtin(operation[1], "super") or (begins and operation[2] > 0 and operation[3] == itself)
