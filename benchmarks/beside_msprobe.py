"""msprobe beside `detlint`: whether its dumps of two runs name the line of a fault, and what a dump costs.

    pip install mindstudio-probe==26.2.0
    python benchmarks/beside_msprobe.py [faults [NAME]...] [cost]

- faults: the programs of `fault_programs.py`, as its guide has it: a debugger that dumps at level L1 with CRC-32 (`summary_mode: md5`)
  is started as soon as PyTorch is imported and in each step, stopped and stepped at its end; two runs; `msprobe compare` of their first
  step, and of the second if that is equal. Its first row that differs is its answer; the line is the innermost of the program's in that
  row's stack.
- cost: seconds on the CPU of a step that is dumped against a plain one, for the workloads of `trace.py`; kilobytes a step.
"""

from __future__ import annotations

import csv
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from fault_programs import CLEAN, FAULTS

MODES: Final = ("md5", "statistics")
STEPS: Final = 10
BEGIN: Final = "from msprobe.pytorch import PrecisionDebugger; debugger = PrecisionDebugger(config_path='{config}'); debugger.start()"


def configuration(folder: Path, summary: str = "md5") -> Path:
    """A file that says what is dumped, and into this folder."""
    statistics_of = {"scope": [], "list": [], "data_mode": ["all"], "summary_mode": summary}
    told: dict[str, Any] = {"task": "statistics", "dump_path": str(folder), "rank": [], "step": [], "level": "L1"}
    path = folder.with_suffix(".json")
    path.write_text(json.dumps({**told, "statistics": statistics_of}))
    return path


def instrumented(text: str, config: Path) -> str:
    """A program with the calls that msprobe's guide asks for."""
    text = text.replace("from torch import nn", f"from torch import nn; {BEGIN.format(config=config)}", 1)
    head, loop, body = text.partition("\nfor step")
    first, _, rest = body.partition("\n")
    return f"{head}{loop}{first}\n    debugger.start()\n{rest}\n    debugger.stop()\n    debugger.step()\n"


def compared(folder: Path, text: str) -> tuple[str, int]:
    """`different`, `equal` or what went wrong, and the line that is named (0: none)."""
    program = folder / "train.py"
    for run in "ab":
        program.write_text(instrumented(text, configuration(folder / run)))
        done = subprocess.run([sys.executable, "train.py"], cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode:
            return f"failed: {done.stderr.strip().splitlines()[-1][:100]}", 0
    for step in ("step0", "step1"):
        dumps = [next((folder / run / step).glob("*/dump.json")) for run in "ab"]
        into = folder / f"out-{step}"
        into.mkdir()
        command = ["msprobe", "compare", "-tp", str(dumps[0]), "-gp", str(dumps[1]), "-o", str(into)]
        subprocess.run(
            [str(Path(sys.executable).with_name(command[0])), *command[1:]], capture_output=True, check=False
        )
        table = next(into.glob("*.csv"), None)
        if table is None:
            return "nothing compared", 0
        with table.open() as file:
            rows = [*csv.DictReader(file)]
        for place, row in enumerate(rows):
            if row["Result"] == "error":
                return "different", _line(rows, place)
    return "equal", 0


def _line(rows: list[dict[str, str]], place: int) -> int:
    """The innermost of the program's lines in the stack of a call, which stands in the call's first row."""
    call = re.split(r"\.(?:input|output|kwargs)\b", rows[place]["NPU Name"])[0]
    stacks = (row["NPU_Stack_Info"] for row in rows if row["NPU Name"].startswith(f"{call}."))
    found = (re.search(r"train\.py, line (\d+)", stack) for stack in stacks)
    return next((int(match[1]) for match in found if match), 0)


def faults(names: list[str]) -> None:
    """Each program, and the sums."""
    different = exact = wanted = clean = equal = 0
    for name, text in [*FAULTS.items(), *CLEAN.items()]:
        if names and name not in names:
            continue
        began = time.perf_counter()
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made)
            said, line = compared(folder, text)
            lines = (folder / "train.py").read_text().splitlines()
        marked = bool(line) and lines[line - 1].endswith("# fault")
        if name in FAULTS:
            wanted, different, exact = wanted + 1, different + (said == "different"), exact + marked
        else:
            clean, equal = clean + 1, equal + (said == "equal")
        where = f"line {line}: {lines[line - 1].strip()[:60]}" if line else ""
        print(
            f"{'exact' if marked else '':6} {name:22} {time.perf_counter() - began:4.0f} s  {said}  {where}", flush=True
        )
    print(
        f"{different} of {wanted} faults called different, {exact} at their line; {equal} of {clean} clean called equal"
    )


def cost() -> None:
    """Dumped steps against plain ones, in turn."""
    print("| workload | dump | plain (ms) | dumped (ms) | ratio of medians | KB a step |\n|---|---|---|---|---|---|")
    for name in ("CNN", "transformer block"):
        for mode in MODES:
            with tempfile.TemporaryDirectory() as made:
                dumps = Path(made, "dump")
                plain = [*_steps(name, "")]
                dumped = [*_steps(name, str(configuration(dumps, mode)))]
                size = sum(file.stat().st_size for file in dumps.rglob("*.json")) / (STEPS + 3) / 1024
            one, other = statistics.median(plain), statistics.median(dumped)
            print(
                f"| {name} | L1 {mode} | {one * 1e3:.1f} | {other * 1e3:.1f} | {other / one:.1f} | {size:.0f} |",
                flush=True,
            )


def _steps(name: str, config: str) -> Iterator[float]:
    command = [sys.executable, __file__, "steps", name, config]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return (float(line.split()[1]) for line in done.stdout.splitlines() if line.startswith("took "))


def steps(name: str, config: str) -> None:
    """Run a workload, dumped if a configuration is named."""
    from trace import workload  # beside this file, not Python's

    import torch

    torch.set_num_threads(1)
    torch.manual_seed(0)
    debugger = None
    if config:
        from msprobe.pytorch import PrecisionDebugger  # type: ignore[import-not-found]

        debugger = PrecisionDebugger(config_path=config)
    step = workload(name)
    for i in range(STEPS + 3):
        started = time.process_time()
        if debugger is not None:
            debugger.start()
        step()
        if debugger is not None:
            debugger.stop()
            debugger.step()
        if i > 2:
            print("took", time.process_time() - started)


def main(arguments: list[str]) -> None:
    """Run what is asked for, or everything."""
    if arguments[:1] == ["steps"]:
        steps(*arguments[1:])
        return
    if not arguments or arguments[0] == "faults":
        faults(arguments[1:])
    if not arguments or arguments[0] == "cost":
        cost()


if __name__ == "__main__":
    main(sys.argv[1:])
