"""What is in a set, one by one, by what makes it: the order of numbers is the same in every run, that of texts isn't.

What it may assume: functions and methods that are called as those of the standard library and of arrays are these; what surely holds
numbers holds nothing else. What a name holds is all that its function binds it to; a parameter, and what a function of the file gives,
is what it is annotated with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, Literal
from weakref import WeakKeyDictionary

from detlint.ir import ops as op
from detlint.ir.alone import in_ir
from detlint.ir.code import Function
from detlint.ir.records import ASYNC, GENERATOR
from detlint.ir.uses import Op

Elements = Literal["", "str", "int", "int?", "-"]
"""Unknown; texts, or what holds texts; numbers; a part of an array, or numbers beside what isn't known; nothing yet."""

_TEXT_FUNCTIONS: Final = frozenset({"str", "repr", "chr", "basename", "dirname", "sub"})
_NUMBER_FUNCTIONS: Final = frozenset({"int", "float", "bool", "len", "ord", "round", "sum", "item", "argmax", "ndim"})
_TEXT_METHODS: Final = frozenset({
    "capitalize", "casefold", "decode", "format", "group", "hexdigest", "join", "lower", "lstrip", "removeprefix", "removesuffix",
    "replace", "rstrip", "strip", "title", "upper",
})  # fmt: skip
LISTS_OF_TEXTS: Final = frozenset({"split", "rsplit", "splitlines", "listdir", "glob", "findall"})
_LISTS_OF_NUMBERS: Final = frozenset({"range", "arange", "argsort", "randint", "randperm", "permutation"})
_SAME_ITEMS: Final = frozenset({
    "list", "tuple", "set", "frozenset", "sorted", "reversed", "iter", "chain", "from_iterable", "tolist",
})  # fmt: skip
_TEXT_ATTRIBUTES: Final = frozenset({"name", "__name__", "stem", "suffix", "text"})
_ARITHMETIC: Final = frozenset({"-", "*", "/", "//", "%", "**"})
_OF_SETS: Final = frozenset({"|", "&", "-", "^"})
TEXT_TYPES: Final = frozenset({"str", "bytes", "Path"})
NUMBER_TYPES: Final = frozenset({"int", "float", "bool"})
_HOLD: Final = frozenset({
    "AbstractSet", "Collection", "Dict", "FrozenSet", "Generator", "Iterable", "Iterator", "KeysView", "List", "Mapping", "MutableMapping",
    "MutableSequence", "MutableSet", "Sequence", "Set", "Tuple", "deque", "dict", "frozenset", "list", "set", "tuple",
})  # fmt: skip
"""The types that are followed by what they hold, or go through, first."""
_LONGEST: Final = 200
"""Longer annotations in quotes aren't read."""
_DEEPEST: Final = 8
"""So many names may stand for one another."""

_KNOWN: WeakKeyDictionary[Function, dict[tuple[int, bool, int], Elements]] = WeakKeyDictionary()
"""What names hold, as asked for once: those that are put together of one another have more ways to be asked for than anyone waits for."""


def joined(kinds: Iterable[Elements]) -> Elements:
    """What is in several sets together: what surely holds numbers is taken to hold nothing else."""
    found = set(kinds) - {"-"}
    if not found:
        return "-"
    if "str" in found:
        return "str"
    return "int" if found == {"int"} else "" if found == {""} else "int?"


def of_tuple(kinds: Iterable[Elements]) -> Elements:
    """What a tuple counts as whose items are known: its hash is made of all of theirs."""
    found = {*kinds}
    return "str" if "str" in found else "" if "" in found or not found else joined(found)


def comprehended(function: Function, at: int, depth: int = 0) -> Elements:
    """What a comprehension gives, one by one.

    Args:
        at: its `COLLECT`.
    """
    return element(function, given(function, at), depth)


def given(function: Function, at: int) -> int:
    """What a comprehension gives in each turn, by its `COLLECT`."""
    ops = function.ops
    return next(ops[part][1] for part in range(at, -1, -1) if ops[part][0] == op.GIVE)


