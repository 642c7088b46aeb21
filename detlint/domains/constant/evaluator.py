"""Constants: what an expression comes to, as far as that is known, and whether a test holds.

The abstract value is a set of known values: `Const`; a `Ref`, such as the member of an enumeration; `Items` and `Mapping` of
such; `Either`, for several, with None among them where it may be anything else; None alone, where nothing is known. What a
name, an attribute, an item, or what a call gives, is asked of a *leaf*: parameters have defaults, calls give them something,
settings have keys. Everything else is worked out here, as Python does it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from itertools import product
from typing import Any, Final, NamedTuple

from detlint.ir import ops as op
from detlint.ir.alone import in_ir
from detlint.ir.code import UNKNOWN, Code, Function
from detlint.ir.tests import comparison, denied
from detlint.model.sites.reading.values import constant
from detlint.model.sites.records import Const, Either, Expression, Items, Mapping, Param, Ref, Value, options

_READS: Final = frozenset({"copy", "count", "get", "index", "items", "keys", "values"})
"""Methods that leave lists and tables as they are."""
Leaf = Callable[[Function, int], Value | None]
"""What a name, an attribute, an item, or what a call gives, always is, or whether something is in what isn't written out (of a
`COMPARE` with `in`, or `not in`: whether it is in it); None where that isn't known."""
Scalar = bool | int | float | str | None
LONGEST: Final = 64
"""A list that is put together (`[0] * n`) is known up to so many items, a text up to so many times as long as the literal."""
MOST: Final = 8
"""So many values are told apart that something may be."""
COMPARISONS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "is": operator.is_, "is not": operator.is_not, "==": operator.eq, "!=": operator.ne, ">": operator.gt, ">=": operator.ge,
    "<": operator.lt, "<=": operator.le,
}  # fmt: skip
_COMPUTES: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv, "%": operator.mod,
    "&": operator.and_, "|": operator.or_, "^": operator.xor,
}  # fmt: skip
_CONVERTS: Final[dict[str, Callable[..., Any]]] = {
    "abs": abs, "bool": bool, "float": float, "int": int, "max": max, "min": min, "round": round, "str": str,
}  # fmt: skip
"""Functions of Python that give a number or text for some."""
_LEAVES: Final = frozenset({op.LOAD, op.ATTR, op.CALL, op.ITEM})
_WRITTEN_OUT: Final = frozenset({op.TUPLE, op.LIST, op.SET})


def literal(function: Function, at: int) -> Const | None:
    """The literal that a value is as it stands there; None for anything else."""
    value = function.constant(at)
    known = value is None or isinstance(value, bool | int | float | str)
    return Const(value) if value is not UNKNOWN and known else None  # type: ignore[arg-type]


