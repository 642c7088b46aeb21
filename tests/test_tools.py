"""The tools beside the package: the page that says what covers the guides, the comparison with installed libraries, and that of two
states of detlint."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import REPOSITORY

JAX = """
class Anything:
    def __getattr__(self, name):
        return self


def __getattr__(name):
    if name.startswith("_"):
        raise AttributeError(name)
    return Anything()


{}
"""
REST = ", 0 documented, 0 switch, 0 signature\n"
METADATA = "Metadata-Version: 2.1\nName: jax\nVersion: 0.10.2\n"


def tool(name: str, *arguments: str, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    places = [str(path)] if path is not None else []
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*places, str(REPOSITORY)])}
    command = [sys.executable, str(REPOSITORY / "tools" / name), *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment)


def library(folder: Path, members: str = "", random: str | None = None) -> Path:
    """A package named as one that the tool knows, with the members that are asked for, and all others besides."""
    package = folder / "jax"
    package.mkdir()
    (package / "__init__.py").write_text(JAX.format(members))
    (package / "random.py").write_text(JAX.format("") if random is None else random)
    information = folder / "jax-0.10.2.dist-info"
    information.mkdir()
    (information / "METADATA").write_text(METADATA)
    return folder


def test_the_page_about_the_guides_is_up_to_date() -> None:
    result = tool("coverage.py", "--check")
    assert result.returncode == 0, result.stderr


def test_a_library_that_is_as_the_catalog_has_it(tmp_path: Path) -> None:
    result = tool("freshness.py", "jax", path=library(tmp_path))
    assert (result.returncode, result.stdout) == (0, f"jax 0.10.2: 0 new, 0 gone{REST}"), result.stderr


def test_what_is_new_in_a_library(tmp_path: Path) -> None:
    new = "def random_walk(key):\n    pass\n\n\ndef _random(key):\n    pass\n\n\ndef normal(key):\n    pass\n"
    result = tool("freshness.py", "jax", path=library(tmp_path, random=JAX.format(new)))
    assert result.returncode == 1
    assert result.stdout == f"jax 0.10.2: new: jax.random.random_walk\njax 0.10.2: 1 new, 0 gone{REST}"


def test_what_is_gone_from_a_library(tmp_path: Path) -> None:
    result = tool("freshness.py", "jax", path=library(tmp_path, random="def normal(key):\n    pass\n"))
    assert result.returncode == 1
    assert "jax 0.10.2: gone: jax.random.PRNGKey\n" in result.stdout
    assert "jax.random.normal" not in result.stdout
    assert "gone: jax.grad" not in result.stdout


def test_what_is_read_and_taken_otherwise_in_a_library(tmp_path: Path) -> None:
    drawing = JAX.format("def PRNGKey(number, seed, *, impl=None):\n    pass\n")
    root = library(tmp_path, "import os\n\nEXACT = os.environ.get('JAX_ALWAYS_DETERMINISTIC')", drawing)
    result = tool("freshness.py", "jax", path=root)
    assert result.returncode == 1
    assert "jax 0.10.2: switch: JAX_ALWAYS_DETERMINISTIC\n" in result.stdout
    assert "jax 0.10.2: signature: jax.random.PRNGKey: seed is not its parameter 1\n" in result.stdout


def test_a_library_that_the_tool_does_not_know() -> None:
    result = tool("freshness.py", "nope")
    assert result.returncode == 2
    assert "nope is not one of torch," in result.stderr


# -- two states of detlint --------------------------------------------------------------------------------------------

PROGRAM = (
    "import random\n\nx = random.random()\ny = random.random()\nprint(x, y)\nimport numpy as np\nnp.random.rand()\n"
)
ANSWERS = """
import json, sys

report, folder = sys.argv[sys.argv.index("-o") + 1], sys.argv[-1]
found = json.loads({!r})
for finding in found:
    finding["filename"] = folder + "/" + finding["filename"]
