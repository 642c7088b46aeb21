"""What devices add up between them, by the words of the files that a run comes to."""

from __future__ import annotations

import re
from collections.abc import Callable

from detlint.catalog import Catalog
from detlint.program.following.effects import ADDING
from detlint.program.texts import Texts


class Sums:
    """Looks for calls of what adds up between devices, whoever makes them.

    Args:
        trains: whether something may train in a definition of a file's top level.
    """

    def __init__(self, catalog: Catalog, texts: Texts, trains: Callable[[str, str], bool]) -> None:
        self._texts = texts
        self._trains = trains
        adding = [entry for entry in catalog.entries if not ADDING.isdisjoint(entry.contexts)]
        sure = {name.rpartition(".")[2] for entry in adding if entry.rule or not entry.when for name in entry.names}
        # One word in small letters may mean anything (`reduce`).
        words = sorted(word.encode() for word in sure if "_" in word or not word.islower())
        self._adds = re.compile(rb"\b(?:%s)(?=\(| as )" % b"|".join(words))
        self._known: dict[tuple[str, bool], bool] = {}

    def may(self, path: str, trains: bool) -> bool:
        """Whether something in a file may add up what several devices have.

        Args:
            trains: whether it does so also if that stands in what trains a network.
        """
        key = path, trains
        if key not in self._known:
            blocks = [] if trains else self._texts.blocks(path)
            parts = [self._texts.of(path)] if trains else [b.text for b in blocks if not self._trains(path, b.name)]
            self._known[key] = any(text is None or self._adds.search(text) is not None for text in parts)
        return self._known[key]
