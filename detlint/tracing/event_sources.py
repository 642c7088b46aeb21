"""By which functions something enters a run: those whose calls are told, of Python, NumPy and the frameworks."""

from __future__ import annotations

import builtins
import datetime
import os
import random
import stat
import sys
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from types import FrameType, ModuleType
from typing import Any, Final

from detlint.runtime import methods
from detlint.runtime.imports import Action, when_imported
from detlint.tracing.events import SEEDING, Events, Told, digest

_DRAWS: Final = (
    "random", "uniform", "triangular", "randint", "randrange", "choice", "choices", "sample", "betavariate",
    "expovariate", "gammavariate", "gauss", "lognormvariate", "normalvariate", "vonmisesvariate", "paretovariate",
    "weibullvariate", "getrandbits", "randbytes",
)  # fmt: skip
_TIMES: Final = ("time", "time_ns", "perf_counter", "perf_counter_ns", "monotonic", "monotonic_ns", "process_time")
_PROCESS: Final = ("getpid", "getppid", "urandom")
_LISTS: Final = ("listdir",)
_ASKS: Final = ("exists", "isfile", "isdir", "getmtime", "getsize")
_NO_DRAWS: Final = (
    "seed",
    "shuffle",
    "get_state",
    "set_state",
    "default_rng",
    "get_bit_generator",
    "set_bit_generator",
    "test",
)
_LARGEST: Final = 1 << 20
"""Bytes of a file whose content is digested as it is opened; of a larger one, its size is."""


def follow(events: Events, guarded: Callable[[Action], Action]) -> None:
    """Have calls told from now on, in this process, as long as it lives.

    Args:
        guarded: makes what follows a module such that the program's import of it goes on whatever happens.
    """
    _random(events)
    _put(events, time, _TIMES)
    _dates(events)
    _put(events, os, _PROCESS)
    _put(events, uuid, ("uuid1", "uuid4"))
    _put(events, builtins, ("hash",))
    _put(events, os, _LISTS)
    os.supports_fd |= {os.listdir}
    os.scandir = _scandir(events, os.scandir)
    _put(events, os.path, _ASKS, "os.path")
    builtins.open = _open(events, builtins.open)
    for name, action in (
        ("secrets", lambda module: _put(events, module, ("token_bytes", "token_hex", "randbelow", "choice"))),
        ("concurrent.futures", lambda module: _completed(events, module)),
        ("multiprocessing.pool", lambda module: _unordered(events, module)),
        ("numpy", lambda module: _numpy(events, module)),
        ("torch", lambda module: _seeds(events, "torch", module, module.random)),
        ("tensorflow", lambda module: _seeds(events, "tensorflow.random", module.random)),
        ("keras", lambda module: _seeds(events, "keras.utils", module.utils)),
        ("mindspore", lambda module: _seeds(events, "mindspore", module, module.common)),
        ("mindspore.dataset", lambda module: _seeds(events, "mindspore.dataset.config", module.config)),
    ):
        when_imported(name, guarded(action))


def _put(events: Events, module: Any, names: Iterable[str], prefix: str = "", **how: Any) -> None:
    for name in names:
        own = getattr(module, name, None)
        if own is not None:
            setattr(
                module, name, events.recorded(f"{prefix or module.__name__}.{name}", own, **how).named(module, name)
            )


def _random(events: Events) -> None:
    _put(events, random, _DRAWS)
    _put(events, random, ("shuffle",), changes=0)
    random.seed = _seeding(events, "random.seed", random.seed, random.getstate).named(random, "seed")
    for owner, names in (
        (random.Random, (*_DRAWS, "shuffle")),
        (random.SystemRandom, ("random", "getrandbits", "randbytes")),
    ):
        for name in names:
            own = getattr(owner, name)
            changes = 1 if name == "shuffle" else -1
            told = events.recorded(f"random.{owner.__name__}.{name}", own, changes=changes)
            setattr(owner, name, _method(told, own))
    random.Random.__init__ = _making(events, random.Random.__init__)  # type: ignore[method-assign]


def _dates(events: Events) -> None:
    for kind, names in ((datetime.datetime, ("now", "utcnow")), (datetime.date, ("today",))):
        for name in names:
            told = events.recorded(f"datetime.{kind.__name__}.{name}", _of_class(vars(kind)[name]), reads=str)
            methods.put(kind, name, classmethod(_method(told, getattr(kind, name))))


def _of_class(own: Any) -> Callable[..., Any]:
    return lambda kind, *args, **kwargs: own.__get__(None, kind)(*args, **kwargs)