class Evaluator(NamedTuple):
    """Evaluates expressions and tests, by what is known of what they ask for. What a name is that no leaf knows is what it surely was
    bound to."""

    leaf: Leaf
    literal: Leaf = literal
    """What a literal means."""

    def of(self, function: Function, at: int) -> bool | None:
        """Whether a test holds; None where that isn't known."""
        operation, strings = function.ops[at], function.code.strings
        if (inner := denied(function, at)) >= 0:
            holds = self.of(function, inner)
            return None if holds is None else not holds
        if operation[0] == op.CHOICE and strings[operation[1]] != "if":
            parts = {self.of(function, part) for part in operation[2:]}
            deciding = strings[operation[1]] == "or"
            return deciding if deciding in parts else None if None in parts else not deciding
        if operation[0] == op.COMPARE:
            return self._compared(function, at)
        value = self.value(function, at)
        if value is None and (meant := function.meant(at)) != at:
            return self.of(function, meant)
        return truth(value)

    def result(self, function: Function, at: int) -> Const | None:
        """The one literal that an expression comes to; None where that isn't known."""
        found = self.value(function, at)
        return found if isinstance(found, Const) else None

    def value(self, function: Function, at: int) -> Value | None:
        """What an expression comes to."""
        operation, strings = function.ops[at], function.code.strings
        code = operation[0]
        if code == op.CONST:
            return self.literal(function, at)
        if code in _LEAVES:
            return self._asked(function, at)
        if code == op.LIST or code == op.TUPLE:
            return self._items(function, at)
        if code == op.CHOICE:
            return self._chosen(function, at)
        if code == op.COLLECT:
            return self._collected(function, at)
        if code == op.FOR:
            return _item(self.value(function, operation[1]), None)
        if code == op.UNARY:
            return _each(strings[operation[1]], self.value(function, operation[2]))
        if code == op.BINARY:
            return computed(strings[operation[1]], *(self.value(function, side) for side in operation[2:]))
        if code == op.COMPARE:
            holds = self._compared(function, at)
            return Const(holds) if holds is not None else None
        return None

    def _asked(self, function: Function, at: int) -> Value | None:
        """What a name, an attribute, an item, or what a call gives, comes to."""
        operation = function.ops[at]
        if (found := self.leaf(function, at)) is not None:
            return found
        if (meant := function.meant(at)) != at:
            found = self.value(function, meant)
            return None if _is_bag(found) and may_grow(function.code, function.dotted(at)) else found
        if operation[0] == op.ATTR:
            base = self.value(function, operation[1])
            return Ref(f"{base.name}.{function.code.strings[operation[2]]}") if isinstance(base, Ref) else None
        if operation[0] == op.ITEM:
            base, several = self.value(function, operation[1]), function.ops[operation[2]][0] == op.SLICE
            return base if several and _is_bag(base) else _item(base, self.value(function, operation[2]))
        return self._called(function, at) if operation[0] == op.CALL else None

    def _called(self, function: Function, at: int) -> Value | None:
        """What a function of Python gives for numbers and texts."""
        call = function.call(at)
        name = function.dotted(call.callee)
        if function.called(at) == "item" and function.called_on(at) >= 0 and not call.positional:
            return self.value(function, function.called_on(at))
        if call.named or call.unpacked or not call.positional or not function.is_builtin(call.callee, name):
            return None
        given = [self.value(function, value) for value in call.positional]
        if name == "len":
            items = given[0]
            return Const(len(items.values)) if isinstance(items, Items) and items.kind != "set" else None
        if name in ("tuple", "list") and isinstance(given[0], Items) and not _is_bag(given[0]):
            return Items(given[0].values, "tuple" if name == "tuple" else "list")
        known = _CONVERTS.get(name)
        return _lifted(known, given) if known is not None else None

    def _items(self, function: Function, at: int) -> Value | None:
        """What a list or tuple holds; nothing is known where its length isn't."""
        code, *items = function.ops[at]
        if any(function.ops[item][0] == op.STAR for item in items):
            return None
        return Items(tuple(self.value(function, item) for item in items), "tuple" if code == op.TUPLE else "list")

    def _collected(self, function: Function, at: int) -> Value | None:
        """What is in a comprehension, of which nobody knows how often: `[x.item() for x in linspace(0, rate, n)]`."""
        given = [
            self.value(function, give[1]) for each, give in function.each(op.GIVE) if function.collected(each) == at
        ]
        return Items(tuple(given), "set") if given and None not in given else None

    def _chosen(self, function: Function, at: int) -> Value | None:
        """`a or b`: the first that is true, else the last. `a if c else b`."""
        _, word, first, other = function.ops[at]
        kind = function.code.strings[word]
        if kind == "if":
            holds = self.of(function, function.condition(at))
            arms = [self.value(function, arm) for arm in (first, other)]
            return any_of(arms) if holds is None else arms[0 if holds else 1]
        before = self.value(function, first)
        if (holds := truth(before)) is not None:
            return before if holds is (kind == "or") else self.value(function, other)
        if before is None:
            return None
        left = [option for option in options(before) if truth(option) is not (kind != "or")]
        return any_of([*left, self.value(function, other)])

    def _compared(self, function: Function, at: int) -> bool | None:
        found = comparison(function, at)
        left = self.value(function, found.left) if found is not None else None
        if found is None or left is None:
            return None
        if found.word in ("in", "not in"):
            among = self._among(function, at, found.right, left)
            return None if among is None else among is (found.word == "in")
        right = self.value(function, found.right)
        verdicts = {_compares(found.word, a, b) for a, b in product(options(left), options(right))}
        return verdicts.pop() if len(verdicts) == 1 else None

    def _among(self, function: Function, at: int, others: int, value: Value) -> bool | None:
        """Whether a value is one of those that are written out, or of those that are known otherwise; None where that isn't known."""
        if not isinstance(value, Const):
            return None
        written = function.ops[others]
        meant = function.ops[function.meant(others)]
        written = meant if meant[0] == op.TUPLE else written  # nobody changes that
        if written[0] not in _WRITTEN_OUT:
            known = self.leaf(function, at)
            return bool(known.value) if isinstance(known, Const) else None
        items = [self.result(function, item) for item in written[1:]]
        return value in items if value in items or None not in items else None


