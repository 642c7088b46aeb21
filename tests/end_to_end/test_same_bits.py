"""Programs that train differently in every run, and bit for bit alike once `detlint --fix` has gone over them, or under
`detlint run`.

Each folder beside this file is a program as people write them. It is run in processes of its own, with two hash seeds, before
and after; what it prints (losses in full, digests of weights) must differ before and agree after. Nobody edits it
in between. The processes are forked from one that has imported the framework, and take new random states as a fresh one does, or
have those that it got from what `detlint run` prepares.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest
from conftest import detlint
from forks import server

HERE = Path(__file__).parent
BEFORE, AFTER, ENFORCED = 2, 3, 2
FEWEST_CHARACTERS = 40
MEASUREMENTS = 16
UNSAFE = ("--unsafe-fixes",)
ALIGN = ("--profile", "align", "--unsafe-fixes")
ABORTED = "terminate called without an active exception"
"""What a process says whose interpreter ends while a thread of PyTorch's still wants to drop a tensor, once in some hundred
runs of Gloo: https://github.com/pytorch/pytorch/issues/38228."""
ATTEMPTS = 3


@dataclass(frozen=True)
class Program:
    """A program to be fixed.

    Attributes:
        folder: where it stands.
        script: what is started, from that folder.
        needs: the framework without which it can't run.
        options: what `detlint check --fix` gets, for each time that the program is fixed.
        listing: it reads a folder, which is made anew for each run, its files in another order.
        enforced: options of `detlint run`.
    """

    folder: str
    script: str = "train.py"
    needs: str = "torch"
    options: Sequence[tuple[str, ...]] = ((),)
    listing: bool = False
    enforced: tuple[str, ...] = ()


# Without `--unsafe-fixes`: where it is enough that runs are seeded, and listings sorted.
PROGRAMS = [
    Program("gan"),
    Program("classifier", options=((), ALIGN)),
    Program("detector", options=(ALIGN,)),
    Program("deformable", options=((*ALIGN, "--target", "cuda", "--target", "ascend"),)),
    Program("language_model", "main.py", options=(UNSAFE,)),
    Program("diffusion", options=(UNSAFE,)),
    Program("vae", "main.py"),
    Program("augmented", options=(UNSAFE,)),
    Program("spawn"),
    Program("listing", listing=True),
    Program("classes", options=(UNSAFE,)),
    Program("replay", "dqn.py"),
    Program("half_seeded"),
    Program("optional_seed", "main.py", options=(UNSAFE,)),
    Program("lenet", needs="mindspore", options=(ALIGN,), enforced=("--profile", "align")),
    Program("generator_dataset", needs="mindspore", options=(ALIGN,), enforced=("--profile", "align")),
    Program("pipeline", needs="tensorflow", options=(UNSAFE, ALIGN)),
    Program("keras_dropout", needs="tensorflow"),
    Program("forest", needs="sklearn"),
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.folder)
def test_runs_agree_once_fixed(program: Program, tmp_path: Path) -> None:
    if find_spec(program.needs) is None:
        pytest.skip(f"{program.needs} is not installed")
    code = copy(program, tmp_path / "before")
    with listings(tmp_path) if program.listing else nullcontext([()] * AFTER) as data:
        check(program, code, data)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.folder)
def test_runs_agree_when_enforced(program: Program, tmp_path: Path) -> None:
    if find_spec(program.needs) is None:
        pytest.skip(f"{program.needs} is not installed")
    code = copy(program, tmp_path / "unfixed")
    with listings(tmp_path) if program.listing else nullcontext([()] * AFTER) as data:
        printed = {enforced(program, code, place, data[place]) for place in range(ENFORCED)}
    assert len(printed) == 1, f"runs differ: {sorted(printed)}"


ONE_OF_EACH = [program for program in PROGRAMS if program.folder in ("vae", "generator_dataset", "keras_dropout")]


@pytest.mark.parametrize("program", ONE_OF_EACH, ids=lambda program: program.folder)
def test_the_command_does_the_same(program: Program, tmp_path: Path) -> None:
    """What `detlint run` itself makes of one program of each framework, in a fresh process, is what the forks print."""
    if find_spec(program.needs) is None:
        pytest.skip(f"{program.needs} is not installed")
    code = copy(program, tmp_path / "unfixed")
    command = [sys.executable, "-m", "detlint", "run", "--isolated", *program.enforced, program.script]
    environment = {**os.environ, **QUIET}
    fresh = printed(lambda: subprocess.run(command, cwd=code, env=environment, capture_output=True, text=True))
    assert fresh == enforced(program, code, 0, ())


