"""What the tests share: running detlint as its users do, through the command line."""

from __future__ import annotations

import gc
import json
import os
import pickle
import re
import shutil
import signal
import subprocess
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner, Result
from forks import server
from hypothesis import settings

from detlint.cli import main

REPOSITORY = Path(__file__).parent.parent
LONG_AGO = 1_600_000_000
"""In seconds."""
STEPS = 100
"""So many times at most a test dates files back."""
RUNS_KEPT = 25
_runs = count(1)

# Whoever starts the tests in the background may have it ignored, and all that they start would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Properties draw the same examples in every run, so that only a change can make a test fail;
# `pytest --hypothesis-profile explore` draws new ones.
settings.register_profile("repeat", derandomize=True, database=None, deadline=None)
settings.register_profile("explore", derandomize=False, deadline=None)
settings.load_profile("repeat")


def examples(exploring: int, always: int = 0) -> int:
    """How many examples of a property to draw: where new ones are drawn, and (by default a third of that) in every run, in which they
    are the same each time."""
    return (always or exploring // 3) if settings.default is None or settings.default.derandomize else exploring


def pytest_addoption(parser: pytest.Parser) -> None:
    told = (
        "what test_metamorphic.py does to fixtures: one thing at a time, to all; or all together, to programs and traps"
    )
    parser.addoption("--metamorphic", choices=["each", "together"], default="together", help=told)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """Each process goes through a part of the files in their order, so that what they share is made once, and then helps others."""
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log)


def detlint(*arguments: str | Path, stdin: bytes | None = None) -> Result:
    """Run the command line in this process; `exit_code`, `stdout` and `stderr` are what a shell would get."""
    gc.disable()
    try:
        return CliRunner().invoke(main, [str(argument) for argument in arguments], input=stdin, catch_exceptions=False)
    finally:
        gc.collect(1)  # what a run has made, which it leaves to the end of its process
        gc.enable()


def pytest_collection_finish() -> None:
    """Leave out of each search for garbage what all tests are, and what they have imported."""
    gc.collect()
    gc.freeze()


CHECKING = """\
import contextlib, io, pathlib, tempfile
from detlint.cli import main

with tempfile.TemporaryDirectory() as folder, contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):
    pathlib.Path(folder, "draw.py").write_text("import torch\\n\\nprint(torch.rand(3))\\n")
    main(["check", "--isolated", "--no-cache", "--output-format", "json", folder], standalone_mode=False)
"""
"""A process that has checked something, and so has imported and loaded all that this takes."""


