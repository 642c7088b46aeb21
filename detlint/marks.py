"""What answers about a program rest on. Who imports a file, which files there are and where runs start are queries; for what files say
whoever reads it notes a mark that stands for that, and `changes.py` touches those that stand for what isn't as it was."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Generic, Protocol, TypeVar

import msgspec
import xxhash

from detlint.db import Database, Mark, mark, query, source

K = TypeVar("K", str, tuple[str, str])


NPU_AS_CUDA: Final = "torch_npu.contrib.transfer_to_npu"
"""What has all that names CUDA run on Ascend."""


class Brief(msgspec.Struct, array_like=True, frozen=True):
    """What runs ask of all files that they come to."""

    options: tuple[str, ...] = ()
    """The options of command lines that it declares."""
    mentions: tuple[str, ...] = ()
    """Its words for devices."""
    libraries: tuple[str, ...] = ()
    """What its imports begin with, sorted."""
    stands_for_cuda: bool = False
    """Whether it imports what lends CUDA's names to other hardware."""
    draws: tuple[str, ...] = ()
    """The streams that its functions may draw from by themselves, sorted, by the names that it calls."""
    keeps: tuple[str, ...] = ()
    """By what its functions keep random states, sorted: full names, "" for a method of an object that isn't known."""


class Program(Protocol):
    """What queries ask of a program as a whole."""

    def brief(self, path: str) -> Brief:
        """What runs ask of a file."""

    def importers(self, path: str) -> Sequence[str]:
        """The files that import a file, sorted."""

    def begins(self, path: str) -> str:
        """How a run may start in a file, as its head says; "" where none does."""

    def files_in(self, folder: str) -> Iterable[str]:
        """The files of a folder itself, in order."""

    def below(self, folder: str) -> list[str]:
        """The files whose paths begin so, in order."""


class OfProgram(Database):
    """What is known of a program."""

    program: Program


@mark
def body(path: str) -> None:
    """What a file says, and what its names lead to."""


@mark
def facts(path: str) -> None:
    """The same, but for what stands inside of its functions and only the IR says: what facts tell, and what the top level does."""


@mark
def part(path: str, function: str) -> None:
    """What the IR says inside of a function, by the number of its `Function.part`."""


@mark
def top(path: str) -> None:
    """What importing a file does."""


@mark
def users(name: str) -> None:
    """The files that have, call or hand on something by a name."""


@source
def linked() -> bytes:
    """What tells who imports whom, and in which files runs start, from other states: whoever opens the program sets it."""
    raise LookupError


@source
def followable() -> tuple[str, ...]:
    """The files from which runs are followed, sorted: those that lead to what is reported on. It is set likewise."""
    raise LookupError


@source
def listed() -> bytes:
    """What tells which files there are, and how runs may start in them, from other states; it is set likewise."""
    raise LookupError


@query
def importers(db: Database, path: str) -> tuple[str, ...]:
    """The files that import a file, sorted."""
    linked(db)
    return tuple(_program(db).importers(path))


@query
def brief(db: Database, path: str) -> Brief:
    """What runs ask of a file; nothing of one that can't be read."""
    facts(db, path)
    return _program(db).brief(path)


@query
def starting(db: Database, folder: str) -> str:
    """The first file of a folder itself in which a run may start; "" for none."""
    listed(db)
    program = _program(db)
    return next((path for path in program.files_in(folder) if program.begins(path)), "")


@query
def begins(db: Database, path: str) -> str:
    """How a run may start in a file; "" where none does."""
    listed(db)
    return _program(db).begins(path)


@query
def below(db: Database, folder: str) -> bytes:
    """What tells which files there are whose paths begin so from others."""
    listed(db)
    return digest_of(_program(db).below(folder))


def digest_of(value: object) -> bytes:
    """What tells a value from others, the same in every process; it holds no sets."""
    try:
        packed = msgspec.msgpack.encode(value)
    except UnicodeEncodeError:  # the name of some file is no text
        packed = repr(value).encode("utf-8", "backslashreplace")
    return xxhash.xxh3_128_digest(packed)


def _program(db: Database) -> Program:
    assert isinstance(db, OfProgram)
    return db.program


@mark
def saying(folder: str, word: str) -> None:
    """What functions say that have a word, and what is outside of functions where a file has it, of those whose paths begin so."""


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
