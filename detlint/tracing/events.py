"""What Python brings into a run besides its operators: draws, seeds, the time, listings, files. Each call gets a row.

Rows of a framework tell that a tensor differs; these tell which line made what it is made of. They are written at calls of the program's
and, where they draw, of libraries'; what Python's own modules call among themselves isn't told.
"""

from __future__ import annotations

import marshal
import pickle
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import update_wrapper
from types import FrameType
from typing import Any, Final, Literal, Protocol

from xxhash import xxh3_64_intdigest

from detlint.runtime.places import importing, whose
from detlint.tracing.sites import Frames, Sites

Sort = Literal["seed", "draw", "order", "content", "memory", "chance"]
"""`seed`: fixes a stream. `draw`: draws from one, or makes one. `order`: of a listing, of what threads have done. `content`: of a
file, or whether it is there. `memory`: that isn't filled. `chance`: the time, numbers of processes, the system's entropy."""
_EACH: Final = 256
"""Rows that a line gets one by one; then each time that its calls have doubled, with what all of them gave."""
_LONGEST: Final = 80
_EARLY: Final = 100_000
SEEDING: Final = (
    "torch.manual_seed", "torch.seed", "tensorflow.random.set_seed", "keras.utils.set_random_seed", "mindspore.set_seed",
    "mindspore.dataset.config.set_seed",
)  # fmt: skip
"""Of frameworks: what fixes the numbers that their operators draw."""
_BY_NAME: Final[dict[str, Sort]] = {
    **dict.fromkeys(("random.seed", "numpy.random.seed", *SEEDING), "seed"),
    **dict.fromkeys(("os.listdir", "os.scandir"), "order"),
    **dict.fromkeys(("concurrent.futures.as_completed", "multiprocessing.pool.Pool.imap_unordered"), "order"),
    **dict.fromkeys(("numpy.empty", "numpy.empty_like"), "memory"),
    **dict.fromkeys(
        ("open", *(f"os.path.{name}" for name in ("exists", "isfile", "isdir", "getmtime", "getsize"))), "content"
    ),
}
_MAKING: Final = ("random.Random", "numpy.random.default_rng", "numpy.random.RandomState")
"""What makes a stream, rather than draws from one."""
_PLAIN: Final = (bool, int, float, str, bytes, type(None))


def sort_of(name: str) -> Sort:
    """What a call of Python's is, by its name in a trace."""
    if name in _BY_NAME:
        return _BY_NAME[name]
    return "draw" if name.startswith(("random.", "numpy.random.")) else "chance"


def begins(name: str) -> bool:
    """Whether what a call gives depends on nothing that the process had before, so that a difference of it begins there."""
    return sort_of(name) != "draw" or name in _MAKING or name.startswith("random.SystemRandom.")


def is_recorded(name: str) -> bool:
    """Whether calls of a function get rows, so that one that doesn't differ has none."""
    return name in _BY_NAME or name.startswith(("random.", "numpy.random."))


class Sink(Protocol):
    """What writes rows."""

    def event(self, name: str, frames: Frames, arguments: str, digest: int) -> None:
        """Write the row of one call."""


class _Rows:
    """Calls on their way to the traces that are to have them; those before there is one are kept for it."""

    def __init__(self) -> None:
        self._early: list[tuple[str, Frames, str, int]] = []
        self._sinks: list[Sink] = []
        self._counts: dict[tuple[str, str, int], list[int]] = {}

    def into(self, sink: Sink) -> None:
        """Write rows there, too, from now on; to the first, also those of before."""
        self._sinks.append(sink)
        for event in self._early:
            sink.event(*event)
        self._early.clear()

    def add(self, name: str, frames: Frames, given: Iterable[Any], found: int) -> None:
        """One more call."""
        count = self._counts.setdefault((name, *frames[0][:2]), [0, 0])
        count[0] += 1
        if count[0] > _EACH:
            count[1] = found = xxh3_64_intdigest(f"{count[1]} {found}".encode())
            if count[0] & (count[0] - 1):
                return
        arguments = ", ".join(map(_shown, given))[:_LONGEST] if sort_of(name) in ("seed", "content") else ""
        for sink in self._sinks:
            sink.event(name, frames, arguments, found)
        if not self._sinks and len(self._early) < _EARLY:
            self._early.append((name, frames, arguments, found))


class _Busy(threading.local):
    """Whether a call is being told; each thread has its own answer."""

    now = False


