"""Other ways by which a file comes to what modules have, by names that it puts together: `getattr(self.zoo, name)` where
`self.zoo = zoo`, `attrgetter(name)(zoo)`, `eval("zoo." + name)`, `getattr(import_module(path), name)`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Set
from functools import cached_property
from typing import Final

from detlint.ir import ops as op
from detlint.ir.code import Code, Function
from detlint.ir.uses import Op
from detlint.ir.writes import Writes

_LOCATE: Final = frozenset({"pydoc.locate", "pkgutil.resolve_name"})
_GETTERS: Final = frozenset({"__getattribute__", "attrgetter", "methodcaller"})
"""What asks whatever it is handed for what has a name."""
_FINDERS: Final = frozenset({"import_module", "__import__"})
_EVALUATE: Final = ("compile", "eval", "exec")
_VIEWS: Final = frozenset({"get", "items", "values"})
_WORDS: Final = frozenset({*_GETTERS, *_FINDERS, *_EVALUATE, "__dict__", "getattr", "locate", "resolve_name"})

_Does = Callable[[Function, Op], bool]


class ByName:
    """Looks for them in a file."""

    def __init__(self, code: Code) -> None:
        self._code = code
        self._writes = Writes(code)

    def gets_any(self, idle: Collection[str] = (), splitting: Collection[str] = ()) -> bool:
        """Whether the file may ask a module that it has for what has a name that isn't written out.

        Args:
            idle: the definitions of its top level that don't count.
            splitting: those in which it doesn't count to import modules, "" for what stands in none.
        """
        if _WORDS.isdisjoint(self._code.identifiers):
            return False
        if not (self.locating <= {*idle} and self.finding <= {*idle, *splitting}):
            return True
        return any(
            self._gets(function, operation)
            for function in self._code.each_once()
            if _top(function) not in idle
            for _, operation in function.each(op.CALL, op.ITEM)
        )

    @cached_property
    def locating(self) -> Set[str]:
        """The definitions of its top level that take definitions by their names with those of their modules."""
        return (
            self._where(self._locates) if not self._code.identifiers.isdisjoint(("locate", "resolve_name")) else set()
        )

    @cached_property
    def finding(self) -> Set[str]:
        """Those that import modules of whatever names."""
        return self._where(self._finds_any) if not _FINDERS.isdisjoint(self._code.identifiers) else set()

    def _where(self, does: _Does) -> Set[str]:
        return {
            _top(function)
            for function in self._code.each_once()
            for _, operation in function.each(op.CALL)
            if does(function, operation)
        }

    def _locates(self, function: Function, call: Op) -> bool:
        return self._writes.dotted(function, call[1]) in _LOCATE or _last(function, call[1]) == "resolve_name"

    @staticmethod
    def _finds_any(function: Function, call: Op) -> bool:
        """Whether a call imports a module whose name may be any, and doesn't begin as one that is written out."""
        if _last(function, call[1]) not in _FINDERS or not call[2]:
            return False
        name = call[3]
        while function.ops[name][0] == op.BINARY:
            name = function.ops[name][2]
        return function.ops[name][0] not in (op.CONST, op.TEXT)

    def _gets(self, function: Function, operation: Op) -> bool:
        """Whether a `CALL` or an `ITEM` takes something by a name that isn't written out from what a module may be."""
        if operation[0] == op.ITEM:
            return not _is_text(function, operation[2]) and self._is_table(function, operation[1])
        word, given = _last(function, operation[1]), operation[3 : 3 + operation[2]]
        if word in _GETTERS:
            return bool(given) and not _is_text(function, given[0])
        if word == "partial":
            return bool(given) and function.is_builtin(given[0], "getattr")
        if function.is_builtin(operation[1], *_EVALUATE):
            return bool(given) and _names_module(function, given[0])
        if word in _VIEWS and function.ops[operation[1]][0] == op.ATTR:
            return self._is_table(function, function.ops[operation[1]][1])
        asks = len(given) > 1 and function.is_builtin(operation[1], "getattr") and not _is_text(function, given[1])
        return asks and self._is_module(function, given[0])

    def _is_table(self, function: Function, value: int) -> bool:
        """Whether a value is what holds the names of something that is imported."""
        chain = function.chain(value)
        return chain.attributes[-1:] == ("__dict__",) and self._writes.dotted(function, value) != ""

    def _is_module(self, function: Function, value: int) -> bool:
        """Whether a value is a part of the object itself that may be given something which is imported."""
        operation = function.ops[value]
        if operation[0] != op.ATTR or not _is_own(function, operation[1]):
            return False
        part = self._code.strings[operation[2]]
        setters = (
            (other, other.ops[at][3]) for other, at in self._code.setters(part) if other.ops[at][0] == op.SET_ATTR
        )
        return any(self._is_imported(*given) for given in setters) or part in self._of_classes

    @cached_property
    def _of_classes(self) -> Set[str]:
        """What classes keep something under that is imported."""
        return {
            body.text(slot)
            for body in self._code.each_once()
            if body.is_class
            for _, (_, slot, value) in body.each(op.STORE)
            if self._is_imported(body, value)
        }

    def _is_imported(self, function: Function, value: int) -> bool:
        """Whether a value is what an import binds, and not something that this has."""
        return function.ops[value][0] == op.LOAD and self._writes.dotted(function, value) != ""


def _top(function: Function) -> str:
    """The definition of the top level that a function is, or stands in; "" for none."""
    return function.qualified.partition(".")[0]


def _last(function: Function, value: int) -> str:
    """The last component of a name."""
    root, attributes = function.chain(value)
    return attributes[-1] if attributes else function.dotted(root)


def _is_text(function: Function, value: int) -> bool:
    return isinstance(function.constant(value), str)


def _is_own(function: Function, value: int) -> bool:
    """Whether a value is the object whose method it is, or its class."""
    operation = function.ops[value]
    if function.receiver(value) is not None:
        return True
    return operation[0] == op.LOAD and function.receives == "class" and function.parameter(value) == 0


def _names_module(function: Function, value: int) -> bool:
    """Whether the name of something stands in a text before one that is put in: `"zoo." + name`, `f"zoo.{name}"`."""
    for part in function.within(value):
        text = function.constant(part) if part != value else None
        if isinstance(text, str) and any(
            text[at - 1 : at].isidentifier() and text[at + 1 : at + 2] in ("", "{", "%")
            for at, sign in enumerate(text)
            if sign == "."
        ):
            return True
    return False
