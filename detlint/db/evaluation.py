"""Runs queries: who is asked by whom at the moment, cycles, and how deep it goes.

Queries that ask for each other, in a circle, are solved together. The first of them that was asked is the head. Whoever comes to a query
that is being run gets the value of the round before (`initial` in the first one), and what rests on such a value isn't remembered but is
open until the head has been run. The head is run until no value of the circle changes from one round to the next; only then they are
final. What they asked for outside of the circle, in all rounds, is what each of them rests on: a node of its own stands for that, so
that the graph has no cycles and they are verified, and become red, together.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from itertools import islice
from typing import Any, Final, NamedTuple, TypeVar

from detlint.db.errors import CycleError, UnsettledError
from detlint.db.query import NOTHING, Asked, Key
from detlint.frames import in_one_piece

Name = tuple[Asked[Any, Any], Key]
_T = TypeVar("_T")

MOST_ROUNDS: Final = 1000
_STEP: Final = 16
"""Queries take a sixteenth of the frames that the interpreter allows, then go on in another thread: each has its own count of them."""
_FRAME: Final = 45_000
"""Bytes of stack for each frame: so much a C function may take that calls itself, as those that walk a tree."""


class _Frame:
    """A query that is being run."""

    __slots__ = ("asked", "head", "low", "name", "place")

    def __init__(self, name: Name, place: int) -> None:
        self.name = name
        self.place = place
        self.asked: dict[int, None] = {}
        self.low = place + 1
        """The lowest place on the stack that it has come back to."""
        self.head: _Frame | None = None
        """Once it was run and has come back to something that is still being run: that, when it was left."""

    def running(self) -> _Frame:
        """What is still being run of those that it has come back to."""
        frame = self
        while (head := frame.head) is not None:
            frame.head = head.head or head  # the next one has half of the way
            frame = head
        return frame


class _Open(NamedTuple):
    """A value that is not final, and where it came back to."""

    value: Any
    head: _Frame


class Evaluation:
    """The queries that are being run.

    Args:
        run: runs a query, and notes what it asks for.
        finish: is told what is final: one query, or (True) those of a circle, and what was asked for.
    """

    def __init__(
        self,
        run: Callable[[Name, dict[int, None]], Any],
        finish: Callable[[dict[Name, Any], dict[int, None], bool], None],
    ) -> None:
        self._run = run
        self._finish = finish
        self._stack: list[_Frame] = []
        self.active: dict[Name, int] = {}
        self.open: dict[Name, _Open] = {}
        self._before: dict[Name, Any] = {}

    def meanwhile(self, name: Name) -> Any:
        """What is answered to who asks for a query that is being run, or rests on one; `NOTHING` for all others.

        Raises:
            CycleError: one on the cycle has no `initial`.
        """
        low = self.active.get(name)
        if low is not None:
            value = self._before.get(name, name[0].initial)  # type: ignore[attr-defined]
        elif name in self.open:
            value, head = self.open[name]
            low = head.running().place
        else:
            return NOTHING
        circle = [frame.name for frame in self._stack[low:]]
        if any(asked.initial is NOTHING for asked, _ in circle):  # type: ignore[attr-defined]
            raise CycleError([f"{asked}{key!r}" for asked, key in circle])
        top = self._stack[-1]
        top.low = min(top.low, low)
        return value

    def compute(self, name: Name) -> Any:
        """Run a query."""
        step = sys.getrecursionlimit() // _STEP
        if len(self._stack) % step == step - 1:
            return _apart(lambda: self._compute(name))
        return self._compute(name)

    def _compute(self, name: Name) -> Any:
        place, mark = len(self._stack), len(self.open)
        frame = _Frame(name, place)
        self._stack.append(frame)
        self.active[name] = place
        try:
            value = self._settle(frame, place, mark)
        except BaseException:
            self._take(mark)
            self._before.pop(name, None)
            if place:  # who asked may go on: it rests on what has led here
                self._pass_on(frame, self._stack[place - 1])
            raise
        finally:
            self._stack.pop()
            del self.active[name]
        if frame.low < place:
            frame.head = self._stack[frame.low]
            self.open[name] = _Open(value, frame.head)
            self._pass_on(frame, self._stack[-1])
            return value
        circle = self._take(mark)
        circle[name] = value
        self._before.pop(name, None)
        self._finish(circle, frame.asked, frame.low == place)
        return value

    def _settle(self, frame: _Frame, place: int, mark: int) -> Any:
        """Run a query; if it is the head of a circle, until no value on it changes."""
        for _ in range(MOST_ROUNDS):
            value = self._run(frame.name, frame.asked)
            if frame.low != place:
                return value
            before = self._before
            found = {name: one.value for name, one in islice(self.open.items(), mark, None)}
            found[frame.name] = value
            if all(name[0].same(before.get(name, name[0].initial), one) for name, one in found.items()):  # type: ignore[attr-defined]
                return value
            self._take(mark)
            before.update(found)
        names = ", ".join(sorted(f"{asked}{key!r}" for asked, key in found))
        raise UnsettledError(f"after {MOST_ROUNDS} rounds these queries still change: {names}")

    def _take(self, mark: int) -> dict[Name, Any]:
        """Take away what was opened since a mark, and forget what it was in the last round."""
        taken = {}
        while len(self.open) > mark:
            name, (value, _) = self.open.popitem()
            self._before.pop(name, None)
            taken[name] = value
        return taken

    @staticmethod
    def _pass_on(frame: _Frame, asker: _Frame) -> None:
        asker.low = min(asker.low, frame.low)
        asker.asked.update(frame.asked)


def _apart(work: Callable[[], _T]) -> _T:
    """Run in a thread of its own; here, if there can be none."""
    result: list[_T] = []
    failure: list[BaseException] = []

    def target() -> None:
        try:
            result.append(in_one_piece(work))
        except BaseException as error:  # handed to the thread that waits
            failure.append(error)

    try:
        before = threading.stack_size(sys.getrecursionlimit() * _FRAME // 4096 * 4096)
        try:
            thread = threading.Thread(target=target, daemon=True)
            thread.start()
        finally:
            threading.stack_size(before)
    except (RuntimeError, ValueError):
        return work()
    thread.join()
    if failure:
        raise failure[0]
    return result[0]
