"""What a run has found out of a program, kept so that the next one judges anew only what a change can touch."""

from __future__ import annotations

import msgspec

from detlint.checks.finding import Finding
from detlint.facts.model import Head
from detlint.facts.store import File
from detlint.facts.yaml_text import is_yaml
from detlint.program.outcome import Outcome


class Row(msgspec.Struct, array_like=True):
    """A file as it was."""

    size: int
    changed: int
    key: bytes
    inside: bool
    """Whether it is one of the program's own, rather than something that they import."""
    head: Head | None
    """Without what only linking asks of a file, which links that were noted make needless."""

    def holds(self, file: File, before: int) -> bool:
        """Whether a file of this size, time of change and dotted name is surely still the same, if it was looked at `before`.

        What the gate keeps out has no name here; a YAML file has the same one wherever it stands.
        """
        same_name = is_yaml(file.path) if self.head is None else self.head.module == file.module
        return same_name and (self.size, self.changed) == (file.size, file.changed) and file.changed < before


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
    """Those besides whose top level it runs."""
    findings: list[Finding]


class Judged(msgspec.Struct, array_like=True):
    """What judging one module gave."""

    findings: list[Finding]
    opened: tuple[str, ...]
    """The other files whose bodies that looked into."""
    varies: bool = False
    """Whether it may be another with any run that passes the module, whatever that passes there."""
    asked: tuple[str, ...] = ()
    """The names whose users were searched for, in whatever files."""


class Record(msgspec.Struct, array_like=True):
    """A program as it was when it was last checked, under the same settings."""

    files: dict[str, Row] = {}
    imports: dict[str, tuple[str, ...]] = {}
    followed: dict[str, list[Followed]] = {}
    judged: dict[str, Judged] = {}
    others: dict[str, bytes] = {}
    """Keys of files that do not belong to the program, but that names led into."""
    folders: dict[str, tuple[int, str]] = {}
    """Folders whose listing was consulted: when they were last changed, and what was in them."""
    written: int = 0
    """When it was made, in nanoseconds: a file changed at about that time may have changed since."""


DECODER = msgspec.msgpack.Decoder(Record)
