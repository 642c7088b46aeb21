"""What a run's future rests on, at a point of it: random streams, generators, optimizers, schedulers, scalers, weights."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, Literal

import msgspec
from xxhash import xxh3_64_hexdigest

from detlint.runtime import streams
from detlint.runtime.reachable import under

Kind = Literal[
    "stream", "generator", "order", "weights", "buffers", "optimizer", "options", "scheduler", "scaler", "data"
]
TITLES: Final[dict[Kind, str]] = {
    "weights": "the weights of `{}`",
    "optimizer": "the state of the optimizer `{}`",
    "options": "the options of the optimizer `{}`: its learning rate, for one",
    "scheduler": "the state of the scheduler `{}`",
    "scaler": "the scale of the gradient scaler `{}`",
    "stream": "the random stream `{}`",
    "generator": "the generator `{}`",
    "order": "the order of the data, or the place in it: the loader gives other samples ({})",
    "buffers": "the buffers of `{}`, as the averages of batch norm",
    "data": "what the loader's samples are made of: the samples' numbers agree, their contents don't ({})",
}
"""What is missing, in the order in which it is told: what explains the most comes first."""


_OWN: Final = str(Path(__file__).parent.parent)


class Part(msgspec.Struct, frozen=True):
    """One of the things that a state consists of."""

    kind: Kind
    name: str
    digest: str


def snapshot() -> list[Part]:
    """The state of this process as the program sees it: what its frames, and its main module's names, lead to."""
    parts = [Part("stream", name, digest(state)) for name, state in streams.state().items()]
    torch: Any = sys.modules.get("torch")
    if not hasattr(torch, "optim"):
        return parts
    from detlint.tracing.digests import unseen

    with unseen():
        for path, value in under(_roots(), _is_whole):
            parts += [Part(kind, path, digest(state)) for kind, state in _states(torch, value)]
    return parts


def _roots() -> list[tuple[str, Any]]:
    """The names that the program has, the outermost function's first."""
    frames, frame = [], sys._getframe(1)
    while frame is not None:
        if not frame.f_code.co_filename.startswith(_OWN):
            frames.append(dict(frame.f_locals))
        frame = frame.f_back  # type: ignore[assignment]
    main = dict(vars(sys.modules["__main__"]))
    return [(name, value) for names in (main, *reversed(frames)) for name, value in names.items() if name[:2] != "__"]


def _is_whole(value: Any) -> bool:
    torch = sys.modules["torch"]
    return streams.is_generator(value) or any(True for _ in _states(torch, value))


def _states(torch: Any, value: Any) -> Iterator[tuple[Kind, Any]]:
    if isinstance(value, torch.optim.Optimizer):
        state = value.state_dict()
        yield "optimizer", state["state"]
        yield "options", [{k: v for k, v in group.items() if k != "params"} for group in state["param_groups"]]
    elif isinstance(value, torch.optim.lr_scheduler.LRScheduler | torch.optim.lr_scheduler.ReduceLROnPlateau):
        yield "scheduler", {key: part for key, part in value.state_dict().items() if not callable(part)}
    elif isinstance(value, torch.amp.GradScaler):
        yield "scaler", value.state_dict()
    elif isinstance(value, torch.nn.Module):
        yield "weights", (dict(value.named_parameters()), value.training)
        yield "buffers", dict(value.named_buffers())
    elif streams.is_generator(value) and value is not torch.default_generator:
        yield "generator", streams.of(value)


def digest(value: Any) -> str:
    """The digest of a state: of each bit of its tensors and arrays, of numbers and texts; of what else it has, the types."""
    return xxh3_64_hexdigest("\n".join(_written(value)).encode())


def _written(value: Any) -> Iterable[str]:
    if hasattr(value, "detach"):
        from detlint.tracing.digests import together

        yield f"{value.dtype} {tuple(value.shape)} {together([value.detach()])}"
    elif hasattr(value, "tobytes"):
        yield f"{value.dtype} {value.shape} {xxh3_64_hexdigest(value.tobytes())}"
    elif isinstance(value, dict):
        for key in sorted(value, key=repr):
            yield f"{key!r}:"
            yield from _written(value[key])
        yield "end"
    elif isinstance(value, list | tuple):
        yield str(len(value))
        for item in value:
            yield from _written(item)
    elif isinstance(value, bool | int | float | complex | str | bytes | None):
        yield repr(value)
    else:
        yield type(value).__name__
