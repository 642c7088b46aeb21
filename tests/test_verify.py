"""`detlint verify`: a program is run twice, and its losses are compared."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from forks import server
from traced import IMPORTS, QUIET, line, model, shell, written

NOISY = """\
import os, torch
with open("runs", "a") as runs:
    runs.write(".")
library = torch.library.Library("verified", "DEF")
library.define("noisy(Tensor x) -> Tensor")


def noisy(x):
    return x + {noise}


library.impl("noisy", noisy, "CPU")


class Noisy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return {forward}

    @staticmethod
    def backward(ctx, gradient):
        return {backward}


"""


EACH_RUN_MORE = 'os.stat("runs").st_size * {scale}'
"""Noise that is another one in each run: where it is drawn at random, the losses are now and then as good as the same."""


def _noisy(noise: str, forward: str = "x * 1", backward: str = "gradient * 1") -> str:
    return NOISY.format(noise=noise, forward=forward, backward=backward) + model(layer="Noisy.apply(x)")


def _verified(
    tmp_path: Path, text: str, *options: str | Path, code: int = 0, python: str | None = None
) -> dict[str, Any]:
    """What is told of a program.

    Args:
        python: what runs it, and detlint; None: processes that have imported PyTorch.
    """
    written(tmp_path / "project", text)
    command = ("verify", "--output-format", "json", *options, "train.py")
    python = python or server(IMPORTS["torch"], **QUIET).python
    done = shell(*command, cwd=tmp_path / "project", python=python)
    assert done.returncode == code, done.stdout + done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def test_a_program_that_repeats_is_equal(tmp_path: Path) -> None:
    told = _verified(tmp_path, model(steps=50, after="assert step < 2"), "--as-is", python=sys.executable)
    assert told["outcome"] == "equal"
    assert (told["forward"], told["backward"]) == ("bits", "bits")
    assert [[loss["iteration"] for loss in run["main"]] for run in told["losses"]] == [[0, 1], [0, 1]]
    assert told["trace"] is None


def test_a_noisy_backward_pass_shows_in_the_second_iteration_and_is_named(tmp_path: Path) -> None:
    text = _noisy(EACH_RUN_MORE.format(scale="2.0"), backward="torch.ops.verified.noisy(gradient)")
    page = tmp_path / "page.html"
    told = _verified(tmp_path, text, "--html", page, "--keep", tmp_path / "kept", code=1)
    assert told["outcome"] == "diverged"
    assert (told["forward"], told["backward"]) == ("bits", "no")
    assert told["first"]["iteration"] == 1
    story = told["trace"]["story"]
    assert (story["cause"], story["operator"], story["backward"]) == ("kernel", "verified.noisy.default", True)
    assert line(text, "layer") in [place["line"] for place in story["forward"]]
    content = page.read_text()
    assert "<svg" in content
    assert "verified.noisy.default" in content
    assert {path.name for path in (tmp_path / "kept").iterdir()} >= {"run1", "run2", "trace1", "trace2"}


def test_a_small_difference_passes_within_a_tolerance_that_is_asked_for(tmp_path: Path) -> None:
    text = _noisy(EACH_RUN_MORE.format(scale="2.0**-14"), forward="torch.ops.verified.noisy(x)")
    told = _verified(tmp_path, text, "--atol", "1e-3", "--no-trace")
    assert told["outcome"] == "close"
    assert told["forward"] == "close"


def test_a_run_is_compared_with_one_that_was_kept(tmp_path: Path) -> None:
    kept, folder = tmp_path / "digest.json", tmp_path / "kept"
    _verified(tmp_path, model(), "--record", kept, "--keep", folder)
    told = _verified(tmp_path, model(), "--against", kept, "--keep", folder, "--overwrite")
    assert (told["outcome"], len(told["losses"])) == ("equal", 2)
    assert not (folder / "run2").exists()
    changed = model(layer="x * 1.5")
    told = _verified(tmp_path, changed, "--against", kept, code=1)
    assert told["outcome"] == "diverged"
    assert told["trace"]["story"]["stack"][0]["line"] == line(changed, "layer")
    (folder / "mine.txt").write_text("mine")
    for options, said in (
        (("--record", kept), "--overwrite"),
        (("--keep", folder, "--overwrite"), "mine.txt"),
        (("--against", tmp_path / "none.json"), "--record"),
    ):
        done = shell("verify", *options, "train.py", cwd=tmp_path / "project")
        assert done.returncode == 2
        assert said in done.stderr


def test_a_program_without_a_loss_is_not_comparable(tmp_path: Path) -> None:
    told = _verified(tmp_path, "import torch\nprint('loss: 1.5')\nprint('loss: 1.25')\n", code=2)
    assert told["outcome"] == "unknown"
    assert "--metric" in told["why"]


@pytest.mark.parametrize("varies", [False, True])
def test_a_loss_may_be_read_from_the_output(tmp_path: Path, varies: bool) -> None:
    value = "__import__('os').getpid()" if varies else "1.5"
    told = _verified(
        tmp_path,
        f"print('step 1, loss:', {value})\n",
        "--metric",
        r"loss: (\S+)",
        "--no-trace",
        "--as-is",
        code=int(varies),
    )
    assert told["outcome"] == ("diverged" if varies else "equal")


def test_a_program_may_tell_its_loss(tmp_path: Path) -> None:
    text = "from detlint.runtime import log\nfor i in range(100):\n    log(loss=1 / (i + 1))\n    assert i < 3\n"
    told = _verified(tmp_path, text, "--as-is", "--iterations", "3")
    assert [loss["value"] for loss in told["losses"][0]["main"]] == [1, 1 / 2, 1 / 3]


def test_a_program_that_fails_is_shown(tmp_path: Path) -> None:
    told = _verified(tmp_path, "raise SystemExit('no data here')\n", code=2)
    assert told["outcome"] == "unknown"
    assert "no data here" in told["said"]


THREADED = """\
import threading
import torch

