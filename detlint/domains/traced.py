"""Which values are only examples for a tracer: handed to it by way of names, lists, functions that give them back, and helpers of the
program that do no more with them than to trace.

It may assume that methods which move or cast a tensor, and detaching it, give the same example.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from detlint.ir import ops as op
from detlint.ir.code import Function
from detlint.ir.exits import BEFORE
from detlint.ir.uses import Use
from detlint.model.meaning import Meaning, Meanings
from detlint.model.module import Module
from detlint.model.places import call_within, calls_among
from detlint.model.resolve import Resolver
from detlint.model.uses import Use as Used

TRACES: Final = "traces"
"""The context of what records the operations of a model that it runs on an example."""
_PASS_ON: Final = frozenset({op.BINARY, op.CHOICE, op.DICT, op.ITEM, op.LIST, op.STAR, op.TUPLE})
_SAME: Final = frozenset({
    "astype", "clone", "contiguous", "cpu", "cuda", "detach", "expand", "float", "half", "npu", "permute", "repeat", "requires_grad_",
    "reshape", "squeeze", "to", "transpose", "type", "unsqueeze", "view",
})  # fmt: skip
_LEAVES: Final = frozenset({op.RAISE, op.RETURN, op.SET_ATTR, op.SET_ITEM, op.YIELD, op.YIELD_FROM})
_SHOWN: Final = frozenset({"append", "copy_", "extend", "print", "put", "save", "write"})
MOST: Final = 100
"""So many values are followed for one example."""

Seen = set[tuple[str, int, int]]


class Examples(NamedTuple):
    """Who knows what is asked of a value."""

    resolver: Resolver
    meanings: Meanings
    callers: Callable[[Module, str], Sequence[Used] | None]

    def has(self, module: Module, index: int) -> bool:
        """Whether what a call gives is only handed to tracers."""
        call = call_within(self.resolver, self.meanings, module, module.sites[index])
        return call is not None and self._traced(call[0], *call[1], set())

    def _traced(self, meaning: Meaning, function: Function, at: int, seen: Seen) -> bool:
        """Whether the uses of a value lead to a tracer, one at least, and the others come to nothing in the same function."""
        key = (meaning.path, function.number, at)
        if key in seen or len(seen) > MOST:
            return False
        seen.add(key)
        self.resolver.inside(meaning.path, function)
        others = [use for use in function.users[at] if not self._leads(meaning, function, at, use, seen)]
        return len(others) < len(function.users[at]) and all(_stays(function, use, set()) for use in others)

    def _leads(self, meaning: Meaning, function: Function, at: int, use: Use, seen: Seen) -> bool:
        operation = function.ops[use.op]
        code = operation[0]
        if code == op.STORE:
            loads = function.loads.get(use.op, ())
            own = function.binding(operation[1])[0] == function.number and operation[1] not in function.shared
            others = [load for load in loads if not self._traced(meaning, function, load, seen)] if own else []
            return own and len(others) < len(loads) and all(_all_stay(function, load, set()) for load in others)
        if code in _PASS_ON:
            return self._traced(meaning, function, use.op, seen)
        if code == op.ATTR and function.strings[operation[2]] in _SAME:
            called = [
                more for more in function.users[use.op] if function.ops[more.op][0] == op.CALL and more.place == 1
            ]
            return bool(called) and all(self._traced(meaning, function, more.op, seen) for more in called)
        if code == op.RETURN:
            return self._given_back(meaning, function, seen)
        if code != op.CALL or use.place == 1:
            return False
        return self._is_run_for_nothing(meaning, function, use.op) or self._handed(meaning, function, at, use.op, seen)

    def _is_run_for_nothing(self, meaning: Meaning, function: Function, call: int) -> bool:
        """Whether what a call by a name gives is dropped where no gradients are taken: it only takes time."""
        name = meaning.name(function, function.ops[call][1])
        if function.users[call] or function.called_on(call) >= 0 or name.startswith("builtins.") or "::" in name:
            return False
        heads = [function.ops[block][1] for block in function.blocks(call) if function.ops[block][0] == op.WITH]
        names = [meaning.name(function, function.ops[head][1]) for head in heads if function.ops[head][0] == op.CALL]
        return any("no-grad" in self.resolver.contexts(name) for name in names if name)

    def _handed(self, meaning: Meaning, function: Function, at: int, call: int, seen: Seen) -> bool:
        """Whether a call traces what it is handed, itself or by a function of the program."""
        catalog = self.resolver.catalog
        name = catalog.canonical(meaning.name(function, function.ops[call][1]))
        if any(TRACES in catalog.entries[i].contexts for i in catalog.calls.get(name, ())):
            return True
        if name and (name in catalog.wraps or name in catalog.computing or name in catalog.tensors):
            return self._traced(meaning, function, call, seen)
        found = self.meanings.definition_within(name) if "::" in name else None
        if found is None or found[1].is_class:
            return False
        there, body = found
        self.resolver.inside(there.path, body)
        slots = [*body.taking(function, call, at, 1 if body.receives and function.called_on(call) >= 0 else 0)]
        loads = [load for slot in slots for load in body.loads.get(BEFORE - slot, ())]
        return bool(loads) and all(self._traced(there, body, load, seen) for load in loads)

    def _given_back(self, meaning: Meaning, function: Function, seen: Seen) -> bool:
        """Whether all who call a function trace what it gives back."""
        uses = self.callers(meaning.module, function.qualified) if function.number else None
        uses = [*(uses or ())]
        calls = [*calls_among(self.resolver, self.meanings, uses)]
        return bool(calls) and len(calls) == len(uses) and all(self._traced(at[0], *at[1], seen) for at in calls)


def _stays(function: Function, use: Use, seen: set[int]) -> bool:
    """Whether what one use makes of an example is neither given back, kept by an object, nor shown: it warms up, or is checked."""
    operation = function.ops[use.op]
    code = operation[0]
    if code == op.STORE:
        own = function.binding(operation[1])[0] == function.number and operation[1] not in function.shared
        return own and all(_all_stay(function, load, seen) for load in function.loads.get(use.op, ()))
    if code == op.ATTR and function.strings[operation[2]] == "backward":
        return False  # it trains
    if code in _LEAVES or (code == op.CALL and use.place > 1 and function.called(use.op) in _SHOWN):
        return False
    return _all_stay(function, use.op, seen)


def _all_stay(function: Function, value: int, seen: set[int]) -> bool:
    if value in seen:
        return True
    seen.add(value)
    return all(_stays(function, use, seen) for use in function.users[value])
