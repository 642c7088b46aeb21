"""Objects that are made and kept, and that nothing in the program ever names again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from detlint.checks.match import Matcher
from detlint.facts.model import Result
from detlint.program.resolve import Module
from detlint.program.users import Users

UNNAMED: Final = ("getattr(", "__dict__", "vars(", "children(", "cells(", "_modules")
"""By what a file may come to the attributes of an object without their names."""


class Unused:
    """Finds what is made for nothing.

    Args:
        users: knows which files say a word.
    """

    def __init__(self, matcher: Matcher, users: Users) -> None:
        self._resolver = matcher.resolver
        self._users = users

    def is_made_for_nothing(self, module: Module, index: int, generator: bool) -> bool:
        """Whether what a site makes is kept as an attribute of a layer, and that is said nowhere else.

        Args:
            generator: whether it is a generator of random numbers. One under a name of its module does nothing by itself, either.
        """
        site = module.sites[index]
        if site.use not in ("kept", "dropped") and not site.use.startswith("assigned:"):
            return False
        function = module.function_of(site)
        if not function.name:
            return generator and self._is_said_once(module, self._name_in(module.facts.names, index))
        owner = f"{module.path}::{function.owner}"
        layer = self._resolver.layer(owner) if function.owner else None
        if layer is None or layer.forward not in module.classes[function.owner].methods:
            return False  # what it does stands elsewhere
        name = self._name_in(module.classes[function.owner].attributes, index)
        return bool(name) and self._is_closed(owner) and self._is_said_once(module, name)

    @staticmethod
    def _name_in(names: Mapping[str, object], index: int) -> str:
        """The only one of some names that holds what a site makes."""
        found = [name for name, value in names.items() if isinstance(value, Result) and value.site == index]
        return found[0] if len(found) == 1 else ""

    def _is_closed(self, owner: str) -> bool:
        """Whether all that uses the attributes of a layer names them: no class of others that it derives from does, and nothing
        goes through all of them."""
        if any(self._users.mentions(owner.partition("::")[0], way) for way in UNNAMED):
            return False
        frameworks = {framework.module for framework in self._resolver.catalog.frameworks}
        return all(base in frameworks for base in self._resolver.bases(owner))

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
