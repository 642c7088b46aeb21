"""What a file sets attributes of: by statements, by their names (`setattr`, `__dict__`, `add_module`), or for the time of a test (`patch`).

What it may assume: methods of those names do what they are known for, whatever has them; a dictionary of attributes is written to where it
is asked for, or under a name that is bound to it alone.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property
from typing import Final, NamedTuple

from detlint.ir import ops as op
from detlint.ir.code import Binding, Call, Code, Function

ANY: Final = ""
"""Stands for a name that isn't written out."""
OWN: Final = -1
"""Whose attributes the global names of the file are."""
MODULES: Final = -2
"""Some module, whichever."""
_SETTERS: Final = frozenset({"setattr", "delattr", "__setattr__", "__delattr__"})
_ADDERS: Final = frozenset({"add_module", "register_module", "insert_child_to_cell"})
"""Methods of layers that set an attribute by its name, which they are handed first."""
_CHANGES: Final = frozenset(
    {"update", "setdefault", "pop", "popitem", "clear", "__setitem__", "__delitem__", "__ior__"}
)
"""Methods of a dictionary that change it."""
_FINDERS: Final = frozenset({"importlib.import_module", "importlib.reload"})
BY_NAME: Final = _SETTERS | _ADDERS | {"__dict__", "vars", "globals", "patch", "modules"}
"""What files say that set attributes without a statement that does."""


class Write(NamedTuple):
    """An op that sets an attribute, or deletes it."""

    function: Function
    at: int
    of: int
    """The value that it is one of; `OWN` or `MODULES`."""
    name: str
    by: int
    """The value that is its name; -1 where that is written out."""


