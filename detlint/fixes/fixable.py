"""A file that may be fixed: one interface for every kind of file."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Set
from typing import NamedTuple

from detlint.fixes.recipe import Change, NoFix, Order
from detlint.fixes.text import Edit, Text


class Placed(NamedTuple):
    """An edit as people count: lines and columns, in characters, from 1; those of a notebook inside a cell."""

    cell: int | None
    start: tuple[int, int]
    end: tuple[int, int]
    text: str


class Fixable(ABC):
    """A file as it stands before it is edited.

    Args:
        path: its name.
        text: what edits are made in.
    """

    def __init__(self, path: str, text: Text) -> None:
        self.path = path
        self.text = text

    @property
    @abstractmethod
    def suppressed(self) -> Set[int]:
        """The lines on which a comment suppresses a finding: no fix touches them."""

    @abstractmethod
    def follow(self, order: Order) -> Change:
        """What following a recipe does to the file.

        Raises:
            NoFix: it can't be followed here.
        """

    @abstractmethod
    def edited(self, edits: Collection[Edit]) -> bytes:
        """The whole file with some edits made.

        Raises:
            NoFix: what comes of it can't be parsed.
            Undecodable: its encoding hasn't the characters, or other bytes would change.
        """

    def importing(self, imports: Collection[str], edits: Collection[Edit]) -> list[Edit]:
        """The edits that make the file import something.

        Args:
            imports: as statements.
            edits: what needs them.

        Raises:
            NoFix: there is no place for them.
        """
        raise NoFix("nothing can be imported there")

    def takes(self, edits: Collection[Edit], imports: Collection[str]) -> bool:
        """Whether a fix may be made: whether it keeps clear of what is suppressed.

        Args:
            imports: what it needs besides.
        """
        kept, place = self.suppressed, self.text.place
        changes = (edit for edit in edits if kept and edit.start != edit.end)
        return all(kept.isdisjoint(range(place(edit.start)[0], place(edit.end)[0] + 1)) for edit in changes)

    def apart(self, edit: Edit, other: Edit) -> bool:
        """Whether the edits of two fixes can be made together. The same edit, and insertions at one place, can."""
        return (
            edit == other
            or edit.end < other.start
            or other.end < edit.start
            or (edit.start == edit.end == other.start == other.end)
        )

    def placed(self, edits: Iterable[Edit]) -> Iterator[Placed]:
        """Where edits are made, for people and programs."""
        for edit in edits:
            (line, column), (last, end) = self.text.place(edit.start), self.text.place(edit.end)
            yield Placed(None, (line, column + 1), (last, end + 1), edit.text)
