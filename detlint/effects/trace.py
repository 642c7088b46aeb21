"""What a run does, in order: the functions that it enters, and in them its seedings, draws and switches.

The seed flow tells a recorder; this one keeps it as a tree, for `detlint explain` and `detlint graph`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby

import msgspec

from detlint.effects.recorder import Recorder
from detlint.model.module import Module
from detlint.model.runs.reach import Place
from detlint.model.sites.records import Function


class Event(msgspec.Struct, frozen=True, eq=False):
    """Something that happens at a place; `Recorder.tell` says what the fields are."""

    kind: str
    name: str
    place: Place
    state: object
    streams: Mapping[str, str]

    @property
    def late(self) -> bool:
        """Whether it seeds a stream that was drawn from before."""
        return self.kind == "seeds" and self.state == "fixed" and self.streams.get(self.name) == "drawn"


class Call(msgspec.Struct, eq=False):
    """A function that the run enters; `how` as in `Recorder.enter`, or `run` for the whole."""

    how: str
    module: Module
    function: Function
    place: Place | None
    """Where it is called, if that is known."""
    inside: list[Event | Call] = []
    earlier: Call | None = None
    """For one that is entered as before: what it did then."""

    def events(self) -> Iterator[Event]:
        """All that happens in it, and in what it calls."""
        for item in (self.earlier or self).inside:
            if isinstance(item, Event):
                yield item
            else:
                yield from item.events()

    def steps(self) -> Iterator[Call | tuple[Event, ...]]:
        """What happens in it, in order; the events of one place together."""
        for at, items in groupby(self.inside, lambda item: item.place if isinstance(item, Event) else item):
            if isinstance(at, Call):
                yield at
            else:
                yield tuple(item for item in items if isinstance(item, Event))

    def ways(self, above: tuple[Call, ...] = ()) -> Iterator[tuple[Event, tuple[Call, ...]]]:
        """All that happens in it, in order, each with the calls that lead there."""
        way = (*above, self)
        for item in self.inside:
            if isinstance(item, Event):
                yield item, way
            else:
                yield from item.ways(way)

    def matters(self) -> bool:
        """Whether a stream or a switch is touched in it."""
        return any(event.kind != "passes" for event in self.events())


class Trace(Recorder):
    """Keeps what it is told as a tree.

    Args:
        module: where the run starts.
        function: the function in which it does.
    """

    keeps = True

    def __init__(self, module: Module, function: Function) -> None:
        self.root = Call("run", module, function, None)
        self._stack = [self.root]
        self._last: dict[tuple[str, int], Call] = {}

    def enter(self, how: str, module: Module, function: Function, place: Place | None) -> None:
        """A function begins."""
        key = (module.path, function.number)
        call = Call(how, module, function, place)
        self._stack[-1].inside.append(call)
        if how == "again":
            call.earlier = self._last.get(key)
        else:
            self._stack.append(call)
            if how in ("call", "import"):
                self._last[key] = call

    def leave(self) -> None:
        """It ends."""
        self._stack.pop()

    def tell(self, kind: str, name: str, place: Place, state: object, streams: Mapping[str, str]) -> None:
        """Something happens at a place."""
        self._stack[-1].inside.append(Event(kind, name, place, state, dict(streams)))
