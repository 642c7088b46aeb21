"""Whether `detlint verify` names the line of a fault, and leaves programs alone that repeat.

    python benchmarks/faults.py [torch | tensorflow | mindspore] [NAME]...

Each program of `fault_programs.py`, or of another framework, is verified as it is. Told is, of the faults, how many are called
different and how many have their line as the headline's, and of the clean ones, how many are called equal. Programs run in forks of a
process that has imported the framework, with new random states; those whose fault lies in the hash seed or in addresses run in
processes of their own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import fault_programs
import fault_programs_frameworks as others

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from forks import server
from traced import IMPORTS, QUIET

FRESH = {"set_order", "string_hash", "identity_order"}
BEGIN = """
import random, numpy, detlint.cli, detlint.project, detlint.tracing.output, detlint.tracing.verify
def begin():
    numpy.random.seed(), random.seed()
"""
SEED = {"torch": "    torch.seed()\n"}
PROGRAMS = {
    "torch": (fault_programs.FAULTS, fault_programs.CLEAN),
    "tensorflow": (others.TENSORFLOW, others.TENSORFLOW_CLEAN),
    "mindspore": (others.MINDSPORE, others.MINDSPORE_CLEAN),
}


def verified(framework: str, name: str, text: str) -> tuple[int, dict[str, Any]]:
    """The exit code, and what is told."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "pyproject.toml").write_text('[project]\nname = "demo"\n')
        Path(folder, "train.py").write_text(text)
        root = str(Path(__file__).parent.parent)
        python = (
            sys.executable
            if name in FRESH
            else server(IMPORTS[framework] + BEGIN + SEED.get(framework, ""), **QUIET).python
        )
        command = [python, "-m", "detlint", "verify", "--as-is", "--output-format", "json", "train.py"]
        environment = {**os.environ, "PYTHONPATH": root, "OMP_NUM_THREADS": "1"}
        environment.pop("PYTHONHASHSEED", None)
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        if done.returncode not in (0, 1):
            print(name, done.stdout[-500:], done.stderr[-2000:])
        return done.returncode, json.loads(done.stdout or "{}")


def told(found: dict[str, Any]) -> tuple[int, str]:
    """The headline's line (0: there is none), and the headline."""
    story = found.get("story") or (found.get("trace") or {}).get("story")
    if not story:
        return 0, str(found.get("said", ""))[:150]
    return (story["stack"][0]["line"] if story["stack"] else 0), story["headline"]


def main(names: list[str]) -> None:
    """Verify all of a framework, or those that are named."""
    framework = names.pop(0) if names and names[0] in PROGRAMS else "torch"
    different = exact = faults = equal = clean = 0
    programs, repeating = PROGRAMS[framework]
    for name, text in [*programs.items(), *repeating.items()]:
        if names and name not in names:
            continue
        began = time.perf_counter()
        code, found = verified(framework, name, text)
        line, headline = told(found)
        wanted = [i for i, row in enumerate(text.splitlines(), 1) if row.endswith("# fault")]
        if wanted:
            faults += 1
            different += code == 1
            exact += line in wanted
            mark = "exact" if line in wanted else "other" if code == 1 else "equal"
        else:
            clean += 1
            equal += code == 0
            mark = "equal" if code == 0 else "WRONG"
        seconds = time.perf_counter() - began
        print(f"{mark:6} {name:22} {seconds:4.0f} s  line {line or '-'} of {wanted}  {headline}", flush=True)
    print(
        f"{different} of {faults} faults called different, {exact} at their line; {equal} of {clean} clean called equal"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
