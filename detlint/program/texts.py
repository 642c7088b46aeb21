"""The texts of a program's files: where they say a word, whatever facts tell of it."""

from __future__ import annotations

import os
import re
from array import array
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from detlint import counters, marks
from detlint.db import Database
from detlint.facts.parse import parsable
from detlint.ir.code import Code
from detlint.ir.words import Words, hash_of
from detlint.marks import Noted
from detlint.notebook import NotANotebook, Notebook, is_notebook, open_notebook

MOST_TEXTS: Final = 512
"""Files whose bytes are kept while names are looked for in them: the same ones are asked again and again."""
MOST_BLOCKS: Final = 128
"""Files whose parts are kept, and notebooks whose Python is, which are texts of their own."""
FEW_SEARCHES: Final = 50_000
"""So many times files are asked for a name before there is an index of all names: an edited run asks fewer."""
MAIN: Final = "__main__"
TOP: Final = ""
IMPORT: Final = re.compile(rb"^[ \t]*(?:from[ \t]+[\w.]+[ \t]+import[ \t]*(?:\([^)]*\)|.*)|import[ \t].*)$", re.M)
_COMMENT: Final = re.compile(rb"^[ \t]*#.*$", re.M)
_NO_CODE: Final = re.compile(
    rb'#[^\n]*|"""(?:[^\\]|\\.)*?"""|\'\'\'(?:[^\\]|\\.)*?\'\'\'|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|\\\r?\n',
    re.S,
)
"""Comments, strings, and ends of lines that end no statement."""
_STATEMENT: Final = re.compile(
    rb"^(?:(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)|(if[ \t(]+__name__\b)|(?=[^\s)\]}]))", re.M
)
"""The beginning of a statement of the top level: what it defines, or that it is a `__main__` block."""

_BEGIN: Final = re.compile(rb"\b|(?<=\\[nt])")
"""Where a word may begin: also behind the sign for a new line, in a string."""
_END: Final = re.compile(rb"\b")


class Block(NamedTuple):
    """A part of a file's text: a definition of its top level, its `__main__` block, or what stands between such."""

    name: str
    text: bytes


