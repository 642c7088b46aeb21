"""What a file's functions may do to random streams by themselves, by the names that they call: asked of all files that a run comes to."""

from __future__ import annotations

from typing import Final

from detlint.catalog import Catalog
from detlint.model.sites.records import Facts, Member, Ref, Result, Value, decode_body

_KEEPING: Final = frozenset({"get_state", "set_state", "getstate", "setstate", "get_rng_state", "set_rng_state"})
"""The methods by which objects hand out their random states, and take them back."""
_WRITE: Final = frozenset({"append", "dump", "put", "save", "setdefault", "update", "write"})
"""Methods that keep what they are handed."""


def drawn_in(facts: Facts, catalog: Catalog) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The streams that they may draw from, and by what they keep random states: full names, "" for a method of an object that isn't
    known; both sorted. A name that other files of the program hand on isn't looked up."""
    sites = decode_body(facts).sites
    keeping = catalog.with_context("keeps-random-states")
    targets = [site.target for site in sites if site.kind == "call"]
    names = {catalog.canonical(target.name) for target in targets if isinstance(target, Ref)}
    entries = (catalog.entries[number] for name in names for number in catalog.calls.get(name, ()))
    draws = {stream for entry in entries if not entry.rule for stream in entry.draws}
    # A method that takes a state by a name of its own draws by it: `data.split(random_state=random.getstate())`.
    asking = (site for site in sites if isinstance(site.target, Member) and site.target.attr not in _KEEPING | _WRITE)
    used = {
        arg.value.site
        for site in asking
        for arg in site.args
        if isinstance(arg.value, Result) and arg.name.isidentifier()
    }
    used |= {_number_of(arg.value) for site in sites for arg in site.args}
    kept = [site.target for at, site in enumerate(sites) if site.kind == "call" and at not in used]
    named = {catalog.canonical(target.name) for target in kept if isinstance(target, Ref)}
    keeps = {name for name in named if name in keeping or name.rpartition(".")[2] in _KEEPING}
    if any(isinstance(target, Member) and target.attr in _KEEPING for target in kept):
        keeps.add("")
    return (*sorted(draws),), (*sorted(keeps),)


def _number_of(value: Value | None) -> int:
    """The call that gives a state of which a value is a number, or made of one: `get_state()[1][0] + worker`; -1 for none."""
    while isinstance(value, Member | Result):
        below = value.base if isinstance(value, Member) else value.of
        item = isinstance(value, Member) and value.attr.startswith("[")
        if item and isinstance(below, Member) and below.attr.startswith("[") and isinstance(below.base, Result):
            return below.base.site
        value = below
    return -1
