"""What `enforce` can be asked for, and what each profile asks for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, get_args

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

PROFILES: Final[dict[str, dict[str, Any]]] = {
    "reproduce": {"dropout": "keep", "rng": "device", "loaders": "seeded", "transforms": "keep"},
    "align": {"dropout": "off", "rng": "cpu", "loaders": "sequential", "transforms": "off"},
}
"""What sets the profiles apart; the rest is the same in both."""


@dataclass(frozen=True, slots=True)
class Options:
    """The options of one enforcement, with the profile's choices filled in."""

    seed: int
    profile: Profile
    dropout: Dropout
    rng: Rng
    operators: Handled | frozenset[str]
    replace: Handled | frozenset[str]
    loaders: Loaders
    transforms: Transforms
    collectives: Collectives
    unsupported: Unsupported
    deterministic: bool


def options(
    seed: int,
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
) -> Options:
    """Check what was asked for and fill in the profile's choices.

    Raises:
        ValueError: an unknown word, or a seed outside of 0 to 2**32 - 1.
        TypeError: a value of the wrong type.
    """
    if callable(seed):
        raise TypeError("as a decorator, enforce is written with its options: `@enforce()`")
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise TypeError(f"seed must be a whole number, not {seed!r}")
    if not 0 <= seed < 2**32:
        raise ValueError(f"seed must be from 0 to 2**32 - 1, not {seed}")
    if not isinstance(deterministic, bool):
        raise TypeError(f"deterministic must be True or False, not {deterministic!r}")
    _one_of("profile", profile, Profile)
    chosen = PROFILES[profile]
    return Options(
        seed=seed,
        profile=profile,
        dropout=_one_of("dropout", dropout or chosen["dropout"], Dropout),
        rng=_one_of("rng", rng or chosen["rng"], Rng),
        operators=_handled("operators", operators),
        replace=_handled("replace", replace),
        loaders=_one_of("loaders", loaders or chosen["loaders"], Loaders),
        transforms=_one_of("transforms", transforms or chosen["transforms"], Transforms),
        collectives=_one_of("collectives", collectives or ("deterministic" if deterministic else "keep"), Collectives),
        unsupported=_one_of("unsupported", unsupported, Unsupported),
        deterministic=deterministic,
    )


def _one_of(name: str, value: Any, words: Any) -> Any:
    known = get_args(words)
    if value not in known:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, known))}, not {value!r}")
    return value


def _handled(name: str, value: Handled | Iterable[str] | None) -> Any:
    if value is None or isinstance(value, str):
        return _one_of(name, "listed" if value is None else value, Handled)
    names = frozenset(value)
    if wrong := [item for item in names if not isinstance(item, str)]:
        raise TypeError(f"{name} must hold names of APIs or codes of rules, not {wrong[0]!r}")
    return names
