"""What one function says of the order of some items: that they are sorted, that there is one at most, that only their names count.

It assumes that methods called `sort` sort where they stand, and that what is printed, logged or told by an error is for people.
"""

from __future__ import annotations

from typing import Final

from detlint.ir import ops as op
from detlint.ir.code import Function
from detlint.ir.exits import BEFORE
from detlint.model.growth import GROWS, LEVELS, is_of_turn, ops_of
from detlint.model.meaning import Meaning
from detlint.model.sites.records import Ref

ERRORS: Final = ("Error", "Exception", "Warning")
"""How the names of exceptions end."""
SORTS: Final = frozenset({"builtins.sorted", "natsort.natsorted"})
VIEWS: Final = frozenset({"items", "keys", "values"})
SAVES: Final = ("to_csv", "to_excel", "to_feather", "to_hdf", "to_json", "to_parquet", "to_pickle", "to_sql")
"""Methods of tables that write them to a file."""
SUMS_UP: Final = frozenset({
    "all", "any", "count", "describe", "drop_duplicates", "dropna", "duplicated", "equals", "info", "isna", "isnull", "keys", "max",
    "mean", "median", "min", "nunique", "std", "sum", "var",
})  # fmt: skip
"""Methods of tables whose answer, column by column, doesn't depend on the order of these, and those that count rows."""
_LIMITS: Final = frozenset({"<", "<=", ">", ">="})
_TEXTS: Final = frozenset({
    "abspath", "basename", "decode", "dirname", "expanduser", "format", "join", "joinpath", "lower", "lstrip", "normpath", "relative_to",
    "relpath", "removeprefix", "removesuffix", "repr", "replace", "resolve", "rstrip", "split", "splitext", "str", "strip", "title",
    "upper", "with_suffix", "Path", "PurePath",
})  # fmt: skip
"""Functions and methods that make a text, or a path, of another."""


def is_put_right(function: Function, part: int, meaning: Meaning) -> bool:
    """Whether one of several things that a loop is handed is sorted, or never read: `for root, dirs, files in os.walk(folder)`."""
    stores = [use.op for use in function.users[part]]
    if any(function.ops[store][0] != op.STORE for store in stores):
        return False
    loads = [load for store in stores for load in function.loads.get(store, ())]
    return not loads or any(is_sorted(function, load, meaning) for load in loads)


def are_sorted_inside(function: Function, table: int, meaning: Meaning) -> bool:
    """Whether each item of a table is sorted: `for names in groups.values(): names.sort()`."""
    if function.ops[table][0] != op.LOAD:
        return False
    for load, operation in function.each(op.LOAD):
        if operation != function.ops[table]:
            continue
        for use in function.users[load]:
            taking = function.ops[use.op]
            if taking[0] == op.ITEM and use.place == 1 and is_sorted(function, use.op, meaning):
                return True
            views = taking[0] == op.ATTR and function.code.strings[taking[2]] in VIEWS
            if views and _sorts_each(function, use.op, meaning):
                return True
    return False


def _sorts_each(function: Function, view: int, meaning: Meaning) -> bool:
    """Whether a loop goes through a table and sorts what is in it."""
    calls = [use.op for use in function.users[view]]
    loops = [use.op for call in calls for use in function.users[call] if function.ops[use.op][0] == op.FOR]
    parts = loops + [use.op for loop in loops for use in function.users[loop] if function.ops[use.op][0] == op.PART]
    stores = [use.op for part in parts for use in function.users[part] if function.ops[use.op][0] == op.STORE]
    return any(is_sorted(function, load, meaning) for store in stores for load in function.loads.get(store, ()))


def definitions(function: Function, load: int) -> set[int] | None:
    """The definitions of a variable that give it the object that it is somewhere, with those by which it is bound to itself with more;
    None where it may have it from elsewhere."""
    found, waiting = set[int](), [load]
    slot = function.ops[load][1]
    if function.names[slot].owner != function.number:
        return None
    while waiting:
        for definition in function.flow.reaching.get(waiting.pop(), frozenset((BEFORE,))):
            if definition < 0 or function.ops[definition][0] != op.STORE:
                return None
            if definition not in found:
                found.add(definition)
                made = function.ops[definition][2]
                waiting += [p for p in function.within(made) if function.ops[p] == function.ops[load]]
    after = {
        at
        for at, operation in function.each(op.STORE)
        if operation[1] == slot
        and any(
            function.ops[p] == function.ops[load] and found & function.flow.reaching.get(p, frozenset())
            for p in function.within(operation[2])
        )
    }
    return found | after