class Writes:
    """What sets attributes in a file, found op by op."""

    def __init__(self, code: Code) -> None:
        self.code = code
        self._by_name = not BY_NAME.isdisjoint(code.identifiers)
        self._patching = "patch" in code.identifiers

    def all(self) -> Iterator[Write]:
        """All that does."""
        return self._in(self.code.each_once())

    def by_any_name(self, owner: str) -> Iterator[Write]:
        """What sets attributes by names that aren't written out, in the classes of a qualified name."""
        if self._by_name or "__dict__" in self.code.identifiers:
            for body in self.code.by_name.get(owner, ()):
                yield from (write for write in self._in(self.code.inside(body.number)) if write.name == ANY)

    def _in(self, functions: Iterable[Function]) -> Iterator[Write]:
        strings = self.code.strings
        for function in functions:
            for at, operation in enumerate(function.ops):
                code = operation[0]
                if code == op.SET_ATTR or code == op.DELETE_ATTR:
                    name = strings[operation[2]]
                    yield Write(function, at, operation[1], name if name != "__dict__" else ANY, -1)
                elif not self._by_name:
                    continue
                elif code == op.CALL:
                    yield from self._by_call(function, at)
                elif code == op.SET_ITEM or code == op.DELETE_ITEM:
                    of = self._whose(function, operation[1])
                    if of is not None:
                        # Of modules, it is one of them that is replaced.
                        yield _named(function, at, of, operation[2] if of != MODULES else -1)
                elif code == op.AUGMENT and (of := self._whose(function, operation[2])) is not None:
                    yield _named(function, at, of, -1)

    @cached_property
    def named(self) -> Mapping[str, Sequence[Write]]:
        """The same, by the names of the attributes."""
        found: dict[str, list[Write]] = {}
        for write in self.all():
            found.setdefault(write.name, []).append(write)
        return found

    def is_set_once(self, owner: str, attribute: str) -> bool:
        """Whether the methods of a class set an attribute of its own objects at one place, and nothing else in the file sets one of that
        name, but for methods of other classes.

        Args:
            owner: the class, by its qualified name.
        """
        writes = self.named.get(attribute, ())
        if not all(map(self.is_own, writes)) or any(write.of != OWN for write in self.named.get(ANY, ())):
            return False
        owners = (write.function.receiver(write.function.meant(write.of)) for write in writes)
        return sum(of is not None and of.qualified == owner for of in owners) == 1

    def is_own(self, write: Write) -> bool:
        """Whether it surely sets one of the object whose method it stands in."""
        return write.of >= 0 and write.function.receiver(write.function.meant(write.of)) is not None

    def is_of_module(self, write: Write) -> bool:
        """Whether what it sets one of may be a module, or something that one has: it is imported, or asked for by a name."""
        if write.of < 0:
            return True
        function = write.function
        root = function.meant(function.chain(function.meant(write.of)).root)
        code = function.ops[root][0]
        if code in (op.LOAD, op.IMPORT, op.MEMBER):
            return self.dotted(function, root) != "" or function.is_builtin(root, "__builtins__")
        if code == op.ITEM:
            return self.dotted(function, function.ops[root][1]) == "sys.modules"
        callee = function.ops[root][1] if code == op.CALL else -1
        return callee >= 0 and (self.dotted(function, callee) in _FINDERS or function.is_builtin(callee, "__import__"))

    def is_of_class(self, write: Write) -> bool:
        """Whether it surely sets one of a class of the file, or of that of an object."""
        if write.of < 0:
            return False
        function = write.function
        value = function.meant(write.of)
        operation = function.ops[value]
        if operation[0] in (op.LOAD, op.CLASS):
            return operation[0] == op.CLASS or function.binding(operation[1]) in self.classes
        if operation[0] == op.ATTR:
            return self.code.strings[operation[2]] == "__class__"
        return operation[0] == op.CALL and function.is_builtin(operation[1], "type")

    @cached_property
    def imports(self) -> Mapping[Binding, str]:
        """Variables that hold what is imported -> its dotted name, without the dots of a relative one."""
        return self._bound[0]

    @cached_property
    def classes(self) -> Set[Binding]:
        """Variables that hold classes of the file."""
        return self._bound[1]

    @cached_property
    def _bound(self) -> tuple[dict[Binding, str], set[Binding]]:
        imports, classes = dict[Binding, str](), set[Binding]()
        for function in self.code.each_once():
            for _, (_, slot, value) in function.each(op.STORE):
                code = function.ops[value][0]
                if code == op.IMPORT or code == op.MEMBER:
                    imports[function.binding(slot)] = self._imported(function, value)
                elif code == op.CLASS:
                    classes.add(function.binding(slot))
        return imports, classes

    def _imported(self, function: Function, value: int) -> str:
        """The dotted name of what an `IMPORT` or `MEMBER` gives."""
        operation, strings = function.ops[value], self.code.strings
        if operation[0] == op.MEMBER:
            return f"{strings[function.ops[operation[1]][1]]}.{strings[operation[2]]}"
        return strings[operation[1]].partition(".")[0] if operation[3] else strings[operation[1]]

    def dotted(self, function: Function, value: int) -> str:
        """The name of what a file imports and asks for by attributes: `importlib.import_module`; "" for anything else."""
        root, attributes = function.chain(value)
        operation = function.ops[root]
        name = ""
        if operation[0] == op.LOAD:
            name = self.imports.get(function.binding(operation[1]), "")
        elif operation[0] in (op.IMPORT, op.MEMBER):
            name = self._imported(function, root)
        return ".".join((name, *attributes)) if name else ""

    def _whose(self, function: Function, value: int) -> int | None:
        """What a value is the dictionary of attributes of, or of modules."""
        value = function.meant(value)
        operation = function.ops[value]
        if operation[0] == op.ATTR and self.code.strings[operation[2]] == "__dict__":
            return operation[1]
        if operation[0] in (op.ATTR, op.LOAD, op.IMPORT, op.MEMBER):
            builtin = function.is_builtin(value, "__builtins__")
            return MODULES if builtin or self.dotted(function, value) == "sys.modules" else None
        if operation[0] != op.CALL or not function.is_builtin(operation[1], "vars", "globals", "locals"):
            return None
        if operation[2]:
            return operation[3]
        local = function.number and not function.is_builtin(operation[1], "globals")
        return None if local else OWN

    def _by_call(self, function: Function, at: int) -> Iterator[Write]:
        """What a call sets by its name."""
        target = function.ops[at][1]
        callee = function.ops[target]
        if function.ops[at][2] > 1 and function.is_builtin(target, "setattr", "delattr"):
            yield _named(function, at, *function.ops[at][3:5])
        elif self._patching and self._patches(function, target):
            yield from self._patched(function, at, function.call(at))
        elif callee[0] == op.ATTR:
            word, base = self.code.strings[callee[2]], callee[1]
            if word in _SETTERS:
                yield from self._by_method(function, at, function.call(at), base, word)
            elif word in _ADDERS:
                call = function.call(at)
                yield _named(function, at, base, next(iter((*call.positional, *call.named.values())), -1))
            elif word in _CHANGES and (of := self._whose(function, base)) is not None:
                yield from (Write(function, at, of, name, -1) for name in _keys(function, function.call(at), word, of))

    def _by_method(self, function: Function, at: int, call: Call, base: int, word: str) -> Iterator[Write]:
        """`object.__setattr__(self, name, value)`, `self.__setattr__(name, value)`, `monkeypatch.setattr("core.scale", 2)`."""
        given, count = call.positional, 1 if "del" in word else 2
        first = function.constant(given[0]) if given else None
        if len(given) > count:
            yield _named(function, at, given[0], given[1])
        elif isinstance(first, str) and "." in first:
            yield Write(function, at, MODULES, first.rpartition(".")[2], -1)
        elif given:
            named = call.named.get("name", given[0])
            yield _named(function, at, given[0] if named != given[0] else base, named)
        else:
            yield _named(function, at, base, -1)

    def _patches(self, function: Function, callee: int) -> bool:
        """Whether a call is one of `patch`, of `unittest.mock` or of an object that has such a method."""
        if self.dotted(function, callee).partition("mock.patch")[1]:
            return True
        return "patch" in function.chain(callee).attributes[-2:]

    def _patched(self, function: Function, at: int, call: Call) -> Iterator[Write]:
        """`patch("core.scale")`, `patch.object(core, "scale")`, `patch.multiple(core, scale=2)`."""
        first = call.positional[0] if call.positional else call.named.get("target", -1)
        text = function.constant(first) if first >= 0 else None
        of = MODULES if isinstance(text, str) or first < 0 else first
        names = [_name(function, value) for value in call.positional[1:2]]
        word = function.chain(call.callee).attributes[-1:]
        if word == ("multiple",):
            names = [*call.named]
        elif word == ("dict",):
            return
        elif isinstance(text, str) and word != ("object",):
            names = [text.rpartition(".")[2]]
        yield from (Write(function, at, of, name, -1) for name in names or [ANY])


def _named(function: Function, at: int, of: int, by: int) -> Write:
    """An op that sets an attribute whose name is a value; -1 for one that isn't seen."""
    name = _name(function, by)
    return Write(function, at, of, name, -1 if name else by)


def _name(function: Function, value: int) -> str:
    """The name that a value is; `ANY` where it isn't written out."""
    text = function.constant(value) if value >= 0 else None
    return sys.intern(text) if isinstance(text, str) else ANY


def _keys(function: Function, call: Call, word: str, of: int) -> list[str]:
    """The keys that a call of a method of a dictionary changes.

    Args:
        word: the method.
        of: what the dictionary has the attributes of.
    """
    if of == MODULES or call.unpacked:
        return [ANY, *call.named]
    if word != "update":
        return [_name(function, call.positional[0]) if call.positional and word != "__ior__" else ANY]
    items = [function.ops[value] for value in call.positional]
    if any(item[0] != op.DICT or -1 in item for item in items):
        return [ANY]
    return [*call.named, *(_name(function, key) for item in items for key in item[1::2])]
