"""Who holds what a process has set. Blocks that overlap without nesting, as threads and tasks make them, undo nothing that another
one still needs: what the first one set is put back once those that began after it have ended."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field


@dataclass(eq=False)
class Layer:
    """What one enforcement has set, over those that began before it."""

    stop: Callable[[], None]
    """Ends its effect on what is called, at once, whatever has still to be undone."""
    undo: ExitStack = field(default_factory=ExitStack)
    ended: bool = False


_layers: list[Layer] = []
"""In the order in which they began. What each has to put back is what those below have left."""
_lock = threading.RLock()


@contextmanager
def changing() -> Iterator[None]:
    """One enforcement begins or ends at a time: each takes what it finds for what it has to put back."""
    with _lock:
        yield


def begin(stop: Callable[[], None]) -> Layer:
    """A layer above all others."""
    layer = Layer(stop)
    _layers.append(layer)
    return layer


def end(layer: Layer) -> None:
    """Stop a layer, and undo it as soon as nothing stands on it; with it, those below that have ended before."""
    layer.stop()
    layer.ended = True
    while _layers and _layers[-1].ended:
        _layers.pop().undo.close()
