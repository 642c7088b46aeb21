"""Processes that train one model in shared memory, as Hogwild! does: they read and write its parameters in whatever order they come.

That varies by design, so nothing is done but to tell it. Recht et al., Hogwild!: A Lock-Free Approach to Parallelizing Stochastic Gradient
Descent, 2011; PyTorch's notes on multiprocessing have an example.
"""

from __future__ import annotations

import multiprocessing
import weakref
from collections.abc import Callable
from typing import Any, Final

from torch.optim.optimizer import register_optimizer_step_post_hook

from detlint.catalog.entries import Entry
from detlint.runtime.context import Context

_SAID: Final = (
    "its parameters lie in memory that processes share and each writes to (Hogwild): the order varies by design, nothing makes it repeat; "
    "train in one process, or with DistributedDataParallel"
)


def follow(context: Context) -> Callable[[], None]:
    """Tell of optimizers that step in a process which was given the parameters; what ends it."""
    seen: weakref.WeakSet[Any] = weakref.WeakSet()

    def stepped(optimizer: Any, *_: Any) -> None:
        if optimizer in seen:
            return
        seen.add(optimizer)
        parameters = (one for group in optimizer.param_groups for one in group["params"])
        if multiprocessing.parent_process() is not None and any(one.is_cpu and one.is_shared() for one in parameters):
            name = f"torch.optim.{type(optimizer).__name__}.step"
            context.refuse(Entry(rule="DET303"), name, f"`{name}`: {_SAID}")

    return register_optimizer_step_post_hook(stepped).remove
