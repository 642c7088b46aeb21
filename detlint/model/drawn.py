"""Which streams a file's functions may draw from by themselves, by the names that they call: asked of all files that a run comes to."""

from __future__ import annotations

from detlint.catalog import Catalog
from detlint.facts.model import Facts, Ref, decode_body


def drawn_in(facts: Facts, catalog: Catalog) -> tuple[str, ...]:
    """The streams, sorted. A name that other files of the program hand on isn't looked up."""
    names = {
        site.target.name for site in decode_body(facts).sites if site.kind == "call" and isinstance(site.target, Ref)
    }
    entries = (catalog.entries[number] for name in names for number in catalog.calls.get(catalog.canonical(name), ()))
    return tuple(sorted({stream for entry in entries if not entry.rule for stream in entry.draws}))
