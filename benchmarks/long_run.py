"""What it costs to trace a difference in a late step of a long run, and what storing states for that costs.

    python benchmarks/long_run.py [steps] [late]

A small network trains 10,000 steps; in step 7,000 one value of the batch gets up to 0.001 from an unseeded `random.Random()`.
Measured are the plain run; verifying it without the fault, without states (`--no-trace`) and with them, in turn; verifying it with the
fault, by going on from a state and, where the program has a pipe open, from the beginning. Seconds that pass and seconds on the CPU,
and the memory of all processes of the run: of what they share, each counts its share (`Pss`). The machine's load is printed beside them.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

PROGRAM: Final = """\
import os, random, sys
import torch

torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(16, 64), torch.nn.ReLU(), torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1))
optimizer = torch.optim.AdamW(net.parameters())
pair = {pipe}
for step in range({steps}):
    x = torch.randn(32, 16)
    if step == {late}:
        x[0, 0] += random.Random().random() / 1000
    optimizer.zero_grad()
    (net(x) - x.sum(1, keepdim=True)).square().mean().backward()
    optimizer.step()
"""
ROUNDS: Final = 3
VERIFY: Final = ("-m", "detlint", "verify", "--as-is", "--iterations", "0", "--output-format", "json")


class Memory(threading.Thread):
    """Looks at the memory of all processes that run a program, until it is stopped.

    Attributes:
        most: MiB.
    """

    def __init__(self, program: Path) -> None:
        super().__init__(daemon=True)
        self.most = 0.0
        self.over = threading.Event()
        self._program = str(program).encode()

    def run(self) -> None:
        while not self.over.wait(1):
            self.most = max(self.most, sum(map(self._share, Path("/proc").glob("[0-9]*"))) / 1024)

    def _share(self, process: Path) -> int:
        with suppress(OSError, StopIteration):
            if (
                self._program in (process / "cmdline").read_bytes()
                and b"detlint" not in (process / "cmdline").read_bytes()
            ):
                lines = (process / "smaps_rollup").read_text().splitlines()
                return int(next(line for line in lines if line.startswith("Pss:")).split()[1])
        return 0


def measured(what: str, folder: Path, text: str, *command: str) -> None:
    """Run it, and print what it took and what it came to."""
    program = folder / "train.py"
    program.write_text(text)
    memory = Memory(program)
    memory.start()
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.time()
    done = subprocess.run(
        [sys.executable, *command, str(program)], cwd=folder, capture_output=True, text=True, check=False
    )
    passed, after = time.time() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    memory.over.set()
    memory.join()
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    said = ""
    if command:
        told = json.loads(done.stdout)
        story = told["trace"] and told["trace"]["story"]
        said = "; ".join(filter(None, (told["outcome"], told["how"], story and story["headline"], told["said"])))
    print(
        f"{what}: {passed:.1f} s, {cpu:.1f} s on the CPU, {memory.most:.0f} MiB, load {os.getloadavg()[0]:.1f}; {said}",
        flush=True,
    )


def main(steps: int = 10_000, late: int = 7_000) -> None:
    """Measure all."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "pyproject.toml").write_text('[project]\nname = "demo"\n')
        clean = PROGRAM.format(steps=steps, late=-1, pipe=None)
        for _ in range(ROUNDS):
            measured("plain run", folder, clean)
            measured("equal, no states", folder, clean, *VERIFY, "--no-trace")
            measured("equal, with states", folder, clean, *VERIFY)
        measured("late, replayed", folder, PROGRAM.format(steps=steps, late=late, pipe=None), *VERIFY)
        measured("late, from the beginning", folder, PROGRAM.format(steps=steps, late=late, pipe="os.pipe()"), *VERIFY)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
