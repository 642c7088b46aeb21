"""What stands around a program's files, and decides whether an import finds something: modules that may yet be built, and whatever may
say how a program is started. What was asked is noted, for the next run to ask again."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Final

from xxhash import xxh3_64_hexdigest

from detlint.files import beginning
from detlint.status import status_of

GENERATED: Final = re.compile(r"^_|version|_pb2|build|generated")
"""Modules that are often made when a package is built."""
BUILDS: Final = ("setup.py", "setup.cfg", "pyproject.toml", "CMakeLists.txt", "Makefile")
"""Files by which modules may be compiled, or otherwise made, that a repository doesn't have."""
COMPILED: Final = (".c", ".cc", ".cpp", ".cu", ".cxx", ".f90", ".hip", ".mm", ".pyx", ".rs")
"""How the files end that modules are compiled from."""
SPEAKING: Final = (
    ".py", ".sh", ".md", ".rst", ".txt", ".yml", ".yaml", ".toml", ".cfg", ".ini", ".json", ".ipynb", ".bat",
)  # fmt: skip
"""How files end that may say how a program is started."""
MOST_READ: Final = 1 << 20
"""How many bytes of such a file are read: what is longer is data."""
PATHS: Final = re.compile(rb"PYTHONPATH|sys\.path|site-packages|addsitedir")
_CHANGED: Final = ("", False)
"""What is noted of files that have changed while they were read."""

Asked = tuple[str, str]
"""A folder, and the name of a module that it may have; "" for whether a file there speaks of the path."""
Noted = tuple[str, bool]
"""What changes with the files that were read, if any were, and the answer."""


class Surroundings:
    """Looks around.

    Args:
        root: the folder of the program; nothing above it is looked at.
        began: when the run began, in nanoseconds.
    """

    def __init__(self, root: str, began: int) -> None:
        self._root = root
        self._began = began
        self.noted: dict[Asked, Noted] = {}
        """What was asked for."""

    def may_hold(self, folder: str, name: str) -> bool:
        """Whether a folder has a module or package of a name, compiled ones too, or may get it when it is built."""
        asked = folder, name
        if asked not in self.noted:
            self.noted[asked] = "", bool(GENERATED.search(name)) or _has(folder, name) or self._is_built(folder)
        return self.noted[asked][1]

    def speaks_of_path(self, folder: str) -> bool:
        """Whether a file in a folder, or in those in it, speaks of the path on which Python looks for modules."""
        asked = folder, ""
        if asked not in self.noted:
            self.noted[asked] = self._stamp(folder), any(map(_speaks, _speaking(folder)))
        return self.noted[asked][1]

    def holds(self, asked: Asked, noted: Noted) -> bool:
        """Whether the answer is what it was; files that have not been touched aren't read for it."""
        folder, name = asked
        if not name and noted[0] == self._stamp(folder):
            self.noted[asked] = noted
            return True
        return (self.may_hold(folder, name) if name else self.speaks_of_path(folder)) is noted[1]

    def learn(self, noted: Mapping[Asked, Noted]) -> None:
        """Take over what others have found out."""
        for asked, found in noted.items():
            self.noted[asked] = found if self.noted.get(asked, found) == found else _CHANGED

    def _is_built(self, folder: str) -> bool:
        """Whether something in a folder, or around it, says how modules are built, or is what they are compiled from."""
        while not any(os.path.exists(f"{folder}{os.sep}{file}") for file in BUILDS) and not _has_sources(folder):
            if folder == self._root or not folder.startswith(self._root):
                return False
            folder = os.path.dirname(folder)
        return True

    def _stamp(self, folder: str) -> str:
        statuses = [(path, status_of(path, self._began)) for path in sorted(_speaking(folder))]
        return xxh3_64_hexdigest(repr(statuses).encode("utf-8", "replace"))


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


def _speaking(folder: str) -> Iterator[str]:
    """The files in a folder, and in those in it, that may say how a program is started."""
    for parent, folders, files in os.walk(folder):
        if parent.count(os.sep) > folder.count(os.sep) + 1:
            folders.clear()
        folders.sort()
        for file in sorted(files):
            if file.endswith(SPEAKING) or "." not in file:
                yield os.path.join(parent, file)


def _speaks(path: str) -> bool:
    try:
        return PATHS.search(beginning(path, MOST_READ)) is not None
    except OSError:
        return True
