"""Who reads an attribute of a class' objects, or may set it: asked of the IR of the files that say its name.

What it may assume: an object whose class isn't known may be of any; who reads attributes by names that aren't written out reads those of
the object that he asks, and a class that does so with its own objects may read all of theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from detlint.ir import ops as op
from detlint.ir.code import Code, Function
from detlint.ir.uses import Op
from detlint.ir.words import words_in
from detlint.ir.writes import Writes
from detlint.model.module import Module
from detlint.model.sites.records import Ref
from detlint.model.uses import Users
from detlint.notebook import is_notebook

KNOWN: Final = ("builtins.", "abc.", "typing.", "enum.")
"""What classes of others begin with that read no attributes of those which derive from them."""
_ASKS: Final = ("getattr", "hasattr")
_GETTERS: Final = frozenset({"attrgetter", "methodcaller"})
_PARTS: Final = frozenset({"cells", "children", "name_cells", "named_children"})
"""Methods by which a layer goes through its parts."""
_TABLES: Final = frozenset({"__dict__", "_cells", "_modules"})
"""Attributes that hold all others, or all parts."""

Counts = Callable[[str, Function, int], bool]
"""Whether an op of a function of a file counts."""
Reading = tuple[Function, int, int]
"""A function, the op in it that reads an attribute, and the value that this is one of; -1 where that isn't seen."""


