"""The table of levels, as `docs/levels.md` has it."""

from __future__ import annotations

import pytest

from detlint.checks.levels import Case, level

ERROR, WARNING, NOTE = "error", "warning", "note"


@pytest.mark.parametrize(
    ("case", "reproduce", "align"),
    [
        (Case("error", 4, ""), ERROR, ERROR),
        (Case("error", 4, "", "likely"), WARNING, ERROR),
        (Case("error", 4, "", "possible"), NOTE, NOTE),
        (Case("error", 1, "", in_test=True), NOTE, NOTE),
        (Case("error", 1, "", unused=True), NOTE, NOTE),
        (Case("warning", 1, ""), WARNING, WARNING),
        (Case("warning", 6, ""), WARNING, ERROR),
        (Case("warning", 6, "", "likely"), WARNING, ERROR),
        (Case("note", 4, ""), NOTE, NOTE),
        (Case("design", 2, ""), NOTE, ERROR),
        (Case("design", 2, "", unseeded=True), WARNING, ERROR),
        (Case("design", 3, "", "likely"), NOTE, ERROR),
        (Case("design", 3, "", "possible", unseeded=True), NOTE, NOTE),
        (Case("align", 5, ""), NOTE, ERROR),
    ],
)
def test_level(case: Case, reproduce: str, align: str) -> None:
    assert level(case._replace(profile="reproduce")).severity == reproduce
    assert level(case._replace(profile="align")).severity == align


def test_the_row_says_what_decided() -> None:
    assert "likely" in level(Case("error", 4, "reproduce", "likely")).row
    assert "test" in level(Case("error", 4, "reproduce", in_test=True)).row
    assert "back ends" in level(Case("design", 2, "align")).row
