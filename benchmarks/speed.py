"""Ratios of detlint to `ast.parse` alone over the same files, with the same number of processes, in one run.

    python benchmarks/speed.py PATH... [--runs 3] [--jobs 2] [--edits 12]

PATH is a folder of Python sources, such as an unpacked wheel. The two are run in turn, A B A B, so that a machine whose
speed drifts does not favour one; medians and the ratio of each pair are printed as a Markdown table. Cold is with an
empty cache, warm an unchanged second run. Then files that are drawn at random are edited, one after the other: a line at the top
moves all others, and a new function comes behind them. Each is checked so, and put back.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from random import Random

PARSE = """
import ast, sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

def parse(names):
    for name in names:
        try:
            ast.parse(Path(name).read_bytes())
        except (SyntaxError, ValueError):
            pass

if __name__ == "__main__":
    jobs = int(sys.argv[1])
    files = sorted(str(p) for top in sys.argv[2:] for p in Path(top).rglob("*.py"))
    files.sort(key=lambda name: -Path(name).stat().st_size)
    chunks = [files[i :: len(files) // 24 + 1] for i in range(len(files) // 24 + 1)]
    with ProcessPoolExecutor(jobs) as pool:
        list(pool.map(parse, chunks))
"""


def timed(command: Sequence[str], ok: tuple[int, ...] = (0, 1)) -> tuple[float, float]:
    """Wall and CPU seconds of a command, its children included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    code = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode
    wall = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if code not in ok:
        raise SystemExit(f"{command} ended with {code}")
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def peak_memory(command: Sequence[str]) -> int:
    """The largest resident size of any one process of a command, in bytes."""
    code = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], stdout=-3, stderr=-3); "
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    out = subprocess.run([sys.executable, "-c", code, *command], capture_output=True, text=True, check=True).stdout
    return int(out) * 1024


def read_once(paths: Sequence[Path]) -> int:
    """Bring the files into the page cache; their number."""
    files = [file for path in paths for file in path.rglob("*.py")]
    with ProcessPoolExecutor(1) as pool:
        list(pool.map(Path.read_bytes, files, chunksize=100))
    return len(files)


def edited(check: Sequence[str], paths: Sequence[Path], count: int) -> list[tuple[float, str]]:
    """Wall seconds of a check after one file was edited, with the file, for some files, the fastest first."""
    files = sorted(file for path in paths for file in path.rglob("*.py"))
    found = []
    for file in Random(1).sample(files, count):
        text = file.read_bytes()
        try:
            file.write_bytes(b"# edited\n" + text + b"\n\ndef _edited(x):\n    return [x]\n")
            found.append((timed(check)[0], str(file)))
        finally:
            file.write_bytes(text)
        timed(check)
    return sorted(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--edits", type=int, default=12)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args()
    count = read_once(options.paths)
    paths = [str(path) for path in options.paths]
    rows: dict[str, list[tuple[float, float]]] = {"ast.parse": [], "cold": [], "warm": []}
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "parse.py")
        script.write_text(PARSE)
        parse = [sys.executable, str(script), str(options.jobs), *paths]
        cache = Path(folder, "cache")
        check = [sys.executable, "-m", "detlint", "check", "--isolated", "--jobs", str(options.jobs), "--statistics"]
        for run in range(options.runs):
            rows["ast.parse"].append(timed(parse))
            rows["cold"].append(timed([*check, "--cache-dir", f"{cache}{run}", *paths]))
            rows["warm"].append(timed([*check, "--cache-dir", f"{cache}{run}", *paths]))
        edits = edited([*check, "--cache-dir", f"{cache}0", *paths], options.paths, options.edits)
        memory = peak_memory([*check, "--cache-dir", f"{cache}-memory", *paths])
    base = [wall for wall, _ in rows["ast.parse"]]
    print(f"{count} files, {options.jobs} processes, {options.runs} runs, Python {sys.version.split()[0]}\n")
    print("| | wall, median (s) | CPU, median (s) | wall / `ast.parse`, median of pairs |\n|---|---|---|---|")
    for name, times in rows.items():
        ratio = statistics.median(wall / reference for (wall, _), reference in zip(times, base, strict=True))
        wall, cpu = (statistics.median(column) for column in zip(*times, strict=True))
        print(f"| {name} | {wall:.2f} | {cpu:.2f} | {ratio:.2f} |")
    if edits:
        (least, _), (most, slowest) = edits[0], edits[-1]
        middle = statistics.median(wall for wall, _ in edits)
        print(f"\nOne file edited, {len(edits)} files: median {middle:.2f} s, {least:.2f} to {most:.2f} s ({slowest}).")
    print(f"\nPeak memory of the largest process, cold: {memory / 2**20:.0f} MB.")


if __name__ == "__main__":
    main()
