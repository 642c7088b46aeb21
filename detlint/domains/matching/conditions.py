"""Whether what a site says fulfils an entry's conditions: yes, no, or undecided (`None`)."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping as Mapped
from typing import Protocol

from detlint.catalog import Condition, Entry, Scalar
from detlint.domains.constant.evaluator import begins_with, is_comparison, settle
from detlint.model.arguments import MISSING, Argument
from detlint.model.sites.records import (
    COMPARED,
    TAKES_OUT,
    Const,
    Either,
    Expression,
    Items,
    Mapping,
    Member,
    Param,
    Ref,
    Result,
    Value,
)
from detlint.model.types import Types
from detlint.windows import are_crowded

Verdict = bool | None


def argument_of(bound: Mapped[str, Argument], parameter: str) -> Argument | None:
    """What a parameter gets; `randomness.seed` is what the dictionary that `randomness` gets holds under "seed"."""
    owner, dot, key = parameter.partition(".")
    whole = bound.get(owner)
    if not dot or whole is None or whole.value == Const(None):
        return whole
    if not isinstance(whole.value, Mapping):
        return Argument(None, None if whole.given is not False else False)
    if key not in whole.value.keys:
        return Argument(None, None) if whole.value.open else MISSING
    return Argument(whole.value.values[whole.value.keys.index(key)], whole.given)


def is_taken_out(value: Value | None) -> bool:
    """Whether a value is what the caller may leave out of a table of options: `options.pop("seed", None)`."""
    of = value.of if isinstance(value, Result) else None
    return isinstance(of, Member) and of.attr in TAKES_OUT and isinstance(of.base, Param)


class Calls(Protocol):
    """What is known of the call that made a value."""

    def first_argument(self, site: int) -> Value | None:
        """The first argument of the call at a site, by its global number (for `torch.device("cuda")`)."""

    def named_argument(self, site: int, name: str) -> Value | None:
        """Likewise, by keyword."""

    def indexable(self, value: Value) -> Verdict:
        """Whether a value can be asked for its items by position."""


class Judge:
    """Evaluates conditions.

    Args:
        types: knows the classes of values.
        calls: knows what the call that made a value was given, and what has items.
        draws: whether a value is a function that draws from one of some streams.
        numbers: kinds of numbers (`whole`, `half`) -> the names of their types, and of functions that give tensors of them.
    """

    def __init__(
        self,
        types: Types,
        calls: Calls,
        draws: Callable[[Value, frozenset[str]], bool],
        numbers: Mapped[str, frozenset[str]],
    ) -> None:
        self._types = types
        self._calls = calls
        self.draws = draws
        tensors = types.tensors
        self._numbers = numbers
        self._giving = {
            kind: frozenset(name.rpartition(".")[2] for name in names if name.rpartition(".")[0] in tensors)
            for kind, names in numbers.items()
        }

    def fulfilled(self, entry: Entry, bound: dict[str, Argument]) -> Verdict:
        """Whether all of an entry's conditions hold."""
        verdict: Verdict = True
        for parameter, condition in entry.when.items():
            argument = self._part(bound, parameter) or argument_of(bound, parameter) or bound.get("**") or MISSING
            one = self.holds(condition, argument, bound)
            if one and argument.given is None:
                # A splat may say otherwise; it seldom does, so a default that is harmless stays harmless.
                one = None
            if one is False:
                return False
            if one is None:
                verdict = None
        return verdict

    def _part(self, bound: dict[str, Argument], parameter: str) -> Argument | None:
        """What an object that a parameter gets was made with under a name, if it is written out where it is made:
        `generate(generation_config=GenerationConfig(do_sample=True))`."""
        owner, dot, key = parameter.partition(".")
        whole = settle(bound[owner].value) if dot and owner in bound else None
        if not isinstance(whole, Result) or not isinstance(whole.of, Ref):
            return None
        given = self._calls.named_argument(whole.site, key)
        return Argument(given, True) if given is not None else None

    def asks_for_values(self, entry: Entry, bound: dict[str, Argument]) -> bool:
        """Whether something is open of an entry's conditions, and no more than values which the call passes, and which nothing says."""
        opened = False
        for parameter, condition in entry.when.items():
            argument = argument_of(bound, parameter) or bound.get("**") or MISSING
            verdict = self.holds(condition, argument, bound)
            if verdict is False or (verdict is None and not (argument.given and _asks_for_value(condition))):
                return False
            opened = opened or verdict is None
        return opened

    def holds(self, condition: Condition, argument: Argument, bound: Mapped[str, Argument]) -> Verdict:
        """Whether one condition holds of one argument.

        Args:
            bound: what every parameter of the call gets.
        """
        value = argument.value
        verdicts = []
        if condition.given is not None:
            given = self._given(argument)
            verdicts.append(None if given is None else given is condition.given)
        if condition.in_ is not None:
            verdicts.append(self._each(value, lambda v: _among(v, condition.in_ or ())))
        if condition.not_in is not None:
            among = self._each(value, lambda v: _among(v, condition.not_in or ()))
            verdicts.append(None if among is None else not among)
        if condition.not_surely is not None:
            harmless = condition.not_surely
            verdicts.append(self._each(value, lambda v: _among(v, harmless)) is not True)
        if condition.above is not None:
            above = condition.above
            verdicts.append(self._each(value, lambda v: _number(v, lambda n: n > above)))
        if condition.below is not None:
            below = condition.below
            verdicts.append(self._each(value, lambda v: _number(v, lambda n: n < below)))
        if condition.sequence is not None:
            wanted = condition.sequence
            verdicts.append(self._each(value, lambda v: _sequence(v, wanted)))
        if condition.device is not None:
            verdicts.append(self._device(value) in condition.device)
        if condition.not_device is not None:
            verdicts.append(self._device(value) not in condition.not_device)
        if condition.length is not None:
            lengths = condition.length
            verdicts.append(self._each(value, lambda v: _length(v, lengths)))
        if condition.not_length is not None:
            lengths = condition.not_length
            verdicts.append(self._each(value, lambda v: _length(v, lengths)) is not True)
        if condition.sum_above is not None:
            most = condition.sum_above
            verdicts.append(self._each(value, lambda v: _up_to(v, most)) is not True)
        if condition.not_only:
            calls = condition.not_only
            verdicts.append(self._each(value, lambda v: _only(v, calls)) is not True)
        if condition.contains is not None:
            written = isinstance(value, Expression) and condition.contains in value.text
            part = condition.contains
            verdicts.append(True if written else self._each(value, lambda v: _contains(v, part)))
        if condition.type is not None:
            kind = condition.type
            ask = self._calls.indexable if kind == "indexable" else lambda v: self._is(v, kind)
            verdicts.append(self._each(value, ask))
        if condition.not_type is not None:
            verdicts.append(
                not is_comparison(value) and self._each(value, lambda v: self._holds_numbers(v, "whole")) is not True
            )
        if condition.dense_for or condition.sparse_for:
            kernel = argument_of(bound, condition.dense_for or condition.sparse_for) or MISSING
            crowded = _are_crowded(settle(kernel.value), settle(value))
            verdicts.append(None if crowded is None else crowded is bool(condition.dense_for))
        if condition.draws and not (False in verdicts or value is None):
            verdicts.append(self.draws(value, frozenset(condition.draws)))
        elif condition.draws:
            verdicts.append(False)
        return False if False in verdicts else None if None in verdicts else True

    def _each(self, value: Value | None, ask: Callable[[Value], Verdict]) -> Verdict:
        """The verdict over all alternatives of a value: undecided where they differ."""
        if isinstance(value, Expression) and (prefix := begins_with(value)):
            value = Const(prefix)
        value = settle(value)
        options = value.options if isinstance(value, Either) else (value,)
        verdicts = {None if option is None else ask(option) for option in options}
        return verdicts.pop() if len(verdicts) == 1 else None

    def _given(self, argument: Argument) -> Verdict:
        """A literal None is as good as nothing."""
        if not argument.given:
            return argument.given
        value = settle(argument.value)
        if isinstance(value, Const):
            return value.value is not None
        if isinstance(value, Param) and value.default == Const(None):
            return None
        if isinstance(value, Either) and Const(None) in value.options:
            return None
        return None if is_taken_out(value) else True

    def _device(self, value: Value | None) -> str:
        """The kind of device that a value names for sure: "cuda" for `torch.device("cuda:0")`; "" where that isn't known."""
        if isinstance(value, Expression) and (prefix := begins_with(value)):
            value = Const(prefix)
        value = settle(value)
        if isinstance(value, Result) and value.of == Ref("torch.device"):
            return self._device(self._calls.first_argument(value.site))
        return value.value.partition(":")[0] if isinstance(value, Const) and isinstance(value.value, str) else ""

    def _holds_numbers(self, value: Value, of: str) -> Verdict:
        """Whether a tensor surely holds numbers of some kind: what gives it always does, or it is asked for such a type, or it is a
        mask."""
        if value == COMPARED:
            return of == "whole"
        if not isinstance(value, Result):
            return None
        if isinstance(value.of, Member) and value.of.attr in self._giving[of]:
            return True
        if isinstance(value.of, Ref) and value.of.name in self._numbers[of]:
            return True
        converts = value.of.attr if isinstance(value.of, Member) else getattr(value.of, "name", "").rpartition(".")[2]
        kind = self._calls.named_argument(value.site, "dtype")
        if kind is None and converts in ("to", "type"):
            kind = self._calls.first_argument(value.site)
        return True if isinstance(kind, Ref) and kind.name in self._numbers[of] else None

    def _is(self, value: Value, kind: str) -> Verdict:
        if kind in self._numbers:
            return self._holds_numbers(value, kind)
        if isinstance(value, Const):
            number = isinstance(value.value, (int, float))
            return {"str": isinstance(value.value, str), "number": number, "tensor": False}[kind]
        if isinstance(value, (Items, Mapping)):
            return False
        found = self._types.of(value)
        if not found:
            return None
        if found in self._types.tensors:
            return kind == "tensor"
        return found == "builtins.str" if kind == "str" else False if kind == "tensor" else None


