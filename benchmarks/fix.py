"""Ratios of fixing to checking the same files, cold, in one run.

    python benchmarks/fix.py PATH [--pairs 3] [--jobs 2] [--options="--profile align --unsafe-fixes"]

PATH is a folder of Python sources. It is copied, since a program may not be changed while it is measured. `check` and
`check --diff`, which makes every fix and writes none, are run in turn, A B A B, so that a machine whose speed drifts
does not favour one. The options are given to both.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from speed import read_once, timed


def fixes(command: list[str]) -> str:
    """What a command says it would fix."""
    told = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False).stderr
    found = re.search(r"(?m)^(?:Would fix|Nothing).*$", told)
    return found[0] if found else "It says nothing."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("path", type=Path)
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--options", type=shlex.split, default=[])
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder, asked.path.resolve().name)
        shutil.copytree(asked.path, tree, ignore=shutil.ignore_patterns(".git", "__pycache__"))
        count = read_once([tree])
        common = ["--isolated", "--no-cache", "--jobs", str(asked.jobs), *asked.options, str(tree)]
        commands = {
            name: [sys.executable, "-m", "detlint", "check", *more, *common]
            for name, more in {"check": [], "check --diff": ["--diff"]}.items()
        }
        rows: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
        for _ in range(asked.pairs):
            for name, command in commands.items():
                rows[name].append(timed(command))
        told = fixes(commands["check --diff"])
    print(f"{count} files, {asked.jobs} processes, {asked.pairs} pairs, Python {sys.version.split()[0]}. {told}\n")
    print("| | wall, median (s) | CPU, median (s) | wall / `check`, median of pairs | CPU / `check`, median of pairs |")
    print("|---|---|---|---|---|")
    for name, times in rows.items():
        pairs = [*zip(times, rows["check"], strict=True)]
        wall, cpu = (statistics.median(column) for column in zip(*times, strict=True))
        ratios = [statistics.median(time[i] / base[i] for time, base in pairs) for i in (0, 1)]
        print(f"| {name} | {wall:.2f} | {cpu:.2f} | {ratios[0]:.2f} | {ratios[1]:.2f} |")


if __name__ == "__main__":
    main()
