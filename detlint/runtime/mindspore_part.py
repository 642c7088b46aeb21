"""What one enforcement does in MindSpore besides the catalog's entries: every stage of a pipeline gets one worker."""

from __future__ import annotations

import functools
from typing import Any

from detlint.catalog import Entry
from detlint.runtime.context import Context
from detlint.runtime.patches import Patches


def start(context: Context, patches: Patches, mindspore: Any) -> None:
    """One worker for each stage: with more, what is drawn for a row depends on which worker takes it.

    MindSpore's guide asks for it (r2.2: Fixed Randomness to Reproduce Run Results).
    """
    if context.options.loaders == "keep":
        return
    stage = mindspore.dataset.Dataset
    made = stage.__init__

    @functools.wraps(made)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        made(self, *args, **kwargs)
        if context.active and self.num_parallel_workers != 1:
            self.num_parallel_workers = 1
            context.done(
                _PARALLEL, f"mindspore.dataset.{type(self).__name__}", "one worker, so that rows are drawn for in order"
            )

    patches.attribute(stage, "__init__", __init__)


_PARALLEL = Entry(rule="DET303")
