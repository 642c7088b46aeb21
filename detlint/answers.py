"""The answers about a program that are kept: what following each run gave, and what judging each file gave, with what they rest on.

What they rest on are marks, which `changes.py` touches where it sees that a program isn't what it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import msgspec

from detlint.checks.finding import Finding
from detlint.db import Database, Storage, query
from detlint.effects.top import Top
from detlint.marks import Brief, OfProgram, body, facts, followable, linked, part, saying, top
from detlint.model.runs.outcome import Outcome
from detlint.moved import LINE, Lines, moved
from detlint.state import Packed, State, decode, encode
from detlint.ways import NOBODY, Passes, Passing, passes_of, passing_of, with_strays

if TYPE_CHECKING:
    from detlint.run import Run


class Followed(msgspec.Struct, array_like=True):
    """What following one entry point gave."""

    outcome: Outcome
    sites: dict[str, frozenset[int]]
    """The sites that it passes and that a rule knows, by module."""
    seeded: dict[str, frozenset[int]]
    """Those that make a generator object with a seed, by module."""
    visited: frozenset[str]
    """The files that it runs functions of, and those of which something is told by its place."""
    imported: frozenset[str]
    """Those besides whose top level it goes through itself."""
    findings: list[Finding]
    trains: bool = False
    """Whether it trains, or starts in a file that speaks of it."""
    silent: dict[str, frozenset[int]] = {}
    """The sites that draw nothing, by what it hands them, by module."""


class Judged(msgspec.Struct, array_like=True):
    """What judging one module gave."""

    findings: list[Finding]
    varies: bool = False
    """Whether it may be another with any run that passes the module, whatever that passes there."""
    open: bool = False
    """Whether it may be another where a run that trains comes to the module by imports, or none does."""


class Known(OfProgram):
    """What is known of a program.

    Args:
        storage: where it is kept; None: only in memory.
    """

    def __init__(self, storage: Storage | None = None) -> None:
        super().__init__(storage)
        self.program: Run
        """Computes the answers."""
        self.state = State()
        """The program when they held."""
        self.packed: Packed | None = None
        """The imports of that as they were written out."""
        if self.aside:
            try:
                self.state, self.packed = decode(self.aside)
            except (msgspec.DecodeError, UnicodeDecodeError, IndexError):
                self.distrust()

    def rest_on(self, files: Iterable[str], tops: Iterable[str]) -> None:
        """Note what the answer that is being computed rests on: what some files say, but for the inside of their functions, and what
        importing some does."""
        for path in files:
            facts(self, path)
        for path in tops:
            top(self, path)

    def looked_into(self, noted: Iterable[int]) -> dict[str, dict[int, None]]:
        """Of what was asked, the marks that stand for what the IR says inside of functions, by file."""
        found = dict[str, dict[int, None]]()
        for node in noted:
            asked, key = self.name_of(node)
            if asked in (body, part, saying):
                found.setdefault(key[0], {})[node] = None
        return found

    def move(self, files: Mapping[str, Lines]) -> None:
        """Take it that an edit has only moved lines in some files."""
        parts = [key for key in self.marked(part) if key[0] in files]
        whole = [(one, (path,)) for path in files for one in (body, facts, top)]
        names = self.resting_on([*whole, *((part, key) for key in parts)])
        for asked, key in names:
            said: Judged | list[Followed] | Top | Brief | None = self.before(asked, *key)
            if isinstance(said, Top | Brief):  # which say no places
                self.restate((asked, key), said)
                continue
            new = [_moved(one, files) for one in (said if isinstance(said, list) else [said]) if one is not None]
            if said is None or None in new:
                self.restate((asked, key), None)
            else:
                self.restate((asked, key), new if isinstance(said, list) else new[0])

    def keep(self) -> None:
        """Write all of it to the storage."""
        packed = self.packed  # of the same imports, as long as nobody has put others there
        try:
            self.aside = encode(self.state, packed)
        except UnicodeEncodeError:  # a file name that is no text: judged anew each time
            return
        self.save()


@query(sorts=True)
def followed(db: Database, start: str) -> list[Followed]:
    """What following the runs that start in a file gave."""
    return _known(db).program.follow(start)


@query(sorts=True)
def said(db: Database, start: str) -> list[Finding]:
    """What the runs that start in a file say: a small part of what following them gave, and all that a report asks for."""
    return [finding for run in followed(db, start) for finding in run.findings]


@query
def imported(db: Database, path: str) -> Top | None:
    """What importing a file does; None for one that can't be read."""
    return _known(db).program.look(path)


@query
def passes(db: Database, start: str) -> Passes:
    """What the runs that start in a file are to the files that they pass."""
    return passes_of(followed(db, start))


@query
def group(db: Database, path: str) -> str:
    """The group of a file."""
    linked(db)
    return _known(db).program.groups.of(path)


@query
def passing(db: Database, group: str) -> Passing:
    """What the runs that come to a group are to its files."""
    linked(db)
    groups = _known(db).program.groups
    return passing_of([passes(db, start) for start in groups.starts(group)], groups.members(group))


@query
def astray(db: Database, start: str) -> tuple[str, ...]:
    """The files that runs from a file pass although no imports lead there: by a name that is put together."""
    linked(db)
    groups = _known(db).program.groups
    return tuple(path for path in passes(db, start).ways if not groups.reaches(start, path))


@query
def strays(db: Database) -> dict[str, list[str]]:
    """Files -> those whose runs pass them although no imports lead there."""
    found: dict[str, list[str]] = {}
    for start in followable(db):
        for path in astray(db, start):
            found.setdefault(path, []).append(start)
    return found


@query
def way(db: Database, path: str) -> tuple[bytes, bool, str, str]:
    """The ways of runs through a file that pass something there, and whether runs end before they come to it."""
    found = passing_at(db, path)
    digest, tells = found.ways.get(path, (b"", False))
    return digest if tells else b"", found.leaves, found.stop, found.broken


@query
def passages(db: Database, path: str) -> bytes:
    """All ways of runs through a file."""
    return passing_at(db, path).ways.get(path, (b"", False))[0]


@query
def trained(db: Database, path: str) -> bool:
    """Whether a run that trains comes to a file."""
    return passing_at(db, path).trained


def passing_at(db: Database, path: str) -> Passing:
    """What all runs that come to a file are to it, as far as it tells them from others."""
    own, others = group(db, path), strays(db).get(path, ())
    known = passing(db, own) if own != NOBODY else Passing()
    return with_strays(known, [passes(db, start) for start in others], path) if others else known


@query
def judged(db: Database, path: str) -> Judged:
    """What judging a file gave."""
    run = _known(db).program
    way(db, path)
    found = run.judge_one(path)
    if found.varies:
        passages(db, path)
    if found.open or run.runs_at(path).leaves:
        trained(db, path)
    return found


def ways_at(db: Database, path: str) -> None:
    """Find out all of these answers about one file."""
    way(db, path)
    passages(db, path)
    trained(db, path)


def _known(db: Database) -> Known:
    assert isinstance(db, Known)
    return db


def _moved(answer: Followed | Judged, files: Mapping[str, Lines]) -> Followed | Judged | None:
    """An answer with the places that it has now; None where it names lines in so many words."""
    if isinstance(answer, Followed) and LINE in answer.outcome.stops:
        return None
    findings = moved(answer.findings, files)
    return msgspec.structs.replace(answer, findings=findings) if findings is not None else None
