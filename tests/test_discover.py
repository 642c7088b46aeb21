"""Which files are checked."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import detlint

from detlint.config import load
from detlint.discover import program
from detlint.visible import visible

Project = Callable[..., Path]


def shown(*arguments: str) -> list[str]:
    result = detlint("check", "--no-cache", "--show-files", *arguments)
    assert result.exit_code == 0, result.stderr
    return result.stdout.splitlines()


def files(*names: str) -> dict[str, str]:
    return dict.fromkeys(names, "")


# -- kinds and order ------------------------------------------------------------------------------------------------


def test_python_sources_only(project: Project) -> None:
    project(**files("a.py", "b.pyi", "c.txt", "d.pyc", "e.py.bak", "Make", "py", ".hidden.py", "f.PY"))
    assert shown() == [".hidden.py", "a.py", "b.pyi"]


def test_sorted(project: Project) -> None:
    project(**files("z.py", "a/z.py", "a.py", "a/b/c.py", "B.py", "é.py", "a-b.py"))
    assert shown() == sorted(["z.py", "a/z.py", "a.py", "a/b/c.py", "B.py", "é.py", "a-b.py"])
    assert shown("z.py", "a", "B.py") == ["B.py", "a/b/c.py", "a/z.py", "z.py"]


def test_each_once(project: Project) -> None:
    root = project(**files("a.py", "sub/b.py"))
    assert shown(".", "a.py", "sub", "sub/b.py", "sub/../a.py") == ["a.py", "sub/b.py"]
    assert len(shown(".", str(root))) == 2


def test_an_empty_folder(project: Project) -> None:
    root = project()
    (root / "empty").mkdir()
    assert shown("empty") == []
    assert detlint("--no-cache", "empty").exit_code == 0


def test_a_folder_that_is_no_package_is_a_program_of_its_own_inside_one_too(project: Project) -> None:
    root = project(**files("zoo/__init__.py", "zoo/a/net.py", "zoo/b.py", "zoo/c/__init__.py", "zoo/c/d.py"))

    def around(path: str) -> list[str]:
        named = root / path
        return [str(Path(file).relative_to(root)) for file in program([named], load(named, isolated=True))]

    assert around("zoo/a") == []  # nothing but what was named
    assert around("zoo/a/net.py") == ["zoo/a/net.py"]
    assert around("zoo/c") == ["zoo/__init__.py", "zoo/a/net.py", "zoo/b.py", "zoo/c/__init__.py", "zoo/c/d.py"]


def test_explicit_files_of_any_kind(project: Project) -> None:
    project(**files("script", "a.txt", "b.py"))
    assert shown("script", "a.txt") == ["a.txt", "script"]


def test_explicit_script_is_read(project: Project) -> None:
    project(script="#!/usr/bin/env python\nimport random\n\nrandom.random()\n")
    assert detlint("--no-cache", "script").exit_code == 1


# -- .gitignore -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ignore", "left"),
    [
        ("a.py", ["sub/b.py"]),
        ("/a.py", ["sub/a.py", "sub/b.py"]),
        ("sub", ["a.py"]),
        ("sub/", ["a.py"]),
        ("/sub/", ["a.py"]),
        ("sub/a.py", ["a.py", "sub/b.py"]),
        ("*.py", []),
        ("*.py\n!b.py", ["sub/b.py"]),
        ("sub/*\n!sub/b.py", ["a.py", "sub/b.py"]),
        # What stands in an ignored folder can't be taken back.
        ("sub/\n!sub/b.py", ["a.py"]),
        ("# a.py\n\n   \n", ["a.py", "sub/a.py", "sub/b.py"]),
        ("**/b.py", ["a.py", "sub/a.py"]),
        ("[ab].py\n!/a.py", ["a.py"]),
        ("a.py\r\nb.py\r\n", []),
    ],
)
def test_gitignore(project: Project, ignore: str, left: list[str]) -> None:
    project(**files("a.py", "sub/a.py", "sub/b.py"), **{".gitignore": ignore, ".git/HEAD": ""})
    assert shown() == left


def test_nested_gitignore(project: Project) -> None:
    project(**files("a.py", "sub/a.py", "sub/b.py", "sub/deep/a.py", ".git/HEAD"), **{"sub/.gitignore": "/a.py\n"})
    assert shown() == ["a.py", "sub/b.py", "sub/deep/a.py"]


def test_nested_gitignore_takes_back(project: Project) -> None:
    project(
        **files("a.py", "sub/a.py", "other/a.py", ".git/HEAD"), **{".gitignore": "a.py\n", "sub/.gitignore": "!a.py\n"}
    )
    assert shown() == ["sub/a.py"]


def test_gitignore_above_the_path(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    root = project(**files("sub/a.py", "sub/b.py", ".git/HEAD"), **{".gitignore": "sub/a.py\n"})
    assert shown("sub") == ["sub/b.py"]
    monkeypatch.chdir(root / "sub")
    assert shown() == ["b.py"]


def test_gitignore_of_an_outer_repository_does_not_count(project: Project) -> None:
    project(**files("inner/a.py", "inner/.git/HEAD", ".git/HEAD"), **{".gitignore": "a.py\n"})
    assert shown("inner") == ["inner/a.py"]


def test_gitignore_can_be_disregarded(project: Project) -> None:
    project(**files("a.py"), **{".gitignore": "a.py\n"})
    assert shown("--no-respect-gitignore") == ["a.py"]
    assert shown() == []


def test_explicit_files_beat_gitignore(project: Project) -> None:
    project(**files("a.py"), **{".gitignore": "a.py\n"})
    assert shown("a.py") == ["a.py"]


def test_gitignore_that_is_not_text(project: Project) -> None:
    project(**files("a.py", "b.py"), **{".gitignore": b"\xff\xfe\nb.py\n"})
    assert shown() == ["a.py"]


def test_gitignore_that_is_a_folder(project: Project) -> None:
    project(**files("a.py", ".gitignore/x.txt"))
    assert shown() == ["a.py"]


# -- excludes -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "folder",
    [
        ".bzr",
        ".direnv",
        ".eggs",
        ".git",
        ".hg",
        ".ipynb_checkpoints",
        ".mypy_cache",
        ".nox",
        ".pyenv",
        ".pytest_cache",
        ".ruff_cache",
        ".svn",
        ".tox",
        ".venv",
        ".vscode",
        "__pypackages__",
        "_build",
        "buck-out",
        "dist",
        "node_modules",
        "site-packages",
        "venv",
    ],
)
def test_folders_that_nobody_means(project: Project, folder: str) -> None:
    project(**files("a.py", f"{folder}/b.py", f"sub/{folder}/deep/b.py", f"sub/x{folder}/c.py"))
    assert shown() == ["a.py", f"sub/x{folder}/c.py"]


def test_exclude_replaces_the_defaults(project: Project) -> None:
    project(**files("a.py", "venv/b.py", "mine/c.py"))
    assert shown("--exclude", "mine") == ["a.py", "venv/b.py"]
    assert shown("--extend-exclude", "mine") == ["a.py"]


@pytest.mark.parametrize(
    ("pattern", "left"),
    [
        ("gen", ["a.py", "b_pb2.py", "sub/a.py"]),
        ("sub/gen", ["a.py", "b_pb2.py", "gen/c.py", "sub/a.py"]),
        ("*_pb2.py", ["a.py", "gen/c.py", "sub/a.py", "sub/gen/d.py"]),
        ("a.py", ["b_pb2.py", "gen/c.py", "sub/gen/d.py"]),
        ("sub/**", ["a.py", "b_pb2.py", "gen/c.py"]),
        ("**/gen/*.py", ["a.py", "b_pb2.py", "sub/a.py"]),
        ("/gen", ["a.py", "b_pb2.py", "sub/a.py", "sub/gen/d.py"]),
        ("gen,sub", ["a.py", "b_pb2.py"]),
    ],
)
def test_exclude_patterns(project: Project, pattern: str, left: list[str]) -> None:
    project(**files("a.py", "b_pb2.py", "gen/c.py", "sub/a.py", "sub/gen/d.py", ".git/HEAD"))
    assert shown("--extend-exclude", pattern) == left


def test_excludes_are_relative_to_the_project(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    root = project(**files("sub/gen/a.py", "sub/b.py"), **{"detlint.toml": 'extend-exclude = ["sub/gen"]'})
    monkeypatch.chdir(root / "sub")
    assert shown() == ["b.py"]
    assert shown(str(root / "sub")) == [str(root / "sub" / "b.py")]


def test_explicit_files_beat_excludes(project: Project) -> None:
    project(**files("venv/a.py", "gen/b.py"))
    assert shown("--extend-exclude", "gen", "venv/a.py", "gen/b.py") == ["gen/b.py", "venv/a.py"]


def test_force_exclude(project: Project) -> None:
    project(**files("a.py", "venv/a.py", "gen/b.py", "gen/deep/c.py"))
    named = ["a.py", "venv/a.py", "gen/b.py", "gen/deep/c.py"]
    assert shown("--extend-exclude", "gen", "--force-exclude", *named) == ["a.py"]
    project(**{"detlint.toml": 'force-exclude = true\nextend-exclude = ["gen"]'})
    assert shown(*named) == ["a.py"]
    assert len(shown("--no-force-exclude", *named)) == 4


# -- links ----------------------------------------------------------------------------------------------------------


def test_a_linked_file_counts_once(project: Project) -> None:
    root = project(**files("deep/er/real.py", "z.py"))
    (root / "link.py").symlink_to(root / "deep" / "er" / "real.py")
    (root / "deep" / "also.py").symlink_to(root / "deep" / "er" / "real.py")
    assert shown() == ["link.py", "z.py"]
    assert shown("deep/er", "link.py") == ["link.py"]


def test_a_linked_file_of_elsewhere(project: Project) -> None:
    root = project(**files("inside/a.py", "outside/b.py"))
    (root / "inside" / "link.py").symlink_to(root / "outside" / "b.py")
    assert shown("inside") == ["inside/a.py", "inside/link.py"]


def test_linked_folders_are_not_entered(project: Project) -> None:
    root = project(**files("a/x.py", "b/y.py"))
    (root / "a" / "link").symlink_to(root / "b")
    (root / "a" / "loop").symlink_to(root / "a")
    (root / "b" / "up").symlink_to(root)
    assert shown() == ["a/x.py", "b/y.py"]


def test_a_linked_folder_that_is_named(project: Project) -> None:
    root = project(**files("real/a.py"))
    (root / "link").symlink_to(root / "real")
    assert shown("link") == ["link/a.py"]
    assert len(shown("link", "real")) == 1


def test_a_broken_link_is_a_finding(project: Project) -> None:
    root = project(**files("a.py"))
    (root / "broken.py").symlink_to(root / "nowhere.py")
    (root / "broken.txt").symlink_to(root / "nowhere.txt")
    result = detlint("check", "--no-cache", "--output-format", "json")
    (row,) = json.loads(result.stdout)
    assert (row["code"], row["filename"]) == ("DET001", str(root / "broken.py"))
    assert result.exit_code == 1


def test_an_excluded_broken_link_is_none(project: Project) -> None:
    root = project(**files("a.py", "venv/b.py"))
    (root / "venv" / "broken.py").symlink_to(root / "nowhere.py")
    assert detlint("check", "--no-cache").exit_code == 0


def test_odd_names(project: Project) -> None:
    odd = ["with space.py", "new\nline.py", "-dash.py", "tab\t.py", "quote'\".py", "[a].py", "*.py", "🙂.py"]
    root = project(**files(*odd))
    result = detlint("check", "--no-cache", "--show-files", ".")
    assert result.exit_code == 0
    assert result.stdout == "".join(visible(name) + "\n" for name in sorted(odd))
    assert detlint("check", "--no-cache", str(root)).exit_code == 0
