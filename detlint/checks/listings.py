"""DET305: whether a directory listing becomes data in the order that it came."""

from __future__ import annotations

from typing import Final

from detlint.facts.model import Function, Site
from detlint.program.resolve import Module

# Callees that don't care about the order of what they are given, or put it right.
ORDERLESS: Final = frozenset(
    f"builtins.{name}"
    for name in ("sorted", "set", "frozenset", "len", "any", "all", "max", "min", "sum", "dict", "bool", "next")
) | {"natsort.natsorted", "collections.Counter", "numpy.sort", "numpy.unique"}


def becomes_data(module: Module, site: Site) -> bool:
    """Whether the result is gathered, returned or kept, and never sorted.

    A loop that only handles each file (deletes, copies, prints) does not depend on the order, nor does a test.
    """
    return _keeps(site.use, module, module.function_of(site), set())


def _keeps(use: str, module: Module, function: Function, seen: set[str]) -> bool:
    kind, _, what = use.partition(":")
    if kind == "data-loop":
        grown, _, handed = what.partition(";")
        if handed and all(_is_ordered(name, module, function) for name in handed.split(",") if name != "_"):
            return False
        return not grown or not all(_is_ordered(name, module, function) for name in grown.split(","))
    if kind in ("collected", "returned", "index"):
        return True
    if kind == "argument":
        last = what.rpartition(".")[2]
        return bool(what) and what not in ORDERLESS and last not in ("sorted", "natsorted", "len", "set", "sort")
    if kind != "assigned" or not what or what in seen or _is_ordered(what, module, function):
        return False
    if "." in what or (not function.name and what not in module.detail(function).fates):
        return True  # kept: an attribute, or a name of the module that others use
    return any(_keeps(fate, module, function, seen | {what}) for fate in module.detail(function).fates.get(what, ()))


def _is_ordered(name: str, module: Module, function: Function) -> bool:
    """Whether a local name, or an attribute anywhere in the file, is put in order."""
    if "." in name:
        return any(name in detail.ordered for detail in module.body.details)
    return name in module.detail(function).ordered
