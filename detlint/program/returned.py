"""What one call of a library gives, where its arguments decide that: `load_dataset(name, split=...)` gives one data set, without
`split` a dictionary of them."""

from __future__ import annotations

from collections.abc import Iterable

from detlint.catalog import Condition, Entry
from detlint.facts.model import Const
from detlint.program.bound import MISSING, Argument, CallArgument, bind


def returned(entries: Iterable[Entry], given: Iterable[CallArgument], signature: list[tuple[str, object]]) -> str:
    """The class that the first entry gives whose conditions may hold of the call; "" if none may, or if a splat hides what
    would decide.

    Args:
        given: what the call passes, in normal form.
    """
    bound = bind(given, signature)
    for entry in entries:
        asked = (
            [(condition, bound.get(name, MISSING)) for name, condition in entry.when.items()] if entry.returns else []
        )
        if any(argument.given is None for _, argument in asked):
            return ""
        if entry.returns and all(_may_hold(condition, argument) for condition, argument in asked):
            return entry.returns
    return ""


def _may_hold(condition: Condition, argument: Argument) -> bool:
    value = argument.value
    if condition.given is not None and condition.given is (not argument.given or value == Const(None)):
        return False
    if condition.sequence and isinstance(value, Const):
        return False
    return condition.in_ is None or not isinstance(value, Const) or value.value in condition.in_
