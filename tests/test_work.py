"""How much work checking takes, counted: parsing, following, reading. The numbers are in `data/work.toml`; see there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import large_project
import pytest
from conftest import REPOSITORY

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

NUMBERS: Final = REPOSITORY / "tests" / "data" / "work.toml"
TORCH: Final = "2.13.0"
PARTS: Final = ("testing/_internal/distributed", "utils/data", "optim")
RUNS: Final = (
    "files looked at",
    "runs followed",
    "calls come to",
    "calls gone through",
    "sites visited",
)
"""What doesn't depend on the number of processes; the rest does, as each reads and keeps for itself."""
HEAD: Final = """\
# How much work it takes to check some projects in one process, without a cache: `tests/test_work.py` holds detlint to it.
#
# The numbers are the same on every machine. They must only fall, unless the message of the commit that lets one rise says why it has
# to. `python tests/test_work.py` writes them anew.
"""


def small(folder: Path) -> None:
    """A few files that show what is found."""
    shutil.copytree(REPOSITORY / "fixtures" / "showcase", folder, ignore=shutil.ignore_patterns("__pycache__"))


def library(folder: Path) -> None:
    """Parts of PyTorch, which few runs start in."""
    spec = find_spec("torch")
    assert spec is not None and spec.origin is not None
    for part in PARTS:
        shutil.copytree(
            Path(spec.origin).parent / part, folder / Path(part).name, ignore=shutil.ignore_patterns("__pycache__")
        )


PROJECTS: Final[dict[str, Callable[[Path], None]]] = {"small": small, "library": library, "large": large_project.write}


def done(
    folder: Path, jobs: int = 1, hash_seed: str = "1", cache: Path | None = None, file: str = ""
) -> dict[str, int]:
    """The work of checking a folder, or a file of it, in a process of its own: what others have done in it would be spared."""
    command = [
        sys.executable,
        "-m",
        "detlint",
        "check",
        "-vv",
        "--isolated",
        "--exit-zero",
        "--statistics",
        *(["--no-cache"] if cache is None else ["--cache-dir", str(cache)]),
    ]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "PYTHONHASHSEED": hash_seed}
    arguments = [*command, "--jobs", str(jobs), str(folder / file)]
    result = subprocess.run(arguments, capture_output=True, text=True, env=environment, timeout=300, check=True)
    rows = re.findall(r"^([a-zA-Z ]+?) +([\d,]+)$", result.stderr, re.M)
    return {name: int(number.replace(",", "")) for name, number in rows}


def expected(name: str) -> dict[str, int]:
    numbers: dict[str, int] = tomllib.loads(NUMBERS.read_text("utf-8"))[name]
    return numbers


@pytest.mark.parametrize("name", PROJECTS)
def test_the_work(name: str, tmp_path: Path) -> None:
    if name == "library" and version("torch").partition("+")[0] != TORCH:
        pytest.skip(f"the numbers are those of PyTorch {TORCH}")
    PROJECTS[name](tmp_path / "project")
    assert done(tmp_path / "project") == expected(name), (
        "checking takes another amount of work than it did. Where it has to, say why in the commit's message, "
        f"and write the numbers anew: python {Path(__file__).relative_to(REPOSITORY)}"
    )


def test_processes_share_the_work_of_runs(tmp_path: Path) -> None:
    large_project.write(tmp_path / "project")
    found, numbers = done(tmp_path / "project", jobs=2, hash_seed="2"), expected("large")
    assert {name: found[name] for name in RUNS} == {name: numbers[name] for name in RUNS}


def test_a_process_takes_what_another_one_has_found_out(tmp_path: Path) -> None:
    project, cache = tmp_path / "project", tmp_path / "cache"
    large_project.write(project)
    (project / "pyproject.toml").write_text("[tool.detlint]\n")
    assert done(project, hash_seed="1", cache=cache)["queries run"] > 100
    for seed in ("2", "3"):
        assert done(project, hash_seed=seed, cache=cache)["queries run"] == 0
    file = next(iter(sorted(project.rglob("*.py")))).relative_to(project)
    done(project, hash_seed="4", cache=cache, file=str(file))  # which runs are asked for is another question
    assert done(project, hash_seed="5", cache=cache, file=str(file))["queries run"] == 0


@pytest.mark.parametrize("room", ["facts", "program", "checks", "fixes"])
def test_all_parsing_is_counted(room: str) -> None:
    files = sorted((REPOSITORY / "detlint" / room).rglob("*.py"))
    parsing = [
        file.name
        for file in files
        for _ in re.findall(r"\bast\.parse\(|\bcst\.parse_module\(", file.read_text("utf-8"))
    ]
    assert parsing == {"fixes": ["imports.py"]}.get(room, [])


def write() -> None:
    """Write the numbers anew."""
    parts = [HEAD]
    for name, make in PROJECTS.items():
        with tempfile.TemporaryDirectory() as folder:
            make(Path(folder, "project"))
            rows = done(Path(folder, "project"))
        parts.append("\n".join([f"[{name}]", *(f'"{row}" = {number}' for row, number in rows.items())]) + "\n")
    NUMBERS.write_text("\n".join(parts), "utf-8")


if __name__ == "__main__":
    write()
