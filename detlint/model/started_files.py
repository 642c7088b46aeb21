"""Which files anything comes to: by importing them, by a text that has their name, or since a run starts in them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from typing import Final

from detlint.db import Memo
from detlint.folders import INIT
from detlint.ir import ops as op
from detlint.ir.code import Function
from detlint.ir.yaml_nodes import scalars
from detlint.model.by_text import ByText
from detlint.model.index import Index
from detlint.model.module import Module
from detlint.model.sites.records import SHAPES, Branch, Const, Items, Member, Ref, Result, Site, Value
from detlint.model.uses import Users
from detlint.notebook import is_notebook

_STARTS: Final = frozenset({"-m", "import", "python", "python3"})
"""Words of a command, or a statement, that starts or imports a file."""


class Imported:
    """Finds the files that nothing comes to.

    Args:
        by_text: knows how files come to others without their names.
        root: the project's root.
        packaged: whether the project is made to be installed, so that others use its packages.
    """

    def __init__(self, users: Users, by_text: ByText, root: str, packaged: bool) -> None:
        self._users = users
        self._resolver = users.resolver
        self._index = users.index
        self._by_text = by_text
        self._root = root
        self._packaged = packaged
        self._led: Memo[bool] = Memo(users.db)

    def is_imported(self, module: Module) -> bool:
        if self._users.is_imported(module):
            return True
        # What is installed is imported by its whole name.
        if self.is_in_library(module):
            return False
        return self._users.is_said_to_be_imported(module) or self._is_left_out(module) or self._is_written_out(module)

    def is_done_without(self, module: Module, name: str) -> bool:
        """Whether a notebook, of which all cells can be read, does something with definitions of its own behind that of a name, for its own
        sake: whoever writes it has come to the use of that one. No other notebook runs it."""
        dynamic, code = self._users.dynamic(module.path), self._resolver.code(module.path)
        if dynamic is None or code is None or dynamic.own or module.facts.left_out:
            return False
        last = max((f.header.line for f in code.by_name.get(name, ())), default=sys.maxsize)
        acts = (site.span.line for site in self._own_acts(module))
        return last < max(acts, default=0) and not self._users.is_run_by_notebook(module, name)

    def is_never_run(self, module: Module) -> bool:
        """Whether a file is left out altogether: no run starts in it, and nothing imports it or looks for files by their names, as runs
        import a file beside it."""
        users = self._users
        if self._may_be_imported(module) or users.starts(module.path) or not self._is_left_out(module):
            return False
        if any(self._by_text.finding(users.home(module))):
            return False
        return any(self._runs(end) for path in self._beside(module) for end in users.ends(path) or () if end != path)

    def _may_be_imported(self, module: Module) -> bool:
        """Whether anything imports a file, or something of its name, or may do so out of sight."""
        users = self._users
        return users.is_imported(module) or self.is_in_library(module) or users.is_said_to_be_imported(module)

    def is_star(self, module: Module) -> bool:
        """Whether anything imports all names of a file, or may do so out of sight."""
        if not self._may_be_imported(module):
            return False
        # Where no run leads to a file, it is for others.
        ends = self._users.ends(module.path) or () if not self.is_in_library(module) else ()
        return not any(map(self._users.starts, ends)) or len(self._by_text.carriers(module)) > 1

    def _is_left_out(self, module: Module) -> bool:
        """Whether all is in sight that may use a file which nothing imports: a run starts in it, or runs come to others beside
        it, and nothing says its name or looks for files."""
        users = self._users
        if self._runs(module.path) or module.facts.starts == "main":
            return not only_shows_shapes(module)
        beside = [*self._beside(module)]
        led = any(self._runs(end) for path in beside for end in users.ends(path) or ())
        if not led and not any(map(self._is_meant_by_run, beside)):
            return False
        place = place_of(module)
        stem = os.path.basename(place)
        saying = users.saying(module, stem)
        if saying is None:
            return False
        importing = {*users.naming(module)}
        for path in saying:
            own = path == module.path or path.startswith(place + os.sep)
            if not own and (path in importing or self._means_file(path, stem)):
                return False
        return not self._may_be_found(module)

    def _is_meant_by_run(self, path: str) -> bool:
        """Whether a file in which a run starts imports a module of the name of this file, and finds none: whoever starts it says
        where that is."""
        if self._index.has(os.path.join(os.path.dirname(path), INIT)):
            return False  # what is in a package is imported through that
        module = self._resolver.module(path)
        stem = os.path.basename(place_of(module)) if module is not None else ""
        for other in self._users.naming(module) if module is not None else ():
            run = self._resolver.module(other) if self._runs(other) else None
            said = run is not None and any(name.partition(".")[0] == stem for name in run.facts.imports)
            if said and self._resolver.modules.find(other, stem) is None:
                return True
        return False

    def is_closed(self, package: Module) -> bool:
        """Whether all is in sight that may import a package, and nothing does: what it has of its files nobody gets from it."""
        inside = place_of(package) + os.sep
        if self.is_in_library(package) or self._users.home(package).startswith(inside):
            return False
        for path in self._users.importers(package.path):
            if not path.startswith(inside):
                return False
        return self._is_left_out(package)

    def _is_written_out(self, module: Module) -> bool:
        """Whether a text has the whole name of a definition of a file, and so has whoever comes to others of them."""
        folder, stem = place_of(module).split(os.sep)[-2:]
        defined = {*module.classes, *module.functions}
        for path in self._users.saying(module, stem) or ():
            parts = (_parts(text) for text in self._constants(path)) if path != module.path else ()
            if any(
                pair[:2] == (folder, stem) and pair[2] in defined
                for each in parts
                for pair in zip(each, each[1:], each[2:], strict=False)
            ):
                return not self._may_be_found(module)
        return False

    def _constants(self, path: str) -> Iterator[str]:
        """The texts that are values in a file: those of its code, or its settings."""
        code = self._resolver.code(path)
        return (
            value
            for value in (code.constants if code is not None else scalars_of(self._index, path))
            if isinstance(value, str)
        )

    def _means_file(self, path: str, stem: str) -> bool:
        """Whether a text that is a value in a file may mean another one by its name: alone, or with its folder, its ending, or behind
        `-m`; not as a word of a sentence, nor as a key."""
        code = self._resolver.code(path)
        if code is None:
            return any(_names_file(text, stem) for text in scalars_of(self._index, path))
        rows = {row for row, value in enumerate(code.constants) if isinstance(value, str) and _names_file(value, stem)}
        return bool(rows) and any(
            operation[1] in rows and not _is_key(function, at)
            for function in code.functions()
            for at, operation in function.each(op.CONST)
        )

    def _beside(self, module: Module) -> Iterator[str]:
        """The files in the folder of a module, or of a package, but for itself; and those to which others lead in the folders above,
        as far as no run starts in these, or in the next one if there is nothing beside it."""
        folder, home = os.path.dirname(place_of(module)), self._users.home(module)
        beside = [path for path in self._inside(folder) if path != module.path and not self._is_empty(path)]
        yield from beside
        above = os.path.dirname(folder)
        while f"{above}{os.sep}".startswith(home) and (above + os.sep != home or not beside):
            yield from (path for path in self._inside(above) if self._users.importers(path))
            above, beside = os.path.dirname(above), [above]

    def _is_empty(self, path: str) -> bool:
        """Whether nothing is done in a file; one that makes a folder a package says that."""
        code = self._resolver.code(path) if not path.endswith(INIT) else None
        return code is not None and not code.module.ops

    def _inside(self, folder: str) -> Iterator[str]:
        """The Python files in a folder itself."""
        below = self._index.below(folder)
        return (path for path in below if path.endswith(".py") and os.path.dirname(path) == folder)

    def _may_be_found(self, module: Module) -> bool:
        """Whether a program may come to a file whose name it doesn't say: by one that it puts together, or is given."""
        home = self._users.home(module)
        finding = [*self._by_text.finding(home)]
        if any(
            not dynamic.only_splits(place.function.outermost) for _, dynamic in finding for place in dynamic.finding
        ):
            return True
        if not finding:
            return False
        # Whole names of classes, with their modules, are written out somewhere, unless a part of one is put in.
        folder = os.path.basename(os.path.dirname(place_of(module)))
        texts = (text for path in self._index.saying(folder, home) for text in self._constants(path))
        return any(_parts(text)[-2:] == (folder, "") for text in texts)

    def _runs(self, path: str) -> bool:
        """Whether a run surely starts in a file: in a block that does more than to show shapes, or where its top level calls
        something of the program for its own sake."""
        module = self._resolver.module(path) if self._users.begins(path) in ("main", "script") else None
        if module is None or module.facts.starts == "main":
            return module is not None and not only_shows_shapes(module)
        return any(self._own_acts(module))

    def _own_acts(self, module: Module) -> Iterator[Site]:
        """Where the top level of a file calls something of the program for its own sake."""
        top = (n for n, site in enumerate(module.sites) if site.function == 0 and site.kind == "call")
        calls = (module.sites[n] for n in top if self._users.sinks.is_dropped(module, n))
        return (site for site in calls if self._is_of_program(module.path, site.target))

    def _is_of_program(self, path: str, value: Value | None) -> bool:
        """Whether a value is of the program, or comes of calling something that is."""
        while isinstance(value, (Member, Result)):
            value = value.base if isinstance(value, Member) else value.of
        named = self._resolver.name(path, value.name) if isinstance(value, Ref) else None
        return isinstance(named, Ref) and "::" in named.name

    def is_in_library(self, module: Module) -> bool:
        """Whether a file is part of what is installed, so that others use it who are not in sight."""
        package = self._users.package(module)
        outside = os.path.dirname(package or module.path)
        if self._packaged and outside in (self._root, os.path.join(self._root, "src")):
            return True
        return bool(package) and not f"{outside}{os.sep}".startswith(f"{self._root}{os.sep}")

    def is_led_to_by(self, module: Module, scripts: frozenset[str]) -> bool:
        """Whether nobody comes to a file but some scripts: no other file imports it, or something of its name, however indirectly, and
        nothing looks for files by names that are put together. What an installed package gives out anybody may have."""
        return self._led.of((module.path, scripts), lambda: self._finds_out_led(module, scripts), False)

    def _finds_out_led(self, module: Module, scripts: frozenset[str]) -> bool:
        users = self._users
        ends = users.ends(module.path)
        if ends is None or not scripts.issuperset(ends) or any(map(is_notebook, ends)) or self.is_in_library(module):
            return False
        waiting, seen = [module.path], {module.path, *scripts}
        for path in waiting:
            importers, other = users.importers(path), self._resolver.module(path)
            if other is None or any(name not in importers for name in users.naming(other)):
                return False
            waiting += [importer for importer in importers if importer not in seen]
            seen.update(importers)
        return not self._may_be_found(module)

    def is_given_out(self, module: Module, name: str) -> bool:
        """Whether a library gives a definition to whoever uses it, without saying its name: it stands in no package, or has
        `from .module import *`."""
        if name.startswith("_") or not self.is_in_library(module):
            return False
        if not self._users.package(module):
            return True
        listed = module.facts.names.get("__all__")
        known = listed.values if isinstance(listed, Items) else ()
        if known and all(isinstance(item, Const) for item in known) and Const(name) not in known:
            return False
        return any(path.endswith(INIT) for path in self._by_text.carriers(module))


