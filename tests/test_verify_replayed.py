"""`detlint verify` traces a long run by going on from states that it has stored, forks of its process, where that is sound."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from conftest import REPOSITORY
from forks import server
from traced import IMPORTS, QUIET, line, written

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="states are stored on Linux")
LATE = """\
import os, random, signal, sys, threading
import numpy as np
import torch

torch.manual_seed(0)
random.seed(0)
net = torch.nn.Sequential(torch.nn.Conv2d(1, 8, 3), torch.nn.Flatten(), torch.nn.Linear(8 * 6 * 6, 64), torch.nn.Linear(64, 1))
optimizer = torch.optim.AdamW(net.parameters())
rows = open("rows.txt")
log = open("log.txt", "a")
{setup}
for step in range({steps}):
    x = torch.randn({rows}, 1, 8, 8) + float(next(rows)) + random.random()
    {each}
    if step == {late}:
        x[0] += {noise}  # fault
    optimizer.zero_grad()
    net(x).square().mean().backward()
    optimizer.step()
    log.write(f"{{os.getpid()}} {{step}}\\n")
    log.flush()
    with open("steps.txt", "a") as steps:
        steps.write(f"{{step}}\\n")
log.write("done\\n")
"""
NOISE = "random.Random().random()"  # enough for the loss of as many rows to show it


def _late(steps: int = 90, late: int = 75, rows: int = 8, **parts: str) -> str:
    """A program with a difference in a late step; what it does besides, before and in each step."""
    return LATE.format(steps=steps, late=late, rows=rows, **{"noise": NOISE, "setup": "pass", "each": "pass", **parts})


def _verify(
    project: Path, *options: str, python: str = sys.executable, threads: int = 1
) -> subprocess.CompletedProcess[str]:
    """Verify it, and wait until no process is left that has begun with it."""
    (project / "rows.txt").write_text("".join(f"{i % 7 / 10}\n" for i in range(100)))
    variables = {**os.environ, "PYTHONPATH": str(REPOSITORY), "OMP_NUM_THREADS": str(threads)}
    command = [python, "-m", "detlint", "verify", "--as-is", "--iterations", "0", *options, "train.py"]
    read, write = os.pipe()
    done = subprocess.run(command, cwd=project, env=variables, stdin=read, capture_output=True, text=True, check=False)
    os.close(read)
    unread = select.poll()
    unread.register(write, 0)  # errors alone: nobody is left who could read
    assert unread.poll(60_000), "a process is left"
    os.close(write)
    return done


def _verified(tmp_path: Path, text: str, *options: str, **how: Any) -> dict[str, Any]:
    written(tmp_path, text)
    done = _verify(tmp_path, "--output-format", "json", *options, **how)
    assert done.returncode == 1, done.stdout + done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def _made(project: Path) -> Counter[int]:
    """How often each step was made."""
    return Counter(map(int, (project / "steps.txt").read_text().split()))


def test_a_late_difference_is_traced_from_the_nearest_state(tmp_path: Path) -> None:
    bar = "bar = __import__('tqdm').tqdm(total=90) if find_spec('tqdm') else None"
    text = _late(rows=512, setup=f"from importlib.util import find_spec; {bar}", each="bar and bar.update()")
    told = _verified(tmp_path, text, "--keep", "kept", threads=2)
    assert told["how"] == "replayed from the state of step 64", told["how"]
    assert (told["first"]["iteration"], told["replayed_from"]) == (75, 64)
    story = told["trace"]["story"]
    assert (story["cause"], story["operator"], story["step"]) == ("random", "random.Random", 75)
    assert story["stack"][0]["line"] == line(text, "fault")
    made = _made(tmp_path)
    assert {made[step] for step in range(63)} == {2}  # by the runs; replays go on as the optimizer has made its 64th
    assert {made[step] for step in range(63, 75)} == {4}
    kept = [row.split() for row in (tmp_path / "log.txt").read_text().splitlines()]
    pids = [*dict.fromkeys(row[0] for row in kept if row != ["done"])]
    assert len(pids) == 2  # nothing that was replayed is written to a file that is open
    assert [int(row[1]) for row in kept if row[0] == pids[0]] == [*range(90)]
    ours, theirs = ((tmp_path / "kept" / name / "main.losses").read_text() for name in ("run1", "traced1"))
    assert theirs.splitlines()[:75] == ours.splitlines()[:75]


@pytest.mark.parametrize(
    ("parts", "why", "operator"),
    [
        (
            {"setup": "drawn = np.random.default_rng()", "noise": "drawn.random()"},
            "what differs was there before step 8, from which it was replayed",
            "numpy.random.default_rng",
        ),
        (
            {"setup": "os.register_at_fork(after_in_child=lambda: torch.manual_seed(1))"},
            "the replays computed something else than the runs had",
            "random.Random",
        ),
    ],
    ids=["before", "unlike"],
)
def test_where_a_replay_shows_nothing_the_runs_are_started_again(
    tmp_path: Path, parts: dict[str, Any], why: str, operator: str
) -> None:
    told = _verified(tmp_path, _late(steps=14, late=12, **parts))
    assert told["how"] == f"started again from the beginning: {why}"
    assert told["replayed_from"] is None
    assert told["trace"]["story"]["operator"] == operator


WORKERS = "batches = iter(torch.utils.data.DataLoader(range(99), num_workers=1, multiprocessing_context='fork'))"


@pytest.mark.parametrize(
    ("setup", "why"),
    [
        ("threading.Thread(target=signal.pause, daemon=True).start()", "threads run beside the main one"),
        ("pair = os.pipe()", "a pipe"),
        (WORKERS, "it has child processes"),
        ("table = np.memmap('table', 'float32', 'w+', shape=(4,))", "a file that is mapped"),
        ("table = open('table', 'w+')", "is open for reading and writing"),
    ],
    ids=["thread", "pipe", "workers", "map", "file"],
)
def test_where_a_state_would_lack_something_the_runs_are_started_again(tmp_path: Path, setup: str, why: str) -> None:
    text = _late(steps=14, late=12, setup=setup)
    told = _verified(tmp_path, text, python=server(IMPORTS["torch"], **QUIET).python)
    assert told["how"].startswith("started again from the beginning: no state was stored: ")
    assert why in told["how"]
    assert told["replayed_from"] is None
    assert told["trace"]["story"]["stack"][0]["line"] == line(text, "fault")


@pytest.mark.parametrize("sort", ["SIGKILL", "SIGINT"])
def test_no_state_outlives_whoever_verifies(tmp_path: Path, sort: str) -> None:
    written(tmp_path, _late(each=f"step == 20 and os.kill(os.getppid(), signal.{sort})"))
    assert _verify(tmp_path).returncode not in (0, 1)


def test_no_state_outlives_a_run_that_breaks_off(tmp_path: Path) -> None:
    written(tmp_path, _late(each="assert step < 20"))
    done = _verify(tmp_path)
    assert done.returncode == 2, done.stderr
