"""DET305: whether a directory listing becomes data in the order that it came."""

from __future__ import annotations

from typing import Final

from detlint.facts.model import Site
from detlint.program.resolve import Module

# Callees that don't care about the order of what they are given, or put it right.
ORDERLESS: Final = frozenset(
    f"builtins.{name}" for name in ("sorted", "set", "frozenset", "len", "any", "all", "max", "min", "sum", "dict", "bool", "next")
) | {"natsort.natsorted", "collections.Counter", "numpy.sort", "numpy.unique"}


def becomes_data(module: Module, site: Site) -> bool:
    """Whether the result is gathered, returned or kept, and never sorted.

    A loop that only handles each file (deletes, copies, prints) does not depend on the order, nor does a test.
    """
    use, _, what = site.use.partition(":")
    if use in ("data-loop", "collected", "returned"):
        return True
    if use == "argument":
        return bool(what) and what not in ORDERLESS and what.rpartition(".")[2] not in ("sorted", "natsorted", "len", "set", "sort")
    if use != "assigned" or not what:
        return False
    if "." in what:
        return not any(what in function.ordered for function in module.facts.functions)
    return what not in module.function_of(site).ordered
