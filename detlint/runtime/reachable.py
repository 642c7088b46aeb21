"""The generators that objects hold, by the path of attributes that leads to each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Any, Final

from detlint.runtime import streams

_DEPTH: Final = 4
_MANY: Final = 100
"""A longer list or table holds samples, not generators."""
_MOST: Final = 2_000
"""So many objects are looked at."""


def generators(start: Any) -> Iterator[tuple[str, Any]]:
    """Each generator that can be reached from an object, the nearest first, none twice."""
    for path, held in below(start):
        if streams.is_generator(held):
            yield path, held


def below(start: Any, whole: Callable[[Any], bool] = lambda _: False) -> Iterator[tuple[str, Any]]:
    """An object and what it holds, each with its path: `sampler.generator`, `dataset.parts[0]`. No code of the program runs for it.

    Args:
        whole: what isn't looked into.
    """
    yield from under([("", start)], whole)


def under(named: list[tuple[str, Any]], whole: Callable[[Any], bool] = lambda _: False) -> Iterator[tuple[str, Any]]:
    """The same of several objects with names; none comes twice."""
    seen = set[int]()
    level = named
    for _ in range(_DEPTH + 1):
        further: list[tuple[str, Any]] = []
        for path, value in level:
            if id(value) in seen or len(seen) > _MOST:
                continue
            seen.add(id(value))
            yield path, value
            if whole(value):
                continue
            further += [(f"{path}{step}".lstrip("."), item) for step, item in held(value)]
        level = further


def held(value: Any) -> Iterator[tuple[str, Any]]:
    """What an object holds: attributes, and items of short lists and tables, each with the step that leads there."""
    if isinstance(value, str | bytes | int | float | complex | type | ModuleType | None) or hasattr(
        type(value), "__array__"
    ):
        return
    if isinstance(value, dict):
        yield from ((f"[{key!r}]", item) for key, item in [*value.items()][:_MANY] if len(value) <= _MANY)
    elif isinstance(value, list | tuple):
        yield from ((f"[{i}]", item) for i, item in enumerate(value) if len(value) <= _MANY)
    else:
        try:
            attributes: Mapping[str, Any] = object.__getattribute__(value, "__dict__")
        except AttributeError:
            return
        yield from ((f".{key}", item) for key, item in [*attributes.items()])
