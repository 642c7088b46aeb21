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
    own = [beside / name for name in found.settings.catalogs]
    return catalog.load(own, _cache(beside))


def _cache(folder: Path) -> Path | None:
    """Where a compiled catalog is kept, which takes a twentieth of the time to load: in the linter's cache where there is one,
    else among the user's caches. A folder in which somebody only trains gets none."""
    linter = Path(os.environ.get("DETLINT_CACHE_DIR") or folder / ".detlint_cache")
    if linter.is_dir():
        return linter
    caches = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    try:
        return (Path(caches) if caches else Path.home() / ".cache") / "detlint"
    except RuntimeError:  # no home
        return None