def _asks_for_value(condition: Condition) -> bool:
    """Whether a condition is about a constant alone, and not about what kind of thing it is, or where that lies."""
    kinds = (condition.accelerator, condition.device, condition.type, condition.not_type, condition.draws or None)
    return all(kind is None for kind in kinds)


def _among(value: Value, choices: tuple[Scalar, ...]) -> Verdict:
    """Membership as Python has it, but True is not 1."""
    if isinstance(value, Const):
        mine = value.value
        return any(mine == choice and isinstance(mine, bool) is isinstance(choice, bool) for choice in choices)
    if isinstance(value, Ref):
        # The member of an enumeration; another member of the same one (`Shuffle.GLOBAL`) is surely different.
        if value.name in choices:
            return True
        owner = value.name.rpartition(".")[0]
        return False if any(isinstance(c, str) and c.rpartition(".")[0] == owner for c in choices if owner) else None
    if isinstance(value, Items):
        # `(1, 1)` counts as 1.
        verdicts = {_among(item, choices) if item is not None else None for item in value.values}
        return verdicts.pop() if len(verdicts) == 1 else False if False in verdicts else None
    return None


def _contains(value: Value, part: str) -> Verdict:
    return isinstance(value.value, str) and part in value.value if isinstance(value, Const) else None


