"""Where MindSpore's tensors come from, other than operators: arrays of NumPy's, datasets, the initial values of parameters."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from types import FrameType
from typing import Any, Final
from weakref import WeakKeyDictionary

import mindspore
import numpy
from mindspore.common.initializer import Initializer

from detlint.tracing.arrays import of_array, of_numbers
from detlint.tracing.mindspore_tracer import ROOT, MindSporeTracer
from detlint.tracing.records import BRINGS, DRAWS, UNREAD, Row
from detlint.tracing.wrapping import wrap

_UNSEEDED: Final = 5489
"""The seed that datasets have until one is set: with it, each shuffles by one of the system's."""
_MAKERS: Final = ("tensor", "array", "asarray", "from_numpy")
"""MindSpore's own functions that make a tensor of what they are given."""


def follow_sources(stack: ExitStack, tracer: MindSporeTracer) -> None:
    """Have rows written for them until the stack is closed."""

    def made(own: Callable[..., None], tensor: Any, *args: Any, **kwargs: Any) -> None:
        own(tensor, *args, **kwargs)
        given = args[0] if args else kwargs.get("input_data")
        if tracer.recording and given is not None and not tracer.is_tensor(given) and _is_programs(sys._getframe(2)):
            tracer.bring("mindspore.Tensor", (tensor,))

    shuffles = _Shuffles(tracer)

    def brought(own: Callable[..., Any], iterator: Any) -> Any:
        batch = own(iterator)
        if tracer.recording:
            row = tracer.begin("mindspore.dataset", (), flags=BRINGS)
            shuffles.put(iterator, row)
            tracer.finish(row, tracer.tensors((batch,)))
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
        wrap(stack, iterators.Iterator, "__init__", shuffles.iterating)
        wrap(stack, mindspore.dataset.Dataset, "__init__", shuffles.making)


class _Shuffles:
    """Rows of datasets that shuffle, which MindSpore does in threads of its own: by the line that makes them, once they are iterated."""

    def __init__(self, tracer: MindSporeTracer) -> None:
        self._tracer = tracer
        self._made: WeakKeyDictionary[Any, Row] = WeakKeyDictionary()
        self._rows: WeakKeyDictionary[Any, list[int]] = WeakKeyDictionary()
        """By iterators."""

    def making(self, own: Callable[..., None], dataset: Any, *args: Any, **kwargs: Any) -> None:
        self._made[dataset] = self._tracer.begin(f"mindspore.dataset.{type(dataset).__name__}", ())
        own(dataset, *args, **kwargs)

    def iterating(self, own: Callable[..., None], iterator: Any, dataset: Any, *args: Any, **kwargs: Any) -> None:
        self._rows[iterator] = [*self._written(dataset)]
        own(iterator, dataset, *args, **kwargs)

    def put(self, iterator: Any, row: Row) -> None:
        """Have a batch be made of what its datasets' rows stand for."""
        kind = self._tracer.array(None)[0]
        for number in self._rows.get(iterator, ()):
            row.inputs += (kind, UNREAD, number)

    def _written(self, dataset: Any) -> Iterator[int]:
        for inner in dataset.children:
            yield from self._written(inner)
        row = self._made.get(dataset)
        if row is not None and dataset.is_shuffled() and not any(inner.is_shuffled() for inner in dataset.children):
            seed = mindspore.dataset.config.get_seed()
            row.random, row.flags = UNREAD if seed == _UNSEEDED else of_numbers((seed,)), DRAWS
            yield self._tracer.finish(row)


def _is_programs(caller: FrameType) -> bool:
    """Whether the program makes a tensor: what MindSpore makes for itself are constants."""
    code = caller.f_code
    return not code.co_filename.startswith(ROOT) or code.co_name in _MAKERS


def _state() -> int:
    """The state of NumPy's random numbers, which initial values are drawn from."""
    _, keys, place, has, kept = numpy.random.get_state()
    return of_numbers((of_array(keys), place, has, kept))
