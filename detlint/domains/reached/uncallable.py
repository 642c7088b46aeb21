"""Layers that raise where they are called: their forward pass has the name by which another framework calls it.

MindSpore calls `construct`, PyTorch `forward`. A class that was brought over with its old name does no work at all: what its forward
pass says never happens, nor what the parts would do that its constructor makes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from detlint.db import Memo
from detlint.domains.gradient.gradients import BEGINNING
from detlint.model.classes import keeps_as, may_derive
from detlint.model.module import Module
from detlint.model.readers import Readers
from detlint.model.uses import Users


class Uncallable:
    """Finds layers that nothing can call.

    Args:
        in_library: whether others may use what is in a file.
    """

    def __init__(self, users: Users, attributes: Readers, in_library: Callable[[Module], bool]) -> None:
        self._resolver = users.resolver
        self._users = users
        self._attributes = attributes
        self._in_library = in_library
        self._names = {framework.forward for framework in users.resolver.catalog.frameworks} - {"", "__call__"}
        self._known: Memo[bool] = Memo(users.db)

    def holds(self, module: Module, index: int) -> bool:
        """Whether a site stands in a layer that does nothing but raise."""
        owner = module.function_of(module.sites[index]).owner
        return bool(owner) and self._known.of((module.path, owner), lambda: self._only_raises(module, owner), False)

    def _only_raises(self, module: Module, owner: str) -> bool:
        """Whether all that a class has besides its constructor is the forward pass of a layer of another framework, which nobody
        calls by its name."""
        layer = self._resolver.kinds.layer(f"{module.path}::{owner}")
        if layer is None or not owner.isidentifier() or module.classes[owner].decorators:
            return False
        methods = {name for name in self._methods(module, owner) if name not in BEGINNING}
        if len(methods) != 1 or not methods < self._names - {layer.forward}:
            return False
        if self._in_library(module) or self._attributes.is_read(module, owner, *methods):
            return False
        return not self._may_be_given(module, owner, layer.forward)

    def _methods(self, module: Module, owner: str) -> Iterator[str]:
        """The methods of a class and of its bases in the program."""
        for home, inside in self._resolver.classes.family(f"{module.path}::{owner}"):
            functions = (function for function in home.functions if function.startswith(f"{inside}."))
            inner = (function.removeprefix(f"{inside}.") for function in functions)
            yield from (name.partition(".")[0] for name in inner)

    def _may_be_given(self, module: Module, owner: str, forward: str) -> bool:
        """Whether a class may come to a forward pass that its own text doesn't have: by what derives from it, or by who sets it."""
        for word in (forward, owner):
            saying = self._users.saying(module, word) if word.isascii() else None
            if saying is None:
                return True
            for path in saying:
                if may_derive(self._resolver, path, f"{module.path}::{owner}") or self._gives(path, forward):
                    return True
        return False

    def _gives(self, path: str, forward: str) -> bool:
        """Whether a file may give objects, or their class, a forward pass that is no method."""
        code = self._resolver.code(path)
        return self._users.writers.times_set(forward, path) > 0 or (code is not None and keeps_as(code, forward))
