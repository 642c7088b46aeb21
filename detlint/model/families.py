"""A class with those that derive from it: whether anything but its own code may set what its objects keep, or make and call them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Final

from detlint.db import Memo
from detlint.ir import ops as op
from detlint.ir.code import Function
from detlint.ir.uses import Use
from detlint.model.accessors import asks_itself
from detlint.model.module import Module
from detlint.model.readers import Readers
from detlint.model.references import is_spelled
from detlint.model.sites.records import Ref
from detlint.model.uses import Users

_SETS_ANY: Final = frozenset({"__dict__", "__setattr__"})
_SETS_BY_NAME: Final = frozenset({"setattr", "vars"})
"""By what an object may set attributes of its own without their names."""


class Families:
    """Finds the bases and heirs of classes, and asks what they do.

    Args:
        attributes: knows what sets the attributes of objects.
    """

    def __init__(self, users: Users, attributes: Readers) -> None:
        self._users = users
        self._resolver = users.resolver
        self._attributes = attributes
        self._heirs: Memo[list[tuple[Module, str]]] = Memo(users.db)
        self._answers: Memo[bool] = Memo(users.db)

    def heirs(self, module: Module, owner: str) -> list[tuple[Module, str]]:
        """The classes of the program that derive from a class."""
        return self._heirs.of((module.path, owner), partial(self._users.heirs, module, owner), [])

    def bases(self, module: Module, owner: str) -> list[tuple[Module, str]]:
        """The classes of the program that one derives from."""
        kin = [*self._resolver.classes.family(f"{module.path}::{owner}")][1:]
        self._resolver.opened.update(home.path for home, _ in kin)
        return kin

    def derives_from_others(self, module: Module, owner: str) -> bool:
        """Whether a class has bases in the program."""
        return any("::" in base for base in self._resolver.classes.mro(f"{module.path}::{owner}")[1:])

    def saying(self, module: Module, word: str) -> Iterator[Module]:
        """A file, and those of its importers that say a word, one by one."""
        return chain((module,), filter(None, map(self._resolver.module, self._users.importers_saying(module, word))))

    def _parts(self, module: Module, owner: str) -> Iterator[Function]:
        """The functions of a class, with those of the class around it; none that can't be read."""
        return (part for top in self._tops(module, owner) for part in top.code.inside(top.number))

    def _tops(self, module: Module, owner: str) -> Sequence[Function]:
        """The definitions of the top level that are a class, or the one around it."""
        code = self._resolver.code(module.path)
        return code.by_name.get(owner.partition(".")[0], ()) if code is not None else ()

    def is_own(self, module: Module, owner: str, name: str) -> bool:
        """Whether a class alone sets an attribute on its `self`, by its name: none of its bases does, nor an heir."""
        kin = [*self.bases(module, owner), *self.heirs(module, owner)]
        if any(name in home.classes[other].attributes for home, other in kin if other in home.classes):
            return False
        return not any(map(_may_set_any, (part for one in ((module, owner), *kin) for part in self._parts(*one))))

    def is_set(self, module: Module, owner: str, name: str) -> bool:
        """Whether something may set an attribute of what may be an object of a class (`net.drop = 0.1`), or an heir one of its own."""
        return self._answers.of(("set", module.path, owner, name), partial(self._find_set, module, owner, name), False)

    def is_only_said_to_call(self, module: Module, owner: str) -> bool:
        """Whether nothing is done with what has the name of a class but to define, to import and to call it: it has no heirs, and stands
        in no table."""
        return self._answers.of(("called", module.path, owner), partial(self._is_only_called, module, owner), False)

    def may_run_itself(self, module: Module, owner: str) -> bool:
        """Whether a layer, or a base of it, may call the layer itself."""
        return self.derives_from_others(module, owner) or any(
            part.parameter(part.call(at).callee) == 0
            for part in self._parts(module, owner)
            for at, _ in part.each(op.CALL)
            if _is_method(part)
        )

    def may_ask_itself(self, module: Module, owner: str) -> bool:
        """Whether an object may come to its own methods by names that are put together."""
        return (
            any(map(asks_itself, self._tops(module, owner)))
            or self.derives_from_others(module, owner)
            or bool(self.heirs(module, owner))
        )

    def _find_set(self, module: Module, owner: str, name: str) -> bool:
        if any(name in home.classes[heir].attributes for home, heir in self.heirs(module, owner)):
            return True
        return self._attributes.is_set_by_others(module, owner, name)

    def _is_only_called(self, module: Module, owner: str) -> bool:
        saying = self._users.saying(module, owner) if owner.isascii() else None
        for path in dict.fromkeys([module.path, *saying]) if saying is not None else ("",):
            home, code = self._resolver.module(path), self._resolver.code(path)
            if home is None or code is None:
                return False
            if home is not module and home.facts.names.get(owner) == Ref(f"{home.prefix}{owner}"):
                continue  # it has a definition of its own under that name
            if any(is_spelled(text, owner) for text in code.texts):
                return False
            if not all(_only_calls(part, owner) for part in code.functions()):
                return False
        return True


def _is_method(function: Function) -> bool:
    return function.parent is not None and function.parent.is_class


def _may_set_any(function: Function) -> bool:
    """Whether a function may set attributes of an object without their names."""
    strings = function.code.strings
    if any(strings[operation[2]] in _SETS_ANY for _, operation in function.each(op.ATTR)):
        return True
    callees = (function.call(at) for at, _ in function.each(op.CALL))
    return any(function.dotted(c.callee) in _SETS_BY_NAME for c in callees)


def _only_calls(function: Function, name: str) -> bool:
    """Whether all that a function does with what has a name is to call it, to define it, or to import it by that name."""
    strings = function.code.strings
    for at, operation in function.each(op.LOAD, op.ATTR, op.MEMBER):
        said = function.text(operation[1]) if operation[0] == op.LOAD else strings[operation[2]]
        uses = function.users[at] if said == name else ()
        if operation[0] == op.MEMBER:
            stored = (function.ops[use.op] for use in uses)
            if any(each[0] != op.STORE or function.text(each[1]) != name for each in stored):
                return False
        elif not all(_calls(function, use) for use in uses):
            return False
    return True


def _calls(function: Function, use: Use) -> bool:
    """Whether a use of a class calls it, or asks it for its bases: `super(Net, self)`."""
    operation = function.ops[use.op]
    asks = use.place == 3 and operation[0] == op.CALL and function.is_builtin(operation[1], "super")
    return asks or (operation[0] == op.CALL and use.place == 1)
