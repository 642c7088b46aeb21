"""`--watch`: a check, and another one whenever something is saved that may change its result."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from detlint.config import FILES, Config
from detlint.discover import SUFFIXES

_FIRST_WAIT: Final = 100
"""Milliseconds until the first check begins: from the beginning of this time on, no change is missed."""


class NoWatcher(Exception):
    """What is missing, and how to get it."""


def watch(check: Callable[[], None], changes: Iterable[set[str]]) -> None:
    """Check, and check again after each set of changed files.

    Args:
        changes: the first set may be empty; another empty one means nothing.
    """
    checked = False
    for changed in changes:
        if changed or not checked:
            check()
            checked = True


def changed_files(paths: Sequence[Path], config: Config) -> Iterator[set[str]]:
    """The files that have been saved, as a set each time some have; an empty set once watching has begun.

    Args:
        paths: the files and folders that are checked. Other files of their project count too.

    Raises:
        NoWatcher: watchfiles is not installed.
    """
    try:
        from watchfiles import DefaultFilter
        from watchfiles import watch as watched
    except ImportError:
        raise NoWatcher("--watch needs watchfiles: `pip install 'detlint[watch]'`") from None

    settings = config.settings
    left_out = DefaultFilter(ignore_dirs=[*DefaultFilter.ignore_dirs, *settings.exclude, *settings.extend_exclude])
    named = {os.path.abspath(path) for path in paths if not path.is_dir()}
    named |= {os.path.abspath(config.root / name) for name in (settings.baseline, *settings.catalogs) if name}
    if config.source is not None:
        named.add(os.path.abspath(config.source))

    def matters(change: object, path: str) -> bool:
        known = path.endswith(SUFFIXES) or os.path.basename(path) in FILES
        return path in named or (known and left_out(change, path))  # type: ignore[arg-type]

    tops = [config.root] if config.project else [path if path.is_dir() else path.absolute().parent for path in paths]
    for changes in watched(*tops, watch_filter=matters, yield_on_timeout=True, rust_timeout=_FIRST_WAIT):
        yield {path for _, path in changes}
