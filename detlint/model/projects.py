"""Which files belong together: who imports which, in which folder a project begins, where runs start.

What it may assume: scripts are run from their own folder, or from one above in which a run starts; what stands in no folder with a run is
a part of something that isn't there.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final

from detlint import marks
from detlint.db import Memo
from detlint.folders import INIT, packages_around
from detlint.marks import Noted
from detlint.model.index import Index
from detlint.model.module import Module
from detlint.model.resolve import Resolver
from detlint.model.sinks import Sinks
from detlint.model.sites.records import Member, Ref, Result, Value
from detlint.notebook import is_notebook

MANY: Final = 200
"""A package that more files than that import is not looked through for those that have a name from it."""
SETUP: Final = "setup.py"
"""The script that installs a package: others run that."""
_WAYS_TO_RUN: Final = ("run_line_magic", "import_ipynb", "importnb", "nbimporter", "testbook")
"""The words by which notebooks run others, in their own process."""


class Projects:
    """Knows the files of a program. Everything asked once is remembered.

    Args:
        index: finds files by the names that they have.
        sinks: tells what becomes of what sites give.
    """

    def __init__(self, resolver: Resolver, index: Index, sinks: Sinks) -> None:
        self.resolver = resolver
        self.db = resolver.db
        self.index = index
        self.sinks = sinks
        self.asked: Noted[str] = Noted(self.db, marks.users)
        """The names that were asked for: whoever mentions one of them may use it."""
        self._said_to_be: Memo[str] = Memo(self.db)
        """File -> the first one that imports something of its name."""
        self._running: Memo[list[str]] = Memo(self.db)
        """Folder -> the notebooks below that run others."""
        self._projects: Memo[bool] = Memo(self.db)
        """Folder -> whether it is a project by itself, as `home` asks."""

    def importers(self, path: str) -> Sequence[str]:
        """The files that import a file, sorted."""
        return marks.importers(self.db, path)

    def is_imported(self, module: Module) -> bool:
        """Whether another file imports a module."""
        file = module.path.rpartition(os.sep)[2]
        if file == "__init__.py":
            return True  # each file of the package does, in a way
        return bool(self.importers(module.path))

    def is_said_to_be_imported(self, module: Module) -> bool:
        """Whether a file near a module imports something of its name: where scripts are run from decides what that is."""
        return bool(self._said_to_be.of(module.path, lambda: self._naming_file(module), ""))

    def may_be_imported(self, module: Module, name: str) -> bool:
        """Whether a definition of a module may be had from it by another file: one imports it, or something of its name, and says
        that of the definition."""
        stem = self._stem(module)
        if self.is_imported(module) or not (name and stem.isascii() and name.isascii()):
            return True
        naming = self.index.importing(stem, self.home(module))
        return any(path != module.path and self.index.says(path, name) for path in naming)

    def is_run_by_notebook(self, module: Module, name: str) -> bool:
        """Whether a notebook runs another one (`%run lesson.ipynb`), and says the name of a definition of that."""
        if not module.facts.cells:
            return False
        home, stem = self.home(module), self._stem(module)
        notebooks = self._running.of(home, lambda: [*self._running_others(home)], [])
        running = [path for path in notebooks if path != module.path]
        if not running or not (name.isascii() and stem.isascii()):
            return bool(running)
        return any(self.index.says(path, stem) and self.index.says(path, name) for path in running)

    def _running_others(self, folder: str) -> Iterator[str]:
        """The notebooks below a folder that run others."""
        return filter(is_notebook, self.index.saying_any(_WAYS_TO_RUN, folder))

    def _naming_file(self, module: Module) -> str:
        """The first file that imports something of a module's name; "" for none."""
        return next(self.naming(module), "")

    def naming(self, module: Module) -> Iterator[str]:
        """The files near a module that import something of its name, and may mean it."""
        package = module.path.endswith(f"{os.sep}{INIT}")
        stem = os.path.basename(os.path.dirname(module.path)) if package else self._stem(module)
        naming = self._importing(module, stem)
        return (path for path in naming if not self._means_another(path, module, stem, around=True))

    def has_namesake(self, module: Module) -> bool:
        """Whether a file near a module imports another one of its name."""
        stem = self._stem(module)
        return any(self._means_another(path, module, stem) for path in self._importing(module, stem))

    def _importing(self, module: Module, stem: str) -> Iterator[str]:
        naming = self.index.importing(stem, self.home(module)) if stem.isascii() else ()
        return (path for path in naming if path != module.path)

    def _means_another(self, path: str, module: Module, stem: str, *, around: bool = False) -> bool:
        """Whether all that a file imports of a module's name is one of a package of another name than the module's folder, and is
        found there: `from readers.data import Data` is none of a `data.py` beside the script.

        Args:
            around: or one of a package of the module's name: `from data import rows` is `data/rows.py`, and no `data/data.py`.
        """
        other = self.resolver.module(path)
        folder = os.path.basename(os.path.dirname(module.path))
        said = [name for name in other.facts.imports if stem in name.split(".")] if other is not None else []
        for name in said:
            package, dot, rest = name.partition(f".{stem}")
            whole = dot and rest[:1] in ("", ".")
            whole = whole or (around and name.startswith(f"{stem}."))
            place = self.resolver.modules.find(path, package + dot) if whole else None
            if place is None or place[1] or place[0] == module.path or package.rpartition(".")[2] == folder:
                return False
        return bool(said)

    @staticmethod
    def _stem(module: Module) -> str:
        return module.path.rpartition(os.sep)[2].partition(".")[0]

    def saying(self, module: Module, word: str, *, anywhere: bool = True) -> Iterator[str] | None:
        """The files that say a word, among those that may use a module; None where these are too many.

        Args:
            anywhere: whether those are meant that stand beside its packages and below, and not just those that import it.
        """
        importers = self.importers(module.path)
        if len(importers) > MANY:
            return None
        folder = self.home(module) if anywhere else ""
        outside = (p for p in importers if not (anywhere and p.startswith(folder)) and self.index.says(p, word))
        return chain(self.index.saying(word, folder) if anywhere else (), outside)

    def home(self, module: Module) -> str:
        """The folder of what belongs to a module: the next one above its packages in which a run starts, or one of these itself, if
        runs start in it and no file outside imports it. Where no run starts in any of them, as in a collection of projects, the next
        one with a folder in which one does, if no file outside imports anything of it."""
        folder, root = os.path.dirname(module.path), self.resolver.modules.root
        inside = self._packages(folder)
        for package in inside:
            if self._starts(package) and self._is_for_itself(package):
                return package + os.sep
        nearest = folder = os.path.dirname(inside[-1] if inside else folder)
        while folder.startswith(root + os.sep) and not self._starts(folder):
            folder = os.path.dirname(folder)
        if not self._starts(folder):
            while nearest.startswith(root + os.sep) and not self._is_project(nearest):
                nearest = os.path.dirname(nearest)
            folder = nearest if nearest.startswith(root + os.sep) else folder
        return folder + os.sep

    def project(self, module: Module) -> str:
        """The folder of what belongs to a module: its own, if it is no package and runs start in it, as beside a script; else its
        home."""
        folder = os.path.dirname(module.path)
        if self.package(module) or not self._starts(folder):
            return self.home(module)
        return folder + os.sep

    def around(self, module: Module) -> str:
        """The folder of all that may come to a module out of sight: its home, and as far as runs start in the folders around it;
        "" if none surely does so, or if something beside that folder imports a name which may be one of its folders."""
        folder, root = self.home(module).rstrip(os.sep), self.resolver.modules.root
        while folder.startswith(root + os.sep) and self._starts(os.path.dirname(folder)):
            folder = os.path.dirname(folder)
        inside = (path for path in self.index.below(folder) if os.path.dirname(path) == folder)
        runs = any(self.starts(path) for path in inside if os.path.basename(path) != SETUP)
        return folder + os.sep if runs and not self._is_meant_beside(module, folder) else ""

    def _is_meant_beside(self, module: Module, folder: str) -> bool:
        """Whether a file beside a folder imports something that isn't found, nor stands nearer to that file, and that may be in a
        folder around a module, or the module itself."""
        own, above = os.path.dirname(module.path), os.path.dirname(folder)
        around = [*_up(own, above), above]
        for name in sorted(filter(str.isascii, {*own[len(above) :].split(os.sep), self._stem(module)} - {""})):
            for path in self.index.importing(name, above + os.sep):
                other = self.resolver.module(path) if not path.startswith(folder + os.sep) else None
                said = [full for full in other.facts.imports if full.partition(".")[0] == name] if other else []
                if not said or self.resolver.modules.find(path, name) is not None:
                    continue
                nearer = [*_up(os.path.dirname(path), above)]
                if any(self._may_be_in(around, full) and not self._may_be_in(nearer, full) for full in said):
                    return True
        return False

    def _may_be_in(self, folders: Sequence[str], full: str) -> bool:
        """Whether one of some folders may have what an import names: a package, a file that says the next name, or a folder with
        a file, or a folder, of that one, which need not say that it is a package."""
        has = self.resolver.modules.has
        name, inside = f"{full}.".split(".")[:2]
        for place in (os.path.join(folder, name) for folder in folders):
            if self.index.has(os.path.join(place, "__init__.py")) or self._may_say(f"{place}.py", inside):
                return True
            if has(*os.path.split(place)) and (not inside or has(place, inside)):
                return True
        return False

    def _may_say(self, path: str, name: str) -> bool:
        """Whether a file is there and says a name, or may have it from others."""
        module = self.resolver.module(path) if self.index.has(path) else None
        if module is None:
            return False
        self.resolver.opened.add(path)
        return not name or bool(module.facts.stars) or self.index.says(path, name)

    def _is_for_itself(self, package: str) -> bool:
        """Whether no file outside a package imports it."""
        importers = self.importers(os.path.join(package, "__init__.py"))
        return all(path.startswith(package + os.sep) for path in importers)

    def _is_project(self, folder: str) -> bool:
        """Whether a run starts in a folder of a folder, and no file outside imports anything of that one."""
        return self._projects.of(folder, lambda: self._stands_alone(folder), False)

    def _stands_alone(self, folder: str) -> bool:
        inside = [*self.index.below(folder)]
        below = {os.path.dirname(path) for path in inside if os.path.dirname(os.path.dirname(path)) == folder}
        return any(map(self._starts, sorted(below))) and all(
            importer.startswith(folder + os.sep) for path in inside for importer in self.importers(path)
        )

    def _starts(self, folder: str) -> str:
        """The first file of a folder itself in which a run starts; "" for none."""
        return marks.starting(self.db, folder)

    def ends(self, path: str) -> list[str] | None:
        """The files in which following back who imports a file ends, itself where nothing does; None where too many do."""
        waiting, seen, ends = [path], {path}, list[str]()
        for other in waiting:
            importers = self.importers(other)
            new = [importer for importer in importers if importer not in seen]
            if len(seen) + len(new) > MANY:
                return None
            seen.update(new)
            waiting += new
            ends += () if importers else (other,)
        return ends

    def begins(self, path: str) -> str:
        """How a run may start in a file, as its head says; "" where none does."""
        return marks.begins(self.db, path)

    def starts(self, path: str) -> bool:
        """Whether a run may start in a file: it has a `__main__` block, or its top level does something for its own sake, or calls
        what the program has, whatever becomes of what that gives, where nothing imports it (`print(evaluate())`)."""
        how = self.begins(path)
        if how != "script":
            return how != ""
        module = self.resolver.module(path)
        top = [site for site in module.sites if site.function == 0] if module is not None else []
        if module is None or any(
            site.function == 0 and self.sinks.is_dropped(module, n) for n, site in enumerate(module.sites)
        ):
            return module is not None
        called = [site.target for site in top if site.kind == "call"]
        return not self.is_imported(module) and any(self._is_run(module, target) for target in called)

    def _is_run(self, module: Module, target: Value) -> bool:
        """Whether what a file calls is a function of the program, or a method of an object of it: its classes may only be made."""
        made = target.base if isinstance(target, Member) else target
        while isinstance(made, (Member, Result)):
            made = made.base if isinstance(made, Member) else made.of
        named = self.resolver.name(module.path, made.name) if isinstance(made, Ref) else None
        if not isinstance(named, Ref) or "::" not in named.name or named.name.endswith("::"):
            return False
        return isinstance(target, Member) or not self.resolver.classes.is_class(named.name)

    def package(self, module: Module) -> str:
        """The folder of the outermost package that a file stands in; "" for none."""
        return next(reversed(self._packages(os.path.dirname(module.path))), "")

    def _packages(self, folder: str) -> list[str]:
        """The packages of the program that a folder is, and is in, the innermost first."""
        return packages_around(folder, lambda each: self.index.has(os.path.join(each, INIT)))


def _up(folder: str, above: str) -> Iterator[str]:
    """A folder and those around it, as far as another one."""
    while folder != above:
        yield folder
        folder = os.path.dirname(folder)
