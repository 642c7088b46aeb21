"""The hardware that all scripts choose which lead to a file."""

from __future__ import annotations

import os
from typing import Final, NamedTuple

from detlint.catalog import Catalog
from detlint.checks.scope import chosen
from detlint.checks.tests import is_test
from detlint.program.resolve import Module, Resolver
from detlint.program.users import MANY, Users

NOWHERE: Final = frozenset[str]()


class _Known(NamedTuple):
    """What is chosen, with the files that were looked into for it."""

    chosen: frozenset[str]
    files: frozenset[str]


class Hardware:
    """Looks for the scripts that lead to a file, through all that imports it.

    Args:
        root: the project's root, for telling test files.
    """

    def __init__(self, resolver: Resolver, users: Users, root: str) -> None:
        self._resolver = resolver
        self._catalog: Catalog = resolver.catalog
        self._users = users
        self._root = root
        self._known: dict[str, _Known] = {}
        self._frameworks = {name.partition(".")[0] for name in self._catalog.devices}

    def everywhere(self, module: Module) -> frozenset[str]:
        """The hardware that all scripts which import a file, however indirectly, choose in so many words; nothing where one
        leaves it open, or where only the CPU is chosen, as for a trial."""
        if self._frameworks.isdisjoint(name.partition(".")[0] for name in module.facts.imports):
            return NOWHERE
        if module.path not in self._known:
            with self._resolver.looking() as files:
                self._known[module.path] = _Known(self._chosen(module.path, files), frozenset(files))
        known = self._known[module.path]
        self._resolver.opened.update(known.files)
        self._users.asked.update(os.path.basename(path).partition(".")[0] for path in known.files)
        return known.chosen

    def _chosen(self, path: str, files: set[str]) -> frozenset[str]:
        waiting, seen, found = [path], {path}, set[str]()
        for other in waiting:
            files.add(other)
            importers = self._users.importers(other)
            new = [importer for importer in importers if importer not in seen]
            if len(seen) + len(new) > MANY:
                return NOWHERE
            seen.update(new)
            waiting += new
            script = self._resolver.module(other) if not importers and other != path else None
            if script is not None:
                said = chosen(script, self._catalog)
                if not said and not is_test(other, self._root):
                    return NOWHERE
                found |= said
        return frozenset(found) if found - {"cpu"} else NOWHERE
