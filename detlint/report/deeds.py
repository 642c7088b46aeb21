"""What the events of a place do, in words, and what that means for reproducing the run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from detlint.effects.trace import Event

SEEDS: Final = {
    "fixed": ("good", ""),
    "late": ("bad", " too late"),
    "optional": ("doubt", ", if an option says so"),
    "entropy": ("bad", ", differently in every run"),
}
DRAWS: Final = {
    "drawn": ("bad", ", unseeded"),
    "seeded": ("good", ", seeded"),
    "optional": ("doubt", ", seeded if an option says so"),
    "entropy": ("bad", ", seeded differently in every run"),
}


class Deed(NamedTuple):
    """What is done to some streams or one switch."""

    kind: str
    """`good`, `doubt`, `bad`, or `switch`."""
    text: str


def deeds(events: Iterable[Event]) -> list[Deed]:
    """What some events of one place do; streams that fare alike are told together."""
    streams: dict[tuple[str, str], dict[str, None]] = {}
    switches: dict[str, object] = {}
    for event in events:
        if event.kind == "sets":
            switches[event.name] = event.state
        elif event.kind != "passes":
            state = "late" if event.late else str(event.state)
            streams.setdefault((event.kind, state), {})[event.name] = None
    found = [_deed(verb, state, [*names]) for (verb, state), names in streams.items()]
    return found + [Deed("switch", f"{name} = {value}") for name, value in switches.items()]


def _deed(verb: str, state: str, names: list[str]) -> Deed:
    kind, rest = (SEEDS if verb == "seeds" else DRAWS)[state]
    return Deed(kind, f"{verb} {', '.join(names)}{rest}")
