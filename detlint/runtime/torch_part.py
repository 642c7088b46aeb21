"""Everything that one enforcement does in PyTorch programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from detlint.catalog import Catalog
from detlint.runtime import hogwild
from detlint.runtime.context import Context
from detlint.runtime.counterparts import Counterparts
from detlint.runtime.devices import Devices
from detlint.runtime.functions import Functions
from detlint.runtime.installation import CONSTRUCTED, Installation
from detlint.runtime.layers import Layers, Recurrent, recurrent
from detlint.runtime.library_part import foreign, others
from detlint.runtime.loaders import Loaders
from detlint.runtime.mode import Interception, spellings
from detlint.runtime.patches import Patches
from detlint.runtime.plans import Plan, asked_for, names_of, plan_of
from detlint.runtime.threads import follow


class TorchPart:
    """Starts and undoes; `interception` makes what each thread enters."""

    def __init__(self, context: Context, counterparts: Counterparts) -> None:
        self._context = context
        self._counterparts = counterparts
        self._devices = Devices()
        self._patches = Patches()
        self._installation = Installation(context, self._devices, self._patches)
        self._layers = Layers(context, self._devices)
        self._plans: dict[Any, Plan | Recurrent] = {}
        self._ends: Callable[[], None] = lambda: None

    def start(self) -> None:
        patched = []
        for api in acting(self._context.catalog):
            plan = plan_of(api, self._context, self._devices) if api.startswith("torch.") else None
            if plan is None or any(choice.do in CONSTRUCTED for choice in plan.choices):
                patched.append(api)
            else:
                self._plans.update(dict.fromkeys(spellings(api), plan))
        self._ask()
        noting = self._context.own.noting("torch.manual_seed", torch.manual_seed)
        self._patches.replace([(torch.manual_seed, noting)], lambda module, _: False)
        self._installation.start(patched)
        Functions(self._context, self._devices, self._patches).start()
        if self._context.options.dropout == "off":
            self._layers.start()
            self._plans.update(recurrent(self._context))
        if self._context.options.loaders != "keep" or self._context.options.transforms == "off":
            Loaders(self._context, self._patches, self._counterparts).start()
        follow(self._patches, self._context, self.interception)
        self._ends = hogwild.follow(self._context)

    def _ask(self) -> None:
        """Move what the options name and the catalog has no action for."""
        wanted = self._context.options.operators
        if isinstance(wanted, str):
            return
        catalog = self._context.catalog
        known = {name for api in [*acting(catalog), *others(catalog)] for name in names_of(api)}
        elsewhere = foreign(catalog)
        for api in sorted(wanted - known - catalog.rules.keys()):
            if api.partition(".")[0] in elsewhere:
                continue
            found = spellings(catalog.canonical(api))
            if found:
                self._plans.update(dict.fromkeys(found, asked_for(api, self._context, self._devices)))
            else:
                self._context.report.refuse(
                    "", "", api, f"`{api}` is no function of PyTorch, and no rule or API of the catalog"
                )

    def undo(self) -> None:
        self._ends()
        self._installation.stop()
        self._layers.undo()
        self._patches.undo()

    def interception(self) -> Interception:
        return Interception(self._plans, self._context)


def acting(catalog: Catalog) -> list[str]:
    """The APIs with which something may be done, other than those that need no PyTorch."""
    elsewhere = {*others(catalog)}
    names = {
        name
        for entry in catalog.entries
        if entry.kind == "call" and (entry.runtime is not None or entry.category in ("a", "d"))
        for name in entry.names
    }
    return sorted(names - elsewhere)
