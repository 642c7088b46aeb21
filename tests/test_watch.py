"""`--watch`: a check after each change, without a clock."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import REPOSITORY, detlint

from detlint.watch import watch

Project = Callable[..., Path]

WARP = "import torch.nn.functional as F\n\n\ndef warp(x, g):\n    return F.grid_sample(x, g)\n"


@pytest.mark.parametrize(
    ("changes", "checks"),
    [
        ([], 0),
        ([set()], 1),
        ([set(), set(), set()], 1),
        ([set(), {"a.py"}, set(), {"a.py", "b.py"}], 3),
        ([{"a.py"}, {"a.py"}], 2),
    ],
)
def test_a_check_for_each_change(changes: list[set[str]], checks: int) -> None:
    done: list[None] = []
    watch(lambda: done.append(None), changes)
    assert len(done) == checks


def test_each_check_sees_what_was_saved(project: Project) -> None:
    root = project(**{"a.py": WARP})
    found: list[int] = []

    def saving() -> Iterator[set[str]]:
        yield set()
        (root / "a.py").write_text("x = 1\n")
        yield {"a.py"}
        (root / "b.py").write_text(WARP)
        yield {"b.py"}

    watch(lambda: found.append(detlint("check", "--output-format", "concise").stdout.count("DET403")), saving())
    assert found == [1, 0, 1]


def test_what_is_missing_is_named(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project(**{"a.py": WARP})
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    result = detlint("check", "--watch")
    assert result.exit_code == 2
    assert "--watch needs watchfiles: `pip install 'detlint[watch]'`" in result.stderr


def test_standard_input_is_refused() -> None:
    assert "--watch" in detlint("check", "--watch", "-", stdin=b"").stderr


def interruptible() -> None:
    """Whoever runs the tests in the background of a shell has interrupts ignored, and so would all that they start."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.skipif(sys.platform == "win32", reason="a process is interrupted in another way there")
def test_files_that_are_saved(tmp_path: Path) -> None:
    """The real watcher: each report is waited for, however long it takes."""

    def save(name: str, text: str) -> None:
        (tmp_path / "new").write_text(text)
        (tmp_path / "new").rename(
            tmp_path / name
        )  # in one step: a file that is half written would be a change of its own

    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "a.py").write_text(WARP)
    command = [sys.executable, "-m", "detlint", "check", "--no-cache", "--watch", "--output-format", "concise", "."]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    with subprocess.Popen(
        command,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment,
        preexec_fn=interruptible,
    ) as process:
        hung = threading.Timer(600, process.kill)
        hung.start()
        assert process.stdout is not None

        def report() -> list[str]:
            lines = []
            for line in process.stdout or ():
                if "watching for changes" in line:
                    break
                lines.append(line.partition(" backward")[0])
            return lines

        assert report() == ["a.py:5:12: error: DET403"]
        save("b.py", WARP)
        assert report() == ["a.py:5:12: error: DET403", "b.py:5:12: error: DET403"]
        save("pyproject.toml", "[tool.detlint]\nselect = ['DET999']\n")
        assert "unknown rule `DET999`" in "".join(report())
        save("pyproject.toml", "[tool.detlint]\nper-file-ignores = { 'a.py' = ['DET'] }\n")
        assert report() == ["b.py:5:12: error: DET403"]
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
        hung.cancel()


@pytest.mark.skipif(sys.platform == "win32", reason="pipes end in another way there")
def test_it_ends_when_nobody_reads(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(WARP)
    command = [sys.executable, "-m", "detlint", "check", "--isolated", "--no-cache", "--watch", "."]
    reading, writing = os.pipe()
    os.close(reading)
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    with subprocess.Popen(command, cwd=tmp_path, stdout=writing, stderr=subprocess.DEVNULL, env=environment) as process:
        os.close(writing)
        assert process.wait(600) == 1
