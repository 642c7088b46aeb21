"""Which ops take the result of which: the def-use edges of a function, and the role in which each value is used."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from detlint.ir import ops as op

Op = tuple[int, ...]

_FIXED: Final[dict[int, tuple[int, ...]]] = {
    op.ATTR: (1,), op.ITEM: (1, 2), op.BINARY: (2, 3), op.UNARY: (2,), op.COMPARE: (1, 3), op.CHOICE: (2, 3), op.FORMAT: (1, 2),
    op.SLICE: (1, 2, 3), op.STAR: (1,), op.AWAIT: (1,), op.YIELD: (1,), op.YIELD_FROM: (1,), op.PART: (1,), op.MEMBER: (1,),
    op.AUGMENT: (2, 3), op.CAUGHT: (1,), op.TYPE_PARAMETER: (2, 3), op.MATCHES_VALUE: (1, 2), op.MATCHES_SINGLETON: (1, 2),
    op.MATCHES_SEQUENCE: (1,), op.MATCHES_CLASS: (1, 2), op.STORE: (2,), op.SET_ATTR: (1, 3), op.SET_ITEM: (1, 2, 3),
    op.DELETE_ATTR: (1,), op.DELETE_ITEM: (1, 2), op.STAR_IMPORT: (1,), op.RETURN: (1,), op.RAISE: (1, 2), op.ASSERT: (1, 2),
    op.ANNOTATE: (2,), op.ANNOTATE_ATTR: (1, 3), op.GIVE: (1, 2), op.IF: (1,), op.FOR: (1,), op.UNTIL: (1,), op.WITH: (1,),
}  # fmt: skip
"""Code -> where in an op its values stand."""
_ALL: Final = frozenset({
    op.LIST, op.TUPLE, op.SET, op.DICT, op.TEXT, op.TEMPLATE, op.MATCHES_MAPPING, op.WITHOUT,
})  # fmt: skip
"""Codes of ops whose operands are all values."""


class Use(NamedTuple):
    """A place where a value is used."""

    op: int
    """The op that takes it."""
    place: int
    """Where in that op it stands."""


def places(operation: Op) -> Sequence[int]:
    """Where in an op its values stand; some of them may be -1."""
    code = operation[0]
    fixed = _FIXED.get(code)
    if fixed is not None:
        return fixed
    if code in _ALL:
        return range(1, len(operation))
    if code == op.CALL:
        named = 3 + operation[2]
        return (1, *range(3, named), *range(named + 1, len(operation), 2))
    if code == op.FUNCTION:
        return range(3, len(operation))
    if code == op.CLASS:
        bases = 3 + operation[2]
        named = bases + 1 + operation[bases]
        return (*range(3, bases), *range(bases + 1, named), *range(named + 1, len(operation), 2))
    return ()


def users(ops: Sequence[Op], defaults: Iterable[tuple[int, Use]] = ()) -> Sequence[Sequence[Use]]:
    """The uses of each op's result, in order.

    Args:
        defaults: values that are used besides, as parameters' defaults are, and how.
    """
    found: list[list[Use] | None] = [None] * len(ops)  # what nobody uses takes no memory
    for number, operation in enumerate(ops):
        for place in places(operation):
            value = operation[place]
            if value >= 0:
                uses = found[value]
                if uses is None:
                    found[value] = [Use(number, place)]
                else:
                    uses.append(Use(number, place))
    for value, use in defaults:
        found[value] = [*(found[value] or ()), use]
    return [uses or () for uses in found]
