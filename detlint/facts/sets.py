"""Which values are sets, and what is in them: the order of a set of numbers is the same in every run, that of texts isn't.

A set is `Instance("builtins.set")`; what is known of its elements stands behind the name: `builtins.set[str]`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from typing import Final, Literal

from detlint.facts.model import OPERATED, Const, Either, Instance, Items, Member, Ref, Result, Value

Elements = Literal["", "str", "int", "int?", "-"]
"""Unknown; texts, or what holds texts; numbers; numbers by the look of a name; nothing yet."""

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
_ARITHMETIC: Final = (ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow)
# What programs call numbers; `image_ids` may be texts all the same.
_NUMBERS: Final = re.compile(
    r"(?:^|_)(?:[ijkn]|ids?|idxs?|inds?|index|indexes|indices|ints?|nums?|numbers?|counts?|sizes?|len|lens|lengths?|steps?|timesteps?"
    r"|epochs?|dims?|ax[ei]s|years?|ranks?|offsets?|pos|positions?|shapes?|rows?|cols?|levels?|bits|seeds?|ports?|pids?)$", re.I
)  # fmt: skip


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


def items_of(node: ast.expr, value: Value | None) -> Elements:
    """What is in an iterable, by what is known of it, else by how it is written."""
    if type(value) is Items and value.values:
        return joined(map(_of_value, value.values))
    if _gives_texts(value):
        return "str"
    return elements_of(value) or _items(node)


def element_of(node: ast.expr, value: Value | None) -> Elements:
    """What one element is, by what is known of it, else by how it is written."""
    return _of_value(value) or element(node)


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


def comprehended(node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Elements:
    """What a comprehension gives, one by one."""
    if isinstance(node.elt, ast.Name):
        for generator in node.generators:
            if isinstance(generator.target, ast.Name) and generator.target.id == node.elt.id:
                return _items(generator.iter)
    return element(node.elt)


def _items(node: ast.expr) -> Elements:
    if isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.SetComp)):
        return comprehended(node)
    if isinstance(node, ast.Constant):
        return "str" if isinstance(node.value, str) else ""
    if isinstance(node, ast.Call):
        name = _last(node.func)
        if name in _SAME_ITEMS:
            inside = [*node.args, node.func.value] if isinstance(node.func, ast.Attribute) else node.args
            return _items(inside[0]) if inside else ""
        if name == "map" and node.args:
            return _given_by(_last(node.args[0]))
        return "str" if name in _LISTS_OF_TEXTS else "int" if name in _LISTS_OF_NUMBERS else ""
    if isinstance(node, ast.BinOp):
        return joined((_items(node.left), _items(node.right)))
    if isinstance(node, ast.Subscript) and _is_column(node):
        return "int?"
    return by_name(_last(node))


def _is_column(node: ast.Subscript) -> bool:
    """Whether a part of an array is taken, `data[:, 3]`: numbers, unless it was a table before (`frame.iloc[:, 0]`)."""
    sides = node.slice.elts if isinstance(node.slice, ast.Tuple) else []
    taken = [type(side) is ast.Slice or (type(side) is ast.Constant and type(side.value) is int) for side in sides]
    return bool(taken) and all(taken) and isinstance(node.value, ast.Name)


def element(node: ast.expr) -> Elements:
    """What an expression is that an element is made by."""
    if isinstance(node, ast.Constant):
        return "str" if isinstance(node.value, (str, bytes)) else "" if node.value is None else "int"
    if isinstance(node, ast.JoinedStr):
        return "str"
    if isinstance(node, ast.Tuple):
        return joined(map(element, node.elts)) if node.elts else ""
    if isinstance(node, ast.Call):
        name = _last(node.func)
        return "str" if isinstance(node.func, ast.Attribute) and name in _TEXT_METHODS else _given_by(name)
    if isinstance(node, ast.BinOp):
        left, right = element(node.left), element(node.right)
        if "str" in (left, right):
            return "str"
        return "int" if "int" in (left, right) and isinstance(node.op, _ARITHMETIC) else ""
    if isinstance(node, ast.UnaryOp):
        return element(node.operand)
    if isinstance(node, ast.Subscript):
        return _items(node.value)
    name = _last(node)
    return "str" if name in _TEXT_ATTRIBUTES and isinstance(node, ast.Attribute) else by_name(name)


def _given_by(function: str) -> Elements:
    """What a function gives, by its name."""
    return "str" if function in _TEXT_FUNCTIONS else "int" if function in _NUMBER_FUNCTIONS else ""


def by_name(name: str) -> Elements:
    """What a name that is otherwise unknown looks like."""
    return "int?" if _NUMBERS.search(name) else ""


def annotated(name: str, inner: str) -> str:
    """The class that `Set[str]` names, given its two words; "" where that is no set."""
    if name not in SET_TYPES:
        return ""
    kind: Elements = "str" if inner in TEXT_TYPES else "int" if inner in NUMBER_TYPES else ""
    return SETS[kind].of


def _last(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else ""
