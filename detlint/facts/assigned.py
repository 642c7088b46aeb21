"""Where a text sets an attribute, by its words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

SELF: Final = b"self"
SETATTR: Final = b"setattr("


def times(text: bytes, attribute: bytes) -> int:
    """How often an attribute of that name is set, of whatever it is."""
    return sum(1 for _ in _places(text, attribute))


def of_another(text: bytes, attribute: bytes) -> bool:
    """Whether an attribute of that name may be set of anything but `self`."""
    if attribute not in text:
        return False
    if any(not text.endswith(SELF, 0, place) for place in _places(text, attribute)):
        return True
    return any(attribute in line for line in text.splitlines() if SETATTR in line) if SETATTR in text else False


def _places(text: bytes, attribute: bytes) -> Iterator[int]:
    # What begins with a literal is searched for as fast as that.
    return (found.start() for found in re.finditer(rb"\.%s\b[^=\n()]*=(?!=)" % attribute, text))
