"""The path of the module whose forward runs: `backbone.layer1.0.conv1`."""

from __future__ import annotations

import weakref
from typing import Any

import torch
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook


class Modules:
    """Follows calls of modules, whichever they are.

    A module that is called while none runs is a root: the modules below it get their paths from it. The paths that an
    earlier root gave stay.
    """

    def __init__(self) -> None:
        self._names: weakref.WeakKeyDictionary[torch.nn.Module, str] = weakref.WeakKeyDictionary()
        self._stack: list[str] = []
        self._handles: list[Any] = []
        self.tensors: dict[int, str] = {}
        """The addresses of parameters and buffers, and their names."""

    @property
    def path(self) -> str:
        """Of the innermost module that runs; empty outside of all."""
        return self._stack[-1] if self._stack else ""

    @property
    def outside(self) -> bool:
        """Whether no module runs."""
        return not self._stack

    def follow(self) -> None:
        """Begin."""
        self._handles = [
            register_module_forward_pre_hook(self._enter),
            register_module_forward_hook(self._leave, always_call=True),
        ]

    def stop(self) -> None:
        """Take the hooks away."""
        for handle in self._handles:
            handle.remove()
        self._handles.clear()

    def name(self, module: torch.nn.Module) -> str:
        """The path of a module; its class's name where it is a root."""
        name = self._names.get(module)
        if name is None:
            root = type(module).__name__
            for path, inner in module.named_modules():
                self._names.setdefault(inner, path or root)
            for kind in (module.named_parameters, module.named_buffers):
                self.tensors.update((tensor.data_ptr(), path) for path, tensor in kind() if _is_plain(tensor))
            name = self._names[module]
        return name

    def _enter(self, module: torch.nn.Module, inputs: Any) -> None:
        self._stack.append(self.name(module))

    def _leave(self, module: torch.nn.Module, inputs: Any, output: Any) -> None:
        if self._stack:
            self._stack.pop()


def _is_plain(tensor: torch.Tensor) -> bool:
    return type(tensor) in (torch.Tensor, torch.nn.Parameter) and tensor.layout is torch.strided and not tensor.is_meta
