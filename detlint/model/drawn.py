"""What a file's functions may do to random streams by themselves, by the names that they call: asked of all files that a run comes to."""

from __future__ import annotations

from typing import Final

from detlint.catalog import Catalog
from detlint.facts.model import Facts, Member, Ref, decode_body

_KEEPING: Final = frozenset({"get_state", "set_state", "getstate", "setstate", "get_rng_state", "set_rng_state"})
"""The methods by which objects hand out their random states, and take them back."""


def drawn_in(facts: Facts, catalog: Catalog) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The streams that they may draw from, and by what they keep random states: full names, "" for a method of an object that isn't
    known; both sorted. A name that other files of the program hand on isn't looked up."""
    targets = [site.target for site in decode_body(facts).sites if site.kind == "call"]
    names = {catalog.canonical(target.name) for target in targets if isinstance(target, Ref)}
    entries = (catalog.entries[number] for name in names for number in catalog.calls.get(name, ()))
    draws = {stream for entry in entries if not entry.rule for stream in entry.draws}
    keeps = names & catalog.with_context("keeps-random-states") | {
        name for name in names if name.rpartition(".")[2] in _KEEPING
    }
    if any(isinstance(target, Member) and target.attr in _KEEPING for target in targets):
        keeps.add("")
    return (*sorted(draws),), (*sorted(keeps),)
