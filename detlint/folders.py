"""Folders, and the packages that they are in."""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import takewhile
from pathlib import PurePath
from typing import Final

INIT: Final = "__init__.py"


def is_folder(entry: os.DirEntry[str], *, links: bool = False) -> bool:
    """Whether what is listed in a folder is one itself, as far as it can be looked at: a link in a circle can't.

    Args:
        links: whether a link to a folder counts as one.
    """
    try:
        return entry.is_dir(follow_symlinks=links)
    except OSError:
        return False


def is_file(entry: os.DirEntry[str]) -> bool:
    """Whether what is listed in a folder is a regular file, or a link to one, as far as it can be looked at."""
    try:
        return entry.is_file()
    except OSError:
        return False


def _says_so(folder: str) -> bool:
    return os.path.isfile(os.path.join(folder, INIT))


def packages_around(folder: str, is_package: Callable[[str], bool] = _says_so) -> list[str]:
    """The package that a folder is, and those around it, the innermost first; nothing where it is none.

    Args:
        folder: by its absolute path: a relative one doesn't say what is around it.
        is_package: tells packages, which have an `__init__.py`.
    """
    return [*takewhile(is_package, (folder, *map(str, PurePath(folder).parents)))]
