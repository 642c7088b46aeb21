"""Which names a file has, in a few kilobytes: it is asked of all files of a program who may mean something, without their IR.

Names are those of its code: variables, attributes, keywords, definitions, what it imports; and those that its constants spell
(`"models.Net"`), since something may be looked up by them. Neither comments nor documentation have any.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterable
from functools import lru_cache
from typing import Final
from zlib import crc32

import msgspec

from detlint.ir.code import Code

_SEPARATES: Final = re.compile(r"\W+")
_PLAIN: Final = re.compile(rb"\w+")
STAR: Final = "*"
"""Stands among the names of a file that imports all that another one has."""
LONGEST: Final = 200
"""Characters of a constant that may spell names; what is longer is prose or data."""


class Words(msgspec.Struct, frozen=True, eq=False):
    """The names of one file, as sorted hash values of 32 bits: one that isn't there may seem to be, once in millions of questions."""

    names: array[int]
    imported: array[int]
    """Those in the names of what it imports, or imports from."""

    def have(self, name: str) -> bool:
        """Whether the file may have a name."""
        return _in(self.names, hash_of(name))

    def import_(self, name: str) -> bool:
        """Whether the file may import something that has a name among its parts."""
        return _in(self.imported, hash_of(name))

    def encode(self) -> bytes:
        """What is kept of it."""
        return msgspec.msgpack.encode((self.names.tobytes(), self.imported.tobytes()))


def decode(data: bytes) -> Words:
    """What `Words.encode` gave."""
    names, imported = msgspec.msgpack.decode(data, type=tuple[bytes, bytes])
    return Words(array("I", names), array("I", imported))


def of_code(code: Code) -> Words:
    """The names of a Python file."""
    # the sign of a product is among the strings as well
    names = {part for text in code.strings for part in text.split(".")}
    for constant in code.constants:
        if isinstance(constant, str) and len(constant) <= LONGEST:
            names |= words_in(constant)
    said = (row for found in code.ir.imports for row in (found.module, found.member) if row >= 0)
    imported = {part for row in said for part in code.strings[row].split(".")}
    return Words(_sorted((names - {STAR, ""}) | (imported & {STAR})), _sorted(imported - {""}))


def of_text(text: bytes) -> Words:
    """The names of a file that is no Python: all words that it has."""
    return Words(_sorted(word.decode() for word in {*_PLAIN.findall(text)}), array("I"))


def words_in(text: str) -> set[str]:
    """The words of a text."""
    return {*_SEPARATES.split(text)} - {""}


def _sorted(words: Iterable[str]) -> array[int]:
    return array("I", sorted({crc32(word.encode("utf-8", "replace")) for word in words}))


@lru_cache(maxsize=1024)
def hash_of(name: str) -> int:
    """The hash value of a name."""
    return crc32(name.encode("utf-8", "replace"))


def _in(hashes: array[int], wanted: int) -> bool:
    place = bisect_left(hashes, wanted)
    return place < len(hashes) and hashes[place] == wanted
