"""Running one operator on the CPU, and giving its result back where the arguments were. Autograd follows by itself."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Final

import torch
from torch.utils._pytree import tree_leaves, tree_map

_SMALL: Final = (torch.float16, torch.bfloat16)
"""Floating types that some operators don't have on the CPU."""


class Generators:
    """For each generator on a device, one on the CPU that was seeded as it was."""

    def __init__(self) -> None:
        self._twins: weakref.WeakKeyDictionary[torch.Generator, tuple[int, torch.Generator]] = (
            weakref.WeakKeyDictionary()
        )

    def twin(self, generator: torch.Generator) -> torch.Generator:
        """The one on the CPU. A generator that got another seed since begins anew."""
        seed = generator.initial_seed()
        known = self._twins.get(generator)
        if known is None or known[0] != seed:
            known = self._twins[generator] = seed, torch.Generator().manual_seed(seed)
        return known[1]


def device_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> torch.device | None:
    """The device, other than the CPU, of the first argument that has one."""
    for value in (*args, *kwargs.values()):
        if isinstance(value, torch.Tensor):
            if value.device.type != "cpu":
                return value.device
        elif isinstance(value, (tuple, list)):
            device = device_of(tuple(value), {})
            if device is not None:
                return device
    return None


def on_cpu(
    func: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    device: torch.device,
    generators: Generators,
) -> Any:
    """What a function gives, computed on the CPU.

    Args:
        device: where tensors that it makes go. One that it changes in place, or writes to, is changed where it is.
    """
    in_place = getattr(func, "__name__", "").endswith("_")
    originals: dict[int, torch.Tensor] = {}
    copies: dict[int, torch.Tensor] = {}

    def here(value: Any) -> Any:
        if isinstance(value, torch.Generator):
            return generators.twin(value) if value.device.type != "cpu" else value
        if not isinstance(value, torch.Tensor) or value.device.type == "cpu":
            return value
        copy = copies.get(id(value))
        if copy is None:
            copy = copies[id(value)] = _copied(value, in_place)
            originals[id(copy)] = value
        return copy

    def there(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        original = originals.get(id(value))
        if original is None:
            made = value.is_leaf and value.requires_grad  # by `requires_grad=True`
            return value.detach().to(device).requires_grad_() if made else value.to(device)
        with _written(original):
            return original.copy_(value)

    given = tree_map(here, kwargs)
    if given.get("device") is not None or ("device" not in given and not copies and not _tensors(args)):
        given["device"] = "cpu"
    return tree_map(there, _called(func, tree_map(here, args), given))


def _copied(value: torch.Tensor, in_place: bool) -> torch.Tensor:
    if in_place and value.requires_grad and value.is_leaf:
        # A parameter: what may be done to it in place may be done to a parameter only.
        return value.detach().cpu().requires_grad_()
    return value.cpu()


def _written(original: torch.Tensor) -> AbstractContextManager[object]:
    """How a result may be written into a tensor: into a parameter only without gradients, as `nn.init` does."""
    return torch.no_grad() if original.requires_grad and original.is_leaf else nullcontext()


def _called(func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The call, with the types that the device would have taken: mixed ones under autocast, and small ones."""
    types = {value.dtype for value in _floating(args, kwargs)}
    if len(types) < 2 and types.isdisjoint(_SMALL):
        return func(*args, **kwargs)
    if len(types) == 1:
        try:
            return func(*args, **kwargs)
        except (NotImplementedError, RuntimeError) as error:
            if "not implemented for" not in str(error):
                raise
    wide = max(types | {torch.float32}, key=lambda kind: torch.finfo(kind).bits)
    small = types.pop() if len(types) == 1 else wide

    def widened(value: Any) -> Any:
        return value.to(wide) if isinstance(value, torch.Tensor) and value.is_floating_point() else value

    def narrowed(value: Any) -> Any:
        return value.to(small) if isinstance(value, torch.Tensor) and value.dtype == wide else value

    return tree_map(narrowed, func(*tree_map(widened, args), **tree_map(widened, kwargs)))


def _tensors(tree: Any) -> list[torch.Tensor]:
    return [value for value in tree_leaves(tree) if isinstance(value, torch.Tensor)]


def _floating(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[torch.Tensor]:
    return (value for value in _tensors((args, kwargs)) if value.is_floating_point())
