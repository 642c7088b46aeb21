"""A program as it was when answers about it were found out: what the next run compares it with, to tell which of them may be others now."""

from __future__ import annotations

from itertools import chain
from typing import Final

import msgspec

from detlint.ir.launch_texts import is_settings
from detlint.model.links import Hidden
from detlint.model.sites.records import Head
from detlint.model.sites.store import File
from detlint.model.surroundings import Asked, Noted
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

        A YAML file, or a launch text, has the same name wherever it stands.
        """
        name = self.module if self.head is None else self.head.module
        same_name = name == file.module or (self.head is None and is_settings(file.path))
        return same_name and self.status.holds(file.status)


class State(msgspec.Struct, array_like=True):
    """A program as it was when it was last looked at, under the same settings."""

    files: dict[str, Row] = {}
    imports: dict[str, tuple[str, ...]] = {}
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
    """Who imports whom, which is half of a state when written out: here the paths are said once."""

    paths: msgspec.Raw
    imports: msgspec.Raw
    """What the first of the paths import, by their positions."""


class _Kept(msgspec.Struct, array_like=True):
    """A state on disk."""

    packed: Packed
    rest: State


_KEPT: Final = msgspec.msgpack.Decoder(_Kept)
_PATHS: Final = msgspec.msgpack.Decoder(list[str])
_IMPORTS: Final = msgspec.msgpack.Decoder(list[tuple[int, ...]])
_ENCODER: Final = msgspec.msgpack.Encoder()


def encode(state: State, packed: Packed | None) -> bytes:
    """A state for the disk.

    Args:
        packed: its imports, where these are as they were.

    Raises:
        UnicodeEncodeError: a file's name is no text.
    """
    packed = packed or _packed(state.imports)
    return _ENCODER.encode(_Kept(packed, msgspec.structs.replace(state, imports={})))


def _packed(imports: dict[str, tuple[str, ...]]) -> Packed:
    paths = [*dict.fromkeys((*imports, *chain.from_iterable(imports.values())))]
    place = dict(zip(paths, range(len(paths)), strict=True)).__getitem__
    placed = [tuple(map(place, targets)) for targets in imports.values()]
    return Packed(msgspec.Raw(_ENCODER.encode(paths)), msgspec.Raw(_ENCODER.encode(placed)))


def decode(data: bytes) -> tuple[State, Packed]:
    """A state that was on disk, and its imports as they stood there.

    Raises:
        msgspec.DecodeError: it is none.
    """
    kept = _KEPT.decode(data)
    paths, imports = _PATHS.decode(kept.packed.paths), _IMPORTS.decode(kept.packed.imports)
    path = paths.__getitem__
    kept.rest.imports = {importer: tuple(map(path, targets)) for importer, targets in zip(paths, imports, strict=False)}
    return kept.rest, kept.packed
