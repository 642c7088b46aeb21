"""Calls each pure kernel twice on the same inputs, within one run: a kernel that doesn't repeat shows at once.

What draws random numbers, writes to what it is given, exchanges data, or gives memory with anything in it isn't tried.
"""

from __future__ import annotations

import atexit
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from detlint.tracing import digests
from detlint.tracing.calls import Place
from detlint.tracing.modes import Names
from detlint.tracing.operators import Operator
from detlint.tracing.sites import Sites
from detlint.tracing.tracer import name_of, tensors_of
from detlint.tracing.watch import Watch

_sequence: Callable[[], int] = torch._C._autograd._get_sequence_nr
_node: Callable[[], Any] = torch._C._current_autograd_node


class Noisy(msgspec.Struct):
    """A kernel that gave something else the second time.

    Attributes:
        differing: how often.
        calls: of how many.
        stack: where the program calls it; a backward kernel's is that of its forward pass.
    """

    op: str
    api: str
    backward: bool
    stack: list[Place]
    differing: int = 0
    calls: int = 0


class Tried(msgspec.Struct):
    """What trying came to."""

    kernels: int = 0
    noisy: list[Noisy] = []


class Twice(TorchDispatchMode):
    """Tries the kernels of this thread."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.api: Any = None
        self.tried = Tried()
        self._known: dict[Any, Operator] = {}
        self._forward: dict[int, tuple[Any, tuple[tuple[str, int, str], ...]]] = {}
        self._sites = Sites(*(str(path) + "/" for path in torch.__path__))
        self._found: dict[Any, Noisy] = {}
        self._names = Names(self)

    def __enter__(self) -> Any:
        self._names.__enter__()  # type: ignore[no-untyped-call]
        return super().__enter__()  # type: ignore[no-untyped-call]

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)  # type: ignore[no-untyped-call]
        self._names.__exit__(*error)  # type: ignore[no-untyped-call]

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        operator = self._known.get(func)
        if operator is None:
            operator = self._known[func] = Operator.of(func)
        node = _node()
        if node is None:
            self._forward.setdefault(_sequence() - 1, (self.api, self._sites.here(2)))
        result = func(*args, **kwargs)
        if operator.pure:
            self.tried.kernels += 1
            again = func(*args, **kwargs)
            self._note(operator, node, not same(tensors_of(result), tensors_of(again)))
        return result

    def _note(self, operator: Operator, node: Any, differs: bool) -> None:
        api, stack = self.api, self._sites.here(3) if node is None or differs else ()
        if node is not None:
            api, stack = self._forward.get(node._sequence_nr(), (api, stack))
        key = (operator.name, stack)
        found = self._found.get(key)
        if found is None:
            if not differs:
                return
            name = name_of(api) if api is not None else ""
            found = self._found[key] = Noisy(operator.name, name, node is not None, [Place(*frame) for frame in stack])
            self.tried.noisy.append(found)
        found.calls += 1
        found.differing += differs


def same(ours: list[torch.Tensor], others: list[torch.Tensor]) -> bool:
    """Whether tensors have the same bits."""
    return len(ours) == len(others) and all(map(_same, ours, others))


def _same(one: torch.Tensor, other: torch.Tensor) -> bool:
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    parts = zip(digests.plain(one), digests.plain(other), strict=True)
    return all(digests.host(a.cpu()) == digests.host(b.cpu()) for a, b in parts)


def begin(watch: Watch) -> None:
    """Try the kernels of this process, and write down what came of it when it ends."""
    twice = Twice()
    twice.__enter__()

    def end() -> None:
        twice.__exit__(None, None, None)
        Path(watch.twice, f"{watch.name}.json").write_bytes(msgspec.json.encode(twice.tried))

    atexit.register(end)
