"""Operators, displays and what is chosen of several."""

from __future__ import annotations

from typing import Final, Literal

from detlint.ir import ops as op
from detlint.ir.uses import Op
from detlint.model import elements, sets
from detlint.model.sites.reading.handlers import of
from detlint.model.sites.reading.names import Names
from detlint.model.sites.reading.values import LONGEST_DISPLAY, member, without_table
from detlint.model.sites.reading.values import operation as arithmetic
from detlint.model.sites.records import COMPARED, Branch, Const, Each, Items, Mapping, Partial, Ref, Result, Value
from detlint.model.sites.scope import chosen, join

_ONE_ANSWER: Final = frozenset({"in", "not in", "is", "is not"})
"""Comparisons that give True or False whatever they compare; of tensors, the others give one for each element."""
_DISPLAYS: Final[dict[int, Literal["list", "tuple", "set"]]] = {op.LIST: "list", op.TUPLE: "tuple", op.SET: "set"}


class Operators(Names):
    """Reads what is put together of other expressions."""

    @of(op.BINARY)
    def _binary(self, at: int, operation: Op) -> Value | None:
        return arithmetic(self.made[operation[2]], self.made[operation[3]])

    @of(op.UNARY)
    def _unary(self, at: int, operation: Op) -> Value | None:
        value, word = self.made[operation[2]], self.strings[operation[1]]
        if word == "-" and isinstance(value, Const) and isinstance(value.value, (int, float)):
            return Const(-value.value)
        if word == "not":
            return None
        return value if value is COMPARED else arithmetic(value, Const(-1))

    @of(op.COMPARE)
    def _compare(self, at: int, operation: Op) -> Value | None:
        return None if self.strings[operation[2]] in _ONE_ANSWER else COMPARED

    @of(op.CHOICE)
    def _choice(self, at: int, operation: Op) -> Value | None:
        word, first, other = self.strings[operation[1]], operation[2], operation[3]
        if word == "and":
            later = self.comparison(other)
            return self.made[first] if later is not None and self.is_chained(first, later[0]) else None
        if word == "or":
            # `x or default`: either of them, when both are known.
            options = self.made[first], self.made[other]
            return join(options) if None not in options else None
        test = self.made[self.tested]
        if isinstance(test, Const):
            return self.valued(first if test.value else other)
        then, otherwise = self.valued(first), self.valued(other) if other >= 0 else None
        if then is None and otherwise is None:
            return None
        by, negated = self.chooser(self.tested)
        return chosen(otherwise, then, by) if negated else chosen(then, otherwise, by)

    def is_chained(self, first: int, middle: int) -> bool:
        """Whether a comparison goes on with the last value of another: `a < b < c`."""
        before = self.comparison(self.ops[first][3] if self.is_choice(first, "and") else first)
        return before is not None and before[2] == middle

    @of(op.ITEM)
    def _item(self, at: int, operation: Op) -> Value | None:
        base, key = self.shared(operation[1], self.made[operation[1]]), self.made[operation[2]]
        if base is None:
            return None
        if base == Ref("sys.modules") and self.dotted(operation[2]) == "__name__":
            return Ref(self.prefix)
        if base == Ref("sys.modules") and type(key) is Const and type(key.value) is str:
            return Ref(key.value)
        whole = without_table(base)
        if whole is not None:
            named = type(key) is Const and type(key.value) is str
            return member(whole, key.value) if named else self.part(whole, key, operation[2])  # type: ignore[union-attr, arg-type]
        if type(key) is Const:
            if type(base) is Mapping and isinstance(key.value, str):
                return base.values[base.keys.index(key.value)] if key.value in base.keys else None
            if type(base) is Items and isinstance(key.value, int) and -len(base.values) <= key.value < len(base.values):
                return base.values[key.value]
            return member(base, f"[{key.value}]")
        return member(base, "[*]")

    @of(op.LIST, op.TUPLE, op.SET)
    def _display(self, at: int, operation: Op) -> Value | None:
        items, is_set = operation[1:], operation[0] == op.SET
        if len(items) > LONGEST_DISPLAY:
            return (
                sets.SETS[elements.joined(elements.element(self.scope.function, item) for item in items)]
                if is_set
                else None
            )
        starred = [item for item in items if self.ops[item][0] == op.STAR]
        for item in starred:
            self.order("builtins.iter", self.unordered(self.made[item]), self.ops[item][1])
        if starred:
            return sets.SETS[""] if is_set else None
        return Items(tuple([self.made[item] for item in items]), _DISPLAYS[operation[0]])

    @of(op.DICT)
    def _dictionary(self, at: int, operation: Op) -> Value | None:
        pairs = [*zip(operation[1::2], operation[2::2], strict=True)]
        keys, literal = list[str](), len(pairs) <= LONGEST_DISPLAY
        for number, (key, _) in enumerate(pairs):
            text = self.constant_of(key)
            literal = literal and (key < 0 or isinstance(text, str))
            keys.append("**" if key < 0 else text if isinstance(text, str) else f"[{number}]")
        values = [self.valued(item) if literal else self.made[item] for _, item in pairs]
        if literal:
            for name, value, (_, item) in zip(keys, values, pairs, strict=True):
                self.section(name, value, item)
            return self.mapping(keys, values, at)
        # Under what names a table has its functions and classes doesn't matter where one of them is taken out.
        table = "**" not in keys and 0 < len(keys) <= LONGEST_DISPLAY and all(type(value) is Ref for value in values)
        return Mapping(tuple(keys), tuple(values)) if table else None

    @of(op.STAR, op.AWAIT)
    def _same(self, at: int, operation: Op) -> Value | None:
        return self.made[operation[1]]

    @of(op.YIELD, op.YIELD_FROM)
    def _yield(self, at: int, operation: Op) -> None:
        # Whoever goes over what passes on all of a loader gets what that gives.
        self.returned.append(self.made[operation[1]] if operation[0] == op.YIELD_FROM else None)
        self.steps.append(Branch("yield", None, ()))

    @of(op.COLLECT)
    def _collect(self, at: int, operation: Op) -> Value | None:
        kind, function = self.strings[operation[1]], self.scope.function
        if kind == "set":
            return sets.SETS[elements.comprehended(function, at)]
        one = self.made[elements.given(function, at)] if kind == "list" else None
        return Each(one) if isinstance(one, Ref | Partial) or _is_made(one) else None

    @of(op.PART)
    def _part(self, at: int, operation: Op) -> Value | None:
        _, whole, place, count = operation
        value = self.made[whole]
        number = place if place >= 0 else -1 - place
        if value is None or count < 0 or self.gathering:
            return None
        if isinstance(value, Items) and len(value.values) == count:
            return value.values[number]
        return self.deeper(value, f"[{number}]")


def _is_made(value: Value | None) -> bool:
    """Whether a function that has a name gives a value: it may be a function, too."""
    return isinstance(value, Result) and isinstance(value.of, Ref)
