"""Which values are sets, and what is in them: the order of a set of numbers is the same in every run, that of texts isn't.

A set is `Instance("builtins.set")`; what is known of its elements stands behind the name: `builtins.set[str]`.
"""

from __future__ import annotations

from typing import Final

from detlint.ir import ops as op
from detlint.ir.code import Function
from detlint.model import elements
from detlint.model.elements import LISTS_OF_TEXTS, Elements, element, items, joined, of_tuple
from detlint.model.sites.records import OPERATED, Const, Either, Instance, Items, Member, Ref, Result, Value

SET: Final = "builtins.set"
SETS: Final[dict[Elements, Instance]] = {
    kind: Instance(f"{SET}[{kind}]" if kind else SET) for kind in ("", "str", "int", "int?", "-")
}
KINDS: Final[dict[str, Elements]] = {made.of: kind for kind, made in SETS.items()}
MAKES_SET: Final = frozenset({"builtins.set", "builtins.frozenset"})
# Methods and operators that give a set when they are asked of one.
GIVES_SET: Final = frozenset({OPERATED, "union", "intersection", "difference", "symmetric_difference", "copy"})
SET_TYPES: Final = frozenset({"set", "Set", "frozenset", "FrozenSet", "AbstractSet", "MutableSet"})

_TYPES: Final[dict[str, Elements]] = {"builtins.str": "str", "builtins.int": "int", "builtins.float": "int"}
_RANGE: Final = Instance("builtins.range")


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


def items_of(function: Function, at: int, value: Value | None) -> Elements:
    """What is in an iterable, by what is known of it, else by what makes it."""
    if type(value) is Items and value.values:
        return joined(map(_of_value, value.values))
    if _gives_texts(value):
        return "str"
    return elements_of(value) or items(function, at)


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
        return of_tuple(map(_of_value, value.values))  # type: ignore[union-attr]
    return ""


def _gives_texts(value: Value | None) -> bool:
    """Whether something is what `text.split()` gave, or the like."""
    of = value.of if type(value) is Result else None
    last = of.attr if type(of) is Member else of.name.rpartition(".")[2] if type(of) is Ref else ""
    return last in LISTS_OF_TEXTS


def annotated(name: str, inner: str) -> str:
    """The class that `Set[str]` names, given its two words; "" where that is no set."""
    if name not in SET_TYPES:
        return ""
    return SETS[elements.typed(inner)].of


def given_back(function: Function) -> Elements | None:
    """What is in the set that a function gives, by what it is annotated with, else by all that it returns; None for what isn't surely
    one."""
    told, around = function.header.returns, function.parent
    found = elements.given_back(function)
    if found or told < 0 or around is None or function.decorators:
        return found
    operation = around.ops[told]
    head, inner = operation[1:3] if operation[0] == op.ITEM else (told, told)
    name = around.dotted(head).rpartition(".")[2]
    return KINDS[annotated(name, around.dotted(inner).rpartition(".")[2])] if name in SET_TYPES else found
