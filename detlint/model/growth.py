"""What the body of a loop gathers over its turns, or a function over its calls: what it appends to, adds up, numbers, writes, yields.

It assumes that methods mean what their names say of lists, queues and files, and that what is made anew in every turn gathers nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

from detlint.ir import ops as op
from detlint.ir.code import Function
from detlint.ir.exits import BEFORE
from detlint.ir.uses import Op
from detlint.model.sites.records import TAKES_OUT
from detlint.model.unbound import is_unbound
from detlint.model.wholes import are_added_whole

GROWS: Final = frozenset({"append", "extend", "insert", "put", "appendleft"})
JOINS: Final = frozenset({"append", "cat", "concat", "concatenate", "hstack", "vstack"})
"""Functions that give a longer one: `x = np.concatenate([x, more])`."""
WRITES: Final = frozenset({"write", "writelines", "writerow", "writerows"})
SAVES: Final = WRITES | {
    "dump", "imsave", "imwrite", "save", "save_image", "savefig", "savetxt", "savez", "to_csv", "to_json", "to_pickle", "write_bytes",
    "write_text",
}  # fmt: skip
"""What writes files, by the names that libraries have for that."""
LEVELS: Final = frozenset({"critical", "debug", "error", "info", "warn", "warning"})
_SHOWN: Final = frozenset({"sys.stdout", "sys.stderr", "stdout", "stderr"})
_ALIASES: Final = frozenset({op.LOAD, op.ATTR, op.ITEM, op.CHOICE, op.FOR, op.PART})
"""Codes of what gives no new object."""
_SEQUENCES: Final = frozenset({op.LIST, op.TUPLE, op.TEXT, op.COLLECT})
_SAYS: Final = frozenset({
    op.ATTR, op.BINARY, op.CALL, op.CONST, op.FORMAT, op.ITEM, op.LOAD, op.PART, op.SLICE, op.STORE, op.TEXT, op.TUPLE, op.UNARY,
})  # fmt: skip

WHOLE: Final = -1
"""Stands for a loop whose body is all of a function: who calls it again and again."""
What = Literal["object", "sum", "yield", "file", "numbers"]


class Grown(NamedTuple):
    """What grows in a loop."""

    what: What
    """An object that keeps the order of the loop; what may be a sum of numbers, or has a list for each element; what a generator yields; a
    file; a table that gets a number for each item."""
    value: int
    """The value that is it, where it is read to grow; -1 for none."""
    item: int = -1
    """What it grows by; -1 where that isn't known."""


def only_logs(function: Function, loop: int) -> bool:
    """Whether a loop's body does nothing but log what is at hand: `logger.info(f"Sample {i}: {data[i]}")`."""
    body = ops_of(function, loop)
    calls = [at for at in body if function.ops[at][0] == op.CALL]
    logs = bool(calls) and all(function.called(at) in LEVELS and function.called_on(at) >= 0 for at in calls)
    return logs and all(
        function.ops[at][0] in _SAYS and (function.ops[at][0] != op.STORE or _is_target(function, at, loop))
        for at in body
    )


def gathered(function: Function, loop: int) -> list[Grown]:
    """What a loop's body gathers, in order; that of the function for `WHOLE`, which has another turn in each call."""
    body = ops_of(function, loop)
    ends = [at for at in body if function.ops[at][0] == op.LOAD and is_unbound(function, at)]
    come_to = (at for at in body if not any(_is_behind(function, end, at) for end in ends))
    grown = (part for at in come_to for part in _growth(function, at, loop))
    return [part for part in grown if part.value < 0 or not _is_anew(function, part.value, body)]


def _is_behind(function: Function, end: int, at: int) -> bool:
    """Whether an op is only come to by way of another one before it."""
    return end < at and function.flow.blocks[end] in (*function.blocks(at),)


def ops_of(function: Function, loop: int) -> range:
    """The ops of a loop's body; for `WHOLE`, all of the function's."""
    return range(loop + 1, function.flow.parts[loop][1] if loop >= 0 else len(function.ops))


def _is_target(function: Function, store: int, loop: int) -> bool:
    value = function.ops[store][2]
    while function.ops[value][0] == op.PART:
        value = function.ops[value][1]
    return value == loop


