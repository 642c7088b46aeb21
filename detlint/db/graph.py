"""What was asked and what each answer rests on, without the values: a few flat arrays, which are read at once and take a moment.

A node is a number. The invariant that all else rests on: **the fingerprints of its dependencies are those that a node was computed
with, unless the node is red**. So whenever a fingerprint changes, those who asked for it become red, and stay so, on disk too, until
they are computed again. All that can't be reached from a changed source or a red node needs no look at all.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Set
from typing import NamedTuple

import msgspec

Needs = tuple[int, ...]


class Told(NamedTuple):
    """What is kept of a source."""

    text: bytes
    """The question."""
    note: bytes
    """The status that it had; empty where that proves nothing."""


class _Stored(msgspec.Struct, array_like=True):
    token: int
    swept: int
    digests: bytes
    prints: bytes
    red: set[int]
    sources: dict[int, Told]
    roots: dict[int, int]
    marks: dict[int, bytes]
    aside: bytes
    needs: msgspec.Raw


class Graph:
    """The nodes."""

    def __init__(self, data: bytes | None = None) -> None:
        """Begin with what was encoded; with nothing, if that is damaged.

        Raises:
            msgspec.DecodeError: it was none.
        """
        empty = _Stored(0, 0, b"", b"", set(), {}, {}, {}, b"", msgspec.Raw(b"\x90"))
        kept = empty if data is None else msgspec.msgpack.decode(data, type=_Stored)
        self.token = kept.token
        """What the database on disk is known by: each that is written has another one."""
        self.swept = kept.swept
        """The day on which nodes were last removed."""
        self.digests = array("Q", kept.digests)
        self.prints = array("Q", kept.prints)
        self.red = kept.red
        """Nodes that must be computed again: something that they asked for has changed since."""
        self.sources = kept.sources
        self.roots = kept.roots
        """What was asked from outside, and on which day last."""
        self.marks = kept.marks
        """The questions of marks."""
        self.aside = kept.aside
        """What somebody else keeps with it."""
        self._raw: msgspec.Raw | None = kept.needs
        self._needs: list[Needs] = []
        self._found: dict[int, int] | None = None
        self._holes: list[int] = []

    def encode(self) -> bytes:
        """All of it, for `__init__`."""
        needs = msgspec.Raw(msgspec.msgpack.encode(self._needs)) if self._raw is None else self._raw
        digests, prints = self.digests.tobytes(), self.prints.tobytes()
        return msgspec.msgpack.encode(
            _Stored(
                self.token, self.swept, digests, prints, self.red, self.sources, self.roots, self.marks, self.aside, needs
            )
        )  # fmt: skip

    @property
    def needs(self) -> list[Needs]:
        """What each node has asked for, in this order. A run in which nothing has changed never looks at it."""
        if self._raw is not None:
            self._needs, self._raw = msgspec.msgpack.decode(self._raw, type=list[Needs]), None
        return self._needs

    def find(self, digest: int) -> int | None:
        """The node of a question."""
        if self._found is None:
            self._found = dict(zip(self.digests, range(len(self.digests)), strict=True))
            if self._found.pop(0, None) is not None:
                self._holes = [node for node, digest in enumerate(self.digests) if not digest]
        return self._found.get(digest)

    def put(self, digest: int, print_: int, needs: Needs) -> tuple[int, bool]:
        """Note what a question has come to.

        Returns: its node, and whether those who asked for it before saw something else.
        """
        node = self.find(digest)
        assert self._found is not None
        if node is not None:
            changed = self.prints[node] != print_
        else:
            changed = False
            if self._holes:
                node = self._holes.pop()
            else:
                node = len(self.digests)
                self.digests.append(0)
                self.prints.append(0)
                self.needs.append(())
            self._found[digest] = node
            self.digests[node] = digest
        self.prints[node] = print_
        self.needs[node] = needs
        self.red.discard(node)
        return node, changed

    def askers(self, nodes: Set[int]) -> list[int]:
        """The nodes that have asked for one of some nodes."""
        return [node for node, needs in enumerate(self.needs) if not nodes.isdisjoint(needs)]

    def cone(self, seeds: Iterable[int]) -> tuple[set[int], dict[int, list[int]]]:
        """The nodes that rest on some others, these included, and for each of them those who asked for it."""
        inside, before = set(seeds), -1
        if not inside:
            return inside, {}
        apart = inside.isdisjoint
        while len(inside) != before:  # twice as a rule: nearly all nodes come after what they need
            before = len(inside)
            for node, needs in enumerate(self.needs):
                if not apart(needs):
                    inside.add(node)
        askers = defaultdict[int, list[int]](list)
        for node in inside:
            for need in self.needs[node]:
                if need in inside:
                    askers[need].append(node)
        return inside, askers

    def sweep(self, oldest: int) -> set[int]:
        """Remove what nothing rests on that was asked from outside since a day.

        Returns: the nodes that were removed; their numbers are given again.
        """
        self.roots = {node: day for node, day in self.roots.items() if day >= oldest}
        reached, found = set[int](), set(self.roots)
        while found:
            reached |= found
            found = set[int]().union(*(self.needs[node] for node in found)) - reached
        gone = {node for node, digest in enumerate(self.digests) if digest and node not in reached}
        for node in gone:
            if self._found is not None:
                self._found.pop(self.digests[node], None)
            self.digests[node] = 0
            self.needs[node] = ()
            self.sources.pop(node, None)
            self.marks.pop(node, None)
        if self._found is not None:
            self._holes += sorted(gone)
        self.red -= gone
        return gone
