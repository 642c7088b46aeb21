"""What was measured on a GPU agrees with the catalog; and the scripts that measure it, as far as a CPU can tell."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import detlint
from forks import server
from packaging.requirements import Requirement

from detlint import catalog

torch = pytest.importorskip("torch")

from traced import IMPORTS, QUIET  # noqa: E402

FOLDER = Path(__file__).parent.parent / "benchmarks" / "gpu"
TRACES = Path(__file__).parent / "data" / "gpu"
MEASURED = FOLDER / "operators.json"


def script(name: str, *arguments: str) -> str:
    python = server(IMPORTS["torch"], **QUIET).python
    done = subprocess.run([python, FOLDER / name, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def trial(folder: Path) -> dict[str, Any]:
    script("operators.py", "--device", "cpu", "--times", "2", "--size", "64", "--out", str(folder))
    found: dict[str, Any] = json.loads((folder / "operators.json").read_text())
    return found


def test_every_sample_is_of_an_operator_in_the_catalog_and_runs(tmp_path: Path) -> None:
    found = trial(tmp_path)
    known = catalog.load()
    for row in found["rows"]:
        assert known.canonical(row["api"]) in known.calls, row
        assert row["off"] == {"results": 1}, row
    assert (tmp_path / "RESULTS.md").read_text().count("| `torch.") == len(found["rows"])
    assert {"forward", "backward"} == {row["pass"] for row in found["rows"]}
    assert "no result" in found["machine"]


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
@pytest.mark.parametrize("name", ["operators.py", "training.py"])
def test_without_a_gpu_they_say_so(name: str) -> None:
    assert script(name).startswith("No GPU here")


def test_the_trainings_are_equal_under_enforce() -> None:
    out = script("training.py", "--device", "cpu", "--steps", "2", "--runs", "2").splitlines()
    names = {"detector", "diffusion"}
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in out if line.split("|")[1:2]]
    assert {row[0]: row[2] for row in rows if row[0] in names} == dict.fromkeys(names, "1")


def test_what_was_measured_agrees_with_the_catalog() -> None:
    """What raises, varies or is equal under the switch does as its entries' categories say.

    An entry without a rule of its own is answered by the switch alone, and speaks of both passes.
    """
    known = catalog.load()
    measured = json.loads(MEASURED.read_text())
    torch_version = measured["torch"].partition("+")[0]
    assert measured["machine"].startswith("NVIDIA")
    told = set()
    for row in measured["rows"]:
        entries = [known.entries[i] for i in known.calls[known.canonical(row["api"])]]
        in_force = [
            entry
            for entry in entries
            if entry.category and "cuda" in entry.targets and (entry.pass_ == row["pass"] or not entry.rule)
            if not entry.versions or torch_version in Requirement(entry.versions).specifier
        ]
        categories = {entry.category for entry in in_force}
        if "raised" in row["on"]:
            assert "a" in categories, row
        elif row["on"]["results"] > 1:
            assert "d" in categories, row
        if row["off"].get("results", 1) > 1:
            assert categories, row
        if categories == {"a"} and not any(entry.when for entry in in_force):
            assert "raised" in row["on"], row
        if categories == {"b"}:
            assert row["on"] == {"results": 1}, row
        told |= categories
    assert told >= {"a", "b", "d"}


def test_what_the_switch_would_repair_is_told_so() -> None:
    """Traces of two runs of `train.py convolution` on an H200: no rule tells a convolution, for the switch answers all."""
    told = json.loads(detlint("diff", TRACES / "a", TRACES / "b", "--output-format", "json").stdout)
    story = told["story"]
    assert (story["operator"], story["cause"]) == ("aten.convolution_backward.default", "kernel")
    assert (story["code"], story["backward"]) == ("DET402", True)
    assert "use_deterministic_algorithms" in story["help"]
    assert told["processes"][0]["differing"] == 1
