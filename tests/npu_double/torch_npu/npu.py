"""A double of `torch_npu.npu`, which PyTorch knows as `torch.npu`. `CALLS` has what was called, in order."""

from __future__ import annotations

import warnings
from typing import Any

import torch

from . import _device

CALLS: list[str] = []
"""Calls that seed or switch: `manual_seed_all(1234)`."""
_initialized = False
_level = 0


def is_available() -> bool:
    return True


def is_initialized() -> bool:
    return _initialized


def init() -> None:
    global _initialized
    _initialized = True


def device_count() -> int:
    return 1


def current_device() -> int:
    return 0


def set_device(device: Any) -> None:
    init()


def synchronize(device: Any = None) -> None:
    pass


def get_device_name(device: Any = None) -> str:
    return "Ascend double"


def empty_cache() -> None:
    pass


def memory_allocated(device: Any = None) -> int:
    return 0


def is_bf16_supported() -> bool:
    return True


def get_amp_supported_dtype() -> list[torch.dtype]:
    return [torch.float16, torch.bfloat16]


def _is_in_bad_fork() -> bool:
    return False


# The random stream.


def manual_seed(seed: int) -> None:
    CALLS.append(f"manual_seed({seed})")
    _device.GENERATOR.manual_seed(seed)


def manual_seed_all(seed: int) -> None:
    CALLS.append(f"manual_seed_all({seed})")
    # Other numbers than the CPU's for the same seed, as on the real device.
    _device.GENERATOR.manual_seed(seed ^ 0x5EED)


def seed() -> None:
    _device.GENERATOR.seed()


def seed_all() -> None:
    """Takes a random seed: the real one's trap beside msprobe's function of the same name."""
    _device.GENERATOR.seed()


def initial_seed() -> int:
    return _device.GENERATOR.initial_seed()


def get_rng_state(device: Any = "npu") -> torch.Tensor:
    return _device.GENERATOR.get_state()


def get_rng_state_all() -> list[torch.Tensor]:
    return [get_rng_state()]


def set_rng_state(new_state: torch.Tensor, device: Any = "npu") -> None:
    _device.GENERATOR.set_state(new_state)


def set_rng_state_all(new_states: list[torch.Tensor]) -> None:
    for state in new_states:
        set_rng_state(state)


# Determinism.


def set_deterministic_level(level: int) -> None:
    """0 off, 1 deterministic, 2 strong consistency, 3 batch consistency. Flips PyTorch's flag, and warns so."""
    global _level
    if level not in (0, 1, 2, 3):
        raise ValueError(f"level must be 0, 1, 2 or 3, not {level}")
    CALLS.append(f"set_deterministic_level({level})")
    _level = level
    warnings.warn("torch.use_deterministic_algorithms should not be used any more", stacklevel=2)
    torch.use_deterministic_algorithms(level > 0)


def _get_deterministic_level() -> int:
    return _level


def enable_deterministic_with_backward(tensor: torch.Tensor) -> torch.Tensor:
    return tensor


def disable_deterministic_with_backward(tensor: torch.Tensor) -> torch.Tensor:
    return tensor


def use_compatible_impl(is_enable: bool) -> None:
    CALLS.append(f"use_compatible_impl({is_enable})")


def are_compatible_impl_enabled() -> bool:
    return False


# Options, which the double takes and forgets.


def set_option(option: dict[str, Any]) -> None:
    if not isinstance(option, dict):
        raise TypeError("npu option must be a dict")


def set_compile_mode(jit_compile: bool = False) -> None:
    pass


def set_mm_bmm_format_nd(is_nd: bool = True) -> None:
    pass


def set_sync_debug_mode(debug_mode: int | str) -> None:
    pass
