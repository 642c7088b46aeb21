"""Loads the catalog that is shipped, and the user's own. A compiled copy is kept in the cache; one of what is shipped, beside the
code, as Python keeps what it has compiled."""

from __future__ import annotations

import gc
import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cache as remembered
from importlib.util import cache_from_source
from pathlib import Path
from typing import Final

import msgspec
import xxhash

from detlint import __version__
from detlint.cachefile import read_whole, write_whole
from detlint.catalog.compiled import Compiled, put_together
from detlint.catalog.entries import CatalogError
from detlint.catalog.index import Catalog
from detlint.catalog.sources import check_rules, parse
from detlint.files import read
from detlint.folders import is_file, is_folder


def directory() -> Path:
    """The catalog that is shipped: inside the package when installed, at the repository's top when editable."""
    here = Path(__file__).parent.parent
    installed = here / "rules"
    return installed if installed.is_dir() else here.parent / "rules"


STREAMS: Final = {"torch": ("torch", "cuda", "npu", "mps", "xpu")}
"""What people mean by a name: `torch.manual_seed` seeds the devices, too."""


def seeding(label: str, functions: Mapping[str, Iterable[str]]) -> list[tuple[str, bytes]]:
    """What settings say of functions that seed, as a catalog: none where they say nothing.

    Args:
        label: what messages call it.
        functions: dotted names, each with its streams.
    """
    rows = []
    for name, streams in functions.items():
        meant = dict.fromkeys(stream for told in streams for stream in STREAMS.get(told, (told,)))
        row = {"names": [name], "seeds": [*meant], "absent": "fixed", "source": label}
        rows.append("\n".join(["[[api]]", *(f"{key} = {json.dumps(value)}" for key, value in row.items())]))
    return [(label, "\n".join(rows).encode())] if rows else []


def load(extra: list[Path] | None = None, cache: Path | None = None, more: Sequence[tuple[str, bytes]] = ()) -> Catalog:
    """The shipped catalog and the user's own files, in that order; a compiled copy is kept in `cache`.

    Args:
        extra: the user's catalogs.
        more: further ones, each with what messages call it.
        cache: folder for the compiled form; None keeps none.

    Raises:
        CatalogError: a file can't be read or is wrong.
    """
    shipped = _states(directory(), ".toml")
    own = [*((str(file), _read(file)) for file in extra or []), *more]
    digest = xxhash.xxh3_128(f"{__version__} {sys.version_info[:2]}".encode())
    digest.update(repr((shipped, _code())).encode())
    for path, data in own:
        digest.update(b"\0" + path.encode() + b"\0" + data)
    fingerprint = digest.hexdigest()
    if cache is None and fingerprint in _loaded:
        return _loaded[fingerprint]
    collecting = gc.isenabled()
    gc.disable()  # nothing of what is made here is garbage
    try:
        compiled = cache / f"catalog-{fingerprint}.msgpack" if cache else None
        known = _read_compiled(compiled) if compiled else None
        if known is None:
            beside = _beside() if not own and fingerprint not in _made else None
            if beside and (known := _read_compiled(beside, fingerprint)):
                _made[fingerprint] = msgspec.msgpack.encode(known)
            elif fingerprint not in _made:
                made = _compile([*((_shown(file), _read(Path(file))) for file, _, _ in shipped), *own])
                _made[fingerprint] = msgspec.msgpack.encode(made)
                if beside and beside.parent.is_dir() and not sys.dont_write_bytecode:
                    write_whole(beside, _made[fingerprint], fingerprint)
            known = known or msgspec.msgpack.decode(_made[fingerprint], type=Compiled)
            if compiled:
                write_whole(compiled, _made[fingerprint])
        catalog = _loaded[fingerprint] = Catalog(known, fingerprint)
    finally:
        if collecting:
            gc.enable()
    return catalog


def _compile(sources: list[tuple[str, bytes]]) -> Compiled:
    documents = [parse(path, data) for path, data in sources]
    check_rules(sources, documents)
    return put_together(documents)


def _read(file: Path) -> bytes:
    try:
        return read(file)
    except OSError as error:
        raise CatalogError(f"{file}: can't be read: {error.strerror}") from None


def _shown(file: str) -> str:
    """A shipped file as messages name it."""
    return str(Path(file).relative_to(directory().parent))


_made: dict[str, bytes] = {}
"""What this process has compiled, by fingerprint: one folder for a cache after the other gets it."""
_loaded: dict[str, Catalog] = {}
"""What this process has loaded, by fingerprint: who uses no cache, and asks again and again, waits once."""


def _states(folder: Path, ending: str) -> list[tuple[str, int, int]]:
    """The files below a folder with their sizes and when they were changed, in the order of their paths: what tells one
    state of detlint's own files from another."""
    found = []
    folders = [str(folder)]
    while folders:
        with os.scandir(folders.pop()) as inside:
            for item in inside:
                if item.name.endswith(ending) and is_file(item):  # an editor's lock is a link that leads nowhere
                    status = item.stat()
                    found.append((item.path, status.st_size, status.st_mtime_ns))
                elif "." not in item.name and item.name != "__pycache__" and is_folder(item):
                    folders.append(item.path)
    return sorted(found)


@remembered
def _code() -> list[tuple[str, int, int]]:
    """The state of the code that makes what a cache keeps: a process goes on with what it has loaded."""
    return _states(Path(__file__).parent.parent, ".py")


def _beside() -> Path | None:
    """Where what is shipped is kept compiled: in the folder in which Python keeps this file compiled. Another state of the files takes the
    place of the one before."""
    try:
        return Path(cache_from_source(__file__)).with_suffix(".msgpack")
    except NotImplementedError:  # this Python keeps nothing
        return None


def _read_compiled(path: Path, name: str = "") -> Compiled | None:
    kept = read_whole(path, name)
    try:
        return msgspec.msgpack.decode(kept, type=Compiled) if kept is not None else None
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
