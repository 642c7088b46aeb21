"""Layers whose objects nothing calls, wherever they are made: what stands in such a layer never runs, though its name is said."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Final

from detlint.checks.raising import Raising
from detlint.checks.unnamed import Unnamed
from detlint.facts.model import Ref
from detlint.program.answers import Answers
from detlint.program.resolve import Module
from detlint.program.texts import IMPORT, whole
from detlint.program.users import Use, Users

PYTHON: Final = ".py"


class Unapplied:
    """Finds them.

    Args:
        unnamed: knows what nothing runs.
        raising: knows what ends with an error.
        for_nothing: says whether nothing uses the part of a layer that a site makes.
    """

    def __init__(
        self, users: Users, unnamed: Unnamed, raising: Raising, for_nothing: Callable[[Module, int], bool]
    ) -> None:
        self._resolver = users.resolver
        self._users = users
        self._unnamed = unnamed
        self._raising = raising
        self._for_nothing = for_nothing
        self._known: Answers[bool] = Answers(users)

    def holds(self, module: Module, index: int) -> bool:
        """Whether a site stands in such a layer."""
        return self._is_one(module, module.function_of(module.sites[index]).owner)

    def _is_one(self, module: Module, owner: str) -> bool:
        if not (owner.isidentifier() and owner.isascii()):
            return False
        return self._known.of((module.path, owner), lambda: self._find_out(module, owner), False)

    def _find_out(self, module: Module, owner: str) -> bool:
        layer = self._resolver.layer(f"{module.path}::{owner}")
        if layer is None or module.classes[owner].decorators or self._unnamed.is_in_library(module):
            return False
        uses = self._users.of(module, owner) or ()
        calls = Counter(use.module.path for use in uses if use.called and use.site >= 0)
        if not uses or calls.total() != len(uses) or not self._says_no_more(module, owner, calls):
            return False
        return all(self._is_for_nothing(use) for use in uses)

    def _says_no_more(self, module: Module, owner: str, calls: Counter[str]) -> bool:
        """Whether files say the name of a class only to import it and where they call it: it has no heirs, and stands in no table.

        Args:
            calls: how often they call it.
        """
        saying = self._users.saying(module, owner)
        word = whole(owner)
        for path in dict.fromkeys([module.path, *saying]) if saying is not None else ("",):
            other = self._resolver.module(path) if path.endswith(PYTHON) else None
            if other is None:
                return False
            self._resolver.opened.add(path)
            if path != module.path and other.facts.names.get(owner) == Ref(f"{other.prefix}{owner}"):
                continue  # it has a definition of its own under that name
            blocks = (b for b in self._users.texts.blocks(path) if path != module.path or b.name != owner)
            said = sum(len(word.findall(IMPORT.sub(b"", block.text))) for block in blocks)
            if said != calls[path]:
                return False
        return True

    def _is_for_nothing(self, use: Use) -> bool:
        """Whether nothing comes of a layer that is made: nothing calls it, or it is made where nothing comes to."""
        module, index = use.module, use.site
        if self._for_nothing(module, index) or self._unnamed.is_idle(module, index):
            return True
        if self._raising.holds(module, index):
            return True
        return self._is_one(module, module.function_of(module.sites[index]).owner)
