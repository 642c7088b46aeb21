"""Folders in which something can't be looked at, and paths that don't say what is around them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import REPOSITORY, age, detlint, findings

Project = Callable[..., Path]
TOO_LONG = "a" * 300
DRAWS = "import random\n\n\ndef draw():\n    return random.random()\n"
TRAIN = 'import random\n{0}\n\nif __name__ == "__main__":\n    print(random.random())\n'

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="symbolic links")


def link(root: Path, name: str, to: str) -> None:
    """Make a link; to itself, to nothing, or to a name that no file system takes."""
    (root / name).symlink_to(to)


def checked(*arguments: str) -> tuple[int, str]:
    """What a run with a cache says."""
    result = detlint("check", "--output-format", "concise", *arguments, ".")
    return result.exit_code, result.stdout


@pytest.mark.parametrize("to", ["{}", "nowhere", TOO_LONG], ids=["itself", "nowhere", "too long"])
def test_links_hide_nothing_that_is_listed_behind_them(project: Project, to: str) -> None:
    """A folder is listed in any order: there are links on either side of what is imported."""
    root = project(**{"train.py": TRAIN.format("from steps.first import draw\n\ndraw()"), "steps/first.py": DRAWS})
    before = findings(root)
    for name in "abcdefgh":
        link(root, name, to.format(name))
        link(root / "steps", name, to.format(name))
    assert {row["filename"] for row in before} == {str(root / "steps" / "first.py")}
    assert findings(root) == before


def test_what_is_excluded_and_no_longer_found_ends_no_run_with_a_cache(project: Project) -> None:
    project(
        **{
            "pyproject.toml": '[project]\nname = "x"\n',
            "train.py": TRAIN.format("from build.lib import draw\n\ndraw()"),
            "build/lib.py": f"from build.deep import table\n{DRAWS}",
            "build/deep.py": "table = {}\n",
        }
    )
    age(Path.cwd())
    assert "lib.py" in checked()[1] or "train.py" in checked()[1]
    Path("table.py").write_text("table = {}\n")  # of which the file says the name
    Path("train.py").write_text(TRAIN.format(""))
    assert checked() == checked("--no-cache")
    assert checked()[0] == 1


def test_a_notebook_that_is_a_broken_link_beside_its_script(project: Project) -> None:
    root = project(**{"train.py": TRAIN.format("")})
    link(root, "train.ipynb", "nowhere")
    rows = findings(root)
    assert [(Path(row["filename"]).name, row["code"]) for row in rows] == [
        ("train.ipynb", "DET001"),
        ("train.py", "DET101"),
    ]
    assert checked() == checked() == checked("--no-cache")


def test_a_linked_folder_that_comes_to_be_later(project: Project, tmp_path: Path) -> None:
    """The folder with the link stays as it was then."""
    root = project(
        **{
            "here/pyproject.toml": '[project]\nname = "x"\n',
            "here/train.py": TRAIN.format("from steps.first import draw\n\ndraw()"),
        }
    )
    os.chdir(root / "here")
    link(root / "here", "steps", str(root / "there"))
    age(root)
    checked()  # which makes the folder of the cache
    before = checked()
    (root / "there").mkdir()
    (root / "there" / "first.py").write_text(DRAWS)
    assert before != checked() == checked("--no-cache")


@pytest.mark.parametrize("command", [("run",), ("trace", "trace", "--enforce")], ids=["run", "trace"])
@pytest.mark.parametrize("marked", [False, True], ids=["no project", "project"])
def test_a_script_in_a_package_is_run_from_its_folder(tmp_path: Path, command: tuple[str, ...], marked: bool) -> None:
    """Its name alone doesn't say that the folder is in another one, with a configuration."""
    if marked:
        (tmp_path / "detlint.toml").write_text("[runtime]\nseed = 7\n")
    folder = tmp_path / "package" / "inner"
    folder.mkdir(parents=True)
    (tmp_path / "package" / "__init__.py").touch()
    (folder / "__init__.py").touch()
    (folder / "train.py").write_text("import random\nprint(random.random())\n")
    done = subprocess.run(
        [sys.executable, "-m", "detlint", *command, "train.py"],
        cwd=folder, env={**os.environ, "PYTHONPATH": str(REPOSITORY)}, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    import random

    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{random.Random(7 if marked else 1234).random()}\n"