def _method(told: Told, own: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(own)
    def method(*args: Any, **kwargs: Any) -> Any:
        return told.call(sys._getframe(1), args, kwargs)

    return method


def _making(events: Events, own: Callable[..., None]) -> Callable[..., None]:
    @wraps(own)
    def init(self: random.Random, *args: Any, **kwargs: Any) -> None:
        own(self, *args, **kwargs)
        if type(self) is random.Random and events.wants(sys._getframe(1), "draw"):
            events.tell("random.Random", self.getstate())

    return init


def _seeding(events: Events, name: str, own: Callable[..., Any], state: Callable[[], Any]) -> Told:
    """A seeding function; what tells is the state that it leaves."""
    return events.recorded(name, own, reads=lambda _: state())


def _scandir(events: Events, own: Callable[..., Any]) -> Callable[..., Any]:
    """Entries are read twice: for their order, and for the program."""

    @wraps(own)
    def scandir(path: Any = ".") -> Any:
        if not isinstance(path, int) and events.wants(sys._getframe(1), "order"):
            with own(path) as found:
                events.tell("os.scandir", [os.fsdecode(entry.name) for entry in found])
        return own(path)

    return scandir


def _open(events: Events, own: Callable[..., Any]) -> Callable[..., Any]:
    def content(file: Any, mode: str) -> int:
        try:
            if any(letter in mode for letter in "wax+") or isinstance(file, int):
                return 0
            status = os.stat(file)
            if not stat.S_ISREG(status.st_mode) or status.st_size > _LARGEST:
                return status.st_size
            with own(file, "rb") as read:
                return digest(read.read(_LARGEST))
        except (OSError, ValueError, TypeError):
            return 0

    class Opening(Told):
        def call(self, frame: FrameType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            mode = args[1] if len(args) > 1 else kwargs.get("mode", "r")
            if args and isinstance(mode, str) and events.wants(frame, "content"):
                events.tell("open", content(args[0], mode))
            return own(*args, **kwargs)

    return Opening(events, "open", own).named(builtins, "open")


def _completed(events: Events, module: ModuleType) -> None:
    own = module.as_completed

    @wraps(own)
    def as_completed(fs: Iterable[Any], timeout: float | None = None) -> Iterator[Any]:
        futures = [*fs]
        places = {id(future): i for i, future in reversed([*enumerate(futures)])}
        for future in own(futures, timeout):
            events.tell("concurrent.futures.as_completed", places.get(id(future)))
            yield future

    module.as_completed = as_completed  # type: ignore[attr-defined]


def _unordered(events: Events, module: ModuleType) -> None:
    kind = module.IMapUnorderedIterator
    own = kind.next

    @wraps(own)
    def following(self: Any, timeout: float | None = None) -> Any:
        found = own(self, timeout)
        events.tell("multiprocessing.pool.Pool.imap_unordered", found)
        return found

    kind.next = kind.__next__ = following


def _numpy(events: Events, numpy: ModuleType) -> None:
    drawing = numpy.random
    functions = [name for name in drawing.__all__ if callable(getattr(drawing, name)) and name not in _NO_DRAWS]
    functions = [name for name in functions if not isinstance(getattr(drawing, name), type)]
    for name in ("empty", "empty_like"):
        setattr(numpy, name, _unwritten(events, f"numpy.{name}", getattr(numpy, name)).named(numpy, name))
    _put(events, drawing, functions)
    _put(events, drawing, ("shuffle",), changes=0)
    _put(events, drawing, ("default_rng",))
    seeding = _seeding(events, "numpy.random.seed", drawing.seed, lambda: drawing.get_state()[1].tobytes())
    drawing.seed = seeding.named(drawing, "seed")
    own = drawing.RandomState
    if isinstance(own, type):
        drawing.RandomState = _random_state(events, own)


def _unwritten(events: Events, name: str, own: Callable[..., Any]) -> Told:
    """A function that gives memory with whatever was in it: filled, as that of tensors is."""

    def filled(*args: Any, **kwargs: Any) -> Any:
        made = own(*args, **kwargs)
        if made.dtype.kind in "biufc":
            made.fill(events.filling)
        return made

    return events.recorded(name, wraps(own)(filled), reads=lambda _: events.filling)


def _random_state(events: Events, own: Any) -> Any:
    """The class, with its making told; what is made of either one is an instance of both."""

    class Made(type(own)):  # type: ignore[misc]  # what enforces may have put another class there
        def __instancecheck__(cls, one: object) -> bool:
            return isinstance(one, own)

    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        own.__init__(self, *args, **kwargs)
        if events.wants(sys._getframe(1), "draw"):
            events.tell("numpy.random.RandomState", self.get_state()[1].tobytes())

    return Made("RandomState", (own,), {"__init__": init, "__module__": own.__module__, "__doc__": own.__doc__})


def _seeds(events: Events, prefix: str, *owners: Any) -> None:
    """Functions of a framework's that seed; where they choose the seed, they give it."""
    names = [name.rpartition(".")[2] for name in SEEDING if name.rpartition(".")[0] == prefix]
    for owner in owners:
        _put(events, owner, names, prefix, reads=lambda found: found if isinstance(found, int) else None)
