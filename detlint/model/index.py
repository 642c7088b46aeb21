"""Which files of a program have a name in their code, by the words that are kept of each."""

from __future__ import annotations

import os
from array import array
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Final

from yaml import Node

from detlint import counters, marks
from detlint.db import Database
from detlint.ir.code import Code
from detlint.ir.cpp import lower
from detlint.ir.cpp_text import is_cpp
from detlint.ir.launch_texts import is_settings
from detlint.ir.words import Words, hash_of
from detlint.ir.yaml_nodes import documents_of
from detlint.ir.yaml_text import is_yaml
from detlint.marks import Noted

MANY: Final = 512
"""So often a file is taken to say a name whose code isn't there."""
FEW_SEARCHES: Final = 50_000
"""So many times files are asked for a name before there is a table of all names: an edited run asks fewer."""


class Index:
    """Finds files by the names that they have.

    Args:
        read: the bytes of a file, None where they can't be read.
        paths: the program's files. What launch texts say is asked of `Documents`.
        words: the names of a file, None where it can't be read.
        code: the IR of a file, None where it has none.
        db: is told what answers rest on.
    """

    def __init__(
        self,
        read: Callable[[str], bytes | None],
        paths: Collection[str],
        words: Callable[[str], Words | None],
        code: Callable[[str], Code | None],
        db: Database,
    ) -> None:
        self._bytes = read
        self._paths = paths
        self._named = words
        self._code_of = code
        self._sorted: Sequence[str] = ()
        self._words: dict[str, Words | None] = {}
        self._table: dict[int, array[int]] | None = None
        """Hash values of names -> the numbers of the files that have them."""
        self._searches = 0
        self._having: dict[frozenset[str], dict[str, bool]] = {}
        """Which files have one of some names, where all of many runs are asked for the same."""
        self._sources: dict[str, Code | None] = {}
        """Files of C++ -> their IR."""
        self._db = db
        self.sought: Noted[tuple[str, str]] = Noted(db, marks.saying)
        """How the paths begin of the files that words were looked for in, and the words."""
        self.opened: Noted[str] = Noted(db, marks.body)
        """The sources of C++ that were asked for."""

    def has(self, path: str) -> bool:
        """Whether a file is one of the program's."""
        return path in self._paths

    def yaml(self, path: str) -> Sequence[Node] | None:
        """The documents of a YAML file; None for any other, and for one that can't be read."""
        data = counters.looked_through(self._bytes(path)) if is_yaml(path) else None
        return documents_of(data) if data is not None else None

    def source(self, path: str) -> Code | None:
        """The IR of a source in C++; None for any other file, and for one that can't be read."""
        self.opened.add(path)
        if path not in self._sources:
            data = counters.looked_through(self._bytes(path)) if is_cpp(path) else None
            ir = lower(data) if data is not None else None
            self._sources[path] = Code(ir) if ir is not None else None
        return self._sources[path]

    def settings(self, path: str) -> bytes | None:
        """The bytes of a file of settings, or of a launch text; None for code, and for what can't be read."""
        return self._bytes(path) if is_settings(path) else None

    def saying(self, word: str, folder: str) -> Iterator[str]:
        """The files below a folder that have a name, in order, found one by one."""
        self.sought.add((folder, word))
        return (path for path in self._may_say((word,), folder) if self.has_name(path, word))

    def saying_any(self, words: Sequence[str], folder: str) -> list[str]:
        """The files below a folder that have one of some names, in order."""
        self.sought.update((folder, word) for word in words)
        return [path for path in self._may_say(words, folder) if any(self.has_name(path, word) for word in words)]

    def having(self, paths: Iterable[str], words: frozenset[str]) -> list[str]:
        """Those of some files that have one of some names."""
        known = self._having.setdefault(words, {})
        found = list[str]()
        for path in paths:
            if path not in known:
                known[path] = any(self.has_name(path, word) for word in words)
            if known[path]:
                found.append(path)
        return found

    def importing(self, word: str, folder: str) -> Iterator[str]:
        """The files below a folder that import something which has a name among its parts, in order."""
        self.sought.add((folder, word))
        found = ((path, self.words(path)) for path in self._may_say((word,), folder))
        return (path for path, words in found if words is not None and words.import_(word))

    def tabulate(self) -> None:
        """Note which files have which names, if the program is too large to ask all of them for each."""
        if self._table is None:
            self._table = {}
            for number, path in enumerate(self.all_below("")):
                words = self.words(path)
                for word in words.names if words is not None else ():
                    self._table.setdefault(word, array("I")).append(number)

    def _may_say(self, words: Sequence[str], folder: str) -> Iterable[str]:
        """The files below a folder that may have one of some names."""
        span = self._span(folder)
        if self._table is None:
            self._searches += len(words) * len(span)
            if self._searches <= FEW_SEARCHES:
                return (self._sorted[number] for number in span)
            self.tabulate()
        table = self._table or {}
        numbers = {number for word in words for number in table.get(hash_of(word), ())}
        return [self._sorted[number] for number in sorted(numbers) if number in span]

    def words(self, path: str) -> Words | None:
        """The names of a file; None where it can't be read."""
        if path not in self._words:
            self._words[path] = self._named(path)
        return self._words[path]

    def says(self, path: str, word: str) -> bool:
        """Whether a file has a name; so where it can't be read."""
        self.sought.add((path, word))
        return self.has_name(path, word)

    def has_name(self, path: str, word: str) -> bool:
        """Whether a file has a name, without a note that it was looked for; so where it can't be read."""
        words = self.words(path)
        return words is None or words.have(word)

    def mentions(self, path: str, name: str) -> int:
        """How often the code of a file has a name, and its constants spell it; often, where it can't be read, or is no Python."""
        if not self.says(path, name):
            return 0
        code = self._code_of(path)
        return code.mentions[name] if code is not None else MANY

    def below(self, folder: str) -> Iterator[str]:
        """The program's files below a folder, in order."""
        marks.below(self._db, folder.rstrip(os.sep))
        return self.all_below(folder)

    def all_below(self, folder: str) -> Iterator[str]:
        """The same, without a note that they were asked for."""
        return (self._sorted[number] for number in self._span(folder))

    def _span(self, folder: str) -> range:
        """The numbers of the files below a folder, in the order of their paths."""
        self._sorted = self._sorted or sorted(path for path in self._paths if not is_settings(path) or is_yaml(path))
        prefix = folder.rstrip(os.sep) + os.sep if folder else ""
        end = bisect_left(self._sorted, prefix[:-1] + chr(ord(os.sep) + 1)) if prefix else len(self._sorted)
        return range(bisect_left(self._sorted, prefix), end)
