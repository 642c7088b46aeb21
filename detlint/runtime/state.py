"""What a process has set: random streams, switches, environment. Noted, and put back."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterable
from typing import Any

from detlint.runtime import libraries
from detlint.runtime.imports import when_imported

Undo = Callable[[], None]


def note(add: Callable[[Undo], object], active: Callable[[], bool]) -> None:
    """Note what puts back the streams and switches of libraries, of those that come later when they come.

    Args:
        add: gets it, in the order in which it was noted.
        active: whether it is still wanted.
    """

    def later(noted: Callable[[Any], Iterable[Undo]]) -> Callable[[Any], None]:
        def act(library: Any) -> None:
            for undo in noted(library) if active() else ():
                add(undo)

        return act

    add(_python())
    when_imported("numpy", later(_numpy))
    when_imported("torch", later(lambda torch: [_switches(torch), *_streams(torch)]))
    when_imported("tensorflow", later(_op_determinism))
    when_imported("mindspore", later(_pipelines))


class Environment:
    """The variables of the process before an enforcement set some. What the program sets meanwhile is the program's, and stays."""

    def __init__(self) -> None:
        self._before = dict(os.environ)
        self._set: dict[str, str] = {}

    def note(self) -> None:
        """What is set now and wasn't before, the enforcement has set."""
        self._set = {name: value for name, value in os.environ.items() if self._before.get(name) != value}

    def restore(self) -> None:
        """Put back what was there, where nobody has written anything else since."""
        for name, value in self._set.items():
            if os.environ.get(name) != value:
                continue
            if name in self._before:
                os.environ[name] = self._before[name]
            else:
                del os.environ[name]


def _python() -> Undo:
    state = random.getstate()
    return lambda: random.setstate(state)


def _numpy(numpy: Any) -> list[Undo]:
    state = numpy.random.get_state()
    return [lambda: numpy.random.set_state(state)]


def _op_determinism(tensorflow: Any) -> list[Undo]:
    off = libraries.op_determinism_off()
    return [off] if off is not None else []


def _pipelines(mindspore: Any) -> list[Undo]:
    """The seed of MindSpore's pipelines. As long as it is set, each transform that is called begins its numbers anew."""
    config = mindspore.dataset.config
    seed = config.get_seed()
    return [lambda: config.set_seed(seed)]


def _streams(torch: Any) -> list[Undo]:
    """The CPU's, and of each device that was begun to be used; asking another would begin it."""
    cpu = torch.get_rng_state()
    undo: list[Undo] = [lambda: torch.set_rng_state(cpu)]
    for name in ("cuda", "xpu", "mps", torch._C._get_privateuse1_backend_name()):
        module = getattr(torch, name, None)
        used = getattr(module, "is_initialized", lambda: False)()
        if used and hasattr(module, "get_rng_state_all"):
            undo.append(_device_streams(module))
    return undo


def _device_streams(module: Any) -> Undo:
    states = module.get_rng_state_all()
    return lambda: module.set_rng_state_all(states)


def _switches(torch: Any) -> Undo:
    cudnn = torch.backends.cudnn
    algorithms = torch.are_deterministic_algorithms_enabled()
    only_warn = torch.is_deterministic_algorithms_warn_only_enabled()
    fill = torch.utils.deterministic.fill_uninitialized_memory
    flags = {name: getattr(cudnn, name) for name in ("deterministic", "benchmark")}

    def undo() -> None:
        torch.use_deterministic_algorithms(algorithms, warn_only=only_warn)
        torch.utils.deterministic.fill_uninitialized_memory = fill
        for name, value in flags.items():
            setattr(cudnn, name, value)

    return undo
