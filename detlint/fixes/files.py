"""The files that may be fixed, each read and opened as its kind when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable

from detlint.catalog import Catalog
from detlint.fixes.file import File
from detlint.fixes.fixable import Fixable
from detlint.fixes.launch_file import LaunchFile
from detlint.fixes.notebook_file import NotebookFile
from detlint.fixes.python_file import PythonFile
from detlint.fixes.recipe import Left, NoFix
from detlint.fixes.text import Undecodable
from detlint.fixes.yaml_file import YamlFile
from detlint.ir.launch_texts import is_launch, is_settings
from detlint.notebook import is_notebook


class Files(dict[str, Fixable]):
    """The files as they are now, by path.

    Args:
        read: gives the content of a file; raises `Left` where nothing may be changed in it.
        catalog: tells how configurations name what they build.

    Attributes:
        left: those that were asked for and in which nothing may be changed, and why.
    """

    def __init__(self, read: Callable[[str], bytes], catalog: Catalog) -> None:
        super().__init__()
        self._read = read
        self._catalog = catalog
        self.left: dict[str, Left] = {}

    def __missing__(self, path: str) -> Fixable:
        if path in self.left:
            raise self.left[path]
        try:
            file = self[path] = self._opened(path, self._read(path))
        except (Left, Undecodable) as error:
            self.left[path] = error if isinstance(error, Left) else Left(str(error))
            raise self.left[path] from None
        return file

    def _opened(self, path: str, data: bytes) -> Fixable:
        if is_notebook(path):
            return NotebookFile(path, data)
        if is_launch(path):
            return LaunchFile(path, data, self._catalog)
        return YamlFile(path, data, self._catalog) if is_settings(path) else PythonFile(path, data)

    def renew(self, path: str) -> None:
        """Open a file again whose content is another one now."""
        before = self.pop(path)
        after = self[path]
        if isinstance(before, File) and isinstance(after, File):
            after.takes_over(before)

    def code(self, path: str) -> File:
        """A file of Python, or a notebook.

        Raises:
            NoFix: it is none, or can't be read.
        """
        file = self[path]
        if not isinstance(file, File):
            raise NoFix("it is no Python")
        return file
