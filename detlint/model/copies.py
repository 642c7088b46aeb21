"""Copies of a program's files further down, as launch scripts make them: `device0/src/data.py` of `src/data.py`; and notebooks
with the code of a script, as Jupytext and documentation have them: `ipynb/train.ipynb` of `train.py`."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Sequence

from yaml import Node

from detlint.ir.code import Code
from detlint.ir.extent import are_alike
from detlint.ir.yaml_nodes import canonical
from detlint.model.links import Links
from detlint.notebook import is_notebook


class Copies:
    """Finds the files that stand a second time below the folder of the first, with all that leads to them, and the notebooks with
    the code of a script that nothing imports.

    Args:
        root: nothing outside of this folder is looked at.
        files: those of the program.
        code: the IR of one; None for one that has none.
        yaml: the documents of a YAML file; None for any other.
    """

    def __init__(
        self,
        root: str,
        files: Collection[str],
        code: Callable[[str], Code | None],
        yaml: Callable[[str], Sequence[Node] | None],
        links: Links,
    ) -> None:
        self._root = root + os.sep
        self._files = files
        self._code = code
        self._yaml = yaml
        self._links = links
        self._known: dict[str, str] = {}
        """File -> the one that says the same; "" for none."""

    def original(self, path: str) -> str:
        """The file that a file is a copy of; "" where it is none, or where a file imports it that is none."""
        found = self._same(path)
        return found if found and all(map(self._same, self._links.reaching([path]))) else ""

    def _same(self, path: str) -> str:
        if path not in self._known:
            there = (other for other in self._above(path) if path in self._files and other in self._files)
            found = next((other for other in there if self._says(path, other)), "")
            self._known[path] = found or (self._script(path) if is_notebook(path) else "")
        return self._known[path]

    def _script(self, path: str) -> str:
        """The script beside a notebook, or above, that has its name and its code; "" for none.

        What imports such a script would run it in another way than the notebook is.
        """
        scripts = (os.path.splitext(other)[0] + ".py" for other in (path, *self._above(path)))
        there = next((other for other in scripts if other in self._files), "")
        return there if there and not self._links.importers(there) and self._says(path, there) else ""

    def _says(self, path: str, other: str) -> bool:
        """Whether two files say the same."""
        code, there = self._code(path), self._code(other)
        if code is None or there is None:
            documents, others = self._yaml(path), self._yaml(other)
            return documents is not None and others is not None and canonical(documents) == canonical(others)
        return are_alike(code, there)

    def _above(self, path: str) -> Iterator[str]:
        """Where a file would stand without some of the folders on its way: `a/b/c.py` as `b/c.py`, `c.py`, `a/c.py`."""
        inside = path.removeprefix(self._root)
        parts = inside.split(os.sep) if inside != path else []
        for first in range(len(parts) - 1):
            for last in range(first + 1, len(parts)):
                yield self._root + os.sep.join(parts[:first] + parts[last:])
