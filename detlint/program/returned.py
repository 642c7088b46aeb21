"""What one call of a library gives, where its arguments decide that: `load_dataset(name, split=...)` gives one data set, without
`split` a dictionary of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from detlint.catalog import Condition, Entry
from detlint.facts.model import Const, Value

Given: TypeAlias = "Sequence[tuple[str, Value | None]]"
"""The arguments of a call, by keyword, or "" (or `*`, `**`), in normal form."""


def returned(entries: Iterable[Entry], given: Given, signature: Sequence[tuple[str, object]]) -> str:
    """The class that the first entry gives whose conditions may hold of the call; "" if none may, or if a splat hides what
    would decide."""
    names = [name for name, _ in signature]
    positional = [value for name, value in given if name == ""]
    passed = dict(zip(names, positional, strict=False)) | {name: value for name, value in given if name}
    hidden = not passed.keys().isdisjoint({"*", "**"})
    defaults = dict(signature)
    for entry in entries:
        if not entry.returns:
            continue
        if hidden and not entry.when.keys() <= passed.keys():
            return ""
        if all(_may_hold(condition, name, passed, defaults.get(name)) for name, condition in entry.when.items()):
            return entry.returns
    return ""


def _may_hold(condition: Condition, name: str, passed: dict[str, Value | None], default: object) -> bool:
    value = passed[name] if name in passed else _default(default)
    if condition.given is not None and condition.given is (name not in passed or value == Const(None)):
        return False
    if condition.sequence and isinstance(value, Const):
        return False
    return condition.in_ is None or not isinstance(value, Const) or value.value in condition.in_


def _default(default: object) -> Value | None:
    return Const(default) if default is None or isinstance(default, (bool, int, float, str)) else None
