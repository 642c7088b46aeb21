"""Directory listings in the order of names: the file system's order differs from machine to machine, and from copy to copy.

`glob`, `pathlib` and `os.walk` list by these two functions of `os`. The import system doesn't.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator
from typing import Any

from detlint.catalog import Entry
from detlint.runtime.context import Context
from detlint.runtime.patches import Patches
from detlint.runtime.places import asks_itself

_LISTING = Entry(rule="DET305")


def start(context: Context, patches: Patches) -> None:
    """List in order from now on."""
    if context.options.loaders == "keep":
        return
    for name, made in (("listdir", _listdir), ("scandir", _scandir)):
        own = getattr(os, name)
        patches.attribute(os, name, functools.wraps(own)(made(context, own)))
    # Who asks whether a folder can be listed by its descriptor (shutil does) gets the same answer as before.
    os.supports_fd |= {os.listdir, os.scandir}


def _listdir(context: Context, own: Callable[..., list[Any]]) -> Callable[..., list[Any]]:
    def listdir(path: Any = None) -> list[Any]:
        return _in_order(context, "os.listdir", own(path), None)

    return listdir


def _scandir(context: Context, own: Callable[..., Any]) -> Callable[..., Entries]:
    def scandir(path: Any = None) -> Entries:
        with own(path) as found:
            return Entries(_in_order(context, "os.scandir", [*found], lambda entry: entry.name))

    return scandir


class Entries:
    """What `os.scandir` gives: an iterator that can be closed."""

    def __init__(self, found: list[Any]) -> None:
        self._found = iter(found)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        return next(self._found)

    def __enter__(self) -> Entries:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give nothing more."""
        self._found = iter(())


def _in_order(context: Context, api: str, found: list[Any], key: Callable[[Any], Any] | None) -> list[Any]:
    if not context.active:
        return found
    ordered = sorted(found, key=key)
    if ordered != found and asks_itself():  # what libraries list for themselves is in order too, and not told
        context.done(_LISTING, api, f"`{api}` listed in the order of names")
    return ordered
