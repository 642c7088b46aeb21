"""Which runs pass each file of a program, and what tells them from others."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec
import xxhash

from detlint.model.links import Links
from detlint.program.outcome import Passage, Runs

if TYPE_CHECKING:
    from detlint.answers import Followed

_ENCODER: Final = msgspec.msgpack.Encoder(order="deterministic")


def runs_of(followed: Mapping[str, Sequence[Followed]], links: Links) -> dict[str, Runs]:
    """The runs that each module is judged by."""
    passages: dict[str, list[Passage]] = {}
    for _, runs in sorted(followed.items()):
        for run in runs:
            for path, sites in run.sites.items():
                passage = Passage(
                    run.outcome, sites, run.seeded.get(path, frozenset()), run.silent.get(path, frozenset())
                )
                passages.setdefault(path, []).append(passage)
    trained = links.reached(path for path, runs in followed.items() if any(run.trains for run in runs))
    stopping = {
        path: runs[0].outcome.stops for path, runs in followed.items() if runs and all(r.outcome.stops for r in runs)
    }
    trying = {path for path, runs in followed.items() if runs and all(r.outcome.only_tries for r in runs)}
    going = links.reached(followed.keys() - stopping.keys() - trying) if stopping else set[str]()
    training = {path for path, runs in followed.items() if any(run.trains and not run.outcome.stops for run in runs)}
    trains = links.reached(training) if stopping else set[str]()
    stopped, broken = dict[str, str](), dict[str, str]()
    for start, where in sorted(stopping.items()):
        for path in links.reached([start]):
            if path not in going:
                stopped.setdefault(path, where)
            if path not in trains:
                broken.setdefault(path, where)
    left = links.reached(path for path, runs in followed.items() if any(run.outcome.leaves for run in runs))
    return {
        path: Runs(passages.get(path, ()), path in trained, stopped.get(path, ""), path in left, broken.get(path, ""))
        for path in passages.keys() | trained | stopped.keys() | left | broken.keys()
    }


class Way(NamedTuple):
    """What a module is judged by of the runs, as far as it shows whether they are the same."""

    telling: bytes = b""
    """The runs' ways through it, if they pass a site there that a rule knows."""
    all: bytes = b""
    """Their ways, whatever they pass."""
    train: bool = False
    leaves: bool = False
    stop: str = ""
    broken: str = ""


NO_WAY: Final = Way()


def way_of(runs: Runs) -> Way:
    """What tells some runs from others."""
    whole = _digest(runs.passages) if runs.passages else b""
    telling = whole if any(passage.sites for passage in runs.passages) else b""
    return Way(telling, whole, runs.train, runs.leaves, runs.stop, runs.broken)


def _digest(passages: Sequence[Passage]) -> bytes:
    try:
        packed = _ENCODER.encode(passages)
    except UnicodeEncodeError:  # the name of some file is no text
        packed = json.dumps(msgspec.to_builtins(passages, order="deterministic")).encode()
    return xxhash.xxh3_64_digest(packed)
