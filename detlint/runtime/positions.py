"""Where the iterations of PyTorch's data loaders are: how many batches each has given, and the random states with which it began.

A loader has no state of its own. An iteration that began with the same states, and gives as many batches to nobody, is where the
first one was, its workers included: they get their seeds as it begins (torch/utils/data/dataloader.py, 2.13).
"""

from __future__ import annotations

from functools import wraps
from typing import Any
from weakref import WeakKeyDictionary

from detlint.runtime import streams
from detlint.runtime.reachable import generators


class Position:
    """One loader's.

    Attributes:
        begun: the streams and generators with which the iteration that goes on began; None: there is none.
        given: how many batches it has given.
        turns: how many iterations have begun.
        then: what the next iteration has to begin with, and how many batches to leave out; None: nothing.
    """

    def __init__(self) -> None:
        self.begun: dict[str, Any] | None = None
        self.given = 0
        self.turns = 0
        self.then: dict[str, Any] | None = None


_positions: WeakKeyDictionary[Any, Position] = WeakKeyDictionary()
_followed = False


def position(loader: Any) -> Position:
    """That of a loader."""
    return _positions.setdefault(loader, Position())


def follow(torch: Any) -> None:
    """Note from now on, in this process, where each loader is."""
    global _followed
    if _followed:
        return
    _followed = True
    loader_type: Any = torch.utils.data.DataLoader
    iterator_type: Any = torch.utils.data.dataloader._BaseDataLoaderIter
    plain, following = loader_type.__iter__, iterator_type.__next__

    @wraps(plain)
    def begin(self: Any) -> Any:
        here = position(self)
        wanted, here.then = here.then, None
        now = streams.state() if wanted is not None else {}
        if wanted is not None:
            streams.put(wanted["begun"]["streams"])
            put_generators(self, wanted["begun"]["generators"])
        here.begun, here.given = {"streams": streams.state(), "generators": generator_states(self)}, 0
        here.turns += 1
        iterator = plain(self)
        iterator._detlint_position = here
        if wanted is not None:
            for _ in range(wanted["given"]):
                next(iterator, None)
            streams.put(now)
        return iterator

    @wraps(following)
    def give(self: Any) -> Any:
        here: Position | None = getattr(self, "_detlint_position", None)
        try:
            batch = following(self)
        except StopIteration:
            if here is not None:
                here.begun, here.given = None, 0
            raise
        if here is not None:
            here.given += 1
        return batch

    loader_type.__iter__ = begin
    iterator_type.__next__ = give


def generator_states(loader: Any) -> dict[str, Any]:
    """The states of the generators that a loader, its samplers and its data set hold, by their paths."""
    return {path: streams.of(held) for path, held in generators(loader)}


def put_generators(loader: Any, states: dict[str, Any]) -> None:
    """Put them back, where the loader still has them."""
    for path, held in generators(loader):
        if path in states:
            streams.put_into(held, states[path])
