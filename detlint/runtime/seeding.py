"""`seed_all`: every random stream of a program seeded by one call."""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import TYPE_CHECKING, Final

from detlint.runtime import environment
from detlint.runtime.imports import installed, when_imported
from detlint.runtime.libraries import LIBRARIES, Library
from detlint.runtime.record import Record, Step

if TYPE_CHECKING:
    from detlint.runtime.enforced import Enforcement

SEEDS: Final = 2**32
"""NumPy takes no seed from here on."""


def seed_all(seed: int = 1234, mode: bool = False, rm_dropout: bool = False, is_enhanced: bool = False) -> Record:
    """Seed Python, NumPy, PyTorch, MindSpore, TensorFlow and Keras, and with `mode` switch deterministic operators on.

    It can be called as msprobe's function of the same name. Other than that one, it touches no switch unless `mode` is true
    (msprobe's switches deterministic algorithms off), writes variables with values that the libraries take, and tells what
    came of each step. No library is imported for it: what the program imports later is seeded as it is imported.

    Args:
        seed: from 0 to 2**32 - 1.
        mode: whether operators are to be deterministic: PyTorch's, cuDNN's, cuBLAS's, MindSpore's, TensorFlow's, and the
            communication of HCCL and LCCL.
        rm_dropout: whether to switch dropout off, by every route, for the rest of the process.
        is_enhanced: msprobe's; it would make all draws of a function equal, and so all weights of layers of one shape. It is
            taken and not done, which the record says.

    Returns:
        What was set, what was so already, what comes too late or can't be done, and why; `print` shows it.

    Raises:
        TypeError: the seed is no whole number, or a flag no bool.
        ValueError: the seed is out of range.
    """
    _check(seed, {"mode": mode, "rm_dropout": rm_dropout, "is_enhanced": is_enhanced})
    record = begin(seed, mode, mode)
    if rm_dropout:
        record.steps.append(_without_dropout())
    if is_enhanced:
        why = "it would make all draws of one function equal, and with them the weights of layers of one shape"
        record.steps.append(Step("is_enhanced", "failed", why))
    return record


def begin(seed: int, mode: bool, collectives: bool) -> Record:
    """Seed everything.

    Args:
        mode: whether operators are to be deterministic.
        collectives: whether the communication between devices is.
    """
    record = Record(seed, mode)
    record.steps.append(environment.hash_seed(os.environ, seed))
    random.seed(seed)
    record.steps.append(Step(f"random.seed({seed})", "set"))
    record.steps.extend(environment.switch(os.environ, mode, collectives))
    for library in LIBRARIES:
        _seed(library, record)
    return record


def _without_dropout() -> Step:
    """Switch dropout off for the rest of the process."""
    from detlint.runtime.enforced import Enforcement
    from detlint.runtime.options import options

    if not _dropout_off:
        chosen = options(0, dropout="off", operators="keep", replace="keep", loaders="keep", collectives="keep")
        _dropout_off.append(Enforcement(chosen, frozenset({"off", "counterpart"})).start())
    return Step("dropout", "set", "off, in this thread and those that it starts")


_dropout_off: list[Enforcement] = []
"""What holds dropout off: nothing, or one for the process."""


def _seed(library: Library, record: Record) -> None:
    """Seed a library now if it is imported, else when it is."""
    module = sys.modules.get(library.name)
    if module is not None:
        record.put(library.name, library.steps(module, record.seed, record.mode))
        return

    def later(module: ModuleType) -> None:
        if not record.open:
            return
        with _undisturbed(library.name):
            steps = [*library.steps(module, record.seed, record.mode)]
        record.put(library.name, steps)
        if record.then is not None:
            record.then(steps)

    outcome: Step = Step(library.name, "absent", library=library.name)
    if installed(library.name):
        outcome = Step(library.name, "waiting", "seeded as soon as it is imported", library.name)
    record.put(library.name, [outcome])
    when_imported(library.name, later)  # after what earlier calls left to be done: the last one counts


@contextmanager
def _undisturbed(library: str) -> Iterator[None]:
    """Leaves the streams of Python and NumPy where the run has them: MindSpore's and Keras's functions seed them too."""
    python, numpy = random.getstate(), sys.modules.get("numpy") if library != "numpy" else None
    state = numpy.random.get_state() if numpy is not None else None
    yield
    random.setstate(python)
    if numpy is not None:
        numpy.random.set_state(state)


def _check(seed: int, flags: dict[str, bool]) -> None:
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise TypeError(f"seed_all: `seed` must be a whole number, and is {seed!r}")
    if not 0 <= seed < SEEDS:
        raise ValueError(f"seed_all: `seed` must be from 0 to {SEEDS - 1}, and is {seed}")
    for name, value in flags.items():
        if not isinstance(value, bool):
            raise TypeError(f"seed_all: `{name}` must be True or False, and is {value!r}")
