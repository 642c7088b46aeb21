"""Dumps of msprobe, read as traces. The layouts are those that its versions write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import detlint

FRAME = "File {file}, line {line}, in forward, \n x = mask(x)"


def _tensor(md5: str) -> dict[str, Any]:
    return {"type": "torch.Tensor", "dtype": "torch.float32", "shape": [2, 3], "Max": 1.0, "Min": 0.0, "Mean": 0.5,
            "Norm": 1.0, "requires_grad": True, "md5": md5}  # fmt: skip


def _dump(folder: Path, inside: str, digests: dict[str, tuple[str, str]], stack: str, source: Path) -> None:
    """A dump: by name, the digests of the one input and the one output."""
    where = folder / inside
    where.mkdir(parents=True)
    data = {
        name: {
            "input_args": [_tensor(given), {"type": "int", "value": 3}],
            "input_kwargs": {},
            "output": [_tensor(got)],
        }
        for name, (given, got) in digests.items()
    }
    (where / "dump.json").write_text(
        json.dumps({"task": "statistics", "level": "mix", "framework": "pytorch", "dump_data_dir": None, "data": data})
    )
    forward = [name for name in data if "backward" not in name]
    frames = {name: [FRAME.format(file=source, line=i)] for i, name in enumerate(forward, 1)}
    if stack == "shared":
        stacks: dict[str, Any] = {str(i): [[name], lines] for i, (name, lines) in enumerate(frames.items())}
    else:
        stacks = dict(frames)
    (where / "stack.json").write_text(json.dumps(stacks))
    (where / "construct.json").write_text(json.dumps(dict.fromkeys(data, "Module.head.Linear.forward.0")))


NAMES = ("Functional.conv2d.0.forward", "Tensor.masked_fill.23.forward", "Functional.grid_sample.0.forward")
CLEAN = {
    NAMES[0]: ("a", "b"),
    NAMES[1]: ("b", "c"),
    NAMES[2]: ("c", "d"),
    "Functional.grid_sample.0.backward": ("d", "e"),
}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "pyproject.toml").write_text('[project]\nname = "demo"\n')
    file = tmp_path / "project" / "net.py"
    file.write_text("import torch\nx = 1\ny = torch.nn.functional.grid_sample(x, x)\n")
    return file


@pytest.mark.parametrize("stack", ["shared", "by name"])
@pytest.mark.parametrize("inside", ["", "step0/rank0", "step0/proc4711", "step0"])
def test_the_first_difference_is_found(tmp_path: Path, source: Path, inside: str, stack: str) -> None:
    _dump(tmp_path / "a", inside, CLEAN, stack, source)
    _dump(tmp_path / "b", inside, {**CLEAN, NAMES[2]: ("c", "x")}, stack, source)
    assert detlint("diff", tmp_path / "a", tmp_path / "a").exit_code == 0
    result = detlint("diff", tmp_path / "a", tmp_path / "b", "--output-format", "json")
    assert result.exit_code == 1
    story = json.loads(result.stdout)["story"]
    assert (story["cause"], story["api"]) == ("kernel", "torch.nn.functional.grid_sample")
    assert story["stack"] == [{"file": str(source), "line": 3, "function": "forward"}]
    assert story["module"] == "head"
    assert story["inputs"][0]["origin"] == "Tensor.masked_fill"
    assert story["code"] == "DET403"


def test_a_backward_pass_has_the_line_of_its_forward_pass(tmp_path: Path, source: Path) -> None:
    _dump(tmp_path / "a", "step0", CLEAN, "shared", source)
    _dump(tmp_path / "b", "step0", {**CLEAN, "Functional.grid_sample.0.backward": ("d", "y")}, "shared", source)
    story = json.loads(detlint("diff", tmp_path / "a", tmp_path / "b", "--output-format", "json").stdout)["story"]
    assert story["backward"]
    assert story["stack"][0]["line"] == 3


def test_an_input_that_no_operator_made_is_told(tmp_path: Path, source: Path) -> None:
    """The case of the guide: the input of masked_fill is the first that differs, and an unlisted kernel made it."""
    rows = {NAMES[0]: ("a", "b"), NAMES[1]: ("m", "c")}
    _dump(tmp_path / "a", "", rows, "shared", source)
    _dump(tmp_path / "b", "", {**rows, NAMES[1]: ("n", "c")}, "shared", source)
    story = json.loads(detlint("diff", tmp_path / "a", tmp_path / "b", "--output-format", "json").stdout)["story"]
    assert (story["cause"], story["operator"]) == ("data", "Tensor.masked_fill")
    assert story["inputs"][0]["differs"]


def test_checksums_and_statistics_are_not_compared(tmp_path: Path, source: Path) -> None:
    _dump(tmp_path / "a", "", CLEAN, "shared", source)
    _dump(tmp_path / "b", "", CLEAN, "shared", source)
    file = tmp_path / "b" / "dump.json"
    file.write_text(file.read_text().replace('"md5"', '"other"'))
    result = detlint("diff", tmp_path / "a", tmp_path / "b")
    assert result.exit_code == 2
    assert "digest is msprobe md5 in one and msprobe statistics in the other" in result.stderr


@pytest.mark.parametrize(
    "content, said", [("{", "no JSON"), ("[]", "not a dump of msprobe"), ("{}", "it has no `data`")]
)
def test_what_is_no_dump_is_told(tmp_path: Path, content: str, said: str) -> None:
    for name in "ab":
        (tmp_path / name).mkdir()
        (tmp_path / name / "dump.json").write_text(content)
    result = detlint("diff", tmp_path / "a", tmp_path / "b")
    assert result.exit_code == 2
    assert said in result.stderr
