"""Networks that what makes them only applies: nothing that is run there trains, and nobody else gets them.

A script, or a function, that evaluates builds the same network as the one that trains, and freezes nothing. What it makes is followed
through the function: what holds it may be called, printed, filled with weights, and handed to what the file imports or defines. All
definitions that are named on the way, in any file, are asked whether they may train.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from detlint.db import Memo
from detlint.ir import ops as op
from detlint.ir.code import Binding, Code, Function
from detlint.ir.records import KIND, LAMBDA
from detlint.model.module import Module
from detlint.model.sites.records import Const, Expression, Items, Member, Ref, Result, Value
from detlint.model.uses import Use, Users

_MOST: Final = 100
"""Definitions that are asked for one."""
_NUMBERS: Final = frozenset({"bool", "float", "int", "isinstance", "len", "print", "repr", "round", "str", "sum"})
"""Built-in functions that give no network, nor keep one."""
_KEEPS: Final = frozenset({"globals", "locals", "setattr", "vars"})
_GIVES_OTHERS: Final = frozenset({op.BINARY, op.COMPARE, op.TEXT, op.FORMAT})
"""Ops that give no network, whatever they take."""


class Applied:
    """Finds them.

    Args:
        trains: whether something may train in a definition of a file's top level, "" for what stands in none.
    """

    def __init__(self, users: Users, trains: Callable[[str, str], bool]) -> None:
        self._users = users
        self._resolver = users.resolver
        self._trains = trains
        self._only: Memo[bool] = Memo(users.db)

    def holds(self, use: Use) -> bool:
        """Whether a call makes a network where it is only applied."""
        module, site = use.module, use.module.sites[use.site]
        function, code = module.function_of(site), self._resolver.code(module.path)
        if code is None or function.name != use.around or module.facts.left_out:
            return False
        if not function.name and (self._users.is_imported(module) or self._users.is_said_to_be_imported(module)):
            return False
        if not self._only.of((module.path, function.name), lambda: self._only_applies(module, function.name), False):
            return False
        if not function.name:
            return True  # nobody else has what it makes
        found = code.at(site.span.place, op.CALL)
        alone = len(code.by_name.get(function.name, ())) == 1
        return found is not None and alone and found[0].qualified == function.name and _Kept(module, *found).stays()

    def _only_applies(self, module: Module, name: str) -> bool:
        """Whether neither a function, or the top level of a file, trains anything, nor what it names, in any file."""
        waiting = [(module, name)]
        seen = {(module.path, name)}
        for home, inside in waiting:
            code = self._resolver.code(home.path)
            if code is None or self._trains(home.path, inside) or home.facts.stars:
                return False
            for named in self._named(home, code, inside):
                other = self._resolver.module(named[0]) if named is not None else None
                if named is None or other is None or len(seen) > _MOST:
                    return False
                if named not in seen:
                    seen.add(named)
                    waiting.append((other, named[1]))
        return True

    def _named(self, module: Module, code: Code, name: str) -> Iterator[tuple[str, str] | None]:
        """The definitions of the program that one names, with their files, and "" for the top level of a file of which it names something
        else; None where it may mean any of a file, also since it imports something itself."""
        tops = code.by_name.get(name, ()) if name else (code.module,)
        for function in (part for top in tops for part in code.inside(top.number) if name or _is_run_with(part, top)):
            if name and any(True for _ in function.each(op.IMPORT)):
                yield None
            for full in _read(module, function):
                found = self._resolver.name(module.path, full) if full else None
                path, colon, inside = found.name.partition("::") if isinstance(found, Ref) else ("", "", "")
                if colon or found is None:
                    yield (path, self._definition(path, inside.partition(".")[0])) if inside else None

    def _definition(self, path: str, name: str) -> str:
        """A name of a file, if that is a definition; "" for any other."""
        module = self._resolver.known(path)
        return name if name in module.functions or name in module.classes else ""


def _is_run_with(function: Function, top: Function) -> bool:
    """Whether a function is the top level, or a lambda that stands in no definition."""
    while function is not top and function.header.kind & KIND == LAMBDA and function.parent is not None:
        function = function.parent
    return function is top


class _Kept:
    """What a function does with the network that a call in it makes."""

    def __init__(self, module: Module, function: Function, made: int) -> None:
        self._names = module.facts.names
        self._function = function
        self._holding = {made}
        """The ops whose results may hold it."""
        self._slots = set[int]()
        """The names that may."""

    def stays(self) -> bool:
        """Whether nobody has it once the function is through."""
        before = (-1, -1)
        while before != (now := (len(self._holding), len(self._slots))):
            before = now
            if not all(self._keeps(at) for at in range(len(self._function.ops))):
                return False
        return True

    def _keeps(self, at: int) -> bool:
        """Whether an op gives it to nobody; notes what may hold it from there."""
        function = self._function
        operation = function.ops[at]
        code = operation[0]
        if code == op.CLASS or (
            code == op.FUNCTION and function.code.function(operation[1]).header.kind & KIND != LAMBDA
        ):
            return False
        if code == op.FUNCTION and self._is_read_in(operation[1]):
            self._holding.add(at)
        if code == op.STORE and function.binding(operation[1]).owner != function.number:
            return False
        given = {value for value in function.values(at) if value in self._holding}
        if code == op.LOAD and operation[1] in self._slots:
            self._holding.add(at)
        if code == op.COLLECT and operation[2] in self._holding:
            self._holding.add(at)
        if not given:
            return True
        if code in (op.RETURN, op.YIELD, op.YIELD_FROM):
            return False
        if code == op.STORE:
            self._slots.add(operation[1])
        elif code in (op.SET_ATTR, op.SET_ITEM):
            return operation[1] in given
        elif code == op.GIVE:
            self._holding.add(next(mark for mark in function.blocks(at) if function.ops[mark][0] == op.COMPREHEND))
        elif code == op.CALL:
            return self._is_called(at, operation[1])
        elif code not in _GIVES_OTHERS:
            self._holding.add(at)
        return True

    def _is_read_in(self, number: int) -> bool:
        """Whether a lambda reads a name that may hold it."""
        own = self._function.number
        inside = ((f, o[1]) for f in self._function.code.inside(number) for _, o in f.each(op.LOAD))
        held = {Binding(own, slot) for slot in self._slots}
        return any(f.binding(read) in held for f, read in inside)

    def _is_called(self, at: int, callee: int) -> bool:
        """Whether what is called doesn't keep what it is given, or holds it already: all of the program that is named was asked."""
        function = self._function
        name = function.dotted(callee)
        own, slot = name.partition(".")[0], function.ops[function.chain(callee).root]
        local = slot[0] == op.LOAD and function.binding(slot[1]).owner == function.number
        if not (name in _NUMBERS and not local and name not in self._names):
            self._holding.add(at)
        if callee in self._holding:
            return True
        if not own or local:
            return False
        return isinstance(self._names.get(own), Ref) or (own not in self._names and own not in _KEEPS)


def _read(module: Module, function: Function) -> Iterator[str]:
    """The names of the top level, with the attributes that are read of them, which a function reads, where they may be of the program."""
    chained = {operation[1] for _, operation in function.each(op.ATTR)}
    for at, _ in function.each(op.LOAD, op.ATTR):
        root, attributes = function.chain(at)
        if at in chained or function.ops[root][0] != op.LOAD or function.binding(function.ops[root][1]).owner != 0:
            continue
        value = made = module.facts.names.get(function.text(function.ops[root][1]))
        while isinstance(made, (Member, Result)):
            made = made.base if isinstance(made, Member) else made.of
        if function.text(function.ops[root][1]) in module.facts.names and not (made is not None and _is_plain(made)):
            yield (
                ".".join((made.name, *attributes))
                if isinstance(made, Ref) and made is value
                else getattr(made, "name", "")
            )


def _is_plain(value: Value) -> bool:
    """Whether a value is a number, a text, or made of such."""
    parts = (
        value.values if isinstance(value, Items) else [*value.names.values()] if isinstance(value, Expression) else None
    )
    return isinstance(value, Const) or (parts is not None and all(isinstance(part, Const) for part in parts))
