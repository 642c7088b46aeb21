"""What files take from others by `from m import *`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from detlint.model.modules import Modules

FEW_NAMES: Final = 4
"""So many names are looked for in the texts of files that offer theirs by `*`, before these are gathered."""


class Stars:
    """Follows such imports from file to file.

    Args:
        says: whether a file has a word in it, as part of another one too.
    """

    def __init__(self, modules: Modules, says: Callable[[str, str], bool]) -> None:
        self._modules = modules
        self._says = says
        self._starry: dict[str, list[tuple[str, str]]] = {}
        self._star_reached: dict[str, list[str] | None] = {}
        self._offers: dict[str, set[str] | None] = {}
        self._said: dict[str, dict[str, bool]] = {}
        """Names that files may offer -> which of them do."""

    def of(self, path: str) -> list[tuple[str, str]]:
        """What a file imports with `*`, in order: the name, and the file, "" where it is none of the program's."""
        if path not in self._starry:
            found: list[tuple[str, str]] = []
            head = self._modules.head(path)
            for star in head.stars if head is not None else ():
                place = self._modules.find(path, star)
                if place is None:
                    found.append((star, ""))
                elif not place[1] and place[0] != path:
                    found.append((star, place[0]))
            self._starry[path] = found
        return self._starry[path]

    def reached(self, path: str) -> list[str] | None:
        """A file and those from which it imports with `*`, however indirectly; None where one of them is not the program's."""
        if path not in self._star_reached:
            reached, seen = [path], {path}
            for other in reached:
                targets = {target: None for _, target in self.of(other) if target not in seen}
                if "" in targets:
                    self._star_reached[path] = None
                    return None
                seen.update(targets)
                reached += targets
            self._star_reached[path] = reached
        return self._star_reached[path]

    def gives(self, path: str, name: str) -> bool:
        """Whether `import *` may take a name from a file, as far as that itself says."""
        head = self._modules.head(path)
        if head is None or not head.closed:
            return not name.startswith("_") and self._may_offer(path, name)
        if path not in self._offers and self._says(path, name):
            self._offers[path] = {*self._modules.offers(path)}
        return name in (self._offers.get(path) or ())

    def _may_offer(self, path: str, name: str) -> bool:
        """Whether a file may bind a name, by `*` too; where packages import hundreds so, most files don't."""
        if path not in self._offers:
            reached = self.reached(path)
            if reached is None:
                self._offers[path] = None
            elif name in self._said or len(self._said) < FEW_NAMES:  # as after an edit of one file
                return any(self._binds(other, name) for other in reached)
            else:
                self._offers[path] = {n for o in reached for n in (*self._modules.offers(o), *self._modules.beside(o))}
        offered = self._offers[path]
        return offered is None or name in offered

    def _binds(self, path: str, name: str) -> bool:
        """Whether a file offers a name, or a module of that name stands beside it; most files don't even say it."""
        said = self._said.setdefault(name, {})
        if path not in said:
            offered = self._says(path, name) and name in self._modules.offers(path)
            said[path] = offered or name in self._modules.beside(path)
        return said[path]
