"""Putting a new content into a file: whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from detlint.files import read


class NotWritten(Exception):
    """Why a file was left as it was."""


def write(path: Path, before: bytes, after: bytes) -> None:
    """Replace a file's content. Its mode is kept; a link stays a link, and what it leads to is changed.

    Args:
        before: what was read. A file that has something else by now is left alone.

    Raises:
        NotWritten: it has changed, or can't be written.
    """
    real = Path(os.path.realpath(path))
    try:
        if read(real) != before:
            raise NotWritten("it has changed since it was read; run detlint again")
        if not os.access(real, os.W_OK):
            raise NotWritten("it may not be written")
        handle, name = tempfile.mkstemp(prefix=f".{real.name}.", suffix=".detlint", dir=real.parent)
    except OSError as error:
        raise NotWritten(f"it can't be written: {error.strerror}") from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(after)
            file.flush()
            os.fsync(file.fileno())
        status = real.stat()
        os.chmod(name, status.st_mode)
        with contextlib.suppress(OSError):  # only root may give files away
            os.chown(name, status.st_uid, status.st_gid)
        if read(real) != before:
            raise NotWritten("it has changed since it was read; run detlint again")
        os.replace(name, real)
    except OSError as error:
        raise NotWritten(f"it can't be written: {error.strerror}") from None
    finally:
        with contextlib.suppress(OSError):
            os.unlink(name)
