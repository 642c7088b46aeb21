"""Programs without a framework that can be traced: JAX's, where it is installed, and NumPy's alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from conftest import REPOSITORY

needs_jax = pytest.mark.skipif(find_spec("jax") is None, reason="JAX isn't installed")
JAX = """\
import os, random, secrets, time, uuid
import jax
import numpy as np
key = {key}
step = jax.jit(jax.value_and_grad(lambda w: (w**2).sum()))
print(float(step(jax.random.normal(key, (4,)))[0]))
"""
HELD = {
    "a draw of NumPy's": "jax.random.key(np.random.randint(2**31))",
    "a draw of a generator": "jax.random.key(int(np.random.default_rng().integers(2**31)))",
    "a seed sequence": "jax.random.key(int(np.random.SeedSequence().generate_state(1)[0]) // 2)",
    "a draw of Python's": "jax.random.key(random.randrange(2**31))",
    "a draw of Random()": "jax.random.PRNGKey(random.Random().getrandbits(31))",
    "a hash": "jax.random.key(hash('layer') % 2**31)",
    "a hash that is folded in": "jax.random.fold_in(jax.random.key(0), hash('layer') % 2**31)",
    "a set's order": "jax.random.key(list({'embed', 'attention', 'norm', 'head', 'bias', 'mlp'}).index('head'))",
    "a callback's draw": "jax.random.wrap_key_data(jax.pure_callback("
    "lambda: np.random.default_rng().integers(2**31, size=2).astype('uint32'), jax.ShapeDtypeStruct((2,), 'uint32')))",
}
TOLD = {
    "the time": "jax.random.key(time.time_ns() % 2**31)",
    "the time, another kind of key": "jax.random.key(time.time_ns() % 2**31, impl='rbg')",
    "the time that is folded in": "jax.random.fold_in(jax.random.key(0), time.time_ns() % 2**31)",
    "os.urandom": "jax.random.key(int.from_bytes(os.urandom(4), 'big') // 2)",
    "os.urandom as a key's bits": "jax.random.wrap_key_data(np.frombuffer(os.urandom(8), np.uint32))",
    "secrets": "jax.random.key(secrets.randbits(31))",
    "uuid4": "jax.random.key(uuid.uuid4().int % 2**31)",
    "SystemRandom": "jax.random.key(random.SystemRandom().randrange(2**31))",
    "a process's number": "jax.random.key(os.getpid())",
    "an address": "jax.random.key(id(object()) % 2**31)",
}


def _verified(folder: Path, *program: str) -> dict[str, Any]:
    """What is told of what a program prints, under `detlint run`."""
    command = [sys.executable, "-m", "detlint", "verify", "--output", "-", "--output-format", "json", *program]
    variables = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=False)
    told: dict[str, Any] = json.loads(done.stdout)
    return told


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "demo"\n')
    return tmp_path


@needs_jax
@pytest.mark.parametrize("route", HELD)
def test_a_key_of_entropy_that_is_held(folder: Path, route: str) -> None:
    (folder / "train.py").write_text(JAX.format(key=HELD[route]))
    assert _verified(folder, "train.py")["outcome"] == "equal"


@needs_jax
@pytest.mark.parametrize("route", TOLD)
def test_a_key_of_entropy_that_is_told(folder: Path, route: str) -> None:
    (folder / "train.py").write_text(JAX.format(key=TOLD[route]))
    told = _verified(folder, "train.py")
    assert told["outcome"] == "diverged"
    assert "train.py:4: DET1" in told["said"]


@pytest.mark.parametrize("program", [("train.py",), ("-m", "train")], ids=["script", "module"])
def test_what_the_linter_finds_in_what_ran_is_told_where_nothing_is_traced(
    folder: Path, program: tuple[str, ...]
) -> None:
    (folder / "noise.py").write_text("import os\n\n\ndef noise():\n    return os.urandom(8)\n")
    (folder / "unused.py").write_text("import random\n\nprint(random.random())\n")
    (folder / "train.py").write_text(
        "import random\n\nimport noise\n\nrandom.seed(noise.noise())\nprint(random.random())\n"
    )
    told = _verified(folder, *program)
    assert told["outcome"] == "diverged"
    found = told["said"].splitlines()[1:]
    assert found and not any("unused.py" in row for row in found)
    assert any(row.startswith(("  noise.py:5: DET1", "  train.py:5: DET1")) for row in found)


def test_what_no_rule_knows_is_not_explained(folder: Path) -> None:
    (folder / "train.py").write_text("print(object())\n")
    told = _verified(folder, "train.py")
    assert told["outcome"] == "diverged"
    assert "finds nothing" in told["said"]
