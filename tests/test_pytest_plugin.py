"""The pytest plugin, in a pytest of its own that runs a file of tests."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

from forks import server
from traced import IMPORTS, QUIET, line

TESTS = """\
import random, time

import numpy as np
import pytest
import torch

from detlint.runtime import log

FIRST = []


@pytest.fixture(scope="module")
def weights():
    return torch.rand(3)


def test_fixture(deterministic, weights):
    assert torch.are_deterministic_algorithms_enabled()
    assert deterministic.options.seed == 7
    torch.rand(3) * weights


@pytest.mark.deterministic(seed=3, profile="align")
def test_marked():
    assert torch.nn.functional.dropout(torch.ones(4), 0.5).tolist() == [1] * 4
    random.seed(3)
    expected = random.random()
    random.seed(3)
    assert random.random() == expected


def test_unseeded():
    assert not torch.are_deterministic_algorithms_enabled()
    noise = torch.rand(3)  # draw
    assert noise.sum() >= 0


def test_cached():
    if not FIRST:
        FIRST.append(torch.ones(1) + 1)
    torch.ones(2) * 2


def test_logged():
    log(loss=np.random.rand())


@pytest.mark.deterministic
def test_logged_enforced():
    log(loss=np.random.rand())


def test_of_something_else():
    time.time()


def test_that_fails():
    assert False


@pytest.mark.deterministic(sed=3)
def test_misspelt():
    pass
"""


def test_tests_are_enforced_and_run_twice(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.detlint.runtime]\nseed = 7\n")
    (tmp_path / "test_it.py").write_text(TESTS)
    run = "import pytest; sys.exit(pytest.main(['-p', 'detlint.pytest_plugin', '-p', 'no:cacheprovider', '-rA', *sys.argv[1:]]))"
    done = server(IMPORTS["torch"], **QUIET).run(
        f"import sys; {run}", "--detlint-verify", "--strict-markers", cwd=tmp_path, PYTEST_DISABLE_PLUGIN_AUTOLOAD="1"
    )
    assert done.returncode == 1, done.stdout + done.stderr
    ended = {
        words[1].split("::")[1]: words[0] for row in done.stdout.splitlines() if "::" in row and (words := row.split())
    }
    assert {name for name, how in ended.items() if how != "PASSED"} == {
        "test_unseeded", "test_logged", "test_that_fails", "test_misspelt",
    }  # fmt: skip
    assert f"test_it.py:{line(TESTS, 'draw')}" in done.stdout
    assert "first difference[DET104]" in done.stdout
    assert "The losses that the test logs differ." in done.stdout
    assert "deterministic: " in done.stdout
    assert "3 the same twice, 2 different, 1 different the first time only, 2 with nothing to compare" in done.stdout
