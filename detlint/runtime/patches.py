"""Putting one object in another's place, everywhere that names it, and taking it back."""

from __future__ import annotations

import contextlib
import inspect
import sys
import weakref
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

from detlint.runtime import methods


def sign(stand_in: Any, function: Any) -> None:
    """Show a function's parameters as its own: `inspect.getfullargspec`, which Keras asks, doesn't look behind wrappers."""
    with contextlib.suppress(TypeError, ValueError):
        stand_in.__signature__ = inspect.signature(function)


class Patches:
    """What was put where. `undo` puts everything back, the last first."""

    def __init__(self) -> None:
        self._attributes: list[tuple[Any, str, Any]] = []
        self._replaced: dict[int, tuple[Any, Any]] = {}
        """id of what stands in -> (what stands in, what it stands for)."""
        self._changed: list[tuple[weakref.ref[Any], Callable[[Any], object]]] = []

    def attribute(self, owner: Any, name: str, value: Any) -> None:
        """Set an attribute of a class or module."""
        self._attributes.append((owner, name, vars(owner).get(name, methods.ABSENT)))
        methods.put(owner, name, value)

    def replace(self, pairs: Iterable[tuple[Any, Any]], except_in: Callable[[ModuleType, Any], bool]) -> None:
        """Put objects in the place of others in every module that is loaded: `from x import f` has made names of its own.

        Args:
            pairs: the original, and what takes its place.
            except_in: whether a module keeps its own name of an original.
        """
        table = {id(original): (original, stand_in) for original, stand_in in pairs}
        if not table:
            return
        self._replaced.update((id(stand_in), (stand_in, original)) for original, stand_in in table.values())
        for module, name, stand_in in _named(table):
            if not except_in(module, vars(module)[name]):
                self.attribute(module, name, stand_in)

    def later(self, thing: Any, back: Callable[[Any], object]) -> None:
        """Have an object of the program put back as it was, if it still lives then."""
        self._changed.append((weakref.ref(thing), back))

    def undo(self) -> None:
        """Put everything back. Names that were made meanwhile get the original too."""
        while self._changed:
            reference, back = self._changed.pop()
            if (thing := reference()) is not None:
                back(thing)
        while self._attributes:
            methods.put(*self._attributes.pop())
        for module, name, original in _named(self._replaced):
            setattr(module, name, original)
        self._replaced = {}


def _named(table: dict[int, tuple[Any, Any]]) -> list[tuple[ModuleType, str, Any]]:
    """The names in loaded modules of objects in a table by identity, and what the table has for them."""
    found = []
    for module in [*sys.modules.values()]:
        names = getattr(module, "__dict__", None)
        if not isinstance(module, ModuleType) or names is None:
            continue
        for name, value in [*names.items()]:
            entry = table.get(id(value))
            if entry is not None and entry[0] is value:
                found.append((module, name, entry[1]))
    return found
