"""Where sites stand in the IR."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from detlint.ir import ops as op
from detlint.ir.code import Code
from detlint.ir.places import Place, named
from detlint.model.meaning import Meaning, Meanings
from detlint.model.module import Module
from detlint.model.resolve import Resolver
from detlint.model.sites.records import Site, plain

if TYPE_CHECKING:
    from detlint.model.uses import Use

LOCALS: Final = ".<locals>"
"""What Python puts between a function and what it defines."""


def call_of(resolver: Resolver, module: Module, site: Site) -> Place | None:
    """The call that a site is; None for any other, and where its place isn't known."""
    point = point_of(resolver, module, site)
    return point if point is not None and point.function.ops[point.at][0] == op.CALL else None


def point_of(resolver: Resolver, module: Module, site: Site) -> Place | None:
    """The op of a site, of a call the call; None where there is none, and where it stands in another function than the site."""
    code = resolver.code(module.path)
    return _point(code, module, site) if code is not None else None


def _point(code: Code, module: Module, site: Site) -> Place | None:
    span = site.span
    place = (span.line, span.column, span.end_line, span.end_column)
    found = code.at(place, op.CALL) or code.at(place) or code.covering(*place[:2])
    if found is None:
        return None
    # In facts, what a function defines goes by a name without them.
    same = named(found[0]).qualified.replace(LOCALS, "") == plain(module.function_of(site).name)
    return Place(*found) if same else None


def call_at(resolver: Resolver, meanings: Meanings, module: Module, site: Site) -> tuple[Meaning, Place] | None:
    """The same, with what its file means."""
    meaning = meanings.of(module)
    place = call_of(resolver, module, site) if meaning is not None else None
    return (meaning, place) if meaning is not None and place is not None else None


def call_within(resolver: Resolver, meanings: Meanings, module: Module, site: Site) -> tuple[Meaning, Place] | None:
    """The same, for whoever looks no farther than at the function around: what is found out only rests on that."""
    meaning, place = meanings.within(module), place_within(resolver, module, site)
    return (meaning, place) if meaning is not None and place is not None else None


def place_within(resolver: Resolver, module: Module, site: Site) -> Place | None:
    """The call that a site is, likewise."""
    code = resolver.modules.code(module.path)
    point = _point(code, module, site) if code is not None else None
    if point is None:
        return None
    resolver.inside(module.path, point.function)
    return point if point.function.ops[point.at][0] == op.CALL else None


def calls_among(resolver: Resolver, meanings: Meanings, uses: Iterable[Use]) -> Iterator[tuple[Meaning, Place]]:
    """Those uses of a definition that call it, and whose places are known."""
    for use in uses:
        is_call = use.called and use.site >= 0
        call = call_at(resolver, meanings, use.module, use.module.sites[use.site]) if is_call else None
        if call is not None:
            yield call
