"""DET304: a generator object kept on a Dataset, which every worker copies and every epoch resets."""

from __future__ import annotations

from collections.abc import Iterator

from detlint.catalog import Catalog
from detlint.checks.finding import Finding
from detlint.facts.model import Result
from detlint.program.resolve import Module, Resolver

def findings(module: Module, resolver: Resolver, catalog: Catalog) -> Iterator[Finding]:
    """One finding for each attribute of a Dataset class that holds a generator object."""
    rule = catalog.rules["DET304"]
    for body in module.facts.classes:
        if not any(isinstance(value, Result) for value in body.attributes.values()):
            continue
        if not _is_dataset(f"{module.path}::{body.name}", resolver):
            continue
        for name, value in body.attributes.items():
            if isinstance(value, Result) and value.site >= 0 and resolver.type_of(resolver.normal(module.path, value)) == "generator":
                site = module.sites[value.site]
                message = f"`self.{name}` is a generator object on a Dataset: every worker draws the same numbers from its copy"
                yield Finding(module.path, site.span, rule.code, rule.name, "error", message, rule.remedy)


def _is_dataset(name: str, resolver: Resolver, depth: int = 0) -> bool:
    entries, calls = resolver.catalog.entries, resolver.catalog.calls
    for base in resolver.bases(name):
        if any("dataset" in entries[i].contexts for i in calls.get(base, ())):
            return True
        if depth < 8 and "::" in base and _is_dataset(base, resolver, depth + 1):
            return True
    return False
