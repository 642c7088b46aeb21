"""Indices of which no two meet: those of one list, where a loop that counts puts each of its numbers into one
(`groups.setdefault(size, []).append(i)`), and a single one for each place (`chosen.unsqueeze(-1)`).
"""

from __future__ import annotations

from typing import Final

from detlint.ir import ops as op
from detlint.ir.code import Function
from detlint.ir.places import Place
from detlint.ir.uses import Use

_MAKES: Final = frozenset({"array", "as_tensor", "tensor"})
"""Functions that make a tensor of a list."""
_DICTIONARIES: Final = frozenset({"OrderedDict", "defaultdict", "dict"})
_LOOPS: Final = frozenset({op.FOR, op.WHILE})
_CHOOSE: Final = frozenset({"argmax", "argmin"})
_KEEP: Final = frozenset({"clone", "contiguous", "cuda", "detach", "long", "to"})
_READS: Final = frozenset({"items", "keys", "values"})


def differ(point: Place, position: int) -> bool:
    """Whether the indices that a call gets surely differ, wherever they name places of one row.

    Args:
        position: where it takes them, behind the dimension that they are for.
    """
    function, call = point.function, point.function.call(point.at)
    along, indices = call.argument(position - 1, "dim"), call.argument(position, "index")
    if indices < 0:
        return False
    indices = function.meant(indices)
    if along >= 0 and _is_single(function, indices, along):
        return True
    while function.called(indices) in _MAKES and function.call(indices).positional:
        indices = function.meant(function.call(indices).positional[0])
    groups = _groups(function, indices)
    return groups >= 0 and _is_filled_once(function, groups)


def _is_single(function: Function, indices: int, along: int) -> bool:
    """Whether there is one index along a dimension: it is made for it, `chosen.unsqueeze(-1)`, or it was kept,
    `scores.argmax(-1, keepdim=True)`."""
    last = function.called(indices)
    base = function.meant(function.called_on(indices)) if last and function.called_on(indices) >= 0 else -1
    if base < 0:
        return False
    if last in _KEEP:
        return _is_single(function, base, along)
    call = function.call(indices)
    keeps = last in _CHOOSE and function.constant(call.named.get("keepdim", -1)) is True
    dimension = call.named.get("dim", next(iter(call.positional), -1))
    return (keeps or last == "unsqueeze") and dimension >= 0 and function.same(dimension, along)


def _element(function: Function, value: int, item: int, count: int) -> int:
    """The loop whose element a value is, or an item of that; -1 for none."""
    operation = function.ops[value]
    if count > 1:
        value = operation[1] if operation[0] == op.PART and operation[2:] == (item, count) else -1
    return value if value >= 0 and function.ops[value][0] == op.FOR else -1


def _groups(function: Function, value: int) -> int:
    """The dictionary through whose values a loop goes that gives one: `for size, name in groups.items()`; -1 for none."""
    for item, count, asked in ((0, 1, "values"), (1, 2, "items")):
        loop = _element(function, value, item, count)
        source = function.ops[loop][1] if loop >= 0 else -1
        if source >= 0 and function.called(source) == asked and function.called_on(source) >= 0:
            return function.meant(function.called_on(source))
    return -1


def _is_filled_once(function: Function, groups: int) -> bool:
    """Whether a dictionary of lists is filled by one statement, which puts each number of a loop into one of them."""
    stores = [use.op for use in function.users[groups]]
    if not _is_made_empty(function, groups) or len(stores) != 1 or function.ops[stores[0]][0] != op.STORE:
        return False
    loads = function.loads.get(stores[0], ())
    alone = all(len(function.flow.reaching[load]) == 1 for load in loads)
    if not alone or function.ops[stores[0]][1] in function.shared:
        return False
    uses = [use for load in loads for use in function.users[load]]
    others = [use for use in uses if not _is_read(function, use)]
    added = _added(function, others[0]) if len(others) == 1 else -1
    if added < 0:
        return False
    loops = [mark for mark in function.blocks(added) if function.ops[mark][0] in _LOOPS]
    return len(loops) == 1 and _counter(function, function.meant(added)) == loops[0]


def _is_read(function: Function, use: Use) -> bool:
    operation = function.ops[use.op]
    return operation[0] == op.ATTR and function.code.strings[operation[2]] in _READS


def _added(function: Function, use: Use) -> int:
    """What is appended to a list of a dictionary: `groups[size].append(i)`, `groups.setdefault(size, []).append(i)`; -1 for any
    other use."""
    at = use.op
    if function.ops[at][0] == op.ATTR and function.code.strings[function.ops[at][2]] == "setdefault":
        at = _only_use(function, at)
    elif function.ops[at][0] != op.ITEM:
        return -1
    method = _only_use(function, at)
    call = _only_use(function, method)
    positional = function.call(call).positional if call >= 0 and function.called(call) == "append" else ()
    return positional[0] if len(positional) == 1 and function.called_on(call) == at else -1


def _only_use(function: Function, at: int) -> int:
    """The op that alone uses a value; -1 for none."""
    uses = function.users[at] if at >= 0 else ()
    return uses[0].op if len(uses) == 1 else -1


def _is_made_empty(function: Function, at: int) -> bool:
    """Whether a value is a dictionary of nothing yet."""
    if function.ops[at][0] != op.CALL:
        return function.ops[at] == (op.DICT,)
    call = function.call(at)
    given = [function.dotted(value) for value in call.values()]
    return function.called(at) in _DICTIONARIES and given in ([], ["list"])


def _counter(function: Function, value: int) -> int:
    """The loop in each turn of which a value is another number; -1 for none."""
    for count, called in ((1, "range"), (2, "enumerate")):
        loop = _element(function, value, 0, count)
        source = function.ops[loop][1] if loop >= 0 else -1
        if source >= 0 and function.ops[source][0] == op.CALL and function.dotted(function.ops[source][1]) == called:
            return loop
    return -1
