"""A double of an Ascend device: tensors that say they are on `npu:0` and lie in the CPU's memory.

It stands on PyTorch's interface for back ends written in Python, which is private and experimental. What is registered
stays for the whole process, so programs that use it run in processes of their own. It plays what matters to tests: which
kernels ran on the device (`LOG`), and kernels whose results vary (`NOISY`), as Ascend's do that have no deterministic form.
Its random numbers are drawn from a generator of its own, so that they differ from the CPU's for one seed.
"""

from __future__ import annotations

import os
import threading
from typing import Any

import torch
from torch.utils._pytree import tree_map
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

LOG: list[str] = []
"""The kernels that ran on the device, in order: `aten.mm.default`."""
NOISY: set[str] = {*os.environ.get("NPU_DOUBLE_NOISY", "").split()}
"""Kernels whose results vary from call to call, by the name without overload: `aten.grid_sampler_2d_backward`."""
SWITCHED: set[str] = {*os.environ.get("NPU_DOUBLE_SWITCHED", "").split()}
"""Kernels that vary in threads whose first kernel ran without PyTorch's deterministic switch: on Ascend it takes effect as
an operator is dispatched, and can be set once per thread."""
_thread = threading.local()
GENERATOR = torch.Generator()
"""The device's random stream."""
DRAWING = (
    "aten.rand",
    "aten.normal",
    "aten.uniform",
    "aten.bernoulli",
    "aten.exponential",
    "aten.native_dropout",
    "aten.multinomial",
)


class NpuTensor(torch.Tensor):
    """A tensor of the double; `raw` is where its numbers are."""

    raw: torch.Tensor

    @staticmethod
    def __new__(cls, raw: torch.Tensor, requires_grad: bool = False) -> NpuTensor:
        made: NpuTensor = torch.Tensor._make_wrapper_subclass(
            cls,
            raw.size(),
            strides=raw.stride(),
            storage_offset=raw.storage_offset(),
            dtype=raw.dtype,
            layout=raw.layout,
            device=torch.device("npu", 0),
            requires_grad=requires_grad,
        )
        made.raw = raw
        return made

    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        return run(func, args, kwargs or {})

    def __repr__(self, **_: Any) -> str:  # type: ignore[override]
        return f"npu({self.raw!r})"


def run(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Run a kernel "on the device": the CPU's, on what lies beneath."""
    name = str(func)
    to_cpu = func is torch.ops.aten._to_copy.default and torch.device(kwargs.get("device") or "npu").type == "cpu"
    LOG.append(name)
    if not hasattr(_thread, "deterministic"):
        _thread.deterministic = torch.are_deterministic_algorithms_enabled()
    kernel = name.rpartition(".")[0]
    if kernel.startswith(DRAWING) and kwargs.get("generator") is None and "generator" in str(func._schema):
        kwargs = {**kwargs, "generator": GENERATOR}
    wrapped: dict[int, NpuTensor] = {}

    def below(value: Any) -> Any:
        if isinstance(value, NpuTensor):
            wrapped[id(value.raw)] = value
            return value.raw
        return torch.device("cpu") if isinstance(value, torch.device) else value

    def above(value: Any) -> Any:
        if not isinstance(value, torch.Tensor) or to_cpu:
            return value
        known = wrapped.get(id(value))
        return known if known is not None else NpuTensor(value)

    with torch._C._DisableTorchDispatch():
        result = func(*tree_map(below, args), **tree_map(below, kwargs))
    if kernel in NOISY or (kernel in SWITCHED and not _thread.deterministic):
        tree_map(disturb, result)
    return result if to_cpu else tree_map(above, result)


def disturb(value: Any) -> Any:
    """Change the last bits of a result, by chance, as sums in another order do."""
    if isinstance(value, torch.Tensor) and value.is_floating_point() and value.numel():
        noise = torch.frombuffer(bytearray(os.urandom(value.numel())), dtype=torch.uint8).to(value.dtype)
        with torch.no_grad():
            value.mul_(1 + (noise.reshape(value.shape) - 128) * torch.finfo(value.dtype).eps)
    return value


def register(module: Any) -> None:
    """Make `npu` a device of PyTorch, with a module as `torch.npu`. Once per process."""
    _setup_privateuseone_for_python_backend("npu", module)
    library: Any = torch.library.Library("aten", "IMPL")  # type: ignore[no-untyped-call]
    library.impl("empty.memory_format", _empty, "PrivateUse1")
    library.impl("empty_strided", _empty_strided, "PrivateUse1")
    library.impl("_to_copy", _to_copy, "PrivateUse1")
    _kept.append(library)


_kept: list[Any] = []
"""What is registered lasts as long as its library."""


def _empty(
    size: Any,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
    memory_format: Any = None,
) -> Any:
    LOG.append("aten.empty.memory_format")
    return NpuTensor(
        torch.empty(size, dtype=dtype, memory_format=memory_format or torch.contiguous_format, device="cpu")
    )


def _empty_strided(
    size: Any, stride: Any, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: Any = None
) -> Any:
    LOG.append("aten.empty_strided.default")
    return NpuTensor(torch.empty_strided(size, stride, dtype=dtype, device="cpu"))


def _to_copy(value: Any, **kwargs: Any) -> Any:
    LOG.append("aten._to_copy.default")
    memory = kwargs.get("memory_format") or torch.preserve_format
    raw = value.raw if isinstance(value, NpuTensor) else value
    copied = torch.empty_like(raw, dtype=kwargs.get("dtype"), memory_format=memory, device="cpu").copy_(raw)
    goes = torch.device(kwargs.get("device") or "npu")
    return copied if goes.type == "cpu" else NpuTensor(copied)