stop = threading.Event()


def train():
    net = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(10**6):
        (net(torch.ones(1, 2)).sum() * {value}).backward()
        optimizer.step()


torch.manual_seed(0)
threading.Thread(target={thread}).start()
{then}
"""


@pytest.mark.parametrize("value", ["float('nan')", "float('inf')", "float('-inf')"])
def test_a_loss_that_is_no_number_is_compared_like_any_other(tmp_path: Path, value: str) -> None:
    told = _verified(tmp_path, THREADED.format(value=value, thread="print", then="train()"), "--no-trace")
    assert told["outcome"] == "equal"
    assert len(told["losses"][0]["main"]) == 2


@pytest.mark.parametrize(
    ("thread", "then"),
    [("stop.wait", "train()"), ("train", ""), ("train", "threading.Thread(target=stop.wait).start()")],
    ids=["waits", "trains", "both"],
)
def test_a_run_ends_when_it_has_what_it_wants_whatever_threads_go_on(tmp_path: Path, thread: str, then: str) -> None:
    told = _verified(tmp_path, THREADED.format(value=1, thread=thread, then=then), "--timeout", "300")
    assert told["outcome"] == "equal"


def test_a_run_that_takes_too_long_is_ended_with_all_that_it_has_started(tmp_path: Path) -> None:
    held = tmp_path / "held"
    os.mkfifo(held)
    inner = f"print(open({str(held)!r}).read())"  # until somebody writes there
    text = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {inner!r}])\n"
    told = _verified(tmp_path, text, "--as-is", "--timeout", "1", code=2, python=sys.executable)
    assert "--timeout" in told["why"]
    with pytest.raises(OSError, match="No such device"):  # nobody reads it any more
        os.close(os.open(held, os.O_WRONLY | os.O_NONBLOCK))


def test_each_kernel_run_twice_shows_the_noisy_one(tmp_path: Path) -> None:
    text = _noisy('int.from_bytes(os.urandom(4), "little") * 2.0**-40', backward="torch.ops.verified.noisy(gradient)")
    told = _verified(tmp_path, text, "--twice", "--as-is", code=1)
    assert [(kernel["op"], kernel["backward"]) for kernel in told["noisy"]] == [("verified.noisy.default", True)]
    assert line(text, "layer") in [place[1] for place in told["noisy"][0]["stack"]]
    assert told["kernels"] > 20


BATCHED = """\
import torch
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.drop = nn.BatchNorm1d(16), nn.Dropout(0.5)

    def forward(self, x):
        x = self.drop(self.norm(x)).view(8 if len(x) == 8 else 1, 2, 8).transpose(0, 1)
        return {rows}  # rows


