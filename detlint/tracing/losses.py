"""The loss of each iteration: read where the program computes gradients of it, or where it says so."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable
from functools import wraps
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import msgspec

from detlint.tracing.ending import enough
from detlint.tracing.watch import Watch

SUFFIX: Final = ".losses"
_PATIENCE: Final = 64
"""Losses without a step of an optimizer after which the program is taken to have none: each is an iteration then."""


class Loss(msgspec.Struct, frozen=True):
    """One loss.

    Attributes:
        iteration: how many steps the optimizers had made.
        bits: the digest of the value, so that what prints alike is told apart.
        source: what it was read from.
        state: the digest of the parameters with which it was computed, once an optimizer has changed them: a difference
            too small for the loss shows there.
        rank: the process among several, once it knows.
        text: what it is, where it is no number: then only its bits count.
    """

    iteration: int
    value: float
    bits: str
    source: str = ""
    state: str = ""
    rank: int | None = None
    text: str = ""


class Recorder:
    """Writes the losses of this process to a file, a line each, and ends the run when it has enough.

    Attributes:
        state: the digest of the parameters that the next loss is computed with, once an optimizer has changed them.
        before: told the iteration of a loss before it is written.
        after: told how many steps there were, after each.
    """

    def __init__(self, watch: Watch) -> None:
        self.path = Path(watch.losses, watch.name + SUFFIX)
        self.watch = watch
        self.steps = 0
        self.count = 0
        self.logged = False
        self.state = ""
        self.before: Callable[[int], object] = lambda _: None
        self.after: Callable[[int], object] = lambda _: None
        self._process = os.getpid()
        expected = Path(watch.expected, watch.name + SUFFIX)
        self._expected = read(expected) if watch.expected and expected.exists() else []

    def add(self, value: float, bits: str, source: str) -> None:
        """Write a loss. What a program logs itself counts, and nothing else from then on."""
        if os.getpid() != self._process or (self.logged and source != "log"):
            return
        if source == "log" and not self.logged:
            self.logged = True
            self.path.unlink(missing_ok=True)
            self.count = 0
        iteration = self.count if self.logged else self.steps
        self.before(iteration)
        loss = Loss(iteration, value, bits, source, self.state, _rank())
        write(self.path, [loss])
        place, self.count = self.count, self.count + 1
        if place < len(self._expected) and not same(self._expected[place], loss):
            enough()
        if self.logged or (self.steps == 0 and self.count >= _PATIENCE):
            self._end(self.count)

    def stepped(self, state: Callable[[], str]) -> None:
        """An optimizer has stepped; `state` gives the digest of what it has changed."""
        if os.getpid() == self._process and self.count:
            self.steps += 1
            self.state = state()
            if not self.logged:
                self._end(self.steps)
            self.after(self.steps)

    def go_on(self, watch: Watch) -> None:
        """Be the recorder of another run, which has the same losses until now."""
        lines = self.path.read_bytes().splitlines(keepends=True)[: self.count]
        self.path = Path(watch.losses, watch.name + SUFFIX)
        self.path.write_bytes(b"".join(lines))
        self.watch, self._expected, self._process = watch, [], os.getpid()

    def _end(self, done: int) -> None:
        if self.watch.iterations and done >= self.watch.iterations:
            enough()


current: Recorder | None = None
"""That of this process, if it is watched."""


def begin(watch: Watch) -> None:
    """Watch this process."""
    global current
    current = Recorder(watch)


def end() -> None:
    """Watch it no longer."""
    global current
    current = None


def read(path: Path) -> list[Loss]:
    """The losses in a file; a line that broke off is left out."""
    return [msgspec.convert(json.loads(line), Loss) for line in path.read_bytes().split(b"\n")[:-1]]


def write(path: Path, losses: Iterable[Loss]) -> None:
    """Add losses to a file, a line each. Python's own JSON keeps one that is no number (`NaN`, `Infinity`), as runs that go wrong have."""
    with path.open("ab") as file:
        file.writelines(json.dumps(msgspec.to_builtins(loss)).encode() + b"\n" for loss in losses)


def _rank() -> int | None:
    torch = sys.modules.get("torch")
    distributed = getattr(torch, "distributed", None)
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return None
    rank: int = distributed.get_rank()
    return rank


def same(one: Loss, other: Loss) -> bool:
    """Whether two losses, and what they were computed with, have the same bits."""
    return (one.bits, one.state) == (other.bits, other.state)


def iterations(losses: list[Loss]) -> list[Loss]:
    """The same, each numbered by its iteration where no optimizer has told it."""
    if len(losses) > 1 and not any(loss.iteration for loss in losses):
        return [msgspec.structs.replace(loss, iteration=i) for i, loss in enumerate(losses)]
    return losses


def of_torch(torch: ModuleType) -> None:
    """Read what backward passes begin with, and count what optimizers do."""
    from torch.optim.optimizer import register_optimizer_step_post_hook

    recorder = current
    assert recorder is not None
    torch.autograd.backward = _read_first(torch.autograd.backward, recorder)
    register_optimizer_step_post_hook(lambda optimizer, *_: recorder.stepped(lambda: _state(optimizer)))
    torch.amp.GradScaler.scale = _remember(torch.amp.GradScaler.scale)


def _state(optimizer: Any) -> str:
    from detlint.tracing.digests import together, unseen

    parameters = (parameter.detach() for group in optimizer.param_groups for parameter in group["params"])
    with unseen():
        return together(parameters)


def _read_first(backward: Callable[..., Any], recorder: Recorder) -> Callable[..., Any]:
    @wraps(backward)
    def reading(tensors: Any, *args: Any, **kwargs: Any) -> Any:
        first = tensors if hasattr(tensors, "detach") else next(iter(tensors))
        recorder.add(*torch_loss(getattr(first, "_detlint_unscaled", first)), "backward")
        return backward(tensors, *args, **kwargs)

    return reading


def _remember(scale: Callable[..., Any]) -> Callable[..., Any]:
    """A loss that is scaled for half precision leads back to what it was."""

    @wraps(scale)
    def scaling(self: Any, outputs: Any) -> Any:
        scaled = scale(self, outputs)
        if hasattr(scaled, "detach") and scaled is not outputs:
            scaled._detlint_unscaled = outputs
        return scaled

    return scaling


def torch_loss(tensor: Any) -> tuple[float, str]:
    """A tensor's value (the mean of several) and the digest of its bits."""
    from detlint.tracing.digests import host, unseen

    with unseen():
        value = tensor.detach().cpu()
        return float(value.double().mean()), f"{host(value):016x}"
