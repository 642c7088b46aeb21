"""The grids with which kernels in Python are launched: along which axes there is more than one program.

What it may assume: an axis has one program where its size is the number of blocks that something is cut into, and a block holds all of it,
`cdiv(n, BLOCK)` with `BLOCK = next_power_of_2(n)`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from detlint.ir import ops as op
from detlint.ir.code import UNKNOWN, Function
from detlint.model.kernels.digits import Axes

if TYPE_CHECKING:
    from detlint.model.kernels.numbers import Terms
    from detlint.model.kernels.python import Launch

_AXES: Final = "xyz"
_MADE: Final = frozenset({op.ATTR, op.BINARY, op.ITEM, op.UNARY})
"""What gives the same of the same."""
_DEEP: Final = 8
"""So many names may stand for one another."""
Where = tuple[Function, int]
"""A value, and the function in which it is one."""


class Grids:
    """Knows the grids of launches."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms

    def several(self, launch: Launch) -> Axes | None:
        """The axes along which more than one program is launched; None where that isn't known."""
        function, at = launch.function, launch.function.meant(launch.grid)
        operation = function.ops[at]
        if operation[0] == op.FUNCTION:
            function = function.code.function(operation[1])
            returned = [part[1] for _, part in function.each(op.RETURN)]
            at = function.meant(returned[0]) if len(returned) == 1 else -1
            operation = function.ops[at] if at >= 0 else (op.END,)
        if operation[0] not in (op.TUPLE, op.LIST) or len(operation) > len(_AXES) + 1:
            return None
        sizes = zip(_AXES, operation[1:], strict=False)
        return frozenset(f"program {axis}" for axis, size in sizes if not self._is_one(launch, (function, size)))

    def _is_one(self, launch: Launch, size: Where) -> bool:
        """Whether a size is 1: as such, or of blocks one of which holds all."""
        function, at = self._meant(launch, *size)
        if function.constant(at) == 1:
            return True
        operation = function.ops[at]
        if operation[0] == op.CALL and self._terms.has("ceilings", self._named(launch, function, operation[1])):
            given = function.call(at).positional
            return len(given) == 2 and self._holds(launch, (function, given[1]), (function, given[0]))
        if operation[0] != op.BINARY or function.strings[operation[1]] != "//":
            return False
        return any(
            self._holds(launch, (function, operation[3]), (function, part))
            for part in _summands(function, operation[2])
        )

    def _holds(self, launch: Launch, block: Where, whole: Where) -> bool:
        """Whether a block is surely as large as something: it is that, or that is rounded up, or the larger one of those."""
        one, other = self._meant(launch, *block), self._meant(launch, *whole)
        function, at = one
        if self._written(launch, *one) == self._written(launch, *other):
            return True
        if function.ops[at][0] != op.CALL:
            return False
        name, given = self._named(launch, function, function.ops[at][1]), function.call(at).positional
        grows = self._terms.has("powers", name) or (name == "max" and len(given) > 1)
        return grows and any(self._holds(launch, (function, value), whole) for value in given)

    def _written(self, launch: Launch, function: Function, at: int) -> tuple[object, ...]:
        """How a value is made of what nothing changes: parameters, constants, and parts of them."""
        function, at = self._meant(launch, function, at)
        operation, constant = function.ops[at], function.constant(at)
        if constant is not UNKNOWN:
            return (repr(constant),)
        if operation[0] == op.LOAD and function.given(at) is not None:
            return (function.binding(operation[1]),)
        if operation[0] not in _MADE:
            return function.number, at
        word = "" if operation[0] == op.ITEM else function.strings[operation[2 if operation[0] == op.ATTR else 1]]
        return (operation[0], word, *(self._written(launch, function, value) for value in function.values(at)))

    def _named(self, launch: Launch, function: Function, callee: int) -> str:
        return launch.meaning.name(function, callee).removeprefix("builtins.") or function.dotted(callee)

    def _meant(self, launch: Launch, function: Function, at: int, depth: int = 0) -> Where:
        """A value through names, of the function around as well, and what a grid asks of the launch, `meta["BLOCK"]`."""
        at = function.meant(at)
        operation = function.ops[at]
        found = None
        if depth > _DEEP:
            return function, at
        if operation[0] == op.LOAD and function.binding(operation[1]).owner not in (0, function.number):
            stores = function.code.stores(function.binding(operation[1]))
            if len(stores) == 1 and stores[0][0].ops[stores[0][1]][0] == op.STORE:
                found = stores[0][0], stores[0][0].ops[stores[0][1]][2]
        elif operation[0] == op.ITEM and function.given(operation[1]) is not None:
            value = launch.function.call(launch.call).named.get(str(function.constant(operation[2])), -1)
            found = (launch.function, value) if value >= 0 else None
        return self._meant(launch, *found, depth + 1) if found is not None else (function, at)


def _summands(function: Function, value: int) -> list[int]:
    """The parts of a sum: `n + BLOCK - 1`."""
    operation = function.ops[value]
    if operation[0] != op.BINARY or function.strings[operation[1]] not in ("+", "-"):
        return [value]
    return [part for side in operation[2:4] for part in _summands(function, side)]
