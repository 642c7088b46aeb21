"""The hardware that all scripts choose which lead to a file, and runs that only compute on the CPU."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Final

from detlint.catalog import Catalog
from detlint.db import Memo
from detlint.domains.gradient.untrained import Untrained
from detlint.domains.matching.scope import chosen
from detlint.model.module import Module
from detlint.model.resolve import Resolver
from detlint.model.tests import is_test
from detlint.model.uses import Users

NOWHERE: Final = frozenset[str]()


class Hardware:
    """Looks for the scripts that lead to a file, through all that imports it.

    Args:
        untrained: knows what speaks of training.
    """

    def __init__(self, resolver: Resolver, users: Users, untrained: Untrained) -> None:
        self._resolver = resolver
        self._catalog: Catalog = resolver.catalog
        self._users = users
        self._untrained = untrained
        self._chosen: Memo[frozenset[str]] = Memo(users.db)
        self._frameworks = {name.partition(".")[0] for name in self._catalog.devices}
        self._parameters = frozenset(self._catalog.devices.values())

    def everywhere(self, module: Module) -> frozenset[str]:
        """The hardware that all scripts which import a file, however indirectly, choose in so many words; nothing where one that has
        networks leaves it open, or where only the CPU is chosen, as for a trial. If none is seen to import it, those of its package
        are meant: one of them comes to it by a name that is put together, or by a path that Python is told of."""
        if not self._names_framework(module):
            return NOWHERE
        return self._chosen.of(module.path, lambda: self._by_scripts(module), NOWHERE)

    def _by_scripts(self, module: Module) -> frozenset[str]:
        users = self._users
        ends = users.ends(module.path)
        alone = ends is not None and not any(users.starts(end) for end in ends if end != module.path)
        scripts = self._of_package(module) if alone else ends
        others = [path for path in scripts if path != module.path] if scripts is not None else []
        return self._said(others)

    def _of_package(self, module: Module) -> Iterator[str]:
        """The scripts of a file's package: those in the folders around the file, and others in which hardware is chosen."""
        package, texts = self._users.package(module), self._users.index
        if package:
            inside = f"{os.path.dirname(module.path)}{os.sep}"
            choosing = {*filter(self._chooses, texts.saying_any(sorted(self._parameters), package))}
            for path in texts.below(package):
                around = inside.startswith(os.path.dirname(path) + os.sep)
                if path in choosing or (around and self._users.starts(path)):
                    yield path

    def _chooses(self, path: str) -> bool:
        code = self._resolver.by_words(path, *self._parameters)
        return code is not None and not self._parameters.isdisjoint(code.identifiers)

    def _said(self, scripts: Iterable[str]) -> frozenset[str]:
        """What some scripts choose; nothing where one that has networks leaves it open."""
        found = set[str]()
        for script in map(self._resolver.module, scripts):
            if script is not None:
                said = chosen(script, self._catalog)
                if not said and self._has_networks(script):
                    return NOWHERE
                found |= said
        return frozenset(found) if found - {"cpu"} else NOWHERE

    def _has_networks(self, script: Module) -> bool:
        """Whether a script may run networks, other than for a test: one that neither names a framework nor speaks of training prepares
        data beside them."""
        named = self._names_framework(script) or self._untrained.may_train(script.path)
        return named and not is_test(script.path)

    def _names_framework(self, module: Module) -> bool:
        return not self._frameworks.isdisjoint(name.partition(".")[0] for name in module.facts.imports)