def apart(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Check without configuration, and without a cache that isn't named, in a process of its own, which has loaded the catalog.

    Args:
        environment: variables that Python reads when it starts.
    """
    kept = () if "--cache-dir" in arguments else ("--no-cache",)
    options = ("check", "--isolated", *kept, "--show-notes", *arguments)
    done = server(CHECKING, **environment).run("main(prog_name='detlint')", *options, cwd=cwd)
    return subprocess.CompletedProcess(options, done.returncode, done.stdout.encode(), done.stderr.encode())


def findings(*arguments: str | Path, isolated: bool = True) -> list[dict[str, Any]]:
    """The findings of a run, as the JSON format has them; notes included, no cache, and no configuration file."""
    config = ["--isolated"] if isolated else []
    result = detlint("check", *config, "--no-cache", "--show-notes", "--output-format", "json", *arguments)
    assert result.exit_code in (0, 1), result.stderr
    loaded: list[dict[str, Any]] = json.loads(result.stdout)
    return loaded


CONCISE = re.compile(
    r"(?P<file>[^:]+):(?:cell (?P<cell>[1-9]\d*):)?(?P<line>[1-9]\d*):(?P<column>[1-9]\d*): "
    r"(?P<level>error|warning|note): (?P<code>DET\d{3}) (?P<text>\S.*)"
)
"""A line of the concise format."""


class Told(NamedTuple):
    """A finding as a line of the concise format has it, which plans no fix."""

    path: Path
    cell: int | None
    line: int
    column: int
    level: str
    code: str
    message: str

    @classmethod
    def of(cls, line: str) -> Told:
        match = CONCISE.fullmatch(line)
        assert match is not None, line
        cell, (row, column) = match["cell"], map(int, match.group("line", "column"))
        return cls(
            Path(match["file"]).absolute(),
            int(cell) if cell else None,
            row,
            column,
            *match.group("level", "code", "text"),
        )


def told(*arguments: str | Path, isolated: bool = True) -> list[Told]:
    """The findings of a run; notes included, no cache, and no configuration file."""
    config = ["--isolated"] if isolated else []
    result = detlint("check", *config, "--no-cache", "--show-notes", "--output-format", "concise", *arguments)
    assert result.exit_code in (0, 1), result.stderr
    return [*map(Told.of, result.stdout.splitlines())]


def age(root: Path, number: int = 0) -> None:
    """Date back what has just been written, so that the time of its modification doesn't tell that it was."""
    for path in root.rglob("*"):
        if path.is_file() and path.stat().st_mtime > LONG_AGO + STEPS:
            os.utime(path, (LONG_AGO + number, LONG_AGO + number))


def notebook(*cells: str | dict[str, Any], **fields: Any) -> str:
    """A notebook as Jupyter writes it. A cell is code; one that begins with `#md` is Markdown; a table is taken as it is."""
    listed: list[dict[str, Any]] = []
    for cell in cells:
        if isinstance(cell, dict):
            listed.append({"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], **cell})
        elif cell.startswith("#md"):
            listed.append({"cell_type": "markdown", "metadata": {}, "source": cell[3:].splitlines(True)})
        else:
            source = cell.splitlines(True)
            listed.append(
                {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": source}
            )
    return json.dumps({"cells": listed, "metadata": {}, "nbformat": 4, "nbformat_minor": 4, **fields}, indent=1)


@pytest.fixture
def copied(tmp_path: Path) -> Callable[[str], Path]:
    """Copies a folder or file of the fixtures to where it is a program of its own: below the repository, it is a part of this one,
    and all fixtures would be read with it."""

    def copy(name: str) -> Path:
        source, target = REPOSITORY / "fixtures" / name, tmp_path / "fixtures" / Path(name).name
        target.parent.mkdir(exist_ok=True)
        return Path(shutil.copytree(source, target) if source.is_dir() else shutil.copy(source, target))

    return copy


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all workers of a test run share, for what is made by whoever needs it first."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "shared"
    folder.mkdir(exist_ok=True)
    return folder


def once(
    shared: Path, fixture: Path, judge: Callable[[Path, Path], tuple[Path, list[Told]]]
) -> tuple[Path, list[Told]]:
    """What `judge` says of a fixture and a folder: found once in a test run, by whoever asks first."""
    from filelock import FileLock

    folder = shared / "judged" / fixture.relative_to(REPOSITORY / "fixtures")
    kept = folder / "judged"
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / "lock"):
        if not kept.exists():
            kept.write_bytes(pickle.dumps(judge(fixture, folder)))
        root, found = pickle.loads(kept.read_bytes())
    return root, found


class Corpus(NamedTuple):
    """A third of the fixtures of each rule, and the facts and verdicts about them: analysed once in a test run, by whoever asks first."""

    folder: Path
    cache: Path

    def check(self, *arguments: str) -> Result:
        """What a run over the corpus says under the stricter profile, notes included; all share the analysis."""
        options = ("--jobs", "1", "--isolated", "--cache-dir", self.cache, "--show-notes", "--profile", "align")
        result = detlint("check", *options, *arguments, self.folder)
        assert result.exit_code == 1, result.stderr
        return result


@pytest.fixture(scope="session")
def corpus(shared: Path) -> Corpus:
    from filelock import FileLock

    made = Corpus(shared / "corpus" / "fixtures", shared / "corpus" / "cache")
    with FileLock(shared / "corpus.lock"):
        if not made.cache.exists():
            fixtures = REPOSITORY / "fixtures"
            shutil.copytree(fixtures / "showcase", made.folder / "showcase")
            for folder in (*(fixtures / "rules").iterdir(), fixtures / "traps"):
                copy = made.folder / folder.relative_to(fixtures)
                copy.mkdir(parents=True)
                for path in sorted(path for path in folder.iterdir() if path.is_file())[::3]:
                    shutil.copy(path, copy)
            age(made.folder)
            made.check()
    return made


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Writes files below a fresh folder, makes it the current one, and returns it."""

    def write(**files: str | bytes) -> Path:
        for name, content in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        monkeypatch.chdir(tmp_path)
        return tmp_path

    return write