def _growth(function: Function, at: int, loop: int) -> Iterator[Grown]:
    """What grows by an op of the body."""
    operation = function.ops[at]
    code = operation[0]
    if code == op.YIELD or code == op.YIELD_FROM:
        yield Grown("yield", -1)
    elif code == op.AUGMENT and function.code.strings[operation[1]] == "+":
        if not are_added_whole(function, operation[3]):
            plain = _is_sequence(function, operation[3]) and function.ops[operation[2]][0] != op.ITEM
            yield Grown("object" if plain else "sum", operation[2], operation[3])
    elif code == op.STORE or code == op.SET_ATTR:
        carried = (
            part
            for part in _regrown(function, operation)
            if code == op.SET_ATTR or at in function.flow.reaching.get(part.value, ())
        )
        yield from carried
    elif code == op.CALL and function.ops[operation[1]][0] == op.ATTR:
        yield from _method(function, at, loop)
    elif code == op.SET_ITEM:
        if _counts(function, operation[3], operation[1], loop):
            yield Grown("numbers", operation[1])
        elif _counts(function, operation[2], operation[1], loop):
            yield Grown("object", _without_place(function, operation[1]), operation[3])  # `images[i] = load(file)`


def _without_place(function: Function, table: int) -> int:
    """A table, of its part by which rows are put into it: `frame` of `frame.loc`."""
    operation = function.ops[table]
    return operation[1] if operation[0] == op.ATTR and function.code.strings[operation[2]] == "loc" else table


def _method(function: Function, call: int, loop: int) -> Iterator[Grown]:
    word, owner = function.called(call), function.called_on(call)
    if word in GROWS:
        operation = function.ops[owner]
        # `groups[x].append(...)` has a list for each element; `groups[kind(x)]` has one for several.
        keyed = operation[0] == op.ITEM and _tells_turn(function, operation[2], loop)
        given = function.call(call).positional[-1:]
        yield Grown("sum" if keyed or operation[0] == op.CALL else "object", owner, *given)
    elif word in WRITES and function.dotted(owner) not in _SHOWN and not _writes_whole(function, call, owner):
        yield Grown("file", owner)


def _writes_whole(function: Function, call: int, value: int) -> bool:
    """Whether a whole file is written: one that is opened on the spot, or by a library, `soundfile.write(path, sound, rate)`."""
    if len([*function.call(call).values()]) < 2:
        return _opens(function, value)
    operation = function.ops[value]
    stores = function.code.stores(function.binding(operation[1])) if operation[0] == op.LOAD else ()
    made = [other.ops[other.ops[at][2]][0] for other, at in stores if other.ops[at][0] == op.STORE]
    return bool(made) and {op.IMPORT, op.MEMBER}.issuperset(made)


def is_of_turn(function: Function, value: int, loop: int) -> bool:
    """Whether a value is what the loop has at hand in a turn."""
    if function.ops[value][0] != op.LOAD:
        return False
    if loop < 0:
        return function.names[function.ops[value][1]].owner == function.number
    definitions = function.flow.reaching.get(value, ())
    return any(
        found >= 0 and function.ops[found][0] == op.STORE and _is_target(function, found, loop) for found in definitions
    )


def _tells_turn(function: Function, key: int, loop: int) -> bool:
    """Whether a key is another one in each turn: what the loop has at hand, or a text or a tuple that has it whole."""
    operation = function.ops[key]
    if operation[0] in (op.TUPLE, op.TEXT, op.FORMAT):
        return any(_tells_turn(function, part, loop) for part in function.values(key))
    return is_of_turn(function, key, loop)


def _regrown(function: Function, operation: Op) -> Iterator[Grown]:
    """What is bound to itself with more: `x = x + more`."""
    made = function.ops[operation[-1]]
    if made[0] == op.CALL and function.called(operation[-1]) in JOINS:
        for value in function.call(operation[-1]).positional:
            own = next((part for part in function.within(value) if _is_same(function, operation, part)), -1)
            if own >= 0:
                yield Grown("object", own)
                return
    if made[0] != op.BINARY or function.code.strings[made[1]] != "+":
        return
    for own, more in (made[2:], made[:1:-1]):
        if _is_same(function, operation, own):
            if not are_added_whole(function, more):
                yield Grown("object" if _is_sequence(function, more) else "sum", own, more)
            return
    if function.ops[made[2]][0] == op.BINARY:  # `x = 0.9 * x + more`: each counts for less than the next
        yield from (Grown("object", part) for part in function.within(made[2]) if _is_same(function, operation, part))


def _is_same(function: Function, stored: Op, value: int) -> bool:
    """Whether a value is what an op stores anew."""
    read = function.ops[value]
    if stored[0] == op.STORE:
        return read[0] == op.LOAD and read[1] == stored[1]
    return read[0] == op.ATTR and read[2] == stored[2] and function.dotted(read[1]) == function.dotted(stored[1]) != ""


