"""Custom autograd functions: what runs in them may be a kernel that PyTorch's dispatcher never sees.

Such a function gets a row of its own, forward and backward, after those of the kernels in it that are seen: where a kernel
that isn't seen varies, the function's row is the first that differs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch.autograd import Function

from detlint.tracing.modes import follow_backward
from detlint.tracing.tracer import Tracer, tensors_of


def follow_functions(tracer: Tracer) -> Callable[[], None]:
    """Have rows written for custom autograd functions; what undoes it."""
    own = Function.__dict__["apply"]  # of Python, or since PyTorch 2.14 of C

    def apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
        if not tracer.recording:
            return own.__get__(None, cls)(*args, **kwargs)
        name = f"autograd.{cls.__name__}"
        since = tracer.row
        row = tracer.begin(name, (*args, *kwargs.values()))
        row.api = tracer.writer.text(f"{cls.__module__}.{cls.__qualname__}.apply")
        result = own.__get__(None, cls)(*args, **kwargs)
        if tensors_of(result):
            tracer.finish(row, (result,), since)
            follow_backward(tracer, name, result, 0)
        return result

    Function.apply = classmethod(apply)  # type: ignore[method-assign, assignment]

    def undo() -> None:
        Function.apply = own  # type: ignore[method-assign]

    return undo
