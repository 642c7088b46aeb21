"""`enforce`: makes a run deterministic while it runs, says what it did, and undoes it on leaving."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from detlint.runtime.options import Collectives, Dropout, Handled, Loaders, Options, Profile, Rng, Unsupported, options
from detlint.runtime.report import Report

_Function = TypeVar("_Function", bound=Callable[..., object])


def enforce(
    seed: int = 1234,
    profile: Profile = "reproduce",
    dropout: Dropout | None = None,
    rng: Rng | None = None,
    operators: Handled | Iterable[str] | None = None,
    replace: Handled | Iterable[str] | None = None,
    loaders: Loaders | None = None,
    collectives: Collectives | None = None,
    unsupported: Unsupported = "warn",
) -> Enforcement:
    """Make what runs under it deterministic: `with enforce(): ...`, `@enforce()`, or `e = enforce().start()` ... `e.restore()`.

    Args:
        seed: of every stream, from 0 to 2**32 - 1.
        profile: `reproduce` removes nothing; `align` takes away what differs between back ends: dropout, draws on the
            device, the order of data. Each option below overrides the profile's choice.
        dropout: `off` turns off, by every route, what drops at random.
        rng: `cpu` draws on the CPU and moves the numbers to the device.
        operators: nondeterministic operators that run on the CPU: those that the catalog lists, `keep` for none, or
            names of APIs and codes of rules.
        replace: operators that are put together from small ones, likewise.
        loaders: `seeded` gives data loaders a generator where they have none; `sequential` has them take items in order.
        collectives: `deterministic`, or `strict` for reductions in a fixed order where the hardware can.
        unsupported: an operator that is nondeterministic here and for which nothing is known to do: `warn`, `error`, or
            `cpu` to run it there.

    Raises:
        ValueError, TypeError: an option that can't be.
    """
    return Enforcement(
        options(seed, profile, dropout, rng, operators, replace, loaders, collectives, unsupported),
    )


class Enforcement:
    """What `enforce` returns. `report` is what it did."""

    def __init__(self, chosen: Options) -> None:
        self.options = chosen
        self.report = Report()

    def start(self) -> Enforcement:
        """Begin. Starting what has begun counts, and is undone by as many `restore`."""
        return self

    def restore(self) -> None:
        """Undo everything that `start` did. Without a start before it, nothing happens."""

    def __enter__(self) -> Enforcement:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.restore()

    def __call__(self, function: _Function) -> _Function:
        """Enforce while a function runs."""
        raise NotImplementedError
