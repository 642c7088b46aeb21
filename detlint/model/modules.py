"""Finds the file that a dotted name lives in, as Python's import system would from the importing file.

Paths are absolute strings: a program asks for hundreds of thousands of them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Final, NamedTuple

from detlint.folders import INIT, is_folder, packages_around
from detlint.ir.code import Code
from detlint.ir.cpp_text import is_cpp
from detlint.ir.launch_texts import is_settings
from detlint.model.launches.scripts import is_packaged
from detlint.model.sites.reading.values import STDLIB
from detlint.model.sites.records import ANY, Facts, Head
from detlint.model.surroundings import Surroundings
from detlint.notebook import SUFFIX, is_notebook
from detlint.status import NOTHING, Status, status_of

FRAMEWORKS: Final = frozenset({"torch", "numpy", "mindspore", "tensorflow"})
"""What is never taken for the program's own, even in their own repositories."""


class ModuleNames:
    """Dotted names of files, from the packages that they stand in. Folders are looked at once."""

    def __init__(self) -> None:
        self._prefixes: dict[str, str] = {}

    def of(self, path: str) -> tuple[str, bool]:
        """The dotted name of a file, by its absolute path, and whether it is a package itself."""
        if not path.isascii():  # a file name need not be text; a module name is
            path = path.encode("utf-8", "replace").decode()
        folder, _, name = path.rpartition(os.sep)
        if name.endswith(".py"):
            package = name == INIT
            prefix = self._prefixes[folder] if folder in self._prefixes else self._prefix(folder, package)
            if package:
                return _own(prefix or os.path.basename(folder)), True
            stem = name[:-3] or name
            return _own(f"{prefix}.{stem}") if prefix else f"({stem})" if stem in STDLIB | FRAMEWORKS else stem, False
        if is_notebook(name):
            # No import leads into a notebook, which may be called `torch.ipynb`: its name is none that one could say.
            return f"<{name.removesuffix(SUFFIX).replace('.', '_')}>", False
        if is_settings(name) or is_cpp(name):
            return f"[{name.replace('.', '_')}]", False
        prefix, stem = self._prefix(folder), name.rpartition(".")[0] or name
        return f"{prefix}.{stem}" if prefix else stem, False

    def _prefix(self, folder: str, package: bool = False) -> str:
        """The dotted name of the package that a folder is, "" when it is none.

        Args:
            package: whether it is known to have a file that makes it one.
        """
        if folder not in self._prefixes:
            above, name = os.path.split(folder)
            inside = name.isidentifier() and (package or os.path.isfile(os.path.join(folder, INIT)))
            outer = self._prefix(above) if inside else ""
            self._prefixes[folder] = (f"{outer}.{name}" if outer else name) if inside else ""
        return self._prefixes[folder]


def _own(name: str) -> str:
    """The name of a module of the program's own: one in `(code)`, which is not the standard library's `code`."""
    first, dot, rest = name.partition(".")
    return f"({first}){dot}{rest}" if first in STDLIB else name


class Given(NamedTuple):
    """What is asked of whoever reads the files."""

    read: Callable[[str], Facts | None]
    """The facts of a file, or None where there is no such file."""
    code: Callable[[str], Code | None]
    """The IR of a file, or None where there is none."""
    look: Callable[[str], Head | None]
    """What is known of a file without reading its facts, or None."""
    is_script: Callable[[str], bool]
    """Whether a file has a `__main__` block."""
    is_taken: Callable[[str], bool]
    """Whether a top-level name is that of a package which is installed, or may be."""
    put: Callable[[], Mapping[str, Sequence[str]]]
    """The folders of files, each with those that files in it put on Python's search path."""


