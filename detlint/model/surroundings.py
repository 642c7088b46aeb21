"""What stands around a program's files, and decides whether an import finds something: modules that may yet be built. What was asked is
noted, for the next run to ask again."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final

BUILDS: Final = ("setup.py", "setup.cfg", "pyproject.toml", "CMakeLists.txt", "Makefile")
"""Files by which modules may be compiled, or otherwise made, that a repository doesn't have."""
COMPILED: Final = (".c", ".cc", ".cpp", ".cu", ".cxx", ".f90", ".hip", ".mm", ".proto", ".pyx", ".rs")
"""How the files end that modules are compiled, or generated, from."""
Asked = tuple[str, str]
"""A folder, and the name of a module that it may have."""
Noted = bool | None
"""The answer; None where that has changed while files were read."""


class Surroundings:
    """Looks around.

    Args:
        root: the folder of the program; nothing above it is looked at.
    """

    def __init__(self, root: str) -> None:
        self._root = root
        self.noted: dict[Asked, Noted] = {}
        """What was asked for."""

    def may_hold(self, folder: str, name: str) -> bool:
        """Whether a folder has a module or package of a name, compiled ones too, or may get it when it is built."""
        asked = folder, name
        if asked not in self.noted:
            self.noted[asked] = _has(folder, name) or self._is_built(folder)
        return self.noted[asked] is not False

    def holds(self, asked: Asked, noted: Noted) -> bool:
        """Whether the answer is what it was."""
        return self.may_hold(*asked) is noted

    def learn(self, noted: Mapping[Asked, Noted]) -> None:
        """Take over what others have found out."""
        for asked, found in noted.items():
            self.noted[asked] = found if self.noted.get(asked, found) is found else None

    def _is_built(self, folder: str) -> bool:
        """Whether something in a folder, or around it, says how modules are built, or is what they are compiled from."""
        while not any(os.path.exists(f"{folder}{os.sep}{file}") for file in BUILDS) and not _has_sources(folder):
            if folder == self._root or not folder.startswith(self._root):
                return False
            folder = os.path.dirname(folder)
        return True


def _has(folder: str, name: str) -> bool:
    try:
        with os.scandir(folder) as entries:
            return any(entry.name.partition(".")[0] == name for entry in entries)
    except OSError:
        return True


def _has_sources(folder: str) -> bool:
    """Whether a folder, or one in it, has a file that a module may be compiled from."""
    for parent, folders, files in os.walk(folder):
        if parent != folder:
            folders.clear()
        if any(file.endswith(COMPILED) for file in files):
            return True
    return False
