"""Which files say a word: an index over the texts of a program, for folders that are too large to be searched for each word."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from typing import Final
from zlib import crc32

BUCKETS: Final = 1 << 17
"""Words are told apart by so many hash values: of those that a file of a thousand words lacks, one of a hundred seems to be there."""
_WORD: Final = re.compile(rb"\w+")
_ESCAPED: Final = re.compile(rb"\\[nt](\w+)")
"""A word behind the sign for a new line, in a string: the regular expression of words takes `n` for its first letter."""


class Words:
    """The numbers of the files that may say a word. A few of them may not, since two words can share a bucket; who says it is
    never left out."""

    def __init__(self) -> None:
        self._files: dict[int, array[int]] = {}

    def add(self, number: int, text: bytes | None) -> None:
        """Note what a file says.

        Args:
            number: that of the file, at least that of the one before.
            text: its bytes; None where they can't be read, so that it may say anything.
        """
        files = self._files
        for bucket in _buckets(text) if text is not None else (BUCKETS,):
            numbers = files.get(bucket)
            if numbers is None:
                numbers = files[bucket] = array("I")
            numbers.append(number)

    def saying(self, word: str) -> Iterator[int]:
        """The numbers of the files that may say a word, in order; of all that is a word in a longer text, its longest one."""
        longest = max(_WORD.findall(word.encode()), key=len, default=b"")
        yield from sorted({*self._files.get(_bucket(longest), ()), *self._files.get(BUCKETS, ())})


def _bucket(word: bytes) -> int:
    return crc32(word) & (BUCKETS - 1)


def _buckets(text: bytes) -> set[int]:
    """The buckets of all words in a text."""
    words = {*_WORD.findall(text), *_ESCAPED.findall(text)} if b"\\" in text else {*_WORD.findall(text)}
    return {crc32(word) & (BUCKETS - 1) for word in words}