def items(function: Function, at: int, depth: int = 0) -> Elements:
    operation = function.ops[at]
    code = operation[0]
    if code == op.LOAD:
        return _stored(function, at, items, depth)
    if code == op.COLLECT:
        return comprehended(function, at, depth) if function.strings[operation[1]] != "dict" else ""
    if code == op.AWAIT:
        return items(function, operation[1], depth)
    if code in (op.LIST, op.TUPLE):
        return joined(element(function, item, depth) for item in operation[1:]) if operation[1:] else ""
    if code == op.CONST:
        return "str" if isinstance(function.constant(at), str) else ""
    if code == op.CALL:
        name, given = function.called(at), function.call(at).positional
        own = _definition(function, operation[1])
        if own is not None:
            return _told(own, own.header.returns, whole=True)
        if name in _SAME_ITEMS:
            inside = [*given, *(of for of in (function.called_on(at),) if of >= 0)]
            return items(function, inside[0], depth) if inside else ""
        if name == "map" and given:
            return _given_by(_last(function, given[0]))
        return "str" if name in LISTS_OF_TEXTS else "int" if name in _LISTS_OF_NUMBERS else ""
    if code == op.BINARY:
        return joined((items(function, operation[2], depth), items(function, operation[3], depth)))
    return "int?" if code == op.ITEM and _is_column(function, at) else ""


def _stored(function: Function, at: int, of: Callable[[Function, int, int], Elements], depth: int) -> Elements:
    """What a name holds, by all that it is bound to in its function; unknown where that may be something else."""
    known, key = _KNOWN.setdefault(function, {}), (at, of is items, depth)
    if key not in known:
        stored = function.stored(at) if depth < _DEEPEST else None
        known[key] = (
            joined(of(function, value, depth + 1) for value in stored) if stored else _handed(function, at, of is items)
        )
    return known[key]


def _handed(function: Function, at: int, whole: bool) -> Elements:
    """What a parameter is annotated with; unknown for any other name."""
    given = function.given(at)
    return _told(given[0], given[0].header.parameters[given[1]].annotation, whole) if given is not None else ""


def _told(function: Function, annotation: int, whole: bool) -> Elements:
    """What an annotation of a function says.

    Args:
        whole: whether it is asked for what is in something, of which this is the type, and not for one element's type.
    """
    around = function.parent
    if around is None or annotation < 0:
        return ""
    text = around.constant(annotation)
    written = in_ir(text) if isinstance(text, str) and len(text) <= _LONGEST else None
    around, annotation = written or (around, annotation)
    operation = around.ops[annotation]
    if operation[0] == op.ITEM and _last(around, operation[1]) in _HOLD:
        inner = around.ops[operation[2]]
        of = inner[1] if inner[0] == op.TUPLE and len(inner) > 1 else operation[2]
        kind = _of_type(around, of)
        return kind if whole or kind == "str" else ""
    return "" if whole else _of_type(around, annotation)


def _of_type(function: Function, at: int) -> Elements:
    return typed(_last(function, at))


def typed(name: str) -> Elements:
    """What a type is of which an annotation says the last word."""
    return "str" if name in TEXT_TYPES else "int" if name in NUMBER_TYPES else ""


def _definition(function: Function, callee: int) -> Function | None:
    """The function of the file that a call surely calls, with an annotation of what it gives."""
    found = function.definition_of(callee)
    return found if found is not None and not found.is_class and found.header.returns >= 0 else None


def _is_column(function: Function, at: int) -> bool:
    """Whether a part of an array is taken, `data[:, 3]`: numbers, unless it was a table before (`frame.iloc[:, 0]`)."""
    _, of, index = function.ops[at]
    sides = function.ops[index][1:] if function.ops[index][0] == op.TUPLE else ()
    taken = [function.ops[side][0] == op.SLICE or type(function.constant(side)) is int for side in sides]
    return bool(taken) and all(taken) and function.ops[of][0] == op.LOAD


