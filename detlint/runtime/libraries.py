"""How each library is seeded, and how its deterministic operators are switched on."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final, NamedTuple

from detlint.runtime.record import Outcome, Step


class Library(NamedTuple):
    """A library with random streams. Both functions get the imported module and tell what they do, step by step."""

    name: str
    seed: Callable[[Any, int], Iterator[Step]]
    switch: Callable[[Any], Iterator[Step]] | None = None

    def steps(self, module: Any, seed: int, mode: bool) -> Iterator[Step]:
        """Seed the library, and with `mode` switch its deterministic operators on."""
        parts = [self.seed(module, seed)]
        if mode and self.switch is not None:
            parts.append(self.switch(module))
        for part in parts:
            try:
                for step in part:
                    yield replace(step, library=self.name)
            except Exception as error:  # another version of the library, a device that fails: the program goes on
                yield Step(self.name, "failed", f"{type(error).__name__}: {error}", self.name)


def _numpy(numpy: Any, seed: int) -> Iterator[Step]:
    numpy.random.seed(seed)
    yield Step(f"numpy.random.seed({seed})", "set")


def _torch(torch: Any, seed: int) -> Iterator[Step]:
    torch.manual_seed(seed)
    yield Step(f"torch.manual_seed({seed})", "set", "the CPU and every device that PyTorch knows")


def _torch_switches(torch: Any) -> Iterator[Step]:
    name = "torch.use_deterministic_algorithms(True)"
    if torch.are_deterministic_algorithms_enabled():
        only_warns = torch.is_deterministic_algorithms_warn_only_enabled()
        yield Step(name, "already", "operators that have none only warn" if only_warns else "")
    else:
        torch.use_deterministic_algorithms(True)
        yield Step(name, "set", "operators that have none raise RuntimeError")
    for flag, value in (("deterministic", True), ("benchmark", False)):
        before = getattr(torch.backends.cudnn, flag)
        setattr(torch.backends.cudnn, flag, value)
        yield Step(f"torch.backends.cudnn.{flag} = {value}", "already" if before == value else "set")


def _torch_npu(torch_npu: Any, seed: int) -> Iterator[Step]:
    torch_npu.npu.manual_seed_all(seed)
    yield Step(f"torch.npu.manual_seed_all({seed})", "set")


def _mindspore(mindspore: Any, seed: int) -> Iterator[Step]:
    mindspore.set_seed(seed)
    yield Step(f"mindspore.set_seed({seed})", "set", "NumPy's stream too")
    mindspore.dataset.config.set_seed(seed)
    yield Step(f"mindspore.dataset.config.set_seed({seed})", "set")
    if hasattr(mindspore, "manual_seed"):
        mindspore.manual_seed(seed)
        yield Step(f"mindspore.manual_seed({seed})", "set", "what mindspore.mint draws from")


def _mindspore_switch(mindspore: Any) -> Iterator[Step]:
    if not hasattr(mindspore, "set_deterministic"):  # before 2.5
        mindspore.set_context(deterministic="ON")
        yield Step('mindspore.set_context(deterministic="ON")', "set")
        return
    name = "mindspore.set_deterministic(True)"
    try:
        mindspore.set_deterministic(True)
    except RuntimeError as error:  # it takes no second call, not even of the same
        if mindspore.get_context("deterministic") != "ON":
            yield Step(name, "failed", f"it was set to False before, and can be set only once: {error}")
        else:
            yield Step(name, "already")
    else:
        yield Step(name, "set", lasting="MindSpore takes it once for each process")


def _tensorflow(tensorflow: Any, seed: int) -> Iterator[Step]:
    tensorflow.random.set_seed(seed)
    yield Step(f"tensorflow.random.set_seed({seed})", "set")


def _tensorflow_switch(tensorflow: Any) -> Iterator[Step]:
    before = _op_determinism("is_op_determinism_enabled")
    lasting = "" if before is not None else "this TensorFlow has no call that switches it off"
    outcome: Outcome = "already" if before is not None and before() else "set"
    tensorflow.config.experimental.enable_op_determinism()
    name = "tensorflow.config.experimental.enable_op_determinism()"
    yield Step(name, outcome, "what has no such kernel raises", lasting=lasting)


def op_determinism_off() -> Callable[[], None] | None:
    """What switches TensorFlow's deterministic operators off again; None where they are on already, or nothing does."""
    before, off = _op_determinism("is_op_determinism_enabled"), _op_determinism("disable_op_determinism")
    return None if before is None or off is None or before() else off


def _op_determinism(name: str) -> Callable[[], Any] | None:
    """A function that TensorFlow has beside its public one (2.9 and later)."""
    found: Callable[[], Any] | None = getattr(sys.modules.get("tensorflow.python.framework.config"), name, None)
    return found


def _keras(keras: Any, seed: int) -> Iterator[Step]:
    # Keras's function imports TensorFlow wherever it is installed. Without it, each of Keras's generators takes its seed
    # from the module `random` (keras.src.random.seed_generator, 3.15).
    if "tensorflow" in sys.modules or not hasattr(keras, "random"):
        keras.utils.set_random_seed(seed)
        yield Step(f"keras.utils.set_random_seed({seed})", "set")
    else:
        yield Step("keras", "set", "it takes its seeds from the module `random`")


LIBRARIES: Final = (
    Library("numpy", _numpy),
    Library("torch", _torch, _torch_switches),
    Library("torch_npu", _torch_npu),
    Library("mindspore", _mindspore, _mindspore_switch),
    Library("tensorflow", _tensorflow, _tensorflow_switch),
    Library("keras", _keras),
)
