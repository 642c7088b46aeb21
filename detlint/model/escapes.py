"""Which objects nobody calls: who makes one keeps it to himself, and only takes attributes of it.

An object is followed through the names that hold it, and through the methods of its class. It assumes that nobody calls all parts of an
object that he goes through (`for part in self.modules()`), when the object may be one of them; and that what a library gives as the base
class of layers calls them only where they are called, which holds for frameworks that pass on what a layer is called with.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from detlint.db import Memo
from detlint.ir import ops as op
from detlint.ir.code import Binding, Function
from detlint.ir.places import Place
from detlint.model.meaning import Meaning, Meanings
from detlint.model.resolve import Resolver

_ASKS: Final = ("hasattr", "id", "isinstance", "print", "repr", "str", "type")
"""Built-in functions that keep nothing of what they are handed, and call it for no more than its text."""
_TESTS: Final = frozenset({op.IF, op.UNTIL, op.COMPARE})
_CALL: Final = "__call__"


class Escapes:
    """Answers for the objects of a program's layers."""

    def __init__(self, resolver: Resolver, meanings: Meanings) -> None:
        self._resolver = resolver
        self._meanings = meanings
        self._kept: Memo[bool] = Memo(resolver.db)
        """Classes -> whether their methods keep their objects to themselves."""

    def is_never_called(self, meaning: Meaning, place: Place) -> bool:
        """Whether nobody calls the layer that a call makes, an object of a class of the program."""
        function, at = place
        in_sight = function.number > 0 or function.is_main(at)
        name = meaning.name(function, function.ops[at][1])
        return in_sight and "::" in name and self._has(meaning, place, name) and self._keeps(name)

    def _keeps(self, name: str) -> bool:
        """Whether the methods of a class do no more with their object than to take attributes of it."""
        return self._kept.of(name, partial(self._finds_kept, name), True)

    def _finds_kept(self, name: str) -> bool:
        layer = self._resolver.kinds.layer(name)
        plain = layer is not None and layer.passes_on and self._resolver.classes.knows_bases(name)
        return plain and all(
            self._keeps_in_body(owner, name) if "::" in owner else layer is not None and owner == layer.module
            for owner in self._resolver.classes.mro(name)
        )

    def _keeps_in_body(self, owner: str, name: str) -> bool:
        path, _, inside = owner.partition("::")
        module = self._resolver.module(path)
        meaning = self._meanings.within(module) if module is not None else None
        bodies = meaning.code.by_name.get(inside, ()) if meaning is not None else ()
        if meaning is None or len(bodies) != 1 or bodies[0].decorators:
            return False
        methods = (meaning.code.function(number) for number in meaning.code.children.get(bodies[0].number, ()))
        return all(
            self._has(meaning, Place(home, load), name)
            for method in methods
            if method.receives == "object"
            for home, load in self._read(meaning, method, Binding(method.number, 0))
        )

    def _has(self, meaning: Meaning, place: Place, name: str) -> bool:
        """Whether no more is done with an object of a class, which a value is, than to have it, and to take attributes of it."""
        layer, waiting = self._resolver.kinds.layer(name), [place]
        for home, value in waiting:
            for use in home.users[value]:
                operation = home.ops[use.op]
                code = operation[0]
                if code == op.ATTR:
                    word = home.code.strings[operation[2]]
                    if layer is None or word in (layer.forward, _CALL):
                        return False
                    waiting += (same for same in self._given_back(meaning, home, use.op) if same not in waiting)
                elif code == op.STORE:
                    slot = home.binding(operation[1])
                    if not slot.owner and not home.is_main(use.op):
                        return False
                    waiting += (read for read in self._read(meaning, home, slot) if read not in waiting)
                elif code == op.CALL:
                    if use.place == 1 or not home.is_builtin(operation[1], *_ASKS):
                        return False
                elif code not in _TESTS and not (code in (op.SET_ATTR, op.DELETE_ATTR) and use.place == 1):
                    return False
        return True

    def _given_back(self, meaning: Meaning, home: Function, attribute: int) -> Iterator[Place]:
        """The calls of a library's method that give the object back: `net.to(device)`."""
        catalog = self._resolver.catalog
        method = catalog.canonical(meaning.name(home, attribute)) or home.code.strings[home.ops[attribute][2]]
        if method.rpartition(".")[2] in catalog.words_with("returns-self"):
            yield from (Place(home, use.op) for use in home.users[attribute] if use.place == 1)

    def _read(self, meaning: Meaning, function: Function, binding: Binding) -> Iterator[Place]:
        """The ops that read a variable which a function binds, or one around it."""
        if binding.owner:
            self._resolver.inside(meaning.path, function)
        else:
            self._resolver.opened.add(meaning.path)
        return (Place(*read) for read in function.code.reads(binding))
