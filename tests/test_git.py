"""Repositories whose configuration runs commands: what detlint asks of git runs none of them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import detlint

from detlint.tracing import environment

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="what would be run is written for a Unix shell")

OLD = "import torch.nn.functional as F\n\n\ndef warp(x, g):\n    return F.grid_sample(x, g)\n"
NEW = OLD + "\n\ndef bend(x, g):\n    return F.grid_sample(x, g)\n"


def git(*arguments: str) -> str:
    names = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main"]
    return subprocess.run(["git", *names, *arguments], check=True, capture_output=True, text=True).stdout


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A repository with a changed file, all of whose configured commands leave a file in `ran`."""
    for name in ("GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)
    root, ran = tmp_path / "repository", tmp_path / "ran"
    root.mkdir()
    ran.mkdir()
    monkeypatch.chdir(root)
    git("init", "-q")
    (root / ".gitattributes").write_text("*.py filter=odd diff=odd merge=odd\n")
    (root / "a.py").write_text(OLD)
    git("add", "-A")
    git("commit", "-q", "-m", "first")
    (root / "a.py").write_text(NEW)
    for key, rest in (
        ("core.fsmonitor", "; false"),
        ("core.sshCommand", "; false"),
        ("core.gitProxy", "; false"),
        ("core.pager", "; cat"),
        ("core.editor", "; true"),
        ("core.askPass", "; true"),
        ("credential.helper", "; true"),
        ("diff.external", "; true"),
        ("diff.odd.command", "; true"),
        ("diff.odd.textconv", "; cat"),
        ("filter.odd.clean", "; cat"),
        ("filter.odd.smudge", "; cat"),
        ("filter.odd.process", "; false"),
        ("merge.odd.driver", "; true"),
        ("uploadpack.packObjectsHook", "; false"),
        ("remote.origin.uploadpack", "; false"),
    ):
        git("config", key, f"touch '{ran / key}'{rest}")
    (root / ".git" / "hooks").mkdir(exist_ok=True)
    for name in ("post-index-change", "post-checkout", "pre-commit", "reference-transaction", "fsmonitor-watchman"):
        script(root / ".git" / "hooks" / name, ran / name)
    for alias in ("diff", "rev-parse", "ls-files", "cat-file"):
        git("config", f"alias.{alias}", f"!touch '{ran / alias}'")
    yield root
    assert [*ran.iterdir()] == []


def script(path: Path, touched: Path) -> None:
    path.write_text(f"#!/bin/sh\ntouch '{touched}'\n")
    path.chmod(0o755)


def new(*arguments: str) -> list[str]:
    result = detlint("check", "--no-cache", "--output-format", "concise", "--diff-base", "HEAD", *arguments)
    assert result.exit_code in (0, 1), result.stderr
    return [line.partition(": ")[0] for line in result.stdout.splitlines()]


def test_nothing_that_a_repository_configures_is_run(hostile: Path) -> None:
    assert new() == ["a.py:9:12"]


def test_what_a_filter_would_have_changed_counts_as_it_is(hostile: Path) -> None:
    git("config", "filter.odd.required", "true")
    git("config", "--unset", "filter.odd.process")
    assert new() == ["a.py:9:12"]


def test_a_filter_that_no_option_names_is_refused(hostile: Path) -> None:
    git("config", "filter.a=b.clean", "cat")
    result = detlint("check", "--no-cache", "--diff-base", "HEAD")
    assert result.exit_code == 2
    assert "has a filter that can't be turned off: 'filter.a=b'" in result.stderr


def test_configuration_that_another_file_holds(hostile: Path, tmp_path: Path) -> None:
    more = tmp_path / "more"
    git("config", "--file", str(more), "filter.odd.clean", git("config", "filter.odd.clean").strip())
    git("config", "--remove-section", "filter.odd")
    git("config", "include.path", str(more))
    assert new() == ["a.py:9:12"]


def test_filters_of_the_user_stay(hostile: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As Git LFS is installed, say: what it would keep is no change."""
    own = tmp_path / "own"
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(own))
    git("config", "--remove-section", "filter.odd")
    git("config", "--file", str(own), "filter.odd.clean", "head -n 5")
    assert new() == []


def test_a_submodule_has_a_configuration_too(hostile: Path, tmp_path: Path) -> None:
    inner = hostile / "inner"
    git("init", "-q", str(inner))
    (inner / "b.py").write_text(OLD)
    git("-C", str(inner), "add", "-A")
    git("-C", str(inner), "commit", "-q", "-m", "inner")
    git("config", "--unset", "core.fsmonitor")
    git("-c", "filter.odd.clean=", "-c", "filter.odd.process=", "-c", "core.hooksPath=/", "add", "inner")
    git("-C", str(inner), "config", "core.fsmonitor", f"touch '{tmp_path / 'ran' / 'inner'}'; false")
    (inner / "b.py").write_text(NEW)
    assert new("a.py") == ["a.py:9:12"]


def test_nothing_is_fetched(hostile: Path) -> None:
    """A partial clone gets what it lacks by commands that its configuration names."""
    blob = git("rev-parse", "HEAD:a.py").strip()
    (hostile / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    for key, value in (
        ("core.repositoryformatversion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.partialclonefilter", "blob:none"),
        ("protocol.allow", "always"),
        ("protocol.ext.allow", "always"),
    ):
        git("config", key, value)
    for url in (
        "ssh://nowhere.invalid/x",
        f"ext::touch {hostile.parent}/ran/ext",
        f"file://{hostile}",
        "git://localhost/x",
    ):
        git("config", "remote.origin.url", url)
        result = detlint("check", "--no-cache", "--diff-base", "HEAD")
        assert result.exit_code == 2
        assert "this clone lacks files as they were" in result.stderr


def test_a_folder_that_looks_like_a_repository(hostile: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such a folder can be committed, with whatever configuration."""
    inner = hostile / "inner"
    shutil.copytree(hostile / ".git", inner)
    git("config", "--file", str(inner / "config"), "core.worktree", str(inner))
    (inner / "pyproject.toml").write_text("[tool.detlint]\n")
    (inner / "a.py").write_text(NEW)
    monkeypatch.chdir(inner)
    result = detlint("check", "--no-cache", "--diff-base", "HEAD")
    assert result.exit_code == 2
    assert "--diff-base needs a git repository" in result.stderr


@pytest.mark.parametrize("path", [".", "", "bin"])
def test_git_is_never_the_repository_s_own(hostile: Path, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    """PATH may name folders that are meant from where a program is started."""
    (hostile / "bin").mkdir()
    for folder in (hostile, hostile / "bin"):
        script(folder / "git", hostile.parent / "ran" / "git")
    monkeypatch.setenv("PATH", os.pathsep.join([path, os.environ["PATH"]]))
    assert new() == ["a.py:9:12"]


def test_what_a_trace_tells_of_the_repository(hostile: Path) -> None:
    commit = git("rev-parse", "HEAD").strip()
    assert environment.git() == {"commit": commit, "changed": "yes"}
    (hostile / "a.py").write_text(OLD)
    assert environment.git() == {"commit": commit, "changed": "no"}


def test_what_a_trace_tells_where_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.chdir(tmp_path)
    assert environment.git() == {}