def _number(value: Value, test: Callable[[float], bool]) -> Verdict:
    if isinstance(value, Const):
        number = value.value
        return test(number) if isinstance(number, (int, float)) else False if number is None else None
    if isinstance(value, Items) and value.values:
        verdicts = [_number(item, test) if item is not None else None for item in value.values]
        return True if True in verdicts else None if None in verdicts else False
    return None


def _are_crowded(kernel: Value | None, stride: Value | None) -> Verdict:
    """Whether some place is in more than two windows; no stride, or an empty list, stands for that of the kernel's size."""
    if stride in (Const(None), Items(()), Items((), "tuple")) or (stride is not None and stride == kernel):
        return False
    return are_crowded(_numbers(kernel), _numbers(stride))


def _numbers(value: Value | None) -> list[float | None]:
    """The numbers of a tuple, or the one that stands for all of them; None for one that isn't known."""
    options = value.values if isinstance(value, Items) else (value,)
    found = [settle(option) for option in options]
    return [
        option.value if isinstance(option, Const) and isinstance(option.value, (int, float)) else None
        for option in found
    ]


def _only(value: Value, names: tuple[str, ...]) -> bool:
    """Whether a list has items, and each is what a call of one of these gives."""
    items = value.values if isinstance(value, Items) else ()
    return bool(items) and all(isinstance(item, Result) and item.of in [Ref(name) for name in names] for item in items)


def _length(value: Value, lengths: tuple[int, ...]) -> Verdict:
    return len(value.values) in lengths if isinstance(value, Items) else None


def _up_to(value: Value, most: float) -> bool:
    """Whether the numbers of a tuple are known, and those above zero add up to no more than that. Items of a list may be replaced."""
    found = _numbers(value) if isinstance(value, Items) and value.kind == "tuple" else []
    known = [number for number in found if number is not None]
    return 0 < len(known) == len(found) and sum(number for number in known if number > 0) <= most


def _sequence(value: Value, wanted: bool) -> Verdict:
    if isinstance(value, Const):
        return not wanted
    if isinstance(value, Items):
        if len(value.values) > 1 and any(map(_unknown, value.values)):
            return None  # who knows whether they are the same
        same = len(set(map(repr, value.values))) <= 1
        return wanted is not same
    return None


def _unknown(value: Value | None) -> bool:
    return value is None or (isinstance(value, Items) and any(map(_unknown, value.values)))
