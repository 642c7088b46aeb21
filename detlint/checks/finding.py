"""A finding: rule, place, message, the path to it, and what to do."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from detlint.catalog import Recipe
from detlint.model.sites.records import Span
from detlint.sources.parse import Cell

ANOTHER_RUN: Final = "another run starts here"
"""What a step says that stands for one more entry point with the same finding."""
PROCESS: Final = "a process starts here"
"""What a step says with which a new process begins, whose streams are its own."""
LAUNCH: Final = "a launch sets variables here"
"""What a step says that stands for a launch file which sets switches, and not this one."""
Severity = Literal["error", "warning", "note"]
ORDER: Final[dict[str, int]] = {"note": 0, "warning": 1, "error": 2}
Certainty = Literal["certain", "likely", "possible"]
"""Whether the run comes there and the condition holds; whether one of them rests on an assumption; or whether it may be so at most."""


class Step(msgspec.Struct, frozen=True, array_like=True):
    """A place on the way to a finding, or one that belongs to it."""

    path: str
    span: Span
    message: str


class Finding(msgspec.Struct, frozen=True, array_like=True):
    """What is reported. `argument` is the parameter that decided, for marking its own line."""

    path: str
    span: Span
    code: str
    name: str
    severity: Severity
    message: str
    remedy: str = ""
    targets: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    argument: str = ""
    fix: Recipe | None = None
    api: str = ""
    certainty: Certainty = "certain"
    others: tuple[Step, ...] = ()
    """The places that the message counts: "(and 3 more)"."""

    @property
    def family(self) -> int:
        """The first digit of the code."""
        return int(self.code[3])

    def sort_key(self) -> tuple[str, int, int, str, str]:
        """By place, then code: the order of every report."""
        return (self.path, self.span.line, self.span.column, self.code, self.message)

    def with_severity(self, severity: Severity) -> Finding:
        """The same finding, judged differently."""
        return msgspec.structs.replace(self, severity=severity)


class Report(msgspec.Struct):
    """The findings of a run, and what was looked at."""

    findings: list[Finding] = []
    paths: frozenset[str] = frozenset()
    """The files that were checked, absolute."""
    program: frozenset[str] = frozenset()
    """The files that they are judged with, themselves included."""
    files: int = 0
    lines: int = 0
    suppressed: int = 0
    baselined: int = 0
    """How many more there are that the baseline has."""
    stale: int = 0
    """How many the baseline has that are found no more."""
    earlier: int = 0
    """How many more there are that were there before a change."""
    fixed: int = 0
    judged: int = 0
    """Of how many files what is found in them was found anew; nothing has touched what was known of the others."""
    followed: int = 0
    """In how many files runs start that were followed anew."""
    seconds: float = 0.0
    cells: dict[str, tuple[Cell, ...]] = {}
    """The cells of the notebooks, by path: all positions in them are those in the joined code."""
    texts: dict[str, bytes] = {}
    """What standard input gave, by path: it is not what the disk has."""
    keys: dict[str, tuple[bytes, str, bool]] = {}
    """Of the files that findings are in or lead to: what their content is known by, and what that was made with."""
    unfixed: dict[Finding, str] = {}
    """Why findings were not fixed, where that was asked for."""

    def saw(self, path: str, data: bytes) -> bool:
        """Whether a file had this content when it was checked; true of files that no finding leads to."""
        from detlint.cache import content_key

        known = self.keys.get(path)
        return known is None or content_key(data, *known[1:]) == known[0]
