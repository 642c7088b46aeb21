"""Where MindSpore's tensors come from, other than operators: arrays of NumPy's, datasets, the initial values of parameters."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import ExitStack
from types import FrameType
from typing import Any, Final

import mindspore
import numpy
from mindspore.common.initializer import Initializer

from detlint.tracing.arrays import of_array, of_numbers
from detlint.tracing.mindspore_tracer import ROOT, MindSporeTracer
from detlint.tracing.records import UNREAD
from detlint.tracing.wrapping import wrap

_MAKERS: Final = ("tensor", "array", "asarray", "from_numpy")
"""MindSpore's own functions that make a tensor of what they are given."""


def follow_sources(stack: ExitStack, tracer: MindSporeTracer) -> None:
    """Have rows written for them until the stack is closed."""

    def made(own: Callable[..., None], tensor: Any, *args: Any, **kwargs: Any) -> None:
        own(tensor, *args, **kwargs)
        given = args[0] if args else kwargs.get("input_data")
        if tracer.recording and given is not None and not tracer.is_tensor(given) and _is_programs(sys._getframe(2)):
            tracer.bring("mindspore.Tensor", (tensor,))

    def brought(own: Callable[..., Any], iterator: Any) -> Any:
        batch = own(iterator)
        if tracer.recording:
            tracer.bring("mindspore.dataset", tracer.tensors((batch,)))
        return batch

    def initialised(own: Callable[..., Any], initializer: Any, array: Any) -> Any:
        before = _state()
        result = own(initializer, array)
        if tracer.recording:
            op = f"mindspore.common.initializer.{type(initializer).__name__}"
            row = tracer.begin(op, (), random=before if _state() != before else UNREAD)
            number = tracer.array(array if hasattr(array, "tobytes") else result)
            row.outputs.extend(number)
            tracer.finish(row)
        return result

    wrap(stack, mindspore.Tensor, "__init__", made)
    wrap(stack, Initializer, "__call__", initialised)
    iterators = getattr(getattr(mindspore.dataset, "engine", None), "iterators", None)
    if iterators is not None:
        wrap(stack, iterators.Iterator, "__next__", brought)


def _is_programs(caller: FrameType) -> bool:
    """Whether the program makes a tensor: what MindSpore makes for itself are constants."""
    code = caller.f_code
    return not code.co_filename.startswith(ROOT) or code.co_name in _MAKERS


def _state() -> int:
    """The state of NumPy's random numbers, which initial values are drawn from."""
    _, keys, place, has, kept = numpy.random.get_state()
    return of_numbers((of_array(keys), place, has, kept))
