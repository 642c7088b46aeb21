"""Programs that train differently in every run, and bit for bit alike after `detlint --fix`: run as their users would."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest
from conftest import detlint

HERE = Path(__file__).parent
RUNS = 3
MEASUREMENTS = 16
ALIGN = ("--profile", "align", "--unsafe-fixes")


@dataclass(frozen=True)
class Program:
    """A program to be fixed.

    Attributes:
        folder: where it stands.
        script: what is started, from that folder.
        needs: the modules without which it can't run.
        options: what `detlint check --fix` gets.
        listing: it reads a folder, which is made anew for each run, its files in another order.
    """

    folder: str
    script: str = "train.py"
    needs: str = "torch"
    options: tuple[str, ...] = ()
    listing: bool = False


PROGRAMS = [
    Program("gan"),
    Program("classifier"),
    Program("classifier", options=ALIGN),
    Program("detector"),
    Program("detector", options=ALIGN),
    Program("deformable", options=(*ALIGN, "--target", "cuda", "--target", "ascend")),
    Program("language_model", "main.py"),
    Program("diffusion", options=("--target", "cuda")),
    Program("vae", "main.py"),
    Program("augmented", options=("--unsafe-fixes",)),
    Program("spawn"),
    Program("listing", listing=True),
    Program("classes"),
    Program("replay", "dqn.py"),
    Program("half_seeded"),
    Program("optional_seed", "main.py", options=("--unsafe-fixes",)),
    Program("lenet", needs="mindspore"),
    Program("lenet", needs="mindspore", options=ALIGN),
    Program("generator_dataset", needs="mindspore", options=ALIGN),
    Program("pipeline", needs="tensorflow"),
    Program("keras_dropout", needs="tensorflow"),
    Program("forest", needs="sklearn", options=("--unsafe-fixes",)),
]


def name(program: Program) -> str:
    return "-".join([program.folder, *("align" for option in program.options if option == "align")])


@pytest.mark.parametrize("program", PROGRAMS, ids=name)
def test_runs_agree_once_fixed(program: Program, tmp_path: Path) -> None:
    if find_spec(program.needs) is None:
        pytest.skip(f"{program.needs} is not installed")
    code = tmp_path / "code"
    shutil.copytree(HERE / program.folder, code, ignore=shutil.ignore_patterns("__pycache__"))
    data = folders(tmp_path) if program.listing else [()] * RUNS
    before = [run(code / program.script, number, *data[number]) for number in range(RUNS)]
    assert len(set(before)) == RUNS, "it is deterministic as it is"

    result = detlint("check", "--isolated", "--no-cache", "--fix", *program.options, code)
    assert result.stderr == ""
    after = {run(code / program.script, number, *data[number]) for number in range(RUNS)}
    assert len(after) == 1, result.stdout


def run(script: Path, number: int, *arguments: str) -> str:
    """What a program prints in a fresh process, with a hash seed of its own."""
    environment = os.environ | {
        "PYTHONHASHSEED": str(number + 1),
        "PYTHONDONTWRITEBYTECODE": "1",
        "OMP_NUM_THREADS": "1",
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "GLOG_v": "3",
    }
    done = subprocess.run(
        [sys.executable, script.name, *arguments],
        cwd=script.parent,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout) > 20
    return done.stdout
