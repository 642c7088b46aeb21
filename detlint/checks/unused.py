"""What nothing in the program ever names again: objects that are made and kept, functions and classes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final

from detlint.checks.match import Matcher
from detlint.facts.model import Function, Instance, Member, is_made_by
from detlint.program.entry import sites
from detlint.program.resolve import Module
from detlint.program.users import Users

UNNAMED: Final = ("getattr(", "__dict__", "vars(", "children(", "cells(", "._modules")
"""By what a file may come to the attributes of an object without their names."""
PUT_TOGETHER: Final = ("getattr(", "__dict__", "vars(", "globals(", "locals(", "eval(", "import_module", "__import__")
"""By what a file may come to definitions by names that it puts together; a method, or another function, may be called `eval`."""
PART: Final = "getattr(self."
"""What asks for an attribute of an object that is part of another: none of a module."""


def puts_names_together(users: Users, module: Module) -> bool:
    """Whether a file, or one that imports it, may come to its definitions without their names."""
    paths = (module.path, *users.importers(module.path))
    return any(
        users.mentions(path, way)
        > sum(users.mentions(path, f"{before}{way}") for before in (".", "_"))
        + (users.mentions(path, PART) if way in PART else 0)
        for path in paths
        for way in PUT_TOGETHER
    )


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
        if layer is None or not self._uses_parts(module, module.functions.get(f"{function.owner}.{layer.forward}")):
            return False  # what it does stands elsewhere
        name = self._name_in(module.classes[function.owner].attributes, index)
        return bool(name) and self._is_closed(owner) and self._is_said_once(module, name)

    def is_never_named(self, module: Module, index: int) -> bool:
        """Whether a site stands in a function or class that no place of the program names, although others import its file: then
        nothing runs it. What a decorator may hand on is named by that, and so is all of a file where names are put together."""
        function = module.function_of(module.sites[index])
        name = (function.owner or function.name).partition(".")[0]
        if not name or "<" in name or "@" in name or self._is_decorated(module, name):
            return False
        if not self._users.is_imported(module) or not self._is_said_once(module, name):
            return False
        package = self._resolver.module(os.path.join(os.path.dirname(module.path), "__init__.py"))
        if package is not None and not name.startswith("_"):
            return False  # who uses the package may name it, and any file may by a text: `"package.module.Class"`
        return not puts_names_together(self._users, module)

    @staticmethod
    def _is_decorated(module: Module, name: str) -> bool:
        if name in module.functions:
            return bool(module.detail(module.functions[name]).decorators)
        return name not in module.classes or bool(module.classes[name].decorators)

    @staticmethod
    def _uses_parts(module: Module, forward: Function | None) -> bool:
        """Whether the forward pass of a layer calls any of its attributes."""
        if forward is None:
            return False
        targets = (module.sites[number].target for number in sites(module.steps(forward)))
        return any(isinstance(t, Member) and isinstance(t.base, Instance) and not t.base.name for t in targets)

    @staticmethod
    def _name_in(names: Mapping[str, object], index: int) -> str:
        """The only one of some names that holds what a site makes."""
        found = [name for name, value in names.items() if is_made_by(value, index)]
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
