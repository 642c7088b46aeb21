"""The catalog as a run needs it: detlint's own, and what the project's configuration adds."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from detlint import catalog, config
from detlint.catalog import Catalog


def known() -> Catalog:
    """The catalog for the current folder.

    Raises:
        CatalogError, ConfigError: a file of the user's can't be used.
    """
    return _known(Path.cwd())


@lru_cache(8)
def _known(folder: Path) -> Catalog:
    settings = config.load(folder)
    cache = settings.root / ".detlint_cache"
    own = [settings.root / name for name in settings.settings.catalogs]
    # The linter's cache is used where there is one. A folder in which somebody only trains gets none.
    return catalog.load(own, cache if cache.is_dir() else None)
