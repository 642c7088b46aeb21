"""Data loaders: their workers are seeded, and what they have that is random in ways of its own is told."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Collection, Iterator
from itertools import islice
from typing import Any

import torch

from detlint.catalog import Entry
from detlint.runtime.context import Context, enforced
from detlint.runtime.counterparts import Counterparts
from detlint.runtime.options import Options
from detlint.runtime.patches import Patches

_DEPTH = 4
"""How far below a data set its transforms are looked for."""


class Worker:
    """A `worker_init_fn`: seeds what PyTorch leaves unseeded in workers, and then does what the user's own does.

    PyTorch seeds module `random`, its own stream and NumPy's global one (since 1.9), but not OpenCV's
    (torch/utils/data/_utils/worker.py, 2.13). A worker that is no copy of this process is enforced anew.
    """

    def __init__(self, own: Callable[[int], object] | None, options: Options) -> None:
        self.own = own
        self.options = options

    def __call__(self, number: int) -> None:
        if not enforced():
            from detlint.runtime.enforced import Enforcement

            Enforcement(self.options).attach()
        cv2: Any = sys.modules.get("cv2")
        if cv2 is not None:
            cv2.setRNGSeed(torch.initial_seed() % 2**31)
        if self.own is not None:
            self.own(number)


class Loaders:
    """Looks at each loader that is made."""

    def __init__(self, context: Context, patches: Patches, counterparts: Counterparts) -> None:
        self._context = context
        self._patches = patches
        self._counterparts = counterparts

    def start(self) -> None:
        loader: Any = torch.utils.data.DataLoader
        made = loader.__init__

        @functools.wraps(made)
        def __init__(new: Any, *args: Any, **kwargs: Any) -> None:
            made(new, *args, **kwargs)
            if self._context.active:
                self._look(new)

        self._patches.attribute(loader, "__init__", __init__)

    def _look(self, loader: Any) -> None:
        options = self._context.options
        if loader.num_workers and not isinstance(loader.worker_init_fn, Worker):
            loader.worker_init_fn = Worker(loader.worker_init_fn, options)
        known = self._known()
        for held in (*_below(loader.dataset, _DEPTH), *_below(loader.collate_fn, _DEPTH)):
            found = known(type(held)) if not self._counterparts.meet(held) else None
            if found is None:
                continue
            entry, api = found
            if entry.returns == "generator":
                if loader.num_workers:
                    self._tell(
                        "DET304",
                        api,
                        f"`{api}` on the data set: each worker gets a copy, and each epoch begins it anew",
                    )
            elif options.transforms == "off":
                self._tell(entry.rule, api, f"`{api}` stays random. {entry.remedy}")

    def _tell(self, code: str, api: str, reason: str) -> None:
        self._context.refuse(Entry(rule=code), api, reason)

    def _known(self) -> Callable[[type], tuple[Entry, str] | None]:
        catalog = self._context.catalog

        def known(kind: type) -> tuple[Entry, str] | None:
            api = catalog.canonical(f"{kind.__module__}.{kind.__qualname__}")
            entries = [catalog.entries[i] for i in catalog.calls.get(api, ())]
            telling = (entry for entry in entries if entry.returns == "generator" or entry.rule == "DET301")
            entry = next(telling, None)
            return (entry, api) if entry is not None else None

        return known


def _below(value: Any, depth: int) -> Iterator[Any]:
    """An object, and what it holds: attributes, and items of lists, tuples and dictionaries, the nearest first, none twice. Tensors and
    arrays hold nothing. Nothing of the program runs for it: an object is asked for what it has, not for what it would make."""
    seen, level = set[int](), [value]
    for _ in range(depth + 1):
        new = {id(item): item for item in level if id(item) not in seen}
        level = [*islice(new.values(), max(0, _MOST - len(seen)))]
        seen.update(new)
        yield from level
        level = [
            item for one in level for item in _held(one) if not isinstance(item, (int, float, complex, type(None)))
        ]


def _held(value: Any) -> Collection[Any]:
    if isinstance(value, (str, bytes, type)) or hasattr(type(value), "__array__"):
        return ()
    if isinstance(value, (dict, list, tuple)):
        items = value.values() if isinstance(value, dict) else value
        return items if len(value) <= _MANY else ()
    try:
        attributes: dict[str, Any] = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return ()
    return attributes.values()


_MANY = 100
"""A longer list or table holds samples, not transforms."""
_MOST = 2_000
"""So many objects are looked at for one loader."""
