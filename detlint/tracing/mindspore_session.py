"""Tracing MindSpore.

At level `kernel`, every operator of PyNative mode is seen by a mode of MindSpore's own (`mindspore.utils.ms_dispatch`, from 2.10 on).
What a program compiles (graph mode, `jit`) runs uncompiled then, for a graph's operators are seen by nobody. At level `module`,
compiled code stays compiled, and a graph is one call.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import islice
from typing import Any, Final

import mindspore
from mindspore import context, nn
from mindspore.common.api import _pynative_executor
from mindspore.ops.composite import base

from detlint.tracing.mindspore_cells import Cells
from detlint.tracing.mindspore_sources import follow_sources
from detlint.tracing.mindspore_tracer import MindSporeTracer
from detlint.tracing.session import Session
from detlint.tracing.settings import Level
from detlint.tracing.wrapping import wrap
from detlint.tracing.writer import Writer

try:
    from mindspore.utils.ms_dispatch import MsDispatchMode
except ImportError:
    MsDispatchMode = None

_UNCOMPILED: Final = (
    "MindSpore's graph mode: while operators are traced, what would be compiled runs uncompiled, in PyNative mode; the kernels of "
    "its graphs are not in the trace (`--level module` leaves graphs compiled, and sees each as one call)"
)
_COMPILED: Final = (
    "MindSpore: {name} ran as a graph: what it was given and gave is in the trace, what happened in it isn't "
    "(`--level kernel` runs it uncompiled)"
)
_NO_API: Final = "MindSpore has no level `api`: operators were traced, as by level `kernel`"
_OLD: Final = (
    "this version of MindSpore doesn't let its operators be seen (2.10 does): Cells were traced, as by level `module`"
)
_SWITCH: Final = "MS_JIT"
"""MindSpore runs what it would compile uncompiled where this variable is 0. Source: mindspore 2.10.0, graph/api.py."""


class MindSporeTrace(Session):
    """A trace of MindSpore in this process."""

    framework = "mindspore"
    digest = "xxh3/host-1"

    @property
    def level(self) -> Level:
        return "kernel" if self.settings.level != "module" and MsDispatchMode is not None else "module"

    def _begin(self, writer: Writer) -> MindSporeTracer:
        tracer = MindSporeTracer(writer)
        stack = self.stack
        stack.callback(tracer.backward.stop)
        cells = Cells(tracer, self._stepped, self._graph, whole=self.level == "module")
        wrap(stack, nn.Cell, "__call__", cells.call)
        follow_sources(stack, tracer)
        if self.level == "module":
            wrap(stack, _compiler(), "__call__", cells.graph)
            wrap(stack, type(_pynative_executor), "grad", cells.gradients)
            stack.callback(cells.forget)
        else:
            wrap(stack, type(_pynative_executor), "grad", _gradients(tracer))
            wrap(stack, base, "_pynative_forward_run", _from_loss(tracer))
            self._uncompile()
            mode = _kernels(tracer)
            mode.__enter__()
            stack.callback(mode.__exit__, None, None, None)
        if self.level != self.settings.level:
            self.note(_OLD if MsDispatchMode is None else _NO_API)
        return tracer

    def _uncompile(self) -> None:
        """Run what would be compiled in PyNative mode."""
        before = os.environ.get(_SWITCH)
        os.environ[_SWITCH] = "0"
        self.stack.callback(_restore, before)
        settings = type(context._context())
        wanted = context.get_context("mode")

        def choose(own: Callable[..., None], this: Any, mode: Any) -> None:
            nonlocal wanted
            wanted = mode
            if mode == context.GRAPH_MODE:
                self.note(_UNCOMPILED)
                mode = context.PYNATIVE_MODE
            own(this, mode)

        def choose_wanted() -> None:
            if wanted != context.get_context("mode"):
                context.set_context(mode=wanted)

        self.stack.callback(choose_wanted)

        wrap(self.stack, settings, "set_mode", choose)
        setters = getattr(settings, "setters", {})
        if "mode" in setters:
            self.stack.callback(setters.__setitem__, "mode", setters["mode"])
            setters["mode"] = settings.set_mode
        if wanted == context.GRAPH_MODE:
            context.set_context(mode=wanted)

        def compiling(own: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
            self.note(_UNCOMPILED)
            return own(*args, **kwargs)

        for name in ("jit", "ms_function"):
            wrap(self.stack, mindspore, name, compiling)

    def _stepped(self, optimizer: Any) -> None:
        tracer = self._tracer
        if isinstance(tracer, MindSporeTracer):
            if tracer.recording and self.level == "kernel":
                tracer.aim("parameters", getattr(optimizer, "parameters", ()))
            tracer.backward.stepped()
        self.step()

    def _graph(self, name: str) -> None:
        self.note(_COMPILED.format(name=name))

    def _rank(self) -> tuple[int, int] | None:
        from mindspore import communication

        try:
            return communication.get_rank(), communication.get_group_size()
        except (RuntimeError, ValueError):  # no communication in this process
            return None

    def _computing(self) -> dict[str, Any]:
        return {
            "versions": {"mindspore": str(mindspore.__version__)},
            "devices": [str(context.get_context("device_target"))],
            "flags": {"deterministic": str(context.get_context("deterministic"))},
        }


def _kernels(tracer: MindSporeTracer) -> Any:
    class Kernels(MsDispatchMode):  # type: ignore[misc]
        """Gives every operator to the tracer."""

        def __ms_dispatch__(self, func: Any, args: Any, kwargs: Any = None) -> Any:
            return tracer.call(func, args, kwargs or {})

    return Kernels()


def _gradients(tracer: MindSporeTracer) -> Callable[..., Any]:
    """What `value_and_grad`, `grad` and `GradOperation` call in PyNative mode: the backward pass as a whole."""

    def grad(own: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        if tracer.recording:
            tracer.backward.start()
        found = own(*args, **kwargs)
        if tracer.recording:
            tracer.backward.end(tracer.tensors((found,)))
        return found

    return grad


def _from_loss(tracer: MindSporeTracer) -> Callable[..., Any]:
    """Have a row written of what the forward pass gives that gradients are computed of."""

    def forward(own: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        found = own(*args, **kwargs)
        if tracer.recording:
            given = found[1] if isinstance(found, tuple) and len(found) == 2 else found  # what was given comes first
            tracer.aim("loss", islice(tracer.tensors((given,)), 1))
        return found

    return forward


def _compiler() -> Any:
    """The class of what calls a function that `jit` has compiled."""
    from mindspore.common import api

    return (
        getattr(api, "_JitExecutor", None) or getattr(api, "_MindsporeFunctionExecutor", None) or type("None", (), {})
    )


def _restore(before: str | None) -> None:
    if before is None:
        os.environ.pop(_SWITCH, None)
    else:
        os.environ[_SWITCH] = before
