"""Which values are sets, and what is in them: the order of a set of numbers is the same in every run, that of texts isn't.

A set is `Instance("builtins.set")`; what is known of its elements stands behind the name: `builtins.set[str]`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal

from detlint.facts.model import OPERATED, Const, Either, Instance, Items, Member, Ref, Result, Value
from detlint.ir import ops as op
from detlint.ir.code import Function

Elements = Literal["", "str", "int", "int?", "-"]
"""Unknown; texts, or what holds texts; numbers; numbers, as a rule; nothing yet."""

SET: Final = "builtins.set"
SETS: Final[dict[Elements, Instance]] = {
    kind: Instance(f"{SET}[{kind}]" if kind else SET) for kind in ("", "str", "int", "int?", "-")
}
KINDS: Final[dict[str, Elements]] = {made.of: kind for kind, made in SETS.items()}
MAKES_SET: Final = frozenset({"builtins.set", "builtins.frozenset"})
# Methods and operators that give a set when they are asked of one.
GIVES_SET: Final = frozenset({OPERATED, "union", "intersection", "difference", "symmetric_difference", "copy"})
SET_TYPES: Final = frozenset({"set", "Set", "frozenset", "FrozenSet", "AbstractSet", "MutableSet"})
TEXT_TYPES: Final = frozenset({"str", "bytes", "Path"})
NUMBER_TYPES: Final = frozenset({"int", "float", "bool"})

_TYPES: Final[dict[str, Elements]] = {"builtins.str": "str", "builtins.int": "int", "builtins.float": "int"}
_RANGE: Final = Instance("builtins.range")
_TEXT_FUNCTIONS: Final = frozenset({"str", "repr", "chr", "basename", "dirname", "sub"})
_NUMBER_FUNCTIONS: Final = frozenset({"int", "float", "bool", "len", "ord", "round", "sum", "item", "argmax", "ndim"})
_TEXT_METHODS: Final = frozenset({
    "capitalize", "casefold", "decode", "format", "group", "hexdigest", "join", "lower", "lstrip", "removeprefix", "removesuffix",
    "replace", "rstrip", "strip", "title", "upper",
})  # fmt: skip
_LISTS_OF_TEXTS: Final = frozenset({"split", "rsplit", "splitlines", "listdir", "glob", "findall"})
_LISTS_OF_NUMBERS: Final = frozenset({"range", "arange", "argsort", "randint", "randperm", "permutation"})
_SAME_ITEMS: Final = frozenset({"list", "tuple", "set", "frozenset", "sorted", "reversed", "iter", "chain", "tolist"})
_TEXT_ATTRIBUTES: Final = frozenset({"name", "__name__", "stem", "suffix", "text"})
_ARITHMETIC: Final = frozenset({"-", "*", "/", "//", "%", "**"})


def elements_of(value: Value | None) -> Elements | None:
    """What is in a set; None for what isn't surely one."""
    kind = type(value)
    if kind is Instance:
        return KINDS.get(value.of)  # type: ignore[union-attr, arg-type]
    if kind is Items:
        return joined(map(_of_value, value.values)) if value.kind == "set" else None  # type: ignore[union-attr]
    if kind is Result:
        of = value.of  # type: ignore[union-attr]
        return elements_of(of.base) if type(of) is Member and of.attr in GIVES_SET else None
    if kind is Either:
        kinds = [elements_of(option) for option in value.options]  # type: ignore[union-attr]
        return None if None in kinds else joined(found for found in kinds if found is not None)
    return None


def joined(kinds: Iterable[Elements]) -> Elements:
    """What is in several sets together."""
    found = set(kinds) - {"-"}
    if not found:
        return "-"
    if "str" in found:
        return "str"
    if "" in found:
        return ""
    return "int" if found == {"int"} else "int?"


def items_of(function: Function, at: int, value: Value | None) -> Elements:
    """What is in an iterable, by what is known of it, else by what makes it."""
    if type(value) is Items and value.values:
        return joined(map(_of_value, value.values))
    if _gives_texts(value):
        return "str"
    return elements_of(value) or _items(function, at)


def element_of(function: Function, at: int, value: Value | None) -> Elements:
    """What one element is, by what is known of it, else by what makes it."""
    return _of_value(value) or element(function, at)


