"""What is done to the tables that a function is handed.

What it may assume: who hands a table on gets it back as it was; a method that changes one has another name than those that only ask.
"""

from __future__ import annotations

from typing import Final

from detlint.ir import ops as op
from detlint.ir.code import Binding, Function

ASKS: Final = frozenset({"copy", "get", "items", "keys", "values"})
"""Methods of tables that leave them as they are."""
_CHANGES: Final = {op.SET_ITEM: 1, op.DELETE_ITEM: 1, op.AUGMENT: 2}
"""What changes a table, and where in such an op that stands."""


def is_changed(function: Function, parameter: str) -> bool:
    """Whether a function, or one that stands in it, may change the table that it gets for a parameter, under that name or another one."""
    slots = [slot for slot, _ in enumerate(function.header.parameters) if function.text(slot) == parameter]
    return not slots or any(
        _changes(reader, at, set()) for reader, at in function.code.reads(Binding(function.number, slots[0]))
    )


def _changes(function: Function, at: int, seen: set[int]) -> bool:
    """Whether what is done with a value may change it."""
    for use in function.users[at]:
        operation = function.ops[use.op]
        if _CHANGES.get(operation[0]) == use.place:
            return True
        if operation[0] == op.ATTR and function.code.strings[operation[2]] not in ASKS:
            return True
        if operation[0] == op.STORE and use.op not in seen:
            seen.add(use.op)
            if any(_changes(function, load, seen) for load in function.loads.get(use.op, ())):
                return True
    return False
