"""Other ways by which a text comes to what modules have, by names that it puts together: `getattr(self.zoo, name)` where
`self.zoo = zoo`, `attrgetter(name)(zoo)`, `eval("zoo." + name)`, `getattr(import_module(path), name)`."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from detlint.program.texts import IMPORT

ANY: Final = rb",(?!\s*[\"'][\w.]*[\"']\s*[,)])"
"""What stands before a name that isn't written out whole, behind what is asked for it."""
_GETS_PART: Final = re.compile(rb"\bgetattr\(\s*(?:self|cls)\.(\w+)\s*" + ANY)
"""What asks a part of the object itself for something by a name that isn't written out."""
_GETTERS: Final = re.compile(
    rb"\b(?:attrgetter|methodcaller|__getattribute__)\(\s*(?![\"'\s])|\bpartial\(\s*getattr\b"
    rb"|(?<!\w)(?:eval|exec|compile)\(\s*[rRfFbB]{0,2}[\"'][^\"'\n]*\b\w+\.[\"'{%]"
)
"""What asks whatever it is handed so, or evaluates a text in which the name of a module stands before one that is put in."""
_GETS_ENTRY: Final = re.compile(rb"(?<![\w.])(\w+)(?:\.\w+)*\.__dict__\s*(?:\[\s*(?![\"'\s])|\.(?:get|items|values)\()")
"""What takes something from the names of a module."""
_WORDS: Final = (b"attrgetter", b"methodcaller", b"__getattribute__", b"partial", b"eval", b"exec", b"compile")
_FINDS_ANY: Final = re.compile(rb"\b(?:import_module|__import__)\(\s*(?![rRfFbB]{0,2}[\"'\s])")
"""What imports a module whose name may be any."""
_LOCATES: Final = re.compile(rb"\b(?:pydoc\.)?locate\(|\bresolve_name\(")
"""What gives a definition by its name with that of its module."""
LOCATORS: Final = ("pydoc", "resolve_name")
"""The words by which texts are found that do."""


@lru_cache(maxsize=256)
def gets_any(text: bytes) -> bool:
    """Whether a text may ask a module that it has for what has a name that isn't written out."""
    if any(word in text for word in _WORDS) and _GETTERS.search(text) is not None:
        return True
    if any(word.encode() in text for word in LOCATORS) and locates(text):
        return True
    if (b"import_module" in text or b"__import__" in text) and _FINDS_ANY.search(text) is not None:
        return True
    if b"__dict__" in text and any(_imports(text, name) for name in {*_GETS_ENTRY.findall(text)}):
        return True
    return b"getattr" in text and any(_is_module(text, part) for part in {*_GETS_PART.findall(text)})


def locates(text: bytes) -> bool:
    """Whether a part of a text takes definitions by their names with those of their modules."""
    return _LOCATES.search(text) is not None


def finds_any(text: bytes, asks: Callable[[bytes], bool]) -> bool:
    """Whether a part of a text may take anything from any module: it imports one of whatever name, and asks something for a name that
    isn't written out.

    Args:
        asks: says whether a text asks something so.
    """
    return locates(text) or (_FINDS_ANY.search(text) is not None and asks(text))


def _is_module(text: bytes, part: bytes) -> bool:
    """Whether a part of an object may be something that the text imports."""
    return any(_imports(text, name) for name in {*_given(part).findall(text)})


def _imports(text: bytes, name: bytes) -> bool:
    """Whether a text imports something by a name."""
    return any(re.search(rb"\b%s\b" % name, statement[0]) for statement in IMPORT.finditer(text))


@lru_cache(maxsize=16)
def _given(part: bytes) -> re.Pattern[bytes]:
    """Finds the names that a part of an object is given."""
    return re.compile(rb"^[ \t]+(?:self\.|cls\.)?%s[ \t]*(?::[^=\n]*)?=[ \t]*(\w+)[ \t]*(?:#.*)?$" % part, re.M)
