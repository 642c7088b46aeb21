"""Computes what a model is given once more, each sample alone and the batch in another order, and compares each operator's rows.

A model is a module that the program calls while none runs. It is tried as for inference, without gradients, with its parts in `eval`
mode; modes, buffers and random states are put back. No loss is needed.
"""

from __future__ import annotations

import atexit
import copy
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any, Final

import msgspec
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from detlint.runtime import streams
from detlint.tracing import asked, digests
from detlint.tracing.batches_text import Dependent, Tried
from detlint.tracing.calls import Place
from detlint.tracing.ending import enough
from detlint.tracing.modes import Names
from detlint.tracing.operators import Operator
from detlint.tracing.sites import Sites
from detlint.tracing.tracer import name_of, tensors_of
from detlint.tracing.watch import Watch

_ALONE: Final = 2
"""So many samples of a batch are computed alone."""
_MOVES: Final = frozenset(
    {"aten.clone.default", "aten._unsafe_view.default", "aten.copy_.default", "aten._to_copy.default"}
)
"""What only moves values, or changes their type; where a batch of one lies right already, it isn't called."""
_MOST: Final = 4 << 30
"""Bytes of results that are kept of one call."""


class TooLarge(Exception):
    """A call whose results take too much memory to keep."""


class _Step(msgspec.Struct):
    op: str
    api: str
    stack: tuple[tuple[str, int, str], ...]
    outputs: list[torch.Tensor]


class _Recorder(TorchDispatchMode):
    """Keeps what each operator gives."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.steps: list[_Step] = []
        self.api: Any = None
        self._sites = Sites(*(str(path) + "/" for path in torch.__path__))
        self._size = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        operator = Operator.of(func)
        if not (operator.view or operator.unfilled or operator.silent or operator.shared or operator.name in _MOVES):
            api = name_of(self.api) if self.api is not None else ""
            kept = [tensor.detach().cpu().clone() for tensor in tensors_of(result)]
            self._size += sum(tensor.nbytes for tensor in kept)
            if self._size > _MOST:
                raise TooLarge
            self.steps.append(_Step(operator.name, api, self._sites.here(2), kept))
        return result


class Batches:
    """Tries the models of this process, as many calls as are asked for, and then ends it."""

    def __init__(self, watch: Watch) -> None:
        self.watch = watch
        self.tried = Tried()
        self._busy = False
        """Whether a module runs, or one is tried."""

    def calling(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        """What calls a module, and tries it then."""

        @wraps(plain)
        def call(module: Any, *args: Any, **kwargs: Any) -> Any:
            if self._busy or torch.compiler.is_compiling():
                return plain(module, *args, **kwargs)
            self._busy = True
            try:
                rows = _rows((args, kwargs))
                # What a model changes of what it is given, it shall not change twice.
                given = (
                    _copied((args, kwargs))
                    if rows > 1 and not isinstance(module, torch.nn.modules.loss._Loss)
                    else None
                )
                result = plain(module, *args, **kwargs)
                if given is not None:
                    self._try(module, given, rows, plain)
                return result
            finally:
                self._busy = False

        return call

    def expression(self, expression: str) -> None:
        """Try an expression among the names of the program: those of tensors, other than parameters, are the batch."""
        used = asked.used(expression)
        batch = {
            name: one for name, one in used.items() if [*_tensors(one)] and not isinstance(one, torch.nn.Parameter)
        }
        rows = _rows(batch)
        if rows < 2:
            self.tried.said = f"`{expression}` names no tensor of two samples or more."
            return

        def compute(_: Any, **given: Any) -> Any:
            return eval(asked.compiled(expression), {**asked.names(), **given})

        modules = torch.nn.ModuleList(one for one in used.values() if isinstance(one, torch.nn.Module))
        self._busy = True
        self._try(modules, ((), batch), rows, compute, expression)

    def _try(self, module: Any, given: Any, rows: int, plain: Callable[..., Any], title: str = "") -> None:
        tried, title = self.tried, title or type(module).__name__
        orders = [*([i] for i in range(min(rows, _ALONE))), [*reversed(range(rows))]]
        try:
            with _inference(module):
                whole = _recorded(module, given, plain)
                found = [_recorded(module, _taken(given, order, rows), plain) for order in orders]
        except TooLarge:
            tried.untried += 1
            return
        except Exception as error:  # the program's: it may refuse other batches
            tried.untried += 1
            tried.said = f"{title} doesn't take other batches: {type(error).__name__}: {error}"
            return
        where = [*_dimensions(whole, found[0], rows), *_dimensions(whole[-1:], found[0][-1:], rows)]
        for order, steps in zip(orders, found, strict=True):
            self._compare(title, whole, steps, order, where)
        tried.calls += 1
        if self.watch.iterations and tried.calls >= self.watch.iterations:
            enough()

    def _compare(
        self, model: str, whole: list[_Step], found: list[_Step], order: list[int], where: list[list[tuple[int, int]]]
    ) -> None:
        way, last = "alone" if len(order) == 1 else "reordered", where[-1]
        for one, other, places in zip(whole, found, where[:-1], strict=False):
            named = Dependent(model, one.op, one.api, way, [Place(*place) for place in one.stack])
            if one.op != other.op:
                # Other kernels may come to the same: then nothing depends on it.
                if not all(map(_alike, whole[-1].outputs, found[-1].outputs, last, [order] * len(last))):
                    self._add(msgspec.structs.replace(named, instead=other.op))
                return
            self.tried.operators += 1
            if not all(map(_alike, one.outputs, other.outputs, places, [order] * len(places))):
                self._add(named)
                return

    def _add(self, dependent: Dependent) -> None:
        if dependent not in self.tried.dependent:
            self.tried.dependent.append(dependent)


def _recorded(module: Any, given: Any, plain: Callable[..., Any]) -> list[_Step]:
    """What the operators of a call give, with the random states as they are."""
    states, recorder = streams.state(), _Recorder()
    args, kwargs = _copied(given)
    try:
        with Names(recorder), recorder:
            plain(module, *args, **kwargs)
    finally:
        streams.put(states)
    return recorder.steps


@contextmanager
def _inference(module: Any) -> Iterator[None]:
    modes = [(part, part.training) for part in module.modules()]
    buffers = {name: buffer.detach().clone() for name, buffer in module.named_buffers()}
    for part, _ in modes:
        part.training = False
    try:
        with torch.no_grad():
            yield
    finally:
        for part, training in modes:
            part.training = training
        for name, buffer in module.named_buffers():
            before = buffers.get(name)
            if before is not None and buffer.shape == before.shape and not torch.equal(buffer, before):
                buffer.data.copy_(before)  # past the count of changes that a backward pass looks at


def _tensors(given: Any) -> Iterator[torch.Tensor]:
    if isinstance(given, torch.Tensor):
        yield given
    elif isinstance(given, dict):
        for item in given.values():
            yield from _tensors(item)
    elif isinstance(given, list | tuple):
        for item in given:
            yield from _tensors(item)


def _rows(given: Any) -> int:
    """How many samples a batch has: the first tensor's first dimension; 0 without one."""
    return next((tensor.shape[0] for tensor in _tensors(given) if tensor.ndim > 1), 0)


