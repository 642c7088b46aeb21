"""Values that surely are whole numbers, or arrays of such: their sum needs no rounding, so that it is the same in any order.

It assumes that functions and methods mean what their names say in Python, numpy, PyTorch and MindSpore, and that what is handed to a
function which isn't known may be filled with anything.
"""

from __future__ import annotations

from typing import Final

from detlint.ir import ops as op
from detlint.ir.code import Function
from detlint.ir.uses import Use

_LIBRARIES: Final = frozenset({"cupy", "jax", "mindspore", "numpy", "tensorflow", "torch"})
"""Those whose function counts; what else has such a method is a tensor."""
_COUNTS: Final = "bincount"
"""How often each number is among some."""
_FILLS: Final = frozenset({"ones", "ones_like", "zeros", "zeros_like"})
"""Functions that give arrays of whole numbers."""
_COMPARES: Final = frozenset({
    "eq", "equal", "ge", "greater", "greater_equal", "gt", "isin", "le", "less", "less_equal", "logical_and", "logical_not",
    "logical_or", "lt", "ne", "not_equal",
})  # fmt: skip
"""Functions and methods that give booleans."""
_KEEP: Final = frozenset({"+", "-", "*", "//", "%"})
"""Operators that make whole numbers of whole numbers."""
_WHOLE: Final = frozenset({"int", "len", "os.path.getsize"})
_LOOKS: Final = frozenset({"int", "len", "print", "range", "str"})
"""Functions that change nothing that they are given."""
_SAME: Final = frozenset({"asnumpy", "cpu", "item", "numpy", "reshape"})
"""Methods that give the same numbers."""


def are_added_whole(function: Function, value: int) -> bool:
    """Whether what is added up again and again is whole, or one number that is written out."""
    constant = function.constant(value)
    return isinstance(constant, int | float) or _Wholes(function).holds(value)


class _Wholes:
    """Asks of the values of one function."""

    def __init__(self, function: Function, asked: frozenset[int] = frozenset()) -> None:
        self._function = function
        self._functions = asked
        """The functions that are asked already."""
        self._asked: set[int] = set()
        self._looked_at: set[int] = set()

    def holds(self, value: int) -> bool:
        """Whether a value surely is whole, or an array of whole numbers."""
        if value in self._asked:
            return True
        self._asked.add(value)
        function, operation = self._function, self._function.ops[value]
        code = operation[0]
        if code == op.CONST:
            constant = function.constant(value)
            return isinstance(constant, int | float) and float(constant).is_integer()
        if code == op.ITEM:
            return self.holds(operation[1])
        if code == op.BINARY or code == op.AUGMENT:
            return function.code.strings[operation[1]] in _KEEP and all(map(self.holds, operation[2:]))
        if code == op.LOAD:
            return self._is_kept_whole(value)
        return code == op.CALL and self._gives_whole(value)

    def _is_kept_whole(self, load: int) -> bool:
        """Whether a name only ever holds whole numbers, where it is read."""
        function = self._function
        stored = function.stored(load)
        if not stored or function.ops[load][1] in function.shared:
            return False
        stores = [at for at, operation in function.each(op.STORE) if operation[2] in stored]
        loads = {other for store in stores for other in function.loads.get(store, ())}
        return all(map(self.holds, stored)) and all(map(self._only_gets_whole, loads))

    def _only_gets_whole(self, load: int) -> bool:
        """Whether nothing but whole numbers is put into what a name holds, or a part of it, where it is read."""
        if load in self._looked_at:
            return True
        self._looked_at.add(load)
        return all(self._only_gets_whole_in(use) for use in self._function.users[load])

    def _only_gets_whole_in(self, use: Use) -> bool:
        function, taking = self._function, self._function.ops[use.op]
        code = taking[0]
        if code == op.SET_ITEM:
            return use.place != 1 or self.holds(taking[3])
        if code == op.CALL:
            return use.place == 1 or function.dotted(taking[1]) in _LOOKS
        if code == op.STORE:
            return all(map(self._only_gets_whole, function.loads.get(use.op, ())))
        if code == op.ATTR:
            return function.code.strings[taking[2]] in _SAME | {"sum"}
        if code == op.AUGMENT:
            return use.place != 2 or self.holds(use.op)
        return code != op.ITEM or use.place != 1 or self._only_gets_whole(use.op)

    def _gives_whole(self, call: int) -> bool:
        """Whether a call gives whole numbers."""
        function = self._function
        name, last, base, given = (
            function.dotted(function.ops[call][1]),
            function.called(call),
            function.called_on(call),
            function.call(call),
        )
        if base >= 0 and last in _SAME and not _is_library(function, base):
            return self.holds(base)
        if name in _WHOLE or self._is_counting(call):
            return True
        if last in _FILLS:
            return base >= 0 and _is_library(function, base)
        if last == _COUNTS:
            # A tensor's own method takes what else would be the second argument: weights.
            plain = 1 if base < 0 or _is_library(function, base) else 0
            return len(given.positional) == plain and all(word == "minlength" for word in given.named)
        added = [base, *given.positional[:1]] if last == "sum" else []
        return any(value >= 0 and self._is_comparison(value) for value in added)

    def _is_comparison(self, value: int) -> bool:
        """Whether a value is booleans: `found == label`, `np.equal(found, label)`."""
        function = self._function
        value = function.meant(value)
        return function.ops[value][0] == op.COMPARE or function.called(value) in _COMPARES

    def _is_counting(self, call: int) -> bool:
        """Whether a call is of a function of the file, or a method of the object itself, that only counts:
        `def hist(a): return np.bincount(a)`."""
        function = self._function
        callee = function.ops[call][1]
        base = function.called_on(call)
        own = function.definition_of(callee)
        if own is None and base >= 0 and (body := function.receiver(base)) is not None:
            found = function.code.by_name.get(f"{body.qualified}.{function.called(call)}", ())
            own = found[0] if len(found) == 1 and not found[0].decorators else None
        if own is None or own.is_class or own.number in self._functions:
            return False
        returned = [operation[1] for _, operation in own.each(op.RETURN)]
        inside = _Wholes(own, self._functions | {own.number})
        yields = any(True for _ in own.each(op.YIELD, op.YIELD_FROM))
        return not yields and bool(returned) and all(value >= 0 and inside.holds(value) for value in returned)


def _is_library(function: Function, value: int) -> bool:
    """Whether a value is a part of a library of arrays, by what the file imports."""
    return function.external(value).partition(".")[0] in _LIBRARIES
