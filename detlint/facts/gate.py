"""Decides on a file's bytes whether it can produce a finding at all, before anything is parsed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property, lru_cache
from typing import Final

from detlint.catalog import Catalog
from detlint.facts.comments import WORTH_READING, directives
from detlint.facts.sets import MAKES_SET

BUILTINS: Final = "builtins."
BRACED: Final = re.compile(rb"\{\s*[^\s{}:][^{}:]*\}|\{(?=[^{}]*\})[^{}]*\bfor\b")
"""A set that is written out, or a comprehension; also what an f-string formats."""
_WORD: Final = re.compile(rb"\w+")
_IMPORT: Final = re.compile(rb"^[ \t]*(?:from|import)[ \t]+(\.|\w+)", re.M)
_CALL: Final = re.compile(rb"\b(\w+)\(")


class Gate:
    """A file passes when it names a framework of the catalog, or something that needs no import to matter, or imports
    from the program, whose names may stand for a framework's, or may say where others import from.

    A file that doesn't pass is still read when another file's names lead into it.

    Args:
        own: the top-level names of the program's modules.
    """

    def __init__(self, catalog: Catalog, own: frozenset[str]) -> None:
        self._words, self._phrases = _named(catalog)
        self._catalog = catalog
        self._own = frozenset({b".", *_encoded(own)})

    @cached_property
    def _built_in(self) -> frozenset[bytes]:
        return frozenset(_encoded(_built_in(self._catalog)))

    def passes(self, data: bytes) -> bool:
        """Whether the file may produce a finding."""
        # A pattern of all words would find them twice as fast, but take longer to be made than most runs read.
        return (
            any(found[0] in self._words for found in _WORD.finditer(data))
            or any(found[1] in self._own for found in _IMPORT.finditer(data))
            or any(found[1] in self._built_in for found in _CALL.finditer(data))
            or any(phrase in data for phrase in self._phrases)
            or (bool(self._catalog.ordering) and BRACED.search(data) is not None)
            or b"detlint" in data
            or any(d.codes for d in directives(data))
        )


@lru_cache(maxsize=4)
def _named(catalog: Catalog) -> tuple[frozenset[bytes], list[bytes]]:
    """What lets a file of any program pass: words, and what is none."""
    roots = set(catalog.roots)
    roots |= {name.partition(".")[0] for name in catalog.acting if "." in name}
    roots |= {alias.partition(".")[0] for alias in catalog.aliases}
    unimported = (catalog.registry, catalog.sections, catalog.copies, catalog.environment)
    roots |= {name for table in unimported for name in table}
    roots |= {"__main__", *_telling(catalog)}
    phrases = _encoded(sorted(root for root in roots if not root.isidentifier()))
    return frozenset(_encoded(root for root in roots if root.isidentifier())), [b"sys.path", *phrases]


def _built_in(catalog: Catalog) -> set[str]:
    """The functions of the language itself that break a rule, and those that make what does."""
    calls = (name for name, found in catalog.calls.items() if any(catalog.entries[i].rule for i in found))
    broken = {name.removeprefix(BUILTINS) for name in calls if name.startswith(BUILTINS)}
    return broken | ({name.removeprefix(BUILTINS) for name in MAKES_SET} if catalog.ordering else set())


def _telling(catalog: Catalog) -> set[str]:
    """The keys that tell by themselves that a table says what to build."""
    factories = catalog.factory_keys.items()
    return {key for key, factory in factories if factory.names == "dotted" and not factory.required}


class YamlGate:
    """A YAML file passes when it has a key or a tag that names what is to be built, or a setting that is known.

    Repositories hold thousands of YAML files that have nothing to do with machine learning.
    """

    def __init__(self, catalog: Catalog) -> None:
        factories = catalog.factory_keys.values()
        self._words = _encoded(sorted(_telling(catalog) | catalog.factory_tags.keys() | catalog.sections.keys()))
        self._registry = frozenset(name.encode() for name in catalog.registry)
        self._registered = [_valued(factory.key) for factory in factories if factory.names == "registered"]
        self._dotted = [_valued(factory.key) for factory in factories if factory.required]
        self._settings = [
            (_encoded(kind.marks), _encoded([*kind.calls, *_settings(catalog, kind.name)]))
            for kind in catalog.settings_files
        ]

    def passes(self, data: bytes) -> bool:
        """Whether the file may produce a finding."""
        return (
            any(word in data for word in self._words)
            or any(name.rpartition(b".")[2] in self._registry for p in self._registered for name in p.findall(data))
            or any(b"." in name for pattern in self._dotted for name in pattern.findall(data))
            or any(any(m in data for m in marks) and any(k in data for k in keys) for marks, keys in self._settings)
            or ((b"noqa" in data or b"detlint" in data) and WORTH_READING.search(data) is not None)
            or data.startswith(_TWO_BYTES)
        )


_TWO_BYTES = (b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")
"""What a text begins with that has two bytes or more for each letter of these words."""


def _valued(key: str) -> re.Pattern[bytes]:
    """What finds the words that stand as values of a key. It begins with a literal, so that it is as fast as a search for
    one; what stands before is looked at where that is found."""
    key = re.escape(key)
    return re.compile(f"{key}(?<!\\w{key})[\"']?\\s*:\\s*[\"']?([A-Za-z_][\\w.]*)".encode())


def _encoded(words: Iterable[str]) -> list[bytes]:
    return [word.encode(errors="surrogateescape") for word in words]


def _settings(catalog: Catalog, kind: str) -> list[str]:
    """The settings that are known of a kind of file."""
    return sorted(name.partition(".")[2] for name in catalog.settings if name.partition(".")[0] == kind)


@lru_cache(maxsize=4)
def yaml_gate_of(catalog: Catalog) -> YamlGate:
    """The gate of a catalog for YAML files."""
    return YamlGate(catalog)


@lru_cache(maxsize=4)
def gate_of(catalog: Catalog, own: frozenset[str]) -> Gate:
    """The gate of a catalog and a program; compiled once in each process."""
    return Gate(catalog, own)