def _mapped(given: Any, change: Callable[[torch.Tensor], Any]) -> Any:
    """Arguments with each tensor changed; what else is an object is copied."""
    if isinstance(given, torch.Tensor):
        return change(given)
    if isinstance(given, dict) and type(given) is dict:
        return {key: _mapped(item, change) for key, item in given.items()}
    if type(given) in (list, tuple):
        return type(given)(_mapped(item, change) for item in given)
    return copy.deepcopy(given)


def _copied(given: Any) -> Any:
    return _mapped(given, lambda tensor: tensor.detach().clone())


def _taken(given: Any, order: list[int], rows: int) -> Any:
    return _mapped(given, lambda tensor: tensor[order] if tensor.ndim and tensor.shape[0] == rows else tensor.clone())


def _dimensions(whole: list[_Step], alone: list[_Step], rows: int) -> list[list[tuple[int, int]]]:
    """For each result, the dimension that has the samples, and how many places each of them takes; 0 where nothing has them, as in a
    sum over the batch."""
    return [
        [_dimension(a.shape, b.shape, rows) for a, b in zip(one.outputs, other.outputs, strict=False)]
        for one, other in zip(whole, alone, strict=False)
    ]


def _dimension(whole: torch.Size, alone: torch.Size, rows: int) -> tuple[int, int]:
    differing = [d for d, (a, b) in enumerate(zip(whole, alone, strict=False)) if a != b]
    if len(whole) != len(alone) or len(differing) != 1 or whole[differing[0]] != alone[differing[0]] * rows:
        return 0, 0
    return differing[0], alone[differing[0]]


def _alike(whole: torch.Tensor, part: torch.Tensor, place: tuple[int, int], order: list[int]) -> bool:
    """Whether rows of a result are the same."""
    dimension, size = place
    if not size or whole.ndim != part.ndim or part.shape[dimension] != size * len(order):
        return True
    rows, wanted = whole.shape[dimension] // size, digests.host(part.contiguous())
    # A sample's places lie together, or one in each block of all samples: what is [16, 8, 4] is [128, 4] to the kernel of a layer.
    together = [i * size + k for i in order for k in range(size)]
    apart = [k * rows + i for k in range(size) for i in order]
    return any(
        digests.host(whole.index_select(dimension, torch.tensor(places))) == wanted for places in (together, apart)
    )


def begin(watch: Watch) -> None:
    """Try the models of this process, and write down what came of it when it ends."""
    batches = Batches(watch)
    if not watch.output:
        torch.nn.Module.__call__ = batches.calling(torch.nn.Module.__call__)  # type: ignore[method-assign]

    def end() -> None:
        if watch.output and getattr(sys, "last_value", None) is None:
            batches.expression(watch.output)
        Path(watch.batches, f"{watch.name}.json").write_bytes(msgspec.json.encode(batches.tried))

    atexit.register(end)
