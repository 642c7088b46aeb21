"""Where a text sets an attribute, by its words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

SELF: Final = b"self"
_BY_NAME: Final = re.compile(
    rb"(?:\b|__)setattr(?:__)?\(\s*[^,]*,\s*(?:[\"'](\w+)[\"'])?"
    rb"|(?:__dict__|\bvars\([^()]*\))\s*(?:\.update\(|\|=|\[[^\]]*\]\s*=(?!=))"
    rb"|\b(?:insert_child_to_cell|add_module|register_module)\(\s*(?:[\"'](\w+)[\"'])?"
)
"""What sets an attribute by its name, and that name, if it is written out."""


def times(text: bytes, attribute: bytes) -> int:
    """How often an attribute of that name is set, of whatever it is."""
    return sum(1 for _ in _places(text, attribute))


def of_another(text: bytes, attribute: bytes) -> bool:
    """Whether an attribute of that name may be set of anything but `self`, or of that by a name which isn't written out."""
    if attribute in text and any(not text.endswith(SELF, 0, place) for place in _places(text, attribute, b"")):
        return True
    return any((found[1] or found[2] or attribute) == attribute for found in _BY_NAME.finditer(text))


def _places(text: bytes, attribute: bytes, but: bytes = b")") -> Iterator[int]:
    """Where an attribute of that name may be set.

    Args:
        but: what can't stand before the `=`; without a bracket, targets in brackets count, and some more that are none.
    """
    # What begins with a literal is searched for as fast as that.
    return (found.start() for found in re.finditer(rb"\.%s\b[^=\n(%s]*=(?!=)" % (attribute, but), text))