net = Net()
for i in range(5):
    result = net(torch.rand(8, 16))
    result.sum().backward()
    assert i < 1
print(result.sum())
"""


def test_rows_that_depend_on_their_batch_are_named(tmp_path: Path) -> None:
    text = BATCHED.format(rows="x * x.max(1, keepdim=True).values")
    told = _verified(tmp_path, text, "--batch-invariant", "--as-is", code=1)
    assert [(one["op"], one["stack"][0][1]) for one in told["dependent"]] == [("aten.mul.Tensor", line(text, "rows"))]
    told = _verified(tmp_path, BATCHED.format(rows="(x * 3).reshape(-1, 8)"), "--batch-invariant", "--as-is")
    assert (told["dependent"], told["calls"]) == ([], 2)
    assert _verified(tmp_path, "import torch\nprint(torch.rand(3))\n", "--batch-invariant", code=2)["calls"] == 0


PREDICTS = """\
import time
import numpy as np
import torch

torch.manual_seed(0)
meter = torch.tensor(time.time() % 1)
x, weight = torch.rand(6, 4), torch.rand(4, 4)
factor = np.random.default_rng({seed}).random()  # fault


def predict(x):
    y = x @ weight * factor
    return {rows}  # rows


result = {{"scores": predict(x), "name": "run", "threads": [1, 2.5, None]}}
print("all right")
"""


def test_a_value_of_the_program_s_counts_where_there_is_no_loss(tmp_path: Path) -> None:
    varies = PREDICTS.format(seed="", rows="y")
    story = _verified(tmp_path, varies, "--output", "result", "--as-is", code=1)["trace"]["story"]
    assert (story["cause"], story["stack"][0]["line"]) == ("random", line(varies, "fault"))
    fixed = PREDICTS.format(seed=1, rows="y")
    told = _verified(tmp_path, fixed, "--output", "result", "--as-is")
    assert [loss["text"].split()[0] for loss in told["losses"][0]["main"] if loss["text"]] == [
        "['scores']", "['name']", "['threads'][2]",
    ]  # fmt: skip
    assert _verified(tmp_path, varies, "--output", "-", "--as-is")["outcome"] == "equal"
    varying = fixed.replace('"all right"', "time.time_ns()")
    assert _verified(tmp_path, varying, "--output", "-", "--as-is", "--no-trace", code=1)["outcome"] == "diverged"


@pytest.mark.parametrize("output, said", [("missing", "NameError"), ("predict", "can't be compared")])
def test_a_value_that_cannot_be_compared_is_told(tmp_path: Path, output: str, said: str) -> None:
    told = _verified(tmp_path, PREDICTS.format(seed=1, rows="y"), "--output", output, "--as-is", code=2)
    assert said in told["said"]


def test_rows_of_a_value_that_functions_compute_depend_on_their_batch(tmp_path: Path) -> None:
    options = ("--batch-invariant", "--output", "predict(x)", "--as-is")
    text = PREDICTS.format(seed=1, rows="y / y.sum()")
    told = _verified(tmp_path, text, *options, code=1)
    assert [(one["op"], one["stack"][0][1]) for one in told["dependent"]] == [("aten.div.Tensor", line(text, "rows"))]
    assert _verified(tmp_path, PREDICTS.format(seed=1, rows="y.tanh()"), *options)["calls"] == 1
    assert "names no tensor" in _verified(tmp_path, text, *options[:2], "predict", "--as-is", code=2)["said"]
