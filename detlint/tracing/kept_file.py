"""Files that a run has left for later ones: JSON of a struct that says which version of it that is."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol, TypeVar

import msgspec

from detlint.runtime.launch import NotStarted


class Versioned(Protocol):
    """What has a number for its form."""

    format: int


T = TypeVar("T", bound=Versioned)


def read(path: Path, kind: type[T], version: int, *, made: str, other: str, old: str) -> T:
    """What a file has.

    Args:
        version: the number of the form that is understood.
        made: the command that writes such a file.
        other: what is said of one that isn't such a file.
        old: what is said of one of another version.

    Raises:
        NotStarted: there is no such file, or it is another.
    """
    try:
        found = msgspec.json.decode(path.read_bytes(), type=kind)
    except FileNotFoundError:
        raise NotStarted(f"{path}: there is no such file; `{made}` writes it") from None
    except (OSError, ValueError) as error:
        raise NotStarted(f"{path}: {other}: {error}") from None
    if found.format != version:
        raise NotStarted(f"{path}: {old}")
    return found
