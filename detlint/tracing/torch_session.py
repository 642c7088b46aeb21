"""Tracing PyTorch."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Final

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook

from detlint.tracing.functions import follow_functions
from detlint.tracing.modes import Filled, Functions, Kernels, Names, follow_backward
from detlint.tracing.modules import Modules
from detlint.tracing.session import Session
from detlint.tracing.tracer import Tracer, tensors_of
from detlint.tracing.workers import follow_workers
from detlint.tracing.wrapping import wrap
from detlint.tracing.writer import Writer

_COMPILED: Final = (
    "torch.compile: while it is traced, compiled code runs uncompiled; its own kernels are not in the trace"
)


class TorchTrace(Session):
    """A trace of PyTorch in this process."""

    framework = "torch"
    digest = "xxh3/sum-2"

    def _begin(self, writer: Writer) -> Tracer:
        where = {"auto": None, "host": False, "device": True}[self.settings.digest]
        tracer = Tracer(writer, Modules(), where, self.settings.values)
        tracer.filling = self.settings.fill
        self._enter(tracer)
        return tracer

    def _enter(self, tracer: Tracer) -> None:
        stack = self.stack
        tracer.modules.follow()
        stack.callback(tracer.modules.stop)
        if self.settings.level == "module":
            stack.callback(_follow_modules(tracer))
            stack.enter_context(Filled())
        elif self.settings.level == "api":
            stack.callback(follow_functions(tracer))
            stack.enter_context(Functions(tracer))
            stack.enter_context(Filled())
        else:
            stack.callback(follow_functions(tracer))
            stack.enter_context(Names(tracer))
            stack.enter_context(Kernels(tracer))
            follow_workers(self, self._of_worker)
            wrap(stack, torch.autograd, "backward", partial(_from_loss, tracer))
        stack.callback(register_optimizer_step_post_hook(partial(self._stepped, tracer)).remove)
        compile_ = torch.compile
        torch.compile = self._compiling(compile_)
        stack.callback(setattr, torch, "compile", compile_)

    def _of_worker(self, number: int) -> TorchTrace:
        return TorchTrace(replace(self.settings, steps=None), self._name, number)

    def _stepped(self, tracer: Tracer, optimizer: torch.optim.Optimizer, *_: Any) -> None:
        if tracer.recording and self.level == "kernel":
            parameters = (value for group in optimizer.param_groups for value in group["params"])
            tracer.aim("parameters", parameters, read=False)
        self.step()

    def _compiling(self, compile_: Any) -> Any:
        def compiling(*args: Any, **kwargs: Any) -> Any:
            self.note(_COMPILED)
            return compile_(*args, **kwargs)

        return compiling

    def _rank(self) -> tuple[int, int] | None:
        distributed = torch.distributed
        if not distributed.is_available() or not distributed.is_initialized():
            return None
        return distributed.get_rank(), distributed.get_world_size()

    def _computing(self) -> dict[str, Any]:
        return {
            "versions": {"torch": str(torch.__version__)},
            "devices": _devices(),
            "threads": torch.get_num_threads(),
            "flags": _flags(),
        }


def _from_loss(tracer: Tracer, own: Any, tensors: Any = None, *args: Any, **kwargs: Any) -> Any:
    """Have a row written of what a backward pass begins with."""
    if tracer.recording:
        tracer.aim("loss", tensors_of(tensors))
    return own(tensors, *args, **kwargs)


def _follow_modules(tracer: Tracer) -> Any:
    """Have rows written for modules only; what undoes it."""
    from torch.nn.modules.module import register_module_forward_hook

    def after(module: torch.nn.Module, args: Any, kwargs: Any, output: Any) -> None:
        if tracer.recording:
            # The inputs are digested after the call: a module that changes them in place is seen as another's doing.
            name = f"{type(module).__name__} {tracer.modules.name(module)}"
            row = tracer.begin(name, (*args, *kwargs.values()))
            tracer.finish(row, (output,))
            follow_backward(tracer, name, output)

    return register_module_forward_hook(after, with_kwargs=True).remove


def _devices() -> list[str]:
    accelerator = getattr(torch, "accelerator", None)
    if accelerator is None or not accelerator.is_available():
        return ["cpu"]
    kind = accelerator.current_accelerator().type
    name = getattr(getattr(torch, kind, None), "get_device_name", None)
    return [f"{kind} {name(i) if name else i}" for i in range(accelerator.device_count())]


def _flags() -> dict[str, str]:
    backends = torch.backends
    return {
        "deterministic_algorithms": str(torch.are_deterministic_algorithms_enabled()),
        "warn_only": str(torch.is_deterministic_algorithms_warn_only_enabled()),
        "cudnn.deterministic": str(backends.cudnn.deterministic),
        "cudnn.benchmark": str(backends.cudnn.benchmark),
        "float32_matmul_precision": torch.get_float32_matmul_precision(),
    }