class Events:
    """Gives calls to the traces of the process: those of the thread that the program began in to the one of operators."""

    def __init__(self, filling: int = 0) -> None:
        """
        Args:
            filling: what uninitialised memory is filled with.
        """
        self.filling = filling
        self._thread = threading.get_ident()
        self._busy = _Busy()
        self._sites = Sites()
        self._own, self._others = _Rows(), _Rows()
        self._one = threading.Lock()

    def into(self, sink: Sink, others: Sink) -> None:
        """Write rows to one more trace from now on.

        Args:
            others: gets those of other threads, one at a time.
        """
        self._own.into(sink)
        with self._one:
            self._others.into(others)

    def only(self, sink: Sink) -> None:
        """Write rows there and nowhere else: this process was forked from the one that had them."""
        self._own, self._others = _Rows(), _Rows()
        self._one = threading.Lock()
        self._own.into(sink)

    def recorded(self, name: str, own: Callable[..., Any], **how: Any) -> Told:
        """A function whose calls are told; `how` as for `Told`."""
        return Told(self, name, own, **how)

    def wants(self, frame: FrameType, sort: Sort) -> bool:
        """Whether a call from there is to be told."""
        if self._busy.now or not asked(frame, sort):
            return False
        return threading.get_ident() == self._thread or whose(frame.f_code.co_filename) == "user"

    @contextmanager
    def once(self) -> Iterator[None]:
        """What is called within isn't told: it belongs to a call that is."""
        self._busy.now = True
        try:
            yield
        finally:
            self._busy.now = False

    def tell(self, name: str, value: Any) -> None:
        """One more call, with what it gave."""
        if not self._busy.now:
            self.add(name, (), digest(value))

    def add(self, name: str, given: Iterable[Any], found: int) -> None:
        """One more call, with what it was given and the digest of what it gave."""
        frames = self._sites.here()
        if not frames:
            return
        if threading.get_ident() == self._thread:
            self._own.add(name, frames, given, found)
        else:
            with self._one:
                self._others.add(name, frames, given, found)


current: Events | None = None
"""Those of this process, if it is traced from its beginning."""


class Told:
    """A function whose calls are told. Like those of C that it stands for, it is no method of classes that name it."""

    def __init__(
        self,
        events: Events,
        name: str,
        own: Callable[..., Any],
        changes: int = -1,
        reads: Callable[[Any], Any] = lambda found: found,
    ) -> None:
        """
        Args:
            changes: the place of the argument that it changes, where it gives nothing; negative: there is none.
            reads: what of its result is digested.
        """
        self.__qualname__ = name
        update_wrapper(self, own)
        self._events = events
        self._name = name
        self._sort = sort_of(name)
        self._own = own
        self._changes = changes
        self._reads = reads

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.call(sys._getframe(1), args, kwargs)

    def __reduce__(self) -> str:
        return self.__qualname__

    def named(self, owner: Any, name: str) -> Told:
        """It, as what a module has under a name: it is pickled by that."""
        self.__module__, self.__qualname__ = owner.__name__, name
        return self

    def call(self, frame: FrameType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call it from a frame."""
        events, own = self._events, self._own
        if not events.wants(frame, self._sort):
            return own(*args, **kwargs)
        with events.once():
            changed = args[self._changes] if 0 <= self._changes < len(args) else None
            before = [*map(id, changed)] if isinstance(changed, list) else None
            result = own(*args, **kwargs)
            found = digest(self._reads(result) if self._changes < 0 else changed, before)
            events.add(self._name, (*args, *kwargs.values()), found)
        return result


def digest(value: Any, before: list[int] | None = None) -> int:
    """A digest of plain data, of an array, of a generator's state; 0 of what is none of these.

    Args:
        before: of a list that was put into another order, the identities of what was in it.
    """
    if hasattr(value, "tobytes"):
        return xxh3_64_intdigest(value.tobytes())
    try:
        return xxh3_64_intdigest(marshal.dumps(value, 2))
    except ValueError:
        pass
    if before is not None and isinstance(value, list):
        places = {one: i for i, one in enumerate(before)}
        return xxh3_64_intdigest(str([places.get(id(one)) for one in value]).encode())
    if isinstance(value, list):
        return xxh3_64_intdigest(str([*map(digest, value)]).encode())
    state = _state(value)
    return xxh3_64_intdigest(pickle.dumps(state)) if state is not None else 0


def _state(value: Any) -> Any:
    """What makes two objects the same draw: a generator's state, a UUID's number."""
    if hasattr(value, "bit_generator"):
        return value.bit_generator.state
    if hasattr(value, "get_state"):
        return value.get_state()
    return getattr(value, "int", None)


def _shown(value: Any) -> str:
    return repr(value) if isinstance(value, _PLAIN) else type(value).__name__


def asked(frame: FrameType, sort: Sort) -> bool:
    """Whether a call is the program's, or one of a library's that matters to it."""
    name = frame.f_code.co_filename
    kind = whose(name)
    if kind == "user":
        return True
    if kind == "library":
        return sort in ("draw", "order", "seed") and not importing()
    return kind == "machinery" and sort == "order" and _through(frame)


def _through(frame: FrameType | None) -> bool:
    """Whether the program asks, by one of Python's modules that only does what it is called for."""
    while frame is not None and whose(frame.f_code.co_filename) == "machinery":
        frame = frame.f_back
    return frame is not None and whose(frame.f_code.co_filename) in ("user", "library")
