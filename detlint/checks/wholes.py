"""Whole names of definitions, with their modules, by which a program comes to these: `module, name = target.rsplit(".", 1)`."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from detlint.program.texts import IMPORT, Texts

LOCATORS: Final = ("pydoc", "resolve_name")
"""The words by which texts are found that give a definition by its name with that of its module."""
FINDS: Final = [
    "import_module",
    "__import__",
    "exec_module",
    "load_source",
    "run_path",
    "iter_modules",
    "walk_packages",
    *LOCATORS,
]
"""By what a program may come to files without their names."""
_FOUND: Final = re.compile(rb"\b(?:%s)\b" % "|".join(FINDS).encode())
_IMPORTED: Final = re.compile(rb"\bimport_module\(\s*(\w+)\s*[,)]")
_SPLIT: Final = re.compile(
    rb"\.(?:rsplit\(\s*[\"']\.[\"']\s*,\s*(?:maxsplit\s*=\s*)?1|rpartition\(\s*[\"']\.[\"'])\s*\)\s*$"
)
"""By what the name of a definition is split off that of its module."""
_TAKEN: Final = re.compile(
    rb"getattr\(\s*(?:importlib\.)?import_module\([^()]*\)\s*,\s*(?=\w+\s*\))|\b(?:importlib\.)?import_module\("
)
"""What is imported by such a name, and what is taken from there."""


def only_splits_names(text: bytes) -> bool:
    """Whether all that a text imports by names are modules that it splits off whole names of definitions:
    `module, name = target.rsplit(".", 1)`."""
    text = IMPORT.sub(b"", text)
    names = _IMPORTED.findall(text)
    if len(names) != len(_FOUND.findall(text)):
        return False
    given = [_given(name).findall(text) for name in set(names)]
    return all(len(values) == 1 and _SPLIT.search(values[0]) for values in given)


@lru_cache(maxsize=16)
def _given(name: bytes) -> re.Pattern[bytes]:
    """Finds what a name is given, alone or with others."""
    names = rb"(?:[\w \t(]+,)*[ \t(]*%s\b[\w, \t)]*" % name
    return re.compile(rb"^[ \t]*(?:for\b)?%s(?::[^=\n]*)?(?:[-+*/%%]?=(?!=)|\bin\b)(.*)" % names, re.M)


def without(texts: Texts, path: str) -> bytes | None:
    """The text of a file, without how it comes to definitions by such names; None where it can't be read."""
    text = texts.of(path)
    if text is None or b"import_module" not in text:
        return text
    parts = [(block.text, only_splits_names(block.text)) for block in texts.blocks(path)]
    return b"".join(_TAKEN.sub(b"", IMPORT.sub(b"", part)) if splits else part for part, splits in parts)


def spelled(text: bytes, name: str) -> bool:
    """Whether a text of Python has a name as the end of a string."""
    return re.search(rb"[\w./:'\"-]*(?<=[./:'\"])%s[\"']" % name.encode(), text) is not None
