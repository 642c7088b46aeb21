"""Does `detlint verify` name the operator that varies on this GPU, and does the program repeat under it?

    python benchmarks/gpu/verifying.py [NAME ...]

For each program of `varying.py`: `detlint verify --as-is`, which should tell its runs apart and name the line that says
`# varies`, in the pass that the line says; and `detlint verify`, under which it should repeat. Without a GPU it says so
and runs nothing; `--device cpu` is for trying the script itself.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from machine import asked
from varying import PROGRAMS

PROGRAM = Path(__file__).with_name("varying.py")


def verified(*arguments: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "detlint", "verify", "--output-format", "json", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        return {"outcome": (done.stderr.strip().splitlines() or ["no output"])[-1]}
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def varies(name: str) -> tuple[int, str]:
    """The line of a program at which it varies, and in which pass."""
    lines = PROGRAM.read_text().splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(f"def {name}("))
    row = next(i for i in range(start, len(lines)) if "# varies " in lines[i])
    return row + 1, lines[row].rpartition(" ")[2]


def named(found: dict[str, Any]) -> tuple[str, str]:
    """What the trace names, with its line and pass; and its cause."""
    story = (found.get("trace") or {}).get("story")
    if not story:
        return "-", "-"
    frames = [frame for frame in [*story["stack"], *story["forward"]] if Path(frame["file"]).name == PROGRAM.name]
    line = f":{frames[0]['line']}" if frames else ""
    where = "backward" if story["backward"] else "forward"
    return f"{story['api'] or story['operator']}{line}, {where}", story["cause"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", default=[*PROGRAMS])
    options = asked(parser)
    print("| program | varies at | as it is | named | cause | under detlint |\n|---|---|---|---|---|---|")
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for line in pool.map(lambda name: row(name, options.device), options.names):
            print(line, flush=True)


def row(name: str, device: str) -> str:
    arguments = [str(PROGRAM), name, "--device", device]
    as_is, enforced = verified("--as-is", *arguments), verified(*arguments)
    line, where = varies(name)
    what, cause = named(as_is)
    return f"| {name} | :{line}, {where} | {as_is['outcome']} | {what} | {cause} | {enforced['outcome']} |"


if __name__ == "__main__":
    main()
