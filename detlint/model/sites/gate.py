"""What a file must say so that it can produce a finding, as the catalog has it."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from detlint.catalog import Catalog
from detlint.model.sets import MAKES_SET
from detlint.sources.gate import Gate, Setting, YamlGate, encoded

BUILTINS: Final = "builtins."


@lru_cache(maxsize=4)
def gate_of(catalog: Catalog, own: frozenset[str]) -> Gate:
    """The gate for Python files: one passes that names a framework, or something that needs no import to matter, that imports from the
    program, whose names may stand for a framework's, or that may say where others import from.

    Args:
        own: the top-level names of the program's modules.
    """
    roots = set(catalog.roots)
    roots |= {name.partition(".")[0] for name in catalog.acting - catalog.reading.keys() if "." in name}
    roots |= {alias.partition(".")[0] for alias in catalog.aliases}
    unimported = (catalog.registry, catalog.sections, catalog.copies, catalog.environment)
    roots |= {name for table in unimported for name in table}
    roots |= {"__main__", *_telling(catalog)}
    phrases = sorted(root for root in roots if not root.isidentifier())
    words = (root for root in roots if root.isidentifier())
    return Gate(words, ["sys.path", *phrases], own, _built_in(catalog), bool(catalog.ordering))


def _built_in(catalog: Catalog) -> set[str]:
    """The functions of the language itself that break a rule, and those that make what does."""
    calls = (name for name, found in catalog.calls.items() if any(catalog.entries[i].rule for i in found))
    broken = {name.removeprefix(BUILTINS) for name in calls if name.startswith(BUILTINS)}
    return broken | ({name.removeprefix(BUILTINS) for name in MAKES_SET} if catalog.ordering else set())


def _telling(catalog: Catalog) -> set[str]:
    """The keys that tell by themselves that a table says what to build."""
    factories = catalog.factory_keys.items()
    return {key for key, factory in factories if factory.names == "dotted" and not factory.required}


@lru_cache(maxsize=4)
def yaml_gate_of(catalog: Catalog) -> YamlGate:
    """The gate for YAML files."""
    factories = catalog.factory_keys.values()
    return YamlGate(
        sorted(_telling(catalog) | catalog.factory_tags.keys() | catalog.sections.keys()),
        [factory.key for factory in factories if factory.names == "registered"],
        catalog.registry,
        [factory.key for factory in factories if factory.required],
        [
            Setting(encoded(kind.marks), encoded([*kind.calls, *_settings(catalog, kind.name)]))
            for kind in catalog.settings_files
        ],
        {*catalog.environment, *(name.partition(".")[0] for name in catalog.commands)},
    )


def _settings(catalog: Catalog, kind: str) -> list[str]:
    """The settings that are known of a kind of file."""
    return sorted(name.partition(".")[2] for name in catalog.settings if name.partition(".")[0] == kind)
