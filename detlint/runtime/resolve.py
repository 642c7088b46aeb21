"""From the catalog's dotted names to the objects that a program has, without importing anything."""

from __future__ import annotations

import sys
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
        # Of a class, what its dictionary holds: `getattr` binds methods, and gives a new object each time.
        return Found(owner, last, getattr(owner, last))
    except Exception:  # modules that load their members when asked for fail in ways of their own
        return None


def prefixes(name: str) -> list[str]:
    """The modules that may hold it: `a.b.c` may be in `a` or in `a.b`."""
    parts = name.split(".")[:-1]
    return [".".join(parts[:end]) for end in range(1, len(parts) + 1)]