def truth(value: Value | None) -> bool | None:
    """Whether a value is true; None where that isn't known."""
    known = {bool(option.value) if isinstance(option, Const) else None for option in options(value)}
    return known.pop() if len(known) == 1 else None


def computed(word: str, left: Value | None, right: Value | None) -> Value | None:
    """What an operator gives: of numbers and texts, and of lists that are put together, `[a, b] + [c]`, `(a,) * 2`."""
    if isinstance(left, Items) or isinstance(right, Items):
        return _put_together(word, left, right)
    compute = _COMPUTES.get(word)
    return _lifted(compute, (left, right)) if compute is not None else None


def _each(word: str, value: Value | None) -> Value | None:
    """What an operator gives that has one side, for each of several values."""
    if word == "not":
        holds = truth(value)
        return Const(not holds) if holds is not None else None
    return _lifted(operator.neg, (value,)) if word == "-" else value if word == "+" else None


def _lifted(compute: Callable[..., Any], given: Iterable[Value | None]) -> Value | None:
    """What a function gives for each choice of the values which it may get."""
    ways = [*product(*map(options, given))]
    return any_of(_applied(compute, way) for way in ways) if len(ways) <= LONGEST else None


def _applied(compute: Callable[..., Any], given: Iterable[Value | None]) -> Value | None:
    values: list[Scalar] = []
    for one in given:
        if not isinstance(one, Const) or one.value is None:
            return None
        values.append(one.value)
    text = any(isinstance(value, str) for value in values)
    if text and compute not in _OF_TEXTS:
        return None  # `"%d" % n`, `"-" * n`
    try:
        return constant(compute(*values))
    except (ArithmeticError, TypeError, ValueError):
        return None


_OF_TEXTS: Final = frozenset({operator.add, *_CONVERTS.values()})


def _put_together(word: str, left: Value | None, right: Value | None) -> Value | None:
    """`[a, b] + [c]`, `(a,) * 2`, `2 * [a]`."""
    if isinstance(left, Items) and isinstance(right, Items):
        both = left.values + right.values
        return Items(both, left.kind) if word == "+" and left.kind == right.kind else None
    items, times = (left, right) if isinstance(left, Items) else (right, left)
    if not (word == "*" and isinstance(items, Items) and isinstance(times, Const)):
        return None
    count = times.value if isinstance(times.value, int) else -1
    return Items(items.values * count, items.kind) if 0 <= count * len(items.values) <= LONGEST else None


def _item(base: Value | None, key: Value | None) -> Value | None:
    """An item of a list or table that is known."""
    wanted = key.value if isinstance(key, Const) else None
    if isinstance(base, Items) and base.kind == "set":
        return any_of(base.values)
    if isinstance(base, Mapping) and isinstance(wanted, str) and wanted in base.keys:
        return base.values[base.keys.index(wanted)]
    if isinstance(base, Items) and isinstance(wanted, int) and -len(base.values) <= wanted < len(base.values):
        return base.values[wanted]
    return None


def _is_bag(value: Value | None) -> bool:
    """Whether a value has some others in it, of which nobody knows where."""
    return isinstance(value, Items) and value.kind == "set"


def _compares(word: str, left: Value | None, right: Value | None) -> bool | None:
    if not (isinstance(left, Const) and isinstance(right, Const)):
        return None
    if word in ("is", "is not"):  # of texts and numbers it asks no more than whether they are the same
        same = left.value == right.value and type(left.value) is type(right.value)
        return same is (word == "is")
    try:
        return COMPARISONS[word](left.value, right.value)
    except TypeError:
        return None


# -- what facts keep as the text of an expression --------------------------------------------------------------------------


