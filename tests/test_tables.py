"""The tables of the documentation, held against what the program itself knows."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import msgspec
import pytest
from conftest import REPOSITORY, detlint

from detlint import interrupts
from detlint.__main__ import FAULT
from detlint.catalog import Condition, Entry, Factory, Handing, Launcher, Recipe, Rule, SettingsFile, Switch
from detlint.config import Settings
from detlint.fixes.rewrites import KINDS
from detlint.formats import MODULES

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

DOCS = REPOSITORY / "docs"
CONFIGURATION = (DOCS / "configuration.md").read_text("utf-8")
FORMATS = (DOCS / "formats.md").read_text("utf-8")


def rows(text: str, *head: str) -> list[list[str]]:
    """The cells of the rows of the table with this head.

    A pipe within a cell is written `\\|`.
    """
    lines = iter(text.splitlines())
    found = []
    for line in lines:
        if cells(line) == [*head]:
            next(lines)  # the rule below the head
            break
    for line in lines:
        if not line.startswith("|"):
            break
        found.append(cells(line))
    assert found, f"no table {head}"
    return found


def cells(line: str) -> list[str]:
    return [cell.strip().replace(r"\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def words(text: str) -> set[str]:
    """The words in backquotes, not those of blocks of code."""
    prose = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    return {name for code in re.findall(r"`([^`]+)`", prose) for name in re.split("[ ,]+", code)}


def section(text: str, begin: str) -> str:
    """A section, from its heading to the next of the same level."""
    _, found, rest = text.partition(f"\n{begin}")
    assert found, begin
    return re.split(rf"\n{begin.partition(' ')[0]} ", rest)[0]


def test_exit_codes(tmp_path: Path) -> None:
    (tmp_path / "fine.py").write_text("x = 1\n")
    (tmp_path / "wrong.py").write_text("import random\nrandom.random()\n")
    commands = ([tmp_path / "fine.py"], [tmp_path / "wrong.py"], ["--no-such-option"])
    codes = [detlint("check", "--isolated", "--no-cache", *command).exit_code for command in commands]
    codes += [FAULT, interrupts.CODE]
    assert [code for code, _ in rows(FORMATS, "exit code", "meaning")] == [str(code) for code in codes]


def test_formats() -> None:
    assert {word for row in rows(FORMATS, "name", "for") for word in words(row[0])} == {*MODULES}


def test_settings(tmp_path: Path) -> None:
    """configuration.md has an example of every key, which can be read, and explains each."""
    text = section(CONFIGURATION, "## All keys").partition("```toml\n")[2].partition("```")[0]
    example = tomllib.loads(text)["tool"]["detlint"]
    keys = {*Settings.__struct_encode_fields__}
    assert keys - {*example} == {"baseline", "fix-style", "runtime"}
    msgspec.convert(example, Settings)
    assert (
        keys
        - {key for line in re.findall(r"^- (`.*?`)[: ]*(?:\(|$| [A-Z])", CONFIGURATION, re.M) for key in words(line)}
        == set()
    )


@pytest.mark.parametrize("kind", [Entry, Condition, Handing, Recipe, Rule, Switch, Factory, SettingsFile, Launcher])
def test_catalog_keys(kind: type[msgspec.Struct]) -> None:
    assert {*kind.__struct_encode_fields__} - words((DOCS / "catalog.md").read_text("utf-8")) == set()


def test_recipes() -> None:
    assert {*KINDS} <= {
        word for row in rows((DOCS / "catalog.md").read_text("utf-8"), "kind", "what it does") for word in words(row[0])
    }
