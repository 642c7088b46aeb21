"""Whether a certificate is revoked by what changes a run, and never holds where the run has changed.

    python benchmarks/certify.py [MUTATION]...

Twenty programs, of which six vary in every second run or so, are certified as they are. What gets a certificate is checked five times, each
time with what the program itself has written as the judge; then each of seven mutations is made to it and undone, and the certificate
checked. Where mutations are named, only these are made, and nothing is checked before.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

HEAD: Final = """\
import os
import random
import numpy as np
from detlint.runtime import log
from units import UNIT

SEED = {seed}
random.seed(SEED)
np.random.seed(SEED)
rate = float(os.environ.get("OMP_RATE", "0.1"))
files = sorted(os.listdir("data"))
data = [UNIT * float(open(os.path.join("data", name)).read()) for name in files]
"""
BODIES: Final = {
    "sum": "def step(i):\n    return sum(x * random.random() for x in data) * rate",
    "walk": "def step(i):\n    return float(np.cumsum(np.random.randn(8) * data[i % len(data)])[-1]) * rate",
    "shuffle": "def step(i):\n    order = list(data)\n    random.shuffle(order)\n    return order[0] * rate + i + order[1] / 7",
    "sample": "def step(i):\n    return float(np.random.choice(data)) * rate + sum(random.sample(data, 2)) / 3",
    "matrix": "a = np.random.rand(4, 4)\ndef step(i):\n    return float((a @ a.T).sum()) * rate * data[0] + random.random()",
    "sort": "def step(i):\n    return sorted(data, key=lambda x: random.random())[0] * rate + float(np.random.rand())",
    "split": "def step(i):\n    cut = random.randint(1, 2)\n    return sum(data[:cut]) * rate + float(np.random.rand())",
}
TORCH: Final = """
import torch
torch.manual_seed(SEED)
net = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), rate)
def step(i):
    optimizer.zero_grad()
    loss = net(torch.tensor(data[:3]) * random.random() * float(np.random.rand())).square().mean()
    loss.backward()
    optimizer.step()
    return float(loss)
"""
VARYING: Final = {
    "entropy": "os.urandom(1)[0] % 2",
    "set order": "sum(i * hash(x) % 2 for i, x in enumerate({'a', 'b', 'c'})) % 2",
    "process": "os.getpid() % 2",
    "clock": "__import__('time').time_ns() // 1000 % 2",
    "address": "id(object()) // 16 % 2",
    "unseeded": "int(np.random.default_rng().random() < 0.5)",
}
TAIL: Final = """
result = []
for i in range(2):
    value = step(i)
    {log}
    result.append(value)
with open("result.txt", "w") as file:
    file.write(repr(result))
"""
LOG: Final = "log(loss=value)"


def programs() -> Iterator[tuple[str, str]]:
    """Programs by name: seven kinds with two seeds each, two of them in PyTorch, and six that vary."""
    for number, (name, body) in enumerate(BODIES.items()):
        for seed in (number + 1, number + 100):
            torch = name in ("sum", "walk") and seed >= 100
            text = TORCH if torch else f"\n{body}\n"
            yield (
                f"{name}{' in PyTorch' if torch else ''}, seed {seed}",
                HEAD.format(seed=seed) + text + TAIL.format(log="pass" if torch else LOG),
            )
    for name, noise in VARYING.items():
        drawn = "random.random() + float(np.random.rand())"
        body = f"\ndef step(i):\n    return sum(data) * rate + {drawn} + ({noise})\n"
        yield name, HEAD.format(seed=5) + body + TAIL.format(log=LOG)


def _replaced(old: str, new: str) -> Callable[[Path, dict[str, str]], None]:
    def mutate(folder: Path, environment: dict[str, str]) -> None:
        file = folder / "train.py"
        text = file.read_text()
        assert old in text
        file.write_text(text.replace(old, new))

    return mutate


def _variable(folder: Path, environment: dict[str, str]) -> None:
    environment["OMP_RATE"] = "0.2"


def _data(folder: Path, environment: dict[str, str]) -> None:
    (folder / "data" / "b").write_text("2.25")


def _module(folder: Path, environment: dict[str, str]) -> None:
    (folder / "units.py").write_text("UNIT = 2.0\n")


def _file(folder: Path, environment: dict[str, str]) -> None:
    (folder / "data" / "d").write_text("4.5")


MUTATIONS: Final[dict[str, Callable[[Path, dict[str, str]], None]]] = {
    "seed dropped": _replaced("random.seed(SEED)\nnp", "np"),
    "variable changed": _variable,
    "listing unsorted": _replaced('sorted(os.listdir("data"))', 'os.listdir("data")'),
    "operator added": _replaced("value = step(i)", "value = step(i) * 1.0 + float(np.float32(0.0))"),
    "data changed": _data,
    "module changed": _module,
    "file added": _file,
}


def certify(folder: Path, environment: dict[str, str], *options: str) -> int:
    """The exit code of `detlint certify`."""
    command = [sys.executable, "-m", "detlint", "certify", "--as-is", "--iterations", "0", *options]
    done = subprocess.run(command, cwd=folder, env={**os.environ, **environment}, capture_output=True, check=False)
    assert done.returncode in (0, 1), done.stderr.decode()
    return done.returncode


def main(names: list[str]) -> None:
    """Print what came of each program."""
    mutated = revoked = held = false = refused = 0
    for name, text in programs():
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made)
            (folder / "data").mkdir()
            for file, value in (("c", 3.5), ("a", 1.5), ("b", 2.5)):
                (folder / "data" / file).write_text(str(value))
            (folder / "train.py").write_text(text)
            (folder / "units.py").write_text("UNIT = 1.0\n")
            if certify(folder, {}, "-o", "certificate.json", "train.py"):
                refused += 1
                print(f"{name}: no certificate", flush=True)
                continue
            result = (folder / "result.txt").read_text()
            for _ in range(0 if names else 5):
                holds = not certify(folder, {}, "--check", "certificate.json")
                held += holds
                false += holds and (folder / "result.txt").read_text() != result
            kept = []
            for mutation, mutate in MUTATIONS.items():
                if names and mutation not in names:
                    continue
                environment: dict[str, str] = {}
                before = {
                    path: path.read_text() for path in (folder / "train.py", folder / "units.py", folder / "data" / "b")
                }
                mutate(folder, environment)
                mutated += 1
                gone = certify(folder, environment, "--check", "certificate.json")
                revoked += gone
                kept += [] if gone else [mutation]
                for path, content in before.items():
                    path.write_text(content)
                (folder / "data" / "d").unlink(missing_ok=True)
            print(f"{name}: certified; not revoked by: {', '.join(kept) or 'nothing'}", flush=True)
    print(
        f"{revoked} of {mutated} mutations revoke; {held} times it held, {false} wrongly; {refused} programs got no certificate"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
