"""What a run has found out of a program, kept so that the next one judges anew only what a change can touch."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import chain
from typing import Final

import msgspec

from detlint.checks.finding import Finding
from detlint.facts.model import Head
from detlint.facts.store import File
from detlint.facts.yaml_text import is_yaml
from detlint.program.links import Hidden
from detlint.program.outcome import Outcome
from detlint.program.surroundings import Asked, Noted
from detlint.status import Status


class Row(msgspec.Struct, array_like=True):
    """A file as it was."""

    status: Status
    key: bytes
    inside: bool
    """Whether it is one of the program's own, rather than something that they import."""
    head: Head | None
    """Without what links that were noted make needless, and without the names that it offers."""
    module: str = ""
    """The dotted name of what the gate keeps out, which has no head to say it."""

    def holds(self, file: File) -> bool:
        """Whether a file of this status and dotted name is surely still the same.

        A YAML file has the same name wherever it stands.
        """
        name = self.module if self.head is None else self.head.module
        same_name = name == file.module or (self.head is None and is_yaml(file.path))
        return same_name and self.status.holds(file.status)


def _may_turn_on(sought: Mapping[str, Collection[str]], said: Collection[tuple[str, str]]) -> bool:
    """Whether an answer may change because of what files come to say.

    Args:
        sought: the words that were looked for in texts, by how the paths of these begin.
        said: words, with how the paths begin of the files that say them.
    """
    return any((beginning, word) in said for beginning, words in sought.items() for word in words)


class Followed(msgspec.Struct, array_like=True):
    """What following one entry point gave."""

    outcome: Outcome
    sites: dict[str, frozenset[int]]
    """The sites that it passes and that a rule knows, by module."""
    seeded: dict[str, frozenset[int]]
    """Those that make a generator object with a seed, by module."""
    visited: frozenset[str]
    """The files that it runs functions of, and those of which something is told by its place."""
    imported: frozenset[str]
    """Those besides whose top level it runs."""
    findings: list[Finding]
    trains: bool = False
    """Whether it trains, or starts in a file that speaks of it."""
    silent: dict[str, frozenset[int]] = {}
    """The sites that draw nothing, by what it hands them, by module."""
    opened: frozenset[str] = frozenset()
    """The files whose bodies were looked into for what is told of it; the next two are as those of `Judged`."""
    asked: tuple[str, ...] = ()
    sought: dict[str, list[str]] = {}

    def may_turn_on(self, said: Collection[tuple[str, str]]) -> bool:
        """Whether it may change because of what files come to say, as `_may_turn_on` has it."""
        return _may_turn_on(self.sought, said)


class Judged(msgspec.Struct, array_like=True):
    """What judging one module gave."""

    findings: list[Finding]
    opened: tuple[str, ...]
    """The other files whose bodies that looked into."""
    varies: bool = False
    """Whether it may be another with any run that passes the module, whatever that passes there."""
    asked: tuple[str, ...] = ()
    """The names whose users were searched for, in whatever files."""
    sought: dict[str, list[str]] = {}
    """The words that were looked for in the texts of files, by how the paths of these begin: whichever comes to say one of them may
    change the answer."""

    def may_turn_on(self, said: Collection[tuple[str, str]]) -> bool:
        """Whether it may change because of what files come to say, as `_may_turn_on` has it."""
        return _may_turn_on(self.sought, said)

    open: bool = False
    """Whether it may be another where a run that trains comes to the module by imports, or none does."""


class Record(msgspec.Struct, array_like=True):
    """A program as it was when it was last checked, under the same settings."""

    files: dict[str, Row] = {}
    imports: dict[str, tuple[str, ...]] = {}
    followed: dict[str, list[Followed]] = {}
    idle: dict[str, tuple[frozenset[str], frozenset[str]]] = {}
    """Files that start no run, as nothing counts of what their top level does: what that visits, and what it imports besides."""
    judged: dict[str, Judged] = {}
    others: dict[str, bytes] = {}
    """Keys of files that do not belong to the program, but that names led into."""
    folders: dict[str, tuple[Status, str]] = {}
    """Folders whose listing was consulted, and what was in them."""
    missed: list[str] = []
    """The names that files were asked for and don't define: to define one may be news to who asked."""
    hidden: Hidden = {}
    """The names under which something of the catalog may be called."""

    def has(self, path: str, key: bytes) -> bool:
        """Whether a file had the content of a key, and the same name."""
        row = self.files.get(path)
        return row is not None and row.key == key

    documents: dict[str, tuple[str, str]] = {}
    """Scripts of whose project the documents were read: what has to be compared, as `Documents.holds` does."""
    around: dict[Asked, Noted] = {}
    """What was asked of what stands around files."""
    keys: dict[tuple[str, str, str], tuple[str, str]] = {}
    """Keys of settings that were asked for: what has to be compared, as `Documents.still_chosen` does."""


class Packed(msgspec.Struct, array_like=True):
    """Who imports whom, which is half of a record when written out: here the paths are said once."""

    paths: msgspec.Raw
    imports: msgspec.Raw
    """What the first of the paths import, by their positions."""


class _Kept(msgspec.Struct, array_like=True):
    """A record on disk."""

    packed: Packed
    rest: Record


_KEPT: Final = msgspec.msgpack.Decoder(_Kept)
_PATHS: Final = msgspec.msgpack.Decoder(list[str])
_IMPORTS: Final = msgspec.msgpack.Decoder(list[tuple[int, ...]])
_ENCODER: Final = msgspec.msgpack.Encoder()


def encode(record: Record, packed: Packed | None) -> bytes:
    """A record for the disk.

    Args:
        packed: its imports, where these are as they were.

    Raises:
        UnicodeEncodeError: a file's name is no text.
    """
    packed = packed or _packed(record.imports)
    return _ENCODER.encode(_Kept(packed, msgspec.structs.replace(record, imports={})))


def _packed(imports: dict[str, tuple[str, ...]]) -> Packed:
    paths = [*dict.fromkeys((*imports, *chain.from_iterable(imports.values())))]
    place = dict(zip(paths, range(len(paths)), strict=True)).__getitem__
    placed = [tuple(map(place, targets)) for targets in imports.values()]
    return Packed(msgspec.Raw(_ENCODER.encode(paths)), msgspec.Raw(_ENCODER.encode(placed)))


def decode(data: memoryview) -> tuple[Record, Packed]:
    """A record that was on disk, and its imports as they stood there.

    Raises:
        msgspec.DecodeError: it is none.
    """
    kept = _KEPT.decode(data)
    paths, imports = _PATHS.decode(kept.packed.paths), _IMPORTS.decode(kept.packed.imports)
    path = paths.__getitem__
    kept.rest.imports = {importer: tuple(map(path, targets)) for importer, targets in zip(paths, imports, strict=False)}
    return kept.rest, kept.packed
