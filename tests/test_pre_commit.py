"""The hooks under real pre-commit. The environment that pre-commit would build for them is this one: building it needs a
network, and is tried by hand before a release (`pre-commit try-repo`)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from conftest import REPOSITORY

LISTING = "import os\n\nfiles = [open(name) for name in os.listdir('data')]\n"
DRAW = "import torch\n\nprint(torch.rand(3))\n"


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PRE_COMMIT_HOME", str(tmp_path / "home"))
    for name in ("GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "repository"
    folder.mkdir()
    run(folder, "git", "init", "-q")
    run(folder, "git", "config", "user.email", "a@example.com")
    run(folder, "git", "config", "user.name", "a")
    hooks = yaml.safe_load((REPOSITORY / ".pre-commit-hooks.yaml").read_text())
    for hook in hooks:
        hook |= {"language": "system", "entry": f"{sys.executable} -m {hook['entry']}"}
    (folder / ".pre-commit-config.yaml").write_text(yaml.safe_dump({"repos": [{"repo": "local", "hooks": hooks}]}))
    return folder


def hook(folder: Path, name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    run(folder, "git", "add", "-A")
    return run(folder, sys.executable, "-m", "pre_commit", "run", name, *arguments)


def test_a_commit_stops_on_what_it_brings(repository: Path) -> None:
    (repository / "train.py").write_text(DRAW)
    result = hook(repository, "detlint")
    assert result.returncode == 1
    assert "DET104" in result.stdout
    (repository / "train.py").write_text(DRAW.replace("print", "torch.manual_seed(0)\nprint"))
    assert hook(repository, "detlint").returncode == 0


def test_only_files_of_the_commit_are_reported_within_their_program(repository: Path) -> None:
    (repository / "noise.py").write_text("import torch\n\n\ndef noise():\n    return torch.rand(3)\n")
    (repository / "old.py").write_text(DRAW)
    (repository / "train.py").write_text(
        "import torch\nfrom noise import noise\n\ntorch.manual_seed(0)\nprint(noise())\n"
    )
    result = hook(repository, "detlint", "--files", "train.py", "noise.py")
    assert result.returncode == 0, result.stdout
    result = hook(repository, "detlint", "--all-files")
    assert result.returncode == 1
    assert "old.py" in result.stdout


def test_fixes_stop_the_commit_too(repository: Path) -> None:
    (repository / "data.py").write_text(LISTING)
    result = hook(repository, "detlint-fix")
    assert result.returncode == 1
    assert "files were modified by this hook" in result.stdout
    assert "sorted(os.listdir('data'))" in (repository / "data.py").read_text()
    assert hook(repository, "detlint-fix").returncode == 0


def test_excluded_files_stay_so_when_they_are_named(repository: Path) -> None:
    (repository / "detlint.toml").write_text("exclude = ['train.py']\n")
    (repository / "train.py").write_text(DRAW)
    assert hook(repository, "detlint", "--files", "train.py").returncode == 0


def test_the_whole_project_is_checked_before_a_push(repository: Path) -> None:
    (repository / "train.py").write_text(DRAW)
    run(repository, "git", "add", "-A")
    run(repository, "git", "commit", "-qnm", "first")
    assert hook(repository, "detlint-project").returncode in (0, 1)
    result = hook(repository, "detlint-project", "--hook-stage", "pre-push")
    assert result.returncode == 1
    assert "DET104" in result.stdout


def test_names_with_blanks_and_other_letters(repository: Path) -> None:
    (repository / "a b é.py").write_text(DRAW)
    assert "DET104" in hook(repository, "detlint").stdout
