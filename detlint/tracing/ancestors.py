"""The way back from what a run is for, its losses and parameters, to the rows that made them differ.

A meter, a timer or a run id differs, too, and nothing that counts is made of it: only ancestors of a loss are to blame.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, Protocol

from detlint.tracing.records import AIM, NOTHING, SHARED, UNREAD, VIEW, Row

_MOST: Final = 1 << 20
"""Rows that differ and are kept; what differs more often than that is known anyhow."""


class Item(NamedTuple):
    """A row in its trace."""

    number: int
    row: Row
    collectives: int
    step: int


class Parted(NamedTuple):
    """What differs at one place of two traces: a row of both, or one that only one run has.

    Attributes:
        order: how many such places came before.
        links: for each input that differs, the rows of both traces that wrote it last, and its digest in the first.
    """

    order: int
    parts: tuple[str, ...]
    left: Item | None
    right: Item | None
    links: tuple[tuple[int, int, int], ...] = ()

    @property
    def passes_on(self) -> bool:
        """Whether what uses its results differs by them."""
        row = (self.left or self.right).row  # type: ignore[union-attr]
        return bool({"outputs", "kinds", "sequence"} & {*self.parts}) or bool(row.flags & (SHARED | VIEW))

    @property
    def begins(self) -> bool:
        """Whether something differs here that isn't made of what differed before."""
        return not self.links or bool({"arguments", "random", "sequence"} & {*self.parts})


class _Names(Protocol):
    def inputs(self, left: Row, right: Row) -> list[int] | None: ...


class Ancestors:
    """Collects what differs, as far as the first aim (a loss, or the parameters after a step) that does.

    Attributes:
        aims: whether there are any.
        uneven: whether one run has aims that the other lacks.
        reached: what differs and led to the aim.
    """

    def __init__(self, names: _Names) -> None:
        self.aims = False
        self.uneven = False
        self.reached: set[int] = set()
        self._names = names
        self._aim: Parted | None = None
        self._kept: list[Parted] = []
        self._by_content: dict[int, Parted] = {}
        self._by_row: tuple[dict[int, Parted], dict[int, Parted]] = ({}, {})

    def alone(self, left: Item | None, right: Item | None) -> None:
        """A row that only one run has."""
        row = (left or right).row  # type: ignore[union-attr]
        if row.flags & AIM:
            self.aims = self.uneven = True
        elif self._aim is None:
            self._keep(Parted(len(self._kept), ("sequence",), left, right))

    def differs(self, parts: Sequence[str], left: Item, right: Item) -> None:
        """A row of both that differs, and isn't an aim."""
        if self._aim is None:
            links = () if self._names.inputs(left.row, right.row) is None else self._links(left.row, right.row)
            if not left.row.inputs and _goes_back(left) and (before := self._gone_back()) is not None:
                links = (before,)
            self._keep(Parted(len(self._kept), tuple(parts), left, right, links))

    def aim(self, left: Item, right: Item) -> None:
        """A loss, or parameters; they differ if what was read does, or if what wrote them last gave something else."""
        self.aims = True
        if self._aim is not None:
            return
        if links := self._links(left.row, right.row):
            self._aim = Parted(len(self._kept), ("inputs",), left, right, links)

    def origins(self) -> list[Parted]:
        """Where differences begin that led to the aim, in their order; none where no aim differs."""
        if self._aim is None:
            return []
        found: dict[int, Parted] = {}
        waiting = [self._aim]
        while waiting:
            at = waiting.pop()
            for link in at.links:
                makers = self._before(link, at)
                if not makers:
                    found[at.order] = at  # it comes from outside, or was changed since
                for maker in makers:
                    if maker.begins:
                        found[maker.order] = maker
                    if maker.order not in self.reached:
                        self.reached.add(maker.order)
                        waiting.append(maker)
        return [found[order] for order in sorted(found)]

    def others(self) -> Iterator[Parted]:
        """Where differences begin that nothing depends on which counts; to be asked for after the origins."""
        return (at for at in self._kept if at.order not in self.reached and (at.begins or not self._explained(at)))

    def _links(self, left: Row, right: Row) -> tuple[tuple[int, int, int], ...]:
        """For each input that differs, or that wasn't read and was written by what differs, its writers and its digest."""
        one, other = left.inputs, right.inputs
        return tuple(
            (one[i + 2], other[i + 2], one[i + 1])
            for i in range(0, min(len(one), len(other)), 3)
            if one[i + 1] != other[i + 1]
            or (one[i + 1] == UNREAD and any(maker.passes_on for maker in self._makers(one[i + 2], other[i + 2])))
        )

    def _gone_back(self) -> tuple[int, int, int] | None:
        """What the backward pass made other last: a part of it whose inputs nothing tells is made of that."""
        at = next((at for at in reversed(self._kept) if at.passes_on), None)
        if at is None or not _goes_back(at.left or at.right):
            return None
        left, right = (NOTHING if item is None else item.number for item in (at.left, at.right))
        return left, right, UNREAD

    def _explained(self, at: Parted) -> bool:
        """Whether each input that differs was made by something that does."""
        return all(any(maker.passes_on for maker in self._makers(*link[:2])) for link in at.links)

    def _before(self, link: tuple[int, int, int], at: Parted) -> list[Parted]:
        """What made an input that differs: who wrote it last, if that gave something else; else who gave what is in it (where a device
        hides whose memory it is); else who wrote a part of it, for the rest was there before."""
        known = [maker for maker in self._makers(*link[:2]) if maker is not at]
        makers = [maker for maker in known if maker.passes_on]
        if not makers and (maker := self._by_content.get(link[2])) is not None and maker.order < at.order:
            makers = [maker]
        return makers or known

    def _makers(self, left: int, right: int) -> list[Parted]:
        """Of the rows that wrote an input last, those that differ."""
        found = (self._by_row[side].get(number) for side, number in enumerate((left, right)) if number > NOTHING)
        makers = {maker.order: maker for maker in found if maker is not None}
        return [*makers.values()]

    def _keep(self, parted: Parted) -> None:
        if len(self._kept) >= _MOST:
            return
        self._kept.append(parted)
        if parted.left is not None:
            self._by_content.update(dict.fromkeys(parted.left.row.outputs[1::2], parted))
            self._by_content.pop(UNREAD, None)
        for side, item in enumerate((parted.left, parted.right)):
            if item is not None:
                self._by_row[side][item.number] = parted


def _goes_back(item: Item | None) -> bool:
    """Whether a row is one of the backward pass."""
    return item is not None and item.row.node != NOTHING
