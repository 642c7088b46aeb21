"""Putting a new content into a file: whole or not at all, and only where it was meant to go."""

from __future__ import annotations

import os
from pathlib import Path

from detlint import whole
from detlint.files import read
from detlint.fixes.recipe import CHANGED


class NotWritten(Exception):
    """Why a file was left as it was."""


def write(path: Path, before: bytes | None, after: bytes, root: Path | None = None) -> None:
    """Replace a file's content, or make the file.

    A link stays a link, and what it leads to is changed. Mode, owner and extended attributes are kept. Another name of the same
    file (a hard link) keeps the old content: it may belong to anyone.

    Args:
        before: what was read. A file that has something else by now is left alone. None: there must be no file.
        root: the project's; see `leads_outside`.

    Raises:
        NotWritten: it has changed, can't be written, or a link leads out of the project.
    """
    real = os.path.realpath(path)
    outside = leads_outside(path, root) if root is not None else None
    if outside is not None:
        raise NotWritten(outside)

    def ready(temporary: str) -> None:
        if before is not None:
            whole.like(real, temporary)
        if _content(real) != before:
            raise NotWritten(CHANGED)

    try:
        if _content(real) != before:
            raise NotWritten(CHANGED)
        if before is not None and not os.access(real, os.W_OK):
            raise NotWritten("it may not be written")
        whole.replace(real, [after], ready, mode=0o666 if before is None else 0o600)
    except OSError as error:
        raise NotWritten(f"it can't be written: {error.strerror or error}") from None


def _content(path: str) -> bytes | None:
    """What a file has; None where there is none.

    Raises:
        OSError: it can't be read.
    """
    try:
        return read(path)
    except FileNotFoundError:
        return None


def leads_outside(path: str | os.PathLike[str], root: Path) -> str | None:
    """Why a file may not be changed: a link leads to it that stands within the project, while the file stands outside.

    A file that was named although it stands outside of the project is changed, if no link replaces it by one elsewhere.

    Args:
        root: the project's root.
    """
    place, top = Path(os.path.abspath(path)), Path(os.path.abspath(root))
    tops = [top] if place.is_relative_to(top) else [top, place.parent]
    real = Path(os.path.realpath(place))
    inside = any(real.is_relative_to(os.path.realpath(one)) for one in tops)
    return None if inside else f"a link leads from it to {real}, outside of the project"
