"""What answers about a program rest on: whoever reads something of it notes the mark that stands for that, and `changes.py` touches those
that stand for what isn't as it was."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Generic, TypeVar

from detlint.db import Database, Mark, mark

K = TypeVar("K", str, tuple[str, str])


@mark
def body(path: str) -> None:
    """What a file says, and what its names lead to."""


@mark
def top(path: str) -> None:
    """What importing a file does."""


@mark
def users(name: str) -> None:
    """The files that have, call or hand on something by a name."""


@mark
def importers(path: str) -> None:
    """Which files import a file."""


@mark
def starting(folder: str) -> None:
    """In which files of a folder itself a run starts."""


@mark
def below(folder: str) -> None:
    """Which files there are whose paths begin so."""


@mark
def saying(folder: str, word: str) -> None:
    """What files say that have a word, of those whose paths begin so."""


@mark
def way(path: str) -> None:
    """The ways of runs through a file that pass something there, and whether runs end before they come to it."""


@mark
def passages(path: str) -> None:
    """All ways of runs through a file."""


@mark
def trained(path: str) -> None:
    """Whether a run that trains comes to a file."""


class Noted(Generic[K]):
    """Notes marks of one kind."""

    def __init__(self, db: Database, kind: Mark[...]) -> None:
        self._db = db
        self._kind = kind

    def add(self, key: K) -> None:
        """Let what is being found out rest on one."""
        self._kind(self._db, *((key,) if isinstance(key, str) else key))

    def update(self, keys: Iterable[K]) -> None:
        """Let it rest on some of them."""
        for key in keys:
            self.add(key)
