"""The levels: one table, from what a rule says and what is known of a place to a severity. Nothing else sets or changes one, but for what
the settings say themselves (`severity`).
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

import msgspec

from detlint.catalog import Rule
from detlint.checks.finding import Certainty, Finding, Severity
from detlint.config import Settings

Own = Literal["error", "warning", "note", "design", "align", "compare"]
"""What a rule, or an entry of the catalog, says of itself: `design` is random by design, `align` and `compare` matter where back ends are
compared, as an error and as a warning."""
OPERATORS: Final = 4
"""The families from here on are about operators, devices and switches: all of them matter where back ends are compared."""
ALIGN: Final = "align"


class Case(NamedTuple):
    """What decides the level of a finding."""

    own: Own
    family: int
    """The first digit of its code."""
    profile: str
    certainty: Certainty = "certain"
    unseeded: bool = False
    """Whether a run comes there that leaves its stream unseeded."""
    in_test: bool = False
    unused: bool = False
    """Whether nothing of a run trains or evaluates with it, or others decide whether any does."""


class Level(NamedTuple):
    """A severity, how certain the finding is, and the row of the table that decided."""

    severity: Severity
    certainty: Certainty
    row: str


_OWN: Final[dict[Own, tuple[Severity, str]]] = {
    "error": ("error", "the rule's own level"),
    "warning": ("warning", "the rule's own level"),
    "note": ("note", "the rule's own level"),
    "design": ("note", "random by design, where every run that comes here seeds its streams, or the caller decides"),
    "align": ("note", "it matters where runs on two back ends are compared"),
    "compare": ("note", "it matters where runs on two back ends are compared"),
}


def level(case: Case) -> Level:
    """The level of a finding, by the table: the first row that holds decides, and a later one may lower what the one before it gives."""
    severity, row = _OWN[case.own]
    align = case.profile == ALIGN
    if align and (case.own in ("design", "align") or (case.own == "warning" and case.family >= OPERATORS)):
        severity, row = "error", "two back ends are compared (profile align)"
    elif align and case.own == "compare":
        severity, row = "warning", "two back ends are compared (profile align)"
    elif case.own == "design" and case.unseeded:
        severity, row = "warning", "random by design, and a run comes here whose streams are unseeded"
    lower = (
        (case.certainty == "possible", "it is no more than possible"),
        (case.in_test, "it stands in a test"),
        (case.unused, "nothing of a run trains or evaluates with it, or others decide that"),
    )
    reason = next((reason for holds, reason in lower if holds), "")
    if reason and severity != "note":
        return Level("note", case.certainty, f"{row}: {severity}; a note, as {reason}")
    if case.certainty == "likely" and severity == "error" and not align:
        return Level("warning", case.certainty, f"{row}: error; a warning, as it is likely, not certain")
    return Level(severity, case.certainty, row)


def case_of(
    rule: Rule,
    settings: Settings,
    own: str = "",
    certainty: Certainty = "certain",
    *,
    in_test: bool,
    unused: bool = False,
) -> Case:
    """The case of a finding of a rule that no site's entry knows more of.

    Args:
        own: what stands for the rule's own level; "" for that.
    """
    said: Own = own or rule.level  # type: ignore[assignment]
    return Case(said, rule.family, settings.profile, certainty, in_test=in_test, unused=unused)


def as_note(finding: Finding) -> Finding:
    """A finding by the row of what nothing of a run trains or evaluates with."""
    return msgspec.structs.replace(finding, severity="note", certainty="possible")