def is_asked(function: Function, load: int) -> bool:
    """Whether anything is done where a name is read but to compare it, or to put something into what it holds."""
    for use in function.users[load]:
        taking = function.ops[use.op]
        grows = taking[0] == op.ATTR and function.code.strings[taking[2]] in GROWS
        if taking[0] != op.COMPARE and not grows:
            return True
    return False


def is_left_at_once(function: Function, loop: int) -> bool:
    """Whether a loop never comes to its second turn."""
    body = range(loop + 1, function.flow.parts[loop][1])
    return any(function.ops[at][0] in (op.RETURN, op.BREAK) and function.flow.blocks[at] == loop for at in body)


def is_sorted(function: Function, value: int, meaning: Meaning) -> bool:
    """Whether a value is sorted: where it stands, or for who asks."""
    for use in function.users[value]:
        taking = function.ops[use.op]
        if taking[0] == op.ATTR and _sorts(function, use.op, function.code.strings[taking[2]]):
            return True
        if taking[0] == op.CALL and use.place == 3 and meaning.name(function, taking[1]) in SORTS:
            return True
    return False


def _sorts(function: Function, method: int, word: str) -> bool:
    """Whether a method sorts a list, or the rows of a table, for all who ask or for who goes on with what it gives."""
    if word != "sort_values":
        return word == "sort" and bool(function.users[method])
    for call in (use.op for use in function.users[method] if function.ops[use.op][0] == op.CALL):
        in_place = function.call(call).named.get("inplace", -1)
        if function.users[call] or (in_place >= 0 and function.constant(in_place) is True):
            return True
    return False


def is_alone(function: Function, load: int) -> bool:
    """Whether what a name holds has one item at most where it is read, which is in order however it came: `assert len(files) == 1`."""
    if function.ops[load][0] != op.LOAD:
        return False
    return any(_has_one(function, guard.test, guard.holds, function.ops[load][1]) for guard in function.guards(load))


_ONE: Final = {True: (("==", 1), ("<=", 1), ("<", 2)), False: (("!=", 1), (">", 1), (">=", 2))}


def _has_one(function: Function, test: int, holds: bool, slot: int) -> bool:
    """Whether a variable has one item at most if a test holds, or if it fails."""
    operation, strings = function.ops[test], function.code.strings
    if operation[0] == op.CHOICE and strings[operation[1]] == ("and" if holds else "or"):
        return any(_has_one(function, part, holds, slot) for part in operation[2:])
    if operation[0] != op.COMPARE or (strings[operation[2]], function.constant(operation[3])) not in _ONE[holds]:
        return False
    asked = function.ops[operation[1]]
    counts = asked[0] == op.CALL and asked[2] == 1 and function.is_builtin(asked[1], "len")
    return counts and function.ops[asked[3]] == (op.LOAD, slot)


def is_only_shown(function: Function, value: int, meaning: Meaning) -> bool:
    """Whether a value is only shown to people: printed, logged, told by an error."""
    uses = function.users[value]
    for use in uses:
        taking = function.ops[use.op]
        if taking[0] in (op.FORMAT, op.TEXT):
            if not is_only_shown(function, use.op, meaning):
                return False
            continue
        if taking[0] != op.CALL or use.place == 1:
            return False
        word = function.called(use.op)
        if not _only_shows(word):
            return False
    return bool(uses)


def _only_shows(word: str) -> bool:
    """Whether what is called shows to people what it gets, by its last name: it prints, logs, or makes an error."""
    return word in LEVELS or word == "print" or word.endswith(ERRORS)


