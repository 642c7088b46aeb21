"""`--diff-base REV`: what a change brings in, and nothing else. Each test has a repository of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import detlint, notebook

Project = Callable[..., Path]

WARP = "import torch.nn.functional as F\n\n\ndef warp(x, g):\n    return F.grid_sample(x, g)\n"
TWO = WARP + "\n\ndef twice(x, g):\n    return F.grid_sample(\n        x,\n        g,\n    )\n"
TRAIN = """\
import random

from data import order
from utils import seed_all


def main():
    seed_all(0)
    order([1, 2])


if __name__ == "__main__":
    main()
"""
RUN = {
    "data.py": "import random\n\n\ndef order(x):\n    random.shuffle(x)\n",
    "utils.py": "import random\n\n\ndef seed_all(seed):\n    random.seed(seed)\n",
    "train.py": TRAIN,
}


def git(*arguments: str) -> str:
    env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    names = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main"]
    return subprocess.run(["git", *names, *arguments], check=True, capture_output=True, text=True, env=env).stdout


@pytest.fixture
def repository(project: Project, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Writes files, and commits them."""
    for name in ("GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"):
        monkeypatch.delenv(name, raising=False)

    def write(**files: str | bytes) -> Path:
        root = project(**files)
        git("init", "-q")
        git("add", "-A")
        git("commit", "-q", "-m", "first")
        return root

    return write


def new(*arguments: str | Path, base: str = "HEAD") -> list[tuple[str, str]]:
    """Places and codes of what is reported."""
    result = detlint("check", "--no-cache", "--output-format", "concise", "--diff-base", base, *arguments)
    assert result.exit_code in (0, 1), result.stderr
    return re.findall(r"(?m)^(.*?:\d+):\d+: \w+: (DET\d+)", result.stdout)


def test_nothing_has_changed(repository: Callable[..., Path]) -> None:
    repository(**{"a.py": WARP})
    assert new() == []
    result = detlint("check", "--no-cache", "--diff-base", "HEAD")
    assert (result.exit_code, result.stdout) == (
        0, "No problems found in 1 file.\n1 more was there before the change.\n",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new_text", "expected"),
    [
        ("x, g)\n\n", "x, -g)\n\n", ["a.py:5"]),
        ("        g,\n", "        -g,\n", ["a.py:9"]),
        ("import torch", "import os\n\nimport torch", []),
        ("\n\ndef twice", "\n\n\n# text\ndef twice", []),
        ("    return F.grid_sample(x, g)\n", "    return 0\n", []),
    ],
)
def test_lines_that_have_changed(repository: Callable[..., Path], old: str, new_text: str, expected: list[str]) -> None:
    root = repository(**{"a.py": TWO})
    (root / "a.py").write_text(TWO.replace(old, new_text))
    assert new() == [(place, "DET403") for place in expected]
    git("commit", "-qam", "second")
    assert new() == []
    assert new(base="HEAD~1") == [(place, "DET403") for place in expected]


def test_files_that_are_new(repository: Callable[..., Path]) -> None:
    root = repository(**{"a.py": WARP, ".gitignore": "ignored.py\n"})
    (root / "untracked.py").write_text(WARP)
    (root / "staged.py").write_text(WARP)
    (root / "ignored.py").write_text(WARP)
    git("add", "staged.py")
    assert new() == [("staged.py:5", "DET403"), ("untracked.py:5", "DET403")]
    assert new("ignored.py") == [("ignored.py:5", "DET403")]


def test_files_that_have_moved(repository: Callable[..., Path]) -> None:
    root = repository(**{"a.py": TWO, "n.ipynb": notebook("import torch.nn.functional as F", "F.grid_sample(1, 2)")})
    (root / "pkg").mkdir()
    git("mv", "a.py", "pkg/b.py")
    git("mv", "n.ipynb", "pkg/m.ipynb")
    assert new() == []
    (root / "pkg" / "b.py").write_text(TWO.replace("sample(x, g)", "sample(x, -g)"))
    assert new() == [(f"pkg{os.sep}b.py:5", "DET403")]


def test_a_seeding_that_is_taken_away(repository: Callable[..., Path]) -> None:
    """The draw is on a line that nobody has touched, and so is all the way to it."""
    root = repository(**RUN)
    assert new() == []
    (root / "train.py").write_text(TRAIN.replace("    seed_all(0)\n", ""))
    assert new() == [("data.py:5", "DET101")]
    (root / "train.py").write_text(TRAIN)
    (root / "utils.py").write_text("def seed_all(seed):\n    pass\n")
    assert new("data.py") == [("data.py:5", "DET101")]


def test_a_way_that_passes_a_changed_line(repository: Callable[..., Path]) -> None:
    root = repository(**{**RUN, "train.py": TRAIN.replace("    seed_all(0)\n", "")})
    assert new() == []
    (root / "train.py").write_text(TRAIN.replace("    seed_all(0)\n", "").replace("[1, 2]", "[1, 2, 3]"))
    assert new() == [("data.py:5", "DET101")]


def test_a_new_run_of_old_code(repository: Callable[..., Path]) -> None:
    root = repository(**{**RUN, "train.py": TRAIN})
    (root / "more.py").write_text(TRAIN.replace("    seed_all(0)\n", ""))
    assert new() == [("data.py:5", "DET101")]


