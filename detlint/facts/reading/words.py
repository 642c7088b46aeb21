"""Words in a file that say something of the whole: which devices it names, whether a text speaks of seeds."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from typing import Final


def mentions(data: bytes, lower: bytes) -> tuple[str, ...]:
    """The words for devices that a file contains, sorted; `_` and digits end a word here (`torch_npu`, `cuda0`).

    Args:
        lower: the file in lower case.
    """
    found = Counter(first.decode() + end for pattern, end in _DEVICES for first in pattern.findall(lower))
    if found["ascend"] and found["ascend"] == len(_ASCENDING.findall(data)):
        del found["ascend"]
    return tuple(sorted(word for word, times in found.items() if times))


def _ending(beginnings: str, end: str) -> tuple[re.Pattern[bytes], str]:
    """What finds the beginnings of the words that go on with `end`.

    A regular expression that begins with a literal is as fast as a search for the literal, or faster where that begins
    with a rare letter; the looks around only cost something where it is found.
    """
    dots = "." * len(beginnings.partition("|")[0])
    return re.compile(f"{end}(?![a-z])(?<=({beginnings}){end})(?<![a-z]{dots}{end})".encode()), end


def may_seed(text: str) -> bool:
    """Whether a text speaks of seeds or of determinism."""
    if not text.isascii():
        return _SEEDING.search(text) is not None
    # Searches for literals are many times faster than a regular expression that ignores case.
    lower = text.lower()
    return "seed" in lower or "random" in lower or "determin" in lower or "reprod" in lower


name_may_seed: Final = lru_cache(maxsize=8192)(may_seed)


_SEEDING: Final = re.compile(r"seed|determin|reprod|random", re.I)


_DEVICES: Final = (
    _ending("g|n|t", "pu"), _ending("h|n", "ccl"), _ending("as", "cend"), _ending("c", "uda"), _ending("", "mps"),
    _ending("", "xla"),
)  # fmt: skip


_ASCENDING: Final = re.compile(rb"#[^\n#]*\bascend(?=:| order\b)")
"""Comments on what is sorted: "ascend: small is keep"."""
