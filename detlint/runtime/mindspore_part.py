"""What one enforcement does in MindSpore besides the catalog's entries: one worker for each stage of a pipeline, and primitives
that run on the CPU."""

from __future__ import annotations

import functools
import sys
from typing import Any, Final

from detlint.catalog import Entry
from detlint.runtime.arguments import Call
from detlint.runtime.context import Context
from detlint.runtime.patches import Patches
from detlint.runtime.plans import Choice, Plan

_TARGETS: Final = {"Ascend": "ascend", "GPU": "cuda"}
"""Kind of device, as MindSpore names it -> the catalog's target."""
_TARGET: Final = "primitive_target"
"""The attribute of a primitive that says where it runs; `Primitive.set_device` sets it."""


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


def device(plan: Plan, choice: Choice, call: Call) -> str:
    """The device on which the program runs; "" where it is the CPU, or the entry doesn't concern it."""
    mindspore: Any = sys.modules["mindspore"]
    kind: str = mindspore.get_context("device_target")
    concerned = kind != "CPU" and (plan.asked or _TARGETS.get(kind) in choice.entry.targets)
    return kind if concerned and not (call.args and moved_inside(call.args[0])) else ""


def is_primitive(thing: object) -> bool:
    """Whether it is an operator as MindSpore's graphs are made of."""
    primitive: Any = sys.modules["mindspore"].ops.Primitive
    return isinstance(thing, primitive)


def moved_inside(thing: object) -> bool:
    """Whether it is a layer of which some primitives run on the CPU."""
    cell: Any = sys.modules["mindspore"].nn.Cell
    if not isinstance(thing, cell):
        return False
    return any(
        primitive.attrs.get(_TARGET) == "CPU"
        for _, part in thing.cells_and_names()
        for primitive in part._primitives.values()
        if primitive is not None
    )


def place(patches: Patches, primitive: Any) -> None:
    """Have a primitive run on the CPU from now on: in graphs that are compiled, and when it is called."""
    before = primitive.attrs.get(_TARGET)
    primitive.set_device("CPU")
    patches.later(primitive, lambda own: own.set_device(before) if before is not None else own.del_prim_attr(_TARGET))