def is_turn(function: Function, key: int) -> bool:
    """Whether a position is what a loop counts with: `for i in range(n)`."""
    stored = function.stored(key) if function.ops[key][0] == op.LOAD else None
    loops = [function.ops[value] for value in stored or ()]
    return bool(loops) and all(
        loop[0] == op.FOR
        and function.ops[loop[1]][0] == op.CALL
        and function.is_builtin(function.ops[loop[1]][1], "range")
        for loop in loops
    )


def only_numbers(function: Function, loop: int) -> bool:
    """Whether a loop takes no more than the numbers of what it goes through: `for i, _ in enumerate(os.listdir(folder))`."""
    parts = [(use.op, function.ops[use.op]) for use in function.users[loop]]
    items = [at for at, part in parts if part[0] == op.PART and part[2:] == (1, 2)]
    stores = [use.op for at in items for use in function.users[at] if function.ops[use.op][0] == op.STORE]
    return bool(stores) and len(parts) == 2 and not any(function.loads.get(store) for store in stores)


def is_split(function: Function, loop: int) -> bool:
    """Whether how many came before an item says what is done with it: `for i, file in enumerate(files): if i < n: copy(file)`."""
    read: dict[int, list[int]] = {0: [], 1: []}
    for use in function.users[loop]:
        part = function.ops[use.op]
        if part[0] == op.PART and part[2] in read and part[3] == 2:
            stores = [more.op for more in function.users[use.op] if function.ops[more.op][0] == op.STORE]
            read[part[2]] += [load for store in stores for load in function.loads.get(store, ())]
    tests = {use.op for load in read[0] for use in function.users[load] if _is_limit(function, use.op)}
    calls = (at for at in ops_of(function, loop) if function.ops[at][0] == op.CALL) if tests else ()
    return any(
        not tests.isdisjoint(test for test, _ in function.held(call))
        and not _only_shows(function.called(call))
        and not {*function.within(call)}.isdisjoint(read[1])
        for call in calls
    )


def _is_limit(function: Function, test: int) -> bool:
    """Whether a value tells whether another one is large enough, or too large."""
    return function.ops[test][0] == op.COMPARE and function.code.strings[function.ops[test][2]] in _LIMITS


def is_keyed(function: Function, loop: int, mark: int) -> bool:
    """Whether a table is made by the names of what it is made of, and not of their numbers: `{name: load(name) for name in names}`."""
    gives = [operation for at, operation in function.each(op.GIVE) if mark in [*function.blocks(at)]]
    through = function.ops[function.ops[loop][1]]
    if through[0] == op.CALL and function.is_builtin(through[1], "enumerate", "zip"):
        return False
    return any(is_of_turn(function, part, loop) for give in gives for part in function.within(give[1]))


def is_computed(function: Function, value: int, loop: int) -> bool:
    """Whether a value is more than an item that a loop has at hand, a part of it, or a text that names it: it is computed of that."""
    waiting, seen = [value], set[int]()
    while waiting:
        at = waiting.pop()
        operation = function.ops[at]
        code = operation[0]
        if at in seen or at == loop:
            continue
        seen.add(at)
        if code == op.LOAD:
            stores = (found for found in function.flow.reaching.get(at, ()) if found > loop)
            waiting += [function.ops[found][2] for found in stores if function.ops[found][0] == op.STORE]
        elif code == op.CALL:
            if function.called(at) not in _TEXTS:
                return True
            waiting += [*function.call(at).positional, *(of for of in (function.called_on(at),) if of >= 0)]
        elif code in (op.COMPARE, op.LIST, op.COLLECT, op.AUGMENT, op.AWAIT):
            return True
        elif code == op.BINARY:
            if function.code.strings[operation[1]] not in ("+", "/"):
                return True
            waiting += operation[2:]
        elif code in (op.TEXT, op.TUPLE):
            waiting += operation[1:]
        elif code in (op.ATTR, op.FORMAT, op.ITEM, op.PART, op.STAR):
            waiting.append(operation[1])
        elif code == op.CHOICE:
            waiting += [arm for arm in operation[2:] if arm >= 0]
    return False


def is_named(meaning: Meaning, function: Function, base: int) -> bool:
    """Whether what a method is called on has a full name: a module, a class."""
    return isinstance(meaning.value(function, base), Ref)
