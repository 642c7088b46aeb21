"""How long people wait where detlint is started anew each time: for the hook of a commit, for its import, for flake8.

    python benchmarks/start.py [--runs 15] [--files 1000] [--plain PATH]

- **hook**: `detlint check --force-exclude` on three files of a generated project whose cache is warm: unchanged, and with a line
  more in each, which ends up in one run of ten or in all. The bare interpreter and `detlint --version` are there to compare with.
- **import**: what `import detlint` takes beyond the bare interpreter, as Python itself measures it.
- **flake8**: over PATH (default: the standard library's `asyncio`, `email` and `json`), in which detlint finds nothing, with and
  without the plugin.

All are run in turn, A B A B, so that a machine whose speed drifts does not favour one. Printed are medians of wall and CPU seconds,
and the load of the machine before and after.
"""

from __future__ import annotations

import argparse
import atexit
import os
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from server import generate
from speed import read_once, timed

PLAIN = ("asyncio", "email", "json")
FLAKE8 = """
import importlib.metadata, sys
known = importlib.metadata.distributions
if sys.argv.pop(1) == "without":
    importlib.metadata.distributions = lambda **asked: (d for d in known(**asked) if d.metadata["name"] != "detlint")
from flake8.main.cli import main
sys.exit(main())
"""
Times = dict[str, list[tuple[float, float]]]
Cases = dict[str, tuple[Callable[[int], None], Sequence[str]]]
"""What is prepared for each run, by its number, and the command that is timed."""


def hook(root: Path, files: int, runs: int) -> Times:
    """The hook, and what it is compared with."""
    generate(root, files)
    blocks = {
        "one run in ten passes": [files // 3, files // 2, 3 * files // 4],
        "all ten runs pass": [5, 6, 7],
    }
    cases: Cases = {
        "bare interpreter": (lambda _: None, [sys.executable, "-c", "pass"]),
        "`detlint --version`": (lambda _: None, [sys.executable, "-m", "detlint", "--version"]),
    }
    for which, numbers in blocks.items():
        changed = [root / "package" / f"block{number}.py" for number in numbers]
        command = [sys.executable, "-m", "detlint", "check", "--force-exclude", *map(str, changed)]
        cases.setdefault("hook, 3 files, unchanged", (lambda _: None, command))
        cases[f"hook, 3 files with a line more each, which {which}"] = (partial(lengthen, changed), command)
    for _, once in cases.values():
        timed(once)
    return in_turn(cases, runs, root)


def lengthen(files: Sequence[Path], number: int) -> None:
    """Write a line of code at the end of some files."""
    for file in files:
        with file.open("a") as end:
            end.write(f"number = {number}\n")


def in_turn(cases: Cases, runs: int, folder: Path) -> Times:
    """Each case once, then each again: something that is prepared, and a command that is timed."""
    times: Times = {name: [] for name in cases}
    here = Path.cwd()
    os.chdir(folder)
    try:
        for number in range(runs):
            for name, (prepare, command) in cases.items():
                prepare(number)
                times[name].append(timed(command))
    finally:
        os.chdir(here)
    return times


def imported(runs: int) -> float:
    """Milliseconds that `import detlint` takes, by `-X importtime`; the median."""
    found = []
    for _ in range(runs):
        command = [sys.executable, "-X", "importtime", "-c", "import detlint"]
        told = subprocess.run(command, capture_output=True, text=True, check=True).stderr.splitlines()
        found.append(next(int(line.split("|")[1]) for line in told if line.split("|")[-1].strip() == "detlint"))
    return statistics.median(found) / 1000


def flake8(plain: Sequence[Path], folder: Path, runs: int) -> tuple[int, Times]:
    """flake8 over some sources, in a project of their own; how many files there are, and the times."""
    (folder / "pyproject.toml").write_text("[project]\nname = 'plain'\n")
    for path in plain:
        shutil.copytree(path, folder / path.name, ignore=shutil.ignore_patterns("__pycache__"))
    script = folder / "run_flake8.py"
    script.write_text(FLAKE8)
    commands = {
        name: [sys.executable, str(script), name, "--isolated", *(path.name for path in plain)]
        for name in ("without", "with")
    }
    cases: Cases = {f"flake8 {name} the plugin": (lambda _: None, command) for name, command in commands.items()}
    for command in commands.values():
        subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, check=False)
    return read_once([folder / path.name for path in plain]), in_turn(cases, runs, folder)


def table(times: Times, base: str) -> None:
    """Print medians, and the median of the ratios to one of them, pair by pair."""
    print(
        f"| | wall, median (s) | CPU, median (s) | wall / {base}, median of pairs | CPU / {base} |\n|---|---|---|---|---|"
    )
    for name, taken in times.items():
        pairs = [*zip(taken, times[base], strict=True)]
        wall, cpu = (statistics.median(column) for column in zip(*taken, strict=True))
        ratios = [statistics.median(time[i] / other[i] for time, other in pairs) for i in (0, 1)]
        print(f"| {name} | {wall:.3f} | {cpu:.3f} | {ratios[0]:.2f} | {ratios[1]:.2f} |", flush=True)


def main() -> None:
    """Measure, and print tables in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--plain", type=Path, nargs="+", metavar="PATH")
    options = parser.parse_args()
    library = Path(sysconfig.get_path("stdlib"))
    load = os.getloadavg()[0]
    # What is installed is compiled; what is run from a checkout must be, too.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = compiled = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, compiled)
    with tempfile.TemporaryDirectory() as folder:
        times = hook(Path(folder), options.files, options.runs)
    print(f"{options.files} files, {options.runs} runs, Python {sys.version.split()[0]}\n")
    table(times, "bare interpreter")
    print(f"\n`import detlint`: {imported(options.runs):.1f} ms.\n")
    with tempfile.TemporaryDirectory() as folder:
        count, times = flake8(options.plain or [library / name for name in PLAIN], Path(folder), options.runs)
    print(f"{count} files without findings:\n")
    table(times, "flake8 without the plugin")
    print(f"\nLoad of the machine before: {load:.1f}, after: {os.getloadavg()[0]:.1f}.")


if __name__ == "__main__":
    main()
