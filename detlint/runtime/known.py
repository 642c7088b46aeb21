"""The catalog as a run needs it: detlint's own, and what the project's configuration adds."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

from detlint import catalog, config
from detlint.catalog import Catalog
from detlint.runtime.plan import VARIABLE, Plan


def known() -> Catalog:
    """The catalog for the current folder; under `detlint run`, with what the configuration adds that the run has.

    Raises:
        CatalogError, ConfigError: a file of the user's can't be used.
    """
    started = VARIABLE in os.environ
    return _known(Path.cwd(), started, Plan.read().config if started else "")


@lru_cache(8)
def _known(folder: Path, given: bool, source: str) -> Catalog:
    found = config.load(folder, Path(source) if source else None, isolated=given)
    beside = Path(source).parent if source else found.root
    cache = beside / ".detlint_cache"
    own = [beside / name for name in found.settings.catalogs]
    # The linter's cache is used where there is one. A folder in which somebody only trains gets none.
    return catalog.load(own, cache if cache.is_dir() else None)