class Modules:
    """The program's files by name. Facts are read when first asked for, so gated files cost nothing until needed.

    Args:
        root: nothing outside of this folder belongs to the program.
        given: is asked for what stands in files.
        began: when the run began, in nanoseconds.
    """

    def __init__(self, root: Path, given: Given, began: int) -> None:
        self.root = str(root)
        self._given = given
        self._code = cache(given.code)
        self.is_taken = given.is_taken
        self._began = began
        self.around = Surroundings(self.root)
        self._facts: dict[str, Facts | None] = {}
        self._paths: list[tuple[str, ...]] = []
        self._scopes: dict[str, int] = {}
        self._found: dict[tuple[int, str], str | None] = {}
        self._scripted: dict[str, bool] = {}
        self._told: set[str] = set()
        self._listed: dict[str, tuple[frozenset[str], frozenset[str]]] = {}
        self._leading: set[str] = set()
        """Folders with links to others, which may come and go without that the folder changes."""
        self._states: dict[str, Status] = {}

    def facts(self, path: str) -> Facts | None:
        """The facts of a file, None where it doesn't exist."""
        if path not in self._facts:
            self._facts[path] = self._given.read(path)
        return self._facts[path]

    def code(self, path: str) -> Code | None:
        """The IR of a file; None where it can't be read or parsed, and of one that is no Python."""
        return self._code(path)

    def head(self, path: str) -> Head | None:
        """The beginning of a file's facts, as brief as `Head.brief` makes it; None where it doesn't exist."""
        return self._given.look(path) or self.facts(path)

    def offers(self, path: str) -> list[str]:
        """The names that `import *` takes from a file, besides those that it takes so from others."""
        head = self.head(path)
        head = self.facts(path) if head is not None and head.offers is None else head
        return head.offers.split() if head is not None and head.offers else []

    def find(self, importer: str, name: str) -> tuple[str, str] | None:
        """The file that holds `name` when `importer` says it, and what of the name is left inside that file."""
        scope = self.scope(importer)
        first = name.partition(".")[0]
        head, rest = name if first not in FRAMEWORKS else "", ""
        while head:
            key = (scope, head)
            if key not in self._found:
                self._found[key] = self._search(scope, head)
            path = self._found[key]
            if path is not None:
                # In a package of the program that is called as the library's is, but a module by itself merely has its name.
                return (path, rest) if head != first or first not in STDLIB or path.endswith(INIT) else None
            head, _, last = head.rpartition(".")
            rest = f"{last}.{rest}" if rest else last
        return None

    def scope(self, importer: str) -> int:
        """A number for where a file imports from: what a name means to one file, it means to all of the same scope."""
        folder = importer.rpartition(os.sep)[0]
        if folder not in self._scopes:
            path = self._search_path(folder)
            if path not in self._paths:
                self._paths.append(path)
            self._scopes[folder] = self._paths.index(path)
        return self._scopes[folder]

    def base(self, importer: str) -> str:
        """The folder that a file imports from before any other, with a separator at its end."""
        path = self._paths[self.scope(importer)]
        return f"{path[0] if path else os.path.dirname(importer)}{os.sep}"

    def above(self, importer: str) -> str:
        """The nearest folder above the one that a file imports from first, in which a script stands, with a separator at its end; ""
        where there is none."""
        own = self.base(importer).rstrip(os.sep)
        return next((f"{folder}{os.sep}" for folder in self._above(own)), "")

    def beside(self, path: str) -> set[str]:
        """The modules and packages in the folder of a package's own file; none where it is no package."""
        folder, _, name = path.rpartition(os.sep)
        if name != INIT:
            return set()
        files, folders = self._list(folder)
        return {file.removesuffix(".py") for file in files} | folders

    def has(self, folder: str, name: str) -> bool:
        """Whether a folder has a module, or a folder, of a name."""
        files, folders = self._list(folder)
        return f"{name}.py" in files or name in folders

    def spelled_out(self, importer: str, name: str) -> list[str]:
        """The names that a dotted name stands for: `models.*` for each module of the package, any other for itself."""
        package, star, rest = name.partition(f".{ANY}")
        return [f"{package}.{module}{rest}" for module in self._inside(importer, package)] if star else [name]

    def _inside(self, importer: str, name: str) -> list[str]:
        """The names of the modules and packages in a package, as a file imports it; a folder need not say that it is one."""
        for base in self._paths[self.scope(importer)]:
            place: str | None = base
            for package in name.split("."):
                package = package.strip("()")
                place = self._step(place, package) if place is not None else None
            if place is not None:
                files, folders = self._list(place)
                packages = {folder for folder in folders if INIT in self._list(f"{place}{os.sep}{folder}")[0]}
                return sorted({file.removesuffix(".py") for file in files if file != INIT} | packages)
        return []

    def _search(self, scope: int, name: str) -> str | None:
        *packages, last = (part.strip("()") for part in name.split("."))
        if not packages and (beside := self._of_script(scope, last)):
            return beside
        for base in (*self._paths[scope], *self._named(scope, packages)):
            place: str | None = base
            for package in packages:
                place = self._step(place, package) if place is not None else None
            if place is None:
                continue
            inside = self._step(place, last)
            if inside is not None and INIT in self._list(inside)[0]:
                return f"{inside}{os.sep}__init__.py"
            if f"{last}.py" in self._list(place)[0]:
                return f"{place}{os.sep}{last}.py"
        return None

    @cached_property
    def _is_packaged(self) -> bool:
        return is_packaged(Path(self.root))

    def _of_script(self, scope: int, name: str) -> str | None:
        """The module that has the name of the package in which it stands beside a script: who starts that has its folder on the path
        first, unless the project is made to be installed, so that its package is there."""
        folders = (base for base in self._paths[scope] if os.path.basename(base) == name)
        found = next((base for base in folders if {INIT, f"{name}.py"} <= self._list(base)[0]), None)
        return f"{found}{os.sep}{name}.py" if found is not None and not self._is_packaged else None

    def _named(self, scope: int, packages: list[str]) -> list[str]:
        """The folder above that in which a file stands, where it names its own folder as a package, by which nothing else is found:
        whoever starts it has that on the path."""
        own, name = os.path.split(self._paths[scope][0]) if packages and self._paths[scope] else ("", "")
        named = name != "" and name == packages[0] and own.startswith(self.root)
        return [own] if named and not self.is_taken(name) else []

    def has_files(self, folder: str) -> bool:
        """Whether a folder of the program has Python files, but doesn't say that it is a package."""
        files = self._list(folder)[0] if folder.startswith(self.root + os.sep) else frozenset[str]()
        return bool(files) and INIT not in files

    def _step(self, folder: str, name: str) -> str | None:
        return f"{folder}{os.sep}{name}" if name in self._list(folder)[1] and name != "site-packages" else None

    def _search_path(self, folder: str) -> tuple[str, ...]:
        """Where `folder`'s files import from: the folder above their package (or their own), what files beside them put on the path, or
        files elsewhere of what is above them, then the roots, then the folders inside the package that have scripts, whose own folder
        Python puts on its path."""
        inside = packages_around(folder, lambda each: INIT in self._list(each)[0])
        own = os.path.dirname(inside[-1]) if inside else folder
        scripts = (f for f in inside if self._has_script(f))
        put = [*self._put.get(folder, ()), *self._put_above(own)]
        bases = dict.fromkeys([own, *self._above(own), *put, self.root, f"{self.root}{os.sep}src", *scripts])
        return tuple(b for b in bases if b == self.root or b.startswith(self.root + os.sep))

    @cached_property
    def _put(self) -> Mapping[str, Sequence[str]]:
        return self._given.put()

    @cached_property
    def _put_anywhere(self) -> frozenset[str]:
        return frozenset(folder for folders in self._put.values() for folder in folders)

    def _put_above(self, folder: str) -> list[str]:
        """The nearest folder above one that a file of the program puts on the path."""
        return self._nearest_above(folder, self._put_anywhere.__contains__)

    def _above(self, folder: str) -> list[str]:
        """The nearest folder above one in which a script stands: who starts that has it on the path."""
        return self._nearest_above(folder, self._has_script)

    def _nearest_above(self, folder: str, holds: Callable[[str], bool]) -> list[str]:
        """The nearest folder of the program above one of which something holds; none where it holds of none."""
        while folder != self.root and folder.startswith(self.root):
            folder = os.path.dirname(folder)
            if holds(folder):
                return [folder]
        return []

    def _has_script(self, folder: str) -> bool:
        """Whether a file in a folder has a `__main__` block."""
        if folder not in self._scripted:
            files = self._list(folder)[0]
            self._scripted[folder] = any(self._given.is_script(f"{folder}{os.sep}{name}") for name in files)
        return self._scripted[folder]

    def consulted(self) -> dict[str, tuple[Status, str]]:
        """The folders whose listing an answer may depend on, each told once, with their states."""
        told, self._told = [folder for folder in self._listed if folder not in self._told], set(self._listed)
        return {folder: self.state(folder) for folder in told}

    def state(self, folder: str) -> tuple[Status, str]:
        """The status of a folder, and the modules and packages in it, one a line."""
        status = self._status(folder)
        files, folders = self._list(folder)
        status = NOTHING if folder in self._leading else status
        return status, "\n".join(sorted({*files, *folders})).encode("utf-8", "replace").decode()

    def renewed(self, folder: str, status: Status, listing: str) -> tuple[Status, str]:
        """The state of a folder that was in one before."""
        return (status, listing) if status.holds(self._status(folder)) else self.state(folder)

    def news(self, folder: str, status: Status, listing: str) -> set[str]:
        """The modules and packages that have come into a folder, or gone, since it was as `state` says."""
        if status.holds(self._status(folder)):
            return set()
        return {*listing.split("\n")} ^ {*self.state(folder)[1].split("\n")}

    def _status(self, folder: str) -> Status:
        """The status of a folder, as it was when that was first asked: a listing is no older."""
        if folder not in self._states:
            self._states[folder] = status_of(folder, self._began)
        return self._states[folder]

    @property
    def held(self) -> int:
        """The number of files whose facts are at hand."""
        return len(self._facts)

    def forget(self) -> None:
        """Let go of facts until they are asked for again."""
        self._facts.clear()
        self._code.cache_clear()

    def _list(self, folder: str) -> tuple[frozenset[str], frozenset[str]]:
        """The Python files and the folders in a folder."""
        if folder not in self._listed:
            self._status(folder)
            files, folders = set[str](), set[str]()
            try:
                with os.scandir(folder) as entries:
                    for entry in entries:
                        if entry.name.endswith(".py"):
                            files.add(entry.name)
                        elif is_folder(entry, links=True):
                            folders.add(entry.name)
                        if entry.is_symlink():
                            self._leading.add(folder)
            except OSError:
                pass
            self._listed[folder] = frozenset(files), frozenset(folders)
        return self._listed[folder]
