"""Tracing a process from one point to another: modes on, hooks in, steps counted, and everything undone at the end."""

from __future__ import annotations

import os
import weakref
from contextlib import ExitStack
from types import TracebackType
from typing import Any, Final

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook

from detlint.tracing import environment
from detlint.tracing.functions import follow_functions
from detlint.tracing.modes import Filled, Functions, Kernels, Names, follow_backward
from detlint.tracing.modules import Modules
from detlint.tracing.records import End, Header, Rank, Step
from detlint.tracing.settings import Settings
from detlint.tracing.tracer import Tracer
from detlint.tracing.watch import MAIN
from detlint.tracing.writer import Writer

_COMPILED: Final = (
    "torch.compile: while it is traced, compiled code runs uncompiled; its own kernels are not in the trace"
)
_running: weakref.WeakSet[TorchTrace] = weakref.WeakSet()


class TorchTrace:
    """A trace of PyTorch in this process.

    Attributes:
        step_number: the step that runs.
    """

    def __init__(self, settings: Settings, name: str = "") -> None:
        """
        Args:
            name: the file's; empty: by the rank.
        """
        self.settings = settings
        self.step_number = 0
        self._name = name
        self._stack = ExitStack()
        self._notes: list[str] = []
        self._tracer: Tracer | None = None
        self._ranked = False

    def start(self) -> None:
        """Begin.

        Raises:
            Occupied: the folder has a trace of this process's rank.
            OSError: the file can't be made.
            RuntimeError: the process is being traced.
        """
        if _running:
            raise RuntimeError("this process is being traced already")
        rank, world = environment.rank()
        header = _header(self.settings, rank, world)
        writer = Writer(self.settings.folder, self._name or (MAIN if rank is None else f"rank{rank}"), header)
        self._ranked = rank is not None
        where = {"auto": None, "host": False, "device": True}[self.settings.digest]
        self._tracer = tracer = Tracer(writer, Modules(), where)
        tracer.recording = self.settings.wants(0)
        self._enter(tracer)
        _running.add(self)

    def step(self) -> None:
        """Go on to the next training step: what an optimizer's `step` does by itself."""
        tracer = self._tracer
        if tracer is None:
            return
        self.step_number += 1
        self._tell_rank(tracer)
        tracer.mark(Step(self.step_number))
        tracer.recording = self.settings.wants(self.step_number)
        if self.settings.over(self.step_number):
            self.stop()

    def stop(self, error: BaseException | None = None) -> None:
        """End, and undo everything. Doing it again does nothing."""
        tracer, self._tracer = self._tracer, None
        if tracer is None:
            return
        self._stack.close()
        _running.discard(self)
        self._tell_rank(tracer)
        tracer.recording = False
        said = f"{type(error).__name__}: {error}" if error is not None and not _is_exit(error) else ""
        tracer.mark(End(said, self._notes))
        tracer.writer.close()

    def abandon(self) -> None:
        """Leave the trace to the process that this one was forked from."""
        if self._tracer is not None:
            self._tracer.recording = False
            self._tracer.writer.forsake()
            self._tracer = None

    def __enter__(self) -> TorchTrace:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop(error)

    def _enter(self, tracer: Tracer) -> None:
        stack = self._stack
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
        stack.callback(register_optimizer_step_post_hook(self._stepped).remove)
        compile_ = torch.compile
        torch.compile = self._compiling(compile_)
        stack.callback(setattr, torch, "compile", compile_)

    def _stepped(self, *_: Any) -> None:
        self.step()

    def _compiling(self, compile_: Any) -> Any:
        def compiling(*args: Any, **kwargs: Any) -> Any:
            if _COMPILED not in self._notes:
                self._notes.append(_COMPILED)
            return compile_(*args, **kwargs)

        return compiling

    def _tell_rank(self, tracer: Tracer) -> None:
        """Launchers tell the rank before the run; a program that starts its own processes knows it only now."""
        distributed = torch.distributed
        if not self._ranked and distributed.is_available() and distributed.is_initialized():
            self._ranked = True
            tracer.writer.write(Rank(distributed.get_rank(), distributed.get_world_size()))


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


def _header(settings: Settings, rank: int | None, world: int | None) -> Header:
    return Header(
        level=settings.level,
        digest=f"{settings.digest} xxh3/sum-1",
        framework="torch",
        rank=rank,
        world=world,
        argv=environment.argv(),
        python=environment.interpreter(),
        platform=environment.machine(),
        versions={**environment.versions(), "torch": str(torch.__version__)},
        devices=_devices(),
        threads=torch.get_num_threads(),
        flags=_flags(),
        environment=environment.variables(),
        git=environment.git(),
        directory=os.getcwd(),
    )


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


def _is_exit(error: BaseException) -> bool:
    return isinstance(error, SystemExit) and error.code in (None, 0)


def _forked() -> None:
    """A forked process (a worker of a DataLoader) inherits modes and hooks; its calls are none of the run's."""
    for trace in [*_running]:
        trace.abandon()
    _running.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
