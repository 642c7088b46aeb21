"""From the catalog's dotted names to the objects that a program has, without importing anything."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any, NamedTuple


class Found(NamedTuple):
    """An object and where it stands."""

    owner: Any
    attribute: str
    value: Any


def find(name: str) -> Found | None:
    """What a dotted name stands for, as far as its modules are imported."""
    head, _, last = name.rpartition(".")
    if not head:
        return None
    owner = sys.modules.get(head)
    if owner is None:
        above = find(head)
        if above is None:
            return None
        owner = above.value
    try:
        # Of a module only what it has: asking one that loads its members late would import them.
        return Found(owner, last, vars(owner)[last] if isinstance(owner, ModuleType) else getattr(owner, last))
    except (AttributeError, KeyError):
        return None


def prefixes(name: str) -> list[str]:
    """The modules that may hold it: `a.b.c` may be in `a` or in `a.b`."""
    parts = name.split(".")[:-1]
    return [".".join(parts[:end]) for end in range(1, len(parts) + 1)]
