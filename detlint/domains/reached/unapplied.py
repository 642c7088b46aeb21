"""Layers whose objects nothing calls, wherever they are made: what stands in such a layer never runs, though its name is said."""

from __future__ import annotations

from collections.abc import Callable

from detlint.db import Memo
from detlint.domains.reached.raising import Raising
from detlint.domains.reached.unnamed import Unnamed
from detlint.model.module import Module
from detlint.model.uses import Use, Users


class Unapplied:
    """Finds them.

    Args:
        unnamed: knows what nothing runs.
        raising: knows what ends with an error.
        only_called: says whether nothing is done with a class but to call it.
        for_nothing: says whether nothing uses the part of a layer that a site makes.
    """

    def __init__(
        self,
        users: Users,
        unnamed: Unnamed,
        raising: Raising,
        only_called: Callable[[Module, str], bool],
        for_nothing: Callable[[Module, int], bool],
    ) -> None:
        self._resolver = users.resolver
        self._users = users
        self._unnamed = unnamed
        self._raising = raising
        self._only_called = only_called
        self._for_nothing = for_nothing
        self._known: Memo[bool] = Memo(users.db)

    def holds(self, module: Module, index: int) -> bool:
        """Whether a site stands in such a layer."""
        return self._is_one(module, module.function_of(module.sites[index]).owner)

    def _is_one(self, module: Module, owner: str) -> bool:
        if not (owner.isidentifier() and owner.isascii()):
            return False
        return self._known.of((module.path, owner), lambda: self._find_out(module, owner), False)

    def _find_out(self, module: Module, owner: str) -> bool:
        layer = self._resolver.kinds.layer(f"{module.path}::{owner}")
        if layer is None or module.classes[owner].decorators or self._unnamed.is_in_library(module):
            return False
        uses = self._users.of(module, owner) or ()
        if not uses or not all(use.called and use.site >= 0 for use in uses) or not self._only_called(module, owner):
            return False
        return all(self._is_for_nothing(use) for use in uses)

    def _is_for_nothing(self, use: Use) -> bool:
        """Whether nothing comes of a layer that is made: nothing calls it, or it is made where nothing comes to."""
        module, index = use.module, use.site
        if self._for_nothing(module, index) or self._unnamed.is_dead(module, index):
            return True
        if self._raising.holds(module, index):
            return True
        return self._is_one(module, module.function_of(module.sites[index]).owner)