class Readers:
    """Finds them."""

    def __init__(self, users: Users) -> None:
        self._users = users
        self._resolver = users.resolver
        self._frameworks = {framework.module for framework in users.resolver.catalog.frameworks}
        self._asking: dict[str, bool] = {}

    def is_read(
        self, module: Module, owner: str, name: str, *, inside: bool = False, counts: Counts | None = None
    ) -> bool:
        """Whether anything may read an attribute, or call a method, of the objects of a class; so where what reads it can't all
        be found.

        Args:
            owner: the class, by its name inside the module.
            inside: whether it is a part of what the object does itself, as layers have them: others than its class read it
                only where they import that, or call it of an object that they were handed: `model.encoder(x)`.
            counts: says which readings count; None for all of them.
        """
        own, code = f"{module.path}::{owner}", self._code(module.path)
        if code is None or (counts is None and self._is_read_by_itself(code, owner, name)):  # as most are
            return True
        saying = (
            self._users.saying(module, name, anywhere=not inside) if name.isascii() and self._is_closed(own) else None
        )
        if saying is None:
            return True
        first = [
            module.path,
            *(base.partition("::")[0] for base in self._resolver.classes.mro(own)[1:] if "::" in base),
        ]
        for path in dict.fromkeys(first):
            if self._reads(path, own, name, counts):
                return True
        for path in saying:
            if path not in first and self._reads(path, own, name, counts):
                return True
        return inside and self._is_read_farther_away(module, own, name, counts)

    def is_read_by_family(self, module: Module, owner: str, name: str) -> bool:
        """Whether another class may read an attribute of its own objects that a class sets: one that derives from it, or that it
        derives from; so where these can't all be found. Whoever has one of its objects isn't asked.

        Args:
            owner: the class, by its name inside the module.
        """
        own = f"{module.path}::{owner}"
        saying = self._users.saying(module, name, anywhere=False) if name.isascii() and self._is_closed(own) else None
        if saying is None:
            return True
        first = [
            module.path,
            *(base.partition("::")[0] for base in self._resolver.classes.mro(own)[1:] if "::" in base),
        ]
        near = dict.fromkeys([*first, *saying])
        for path in near:
            if any(of != own and self._is_related(path, of, own) for of in self._reading_itself(path, name)):
                return True
        for path in self._users.saying(module, name) or ():
            if path not in near and any(self._is_akin(of, own) for of in self._reading_itself(path, name)):
                return True
        return False

    def is_set_by_others(self, module: Module, owner: str, name: str) -> bool:
        """Whether anything but a class itself may set an attribute of its objects: one that derives from it, or whoever has one.

        Args:
            owner: the class, by its name inside the module.
        """
        saying = self._users.saying(module, name) if name.isascii() else None
        if saying is None:
            return True
        own = f"{module.path}::{owner}"
        for path in dict.fromkeys([module.path, *saying]):
            for function, value in self._users.writers.setting(self._users.meanings, path, name):
                body = function.receiver(function.meant(value))
                itself = body is not None and f"{path}::{body.qualified}" == own
                if not itself and self._may_be_of(path, function, value, own):
                    return True
        return False

    def _code(self, path: str) -> Code | None:
        """The IR of a file. Whoever asks depends on what the functions say that have the words which he has looked for in it."""
        return self._resolver.by_words(path)

    def _is_read_by_itself(self, code: Code, owner: str, name: str) -> bool:
        """Whether a class reads an attribute of its own objects."""
        return any(
            base >= 0 and (of := function.receiver(base)) is not None and of.qualified == owner
            for function, _, base in readings(code, name)
        )

    def _reads(self, path: str, own: str, name: str, counts: Counts | None) -> bool:
        """Whether a file reads an attribute of objects that may be of a class."""
        code = self._code(path)
        if code is None:
            return is_notebook(path) or path.endswith(".py")
        return any(
            self._may_be_of(path, function, base, own) and (counts is None or counts(path, function, at))
            for function, at, base in readings(code, name)
        )

    def _is_read_farther_away(self, module: Module, own: str, name: str, counts: Counts | None) -> bool:
        """Whether a file that doesn't import a module itself may read what its objects have: a class there derives from theirs, by way
        of what a package offers; or it calls that of an object that it was handed, if tensors have no such method, which it will mean."""
        of_tensors = name in self._resolver.catalog.tensor_methods
        for path in self._users.saying(module, name) or ():
            code = self._code(path) if path != module.path else None
            for function, at, base in readings(code, name) if code is not None else ():
                body = function.receiver(base) if base >= 0 else None
                if body is not None:
                    read = self._is_akin(f"{path}::{body.qualified}", own)
                else:
                    called = any(function.ops[use.op][0] == op.CALL and use.place == 1 for use in function.users[at])
                    read = called and base >= 0 and not of_tensors and self._may_be_handed(path, function, base, own)
                if read and (counts is None or counts(path, function, at)):
                    return True
        return False

    def _may_be_handed(self, path: str, function: Function, value: int, own: str) -> bool:
        """Whether a value may be an object of a class, and is nothing that is imported."""
        module = self._resolver.module(path)
        meaning = self._users.meanings.of(module) if module is not None else None
        named = meaning is None or isinstance(meaning.value(function, value), Ref)
        return not named and self._may_be_of(path, function, value, own)

    def _may_be_of(self, path: str, function: Function, value: int, own: str) -> bool:
        """Whether a value may be an object of a class, or that class.

        Args:
            value: -1 for one that isn't seen.
        """
        if value < 0:
            return True
        body = function.receiver(function.meant(value))
        if body is not None:
            return self._is_related(path, f"{path}::{body.qualified}", own)
        module = self._resolver.module(path)
        meaning = self._users.meanings.of(module) if module is not None else None
        if meaning is None:
            return True
        meant, kind = meaning.value(function, value), meaning.kind(function, value)
        if kind:
            return self._is_akin(kind, own)
        if not isinstance(meant, Ref):
            return True
        if "::" in meant.name:
            return self._resolver.classes.is_class(meant.name) and self._is_akin(meant.name, own)
        root = meant.name.partition(".")[0]
        return root not in self._resolver.catalog.roots and root != "builtins"

    def _reading_itself(self, path: str, name: str) -> Iterator[str]:
        """The classes of a file that read an attribute of their own objects, by normal name."""
        code = self._code(path)
        for function, _, base in readings(code, name) if code is not None else ():
            body = function.receiver(base) if base >= 0 else None
            if body is not None:
                yield f"{path}::{body.qualified}"

    def _is_closed(self, own: str) -> bool:
        """Whether all that a class derives from is known, and names the attributes that it reads."""
        for name in self._resolver.classes.mro(own):
            path, colon, inside = name.partition("::")
            if not colon:
                if name not in self._frameworks and not name.startswith(KNOWN):
                    return False
                continue
            body = self._resolver.looked_into(path).classes.get(inside)
            if body is None or not self._resolver.classes.knows_bases(name):
                return False
            if name not in self._asking:
                code = self._code(path)
                bodies = code.by_name.get(inside, ()) if code is not None else ()
                self._asking[name] = not bodies or any(map(asks_for_any, bodies))
            if self._asking[name]:
                return False
        return True

    def _is_related(self, path: str, other: str, own: str) -> bool:
        """Whether an object of a class of a file may be one of another class, or of one that this derives from."""
        module = self._resolver.module(path)
        body = module.classes.get(other.partition("::")[2]) if module is not None else None
        if other != own and (body is None or not self._resolver.classes.knows_bases(other)):
            code = self._resolver.code(path)  # what it derives from is not known
            return code is None or own.partition("::")[2].rpartition(".")[2] in code.identifiers
        return self._is_akin(other, own)

    def _is_akin(self, other: str, own: str) -> bool:
        """Whether one of two classes surely derives from the other."""
        return own in self._resolver.classes.mro(other) or other in self._resolver.classes.mro(own)


