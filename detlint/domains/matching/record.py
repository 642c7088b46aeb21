"""What it means that a site fulfils an entry of the catalog, and what the entry's parameters get there."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Final

import msgspec

from detlint.catalog import Entry
from detlint.domains.matching.conditions import argument_of
from detlint.ir.places import Place
from detlint.model.arguments import Argument, CallArgument

GIVES_LAYER: Final = "gives-layer"
"""The context of functions that give one: `Model.from_pretrained`."""


class Passed:
    """What a site passes, worked out when first asked for: most entries have no conditions."""

    def __init__(
        self,
        work_out: Callable[[], dict[str, Argument]],
        ways: Callable[[bool], list[dict[str, Argument]]],
        place: Callable[[str], Place | None],
    ) -> None:
        self._work_out = work_out
        self._ways = ways
        self.place = place
        """The value in the IR that a site itself gives a parameter; None for none, or where that isn't known."""

    @cached_property
    def arguments(self) -> dict[str, Argument]:
        """What each parameter gets."""
        return self._work_out()

    @cached_property
    def ways(self) -> list[dict[str, Argument]]:
        """The same for each of several tables that may be unpacked."""
        return self._ways(False) or [self.arguments]

    @cached_property
    def usual(self) -> list[dict[str, Argument]]:
        """Those where parameters are what they are by default."""
        return self._ways(True) or [self.arguments]


class Match(msgspec.Struct, frozen=True):
    """An entry that a site fulfils; `sure` unless a condition could not be decided."""

    entry: Entry
    name: str
    """The API, canonical."""
    sure: bool
    passed: Passed
    before: tuple[CallArgument, ...] = ()
    """What the partial gives that is called there, before the call itself does."""
    known: bool = True
    """Whether what isn't sure is so by default; else nothing is known of it."""

    @property
    def arguments(self) -> dict[str, Argument]:
        """What each parameter gets."""
        return self.passed.arguments

    @property
    def builds(self) -> bool:
        """Whether it gives an object that works later: a class, or what gives a layer."""
        return is_class(self.name) or GIVES_LAYER in self.entry.contexts

    def argument(self, parameter: str) -> Argument | None:
        """What one parameter gets, or an item of a dictionary that it gets."""
        return argument_of(self.passed.arguments, parameter)


def is_class(name: str) -> bool:
    """Whether what an entry names builds an object, by the capital of its name."""
    return name.rpartition(".")[2][:1].isupper()