def of_expression(expression: Expression) -> Value | None:
    """What an expression is, by what the names in it are."""
    found = in_ir(expression.text)
    return value_of(*found, expression.names) if found is not None else None


def value_of(function: Function, at: int, names: dict[str, Value | None]) -> Value | None:
    """What a part of an expression is, by what its names are."""

    def known(function: Function, at: int) -> Value | None:
        operation = function.ops[at]
        return names.get(function.text(operation[1])) if operation[0] == op.LOAD else None

    return Evaluator(known).value(function, at)


def settle(value: Value | None) -> Value | None:
    """A value with its expressions read, alternatives included."""
    if isinstance(value, Expression):
        return of_expression(value)
    return any_of(settle(option) for option in value.options) if isinstance(value, Either) else value


Known = Callable[[Value], Value | None]
"""What a parameter, an attribute, a name, or what a call gives, is; a value of which no more is known is what it says itself, or None."""


def resolved(value: Value | None, known: Known) -> Value | None:
    """A value by what is known of what it is made of: `(size, size)`, `2 * rate`, one of two that a parameter decides between."""
    if value is None or isinstance(value, Const):
        return value
    if isinstance(value, Items):
        return Items(tuple(resolved(item, known) for item in value.values), value.kind)
    if isinstance(value, Mapping):
        return Mapping(value.keys, tuple(resolved(item, known) for item in value.values), value.open, value.rest)
    if isinstance(value, Expression):
        return of_expression(Expression(value.text, {name: resolved(v, known) for name, v in value.names.items()}))
    if not isinstance(value, Either):
        return known(value)
    decides = known(Param(value.by)) if value.by and "." not in value.by else None
    if (holds := truth(decides)) is not None:
        return resolved(value.options[0 if holds else 1], known)
    return any_of(resolved(option, known) for option in value.options)


def is_known(value: Value | None) -> bool:
    """Whether nothing of a value is left open."""
    if isinstance(value, (Items, Mapping)):
        return all(map(is_known, value.values))
    return all(map(is_known, value.options)) if isinstance(value, Either) else value is not None


def may_grow(code: Code, name: str) -> bool:
    """Whether a list, or table, under a name may become another one somewhere in a file: `sizes.append(4)`, `self.sizes[0] = 1`."""
    for function in code.functions():
        for at, operation in function.each(op.CALL, op.SET_ITEM, op.DELETE_ITEM, op.AUGMENT):
            of = (
                function.called_on(at) if operation[0] == op.CALL else operation[2 if operation[0] == op.AUGMENT else 1]
            )
            if of < 0 or function.dotted(of).rpartition(".")[2] != name:
                continue
            if operation[0] != op.CALL or function.called(at) not in _READS:
                return True
    return False


def parameters_in(value: Value | None) -> frozenset[str]:
    """The parameters that a value is made of, or chosen by."""
    if isinstance(value, Param):
        return frozenset({value.name})
    parts: Iterable[Value | None] = ()
    if isinstance(value, (Items, Mapping)):
        parts = value.values
    elif isinstance(value, Expression):
        parts = value.names.values()
    elif isinstance(value, Either):
        parts = (*value.options, *((Param(value.by),) if value.by and "." not in value.by else ()))
    return frozenset(name for part in parts for name in parameters_in(part))


def any_of(values: Iterable[Value | None]) -> Value | None:
    """The join: what is one of some values, which may be several themselves."""
    flat = dict.fromkeys(option for value in values for option in options(value))
    return None if len(flat) > MOST else next(iter(flat)) if len(flat) == 1 else Either(tuple(flat)) if flat else None


def begins_with(value: Value | None) -> str | None:
    """The text that a formatted string begins with (`"cuda:"`), None for any other value."""
    found = in_ir(value.text) if isinstance(value, Expression) else None
    operation = found[0].ops[found[1]] if found is not None else (op.END,)
    first = found[0].constant(operation[1]) if found is not None and operation[0] == op.TEXT and operation[1:] else None
    return first if isinstance(first, str) else None


def is_comparison(value: Value | None) -> bool:
    """Whether an expression compares two values: `a == b`."""
    found = in_ir(value.text) if isinstance(value, Expression) else None
    return found is not None and found[0].ops[found[1]][0] == op.COMPARE
