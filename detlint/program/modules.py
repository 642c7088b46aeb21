"""Finds the file that a dotted name lives in, as Python's import system would from the importing file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from detlint.facts.model import Facts


def module_name(path: Path) -> tuple[str, bool]:
    """The dotted name of a file, from the packages it stands in, and whether it is a package itself."""
    parts = [] if path.name == "__init__.py" else [path.stem]
    folder = path.parent
    while (folder / "__init__.py").is_file() and folder.name.isidentifier():
        parts.insert(0, folder.name)
        folder = folder.parent
    return ".".join(parts) or path.stem, path.name == "__init__.py"


class Modules:
    """The program's files by name. Facts are read when first asked for, so gated files cost nothing until needed.

    Args:
        root: nothing outside of this folder belongs to the program.
        read: gives the facts of a file, or None where there is no such file.
    """

    def __init__(self, root: Path, read: Callable[[Path], Facts | None]) -> None:
        self.root = root
        self._read = read
        self._facts: dict[Path, Facts | None] = {}
        self._bases: dict[Path, tuple[Path, ...]] = {}
        self._found: dict[tuple[Path, str], Path | None] = {}
        self._is_file: dict[Path, bool] = {}

    def facts(self, path: Path) -> Facts | None:
        """The facts of a file, None where it doesn't exist or can't be parsed."""
        if path not in self._facts:
            facts = self._read(path)
            self._facts[path] = facts if facts is not None and facts.problem is None else None
        return self._facts[path]

    def find(self, importer: Path, name: str) -> tuple[Path, str] | None:
        """The file that holds `name` when `importer` says it, and what of the name is left inside that file."""
        head, rest = name, ""
        while head:
            path = self._module(importer, head)
            if path is not None:
                return path, rest
            head, _, last = head.rpartition(".")
            rest = f"{last}.{rest}" if rest else last
        return None

    def _module(self, importer: Path, name: str) -> Path | None:
        folder = importer.parent
        key = (folder, name)
        if key not in self._found:
            self._found[key] = self._search(folder, name.split("."))
        return self._found[key]

    def _search(self, folder: Path, parts: list[str]) -> Path | None:
        if not all(parts):
            return None
        for base in self._search_path(folder):
            target = base.joinpath(*parts)
            for candidate in (target / "__init__.py", target.with_name(target.name + ".py")):
                if self._exists(candidate):
                    return candidate
        return None

    def _search_path(self, folder: Path) -> tuple[Path, ...]:
        """Where `folder`'s files import from: the folder above their package (or their own), then the roots."""
        if folder not in self._bases:
            own = folder
            while self._exists(own / "__init__.py") and own != own.parent:
                own = own.parent
            bases = [own, self.root, self.root / "src"]
            self._bases[folder] = tuple(b for b in dict.fromkeys(bases) if b.is_relative_to(self.root))
        return self._bases[folder]

    def _exists(self, path: Path) -> bool:
        if path not in self._is_file:
            # A folder that isn't there has no files: most names are looked up in vain, and folders repeat.
            parent = path.parent
            self._is_file[path] = parent.is_dir() and path.is_file() and "site-packages" not in path.parts[len(self.root.parts) :]
        return self._is_file[path]
