"""Whether a call fulfils an entry's conditions: the same as `detlint.domains.matching.conditions`, on the values themselves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol

from detlint.catalog import Condition
from detlint.runtime.arguments import MISSING
from detlint.windows import are_crowded

ON: Final = {"npu": "ascend", "hpu": "hpu"}
"""Kind of device, as PyTorch names it -> the catalog's target, where the two differ."""


class Bound(Protocol):
    """What arguments can be asked of."""

    def get(self, name: str) -> Any: ...

    def gives(self, name: str) -> bool: ...


def hold(when: Mapping[str, Condition], bound: Bound) -> bool:
    """Whether all conditions hold. What can't be decided even now (which streams a data set draws from) does not."""
    return all(_holds(name, condition, bound) for name, condition in when.items())


def _holds(name: str, condition: Condition, bound: Bound) -> bool:
    if condition.given is not None and condition.given != bound.gives(name):
        return False
    if condition.draws:
        return False
    value = _argument(name, bound)
    if condition.not_in is not None and _named(value, condition.not_in):
        return False
    if condition.in_ is not None and not _named(value, condition.in_):
        return False
    if (condition.above is not None or condition.below is not None) and not _between(value, condition):
        return False
    if condition.dense_for or condition.sparse_for:
        return _has_windows(value, condition, bound)
    return _shaped(value, condition) and _typed(value, condition)


def _argument(name: str, bound: Bound) -> Any:
    """`randomness.seed` is what the dictionary that `randomness` gets holds under "seed"."""
    owner, _, key = name.partition(".")
    value = bound.get(owner)
    if not key:
        return value
    return value.get(key, MISSING) if isinstance(value, dict) else MISSING


def _named(value: Any, known: tuple[Any, ...]) -> bool:
    """Whether it is one of these. The member of an enumeration counts by its dotted name, `True` is not 1."""
    for item in known:
        if type(item) is type(value) and item == value:
            return True
        if isinstance(item, str) and not isinstance(value, str) and str(value) == item:
            return True
        if type(value) in (int, float) and type(item) in (int, float) and item == value:
            return True
    return False


def _between(value: Any, condition: Condition) -> bool:
    """For a size of several dimensions it is enough that one of them is."""
    values = value if isinstance(value, (tuple, list)) else (value,)
    for item in values:
        if type(item) in (int, float):
            above = condition.above is None or item > condition.above
            below = condition.below is None or item < condition.below
            if above and below:
                return True
    return False


def _has_windows(stride: Any, condition: Condition, bound: Bound) -> bool:
    """Whether places are in more than two windows, or in no more, as the condition says; not where that isn't known.

    No stride, or an empty one, stands for that of the kernel's size.
    """
    sizes = _numbers(bound.get(condition.dense_for or condition.sparse_for))
    steps = [] if stride is None or stride is MISSING else _numbers(stride)
    return are_crowded(sizes, steps or sizes) is bool(condition.dense_for)


def _numbers(value: Any) -> list[float | None]:
    listed = value if isinstance(value, (tuple, list)) else (value,)
    return [item if isinstance(item, (int, float)) else None for item in listed]


def _shaped(value: Any, condition: Condition) -> bool:
    listed = isinstance(value, (tuple, list))
    if condition.sequence is not None and condition.sequence != (listed and len(set(map(repr, value))) > 1):
        return False
    if condition.length is not None and not (listed and len(value) in condition.length):
        return False
    if condition.not_length is not None and listed and len(value) in condition.not_length:
        return False
    if condition.sum_above is not None and listed:
        numbers = _numbers(value)
        if None not in numbers and sum(number for number in numbers if number and number > 0) <= condition.sum_above:
            return False
    return condition.contains is None or (isinstance(value, str) and condition.contains in value)


def _typed(value: Any, condition: Condition) -> bool:
    whole = hasattr(value, "is_floating_point") and not value.is_floating_point() and not value.is_complex()
    if condition.not_type == "whole" and whole:
        return False
    if condition.type is None:
        return True
    return {
        "str": isinstance(value, str),
        "number": isinstance(value, (int, float)) and not isinstance(value, bool),
        "tensor": hasattr(value, "is_floating_point"),
        "whole": whole,
        "half": str(getattr(value, "dtype", "")) in ("torch.bfloat16", "torch.float16"),
        "indexable": hasattr(value, "__getitem__"),
    }[condition.type]
