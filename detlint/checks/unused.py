"""Generators of random numbers that nothing in the program ever names again."""

from __future__ import annotations

from detlint.checks.match import Matcher
from detlint.facts.model import Result
from detlint.program.resolve import Module
from detlint.program.users import Users


class Unused:
    """Finds what is made for nothing.

    Args:
        users: knows which files say a word.
    """

    def __init__(self, matcher: Matcher, users: Users) -> None:
        self._resolver = matcher.resolver
        self._users = users

    def is_made_for_nothing(self, module: Module, index: int) -> bool:
        """Whether what a site makes is kept under a name of its module that no other place names: in its file, or in one that
        imports that."""
        if module.function_of(module.sites[index]).name:
            return False
        held = module.facts.names.items()
        names = [name for name, value in held if isinstance(value, Result) and value.site == index]
        if len(names) != 1:
            return False
        self._users.asked.add(names[0])
        if self._users.mentions(module.path, names[0]) != 1:
            return False
        importers = self._users.importers(module.path)
        self._resolver.opened.update(importers)
        return not any(self._users.mentions(path, names[0]) for path in importers)
