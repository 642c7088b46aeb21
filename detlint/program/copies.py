"""Copies of a program's files further down, as launch scripts make them: `device0/src/data.py` of `src/data.py`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from detlint.program.links import Links


class Copies:
    """Finds the files that stand a second time below the folder of the first, with all that leads to them.

    Args:
        root: nothing outside of this folder is looked at.
        size: that of a file of the program, in bytes; None where there is no such file.
        read: the bytes of one, None where they can't be read.
    """

    def __init__(
        self, root: str, size: Callable[[str], int | None], read: Callable[[str], bytes | None], links: Links
    ) -> None:
        self._root = root + os.sep
        self._size = size
        self._read = read
        self._links = links
        self._known: dict[str, str] = {}
        """File -> the one with the same text; "" for none."""

    def original(self, path: str) -> str:
        """The file that a file is a copy of; "" where it is none, or where a file imports it that is none."""
        found = self._same(path)
        return found if found and all(map(self._same, self._links.reaching([path]))) else ""

    def _same(self, path: str) -> str:
        if path not in self._known:
            size = self._size(path)
            there = (other for other in self._above(path) if size is not None and self._size(other) == size)
            self._known[path] = next((other for other in there if self._read(other) == self._read(path)), "")
        return self._known[path]

    def _above(self, path: str) -> Iterator[str]:
        """Where a file would stand without some of the folders on its way: `a/b/c.py` as `b/c.py`, `c.py`, `a/c.py`."""
        inside = path.removeprefix(self._root)
        parts = inside.split(os.sep) if inside != path else []
        for first in range(len(parts) - 1):
            for last in range(first + 1, len(parts)):
                yield self._root + os.sep.join(parts[:first] + parts[last:])
