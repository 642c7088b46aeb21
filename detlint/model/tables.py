"""What tables may be that a function unpacks, and what is done to them there.

What it may assume: who hands a table on gets it back as it was; a method that changes one has another name than those that only ask.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import msgspec

from detlint.ir import ops as op
from detlint.ir.code import Binding, Function
from detlint.model.sites.records import Const, Each, Either, Items, Mapping, Param, Value
from detlint.model.sites.scope import over

ASKS: Final = frozenset({"copy", "get", "items", "keys", "values"})
"""Methods of tables that leave them as they are."""
_CHANGES: Final = {op.SET_ITEM: 1, op.DELETE_ITEM: 1, op.AUGMENT: 2}
"""What changes a table, and where in such an op that stands."""


Known = Callable[[str], Value | None]
"""What a parameter is, by its name; None where that isn't known."""


def tables(value: Value | None, known: Known) -> Iterator[Value | None]:
    """What a value in a function may be, one by one, where its parameters are what is known of them: of `A if flag else B`, that which
    the flag says."""
    if isinstance(value, Either):
        flag = known(value.by) if value.by and "." not in value.by else None
        chosen = value.options if not isinstance(flag, Const) else (value.options[0 if flag.value else 1],)
        for option in chosen:
            yield from tables(option, known)
    elif isinstance(value, Param):
        given = known(value.name)
        yield given if given is not None else value
    elif isinstance(value, Mapping):
        table = msgspec.structs.replace(value, values=tuple(_known(held, known) for held in value.values))
        yield from (over(table, rest) for rest in tables(value.rest, known))
    else:
        yield value


def parameters(value: Value | None) -> Iterator[str]:
    """The parameters of its function that say what a table is, and what it holds."""
    if isinstance(value, Param):
        yield value.name
    elif isinstance(value, Either):
        yield from () if not value.by or "." in value.by else (value.by,)
        for option in value.options:
            yield from parameters(option)
    elif isinstance(value, Mapping | Items):
        for held in (*value.values, value.rest if isinstance(value, Mapping) else None):
            yield from parameters(held)


def _known(value: Value | None, known: Known) -> Value | None:
    """A value as the parameters say, if that is one."""
    found = [*tables(value, known)]
    return found[0] if len(found) == 1 else value


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


def parts_of(value: Value | None) -> Iterator[Value | None]:
    """A value, and all that it holds."""
    yield value
    if isinstance(value, (Items, Mapping)):
        for inner in value.values:
            yield from parts_of(inner)
    elif isinstance(value, Each):
        yield from parts_of(value.of)