def element(function: Function, at: int, depth: int = 0) -> Elements:
    """What an expression is that an element is made by."""
    operation = function.ops[at]
    code = operation[0]
    if code == op.LOAD:
        return _stored(function, at, element, depth)
    if code == op.FOR:
        return items(function, operation[1], depth)
    if code == op.PART:
        return _part(function, operation, depth)
    if code == op.CONST:
        value = function.constant(at)
        return "str" if isinstance(value, (str, bytes)) else "" if value is None else "int"
    if code == op.TEXT:
        return "str"
    if code == op.TUPLE:
        return of_tuple(element(function, item, depth) for item in operation[1:])
    if code == op.AWAIT:
        return element(function, operation[1], depth)
    if code == op.CALL:
        name, own = function.called(at), _definition(function, operation[1])
        if own is not None:
            return _told(own, own.header.returns, whole=False)
        return "str" if function.called_on(at) >= 0 and name in _TEXT_METHODS else _given_by(name)
    if code in (op.BINARY, op.AUGMENT):
        left, right = element(function, operation[2], depth), element(function, operation[3], depth)
        if "str" in (left, right):
            return "str"
        # `+` may put others together, too.
        by_one = "int" in (left, right) and function.strings[operation[1]] in _ARITHMETIC
        return "int" if by_one or left == right == "int" else ""
    if code == op.COMPARE:
        return "int"
    if code == op.UNARY:
        return "int" if function.strings[operation[1]] == "not" else element(function, operation[2], depth)
    if code == op.ITEM:
        return items(function, operation[1], depth)
    return "str" if code == op.ATTR and _last(function, at) in _TEXT_ATTRIBUTES else ""


def _part(function: Function, part: Op, depth: int) -> Elements:
    """What one of several is that an element is taken apart into: `for number, name in enumerate(names)`."""
    made = function.ops[part[1]]
    if made[0] == op.TUPLE and 0 <= part[2] < len(made) - 1:
        return element(function, made[1 + part[2]], depth)
    source = function.ops[made[1]] if made[0] == op.FOR else made
    called, given = (
        (function.called(made[1]), function.call(made[1]).positional)
        if source[0] == op.CALL and made[0] == op.FOR
        else ("", ())
    )
    if called == "enumerate" and given:
        return items(function, given[0], depth) if part[2] else "int"
    return items(function, given[part[2]], depth) if called == "zip" and 0 <= part[2] < len(given) else ""


def _given_by(function: str) -> Elements:
    """What a function gives, by its name."""
    return "str" if function in _TEXT_FUNCTIONS else "int" if function in _NUMBER_FUNCTIONS else ""


def _last(function: Function, at: int) -> str:
    operation = function.ops[at]
    if operation[0] == op.LOAD:
        return function.text(operation[1])
    return function.strings[operation[2]] if operation[0] == op.ATTR else ""


def given_back(function: Function) -> Elements | None:
    """What is in the set that a function gives back; None where it may give something else."""
    if function.is_class or function.decorators or function.header.kind & (ASYNC | GENERATOR):
        return None
    kinds = [_in_set(function, operation[1]) for _, operation in function.each(op.RETURN)]
    return joined(kind for kind in kinds if kind is not None) if kinds and None not in kinds else None


def _in_set(function: Function, at: int, depth: int = 0) -> Elements | None:
    """What is in a set, by how it is made and grows in its function; None for what isn't surely one."""
    if at < 0 or depth > _DEEPEST:
        return None
    operation = function.ops[at]
    code = operation[0]
    if code == op.SET:
        return joined(element(function, item) for item in operation[1:])
    if code == op.COLLECT:
        return comprehended(function, at) if function.strings[operation[1]] == "set" else None
    if code == op.CALL and function.is_builtin(operation[1], "set", "frozenset"):
        given = function.call(at).positional
        return items(function, given[0]) if given else "-"
    if code == op.BINARY and function.strings[operation[1]] in _OF_SETS:
        kinds = [_in_set(function, side, depth + 1) for side in operation[2:]]
    elif code == op.LOAD and (stored := function.stored(at)):
        kinds = [_in_set(function, value, depth + 1) for value in stored]
        kinds += _put_into(function, operation[1]) if None not in kinds else ()
    else:
        return None
    return joined(kind for kind in kinds if kind is not None) if None not in kinds else None


def _put_into(function: Function, slot: int) -> list[Elements]:
    """What is put into the set that a variable holds: `names.add(x)`, `names.update(xs)`."""
    found = list[Elements]()
    for call, _ in function.each(op.CALL):
        base, of = function.called_on(call), _GROWS.get(function.called(call))
        if of is not None and base >= 0 and function.ops[base][:2] == (op.LOAD, slot):
            found += [of(function, given) for given in function.call(call).positional]
    return found


_GROWS: Final[dict[str, Callable[[Function, int], Elements]]] = {"add": element, "update": items}
