"""What a run needs besides weights and an optimizer's state to go on as if it had never stopped."""

from __future__ import annotations

import warnings
from typing import Any, Final

from detlint.runtime import streams
from detlint.runtime.imports import when_imported
from detlint.runtime.positions import follow, generator_states, position, put_generators

_FORMAT: Final = 1
_PERSISTENT: Final = (
    "its workers are kept from epoch to epoch (persistent_workers=True), and with them random states that nobody can read: "
    "what they draw after this epoch's beginning will be other numbers in a run that goes on from here"
)


def state_dict(**parts: Any) -> dict[str, Any]:
    """The state of every random stream of this process, and of what is named besides.

    It is plain values and tensors: `torch.save({"model": ..., "run": state_dict(train=loader, rng=rng)}, path)` can be read with
    `weights_only=True`. Importing this function has the process note from then on where its loaders are.

    Args:
        parts: data loaders of PyTorch's (generators that they, their samplers and their data sets hold, the sampler's epoch, and the
            place in the epoch); generators of Python's, NumPy's and PyTorch's; and whatever has a `state_dict` itself.

    Raises:
        TypeError: one of them is nothing of the kind.
    """
    return {
        "format": _FORMAT,
        "streams": streams.state(),
        "parts": {name: _taken(name, part) for name, part in parts.items()},
    }


def load_state_dict(state: dict[str, Any], **parts: Any) -> None:
    """Put everything into the state that `state_dict` gave, at the place in the program where the next draw follows.

    The next iteration of a loader that was in an epoch begins as that one did, and leaves out the batches that it had given; they are
    made again, for their draws.

    Args:
        parts: the same as for `state_dict`, by the same names.

    Raises:
        KeyError: the state lacks a part, or has one that isn't given.
        TypeError: a part is of another kind than the one whose state was taken.
        ValueError: the state is none of `state_dict`'s.
    """
    if state.get("format") != _FORMAT:
        raise ValueError("load_state_dict: this is no state that detlint.runtime.state_dict() of this version gave")
    given, known = {*parts}, {*state["parts"]}
    if given != known:
        missing = ", ".join(sorted(known - given)) or "nothing"
        raise KeyError(
            f"load_state_dict: not given: {missing}; not in the state: {', '.join(sorted(given - known)) or 'nothing'}"
        )
    for name, part in parts.items():
        _put(name, part, state["parts"][name])
    streams.put(state["streams"])


def _taken(name: str, part: Any) -> dict[str, Any]:
    kind = _kind(name, part)
    if kind == "generator":
        return {"kind": kind, "state": streams.of(part)}
    if kind == "own":
        return {"kind": kind, "state": part.state_dict()}
    here = position(part)
    begun = here.begun if here.given else None
    if getattr(part, "persistent_workers", False) and here.turns > 1:
        warnings.warn(f"state_dict: {name}: {_PERSISTENT}", stacklevel=3)
    return {
        "kind": kind,
        "generators": generator_states(part),
        "epoch": getattr(_sampler(part), "epoch", None),
        "position": {"begun": begun, "given": here.given} if begun is not None else None,
    }


def _put(name: str, part: Any, state: dict[str, Any]) -> None:
    kind = _kind(name, part)
    if kind != state["kind"]:
        raise TypeError(f"load_state_dict: {name}: the state is one of a {state['kind']}, and this is a {kind}")
    if kind == "generator":
        streams.put_into(part, state["state"])
    elif kind == "own":
        part.load_state_dict(state["state"])
    else:
        put_generators(part, state["generators"])
        if state["epoch"] is not None:
            _sampler(part).epoch = state["epoch"]
        position(part).then = state["position"]


def _kind(name: str, part: Any) -> str:
    if streams.is_generator(part):
        return "generator"
    if hasattr(part, "state_dict") and hasattr(part, "load_state_dict"):
        return "own"
    if hasattr(part, "dataset") and hasattr(part, "_index_sampler"):
        return "loader"
    raise TypeError(
        f"state_dict: {name}: a {type(part).__name__} is no data loader of PyTorch's, no generator, and has no state_dict"
    )


def _sampler(loader: Any) -> Any:
    """What orders a loader's samples, within what another library or a batch sampler has put around it."""
    return getattr(loader.batch_sampler, "sampler", loader.sampler)


when_imported("torch", follow)
