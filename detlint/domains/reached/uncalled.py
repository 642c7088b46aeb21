"""Layers that are put into others, or given back by a method of their own network, and come to where nothing ever calls them, or are
replaced before anything does.

The facts know what is kept as an attribute itself. Where it is a part of what is kept is followed here, along the uses of its value.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from detlint.domains.matching.match import Matcher
from detlint.ir import ops as op
from detlint.ir.code import Function
from detlint.ir.places import Test
from detlint.ir.uses import Use
from detlint.model.flow import is_replaced
from detlint.model.module import Module
from detlint.model.places import point_of
from detlint.model.readers import Readers
from detlint.model.resolve import Resolver

Always = Callable[[Module, int, Test], bool]


class Uncalled:
    """Finds layers that end where nothing calls them.

    Args:
        always: says whether a test always is as it has to be in the function of a site.
    """

    def __init__(self, matcher: Matcher, attributes: Readers, always: Always) -> None:
        self._always = always
        self._resolver = matcher.resolver
        self._attributes = attributes

    def holds(self, module: Module, index: int) -> bool:
        """Whether nothing ever calls the layer that a site makes, nor any that it is put into."""
        site = module.sites[index]
        owner = module.function_of(site).owner
        layer = self._resolver.kinds.layer(f"{module.path}::{owner}") if owner.isidentifier() else None
        point = point_of(self._resolver, module, site) if layer is not None and site.kind == "call" else None
        if layer is None or point is None:
            return False
        forward = point.function.code.by_name.get(f"{owner}.{layer.forward}", ())
        if not any(map(_calls_parts, forward)):
            return False  # what it does stands elsewhere
        parts = _Parts(self._resolver, self._attributes, module, owner, partial(self._always, module, index))
        return bool(point.function.users[point.at]) and parts.end(*point)  # else it is the object itself that is set up


def _calls_parts(function: Function) -> bool:
    """Whether a method calls something that the object has."""
    callees = (function.chain(operation[1]) for _, operation in function.each(op.CALL))
    return any(chain.attributes and function.is_self(chain.root) for chain in callees)


class _Parts:
    """What becomes of the parts of one layer."""

    def __init__(
        self, resolver: Resolver, attributes: Readers, module: Module, owner: str, always: Callable[[Test], bool]
    ) -> None:
        self._resolver = resolver
        self._attributes = attributes
        self._module = module
        self._owner = owner
        self._always = always
        self._asked: set[tuple[int, int, int]] = set()

    def end(self, function: Function, at: int, item: int = -1) -> bool:
        """Whether nothing ever calls what a value is, nor what it is put into.

        Args:
            item: which item of it is asked for; -1 for all of it.
        """
        key = (function.number, at, item)
        if key in self._asked:
            return True
        self._asked.add(key)
        return all(self._ends(function, at, item, use) for use in function.users[at])

    def _ends(self, function: Function, at: int, item: int, use: Use) -> bool:
        operation = function.ops[use.op]
        code = operation[0]
        if code == op.RETURN:
            return self._is_given_for_nothing(function, item)
        if item >= 0:
            return code == op.PART and operation[2] >= 0 and (operation[2] != item or self.end(function, use.op))
        if code in (op.STAR, op.LIST):
            return self.end(function, use.op)
        if code == op.TUPLE:
            return self.end(function, use.op, use.place - 1)
        if code == op.STORE:
            return self._is_left(function, use.op)
        if code == op.SET_ATTR:
            own = use.place == 3 and function.is_self(operation[1])
            text = function.code.strings[operation[2]]
            return own and not self._attributes.is_read(self._module, self._owner, text, inside=True)
        if code == op.ATTR:
            return self._adds(function, use.op)
        if code != op.CALL or use.place == 1:
            return False
        if self._is_layer(function.dotted(operation[1])):
            return self.end(function, use.op)
        return self._adds(function, operation[1]) and self._is_put_into(function, function.ops[operation[1]][1])

    def _is_left(self, function: Function, store: int) -> bool:
        """Whether nothing calls what a name is bound to, which may be replaced before."""
        slot = function.ops[store][1]
        if slot in function.shared or function.names[slot].owner != function.number:
            return False
        loads = (load for load in function.loads.get(store, ()) if not is_replaced(function, store, load, self._always))
        return all(self.end(function, load) for load in loads)

    @staticmethod
    def _adds(function: Function, at: int) -> bool:
        """Whether a list gets one more: `layers.append(layer)`."""
        operation = function.ops[at]
        if operation[0] != op.ATTR or function.code.strings[operation[2]] != "append":
            return False
        calls = [use.op for use in function.users[at] if function.ops[use.op][0] == op.CALL and use.place == 1]
        return len(calls) == len(function.users[at]) and not any(function.users[call] for call in calls)

    def _is_put_into(self, function: Function, load: int) -> bool:
        """Whether nothing calls the items of a list that the function itself has made: no parameter, and none that is kept elsewhere."""
        made = function.stored(load) if function.ops[load][0] == op.LOAD else None
        return bool(made) and all(self._is_made(function, value) and self.end(function, value) for value in made or ())

    def _is_made(self, function: Function, value: int) -> bool:
        """Whether an expression makes a list, or a layer of the framework."""
        operation = function.ops[value]
        name = function.dotted(operation[1]) if operation[0] == op.CALL else ""
        return operation[0] == op.LIST or name == "list" or self._is_layer(name)

    def _is_layer(self, name: str) -> bool:
        """Whether a name of a file is a layer of a framework, which does nothing to those that it is handed before it is called."""
        meant = self._resolver.meant(self._module, name) if name else ""
        return meant != "" and "::" not in meant and self._resolver.kinds.layer(meant) is not None

    def _is_given_for_nothing(self, method: Function, item: int) -> bool:
        """Whether nothing calls what a method gives back, or an item of it: only methods of the class call it, by `self`."""
        around, code = method.parent, method.code
        if around is None or around.qualified != self._owner or not method.name.startswith("_"):
            return False
        if around.ops[method.definition][2] or self._attributes.is_read_by_family(
            self._module, self._owner, method.name
        ):
            return False
        inside = [*code.inside(around.number)]
        asked = [(f, n) for f in inside for n, o in f.each(op.ATTR) if code.strings[o[2]] == method.name]
        return bool(asked) and all(self._is_put_aside(function, at, item) for function, at in asked)

    def _is_put_aside(self, function: Function, at: int, item: int) -> bool:
        """Whether nothing calls what a call of a method gives, or an item of it."""
        calls = [use.op for use in function.users[at] if function.ops[use.op][0] == op.CALL and use.place == 1]
        own = function.own(at) != "" and len(calls) == len(function.users[at])
        return own and all(self.end(function, call, item) for call in calls)
