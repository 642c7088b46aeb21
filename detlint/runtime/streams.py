"""The states of random streams and generators, as plain values and tensors that `torch.load(weights_only=True)` takes."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from typing import Any, Final

_ARRAY: Final = "array of"


def state() -> dict[str, Any]:
    """The state of each stream that the process has, by the stream's name."""
    return {name: take() for name, (take, _) in _known().items()}


def put(states: dict[str, Any]) -> list[str]:
    """Put streams into states that `state` gave; the names of those for which this process has no stream (yet)."""
    known = _known()
    for name, value in states.items():
        if name in known:
            known[name][1](value)
    return [name for name in states if name not in known]


def _known() -> dict[str, tuple[Callable[[], Any], Callable[[Any], object]]]:
    """Streams by name: what reads the state of each, and what sets it."""
    known: dict[str, tuple[Callable[[], Any], Callable[[Any], object]]] = {
        "python": (random.getstate, lambda value: random.setstate(_tuples(value))),
    }
    numpy, torch, mindspore = map(_module, ("numpy", "torch", "mindspore"))
    if hasattr(numpy, "random"):
        known["numpy"] = (
            lambda: plain(numpy.random.get_state(legacy=False)),
            lambda value: numpy.random.set_state(arrays(value)),
        )
    if hasattr(torch, "get_rng_state"):
        known["torch"] = (torch.get_rng_state, torch.set_rng_state)
        for name in ("cuda", "xpu", "npu"):
            module: Any = getattr(torch, name, None)
            if getattr(module, "is_initialized", bool)() and hasattr(module, "get_rng_state_all"):
                known[name] = (module.get_rng_state_all, module.set_rng_state_all)
    if hasattr(mindspore, "get_rng_state"):
        known["mindspore"] = (
            lambda: mindspore.get_rng_state().asnumpy().tolist(),
            lambda value: mindspore.set_rng_state(mindspore.Tensor(value, mindspore.uint8)),
        )
    return known


def _module(name: str) -> Any:
    return sys.modules.get(name)


def is_generator(value: Any) -> bool:
    """Whether something is a generator of random numbers of Python's, NumPy's or PyTorch's."""
    return isinstance(value, random.Random) or _kind(value) is not None


def _kind(value: Any) -> str | None:
    numpy, torch = _module("numpy"), _module("torch")
    if hasattr(torch, "Generator") and isinstance(value, torch.Generator):
        return "torch"
    if hasattr(numpy, "random"):
        if isinstance(value, numpy.random.Generator):
            return "generator"
        if isinstance(value, numpy.random.RandomState):
            return "legacy"
    return None


def of(generator: Any) -> Any:
    """The state of a generator."""
    kind = _kind(generator)
    if kind == "torch":
        return generator.get_state()
    if kind == "generator":
        return plain(generator.bit_generator.state)
    if kind == "legacy":
        return plain(generator.get_state(legacy=False))
    return generator.getstate()


def put_into(generator: Any, value: Any) -> None:
    """Put a generator into a state."""
    kind = _kind(generator)
    if kind == "torch":
        generator.set_state(value)
    elif kind == "generator":
        generator.bit_generator.state = arrays(value)
    elif kind == "legacy":
        generator.set_state(arrays(value))
    else:
        generator.setstate(_tuples(value))


def plain(value: Any) -> Any:
    """A state of NumPy's without NumPy's types."""
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if hasattr(value, "tolist"):
        return {_ARRAY: str(value.dtype), "values": value.tolist()}
    return value


def arrays(value: Any) -> Any:
    """The same as NumPy takes it."""
    import numpy

    if not isinstance(value, dict):
        return value
    if _ARRAY in value:
        return numpy.array(value["values"], dtype=value[_ARRAY])
    return {key: arrays(inner) for key, inner in value.items()}


def _tuples(value: Any) -> Any:
    """Formats that know no tuples have made lists of a state of Python's."""
    return tuple(_tuples(inner) for inner in value) if isinstance(value, list | tuple) else value
