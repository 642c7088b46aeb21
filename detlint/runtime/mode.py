"""Intercepting PyTorch's functions, by whatever name a program knows them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import overrides
from torch.overrides import TorchFunctionMode

from detlint.runtime.context import Context
from detlint.runtime.resolve import find


class Interception(TorchFunctionMode):
    """Makes the calls that have a plan as the plan says. It holds for the thread that enters it."""

    def __init__(self, plans: Mapping[Any, Callable[..., Any]], context: Context) -> None:
        super().__init__()
        self.plans = plans
        self.context = context

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        plan = self.plans.get(func)
        if plan is None or not self.context.active:
            return func(*args, **kwargs) if kwargs else func(*args)
        return plan(func, args, kwargs or {})

    def leave(self) -> None:
        """Leave, also where a mode that was entered later is still on."""
        modes: Any = overrides  # private names, as PyTorch's own modes of this kind use them
        above = []
        for _ in range(modes._len_torch_function_stack()):
            mode = modes._pop_mode()
            if mode is self:
                break
            above.append(mode)
        for mode in reversed(above):
            modes._push_mode(mode)


def spellings(api: str) -> list[Any]:
    """The objects under which PyTorch may tell of a call: the function, and the operator of the same name."""
    found = find(api)
    if found is None:
        return []
    objects = [found.value]
    owner, _, last = api.rpartition(".")
    packet = getattr(torch.ops.aten, last, None) if owner == "torch" else None
    if packet is not None:
        objects += [packet, *(getattr(packet, overload) for overload in packet.overloads())]
    return objects


def intercepted(api: str) -> bool:
    """Whether PyTorch tells modes of its calls, as far as its name says: functions of `torch` and methods of tensors."""
    return api.startswith("torch.")
