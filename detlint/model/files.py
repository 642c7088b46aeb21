"""The files of the program, each opened once, and what full names and numbers say of their place: `<file>::<name in the file>`."""

from __future__ import annotations

from detlint.db import Database
from detlint.ir.code import Code
from detlint.marks import Brief, Noted, body, brief
from detlint.model.module import Module
from detlint.model.modules import Modules
from detlint.model.sites.records import Function, Ref, Site, Value


class Files:
    """Opens files, and remembers which ones.

    Args:
        db: is told what answers rest on.
    """

    def __init__(self, modules: Modules, db: Database) -> None:
        self.db = db
        self.modules = modules
        self.by_path: dict[str, Module | None] = {}
        self._numbered: list[Module | None] = [None]
        """By number: from 1, so that no position of a site in its own file is the number of one that means the same everywhere."""
        self._imported: dict[str, list[Module]] = {}
        self.opened: Noted[str] = Noted(db, body)
        """The files that were looked into."""
        self.missed: set[str] = set()
        """The names that files were asked for and don't define themselves: to define one may be news to who asked."""

    def module(self, path: str) -> Module | None:
        """The module in a file, None where it can't be read."""
        if path not in self.by_path:
            facts = self.modules.facts(path)
            module = None
            if facts is not None and facts.problem is None:
                prefix, scope = f"{facts.module}.", self.modules.scope(path)
                mark = self.db.number(body, path)
                module = Module(path, len(self._numbered), facts, prefix, scope, self.db, mark)
                module.functions = {f.name: f for f in facts.functions if f.name}
                module.classes = {c.name: c for c in facts.classes}
            self.by_path[path] = module
            self._numbered.append(module)
        return self.by_path[path]

    def is_module(self, path: str) -> bool:
        """Whether a file can be read, which is known of those of the program without reading them."""
        if path not in self.by_path:
            head = self.modules.head(path)
            if head is not None and head.lines:
                return True
        return self.module(path) is not None

    def brief(self, path: str) -> Brief:
        """What runs ask of a file, which is known without reading it."""
        return brief(self.db, path)

    def code(self, path: str) -> Code | None:
        """The IR of a file; None where there is none."""
        self.opened.add(path)
        return self.modules.code(path)

    def looked_into(self, path: str) -> Module:
        """The module that a normal name begins with, for whoever goes by what it defines."""
        self.opened.add(path)
        return self.known(path)

    def known(self, path: str) -> Module:
        """The module that a normal name begins with."""
        module = self.module(path)
        assert module is not None, path
        return module

    def definition(self, name: str) -> tuple[Module, str] | None:
        """The file that a full name of the program begins with, and the name inside it; None for one of a library."""
        path, colon, inside = name.partition("::")
        module = self.module(path) if colon else None
        return (module, inside) if module is not None else None

    def function(self, value: Value | None) -> tuple[Module, Function] | None:
        """The function, or method, of the program that a value surely is; None for anything else."""
        module, inside = (self.definition(value.name) if isinstance(value, Ref) else None) or (None, "")
        function = module.functions.get(inside) if module is not None else None
        return (module, function) if module is not None and function is not None else None

    def imported(self, module: Module) -> list[Module]:
        """The program's modules that a module imports, in order."""
        if module.path not in self._imported:
            places = [self.modules.find(module.path, name) for name in module.facts.imports]
            paths = dict.fromkeys(place[0] for place in places if place is not None)
            found = [self.module(path) for path in paths]
            self._imported[module.path] = [target for target in found if target is not None]
        return self._imported[module.path]

    def global_site(self, path: str, site: int) -> int:
        """A number for a site of a file that means the same everywhere; -1 for none."""
        module = self.module(path)
        return -1 if site < 0 or module is None else (module.number << 32) | site

    def numbered(self, number: int) -> Module | None:
        """The module of a number."""
        return self._numbered[number]

    def place(self, number: int) -> tuple[Module, Site] | None:
        """The site that a number of `global_site` stands for; None for none."""
        if number < 0:
            return None
        module = self.numbered(number >> 32)
        assert module is not None, f"{number} is a position in some file"
        return module, module.sites[number & 0xFFFFFFFF]
