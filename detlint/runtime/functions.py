"""Operators that libraries and projects define by `torch.autograd.Function`, copies of known kernels among them."""

from __future__ import annotations

from typing import Any

import torch

from detlint.catalog import Entry
from detlint.runtime.arguments import Parameters
from detlint.runtime.context import Context
from detlint.runtime.installation import standing_in
from detlint.runtime.patches import Patches
from detlint.runtime.plans import Backend, plan_of

_APPLY = ".apply"


class Functions:
    """Makes the calls of `apply` by a plan, of the classes that there are and of those that come."""

    def __init__(self, context: Context, backend: Backend, patches: Patches) -> None:
        self._context = context
        self._backend = backend
        self._patches = patches

    def start(self) -> None:
        for kind in _below(torch.autograd.Function):
            self._put(kind)
        put = self._put

        def made(kind: Any, /, **kwargs: Any) -> None:
            object.__init_subclass__(**kwargs)
            put(kind)

        self._patches.attribute(torch.autograd.Function, "__init_subclass__", classmethod(made))

    def _put(self, kind: type) -> None:
        if not self._context.active:
            return
        own, entries = self._known(kind)
        plan = plan_of(own, self._context, self._backend, entries) if entries else None
        if plan is not None:
            plan.parameters = self._parameters(own, entries, kind)
            stand_in = standing_in(kind.apply, plan)  # type: ignore[attr-defined]
            self._patches.attribute(kind, "apply", staticmethod(stand_in))

    def _known(self, kind: type) -> tuple[str, list[Entry]]:
        catalog = self._context.catalog
        own = catalog.canonical(f"{kind.__module__}.{kind.__qualname__}{_APPLY}")
        numbers = catalog.calls.get(own) or catalog.copies.get(kind.__name__, [])
        return own, [catalog.entries[i] for i in numbers]

    def _parameters(self, own: str, entries: list[Entry], kind: type) -> Parameters:
        """Those of the original: copies name them as they like, and keep their order."""
        names = (own, *(name for entry in entries for name in entry.names if name.endswith(_APPLY)))
        signatures = self._context.catalog.signatures
        known = next((signatures[name] for name in names if name in signatures), None)
        return Parameters(known) if known is not None else Parameters.of(kind.forward)  # type: ignore[attr-defined]


def _below(kind: type) -> list[type]:
    """The classes that derive from one, in the order in which they were made."""
    found: list[type] = [*kind.__subclasses__()]
    for derived in found:
        below: list[type] = derived.__subclasses__()
        found += [kind for kind in below if kind not in found]
    return found