def _counts(function: Function, value: int, table: int, loop: int) -> bool:
    """Whether a value is the next number: a counter, or the size of the table that it goes into."""
    return any(_is_counter(function, part, table, loop) for part in function.within(value))


def _is_counter(function: Function, value: int, table: int, loop: int) -> bool:
    operation = function.ops[value]
    if operation[0] == op.CALL:
        own = function.dotted(_without_place(function, table))
        return (
            operation[2] > 0 and function.is_builtin(operation[1], "len") and function.dotted(operation[3]) == own != ""
        )
    if operation[0] == op.ATTR:  # `self.count`
        return any(
            _adds_constant(function, part) and function.dotted(part[2]) == function.dotted(value)
            for part in _augments(function, loop)
        )
    if operation[0] != op.LOAD:
        return False
    for found in function.flow.reaching.get(value, ()):
        stored = function.ops[found] if found >= 0 else (op.END,)
        made = function.ops[stored[2]] if stored[0] == op.STORE else (op.END,)
        if made[0] == op.PART and made[1] == loop and made[2:] == (0, 2):
            return True
        if _adds_constant(function, made) and found in ops_of(function, loop):
            return True
    return False


def _augments(function: Function, loop: int) -> Iterator[Op]:
    return (function.ops[at] for at in ops_of(function, loop) if function.ops[at][0] == op.AUGMENT)


def _adds_constant(function: Function, made: Op) -> bool:
    return made[0] == op.AUGMENT and function.ops[made[3]][0] == op.CONST


def _is_sequence(function: Function, value: int) -> bool:
    """Whether something that is added is a list or a text, by how it is made."""
    operation = function.ops[value]
    if operation[0] == op.BINARY:
        return any(_is_sequence(function, side) for side in operation[2:])
    return operation[0] in _SEQUENCES or isinstance(function.constant(value), str)


def _opens(function: Function, value: int) -> bool:
    """Whether a file is opened on the spot, from its beginning: `path.open("w").write(text)`."""
    if function.called(value) != "open":
        return False
    modes = [function.constant(given) for given in function.call(value).values()]
    return not any(isinstance(mode, str) and "a" in mode for mode in modes)


def _is_anew(
    function: Function, value: int, body: range, seen: frozenset[int] = frozenset(), whole: bool = True
) -> bool:
    """Whether a value, or the object whose part it is, is made anew in each turn of a loop.

    Args:
        body: the ops of the loop's body.
        whole: whether it is asked for the object itself: what a part belongs to must be built there.
    """
    root = value
    while function.ops[root][0] in (op.ATTR, op.ITEM):
        whole = whole and function.ops[root][0] == op.ITEM
        root = function.ops[root][1]
    operation = function.ops[root]
    if operation[0] == op.CALL:
        base = function.called_on(root)
        return _builds(function, root) or (base >= 0 and _is_anew(function, base, body, seen, whole=False))
    if operation[0] != op.LOAD or function.names[operation[1]].owner != function.number:
        return False
    definitions = function.flow.reaching.get(root, frozenset((BEFORE,)))
    return all(found in seen or _is_made_in(function, found, body, seen | {found}, whole) for found in definitions)


def _builds(function: Function, call: int) -> bool:
    """Whether a call makes an object of a class."""
    return function.called(call)[:1].isupper()


def _is_made_in(function: Function, definition: int, body: range, seen: frozenset[int], whole: bool) -> bool:
    """Whether a definition stands in the body of a loop, and gives a name something new."""
    if definition not in body or function.ops[definition][0] != op.STORE:
        return False
    made = function.ops[definition][2]
    code = function.ops[made][0]
    if code == op.AUGMENT:
        return _is_anew(function, function.ops[made][2], body, seen, whole)
    if code == op.CHOICE:
        return all(_is_anew(function, arm, body, seen, whole) for arm in function.ops[made][2:])
    if code == op.CALL and whole and function.called(made) in TAKES_OUT and function.called_on(made) >= 0:
        return _is_anew(function, function.called_on(made), body, seen, whole)  # `group = groups.get(key, [])`
    if code in _ALIASES or (code == op.CALL and not whole):
        return _is_anew(function, made, body, seen, whole)
    own = [part for part in function.within(made) if _is_same(function, function.ops[definition], part)]
    return all(_is_anew(function, part, body, seen) for part in own)