open(report, "w").write(json.dumps(found))
"""
"""A state of detlint that finds what it is made to find."""


def found(
    code: str, row: int, severity: str = "error", message: str = "said", cell: int | None = None
) -> dict[str, Any]:
    name = "train.py" if cell is None else "train.ipynb"
    location = {"row": row, "column": 1}
    return {
        "code": code, "filename": name, "location": location, "severity": severity, "message": message, "cell": cell,
    }  # fmt: skip


def state(folder: Path, *findings: dict[str, Any]) -> str:
    """A folder with a state of detlint."""
    (folder / "detlint").mkdir(parents=True, exist_ok=True)
    (folder / "detlint" / "__init__.py").touch()
    (folder / "detlint" / "__main__.py").write_text(ANSWERS.format(json.dumps(findings)))
    return str(folder)


def checked(folder: Path) -> Path:
    """A repository to check."""
    folder.mkdir()
    (folder / "train.py").write_text(PROGRAM)
    (folder / "click.py").write_text("raise SystemExit('a module of the repository was imported')\n")
    cell: dict[str, Any] = {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {},
        "outputs": [],
        "source": ["import random\n", "x = 1"],
    }
    notebook = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 4}
    (folder / "train.ipynb").write_text(json.dumps(notebook))
    return folder


def test_what_differs_between_two_states(tmp_path: Path) -> None:
    before = [
        found("DET101", 3), found("DET102", 3), found("DET103", 4), found("DET104", 1), found("DET105", 1), found("DET106", 2, cell=1),
    ]  # fmt: skip
    after = [
        found("DET101", 3), found("DET103", 5), found("DET104", 1, "note"), found("DET105", 1, message="in other words"),
        found("DET106", 2, cell=1), found("DET107", 2, cell=1),
    ]  # fmt: skip
    sides = state(tmp_path / "old", *before), state(tmp_path / "new", *after)
    repository = checked(tmp_path / "repository")
    result = tool("compare.py", *sides, str(repository), "--output-format", "json")
    assert result.returncode == 1, result.stderr
    (compared,) = json.loads(result.stdout)
    assert compared["same"] == {"DET101": 1, "DET106": 1}
    told = [(change["rule"], change["kind"], change["line"]) for change in compared["changes"]]
    assert told == [
        ("DET102", "lost", "x = random.random()"),
        ("DET103", "moved", "print(x, y)"),
        ("DET104", "level", "import random"),
        ("DET105", "message", "import random"),
        ("DET107", "gained", "x = 1"),
    ]
    text = tool("compare.py", *sides, str(repository)).stdout
    name = os.path.relpath(repository / "train.py")
    assert f"- lost DET102 error {name}:3:1 said\n      x = random.random()\n" in text
    assert f"> moved DET103 error {name}:4:1 -> 5:1 said\n" in text
    assert f"! level DET104 error -> note {name}:1:1 said\n" in text
    assert f"~ message DET105 error {name}:1:1 said -> in other words\n" in text
    assert "CPU seconds" in text


def test_one_finding_moves_and_the_others_stay(tmp_path: Path) -> None:
    old, new = [found("DET101", 3), found("DET101", 4)], [found("DET101", 4), found("DET101", 5)]
    repository = checked(tmp_path / "repository")
    sides = state(tmp_path / "old", *old), state(tmp_path / "new", *new)
    result = tool("compare.py", *sides, str(repository), "--output-format", "json")
    (change,) = json.loads(result.stdout)[0]["changes"]
    assert (change["kind"], change["old"]["location"]["row"], change["new"]["location"]["row"]) == ("moved", 3, 5)


def test_two_checkouts_of_which_one_has_another_catalog(tmp_path: Path) -> None:
    checkout, repository = tmp_path / "checkout", checked(tmp_path / "repository")
    checkout.mkdir()
    (checkout / "detlint").symlink_to(REPOSITORY / "detlint")
    shutil.copytree(REPOSITORY / "rules", checkout / "rules")
    rules = checkout / "rules" / "rules.toml"
    level = '"DET101"\nname = "unseeded-python"\nlevel = "{}"\n'
    rules.write_text(rules.read_text().replace(level.format("error"), level.format("warning")))
    options = ["--", "--isolated", "--extend-ignore", "DET102"]
    result = tool("compare.py", str(REPOSITORY), str(checkout), str(repository), *options)
    assert result.returncode == 1, result.stderr
    assert "! level DET101 error -> warning" in result.stdout
    assert "DET102" not in result.stdout


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_a_revision(tmp_path: Path) -> None:
    """The tool looks for revisions in the repository that it is in."""
    git = ["git", "-C", str(tmp_path / "own"), "-c", "user.name=a", "-c", "user.email=a@b.c"]
    state(tmp_path / "own", found("DET101", 3))
    (tmp_path / "own" / "tools").mkdir()
    shutil.copy(REPOSITORY / "tools" / "compare.py", tmp_path / "own" / "tools")
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"], ["tag", "one"]):
        subprocess.run([*git, *command], check=True)
    new = state(tmp_path / "own", found("DET101", 4))
    repository = checked(tmp_path / "repository")
    command = [sys.executable, str(tmp_path / "own" / "tools" / "compare.py"), "one", new, str(repository)]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    result = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert result.returncode == 1, result.stderr
    assert "> moved DET101 error" in result.stdout
    listed = subprocess.run([*git, "worktree", "list"], capture_output=True, text=True, check=True)
    assert len(listed.stdout.splitlines()) == 1
    nothing = subprocess.run([*command[:2], "two", *command[3:]], capture_output=True, text=True, env=environment)
    assert nothing.returncode == 2
    assert "two is no checkout of detlint, no executable and no revision" in nothing.stderr


def test_a_state_that_fails(tmp_path: Path) -> None:
    old, new = state(tmp_path / "old"), state(tmp_path / "new")
    (tmp_path / "new" / "detlint" / "__main__.py").write_text("raise SystemExit('no such option')")
    result = tool("compare.py", old, new, str(checked(tmp_path / "repository")))
    assert (result.returncode, "no such option" in result.stderr) == (2, True)