def test_the_last_common_commit_counts(repository: Callable[..., Path]) -> None:
    """What has changed on the other branch meanwhile is no change of this one."""
    root = repository(**{"a.py": WARP, "b.py": WARP})
    git("checkout", "-q", "-b", "topic")
    (root / "b.py").write_text(WARP.replace("x, g)", "x, -g)").replace("(x, -g):", "(x, g):"))
    git("commit", "-qam", "topic")
    git("checkout", "-q", "main")
    (root / "a.py").write_text("x = 1\n")
    git("commit", "-qam", "main")
    git("checkout", "-q", "topic")
    assert new(base="main") == [("b.py:5", "DET403")]


def test_names_and_lines_that_look_like_a_patch(repository: Callable[..., Path]) -> None:
    names = ["é b.py", "++ b"] + ([] if sys.platform == "win32" else ['q"\\uote\t.py'])
    text = WARP + '\n\nTEXT = """\n-- a/a.py\n++ b/c.py\n@@ -1 +1 @@\n"""\n'
    root = repository(**{name if name.endswith(".py") else f"{name}/x.py": text for name in names})
    for name in names:
        path = root / (name if name.endswith(".py") else f"{name}/x.py")
        changed = text.replace("++ b/c.py", "++ b/d.py\n++ b/e.py").replace("-- a/a.py\n", "")
        path.write_text(changed + "\n\n" + WARP.partition("\n\n\n")[2].replace("warp", "bend"))
    found = new()
    assert [place.rpartition(":")[2] for place, _ in found] == ["16"] * len(names)


def test_notebooks_by_cell(repository: Callable[..., Path]) -> None:
    cells = ["import torch.nn.functional as F\nx.backward()", "F.grid_sample(1, 2)", "F.grid_sample(3, 4)"]
    root = repository(**{"n.ipynb": notebook(*cells)})
    outputs = {"source": [cells[1]], "outputs": [{"output_type": "stream", "name": "stdout", "text": ["1"]}]}
    (root / "n.ipynb").write_text(notebook("#md title", cells[0], outputs, "F.grid_sample(3, 5)"))
    assert new() == [("n.ipynb:cell 4:1", "DET403")]


def test_from_a_folder_below_and_by_name(repository: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    root = repository(**{"app/pyproject.toml": "", "app/a.py": WARP, "app/script": "#!/usr/bin/env python\n" + WARP})
    for name in ("a.py", "script"):
        path = root / "app" / name
        path.write_text(path.read_text() + "\n\ndef more(x, g):\n    return F.grid_sample(x, g)\n")
    monkeypatch.chdir(root / "app")
    assert new() == [("a.py:9", "DET403")]
    assert new("script") == [("script:10", "DET403")]


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_through_a_link(repository: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> None:
    root = repository(**RUN)
    (root / "train.py").write_text(TRAIN.replace("    seed_all(0)\n", ""))
    link = tmp_path_factory.mktemp("links") / "repository"
    link.symlink_to(root)
    assert [(Path(place).name, code) for place, code in new(link)] == [("data.py:5", "DET101")]
    assert [(Path(place).name, code) for place, code in new(link / "data.py")] == [("data.py:5", "DET101")]


def test_warm_runs_agree(repository: Callable[..., Path]) -> None:
    root = repository(**RUN)
    (root / "train.py").write_text(TRAIN.replace("    seed_all(0)\n", ""))
    runs = [detlint("check", "--diff-base", "HEAD").stdout for _ in range(3)]
    assert runs == [detlint("check", "--no-cache", "--diff-base", "HEAD").stdout] * 3
    assert detlint("check").stdout == detlint("check", "--no-cache").stdout


# -- what can't be compared ------------------------------------------------------------------------------------------


def refused(*arguments: str) -> str:
    result = detlint("check", "--no-cache", *arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    return result.stderr


def test_no_such_revision(repository: Callable[..., Path]) -> None:
    root = repository(**{"a.py": WARP})
    for name in ("nothing", "--output=x", "HEAD^{tree}", ""):
        assert f"--diff-base: `{name}` is no revision of {root}" in refused(f"--diff-base={name}")


def test_no_commit_in_common(repository: Callable[..., Path]) -> None:
    repository(**{"a.py": WARP})
    git("checkout", "-q", "--orphan", "other")
    git("commit", "-q", "-m", "other")
    assert "have no commit in common; in a shallow clone, fetch more" in refused("--diff-base", "main")


def test_no_repository(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    root = project(**{"a.py": WARP})
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(root.parent))
    assert "--diff-base needs a git repository: not a git repository" in refused("--diff-base", "HEAD")


def test_no_git(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    root = project(**{"a.py": WARP})
    monkeypatch.setenv("PATH", str(root))
    assert "--diff-base needs git, which is not installed" in refused("--diff-base", "HEAD")


@pytest.mark.parametrize("option", ["--fix", "--fix-only", "--diff", "-"])
def test_what_it_cannot_be_combined_with(repository: Callable[..., Path], option: str) -> None:
    repository(**{"a.py": WARP})
    assert "--diff-base" in refused("--diff-base", "HEAD", option)


def test_comments_for_what_a_change_brings_in(repository: Callable[..., Path]) -> None:
    root = repository(**{"a.py": WARP})
    (root / "a.py").write_text(TWO)
    result = detlint("check", "--no-cache", "--diff-base", "HEAD", "--add-noqa")
    assert (result.exit_code, result.stdout) == (0, "Added `# noqa` to 1 line of 1 file.\n")
    assert (root / "a.py").read_text() == TWO.replace("grid_sample(\n", "grid_sample(  # noqa: DET403\n")
    assert new() == []
