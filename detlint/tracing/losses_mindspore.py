"""The losses of MindSpore: read where Python gets them, in PyNative and in graph mode."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import wraps
from types import ModuleType
from typing import Any, Final

from detlint.tracing import losses
from detlint.tracing.arrays import of_array, of_numbers
from detlint.tracing.losses import Recorder

_GRADIENTS: Final = "after_grad"
"""What MindSpore calls the function that it compiles to compute gradients. Source: mindspore 2.10.0, ops/composite/base.py."""


class Reader:
    """Reads losses, and counts what optimizers do.

    A cell that trains one step says both by itself; what it calls isn't asked then.
    """

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self._within = 0
        self._optimizers: list[weakref.ref[Any]] = []
        self._states: dict[int, str] = {}

    def step(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """Around the cell that trains one step: `Model.train` calls it, as programs of their own do.

        In graph mode too: it is Python that calls the cell, and only its `construct` is compiled.
        """

        @wraps(call)
        def calling(cell: Any, *args: Any, **kwargs: Any) -> Any:
            self._within += 1
            try:
                result = call(cell, *args, **kwargs)
            finally:
                self._within -= 1
            if not self._within:
                self._add(result, "TrainOneStepCell")
                self._stepped(getattr(cell, "optimizer", None))
            return result

        return calling

    def forward(self, run: Callable[..., Any]) -> Callable[..., Any]:
        """Around the forward pass of `value_and_grad`, `grad` and `GradOperation` in PyNative mode."""

        @wraps(run)
        def running(*args: Any, **kwargs: Any) -> Any:
            result = run(*args, **kwargs)
            if not self._within:
                self._add(result[1] if isinstance(result, tuple) and len(result) == 2 else result, "value_and_grad")
            return result

        return running

    def compiled(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """Around what `jit` has compiled: what computes gradients in graph mode, or a training step as a whole.

        A function that an optimizer has stepped in is one: what it gives first is taken for the loss.
        """

        @wraps(call)
        def calling(function: Any, *args: Any, **kwargs: Any) -> Any:
            result = call(function, *args, **kwargs)
            if self._within:
                return result
            if getattr(getattr(function, "fn", None), "__name__", "") == _GRADIENTS:
                if isinstance(result, tuple) and len(result) == 2:
                    self._add(result, "value_and_grad")
                return result
            for optimizer in [known for reference in self._optimizers if (known := reference()) is not None]:
                state = _state(optimizer)
                if self._states.get(id(optimizer), state) != state:
                    self._add(result, "jit")
                    self._stepped(optimizer)
                self._states[id(optimizer)] = state
            return result

        return calling

    def made(self, make: Callable[..., None]) -> Callable[..., None]:
        """Around the making of an optimizer."""

        @wraps(make)
        def making(optimizer: Any, *args: Any, **kwargs: Any) -> None:
            make(optimizer, *args, **kwargs)
            self._optimizers.append(weakref.ref(optimizer))
            self._states[id(optimizer)] = _state(optimizer)

        return making

    def optimizer(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """Around a step of an optimizer."""

        @wraps(call)
        def calling(optimizer: Any, *args: Any, **kwargs: Any) -> Any:
            self._within += 1
            try:
                result = call(optimizer, *args, **kwargs)
            finally:
                self._within -= 1
            if not self._within:
                self._stepped(optimizer)
                self._states[id(optimizer)] = _state(optimizer)
            return result

        return calling

    def _add(self, result: Any, source: str) -> None:
        while isinstance(result, list | tuple) and result:
            result = result[0]
        if hasattr(result, "asnumpy"):
            array = result.asnumpy()
            if array.size:
                self.recorder.add(float(array.astype("float64").mean()), f"{of_array(array):016x}", source)

    def _stepped(self, optimizer: Any) -> None:
        self.recorder.stepped(lambda: _state(optimizer))


def _state(optimizer: Any) -> str:
    """The digest of the parameters that an optimizer changes."""
    parameters = getattr(optimizer, "parameters", None) or ()
    return f"{of_numbers(of_array(parameter.asnumpy()) for parameter in parameters):016x}"


def of_mindspore(mindspore: ModuleType) -> None:
    """Read what gradients are computed of, and what the cell that trains one step gives."""
    recorder = losses.current
    assert recorder is not None
    reader = Reader(recorder)
    nn = mindspore.nn
    nn.TrainOneStepCell.__call__ = reader.step(nn.TrainOneStepCell.__call__)
    nn.Optimizer.__call__ = reader.optimizer(nn.Optimizer.__call__)
    nn.Optimizer.__init__ = reader.made(nn.Optimizer.__init__)
    api = mindspore.common.api
    for name in ("_JitExecutor", "_MindsporeFunctionExecutor"):
        executor = getattr(api, name, None)
        if executor is not None:
            executor.__call__ = reader.compiled(executor.__call__)
    base = mindspore.ops.composite.base
    if hasattr(base, "_pynative_forward_run"):
        base._pynative_forward_run = reader.forward(base._pynative_forward_run)
