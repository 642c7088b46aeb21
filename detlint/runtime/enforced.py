"""`enforce`: makes a run deterministic while it runs, says what it did, and undoes it on leaving."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar, cast

from detlint.runtime import held, state
from detlint.runtime.choices import (
    Collectives,
    Dropout,
    Handled,
    Loaders,
    Profile,
    Rng,
    Transforms,
    Unsupported,
)
from detlint.runtime.imports import when_imported
from detlint.runtime.options import Options, options
from detlint.runtime.report import Report
from detlint.runtime.switches import seed, switch

if TYPE_CHECKING:
    from detlint.runtime.context import Context
    from detlint.runtime.counterparts import Counterparts

_Function = TypeVar("_Function", bound=Callable[..., Any])


def enforce(
    seed: int = 1234,
    profile: Profile = "reproduce",
    dropout: Dropout | None = None,
    rng: Rng | None = None,
    operators: Handled | Iterable[str] | None = None,
    replace: Handled | Iterable[str] | None = None,
    loaders: Loaders | None = None,
    transforms: Transforms | None = None,
    collectives: Collectives | None = None,
    unsupported: Unsupported = "warn",
    deterministic: bool = True,
) -> Enforcement:
    """Make what runs under it deterministic: `with enforce(): ...`, `@enforce()`, or `e = enforce().start()` ... `e.restore()`.

    Args:
        seed: of every stream, from 0 to 2**32 - 1.
        profile: `reproduce` removes nothing; `align` takes away what differs between back ends: dropout, draws on the
            device, the order of data, random transforms. Each option below overrides the profile's choice.
        dropout: `off` turns off, by every route, what drops at random.
        rng: `cpu` draws on the CPU and moves the numbers to the device.
        operators: nondeterministic operators that run on the CPU: those that the catalog lists, `keep` for none, or
            names of APIs and codes of rules.
        replace: operators that are put together from small ones, likewise.
        loaders: `seeded` gives data loaders a generator where they have none; `sequential` has them take items in order.
        transforms: `off` has random transforms of samples give way to their deterministic counterparts.
        collectives: `deterministic`, or `strict` for reductions in a fixed order where the hardware can.
        unsupported: an operator that is nondeterministic here and for which nothing is known to do: `warn`, `error`, or
            `cpu` to run it there.
        deterministic: whether the libraries' own switches of deterministic operators are on meanwhile; `False` leaves them,
            and the variables of HCCL, LCCL and cuBLAS, as the program has them.

    Raises:
        ValueError, TypeError: an option that can't be.
    """
    return Enforcement(
        options(
            seed,
            profile,
            dropout,
            rng,
            operators,
            replace,
            loaders,
            transforms,
            collectives,
            unsupported,
            deterministic,
        ),
    )


class Enforcement:
    """What `enforce` returns. `report` is what it did; one that is started again goes on with it."""

    def __init__(self, chosen: Options, only: frozenset[str] = frozenset()) -> None:
        self.options = chosen
        self._only = only
        """Deeds of the catalog, in its words, where nothing else is to be done: no seeds, no switches. Empty: everything."""
        self.report = Report()
        self._lock = threading.RLock()
        self._started = 0
        self._here = threading.local()
        """`depth`: how often the current thread has started it. `modes`: what that entered."""
        self._layer: held.Layer | None = None
        self._enter: Callable[[], Any] | None = None
        """Makes what a thread enters; None as long as PyTorch isn't imported."""

    def start(self) -> Enforcement:
        """Begin. Starting what has begun is counted: as many `restore` end it.

        Raises:
            CatalogError, ConfigError: a catalog or configuration of the user's can't be used.
        """
        with self._lock:
            if self._started == 0:
                with held.changing():
                    try:
                        self._begin()
                    except BaseException:
                        self._end()
                        raise
            self._started += 1
            depth = getattr(self._here, "depth", 0)
            self._here.depth = depth + 1
            if depth == 0:
                self._enter_here()
        return self

    def restore(self) -> None:
        """Undo what `start` did, once it was called as often. Without a start before it, nothing happens.

        Raises:
            RuntimeError: another thread started it.
        """
        with self._lock:
            if self._started == 0:
                return
            depth = getattr(self._here, "depth", 0)
            if depth == 0:
                raise RuntimeError("restore() must be called in a thread that called start()")
            self._here.depth = depth - 1
            if depth == 1:
                self._leave_here()
            self._started -= 1
            if self._started == 0:
                with held.changing():
                    self._end()

    def __enter__(self) -> Enforcement:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.restore()

    def __call__(self, function: _Function) -> _Function:
        """Enforce while a function runs.

        Raises:
            TypeError: calling it runs nothing yet (a coroutine or a generator), or it is a class.
        """
        import inspect

        later = (inspect.iscoroutinefunction, inspect.isgeneratorfunction, inspect.isasyncgenfunction)
        if any(asked(function) for asked in later):
            raise TypeError(
                f"enforce can't hold while {function.__qualname__} runs: use `with enforce():` inside of it"
            )
        if isinstance(function, type):
            raise TypeError(f"enforce can't hold for the class {function.__qualname__}: decorate its methods")

        @functools.wraps(function)
        def enforced(*args: Any, **kwargs: Any) -> Any:
            with self:
                return function(*args, **kwargs)

        return cast(_Function, enforced)

    def _begin(self, seeding: bool = True) -> None:
        # The catalog costs more to load than all else here, and is needed only now.
        from detlint.runtime.context import Context
        from detlint.runtime.known import known
        from detlint.runtime.library_part import LibraryPart

        context = Context(self.options, known(), self.report, self._only)
        self._layer = held.begin(context.end)
        undo = self._layer.undo.callback
        context.begin()
        environment = state.Environment()
        undo(environment.restore)
        if seeding:
            state.note(undo, lambda: context.active)
        if seeding and not self._only:
            undo(seed(self.options, self.report))
        environment.note()
        libraries = LibraryPart(context)
        undo(libraries.undo)
        libraries.start()
        then = functools.partial(self._with_torch, self._layer, context, libraries.installation.counterparts, seeding)
        when_imported("torch", then)

    def attach(self) -> None:
        """For the rest of a process that another one started and seeded: everything but the seeds and switches."""
        self._begin(seeding=False)
        self._started = self._here.depth = 1
        self._enter_here()

    def _with_torch(
        self, layer: held.Layer, context: Context, counterparts: Counterparts, seeding: bool, torch: ModuleType
    ) -> None:
        """The part that needs PyTorch: now, or when the program imports it."""
        if not context.active:
            return
        from detlint.runtime.torch_part import TorchPart

        if seeding and not self._only and (undo := switch(torch, self.options, self.report)):
            layer.undo.callback(undo)
        part = TorchPart(context, counterparts)
        layer.undo.callback(part.undo)
        part.start()
        self._enter = part.interception
        if getattr(self._here, "depth", 0):
            self._enter_here()

    def _enter_here(self) -> None:
        if self._enter is not None:
            mode = self._here.mode = self._enter()
            mode.__enter__()

    def _leave_here(self) -> None:
        mode = self._here.__dict__.pop("mode", None)
        if mode is not None:
            mode.leave()

    def _end(self) -> None:
        self._enter = None
        if self._layer is not None:
            held.end(self._layer)
        self._layer = None
