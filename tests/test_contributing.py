"""CONTRIBUTING.md is true: its recipe, followed literally, gives a rule; its map is that of the code; its commands exist."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import REPOSITORY
from test_docs import BLOCK
from test_tables import rows, section

from detlint.toml import parse

TEXT = (REPOSITORY / "CONTRIBUTING.md").read_text("utf-8")
RECIPE = section(TEXT, "## A rule in ten minutes")
CODE = "DET399"
FOLDERS = ("detlint", "docs", "rules", "tests")
FILES = ("CHANGELOG.md", "CONTRIBUTING.md", "README.md", "pyproject.toml")
LINKED = ("fixtures/programs", "fixtures/traps")
"""What the recipe doesn't touch, and is large. Other rules' fixtures aren't asked for."""
PACKAGE = REPOSITORY / "detlint"
ROOMS = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}


def blocks(language: str) -> list[str]:
    """The blocks of the recipe that belong to no file."""
    return [block["text"] for block in BLOCK.finditer(RECIPE) if block["language"] == language and not block["file"]]


def insert(path: Path, before: str, text: str) -> None:
    """Put text before the first line that begins so."""
    old = path.read_text("utf-8")
    head, found, tail = old.partition(f"\n{before}")
    assert found, f"{path.name} has no line {before}"
    path.write_text(f"{head}\n{text}{found[1:]}{tail}", "utf-8")


def shell(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A command of the page, under this Python, in a copy of the repository."""
    name, *arguments = shlex.split(line)
    command = [sys.executable, *(["-m", "detlint"] if name == "detlint" else []), *arguments]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])}
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, env=environment, timeout=600, check=False
    )


@pytest.fixture
def followed(tmp_path: Path) -> Path:
    """A copy of the repository in which everything is done that the recipe says, but for installing it and testing."""
    for name in FOLDERS:
        shutil.copytree(REPOSITORY / name, tmp_path / name, ignore=shutil.ignore_patterns("end_to_end"))
    for name in FILES:
        shutil.copy2(REPOSITORY / name, tmp_path / name)
    (tmp_path / "fixtures").mkdir()
    for name in LINKED:
        (tmp_path / name).symlink_to(REPOSITORY / name)
    (rule,), (line,) = blocks("toml"), blocks("text")
    insert(tmp_path / "rules" / "rules.toml", "# Operators", f"{rule}\n")
    insert(tmp_path / "CHANGELOG.md", "- ", line)
    for block in BLOCK.finditer(RECIPE):
        if block["file"]:
            path = tmp_path / block["file"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block["text"], "utf-8")
    return tmp_path


def test_the_recipe_gives_a_rule(followed: Path) -> None:
    (shown,), (_, testing) = blocks("console"), blocks("sh")
    command, _, output = shown.removeprefix("$ ").partition("\n")
    assert shell(command, followed).stdout == output
    for line in testing.splitlines():
        result = shell(line, followed)
        assert result.returncode == 0, f"{line}\n{result.stdout}{result.stderr}"


def test_the_map_is_that_of_the_code() -> None:
    paths = [name.strip("`") for name, _ in rows(TEXT, "room", "what for")]
    assert [path for path in paths if not (REPOSITORY / path).is_dir()] == []
    told = [Path(path).name for path in paths if path.startswith("detlint/")]
    assert {*told} == ROOMS
    project = parse((REPOSITORY / "pyproject.toml").read_bytes())
    layers = project["tool"]["importlinter"]["contracts"][0]["layers"]
    place = {name.strip().rpartition(".")[2]: -n for n, layer in enumerate(layers) for name in layer.split("|")}
    linter = [room for room in told if room in place]
    assert linter == sorted(linter, key=place.__getitem__)
    assert place.keys() <= {*told}


def test_what_it_names_exists() -> None:
    commands = [command for _, command in rows(TEXT, "what", "command")]
    named = re.findall(r"\b(?:tests|tools|benchmarks|rules|fixtures|docs)/[\w./-]*\w/?", TEXT)
    assert len(commands) > 10
    placeholders = (CODE, "/CODE/", "rules/huggingface")
    named = [name for name in named if not any(word in name for word in placeholders)]
    assert [name for name in named if not (REPOSITORY / name).exists()] == []


def test_no_rule_has_the_code_of_the_recipe() -> None:
    assert CODE not in (REPOSITORY / "rules" / "rules.toml").read_text("utf-8")
    assert CODE in RECIPE
