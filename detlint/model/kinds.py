"""What the catalog knows of classes by what they derive from: layers, data sets."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from detlint.catalog import Framework

if TYPE_CHECKING:
    from detlint.model.resolve import Resolver


class Kinds:
    """Answers what kind of class one is, by its full name."""

    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver
        self._catalog = resolver.catalog
        self._layers: dict[str, Framework | None] = {}
        self._datasets: dict[str, bool] = {}

    def layer(self, name: str) -> Framework | None:
        """The framework whose layer class `name` is or derives from, None when it isn't a layer."""
        if name in self._layers:
            return self._layers[name]
        if self._resolver.is_stopped(name):
            return None
        found = None
        if "::" not in name:
            last = name.rpartition(".")[2]
            entries = (self._catalog.entries[i] for i in self._catalog.calls.get(name, ()))
            returned = {entry.returns for entry in entries if "layer" in entry.contexts}
            for framework in (known for known in self._catalog.frameworks if known.module):
                if (
                    name == framework.module
                    or framework.module in returned
                    or (last[:1].isupper() and any(name == prefix + last for prefix in framework.layers))
                ):
                    found = framework
        else:
            self._resolver.busy.add(name)
            found = next((layer for base in self._resolver.classes.bases(name) if (layer := self.layer(base))), None)
            self._resolver.busy.discard(name)
        self._layers[name] = found
        return found

    def is_surely_no_layer(self, name: str) -> bool:
        """Whether a class of the program is known, all the way up, not to derive from any layer class."""
        key, colon, inside = name.partition("::")
        module = self._resolver.module(key) if colon else None
        if module is None or inside not in module.classes:
            return name.partition(".")[0] in sys.stdlib_module_names
        if name in self._resolver.busy:
            return True
        bases = self._resolver.classes.bases(name)
        if not self._resolver.classes.knows_bases(name):
            return False
        self._resolver.busy.add(name)
        known = all(self.is_surely_no_layer(base) for base in bases)
        self._resolver.busy.discard(name)
        return known

    def is_dataset(self, name: str) -> bool:
        """Whether a class of the program derives from what the catalog knows for a dataset."""
        if name not in self._datasets:
            self._datasets[name] = False  # where bases lead in a circle
            bases = self._resolver.classes.bases(name)
            self._datasets[name] = any(
                "dataset" in self._resolver.contexts(b) or ("::" in b and self.is_dataset(b)) for b in bases
            )
        return self._datasets[name]
