"""What can go wrong with a question."""

from __future__ import annotations

from collections.abc import Sequence


class Changed(BaseException):
    """A source has another value than when it was first looked at in this revision: what was found out since is of two programs.
    Whoever asked begins a new revision (`Database.refresh`) and asks again. (No `Exception`: what can go wrong in one file ends
    there, and the run goes on.)"""


class CycleError(Exception):
    """A query came to itself, and not all of those on the way have an `initial` value."""

    def __init__(self, names: Sequence[str]) -> None:
        first = min(range(len(names)), key=names.__getitem__)  # the same words, whoever asked first
        way = [*names[first:], *names[:first], names[first]]
        super().__init__(f"a query asks for itself: {' -> '.join(way)}; each of them needs `initial`")


class UnsettledError(Exception):
    """The queries of a cycle go on changing: one of them isn't monotone."""
