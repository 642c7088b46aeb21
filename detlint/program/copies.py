"""Copies of a program's files further down, as launch scripts make them: `device0/src/data.py` of `src/data.py`; and notebooks
with the code of a script, as Jupytext and documentation have them: `ipynb/train.ipynb` of `train.py`."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from typing import Final

from detlint.notebook import NotANotebook, is_notebook, open_notebook
from detlint.program.links import Links

_TOKEN: Final = re.compile(
    r"""
      (?P<text> [rRbBuUfF]{0,2} (?: \"{3} (?: \\. | [^\\] )*? \"{3} | '{3} (?: \\. | [^\\] )*? '{3}
                                  | " (?: \\. | [^"\\\n] )* "      | ' (?: \\. | [^'\\\n] )* ' ) )
    | (?P<open> [(\[{] )
    | (?P<close> ,? \s* [)\]}] )
    | (?P<line> \n [ \t]* )
    | (?P<blank> [ \t\r\f]+ | \\ \n | \# [^\n]* )
    | (?P<code> [^\s"'\#()\[\]{},\\]+ | . )
    """,
    re.X | re.S,
)
_MAGIC: Final = re.compile(r"^(?:[!%?]|(?:pip|conda) install\b).*", re.M)
"""A line that only a notebook can have."""


class Copies:
    """Finds the files that stand a second time below the folder of the first, with all that leads to them, and the notebooks with
    the code of a script that nothing imports.

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
            found = next((other for other in there if self._read(other) == self._read(path)), "")
            self._known[path] = found or (self._script(path) if is_notebook(path) else "")
        return self._known[path]

    def _script(self, path: str) -> str:
        """The script beside a notebook, or above, that has its name and its code; "" for none.

        What imports such a script would run it in another way than the notebook is.
        """
        scripts = (os.path.splitext(other)[0] + ".py" for other in (path, *self._above(path)))
        there = next((other for other in scripts if self._size(other) is not None), "")
        if not there or self._links.importers(there):
            return ""
        script, own = self._read(there), self._read(path)
        try:
            cells = open_notebook(own).texts if own is not None else []
        except NotANotebook:
            return ""
        same = script is not None and _plain(_MAGIC.sub("", "".join(cells))) == _plain(
            script.decode("utf-8", "replace")
        )
        return there if same else ""

    def _above(self, path: str) -> Iterator[str]:
        """Where a file would stand without some of the folders on its way: `a/b/c.py` as `b/c.py`, `c.py`, `a/c.py`."""
        inside = path.removeprefix(self._root)
        parts = inside.split(os.sep) if inside != path else []
        for first in range(len(parts) - 1):
            for last in range(first + 1, len(parts)):
                yield self._root + os.sep.join(parts[:first] + parts[last:])


def _plain(code: str) -> list[str]:
    """The statements of some Python, with their indentation, but without comments, layout, and texts that stand for themselves:
    where a script has these, a notebook has cells of Markdown."""
    lines, line, indent, depth, texts = list[str](), list[str](), "", 0, False
    for token in _TOKEN.finditer(code + "\n"):
        kind, said = token.lastgroup, token[0]
        if kind == "line" and not depth:
            if line and not texts:
                lines.append(indent + "".join(line))
            line, indent, texts = [], said[1:], False
        elif kind not in ("line", "blank"):
            depth += (kind == "open") - (kind == "close")
            texts = kind == "text" and not line
            line.append(said[-1] if kind == "close" else said)
    return lines
