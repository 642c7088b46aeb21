"""Files that may give a framework what it lacks: they set attributes of it, or import a library that does."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Final

from detlint.catalog import Catalog
from detlint.program.texts import Texts

_ALIAS: Final = rb"\bimport[ \t]+(?:%s)[\w.]*[ \t]+as[ \t]+(\w+)"


class Mended:
    """Looks for that in the texts of files."""

    def __init__(self, catalog: Catalog, texts: Texts) -> None:
        self._texts = texts
        self._catalog = catalog
        libraries = sorted(name.encode() for framework in catalog.frameworks for name in framework.mends)
        self._imports = re.compile(rb"^[ \t]*(?:import|from)[ \t]+(?:%s)\b" % (b"|".join(libraries) or rb"(?!)"), re.M)
        self._aliases = re.compile(_ALIAS % b"|".join(catalog.raising_roots))
        self._known: dict[str, bool] = {}

    @cached_property
    def _owners(self) -> set[bytes]:
        owners = {name.rpartition(".")[0].rpartition(".")[2].encode() for name in self._catalog.raising}
        return owners.union(self._catalog.raising_roots)

    def may(self, path: str) -> bool:
        """Whether a file may give a framework something that it lacks."""
        if path not in self._known:
            text = self._texts.of(path)
            self._known[path] = text is None or self._may(text)
        return self._known[path]

    def _may(self, text: bytes) -> bool:
        if self._imports.search(text):
            return True
        owners = b"|".join(sorted(self._owners.union(self._aliases.findall(text))))
        sets = rb"^[ \t]*(?:%s)(?:\.\w+)*\.\w+[ \t]*=(?!=)|\bsetattr\([ \t]*(?:\w+\.)*(?:%s)[ \t]*," % (owners, owners)
        return re.search(sets, text, re.M) is not None
