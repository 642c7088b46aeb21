"""What nothing in the program ever names again of what is made and kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from detlint.checks.attributes import Attributes
from detlint.checks.match import Matcher
from detlint.facts.model import Either, Function, Instance, Member, Result, Value, is_made_by
from detlint.program.entry import sites
from detlint.program.resolve import Module
from detlint.program.users import Users

PUT_TOGETHER: Final = ("getattr(", "__dict__", "vars(", "globals(", "locals(", "eval(", "import_module", "__import__")
"""By what a file may come to definitions by names that it puts together; a method, or another function, may be called `eval`."""
HARMLESS: Final = {"getattr(": ("getattr(self.",), "globals(": ('globals()["__', "globals()['__")}
"""What asks for an attribute of an object that is part of another, or for what Python says of a file: none of a module."""
OF_ITSELF: Final = "getattr(self,"
"""What asks an object for something of its own."""


def puts_names_together(users: Users, module: Module, *, of_itself: bool = True) -> bool:
    """Whether a file, or one that imports it, may come to its definitions without their names.

    Args:
        of_itself: whether an object may ask itself for what is meant.
    """
    paths = (module.path, *users.importers(module.path))
    return any(
        users.mentions(path, way)
        > sum(users.mentions(path, f"{before}{way}") for before in (".", "_"))
        + sum(users.mentions(path, known) for known in HARMLESS.get(way, ()))
        + (users.mentions(path, OF_ITSELF) if way in OF_ITSELF and not of_itself else 0)
        for path in paths
        for way in PUT_TOGETHER
    )


class Unused:
    """Finds what is made for nothing.

    Args:
        users: knows which files say a word.
        attributes: knows what reads the attributes of objects.
    """

    def __init__(self, matcher: Matcher, users: Users, attributes: Attributes) -> None:
        self._resolver = matcher.resolver
        self._users = users
        self._attributes = attributes
        self._same = {name.rpartition(".")[2] for name in matcher.resolver.catalog.with_context("returns-self")}
        """Methods that give the object that they are called on: `P.ReduceSum().shard(...)`."""

    def is_made_for_nothing(self, module: Module, index: int, generator: bool) -> bool:
        """Whether what a site makes is kept as an attribute, of a layer or as a generator, and nothing reads that.

        Args:
            generator: whether it is a generator of random numbers. One under a name of its module does nothing by itself, either.
        """
        site = module.sites[index]
        if site.use not in ("", "kept", "dropped") and not site.use.startswith("assigned:"):
            return False
        function = module.function_of(site)
        if not function.name:
            return generator and bool(site.use) and self._is_said_once(module, self._name_in(module.facts.names, index))
        layer = self._resolver.layer(f"{module.path}::{function.owner}") if function.owner else None
        if layer is not None:
            if not self._uses_parts(module, module.functions.get(f"{function.owner}.{layer.forward}")):
                return False  # what it does stands elsewhere
        elif not generator or not function.owner:
            return False
        name = self._name_in(module.classes[function.owner].attributes, index)
        return bool(name) and not self._attributes.is_read(module, function.owner, name, inside=layer is not None)

    @staticmethod
    def _uses_parts(module: Module, forward: Function | None) -> bool:
        """Whether the forward pass of a layer calls any of its attributes."""
        if forward is None:
            return False
        targets = (module.sites[number].target for number in sites(module.steps(forward)))
        return any(isinstance(t, Member) and isinstance(t.base, Instance) and not t.base.name for t in targets)

    def _name_in(self, names: Mapping[str, Value | None], index: int) -> str:
        """The only one of some names that holds what a site makes, at least on one way."""
        found = [
            name
            for name, value in names.items()
            if any(self._is_made_by(v, index) for v in (value.options if isinstance(value, Either) else (value,)))
        ]
        return found[0] if len(found) == 1 else ""

    def _is_made_by(self, value: Value | None, index: int) -> bool:
        while isinstance(value, Result) and isinstance(value.of, Member) and value.of.attr in self._same:
            value = value.of.base
        return is_made_by(value, index)

    def _is_said_once(self, module: Module, name: str) -> bool:
        """Whether no other place names something: in its file, or in one that imports that."""
        if not name:
            return False
        self._users.asked.add(name)
        if self._users.mentions(module.path, name) != 1:
            return False
        importers = self._users.importers(module.path)
        self._resolver.opened.update(importers)
        return not any(self._users.mentions(path, name) for path in importers)
