"""The tables of the documentation, held against what the program itself knows."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import click
import msgspec
import pytest
from conftest import REPOSITORY, detlint

from detlint import interrupts
from detlint.__main__ import FAULT
from detlint.catalog import Condition, Entry, Factory, Handing, Launcher, Recipe, Rule, SettingsFile, Switch, load
from detlint.cli import main
from detlint.config import Settings
from detlint.fixes.rewrites import KINDS
from detlint.report.formats import MODULES
from detlint.report.rules import every

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

README = (REPOSITORY / "README.md").read_text("utf-8")
DOCS = REPOSITORY / "docs"


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


def test_rules() -> None:
    """In the order of codes, with the catalog's own words."""
    level = {"design": "by design", "align": "note, `align`: error", "compare": "note, `align`: warning"}
    expected = [[rule.code, rule.name, rule.summary, level.get(rule.level, rule.level)] for rule in every(load())]
    assert rows(README, "code", "name", "what it finds", "level") == expected


def test_options() -> None:
    """Every option of `check` is in README's table, if only as its opposite, and no other."""
    told = {word for names, _ in rows(README, "option", "meaning") for word in words(names) if word.startswith("-")}
    options = [
        option for option in main.commands["check"].params if isinstance(option, click.Option) and not option.hidden
    ]
    assert [option.opts for option in options if not told & {*option.opts, *option.secondary_opts}] == []
    assert told <= {name for option in options for name in (*option.opts, *option.secondary_opts)}


def test_exit_codes(tmp_path: Path) -> None:
    (tmp_path / "fine.py").write_text("x = 1\n")
    (tmp_path / "wrong.py").write_text("import random\nrandom.random()\n")
    commands = ([tmp_path / "fine.py"], [tmp_path / "wrong.py"], ["--no-such-option"])
    codes = [detlint("check", "--isolated", "--no-cache", *command).exit_code for command in commands]
    codes += [FAULT, interrupts.CODE]
    assert [code for code, _ in rows(README, "exit code", "meaning")] == [str(code) for code in codes]


def test_formats() -> None:
    told = {word for row in rows((DOCS / "formats.md").read_text("utf-8"), "name", "for") for word in words(row[0])}
    assert told == {*MODULES}
    assert {*MODULES} - words(section(README, "## Output")) == {"text"}, "`full` under its old name"


def test_settings(tmp_path: Path) -> None:
    """README has an example of every key, which can be read; configuration.md explains every key."""
    text = section(README, "## Configuration").partition("```toml\n")[2].partition("```")[0]
    example = tomllib.loads(text)["tool"]["detlint"]
    keys = {*Settings.__struct_encode_fields__}
    assert keys - {*example} == {"baseline", "fix-style", "runtime"}
    msgspec.convert(example, Settings)
    explained = (DOCS / "configuration.md").read_text("utf-8")
    assert (
        keys - {key for line in re.findall(r"^- (`.*?`)[: ]*(?:\(|$| [A-Z])", explained, re.M) for key in words(line)}
        == set()
    )


@pytest.mark.parametrize("kind", [Entry, Condition, Handing, Recipe, Rule, Switch, Factory, SettingsFile, Launcher])
def test_catalog_keys(kind: type[msgspec.Struct]) -> None:
    assert {*kind.__struct_encode_fields__} - words((DOCS / "catalog.md").read_text("utf-8")) == set()


def test_recipes() -> None:
    assert {*KINDS} <= {
        word for row in rows((DOCS / "catalog.md").read_text("utf-8"), "kind", "what it does") for word in words(row[0])
    }
