"""The case that docs/verifying.md tells: a detector whose attention and sampling kernels vary, found one after the other."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

import npu_double
from traced import line

pytestmark = pytest.mark.skipif(not npu_double.supported(), reason="this PyTorch has no devices written in Python")
PROGRAM = Path(__file__).parent / "data" / "verifying" / "train.py"
NOISY = ("msda.backward", "aten.grid_sampler_2d_backward")


def _verified(*arguments: str, code: int, python: str = sys.executable) -> dict[str, Any]:
    command = [python, "-W", "ignore", "-m", "detlint", "verify", "--output-format", "json", *arguments]
    done = subprocess.run(
        command, cwd=PROGRAM.parent, env=npu_double.environment(NOISY), capture_output=True, text=True, check=False
    )
    assert done.returncode == code, done.stdout + done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told


@pytest.mark.parametrize(
    "arguments, code, api, mark",
    [
        (("train.py",), "DET404", "deformable.MSDeformAttnFunction.apply", "attention"),
        (("train.py", "small"), "DET403", "torch.nn.functional.grid_sample", "sampling"),
    ],
)
def test_the_kernel_that_varies_is_named(arguments: tuple[str, ...], code: str, api: str, mark: str) -> None:
    told = _verified("--as-is", *arguments, code=1, python=npu_double.process().python)
    assert told["forward"] == "bits"
    assert told["first"]["iteration"] == 1
    story = told["trace"]["story"]
    assert (story["cause"], story["code"], story["api"], story["backward"]) == ("kernel", code, api, True)
    assert story["stack"][0] == {**story["stack"][0], "file": str(PROGRAM), "line": line(PROGRAM.read_text(), mark)}
    assert [found["code"] for found in story["findings"]] == [code]


def test_enforced_it_repeats() -> None:
    assert _verified("train.py", code=0)["outcome"] == "equal"
