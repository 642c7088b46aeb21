"""Every rule against its fixtures: what is marked is found, and nothing else.

`fixtures/rules/DET403/bad*.py` mark lines with `# expect: DET403`, optionally with a severity; `good*.py` mark nothing
(or what another shape in the file must give). `fixtures/traps/*.py` look wrong and are right: all rules are on.
Options stand in the first lines: `# profile: align`, `# target: ascend`, `# versions: torch = 1.12`, `# select: DET201`.
"""

from __future__ import annotations

import re
import shutil
from collections import Counter
from pathlib import Path

import pytest
from conftest import REPOSITORY, findings

FIXTURES = REPOSITORY / "fixtures"
RULES = sorted((FIXTURES / "rules").glob("*/*.py"))
TRAPS = sorted((FIXTURES / "traps").glob("*.py"))
EXPECT = re.compile(r"#\s*expect:\s*(?P<list>DET\d{3}.*)")
OPTION = re.compile(r"#\s*(?P<key>profile|target|versions|select):\s*(?P<value>.+)")

Mark = tuple[int, str]


def marks(text: str) -> dict[Mark, list[str]]:
    """(line, code) -> the severities expected there, "" for any."""
    expected: dict[Mark, list[str]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if match := EXPECT.search(line):
            for item in match["list"].split(","):
                code, _, severity = item.strip().partition(" ")
                expected.setdefault((number, code), []).append(severity.strip())
    return expected


def arguments(path: Path, text: str, tmp_path: Path, default_select: str) -> list[str | Path]:
    """The command line that a fixture asks for."""
    chosen: dict[str, str] = {"select": default_select}
    for line in text.splitlines()[:8]:
        if match := OPTION.match(line):
            chosen[match["key"]] = match["value"].strip()
    args: list[str | Path] = ["--select", chosen["select"].replace(" ", ""), path]
    if "profile" in chosen:
        args += ["--profile", chosen["profile"]]
    for target in chosen.get("target", "").split(","):
        if target.strip():
            args += ["--target", target.strip()]
    if "versions" in chosen:
        pairs = [pair.split("=") for pair in chosen["versions"].split(",")]
        config = tmp_path / "detlint.toml"
        config.write_text("[versions]\n" + "".join(f'{k.strip()} = "{v.strip()}"\n' for k, v in pairs))
        args += ["--config", config]
    return args


def compare(path: Path, tmp_path: Path, default_select: str) -> None:
    text = path.read_text("utf-8")
    expected = marks(text)
    alone = tmp_path / "alone" / path.name  # a program of its own
    alone.parent.mkdir()
    path = Path(shutil.copy(path, alone))
    found = [
        ((row["location"]["row"], row["code"]), row["severity"])
        for row in findings(*arguments(path, text, tmp_path, default_select))
    ]
    wrong = []
    counted = Counter(mark for mark, _ in found)
    for mark, severities in expected.items():
        if counted[mark] != len(severities):
            wrong.append(f"line {mark[0]}: expected {mark[1]} {len(severities)}x, found {counted[mark]}x")
        missing = [s for s in severities if s and counted[mark] and (mark, s) not in found]
        wrong += [f"line {mark[0]}: {mark[1]} is not a {severity}" for severity in missing]
    for mark, severity in found:
        if mark not in expected:
            wrong.append(f"line {mark[0]}: unexpected {mark[1]} ({severity})")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("path", RULES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_rule(path: Path, tmp_path: Path) -> None:
    compare(path, tmp_path, path.parent.name)


@pytest.mark.parametrize("path", TRAPS, ids=lambda path: path.stem)
def test_trap(path: Path, tmp_path: Path) -> None:
    compare(path, tmp_path, "DET")


def test_fixtures_exist() -> None:
    assert len(RULES) >= 60
    assert len(TRAPS) >= 20
