"""Where a text sets an attribute, by its words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

SELF: Final = b"self"
_BY_NAME: Final = re.compile(
    rb"(?:\b|__)setattr(?:__)?\(\s*[^,]*,\s*(?:[\"'](\w+)[\"'])?"
    rb"|(?:__dict__|\bvars\([^()]*\))\s*(?:\.update\(|\|=|\[[^\]]*\]\s*=(?!=))"
    rb"|\b(?:insert_child_to_cell|add_module|register_module)\(\s*(?:[\"'](\w+)[\"'])?"
)
"""What sets an attribute by its name, and that name, if it is written out."""
_OF_MODULE: Final = re.compile(
    rb"\bsetattr\(\s*(\w+)[\w.]*\s*,\s*(?:[\"'](\w+)[\"'])?"
    rb"|(?:\bvars\(\s*|\b)(\w+)[\w.]*(?:\)|\.__dict__)\s*(?:\.update\(|\[[^\]]*\]\s*=(?!=))"
)
"""What sets one of something with a name, or of what that has, and which."""


_ALONE: Final = re.compile(rb"(?:^|\n)[ \t]*[\w.\[\], \t]*\Z")
"""What may stand in a line before one of several targets."""
_GIVEN: Final = re.compile(
    rb"(?<!getattr)\(\s*([\w.\[\]]+)\s*,\s*\Z|(?:(\w*)\.__dict__|\bvars\(([^()]*)\))(?:\[|\.update\((?:[^()]*,)?\s*\{?)\s*\Z"
)
"""What may stand before the name of an attribute that is set by it, or handed to what does."""
_SETTERS: Final = (b"setattr", b"__dict__", b"vars(", b"insert_child_to_cell", b"add_module", b"register_module")
"""What a text says that does so. Literals are searched for ten times as fast."""
_SET: Final = {but: re.compile(rb"\b[^=\n(%s]*(?<!!)=(?!=)" % but) for but in (b"", b")")}
"""What stands behind a name where it may be set, by what can't stand before the `=`."""
_SET_HERE: Final = re.compile(rb"\b[ \t]*(?:(?:<<|>>|//|\*\*|[-+*/|&^@%])?=(?!=)|(,)[\w.\[\], \t]{0,200}=(?!=))")
"""The same, of a name that is a target itself, or one of several."""
_NAMED: Final = re.compile(rb"[\"'](?=\s*[],:])|\s*=(?!=)")
"""What stands behind a name that is handed to something."""
_QUOTES: Final = (b"'", b'"')
_WORD: Final = re.compile(rb"\w")
_NEAR: Final = 200
"""How many characters before such a name are looked at."""


def times(text: bytes, attribute: bytes) -> int:
    """How often an attribute of that name is set, of whatever it is."""
    return sum(1 for _ in _places(text, attribute))


def of_another(text: bytes, attribute: bytes) -> bool:
    """Whether an attribute of that name may be set of anything but `self`, or of that by a name which isn't written out."""
    if attribute in text and any(not text.endswith(SELF, 0, place) for place in _places(text, attribute, b"")):
        return True
    return not _by_name(text).isdisjoint((attribute, b""))


def holders(text: bytes, attribute: bytes) -> Iterator[bytes]:
    """The names of the objects, but for `self`, of which an attribute may be set: directly, among other targets, or by its name, as
    it is written out; b"" for what has no name."""
    for place, found in _each(text, b"." + attribute, _SET_HERE):
        before = text[max(0, place - _NEAR) : place]
        holder = re.split(rb"\W", before)[-1]
        if holder != SELF and (not found[1] or _ALONE.search(before)):
            yield holder
    for place, found in _each(text, attribute, _NAMED):
        quoted, before = found[0] in _QUOTES, text[place - 1 : place]
        if before not in _QUOTES if quoted else _WORD.match(before):
            continue  # part of another word
        begin = place - quoted
        given = _GIVEN.search(text[max(0, begin - _NEAR) : begin])
        by_call = given is not None and given[1] is not None
        if by_call and given is not None and given[1] == attribute:
            continue  # a message about a value of that name
        if given is not None and (not by_call or text[found.end() : found.end() + 1] == b","):
            yield re.split(rb"\W", given[1] or given[2] or given[3] or b"")[-1]


def _places(text: bytes, attribute: bytes, but: bytes = b")") -> Iterator[int]:
    """Where an attribute of that name may be set.

    Args:
        but: what can't stand before the `=`; without a bracket, targets in brackets count, and some more that are none.
    """
    return (place for place, _ in _each(text, b"." + attribute, _SET[but]))


def _each(text: bytes, word: bytes, behind: re.Pattern[bytes]) -> Iterator[tuple[int, re.Match[bytes]]]:
    """Where a text has a word, and behind it what a pattern takes. A pattern with the word in it would be compiled for each, and takes
    several times as long to find it."""
    place = text.find(word)
    while place >= 0:
        found = behind.match(text, place + len(word))
        if found is not None:
            yield place, found
        place = text.find(word, found.end() if found is not None else place + 1)


@lru_cache(maxsize=64)
def _by_name(text: bytes) -> frozenset[bytes]:
    """The names by which a text sets attributes by their names; b"" among them where one isn't written out."""
    if not any(word in text for word in _SETTERS):
        return frozenset()
    return frozenset(found[1] or found[2] or b"" for found in _BY_NAME.finditer(text))


def replaces(text: bytes, name: bytes, *, anywhere: bool) -> bool:
    """Whether a text may give what it imports, or a class, another attribute of a name: `core.scale = 3`, `setattr(core, key, value)`,
    `patch("core.scale")`.

    Args:
        anywhere: whether it counts to give it to whatever else, if the name is written out.
    """
    if name in text:
        has_one = b".%s" % name in text
        said = re.finditer(rb"(?<![\w.])(\w+)[\w.]*\.%s\b[^=\n()<>!]*=(?!=)" % name, text) if has_one else ()
        heads = [found[1] for found in said]
        if any(head != SELF and (anywhere or _has(text, head)) for head in heads):
            return True
        if re.search(rb"\bsys\.modules\b|\bpatch\b[\w.]*\(\s*(?:[\"'][\w.]*\.|[\w.]+\s*,\s*[\"'])%s[\"']" % name, text):
            return True
    if b"setattr(" not in text and b"vars(" not in text and b"__dict__" not in text:
        return False
    by_name = ((found[1] or found[3], found[2]) for found in _OF_MODULE.finditer(text))
    return any(said in (None, name) and _has(text, head) for head, said in by_name)


def _has(text: bytes, name: bytes) -> bool:
    """Whether a text imports something by a name, or has a class of that name."""
    said = rb"^[ \t]*(?:(?:from[ \t]+[\w.]+[ \t]+)?import\b(?:[^\n(]*|[ \t]*\([^)]*)\b%s\b|class[ \t]+%s\b)" % (
        name,
        name,
    )
    return re.search(said, text, re.M) is not None
