"""Which numbers are rounded where they are added: those with a fraction. Whole ones give the same sum in any order.

It may assume that `/` divides, that what a function of the program gives back is a fraction where one of its returns is, and that methods
called `mean`, `item`, `result` and the like say nothing of themselves.
"""

from __future__ import annotations

from typing import Final

from detlint.ir import ops as op
from detlint.ir.code import Function
from detlint.model.meaning import Meaning, Meanings

_GIVES: Final = frozenset(
    {"builtins.float", "random.random", "random.uniform", "random.gauss", "time.time", "time.perf_counter"}
)
_MODULES: Final = ("math.", "statistics.", "cmath.")
_WHOLE: Final = frozenset(
    {"math.ceil", "math.comb", "math.factorial", "math.floor", "math.gcd", "math.isqrt", "math.perm"}
)
_ARITHMETIC: Final = frozenset({"+", "-", "*", "**", "%", "//"})
_DEEPEST: Final = 6
"""Through so many names and functions a number is followed."""


def is_fraction(meanings: Meanings, meaning: Meaning, function: Function, value: int, depth: int = 0) -> bool:
    """Whether a value is a number that may have a fraction, by how it is made, in one of the ways in which it is."""
    operation = function.ops[value]
    code = operation[0]
    if depth > _DEEPEST:
        return False
    if code == op.CONST:
        return isinstance(function.constant(value), float)
    if code == op.PART:
        parts = function.ops[operation[1]]
        one = parts[operation[2] + 1] if parts[0] == op.TUPLE and 0 <= operation[2] < len(parts) - 1 else -1
        return one >= 0 and is_fraction(meanings, meaning, function, one, depth + 1)
    if code == op.LOAD:
        return any(is_fraction(meanings, meaning, function, made, depth + 1) for made in function.stored(value) or ())
    if code in (op.BINARY, op.AUGMENT):
        sides = operation[2:]
        if function.strings[operation[1]] == "/":
            return not any(
                isinstance(function.constant(side), str) or function.ops[side][0] == op.TEXT for side in sides
            )
        arithmetic = function.strings[operation[1]] in _ARITHMETIC
        return arithmetic and any(is_fraction(meanings, meaning, function, side, depth + 1) for side in sides)
    if code == op.CHOICE:
        return any(is_fraction(meanings, meaning, function, arm, depth + 1) for arm in operation[2:] if arm >= 0)
    if code == op.UNARY:
        return function.strings[operation[1]] == "-" and is_fraction(
            meanings, meaning, function, operation[2], depth + 1
        )
    return code == op.CALL and gives_fraction(meanings, meaning, function, operation[1], depth + 1)


def gives_fraction(meanings: Meanings, meaning: Meaning, function: Function, callee: int, depth: int = 0) -> bool:
    """The same of what a callable gives, such as the function that a pool maps."""
    name = meaning.name(function, callee)
    if name in _GIVES or (name.startswith(_MODULES) and name not in _WHOLE):
        return True
    found = meanings.definition(name) if "::" in name else None
    if found is None or found[1].is_class:
        inner = function.ops[callee]
        if inner[0] != op.FUNCTION:
            return False
        found = meaning, function.code.function(inner[1])
    there, body = found
    gives = [operation[1] for _, operation in body.each(op.RETURN) if operation[1] >= 0]
    return any(is_fraction(meanings, there, body, given, depth + 1) for given in gives)
