"""The GitHub Action: what GitHub checks of `action.yml`, and its scripts, run by bash with the inputs set."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest
import yaml
from conftest import REPOSITORY

from detlint.cli import main

Project = Callable[..., Path]

ACTION: dict[str, Any] = yaml.safe_load((REPOSITORY / "action.yml").read_text("utf-8"))
INSTALL, CHECK = ACTION["runs"]["steps"]
INPUT = re.compile(r"\$\{\{ inputs\.([\w-]+) \}\}")
DRAW = "import torch\n\nprint(torch.rand(3))\n"

needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")


def test_keys_are_those_that_github_knows() -> None:
    assert (
        {"name", "description", "runs"}
        <= ACTION.keys()
        <= {"name", "author", "description", "inputs", "outputs", "runs", "branding"}
    )
    assert ACTION["runs"].keys() == {"using", "steps"}
    assert ACTION["runs"]["using"] == "composite"
    assert ACTION["branding"].keys() == {"icon", "color"}
    for name, one in ACTION["inputs"].items():
        assert re.fullmatch(r"[a-z][a-z-]*", name)
        assert {"description"} <= one.keys() <= {"description", "default", "required"}
        assert isinstance(one["default"], str)
    for step in ACTION["runs"]["steps"]:
        assert step.keys() == {"name", "shell", "env", "run"}  # nothing of others is used, and a shell is named


def test_every_input_is_used_and_none_is_pasted_into_a_script() -> None:
    used = [name for step in ACTION["runs"]["steps"] for value in step["env"].values() for name in INPUT.findall(value)]
    assert sorted(used) == sorted(ACTION["inputs"]) == ["args", "output-format", "paths", "version"]
    for step in ACTION["runs"]["steps"]:
        assert all(INPUT.fullmatch(value) for value in step["env"].values())
        assert "${{" not in step["run"]


def step(which: dict[str, Any], folder: Path, temporary: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """Run a step as GitHub does: `bash --noprofile --norc -eo pipefail FILE`."""
    given = {name.replace("_", "-"): value for name, value in inputs.items()}
    values = {name: given.get(name, one["default"]) for name, one in ACTION["inputs"].items()}
    variables = {name: INPUT.sub(lambda found: values[found[1]], value) for name, value in which["env"].items()}
    file = temporary / "script.sh"
    file.write_text(which["run"])
    environment = {**os.environ, **variables, "RUNNER_TEMP": str(temporary), "GITHUB_ACTION_PATH": str(REPOSITORY)}
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(file)]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)


@pytest.fixture
def temporary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The runner's folder, in which detlint is installed: as this one."""
    folder = tmp_path_factory.mktemp("runner with blank")
    bin_ = folder / "detlint" / "bin"
    bin_.mkdir(parents=True)
    for name, rest in (("python", ""), ("detlint", "-m detlint")):
        (bin_ / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {rest} "$@"\n')
        (bin_ / name).chmod(0o755)
    return folder


@needs_bash
def test_annotations(project: Project, temporary: Path) -> None:
    folder = project(**{"train.py": DRAW})
    result = step(CHECK, folder, temporary)
    assert result.returncode == 1, result.stderr
    assert re.search(r"^::error .*file=train.py,line=3.*DET104", result.stdout, re.M)
    assert step(CHECK, folder, temporary, args="--exit-zero").returncode == 0


@needs_bash
def test_paths_and_arguments(project: Project, temporary: Path) -> None:
    folder = project(**{"a b.py": DRAW, "-c.py": DRAW, "d.py": DRAW, "e f/g.py": DRAW})
    result = step(CHECK, folder, temporary, paths="a b.py\n-c.py\n\ne f\n", output_format="concise")
    assert [line.partition(":")[0] for line in result.stdout.splitlines()] == ["-c.py", "a b.py", "e f/g.py"]
    result = step(
        CHECK,
        folder,
        temporary,
        args="--exclude 'a b.py,-c.py' --output-file \"o p.json\"\n--no-cache",
        output_format="json",
    )
    assert (result.returncode, result.stdout) == (1, "")
    assert (folder / "o p.json").read_text().count('"DET104"') == 2


@needs_bash
def test_what_inputs_say_is_not_run(project: Project, temporary: Path) -> None:
    folder = project(**{"train.py": "x = 1\n"})
    evil = "$(touch pwned) `touch pwned`; touch pwned"
    for name in ("paths", "args", "output_format"):
        assert step(CHECK, folder, temporary, **{name: evil}).returncode == 2
    assert not (folder / "pwned").exists()


@needs_bash
def test_a_quote_that_is_left_open_is_an_error(project: Project, temporary: Path) -> None:
    folder = project(**{"train.py": "x = 1\n"})
    result = step(CHECK, folder, temporary, args="--exclude 'a")
    assert result.returncode == 1
    assert "No closing quotation" in result.stderr


@needs_bash
@pytest.mark.parametrize(("version", "asked"), [("", f"Processing {REPOSITORY}"), ("99.1", "detlint==99.1")])
def test_what_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, asked: str) -> None:
    """pip is asked for the right thing, and has no index here to get it from."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_QUIET", "0")
    verbose = {**INSTALL, "run": INSTALL["run"].replace("--quiet", "--verbose")}
    result = step(verbose, tmp_path, tmp_path, version=version)
    assert result.returncode == 1
    assert asked in result.stdout + result.stderr
    assert list((tmp_path / "detlint").glob("*/python*"))


def test_the_recipes_use_inputs_that_there_are() -> None:
    page = (REPOSITORY / "docs" / "ci.md").read_text("utf-8")
    blocks = re.findall(r"^```yaml\n(.*?)^```$", page, re.M | re.S)
    used = [one for block in blocks for one in _uses(yaml.safe_load(block)) if "/detlint@" in one["uses"]]
    assert len(used) == 4
    for one in used:
        assert one.get("with", {}).keys() <= ACTION["inputs"].keys()
        arguments = shlex.split(INPUT.sub("", one.get("with", {}).get("args", "")))
        main.commands["check"].make_context("check", [*arguments, "."], click.Context(main))  # an unknown option raises
    table = re.findall(r"^\| `([\w-]+)` \| (?:`(.*?)` )?\|", page, re.M)
    assert dict(table) == {name: one["default"] for name, one in ACTION["inputs"].items()}


def _uses(found: Any) -> Iterator[dict[str, Any]]:
    """The steps that use something."""
    if isinstance(found, dict):
        if "uses" in found:
            yield found
        found = [*found.values()]
    if isinstance(found, list):
        for one in found:
            yield from _uses(one)
