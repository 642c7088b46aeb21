"""How much work a piece of code has done: numbers that are the same on every machine, as seconds aren't.

Work is counted where it is done (`counters.now.parses += 1`), and looked at by whoever asked for it with `counted`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Final, TypeVar

import msgspec

_Text = TypeVar("_Text", bytes, "bytes | None")


class Counters(msgspec.Struct):
    """What was done. Sources are Python files, notebooks and YAML files."""

    files: int = 0
    """Sources that were looked at, and of which the key was taken: each is read once for that."""
    read: int = 0
    """Those of them whose facts were read, because neither the cache nor the gate had an answer."""
    parses: int = 0
    """Calls of `ast.parse` for a file, or for a part of one that is no expression."""
    expressions: int = 0
    """Calls of `ast.parse` for an expression."""
    rewrites: int = 0
    """Files that LibCST parsed."""
    runs: int = 0
    """Entry points, and the processes that they start, which were followed."""
    entered: int = 0
    """Calls of functions of the program that runs came to, of whichever kind."""
    calls: int = 0
    """Those of them whose function was gone through."""
    visits: int = 0
    """Sites that runs came by, again and again where they do so."""
    interpreted: int = 0
    """Steps (sites, tests, blocks) that were interpreted: each once for all that it may come to."""
    judged: int = 0
    """Sites that were judged."""
    content: int = 0
    """Bytes of sources that were read for the first time, to take their keys."""
    bytes: int = 0
    """Bytes of sources that were read from files, this first time included."""
    searched: int = 0
    """Bytes of sources that were handed out to be looked through, once they were read: to look for a word in a file that is in memory
    hands out all of it."""
    computed: int = 0
    """Runs of queries of the database; those that come to themselves are run some times for one answer."""
    green: int = 0
    """Answers that might have changed, and were found to hold without being computed."""
    loaded: int = 0
    """Values of queries that were read from the cache."""
    inputs: int = 0
    """Values of sources that were read, rather than only their status."""

    @property
    def again(self) -> int:
        """Bytes of sources that were read from files after the first time."""
        return self.bytes - self.content

    def add(self, other: Counters) -> None:
        """Count what was done elsewhere: in another process, or apart."""
        for name in NUMBERS:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def rows(self) -> Iterator[tuple[str, int]]:
        """What was counted, for people."""
        yield "files looked at", self.files
        yield "files read for facts", self.read
        yield "files and parts parsed", self.parses
        yield "expressions parsed", self.expressions
        yield "files parsed by LibCST", self.rewrites
        yield "runs followed", self.runs
        yield "calls come to", self.entered
        yield "calls gone through", self.calls
        yield "sites visited", self.visits
        yield "steps interpreted", self.interpreted
        yield "sites judged", self.judged
        yield "bytes read", self.bytes
        yield "bytes read again", self.again
        yield "bytes searched", self.searched
        if self.computed or self.green or self.loaded or self.inputs:
            yield "queries run", self.computed
            yield "answers verified", self.green
            yield "answers loaded", self.loaded
            yield "inputs read", self.inputs


NUMBERS: Final = Counters.__struct_fields__
now = Counters()
"""What is counted into at the moment. Threads share it: what one of them counts apart holds what the others do meanwhile."""


@contextlib.contextmanager
def counted() -> Iterator[Counters]:
    """Count what is done meanwhile, apart; the caller adds it to `now` where it counts there too."""
    global now
    outer, now = now, Counters()
    try:
        yield now
    finally:
        now = outer


def looked_through(text: _Text) -> _Text:
    """A text that is handed out to be looked through; None for one that can't be read."""
    if text is not None:
        now.searched += len(text)
    return text
