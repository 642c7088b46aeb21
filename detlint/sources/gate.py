"""Decides on a file's bytes whether it can produce a finding at all, before anything is parsed.

What is in a comment lets a file pass as well: it is read then, and nothing is found in it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import Final, NamedTuple

from detlint.sources.directives import WORTH_READING, directives

_BRACED: Final = re.compile(rb"\{\s*[^\s{}:][^{}:]*\}|\{(?=[^{}]*\})[^{}]*\bfor\b")
"""A set that is written out, or a comprehension; also what an f-string formats."""
_WORD: Final = re.compile(rb"\w+")
_IMPORT: Final = re.compile(rb"^[ \t]*(?:from|import)[ \t]+(\.|\w+)", re.M)
_CALL: Final = re.compile(rb"\b(\w+)\(")
_TWO_BYTES: Final = (b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")
"""What a text begins with that has two bytes or more for each letter of these words."""


def encoded(words: Iterable[str]) -> list[bytes]:
    """Words as files have them."""
    return [word.encode(errors="surrogateescape") for word in words]


class Gate:
    """Lets a Python file pass that has what may matter.

    A file that doesn't pass is still read when another file's names lead into it.

    Args:
        words: names that matter wherever they stand.
        phrases: what does and is no name.
        imported: the top-level names that matter where they are imported, as the names imported may stand for something else.
        called: those that matter where they are called.
        braced: whether sets that are written out do.
    """

    def __init__(
        self, words: Iterable[str], phrases: Iterable[str], imported: Iterable[str], called: Iterable[str], braced: bool
    ) -> None:
        self._words, self._phrases = frozenset(encoded(words)), encoded(phrases)
        self._imported, self._called = frozenset({b".", *encoded(imported)}), frozenset(encoded(called))
        self._braced = braced

    def passes(self, data: bytes) -> bool:
        """Whether the file may produce a finding."""
        # A pattern of all words would find them twice as fast, but take longer to be made than most runs read.
        return (
            any(found[0] in self._words for found in _WORD.finditer(data))
            or any(found[1] in self._imported for found in _IMPORT.finditer(data))
            or any(found[1] in self._called for found in _CALL.finditer(data))
            or any(phrase in data for phrase in self._phrases)
            or (self._braced and _BRACED.search(data) is not None)
            or b"detlint" in data
            or any(d.codes for d in directives(data))
        )


class Setting(NamedTuple):
    """Settings of one kind of YAML file."""

    marks: Sequence[bytes]
    """One of these is in each file of the kind."""
    keys: Sequence[bytes]


class YamlGate:
    """Lets a YAML file pass that has a key or a tag that names what is to be built, or a setting that is known.

    Repositories hold thousands of YAML files that have nothing to do with machine learning.

    Args:
        words: what matters wherever it stands.
        registered: keys that matter where the last part of their value is one of `names`.
        dotted: keys that matter where their value is a dotted name.
        started: variables and servers that matter in what starts processes, too.
    """

    def __init__(
        self,
        words: Iterable[str],
        registered: Iterable[str],
        names: Collection[str],
        dotted: Iterable[str],
        settings: Sequence[Setting],
        started: Iterable[str],
    ) -> None:
        self._started = encoded(started)
        self._words, self._names = encoded(words), frozenset(encoded(names))
        self._registered, self._dotted = [*map(_valued, registered)], [*map(_valued, dotted)]
        self._settings = settings

    def lets(self, path: str, data: bytes) -> bool:
        """Whether a file may produce a finding; a launch text does so by what processes are given, or by a comment."""
        return self.passes(data) if path.endswith((".yaml", ".yml", ".json")) else self._starts(data)

    def _starts(self, data: bytes) -> bool:
        return any(word in data for word in self._started) or (
            (b"noqa" in data or b"detlint" in data) and WORTH_READING.search(data) is not None
        )

    def passes(self, data: bytes) -> bool:
        """Whether a YAML file may produce a finding."""
        return (
            any(word in data for word in self._words)
            or any(name.rpartition(b".")[2] in self._names for p in self._registered for name in p.findall(data))
            or any(b"." in name for pattern in self._dotted for name in pattern.findall(data))
            or any(any(m in data for m in kind.marks) and any(k in data for k in kind.keys) for kind in self._settings)
            or self._starts(data)
            or data.startswith(_TWO_BYTES)
        )


def _valued(key: str) -> re.Pattern[bytes]:
    """What finds the words that stand as values of a key. It begins with a literal, so that it is as fast as a search for
    one; what stands before is looked at where that is found."""
    key = re.escape(key)
    return re.compile(f"{key}(?<!\\w{key})[\"']?\\s*:\\s*[\"']?([A-Za-z_][\\w.]*)".encode())