def check(program: Program, code: Path, data: Sequence[Sequence[str]]) -> None:
    before = [run(program, code, number, data[number]) for number in range(BEFORE)]
    assert len(set(before)) == BEFORE, "it does the same each time although it is not fixed"

    for number, options in enumerate(program.options):
        fixed = copy(program, code.with_name(f"fixed-{number}"))
        result = detlint("check", "--isolated", "--no-cache", "--fix", *options, fixed)
        assert result.stderr == ""
        after = {run(program, fixed, place, data[place]) for place in range(AFTER)}
        assert len(after) == 1, f"{options}: what {difference(code, fixed)} leads to differs from run to run"


def copy(program: Program, folder: Path) -> Path:
    """A program where it may be changed."""
    return shutil.copytree(HERE / program.folder, folder, ignore=shutil.ignore_patterns("__pycache__"))


def difference(before: Path, after: Path) -> str:
    """What fixing has changed."""
    return subprocess.run(["diff", "-ru", before, after], capture_output=True, text=True, check=False).stdout


BEGINNING = {
    "torch": "import numpy, torch, torch._dynamo",
    "mindspore": "import mindspore, mindspore.dataset, numpy",
    "tensorflow": "import keras, numpy, tensorflow",
    "sklearn": "import numpy, sklearn.ensemble, sklearn.model_selection",
}
"""What is imported before the fork, by framework."""
FRESH = """
import sys

def begin():
    numpy.random.seed()
    if "torch" in sys.modules:
        torch.seed()
"""
QUIET = {
    "PYTHONDONTWRITEBYTECODE": "1",
    # Sums of several threads depend on how the work was shared out. That is no business of the code.
    "OMP_NUM_THREADS": "1",
}


def run(program: Program, folder: Path, number: int, arguments: Sequence[str]) -> str:
    """What a program prints in a process of its own.

    Args:
        number: which run it is.
    """
    process = server(BEGINNING[program.needs] + FRESH, **QUIET, PYTHONHASHSEED=str(number % 2 + 1))
    command = [process.python, program.script, *arguments]
    environment = {**os.environ, **QUIET}
    return printed(lambda: subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True))


KEPT = "import random\nbegun = random.getstate()\n"
RAN = """\
import os, runpy, sys
random.setstate(begun)  # which a fork makes anew
sys.argv.pop(0)
sys.path.insert(0, "")
runpy.run_path(os.path.abspath(sys.argv[0]), run_name="__main__")  # for those that it spawns
"""
"""What has random states already, those that `detlint run` gives, runs a program."""
TELL = "import json, os\nprint(json.dumps(dict(os.environ)))\n"


@cache
def started(options: Sequence[str]) -> dict[str, str]:
    """The variables that `detlint run` starts a program with."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "tell.py").write_text(TELL)
        command = [sys.executable, "-m", "detlint", "run", "--isolated", "--quiet", *options, "tell.py"]
        environment = {**os.environ, **QUIET}
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    variables: dict[str, str] = json.loads(done.stdout)
    return variables


def enforced(program: Program, folder: Path, number: int, arguments: Sequence[str]) -> str:
    """What it prints where Python is started as `detlint run` starts it.

    Args:
        number: which run it is. Each forks from a process of its own: forks of one have its random states, whatever they are.
    """
    process = server(f"{BEGINNING[program.needs]}\n{KEPT}", **started(program.enforced), START=str(number))
    return printed(lambda: process.run(RAN, program.script, *arguments, cwd=folder))


def printed(start: Callable[[], subprocess.CompletedProcess[str]]) -> str:
    for _ in range(ATTEMPTS):
        done = start()
        if ABORTED not in done.stderr:
            break
    assert done.returncode == 0, done.stderr
    assert len(done.stdout) >= FEWEST_CHARACTERS
    return done.stdout


@contextmanager
def listings(tmp_path: Path) -> Iterator[list[tuple[str]]]:
    """Folders with the same measurements, one for each run, which the file system lists in different orders.

    The order in which it lists them is its own affair: some go by when files were made, others by a hash of their names.
    The temporary folder is tried, and memory.
    """
    for place in (tmp_path, Path("/dev/shm")):
        if not place.is_dir():
            continue
        with tempfile.TemporaryDirectory(dir=place) as name:
            folders = [Path(name, str(number)) for number in range(AFTER)]
            for number, folder in enumerate(folders):
                measure(folder, number)
            if len({str(os.listdir(folder / "train")) for folder in folders}) == AFTER:
                yield [(str(folder),) for folder in folders]
                return
    pytest.skip("no file system here lists the same files in different orders")


def measure(folder: Path, number: int) -> None:
    """Write the files that `listing/train.py` reads, beginning with another one for each run."""
    for part in ("train", "held-out"):
        (folder / part).mkdir(parents=True)
        for place in range(MEASUREMENTS):
            i = (place + 5 * number) % MEASUREMENTS
            values = (i / MEASUREMENTS, i * i % 7 / 7, i % 3 / 3, i % 2)
            (folder / part / f"m{i:02}.txt").write_text(" ".join(map(str, values)))
