"""Every rule against its fixtures: what is marked is found, and nothing else.

`fixtures/rules/DET403/bad*.py` mark lines with `# expect: DET403`, optionally with a severity; `good*.py` mark nothing
(or what another shape in the file must give). `fixtures/traps/*.py` look wrong and are right: all rules are on.
Options stand in the first lines: `# profile: align`, `# target: ascend`, `# versions: torch = 1.12`, `# select: DET201`.
The cells of a notebook are marked like files, and so are YAML files, whose comments look the same.
"""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import REPOSITORY, Told, once, told

FIXTURES = REPOSITORY / "fixtures"
SUFFIXES = (".py", ".ipynb", ".yaml", ".yml", ".cu", ".cpp", ".c", ".cl")
RULES = sorted(path for path in (FIXTURES / "rules").glob("*/*") if path.suffix in SUFFIXES)
TRAPS = sorted(path for path in (FIXTURES / "traps").glob("*") if path.suffix in SUFFIXES)
EXPECT = re.compile(r"(?:#|//)\s*expect:\s*(?P<list>DET\d{3}.*)")
OPTION = re.compile(r"(?:#|//)\s*(?P<key>profile|target|versions|select):\s*(?P<value>.+)")

Mark = tuple[str, str]


def texts(path: Path) -> dict[str, str]:
    """The source under "", or those of a notebook's cells under `cell 3:`, counting cells of all kinds."""
    text = path.read_text("utf-8")
    if path.suffix != ".ipynb":
        return {"": text}
    cells = json.loads(text)["cells"]
    return {f"cell {i}:": "".join(cell["source"]) for i, cell in enumerate(cells, 1) if cell["cell_type"] == "code"}


def marks(path: Path) -> dict[Mark, list[str]]:
    """(line, code) -> the severities expected there, "" for any. A line is `12` or `cell 3:12`."""
    expected: dict[Mark, list[str]] = {}
    for cell, text in texts(path).items():
        for number, line in enumerate(text.splitlines(), 1):
            if match := EXPECT.search(line):
                for item in match["list"].split(","):
                    code, _, severity = item.strip().partition(" ")
                    expected.setdefault((f"{cell}{number}", code), []).append(severity.strip())
    return expected


def place(row: Told) -> str:
    """The line of a finding, as in marks."""
    return f"cell {row.cell}:{row.line}" if row.cell is not None else f"{row.line}"


def options(path: Path) -> dict[str, str]:
    """What a file, or a notebook's first cell, asks for."""
    lines = next(iter(texts(path).values()), "").splitlines()[:8]
    return {match["key"]: match["value"].strip() for line in lines if (match := OPTION.match(line))}


def arguments(path: Path, folder: Path, default_select: str) -> list[str | Path]:
    """The command line that a fixture asks for.

    Args:
        folder: where a configuration is written, if it asks for one.
    """
    chosen = {"select": default_select, **options(path)}
    args: list[str | Path] = ["--select", chosen["select"].replace(" ", ""), path]
    if "profile" in chosen:
        args += ["--profile", chosen["profile"]]
    for target in chosen.get("target", "").split(","):
        if target.strip():
            args += ["--target", target.strip()]
    if "versions" in chosen:
        pairs = [pair.split("=") for pair in chosen["versions"].split(",")]
        config = folder / "detlint.toml"
        config.write_text("[versions]\n" + "".join(f'{k.strip()} = "{v.strip()}"\n' for k, v in pairs))
        args += ["--config", config]
    return args


def default_select(path: Path) -> str:
    """What a fixture is checked for that doesn't say it."""
    return path.parent.name if path.parent.parent.name == "rules" else "DET"


def judged(path: Path, folder: Path, change: Callable[[Path], object] | None = None) -> tuple[Path, list[Told]]:
    """A copy of a fixture, as a program of its own, and what is found in it.

    Args:
        folder: a new one, for the copy.
        change: done to the copy before.
    """
    alone = folder / "alone" / path.name
    alone.parent.mkdir(parents=True)
    shutil.copy(path, alone)
    asked = arguments(alone, folder, default_select(path))
    if change:
        change(alone)
    return alone, told(*asked)


def compare(path: Path, shared: Path) -> None:
    expected = marks(path)
    _, rows = once(shared, path, judged)
    found = [((place(row), row.code), row.level) for row in rows]
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
def test_rule(path: Path, shared: Path) -> None:
    compare(path, shared)


@pytest.mark.parametrize("path", TRAPS, ids=lambda path: path.stem)
def test_trap(path: Path, shared: Path) -> None:
    compare(path, shared)


def test_fixtures_exist() -> None:
    assert len(RULES) >= 60
    assert len(TRAPS) >= 20
