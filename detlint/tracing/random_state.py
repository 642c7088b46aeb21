"""The state of the random numbers that an operator is about to draw."""

from __future__ import annotations

import ctypes
from typing import Any

import torch
from xxhash import xxh3_64_intdigest

from detlint.tracing.records import UNREAD


def random_state(generator: Any, device: torch.device) -> int:
    """The digest of a generator's state, or of a device's own one; UNREAD where the device doesn't tell.

    On a CUDA device the state is a seed and an offset that the host keeps: reading it waits for nothing.
    """
    state = generator.get_state() if isinstance(generator, torch.Generator) else _of_device(device)
    if state is None:
        return UNREAD
    state = state.cpu()
    return xxh3_64_intdigest((ctypes.c_char * state.nbytes).from_address(state.data_ptr()))


def _of_device(device: torch.device) -> torch.Tensor | None:
    if device.type == "cpu":
        return torch.default_generator.get_state()
    module = getattr(torch, device.type, None)
    read = getattr(module, "get_rng_state", None)
    try:
        return read(device) if read is not None else None
    except (RuntimeError, TypeError, NotImplementedError):
        return None
