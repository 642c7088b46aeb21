"""Imports that surely raise: of files that can't be parsed, of names that no file of the program has where they lead, and of
what a framework lacks."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from typing import Final

from detlint.db import Memo
from detlint.model.module import Module
from detlint.model.resolve import Resolver
from detlint.model.sites.records import ANY, Const, Ref

MAKES_NAMES: Final = frozenset({"__getattr__", "__path__", "exec", "globals", "locals", "setattr", "vars"})
"""By what a file may bind names that it doesn't say, or by `sys.modules`."""


class Imports:
    """Knows which imports raise, of those that can't be otherwise: what isn't found at all may be installed."""

    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver
        self._modules = resolver.modules
        self._around = resolver.modules.around
        self._known: Memo[bool] = Memo(resolver.db)
        self._gone: Memo[bool] = Memo(resolver.db)

    def raises(self, module: Module, name: str, script: Module) -> bool:
        """Whether a file surely raises where it imports a name in the run of a script, which has its own folder on the path."""
        if not self.may_raise(module, name):
            return False
        shared = self._modules.scope(script.path) == module.scope or _is_own(module, name)
        return shared or self.is_lacking(name)

    def refusing(self, script: Module, name: str) -> Sequence[str]:
        """The files of the program at which a script raises where it imports a name: one that can't be parsed, or those that might have
        the name and don't; none where it goes on, or something else keeps it from that."""
        place = self._modules.find(script.path, name)
        if place is None or not self.may_raise(script, name):
            return ()
        return [place[0], *(self._resolver.stars.reached(place[0]) or ())]

    def is_lacking(self, name: str) -> bool:
        """Whether a framework surely doesn't have what a name means."""
        return self._resolver.catalog.lacks(name)

    def may_raise(self, module: Module, name: str) -> bool:
        """Whether a file raises where it imports a name, if that leads where it seems to lead, whatever is started."""
        if self._known.of((module.scope, name), partial(self._raises, module.path, name), False):
            return True
        return self._gone.of((module.path, name), partial(self._is_gone, module, name), False)

    def _is_gone(self, module: Module, name: str) -> bool:
        """Whether a library no longer has what a file imports in any release that the file asks for: `check_min_version("0.40.0")`."""
        catalog = self._resolver.catalog
        without = catalog.removed.get(catalog.canonical(name))
        library = f"{name.partition('.')[0]}."
        # Only what is asked for under no condition, nor in a function or a `try`.
        always = module.steps(module.facts.functions[0]) if without else ()
        for site in (module.sites[step] for step in always if isinstance(step, int) and step >= 0):
            called = catalog.canonical(site.target.name) if isinstance(site.target, Ref) else ""
            if called in catalog.asking and called.startswith(library) and len(site.args) == 1:
                oldest = site.args[0].value
                if isinstance(oldest, Const) and without and _is_release_of(str(oldest.value), without):
                    return True
        return False

    def _raises(self, importer: str, name: str) -> bool:
        base = self._modules.base(importer)
        if ANY in name or not importer.startswith(base):
            return False
        place = self._modules.find(importer, name)
        if place is None:
            return self.is_lacking(name) or self._is_missing_in(base, *name.split(".")[:2])
        path, rest = place
        own = path.startswith((base, self._modules.above(importer) or base))
        if path == importer or not own or self._resolver.name(importer, name) is not None:
            return False
        if self._resolver.module(path) is None:
            facts = self._modules.facts(path)
            return facts is not None and facts.problem is not None and facts.problem.is_syntax
        return bool(rest) and self._lacks(path, rest.partition(".")[0])

    def _lacks(self, path: str, name: str) -> bool:
        """Whether a file surely doesn't have a name when somebody imports it from there."""
        offering = self._resolver.stars.reached(path)
        folder, _, file = path.rpartition(os.sep)
        if offering is None or name.startswith("__") or (file == "__init__.py" and self._around.may_hold(folder, name)):
            return False
        return not any(self._may_bind(other, name) for other in offering)

    def _may_bind(self, path: str, name: str) -> bool:
        """Whether a file has a name, in its code or as a text, or may bind some that it doesn't say."""
        code = self._resolver.by_words(path, name, *MAKES_NAMES, "sys", "modules")
        if code is None or name in code.identifiers or name in code.texts:
            return True
        return not MAKES_NAMES.isdisjoint(code.identifiers) or {"sys", "modules"} <= code.identifiers

    def _is_missing_in(self, base: str, first: str, second: str = "") -> bool:
        """Whether a name leads into a folder that doesn't say that it is a package, and has no such module."""
        folder = f"{base}{first}"
        if not second or first in self._resolver.catalog.libraries or not self._modules.has_files(folder):
            return False
        return not self._around.may_hold(folder, second)


def _is_release_of(version: str, requirement: str) -> bool:
    """Whether a version fulfils a requirement such as `diffusers >= 0.40`."""
    from packaging.requirements import Requirement
    from packaging.version import InvalidVersion

    try:
        return Requirement(requirement).specifier.contains(version, prereleases=True)
    except InvalidVersion:
        return False


def _is_own(module: Module, name: str) -> bool:
    """Whether a name leads into the package that a file stands in."""
    package, dot, _ = module.facts.module.partition(".")
    return bool(dot) and name.startswith(f"{package}.")
