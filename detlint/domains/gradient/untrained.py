"""Projects in which nothing trains, and networks that refuse to be trained: what varies in a backward pass is nobody's concern there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from detlint.catalog import Catalog
from detlint.db import Memo
from detlint.domains.reached.unnamed import Unnamed
from detlint.ir import ops as op
from detlint.ir.code import Code
from detlint.model.module import Module
from detlint.model.training import DIFFERENTIATES, GRADIENT, PASSES, SIZE, SPEAK, STEPS, TOLD, TRAINS, UPDATES, Training
from detlint.model.uses import Users
from detlint.notebook import is_notebook

_ORDERS: Final = ("train", "fit", "set_train")
_HANDS: Final = frozenset({"CellList", "SequentialCell", "Thread", "atexit", "data_sink", "partial"})
"""What calls a layer in another way."""
_CALLS: Final = frozenset({"__call__", "construct"})
"""By which it is called, where that is said."""


class Untrained:
    """Looks for what trains in the code of a file's project.

    Args:
        unnamed: knows what nothing runs, and what is part of what others install, and may train.
    """

    def __init__(self, catalog: Catalog, users: Users, unnamed: Unnamed, training: Training) -> None:
        self._users = users
        self._unnamed = unnamed
        self._training = training
        self._files: Memo[str] = Memo(users.db)
        self._ordering: Memo[str] = Memo(users.db)
        self._around: Memo[str] = Memo(users.db)

    def may_train(self, path: str) -> bool:
        """Whether something may train in a file."""
        return self._does(path, SPEAK)

    def may_train_in(self, path: str, name: str) -> bool:
        """Whether something may train in a definition of a file's top level, or, of "", in what stands in none."""
        module = self._users.resolver.module(path)
        return module is None or not SPEAK.isdisjoint(self._training.signs(module).get(name, ()))

    def updates(self, path: str, kept: bool) -> bool:
        """Whether weights may get new values in a file.

        Args:
            kept: whether gradients are passed back to tensors, which keep them.
        """
        return self._does(path, {TRAINS, UPDATES, *((DIFFERENTIATES, GRADIENT, STEPS) if kept else (PASSES,))})

    def weighs(self, path: str) -> bool:
        """Whether the size of gradients is asked in a file."""
        return self._does(path, {SIZE})

    def orders(self, path: str) -> bool:
        """Whether something may be told to train in a file."""
        return self._does(path, {TOLD})

    def hands(self, path: str) -> bool:
        """Whether a layer may be called in a file by another name than its own, or as a part of another."""
        code = self._users.resolver.code(path)
        if code is None or not _HANDS.isdisjoint(code.identifiers) or not _CALLS.isdisjoint(_texts(code)):
            return True
        calls = (code.strings.index(word) for word in _CALLS.intersection(code.strings))
        rows = frozenset(calls)
        return any(operation[2] in rows for function in code.functions() for _, operation in function.each(op.ATTR))

    def holds(self, module: Module) -> bool:
        """Whether a file is a script, or scripts lead to it, by imports or out of sight, and nothing trains in its project, which
        nobody else is to use; or it is a notebook in which nothing does, nor in what that names.

        With the files that a notebook imports people try things out, and train by hand later.
        """
        if is_notebook(module.path):
            leaves = self._training.has_others(module.path) or self._training.leads_to(module, module.path)
            return not (leaves or self.may_train(module.path))
        home = self._home(module)
        return bool(home) and not self._files.of(home, lambda: self._training_file(home), "")

    def is_left(self, module: Module) -> bool:
        """Whether nothing is told to train in the project of such a file, though something there would train if it were run."""
        home = self._home(module)
        return bool(home) and not self._ordering.of(home, lambda: self._ordering_file(home), "")

    def _does(self, path: str, signs: Iterable[str]) -> bool:
        """Whether a file does one of some things; so may one that can't be read."""
        module = self._users.resolver.module(path)
        return module is None or self._training.has(module, signs)

    def _home(self, module: Module) -> str:
        """The folder of a file's project, if scripts of it lead to the file and it is for nobody else; "" if not."""
        users = self._users
        ends = users.ends(module.path)
        starts = [end for end in ends or () if users.starts(end)]
        if ends is None or any(map(is_notebook, starts)) or self._unnamed.is_in_library(module):
            return ""
        return users.home(module) if starts else self._around.of(module.path, lambda: users.around(module), "")

    def _ordering_file(self, home: str) -> str:
        """The first file below a folder in which something may be told to train; "" for none."""
        return next(filter(self.orders, self._users.index.saying_any(sorted(_ORDERS), home)), "")

    def _training_file(self, home: str) -> str:
        """The first file below a folder in which something may train that isn't left out of all that runs; "" for none."""
        found = next(filter(self._trains_in, self._users.index.below(home)), "")
        return found or next((path for path in self._users.index.below(home) if self._leads_to(path, home)), "")

    def _leads_to(self, path: str, home: str) -> bool:
        """Whether a file refers to what trains outside of its project."""
        module = self._users.resolver.module(path) if path.endswith(".py") else None
        return module is not None and self._training.leads_to(module, home)

    def _trains_in(self, path: str) -> bool:
        self._users.resolver.opened.add(path)
        if not self._training.may(path):
            return False
        module = self._users.resolver.module(path)
        return module is None or any(
            not SPEAK.isdisjoint(signs) and not (name and self._unnamed.holds(module, name))
            for name, signs in self._training.signs(module).items()
        )


def _texts(code: Code) -> frozenset[str]:
    return frozenset(text for text in code.constants if isinstance(text, str))
