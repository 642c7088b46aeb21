"""What the names and parts of a function stand for, where that is one thing: what made the object that is called, or the attribute that is
read."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final

from detlint.domains.matching.match import Matcher
from detlint.ir import ops as op
from detlint.ir.code import Function
from detlint.model.kept import only_setter
from detlint.model.module import Module

if TYPE_CHECKING:
    from typing_extensions import Self

DEEPEST: Final = 8
"""So many attributes may be made of others, one of the next."""


class Objects:
    """Knows the objects of one function, which may be a method of a layer.

    Args:
        depth: how many attributes were followed to here.
    """

    def __init__(self, matcher: Matcher, module: Module, function: Function, depth: int) -> None:
        self._matcher = matcher
        self._module = module
        self.function = function
        self._depth = depth
        self._same = matcher.catalog.words_with("returns-self")
        """Methods of objects that give the object itself."""

    def _elsewhere(self, function: Function) -> Self:
        """The same of another function of the file."""
        raise NotImplementedError

    def _is_set_by_others(self, attribute: str) -> bool:
        """Whether anything but the layer itself may set an attribute of it."""
        raise NotImplementedError

    @cached_property
    def layer(self) -> str:
        """The layer whose method it is; "" for none."""
        around: Function | None = self.function
        while around is not None and not around.is_class:
            around = around.parent
        name = around.qualified if around is not None else ""
        known = name in self._module.classes and len(self.function.code.by_name[name]) == 1
        return name if known and self._matcher.resolver.kinds.layer(f"{self._module.path}::{name}") is not None else ""

    def part(self, made: int) -> str:
        """The name of the part of the layer that is, or may be, what a call makes."""
        for use in self.function.users[made] if self.layer else ():
            operation = self.function.ops[use.op]
            if operation[0] == op.SET_ATTR and use.place == 3 and self.function.is_self(operation[1]):
                return self.function.code.strings[operation[2]]
            if operation[0] == op.ATTR and self.function.code.strings[operation[2]] in self._same:
                return next((self.part(more.op) for more in self.function.users[use.op]), "")
        return ""

    def calls_of(self, made: int) -> Sequence[int]:
        """The calls of an object that a call makes; nothing where it may be called elsewhere too."""
        function, found = self.function, list[int]()
        for use in function.users[made]:
            operation = function.ops[use.op]
            if operation[0] == op.CALL and use.place == 1:
                found.append(use.op)
                continue
            loads = function.loads.get(use.op, ()) if operation[0] == op.STORE else None
            if loads is None or operation[1] in function.shared:
                return ()
            uses = [more for load in loads for more in function.users[load]]
            if any(function.ops[more.op][0] != op.CALL or more.place != 1 for more in uses):
                return ()
            found += (more.op for more in uses)
        return found

    def _maker(self, at: int) -> tuple[Self, int] | None:
        """The call that makes the object which is called: a part of the layer, or one that was just made; None for a function."""
        objects, made = self._kept(at) or (self, self._bound(at) if self._is(at, op.LOAD) else at)
        function = objects.function
        while made >= 0 and function.ops[made][0] == op.CALL:
            callee = function.ops[function.ops[made][1]]
            if callee[0] != op.ATTR or function.code.strings[callee[2]] not in self._same:
                return objects, made
            made = callee[1]
        return None

    def _called(self, at: int) -> str:
        """The name of a function, or of the class of an object that is called."""
        made = self._maker(at)
        return made[0].name(made[0].function.ops[made[1]][1]) if made is not None else self.name(at)

    def name(self, at: int) -> str:
        """What a name of the file stands for, dotted; "" where that isn't known."""
        root = self.function.ops[self.function.chain(at).root]
        outside = root[0] == op.LOAD and not self.function.binding(root[1]).owner
        return self._matcher.resolver.meant(self._module, self.function.dotted(at)) if outside else ""

    def _kept(self, at: int) -> tuple[Self, int] | None:
        """What the layer always has as the attribute that an expression reads, where it is set; None for any other."""
        name = self.function.own(at) if self.layer else ""
        found = only_setter(self.function.code, self.layer, name) if name else None
        if found is None or self._depth == DEEPEST or self._is_set_by_others(name):
            return None
        function, setting = found
        return self._elsewhere(function), function.ops[setting][3]

    def _bound(self, load: int) -> int:
        """What a name is, or what it is an item of; -1 where that isn't known, or may be one of several."""
        stored = self._stored(load)
        return stored[0] if len(stored) == 1 else -1

    def _stored(self, load: int) -> Sequence[int]:
        """The values that a name may be, or be an item of; nothing where it may be something else."""
        slot = self.function.ops[load][1]
        stored = self.function.stored(load) if slot not in self.function.rebound else None
        found = [self._whole_of(value) for value in stored or ()]
        return found if -1 not in found else ()

    def _whole_of(self, value: int) -> int:
        """What a value is an item of, the item itself where it is written out (`depth, on = 10, 1.0`); -1 for what a loop gives."""
        operation = self.function.ops[value]
        if operation[0] != op.PART:
            return value if operation[0] not in (op.FOR, op.WITH, op.CAUGHT) else -1
        code, *items = self.function.ops[operation[1]]
        plain_ = code == op.TUPLE and len(items) == operation[3] and not any(self._is(item, op.STAR) for item in items)
        return items[operation[2]] if plain_ and operation[2] >= 0 else self._whole_of(operation[1])

    def _is(self, at: int, code: int) -> bool:
        return self.function.ops[at][0] == code
