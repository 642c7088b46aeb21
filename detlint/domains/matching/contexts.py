"""Which sites of a run mean a context of the catalog: "loader", "trains", "goes-on"."""

from __future__ import annotations

from collections.abc import Sequence

from detlint.domains.matching.match import Matcher
from detlint.model.runs.reach import Effect, Place, Reach


def in_context(context: str, reach: Reach, matcher: Matcher) -> Sequence[tuple[Place, Effect]]:
    """The sites of a run that mean a context, by themselves or by what the run hands them."""
    if reach.by_context is None:
        reach.by_context = {}
        for place in reach.places:
            for found in (matcher.matches(place.module, place.site), *reach.handed.get(place, {}).values()):
                for effect in found:
                    for meant in effect.entry.contexts:
                        reach.by_context.setdefault(meant, []).append((place, effect))
    return reach.by_context.get(context, ())
