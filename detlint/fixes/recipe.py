"""What is to be done at a finding, what came of it, and how a recipe says that it can't be followed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from detlint.catalog import Factory, Recipe
from detlint.fixes.text import Edit
from detlint.model.sites.records import Span

Parameters = Sequence[tuple[str, object]]
"""A signature of the catalog: parameters with their defaults; those behind `*...` are by keyword only."""


CHANGED: Final = "it has changed since it was checked; run detlint again"


class NoFix(Exception):
    """Why a finding can't be fixed where it stands."""


class Left(NoFix):
    """Why nothing at all is changed in a file."""


class Changed(Left):
    """It isn't the file any more that was checked."""

    def __init__(self) -> None:
        super().__init__(CHANGED)


@dataclass(frozen=True)
class Order:
    """A recipe, and where it is to be followed.

    Attributes:
        span: what the finding stands on.
        parameters: the signature of what is called there; empty where it isn't known.
        seed: the number that seeds get.
        api: the name of what stands there, dotted.
        others: the other places in the file that belong to the finding.
        aliases: gives the other names of something.
        factories: how tables say what they build.
    """

    recipe: Recipe
    span: Span
    parameters: Parameters
    seed: int
    api: str = ""
    others: Collection[Span] = ()
    aliases: Callable[[str], Iterable[str]] = tuple
    factories: Sequence[Factory] = ()


@dataclass(frozen=True)
class Change:
    """What following a recipe comes to.

    Attributes:
        imports: what the file has to import for it, as statements.
    """

    edits: list[Edit]
    imports: set[str] = field(default_factory=set)
