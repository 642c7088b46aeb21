"""The files of the program, each opened once, and what full names and numbers say of their place: `<file>::<name in the file>`."""

from __future__ import annotations

from detlint.db import Database
from detlint.ir.code import Code
from detlint.ir.function import Function as Body
from detlint.ir.parts import REFLECTING
from detlint.marks import Brief, Noted, body, brief, facts, part, saying
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
        self.follows = False
        """Whether a run is being followed."""
        self._parts: dict[tuple[str, int], int] = {}
        self.missed: set[str] = set()
        """The names that files were asked for and don't define themselves: to define one may be news to who asked."""

    def module(self, path: str) -> Module | None:
        """The module in a file, None where it can't be read."""
        if path not in self.by_path:
            read = self.modules.facts(path)
            module = None
            if read is not None and read.problem is None:
                prefix, scope = f"{read.module}.", self.modules.scope(path)
                mark = self.db.number(facts, path)
                module = Module(path, len(self._numbered), read, prefix, scope, self.db, mark)
                module.functions = {f.name: f for f in read.functions if f.name}
                module.classes = {c.name: c for c in read.classes}
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

    def by_words(self, path: str, *words: str) -> Code | None:
        """The same, for whoever has looked for words in it, and goes by what the functions say that have them.

        Args:
            words: those by which a run goes that is followed, of which it isn't noted what words it looks for; all of the file without.
        """
        code = self.modules.code(path)
        if self.follows and not words:
            self.opened.add(path)
        for word in words if self.follows else ():  # that none has such a word is said outside of its functions
            if word not in REFLECTING or (code is not None and word in code.identifiers):
                saying(self.db, path, word)
        return code

    def inside(self, path: str, function: Body) -> None:
        """Let what is being found out rest on what a function says, and what stands in it: no more of the IR of its file than that, and
        than what the top level does."""
        key = path, function.part
        number = self._parts.get(key)
        if number is None:
            number = self.db.number(part, path, str(key[1])) if key[1] else self.db.number(facts, path)
            self._parts[key] = number
        self.db.asked[number] = None

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
