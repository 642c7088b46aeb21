"""Files that may give a framework what it lacks: they set attributes of it, or import a library that does."""

from __future__ import annotations

from detlint.model.uses import Users


class Patched:
    """Finds them."""

    def __init__(self, users: Users) -> None:
        catalog = users.resolver.catalog
        self._users = users
        self._roots = catalog.raising_roots
        self._libraries = {name for framework in catalog.frameworks for name in framework.mends}
        self._known: dict[str, bool] = {}

    def may(self, path: str) -> bool:
        """Whether a file may give a framework something that it lacks."""
        self._users.resolver.opened.add(path)
        if path not in self._known:
            module = self._users.resolver.module(path)
            imports = module.facts.imports if module is not None else ()
            patches = module is None or any(name.partition(".")[0] in self._libraries for name in imports)
            writers, meanings = self._users.writers, self._users.meanings
            self._known[path] = patches or writers.sets_of(meanings, path, self._roots)
        return self._known[path]
