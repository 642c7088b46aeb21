"""What sees PyTorch's calls: the public functions on their way in, and the kernels on their way out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from detlint.tracing.operators import Operator
from detlint.tracing.tracer import Tracer, fill, name_of, tensors_of


class Named(Protocol):
    """What is told which public function runs."""

    api: Any


class Kernels(TorchDispatchMode):
    """Gives every kernel to the tracer."""

    def __init__(self, tracer: Tracer) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.tracer = tracer

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if not self.tracer.recording:
            return func(*args, **(kwargs or {}))
        return self.tracer.call(func, args, kwargs or {})


class Names(TorchFunctionMode):
    """Tells the tracer which public function runs: the outermost, which is the one that the program called."""

    def __init__(self, tracer: Named) -> None:
        super().__init__()
        self.tracer = tracer

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        tracer = self.tracer
        if tracer.api is not None:
            return func(*args, **(kwargs or {}))
        tracer.api = func
        try:
            return func(*args, **(kwargs or {}))
        finally:
            tracer.api = None


class Functions(TorchFunctionMode):
    """Gives every call of a public function to the tracer, and what the backward pass brings to its results."""

    def __init__(self, tracer: Tracer) -> None:
        super().__init__()
        self.tracer = tracer
        self._names: dict[Any, str] = {}

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs, tracer = kwargs or {}, self.tracer
        if not tracer.recording or getattr(func, "__name__", "") in ("__get__", "__set__"):
            return func(*args, **kwargs)
        name = self._names.get(func)
        if name is None:
            name = self._names[func] = name_of(func)
        row = tracer.begin(name, (*args, *kwargs.values()))
        result = func(*args, **kwargs)
        if tensors_of(result) or (result is None and row.inputs):
            tracer.finish(row, (result,))
            follow_backward(tracer, name, result)
        return result


class Filled(TorchDispatchMode):
    """Fills memory that would hold anything, as the tracer does where it sees kernels."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._unfilled: dict[Any, bool] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        unfilled = self._unfilled.get(func)
        if unfilled is None:
            unfilled = self._unfilled[func] = Operator.of(func).unfilled
        if unfilled:
            fill(result)
        return result


def follow_backward(tracer: Tracer, name: str, result: Any, since: int | None = None) -> None:
    """Have a row written when the gradients have passed the node that made a result; `since` as for `Tracer.finish`."""
    for node in {value.grad_fn for value in tensors_of(result) if value.grad_fn is not None}:
        node.register_hook(_backward(tracer, name, since))


def _backward(tracer: Tracer, name: str, since: int | None) -> Callable[[Any, Any], None]:
    forward = tracer.row - 1

    def passed(given: Any, received: Any) -> None:
        if tracer.recording:
            tracer.record(name, received, given, forward, since)

    return passed
