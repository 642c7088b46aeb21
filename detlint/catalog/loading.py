"""Loads the catalog that is shipped, and the user's own; a compiled copy is kept in the cache."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path

import msgspec
import xxhash

from detlint import __version__
from detlint.catalog.entries import CatalogError, Document
from detlint.catalog.index import Catalog, Signatures
from detlint.catalog.sources import check_rules, parse


def _together(documents: list[Document]) -> Document:
    """Several documents as one. Of two files that know the same API, the one that knows more of its parameters is right."""
    signatures: dict[str, msgspec.Raw] = {}
    lengths: dict[str, int] = {}
    for document in documents:
        for name, parameters in Signatures(document.signatures).items():
            if len(parameters) >= lengths.get(name, 0):
                signatures[name] = document.signatures[name]
                lengths[name] = len(parameters)
    return Document(
        [rule for document in documents for rule in document.rules],
        [entry for document in documents for entry in document.entries],
        [framework for document in documents for framework in document.frameworks],
        [factory for document in documents for factory in document.factories],
        [kind for document in documents for kind in document.settings_files],
        signatures,
        {name: target for document in documents for name, target in document.aliases.items()},
    )


def directory() -> Path:
    """The catalog that is shipped: inside the package when installed, at the repository's top when editable."""
    here = Path(__file__).parent.parent
    installed = here / "rules"
    return installed if installed.is_dir() else here.parent / "rules"


def load(extra: list[Path] | None = None, cache: Path | None = None) -> Catalog:
    """The shipped catalog and the user's own files, in that order; a compiled copy is kept in `cache`.

    Args:
        extra: the user's catalogs.
        cache: folder for the compiled form; None keeps none.

    Raises:
        CatalogError: a file can't be read or is wrong.
    """
    shipped = _files(directory(), ".toml")
    own = [(str(file), _read(file)) for file in extra or []]
    digest = xxhash.xxh3_128(f"{__version__} {sys.version_info[:2]}".encode())
    digest.update(_states([*shipped, *_files(Path(__file__).parent.parent, ".py")]))
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
            known = _compile([*((_shown(file), _read(Path(file))) for file in shipped), *own])
            if compiled:
                from detlint.cache import write_whole

                write_whole(compiled, msgspec.msgpack.encode(known))
        catalog = _loaded[fingerprint] = Catalog(known, fingerprint)
    finally:
        if collecting:
            gc.enable()
    return catalog


def _compile(sources: list[tuple[str, bytes]]) -> Document:
    documents = [parse(path, data) for path, data in sources]
    check_rules(sources, documents)
    return _together(documents)


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise CatalogError(f"{file}: can't be read: {error.strerror}") from None


def _shown(file: str) -> str:
    """A shipped file as messages name it."""
    return str(Path(file).relative_to(directory().parent))


_loaded: dict[str, Catalog] = {}
"""What this process has loaded, by fingerprint: who uses no cache, and asks again and again, waits once."""


def _files(folder: Path, ending: str) -> list[str]:
    """The files below a folder, in the order of their paths."""
    below = ((top, name) for top, _, names in os.walk(folder) for name in names)
    return sorted(os.path.join(top, name) for top, name in below if name.endswith(ending))


def _states(files: list[str]) -> bytes:
    """What tells one state of detlint's own files from another: its code made what the cache keeps, its rules are in it."""
    return repr([(file, (status := os.stat(file)).st_size, status.st_mtime_ns) for file in files]).encode()


def _read_compiled(path: Path) -> Document | None:
    try:
        return msgspec.msgpack.decode(path.read_bytes(), type=Document)
    except (OSError, msgspec.DecodeError):
        return None
