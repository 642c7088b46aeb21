"""Decides on a file's bytes whether it can produce a finding at all, before anything is parsed."""

from __future__ import annotations

import re
from functools import lru_cache

from detlint.catalog import Catalog
from detlint.facts.comments import directives


class Gate:
    """A file passes when it names a framework of the catalog, or something that needs no import to matter, or imports
    from the program, whose names may stand for a framework's.

    A file that doesn't pass is still read when another file's names lead into it.

    Args:
        own: the top-level names of the program's modules.
    """

    def __init__(self, catalog: Catalog, own: frozenset[str]) -> None:
        roots = set(catalog.roots)
        roots |= {name.partition(".")[0] for name in catalog.acting if "." in name}
        roots |= {alias.partition(".")[0] for alias in catalog.aliases}
        unimported = (catalog.registry, catalog.sections, catalog.copies, catalog.environment)
        roots |= {name for table in unimported for name in table}
        roots |= {"_target_", "__main__"}
        self._words = re.compile(rb"\b(?:" + _trie({root.encode() for root in roots}) + rb")\b")
        self._imports = re.compile(
            rb"^[ \t]*(?:from|import)[ \t]+(?:\.|(?:" + _trie({n.encode() for n in own}) + rb")\b)", re.M
        )

    def passes(self, data: bytes) -> bool:
        """Whether the file may produce a finding."""
        return (
            self._words.search(data) is not None
            or self._imports.search(data) is not None
            or b"detlint" in data
            or any(d.codes for d in directives(data))
        )


@lru_cache(maxsize=4)
def gate_of(catalog: Catalog, own: frozenset[str]) -> Gate:
    """The gate of a catalog and a program; compiled once in each process."""
    return Gate(catalog, own)


def _trie(words: set[bytes]) -> bytes:
    """A regular expression for a set of words that shares their beginnings, so that it fails early."""
    tree: dict[int, dict] = {}  # type: ignore[type-arg]
    for word in words:
        node = tree
        for byte in word:
            node = node.setdefault(byte, {})
        node[-1] = {}
    return _expression(tree)


def _expression(node: dict[int, dict]) -> bytes:  # type: ignore[type-arg]
    arms = [re.escape(bytes([byte])) + _expression(below) for byte, below in sorted(node.items()) if byte >= 0]
    if not arms:
        return b""
    text = arms[0] if len(arms) == 1 and -1 not in node else b"(?:" + b"|".join(arms) + b")"
    return text + b"?" if -1 in node else text
