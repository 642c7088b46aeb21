"""What is each process's own in a program of several: its number, its share of the data, and what is made of these."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Final

from detlint.catalog import Catalog
from detlint.ir import ops as op
from detlint.ir.code import Function
from detlint.model.meaning import Meaning
from detlint.model.slices import Point, Slices

_READS: Final = frozenset({"os.getenv", "os.environ.get"})
_STARTS: Final = "torch.distributed.init_process_group"


class Ranks:
    """Knows the values that differ between processes.

    Args:
        slices: the files of a run.
    """

    def __init__(self, catalog: Catalog, slices: Slices) -> None:
        self.slices = slices
        self._catalog = catalog
        self._names = catalog.with_context("rank")
        self._shares = catalog.with_context("ranks-share")

    def of(self, meaning: Meaning, function: Function, value: int, *, shares: bool = False) -> Point | None:
        """The number of the process that a value is made of; None where it is made of none.

        Args:
            shares: whether a share of the data counts, too.
        """
        for point in self.slices.parts(meaning, function, value):
            if self._is_rank(point) or (shares and self.slices.canonical(point.called) in self._shares):
                return point
        return None

    def _is_rank(self, point: Point) -> bool:
        meaning, function, at = point
        operation = function.ops[at]
        if operation[0] in (op.LOAD, op.ATTR) and self.slices.canonical(meaning.name(function, at)) in self._names:
            return True
        if operation[0] == op.LOAD and (given := function.given(at)) is not None:
            return (meaning.path, given[0].number, given[1]) in self._parameters
        if operation[0] == op.ITEM and meaning.name(function, operation[1]) == "os.environ":
            return function.constant(operation[2]) in self._names
        if operation[0] == op.CALL and meaning.name(function, operation[1]) in _READS:
            return function.constant(function.call(at).argument(0, "key")) in self._names
        return False

    @cached_property
    def _parameters(self) -> set[tuple[str, int, int]]:
        """The parameters that get it: the first one of what a library starts in several processes, and what is said to be it."""
        return {*self._started(), *self._said()}

    def _started(self) -> Iterator[tuple[str, int, int]]:
        for entry in self._catalog.entries:
            if entry.hands is None or entry.hands.first != "other":
                continue
            for name in entry.names:
                for point in self.slices.named.get(name, ()):
                    words = [word for word, _ in self._catalog.signatures.get(name, ())]
                    position = words.index(entry.hands.function) if entry.hands.function in words else 0
                    handed = point.function.call(point.at).argument(position, entry.hands.function)
                    path, _, inside = (
                        point.meaning.name(point.function, handed).partition("::") if handed >= 0 else ("", "", "")
                    )
                    meaning = self.slices.files.get(path)
                    for function in meaning.code.by_name.get(inside, ()) if meaning is not None else ():
                        yield path, function.number, 0

    def _said(self) -> Iterator[tuple[str, int, int]]:
        for point in self.slices.named.get(_STARTS, ()):
            said = point.function.call(point.at).named.get("rank", -1)
            given = point.function.given(said) if said >= 0 else None
            if given is not None:
                yield point.meaning.path, given[0].number, given[1]
