"""`detlint compare` within tolerances: what each operator adds to the error, of traces and of msprobe's dumps."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from conftest import detlint  # noqa: E402
from test_trace_msprobe import CLEAN, NAMES, _dump  # noqa: E402
from traced import line, model, traced, written  # noqa: E402

from detlint.tracing.sketch import sketch  # noqa: E402
from detlint.tracing.tolerant import apart  # noqa: E402


def test_a_sketch_tells_how_far_tensors_are_apart() -> None:
    for size in (1, 100, 200_000):
        one = torch.randn(size, generator=torch.Generator().manual_seed(size))
        other = one + 1e-3 * torch.randn(size, generator=torch.Generator().manual_seed(size + 1))
        real = float((one.double() - other.double()).norm() / max(one.double().norm(), other.double().norm()))
        assert apart(sketch(one), sketch(one.clone())) == 0
        assert real / 2.5 < apart(sketch(one), sketch(other)) < real * 2.5
        assert size == 1 or apart(sketch(one), sketch(one.flip(0))) > 0.5
    assert apart(sketch(torch.tensor([1.0, math.nan])), sketch(torch.ones(2))) == math.inf


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, str]:
    """Traces of two programs of which one multiplies with a number that differs in the fourth digit."""
    folder = tmp_path_factory.mktemp("tolerances")
    text = model(layer="x * FACTOR")
    for name, factor in (("a", 1.5), ("b", 1.5001)):
        program = written(
            folder / "project", text.replace("torch.manual_seed(0)", f"torch.manual_seed(0); FACTOR = {factor}")
        )
        traced(program, folder / name, values=True)
    return folder / "a", folder / "b", text


def test_the_operator_that_adds_most_comes_first(pair: tuple[Path, Path, str]) -> None:
    left, right, text = pair
    told = compared(left, right, "--tolerant", code=1)
    first = told["added"][0]
    assert (first["op"], first["line"], first["backward"]) == ("aten.mul.Tensor", line(text, "layer"), False)
    assert first["before"] < first["added"] / 2
    assert 1e-5 < first["added"] < 2e-4
    assert told["alone"] == [0, 0]
    assert compared(left, left, "--tolerant")["added"] == []


def test_tolerances_are_by_operator_and_type(pair: tuple[Path, Path, str]) -> None:
    left, right, _ = pair
    compared(left, right, "--rtol", "1e-2", code=0)
    said = compared(left, right, "--rtol", "1e-2", "--tolerance", "aten.mul.Tensor:float32=1e-6", code=1)
    assert {one["op"] for one in said["added"] if one["added"] > one["allowed"]} == {"aten.mul.Tensor"}
    compared(left, right, "--tolerance", ":float32=1e-2")
    assert detlint("diff", left, right, "--tolerance", "x").exit_code == 2
    assert "aten.mul.Tensor" in detlint("diff", left, right, "--tolerant").stdout


def test_dumps_of_msprobe_are_compared_by_their_statistics(tmp_path: Path) -> None:
    for name, changed in (("a", 1.0), ("b", 1.5)):
        _dump(tmp_path / name, "step0", CLEAN, "shared", tmp_path / "net.py")
        file = tmp_path / name / "step0" / "dump.json"
        dump = json.loads(file.read_text())
        for row in (NAMES[2], "Functional.grid_sample.0.backward"):
            dump["data"][row]["output"][0] |= {"Max": changed, "md5": f"{name}{row}"}
        file.write_text(json.dumps(dump))
    told = compared(tmp_path / "a", tmp_path / "b", "--tolerant", code=1)
    assert [(one["op"], round(one["added"], 3)) for one in told["added"] if one["added"] > one["allowed"]][:1] == [
        ("Functional.grid_sample", 0.333)
    ]


def test_traces_without_values_are_not_compared(tmp_path: Path) -> None:
    program = written(tmp_path / "project", model(steps=1))
    traced(program, tmp_path / "a")
    result = detlint("diff", tmp_path / "a", tmp_path / "a", "--rtol", "0.1")
    assert result.exit_code == 2
    assert "--values" in result.stderr


def compared(left: Path, right: Path, *options: str, code: int = 0) -> dict[str, Any]:
    """What `detlint compare` says, as JSON."""
    result = detlint("diff", left, right, "--output-format", "json", *options)
    assert result.exit_code == code, result.stdout + result.stderr
    told: dict[str, Any] = json.loads(result.stdout)
    return told
