"""A toy language over the files of a folder, for tests of the database: what a name may stand for, through imports in circles.

`a = x` gives a name a word, `from m import a` and `from m import *` take names of another module, `# ...` says nothing.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from detlint.db import Database, query, source
from detlint.db.inputs import content, listing

Words = frozenset[str]


class Module(msgspec.Struct, frozen=True):
    """What a file says."""

    words: tuple[tuple[str, str], ...]
    imports: tuple[tuple[str, str], ...]


@source(status=lambda: b"as ever")
def setting() -> str:
    """How a report is written, unless a test says another way."""
    return "plain"


@query(stored=False)
def place(db: Database, folder: str, module: str) -> str | None:
    """The file of a module."""
    name = f"{module}.toy"
    return os.path.join(folder, name) if name in (listing(db, folder) or ()) else None


@query
def parse(db: Database, path: str) -> Module:
    """What a file says."""
    return read(content(db, path))


@query(initial=frozenset())
def names(db: Database, folder: str, module: str) -> Words:
    """The names that a module has."""
    path = place(db, folder, module)
    if path is None:
        return frozenset()
    found = parse(db, path)
    own = {name for name, _ in found.words} | {name for _, name in found.imports if name != "*"}
    return frozenset(own.union(*(names(db, folder, other) for other, name in found.imports if name == "*")))


@query(initial=frozenset())
def resolve(db: Database, folder: str, module: str, name: str) -> Words:
    """The words that a name of a module may stand for."""
    path = place(db, folder, module)
    if path is None:
        return frozenset()
    found = parse(db, path)
    words = {word for own, word in found.words if own == name}
    for other, imported in found.imports:
        if imported == name or (imported == "*" and name in names(db, folder, other)):
            words |= resolve(db, folder, other, name)
    return frozenset(words)


@query
def report(db: Database, folder: str) -> str:
    """All that is known."""
    lines = []
    for file in listing(db, folder) or ():
        module = file.removesuffix(".toy")
        lines += [
            f"{module}.{name}: {said(resolve(db, folder, module, name))}" for name in sorted(names(db, folder, module))
        ]
    return "\n".join(lines) if setting(db) == "plain" else "\n".join(lines).upper()


def read(data: bytes | None) -> Module:
    """What a text says."""
    words, imports = [], []
    for line in (data or b"").decode().splitlines():
        match line.split():
            case [name, "=", word]:
                words.append((name, word))
            case ["from", module, "import", name]:
                imports.append((module, name))
    return Module(tuple(words), tuple(imports))


def said(words: Words) -> str:
    """Some words, as a report says them."""
    return " ".join(sorted(words)) or "nothing"


class Plain:
    """The same without a database: everything is computed again until nothing grows."""

    def __init__(self, folder: Path, way: str) -> None:
        self.way = way
        self.modules = {path.stem: read(path.read_bytes()) for path in sorted(folder.glob("*.toy"))}
        self.words: dict[str, dict[str, set[str]]] = {module: {} for module in self.modules}
        before = None
        while before != self.report():
            before = self.report()
            for module, found in self.modules.items():
                table = self.words[module]
                for name, word in found.words:
                    table.setdefault(name, set()).add(word)
                for other, name in found.imports:
                    theirs = self.words.get(other, {})
                    for one in list(theirs) if name == "*" else [name]:
                        table.setdefault(one, set()).update(theirs.get(one, ()))

    def resolve(self, module: str, name: str) -> Words:
        return frozenset(self.words.get(module, {}).get(name, ()))

    def report(self) -> str:
        lines = [
            f"{module}.{name}: {said(frozenset(table[name]))}"
            for module, table in sorted(self.words.items(), key=lambda one: f"{one[0]}.toy")
            for name in sorted(table)
        ]
        return "\n".join(lines) if self.way == "plain" else "\n".join(lines).upper()