def _of_value(value: Value | None) -> Elements:
    kind = type(value)
    if kind is Const:
        return "str" if isinstance(value.value, str) else "" if value.value is None else "int"  # type: ignore[union-attr]
    if kind is Instance:
        return _TYPES.get(value.of, "")  # type: ignore[union-attr, arg-type]
    if kind is Member:
        if value.attr != "[*]":  # type: ignore[union-attr]
            return ""
        return "int" if value.base == _RANGE else "str" if _gives_texts(value.base) else ""  # type: ignore[union-attr]
    if kind is Items:
        return joined(map(_of_value, value.values)) if value.values else ""  # type: ignore[union-attr]
    return ""


def _gives_texts(value: Value | None) -> bool:
    """Whether something is what `text.split()` gave, or the like."""
    of = value.of if type(value) is Result else None
    last = of.attr if type(of) is Member else of.name.rpartition(".")[2] if type(of) is Ref else ""
    return last in _LISTS_OF_TEXTS


def comprehended(function: Function, at: int) -> Elements:
    """What a comprehension gives, one by one.

    Args:
        at: its `COLLECT`.
    """
    ops = function.ops
    given = next(ops[part][1] for part in range(at, -1, -1) if ops[part][0] == op.GIVE)
    if ops[given][0] == op.LOAD:
        for part in range(ops[at][2], at):
            made = ops[part]
            if made[0] == op.STORE and made[1] == ops[given][1] and ops[made[2]][0] == op.FOR:
                return _items(function, ops[made[2]][1])
    return element(function, given)


def _items(function: Function, at: int) -> Elements:
    operation = function.ops[at]
    code = operation[0]
    if code == op.COLLECT:
        return comprehended(function, at) if function.strings[operation[1]] != "dict" else ""
    if code == op.CONST:
        return "str" if isinstance(function.constant(at), str) else ""
    if code == op.CALL:
        name, given = function.called(at), function.call(at).positional
        if name in _SAME_ITEMS:
            inside = [*given, *(of for of in (function.called_on(at),) if of >= 0)]
            return _items(function, inside[0]) if inside else ""
        if name == "map" and given:
            return _given_by(_last(function, given[0]))
        return "str" if name in _LISTS_OF_TEXTS else "int" if name in _LISTS_OF_NUMBERS else ""
    if code == op.BINARY:
        return joined((_items(function, operation[2]), _items(function, operation[3])))
    return "int?" if code == op.ITEM and _is_column(function, at) else ""


def _is_column(function: Function, at: int) -> bool:
    """Whether a part of an array is taken, `data[:, 3]`: numbers, unless it was a table before (`frame.iloc[:, 0]`)."""
    _, of, index = function.ops[at]
    sides = function.ops[index][1:] if function.ops[index][0] == op.TUPLE else ()
    taken = [function.ops[side][0] == op.SLICE or type(function.constant(side)) is int for side in sides]
    return bool(taken) and all(taken) and function.ops[of][0] == op.LOAD


def element(function: Function, at: int) -> Elements:
    """What an expression is that an element is made by."""
    operation = function.ops[at]
    code = operation[0]
    if code == op.CONST:
        value = function.constant(at)
        return "str" if isinstance(value, (str, bytes)) else "" if value is None else "int"
    if code == op.TEXT:
        return "str"
    if code == op.TUPLE:
        return joined(element(function, item) for item in operation[1:]) if operation[1:] else ""
    if code == op.CALL:
        name = function.called(at)
        return "str" if function.called_on(at) >= 0 and name in _TEXT_METHODS else _given_by(name)
    if code == op.BINARY:
        left, right = element(function, operation[2]), element(function, operation[3])
        if "str" in (left, right):
            return "str"
        return "int" if "int" in (left, right) and function.strings[operation[1]] in _ARITHMETIC else ""
    if code == op.COMPARE:
        return "int"
    if code == op.UNARY:
        return "int" if function.strings[operation[1]] == "not" else element(function, operation[2])
    if code == op.ITEM:
        return _items(function, operation[1])
    return "str" if code == op.ATTR and _last(function, at) in _TEXT_ATTRIBUTES else ""


def _given_by(function: str) -> Elements:
    """What a function gives, by its name."""
    return "str" if function in _TEXT_FUNCTIONS else "int" if function in _NUMBER_FUNCTIONS else ""


def annotated(name: str, inner: str) -> str:
    """The class that `Set[str]` names, given its two words; "" where that is no set."""
    if name not in SET_TYPES:
        return ""
    kind: Elements = "str" if inner in TEXT_TYPES else "int" if inner in NUMBER_TYPES else ""
    return SETS[kind].of


def _last(function: Function, at: int) -> str:
    operation = function.ops[at]
    if operation[0] == op.LOAD:
        return function.text(operation[1])
    return function.strings[operation[2]] if operation[0] == op.ATTR else ""
