"""Which runs come to a file, and what tells their ways through it from others: what it is judged by, besides what it says.

Files that the same runs come to by imports are a *group*: what is known of these runs is put together once for all of them, and a run
that comes out otherwise is news only to the groups that it comes to, and there to the files that it passes otherwise.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final

import msgspec
import xxhash

from detlint.model.runs.outcome import Passage, Runs

if TYPE_CHECKING:
    from detlint.answers import Followed

_ENCODER: Final = msgspec.msgpack.Encoder(order="deterministic")
NOBODY: Final = ""
"""Stands for the group of the files that no run comes to."""


class Passes(msgspec.Struct, array_like=True):
    """What the runs that start in a file are to the files that they come to."""

    ways: dict[str, tuple[bytes, bool]]
    """The files that they pass -> what tells their ways there from others, and whether they pass a site there that a rule knows."""
    trains: bool
    """Whether one of them trains."""
    goes_on: bool
    """Whether one of them trains, and doesn't end with an error before."""
    leaves: bool
    """Whether one of them builds what trains and never runs it."""
    tries: bool
    """Whether all of them only try something out."""
    stops: str
    """Where they end with an error before they do anything, if all of them do."""


class Passing(msgspec.Struct, array_like=True):
    """What the runs that come to the files of a group are to these."""

    ways: dict[str, tuple[bytes, bool]] = {}
    """As those of `Passes`, all runs together."""
    trained: bool = False
    leaves: bool = False
    stop: str = ""
    broken: str = ""
    """All as in `Runs`."""


def passes_of(runs: Sequence[Followed]) -> Passes:
    """What the runs that start in one file are to others."""
    passed: dict[str, list[Passage]] = {}
    for run in runs:
        for path in run.sites:
            passed.setdefault(path, []).append(passage(run, path))
    return Passes(
        {path: (_digest(all_), any(each.sites for each in all_)) for path, all_ in passed.items()},
        any(run.trains for run in runs),
        any(run.trains and not run.outcome.stops for run in runs),
        any(run.outcome.leaves for run in runs),
        bool(runs) and all(run.outcome.only_tries for run in runs),
        runs[0].outcome.stops if runs and all(run.outcome.stops for run in runs) else "",
    )


def passing_of(passes: Iterable[Passes], members: Collection[str]) -> Passing:
    """What the runs are together that come to the files of a group.

    Args:
        passes: of each file in which one starts, in the order of their paths.
        members: the files of the group.
    """
    each = [*passes]
    stop = next((one.stops for one in each if one.stops), "")
    digests: dict[str, list[tuple[bytes, bool]]] = {}
    for one in each:
        for path in one.ways.keys() & members:
            digests.setdefault(path, []).append(one.ways[path])
    return Passing(
        {path: (b"".join(way for way, _ in ways), any(told for _, told in ways)) for path, ways in digests.items()},
        any(one.trains for one in each),
        any(one.leaves for one in each),
        "" if any(not (one.stops or one.tries) for one in each) else stop,
        "" if any(one.goes_on for one in each) else stop,
    )


def with_strays(passing: Passing, strays: Sequence[Passes], path: str) -> Passing:
    """The same of one file of the group, together with runs that pass it although no imports lead there."""
    ways = [passing.ways[path]] if path in passing.ways else []
    ways += [one.ways[path] for one in strays]
    both = b"".join(way for way, _ in ways), any(told for _, told in ways)
    return msgspec.structs.replace(passing, ways={path: both})


def runs_of(passing: Passing, followed: Iterable[Sequence[Followed]], path: str) -> Runs:
    """The runs that a file is judged by.

    Args:
        passing: what is known of its group.
        followed: what the runs gave that come to it, by the files in which they start, in the order of their paths.
    """
    passages = [passage(run, path) for runs in followed for run in runs if path in run.sites]
    return Runs(passages, passing.trained, passing.stop, passing.leaves, passing.broken)


def passage(run: Followed, path: str) -> Passage:
    """A run's way through a file that it passes."""
    nothing = frozenset[int]()
    return Passage(run.outcome, run.sites[path], run.seeded.get(path, nothing), run.silent.get(path, nothing))


def _digest(passages: Sequence[Passage]) -> bytes:
    try:
        packed = _ENCODER.encode(passages)
    except UnicodeEncodeError:  # the name of some file is no text
        packed = json.dumps(msgspec.to_builtins(passages, order="deterministic")).encode()
    return xxhash.xxh3_64_digest(packed)


class Groups:
    """The groups of a program's files. Each is called by the first of its files.

    Args:
        imports: what each file imports.
        starting: the files in which runs start.
    """

    def __init__(self, imports: Mapping[str, Sequence[str]], starting: Collection[str]) -> None:
        self._imports = imports
        self._starting = sorted(starting)

    @cached_property
    def _reached(self) -> dict[str, int]:
        """Files -> the files in which runs start that come to them, as bits."""
        found = dict(self._bits)
        waiting = dict.fromkeys(self._starting)
        while waiting:
            path = next(iter(waiting))
            del waiting[path]
            bits = found[path]
            for other in self._imports.get(path, ()):
                before = found.get(other, 0)
                if before | bits != before:
                    found[other] = before | bits
                    waiting[other] = None
        return found

    @cached_property
    def _first(self) -> dict[int, str]:
        """Bits -> the first file that has them."""
        return {self._reached[path]: path for path in sorted(self._reached, reverse=True)}

    def of(self, path: str) -> str:
        """The group of a file."""
        return self._first.get(self._reached.get(path, 0), NOBODY)

    def members(self, group: str) -> Collection[str]:
        """The files of a group; none where there is none of that name any more."""
        return self._members.get(group, ())

    @cached_property
    def _members(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for path in self._reached:
            found.setdefault(self.of(path), set()).add(path)
        return found

    def reaches(self, start: str, path: str) -> bool:
        """Whether the runs from a file come to another one by imports."""
        return bool(self._reached.get(path, 0) & self._bits.get(start, 0))

    @cached_property
    def _bits(self) -> dict[str, int]:
        """The files in which runs start, as bits."""
        return {path: 1 << number for number, path in enumerate(self._starting)}

    def starts(self, path: str) -> list[str]:
        """The files in which runs start that come to a file, sorted."""
        bits = self._reached.get(path, 0)
        return [start for number, start in enumerate(self._starting) if bits >> number & 1]
