"""`detlint generate-shell-completion`: in the shells themselves where they are installed, else as they ask."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import detlint

Project = Callable[..., Path]

PATIENCE = 60
RULE = '[[rule]]\ncode = "DET490"\nname = "our-kernel"\nsummary = "x"\nwhy = "x"\nmessage = "x"\nlevel = "error"\n'


def needs(shell: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(shell) is None, reason=f"{shell} is not installed")


@pytest.fixture
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """One in which `detlint` is a command."""
    folder = tmp_path_factory.mktemp("bin")
    command = folder / "detlint"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m detlint "$@"\n')
    command.chmod(0o755)
    found = {name: value for name, value in os.environ.items() if not name.startswith(("COMP_", "_DETLINT"))}
    return {**found, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}", "HOME": str(folder), "TERM": "dumb"}


def asked(environment: dict[str, str], line: str) -> list[str]:
    """What follows a line whose last word is to be completed, as bash asks."""
    words = line.split(" ")
    given = {"_DETLINT_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    result = subprocess.run(["detlint"], env={**environment, **given}, capture_output=True, text=True, timeout=PATIENCE)
    return result.stdout.splitlines()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("detlint ch", ["plain,check"]),
        ("detlint rul", ["plain,rule"]),
        ("detlint rule DET40", [f"plain,DET40{n}" for n in range(1, 10)]),
        ("detlint rule det403", ["plain,DET403"]),
        ("detlint rule grid", ["plain,grid-sample"]),
        ("detlint --select DET20", [f"plain,DET20{n}" for n in (1, 2, 3, 4)]),
        ("detlint check --ignore DET201,DET20", [f"plain,DET201,DET20{n}" for n in (2, 3, 4)]),
        ("detlint baseline --extend-ignore DET60", [f"plain,DET60{n}" for n in range(1, 10)]),
        ("detlint --output-format ht", ["plain,html"]),
        ("detlint --profi", ["plain,--profile"]),
        ("detlint generate-shell-completion z", ["plain,zsh"]),
        ("detlint src/tr", ["file,src/tr"]),
        ("detlint check src/tr", ["file,src/tr"]),
        ("detlint --select DET9", [""]),
    ],
)
def test_what_follows(environment: dict[str, str], line: str, expected: list[str]) -> None:
    assert asked(environment, line) == expected


def test_rules_of_ones_own_follow_too(environment: dict[str, str], project: Project) -> None:
    project(**{"detlint.toml": 'catalogs = ["ours.toml"]\n', "ours.toml": RULE})
    assert asked(environment, "detlint rule DET49") == ["plain,DET490"]
    project(**{"detlint.toml": "catalogs = 3\n"})
    assert asked(environment, "detlint rule DET403") == ["plain,DET403"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_script_is_one(shell: str, tmp_path: Path) -> None:
    result = detlint("generate-shell-completion", shell)
    assert result.exit_code == 0
    assert "_DETLINT_COMPLETE" in result.stdout
    if shutil.which(shell):
        (tmp_path / "script").write_text(result.stdout)
        subprocess.run([shell, "-n", tmp_path / "script"], check=True)


def test_unknown_shell() -> None:
    result = detlint("generate-shell-completion", "tcsh")
    assert result.exit_code == 2
    assert "'bash', 'zsh', 'fish'" in result.stderr


@needs("bash")
def test_bash(environment: dict[str, str]) -> None:
    script = (
        'eval "$(detlint generate-shell-completion bash)"; COMP_WORDS=(detlint --select DET201,DET20); COMP_CWORD=2; '
        "_detlint_completion detlint; printf '%s\\n' \"${COMPREPLY[@]}\"; complete -p detlint"
    )
    result = subprocess.run(["bash", "--norc", "-c", script], env=environment, capture_output=True, text=True)
    assert result.stdout.splitlines()[:2] == ["DET201,DET202", "DET201,DET203"], result.stderr
    assert "-F _detlint_completion detlint" in result.stdout


@needs("fish")
def test_fish(environment: dict[str, str]) -> None:
    script = "detlint generate-shell-completion fish | source; complete -C 'detlint rule DET40'"
    result = subprocess.run(["fish", "--no-config", "-c", script], env=environment, capture_output=True, text=True)
    lines = [line.split("\t") for line in result.stdout.splitlines()]
    assert ["DET403", "grid-sample"] in lines, result.stderr
    assert len(lines) == 8


@needs("zsh")
def test_zsh(environment: dict[str, str], tmp_path: Path) -> None:
    """zsh completes in an interactive shell only, so there is a terminal for it."""
    (tmp_path / ".zshrc").write_text(
        'autoload -Uz compinit; compinit -u -d "$ZDOTDIR/dump"; eval "$(detlint generate-shell-completion zsh)"; PS1="ready "\n'
    )
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvpe("zsh", ["zsh", "-i"], {**environment, "ZDOTDIR": str(tmp_path)})
    seen, deadline = "", time.monotonic() + PATIENCE

    def until(text: str) -> None:
        nonlocal seen
        while text not in seen:
            ready, _, _ = select.select([terminal], [], [], max(0, deadline - time.monotonic()))
            assert ready, seen
            seen += os.read(terminal, 4096).decode("utf-8", "replace")

    try:
        until("ready ")
        os.write(terminal, b"detlint rule grid-s\t")
        until("grid-sample")
    finally:
        os.write(terminal, b"\x15exit\n")
        os.close(terminal)
        os.waitpid(pid, 0)