def readings(code: Code, name: str) -> Iterator[Reading]:
    """Where a file reads an attribute, or asks for it by its name as a text."""
    for number, at in code.attributes.get(name, ()):
        function = code.function(number)
        if function.ops[at][0] == op.ATTR:
            yield function, at, function.ops[at][1]
    if not any(name in text for text in code.texts):
        return
    for function in code.each_once():
        for at, operation in function.each(op.CALL):
            if (
                operation[2] > 1
                and function.is_builtin(operation[1], *_ASKS)
                and function.constant(operation[4]) == name
            ):
                yield function, at, operation[3]
            elif operation[2] and (_gets(function, operation, name) or _evaluates(function, operation, name)):
                yield function, at, -1


def _gets(function: Function, call: Op, name: str) -> bool:
    """Whether a call makes what gets an attribute by its name."""
    word = function.dotted(call[1]).rpartition(".")[2]
    return word in _GETTERS and function.constant(call[3]) == name


def _evaluates(function: Function, call: Op, name: str) -> bool:
    """Whether a call evaluates a text that says a name."""
    text = function.constant(call[3]) if function.is_builtin(call[1], "eval", "exec") else None
    return isinstance(text, str) and name in words_in(text)


def asks_for_any(body: Function) -> bool:
    """Whether a class may come to attributes of its own objects without their names."""
    code = body.code
    if code.identifiers.isdisjoint(("getattr", "vars", *_PARTS, *_TABLES)):
        return False
    writes = Writes(code)
    return any(
        _asks_for_any(writes, function, operation)
        for function in code.inside(body.number)
        for _, operation in function.each(op.ATTR, op.CALL)
    )


def _asks_for_any(writes: Writes, function: Function, operation: Op) -> bool:
    """The same of an `ATTR`, or a `CALL`. What a module has is none of an object's, nor is what a part of one has."""
    if operation[0] == op.ATTR:
        word, base = function.code.strings[operation[2]], function.ops[operation[1]]
        return word in _TABLES or (word in _PARTS and base[0] != op.ATTR)
    if not operation[2]:
        return False
    if function.is_builtin(operation[1], "vars"):
        return function.receiver(operation[3]) is not None
    asks = operation[2] > 1 and function.is_builtin(operation[1], "getattr")
    return asks and not (isinstance(function.constant(operation[4]), str) or writes.dotted(function, operation[3]))