class Texts:
    """Reads texts, and looks for words in them.

    Args:
        read: the bytes of a file, None where they can't be read.
        paths: the program's files.
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
        self._texts: dict[str, bytes | None] = {}
        self._code: dict[str, bytes | None] = {}
        self._names: dict[str, frozenset[str]] = {}
        self._words: dict[str, Words | None] = {}
        self._index: dict[int, array[int]] | None = None
        """Hash values of names -> the numbers of the files that have them."""
        self._searches = 0
        self._blocks: dict[str, list[Block]] = {}
        self._db = db
        self.sought: Noted[tuple[str, str]] = Noted(db, marks.saying)
        """How the paths begin of the files that words were looked for in, and the words."""

    def has(self, path: str) -> bool:
        """Whether a file is one of the program's."""
        return path in self._paths

    def read(self, path: str) -> bytes | None:
        """The bytes of a file, None where they can't be read; of a notebook what its cells of code say, without the pictures and numbers
        that they gave, which are most of it."""
        return counters.looked_through(self._read(path))

    def _read(self, path: str) -> bytes | None:
        data = self._bytes(path)
        notebook = _notebook(data) if data is not None and is_notebook(path) else None
        return data if notebook is None else notebook.text

    def of(self, path: str) -> bytes | None:
        """The same, kept for the next question."""
        if path not in self._texts:
            if len(self._texts) == MOST_TEXTS:
                self._texts.clear()
            self._texts[path] = self._read(path)
        return counters.looked_through(self._texts[path])

    def code(self, path: str) -> bytes | None:
        """The Python of a file, None for none; of a notebook that of its cells, joined as its facts have them."""
        if not is_notebook(path):
            return self.of(path) if path.endswith(".py") else None
        if path not in self._code:
            if len(self._code) == MOST_BLOCKS:
                self._code.clear()
            data = self._bytes(path)
            notebook = _notebook(data) if data is not None else None
            self._code[path] = parsable(notebook.code, notebook.cells)[0] if notebook is not None else None
        return counters.looked_through(self._code[path])

    def _python(self, path: str) -> bytes:
        """The bytes of a file; of a notebook its Python."""
        return (self.code(path) if is_notebook(path) else self.of(path)) or b""

    def blocks(self, path: str) -> list[Block]:
        """A file's text in parts, without lines of comments; of a notebook that of its cells."""
        if path not in self._blocks:
            if len(self._blocks) == MOST_BLOCKS:
                self._blocks.clear()
            self._blocks[path] = [*_cut(_COMMENT.sub(b"", self._python(path)))]
        for block in self._blocks[path]:
            counters.looked_through(block.text)
        return self._blocks[path]

    def blocks_of_code(self, path: str) -> Iterator[Block]:
        """A file's text in parts, without comments and what its strings say."""
        return _cut(_NO_CODE.sub(_emptied, self._python(path)))

    def saying(self, word: str, folder: str) -> Iterator[str]:
        """The files below a folder that have a name, in order, found one by one."""
        self.sought.add((folder, word))
        return (path for path in self._may_say((word,), folder) if self.has_name(path, word))

    def saying_any(self, words: Sequence[str], folder: str) -> list[str]:
        """The files below a folder that have one of some names, in order."""
        self.sought.update((folder, word) for word in words)
        return [path for path in self._may_say(words, folder) if any(self.has_name(path, word) for word in words)]

    def importing(self, word: str, folder: str) -> Iterator[str]:
        """The files below a folder that import something which has a name among its parts, in order."""
        self.sought.add((folder, word))
        found = ((path, self.words(path)) for path in self._may_say((word,), folder))
        return (path for path, words in found if words is not None and words.import_(word))

    def index(self) -> None:
        """Note which files have which names, if the program is too large to ask all of them for each."""
        if self._index is None:
            self._index = {}
            for number, path in enumerate(self.all_below("")):
                words = self.words(path)
                for word in words.names if words is not None else ():
                    self._index.setdefault(word, array("I")).append(number)

    def _may_say(self, words: Sequence[str], folder: str) -> Iterable[str]:
        """The files below a folder that may have one of some names."""
        span = self._span(folder)
        if self._index is None:
            self._searches += len(words) * len(span)
            if self._searches <= FEW_SEARCHES:
                return (self._sorted[number] for number in span)
            self.index()
        index = self._index or {}
        numbers = {number for word in words for number in index.get(hash_of(word), ())}
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
        return code.mentions[name] if code is not None else MOST_TEXTS

    def names_below(self, folder: str) -> frozenset[str]:
        """The names of the program's files and folders below a folder, as imports say them."""
        folder = folder.rstrip(os.sep)
        if folder not in self._names:
            inside = (
                path[len(folder) + 1 :].removesuffix(".py") for path in self.all_below(folder) if path.endswith(".py")
            )
            self._names[folder] = frozenset(part for path in inside for part in path.split(os.sep))
        return self._names[folder]

    def below(self, folder: str) -> Iterator[str]:
        """The program's files below a folder, in order."""
        marks.below(self._db, folder.rstrip(os.sep))
        return self.all_below(folder)

    def all_below(self, folder: str) -> Iterator[str]:
        """The same, without a note that they were asked for."""
        return (self._sorted[number] for number in self._span(folder))

    def _span(self, folder: str) -> range:
        """The numbers of the files below a folder, in the order of their paths."""
        self._sorted = self._sorted or sorted(self._paths)
        prefix = folder.rstrip(os.sep) + os.sep if folder else ""
        end = bisect_left(self._sorted, prefix[:-1] + chr(ord(os.sep) + 1)) if prefix else len(self._sorted)
        return range(bisect_left(self._sorted, prefix), end)


@lru_cache(maxsize=256)
def whole(word: str) -> re.Pattern[bytes]:
    """Finds a word that isn't part of another one. (What comes first in the pattern is searched for fast.)"""
    raw = word.encode()
    return re.compile(rb"%s\b(?:(?<=\b%s)|(?<=\\[nt]%s))" % (raw, raw, raw))


@lru_cache(maxsize=64)
def deriving(name: str) -> re.Pattern[bytes]:
    """Finds a class that derives from one of that name."""
    return re.compile(rb"^[ \t]*class\s+\w+\([^)]*\b%s\b" % name.encode(), re.M)


def _notebook(data: bytes) -> Notebook | None:
    try:
        return open_notebook(data)
    except NotANotebook:
        return None


def says(text: bytes, word: str) -> bool:
    """Whether a text has a word that isn't part of another one. (As `whole`, which would be compiled for each word.)"""
    raw = word.encode()
    place = text.find(raw)
    while place >= 0:
        if _BEGIN.match(text, place) and _END.match(text, place + len(raw)):
            return True
        place = text.find(raw, place + 1)
    return False


def _emptied(found: re.Match[bytes]) -> bytes:
    """What is left of a comment, a string or such an end."""
    return b'""' if found[0][:1] in b"\"'" else b" "


def _cut(text: bytes) -> Iterator[Block]:
    name, start = TOP, 0
    for found in _STATEMENT.finditer(text):
        now = (found[1] or b"").decode() or (MAIN if found[2] else TOP)
        if now == name == TOP:
            continue
        if found.start() > start:
            yield Block(name, text[start : found.start()])
        name, start = now, found.start()
    yield Block(name, text[start:])
