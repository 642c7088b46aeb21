"""Environment variables that decide whether a run repeats: which value they need, and whether it still comes in time."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, MutableMapping
from pathlib import Path
from typing import Final, NamedTuple

from detlint.runtime.record import Step

HASH_SEED: Final = "PYTHONHASHSEED"


class Variable(NamedTuple):
    """A variable that switches determinism on.

    Attributes:
        right: the values with which it does, in lower case; what else it may say is without effect or an error.
        value: what it gets otherwise.
        late: whether the value was read already, in this process.
        collective: whether it is about the communication between devices.
    """

    name: str
    right: frozenset[str]
    value: str
    late: Callable[[], bool]
    collective: bool = False


def _device_in_use(library: str, device: str) -> Callable[[], bool]:
    """Whether a library has begun to use a device: what its own libraries read of the environment, they read then."""

    def in_use() -> bool:
        module = getattr(sys.modules.get(library), device, None)
        initialized = getattr(module, "is_initialized", None)
        return bool(initialized is not None and initialized())

    return in_use


VARIABLES: Final = (
    # PyTorch takes these two of cuBLAS's settings and no other, `:4096:2` included:
    # https://docs.pytorch.org/docs/stable/generated/torch.use_deterministic_algorithms.html
    Variable("CUBLAS_WORKSPACE_CONFIG", frozenset({":4096:8", ":16:8"}), ":4096:8", _device_in_use("torch", "cuda")),
    # HCCL refuses anything but true, false and strict; `1` is an error of the run. `strict` needs hardware that can do it.
    Variable("HCCL_DETERMINISTIC", frozenset({"true", "strict"}), "true", _device_in_use("torch", "npu"), True),
    Variable("LCCL_DETERMINISTIC", frozenset({"1"}), "1", _device_in_use("torch", "npu"), True),
)


def switch(environment: MutableMapping[str, str], kernels: bool = True, collectives: bool = True) -> Iterator[Step]:
    """Give the variables that switch determinism on their values, where they haven't one that does.

    Args:
        environment: this process's own, or that of one that is to be started.
        kernels: whether those of kernels are wanted.
        collectives: whether those of the communication between devices are.
    """
    wanted = (variable for variable in VARIABLES if (collectives if variable.collective else kernels))
    for name, right, value, late, _ in wanted:
        before = environment.get(name)
        if before is not None and before.lower() in right:
            yield Step(f"{name}={before}", "already")
            continue
        environment[name] = value
        instead = f"`{before}` doesn't switch it on" if before is not None else ""
        if environment is os.environ and late():
            read = "the device is in use, and its library may have read the variable"
            yield Step(f"{name}={value}", "late", f"{read}; start the program with it, or with `detlint run`")
        else:
            yield Step(f"{name}={value}", "set", instead)


def hash_seed(environment: MutableMapping[str, str], seed: int) -> Step:
    """Fix the seed by which Python hashes strings, in processes that are started with this environment."""
    if environment is not os.environ:
        if _fixed(environment.get(HASH_SEED)):
            return Step(f"{HASH_SEED}={environment[HASH_SEED]}", "already")
        environment[HASH_SEED] = str(seed)
        return Step(f"{HASH_SEED}={seed}", "set")
    if sys.flags.hash_randomization == 0 or _fixed(_BORN_WITH):
        # Processes that this one starts hash as it does.
        environment[HASH_SEED] = value = _BORN_WITH if _BORN_WITH is not None and _fixed(_BORN_WITH) else "0"
        return Step(f"{HASH_SEED}={value}", "already")
    environment[HASH_SEED] = str(seed)
    why = "this process hashes strings by a seed of its own since it started; start the program with the variable set"
    return Step(f"{HASH_SEED}={seed}", "late", f"{why}, or with `detlint run`")


def _fixed(value: str | None) -> bool:
    return value is not None and value.isdecimal()


def _at_start() -> str | None:
    """The variable as it was when the process started: what the program wrote into it since has no effect.

    Where there is no /proc (macOS, Windows), what it is when this module is imported stands for that.
    """
    try:
        entries = Path("/proc/self/environ").read_bytes().split(b"\0")
    except OSError:
        return os.environ.get(HASH_SEED)
    prefix = f"{HASH_SEED}=".encode()
    return next((os.fsdecode(entry.removeprefix(prefix)) for entry in entries if entry.startswith(prefix)), None)


_BORN_WITH: Final = _at_start()