def scalars_of(index: Index, path: str) -> Sequence[str]:
    """The values of a file of settings; of a file of Python that can't be parsed none."""
    return scalars(index.yaml(path) or ())


def only_shows_shapes(module: Module) -> bool:
    """Whether a file has a `__main__` block, which shows no more than shapes."""
    return only_does(module, SHAPES)


def only_does(module: Module, what: Const) -> bool:
    """Whether a file has a `__main__` block, and each does no more than something."""
    steps = module.steps(module.facts.functions[0])
    mains = [step for step in steps if isinstance(step, Branch) and step.kind == "main"]
    return bool(mains) and all(step.test == what for step in mains)


def _names_file(text: str, stem: str) -> bool:
    """Whether a text may have the name of a module as one of a file, or of a module."""
    words = text.split()
    if len(words) == 1:
        return stem in _parts(text)
    starts = not _STARTS.isdisjoint(words)
    return any(stem in _parts(word) and (word != stem or starts) for word in words)


def _parts(text: str) -> tuple[str, ...]:
    """The parts of a dotted name, or a path."""
    return tuple(text.replace("/", ".").replace(":", ".").replace(os.sep, ".").split("."))


def _is_key(function: Function, at: int) -> bool:
    """Whether a constant is only the key of a table, or asked for as one."""
    uses = function.users[at]
    return bool(uses) and all(
        (function.ops[use.op][0] == op.DICT and use.place % 2 == 1)
        or (function.ops[use.op][0] in (op.ITEM, op.SET_ITEM) and use.place == 2)
        for use in uses
    )


def place_of(module: Module) -> str:
    """Where a module is, as those see it who import it: a file without its ending, or the folder of a package."""
    return module.path.removesuffix(os.sep + INIT).removesuffix(".py")
