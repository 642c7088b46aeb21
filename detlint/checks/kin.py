"""A class with those that derive from it: whether anything but its own code may set what its objects keep, or make and call them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from itertools import chain
from typing import Final

from detlint.checks.unused import OF_ITSELF
from detlint.program.answers import Answers
from detlint.program.resolve import Module
from detlint.program.users import Users

IMPORTED: Final = re.compile(rb"^[ \t]*from[ \t]+[\w.]+[ \t]+import[ \t]+(?:\([^)]*\)|[^\n;(]*$)", re.M)
"""What takes names from another file."""
_CALLS_ITSELF: Final = re.compile(rb"\bself\(")
_SETS_ANY: Final = re.compile(rb"\bsetattr\(|__dict__|__setattr__|\bvars\(self")
"""By what an object may set attributes of its own without their names."""
_OF_SETTINGS: Final = re.compile(r"(?:^|_)(?:args|cfg|conf|config|opts?|options|h?params|settings|FLAGS)$")
"""The names of what holds settings."""


class Kin:
    """Finds the bases and heirs of classes, and asks their texts."""

    def __init__(self, users: Users) -> None:
        self._users = users
        self._resolver = users.resolver
        self._texts = users.texts
        self._heirs: Answers[list[tuple[Module, str]]] = Answers(users)
        self._answers: Answers[bool] = Answers(users)

    def heirs(self, module: Module, owner: str) -> list[tuple[Module, str]]:
        """The classes of this file, and of those that import it, that derive from a class."""
        return self._heirs.of((module.path, owner), lambda: [*self._find_heirs(module, owner)], [])

    def bases(self, module: Module, owner: str) -> list[tuple[Module, str]]:
        """The classes of the program that one derives from."""
        bases = [base.partition("::") for base in self._resolver.mro(f"{module.path}::{owner}")[1:]]
        kin = [(self._resolver.known(path), inside) for path, colon, inside in bases if colon]
        self._resolver.opened.update(home.path for home, _ in kin)
        return kin

    def derives_from_others(self, module: Module, owner: str) -> bool:
        """Whether a class has bases in the program."""
        return any("::" in base for base in self._resolver.mro(f"{module.path}::{owner}")[1:])

    def saying(self, module: Module, word: str) -> Iterator[Module]:
        """A file, and those of its importers that say a word, one by one."""
        return chain((module,), filter(None, map(self._resolver.module, self._users.importers_saying(module, word))))

    def text(self, module: Module, owner: str) -> bytes:
        """The text of a class, with that of the class around it."""
        blocks = self._texts.blocks(module.path)
        return b"".join(block.text for block in blocks if block.name == owner.partition(".")[0])

    def is_own(self, module: Module, owner: str, name: str) -> bool:
        """Whether a class alone sets an attribute on its `self`, by its name: none of its bases does, nor an heir."""
        kin = [*self.bases(module, owner), *self.heirs(module, owner)]
        if any(name in home.classes[other].attributes for home, other in kin if other in home.classes):
            return False
        return not any(_SETS_ANY.search(self.text(*one)) for one in ((module, owner), *kin))

    def is_set(self, module: Module, owner: str, name: str) -> bool:
        """Whether a file sets an attribute of some object that is none of its own (`net.drop = 0.1`), or an heir one of its own. Of
        settings, only where the file says the class's name: else they are no object of it."""
        return self._answers.of(("set", module.path, owner, name), partial(self._find_set, module, owner, name), False)

    def is_only_said_to_call(self, module: Module, owner: str) -> bool:
        """Whether a class is said nowhere but where it is defined, imported or called, by the texts, as not all else is a site."""
        return self._answers.of(("called", module.path, owner), partial(self._is_only_called, module, owner), False)

    def may_run_itself(self, module: Module, owner: str) -> bool:
        """Whether a layer, or a base of it, may call the layer itself."""
        return self.derives_from_others(module, owner) or bool(_CALLS_ITSELF.search(self.text(module, owner)))

    def may_ask_itself(self, module: Module, owner: str) -> bool:
        """Whether an object may come to its own methods by names that are put together."""
        asks = OF_ITSELF.encode() in self.text(module, owner)
        return asks or self.derives_from_others(module, owner) or bool(self.heirs(module, owner))

    def _find_heirs(self, module: Module, owner: str) -> Iterator[tuple[Module, str]]:
        own = f"{module.path}::{owner}"
        for home in self.saying(module, owner):
            for other in home.classes:
                if (home is not module or other != owner) and own in self._resolver.mro(f"{home.path}::{other}"):
                    yield home, other

    def _find_set(self, module: Module, owner: str, name: str) -> bool:
        if any(name in home.classes[heir].attributes for home, heir in self.heirs(module, owner)):
            return True
        texts = self._texts
        for path in texts.saying(name, self._users.home(module)):
            self._resolver.opened.add(path)  # it may come to set it
            of = self._users.writers.set_of_others(self._users.meanings, path, name)
            holders = [function.dotted(value).rpartition(".")[2] for function, value in of]
            if not all(map(_OF_SETTINGS.search, holders)) or (holders and texts.says(path, owner.rpartition(".")[2])):
                return True
        return False

    def _is_only_called(self, module: Module, owner: str) -> bool:
        word = re.escape(owner.encode())
        renamed, uncalled = re.compile(rb"\b%s[ \t]+as\b" % word), re.compile(rb"\b%s\b(?!\()" % word)
        for home in self.saying(module, owner):
            text = self._texts.code(home.path)
            self._resolver.opened.add(home.path)
            if text is None or renamed.search(text):
                return False
            if len(uncalled.findall(IMPORTED.sub(b"", text))) > (home is module):
                return False
        return True
