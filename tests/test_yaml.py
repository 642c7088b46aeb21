"""YAML files: what they say is to be built is found, at its line and column, like what Python builds."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import detlint, findings

Project = Callable[..., Path]
DROPOUT = "_target_: torch.nn.Dropout\np: 0.1\n"


def places(*arguments: str | Path, isolated: bool = True) -> list[tuple[str, int, int, str]]:
    """(file, line, column, code) of what is found."""
    rows = findings(*arguments, isolated=isolated)
    return [(Path(r["filename"]).name, r["location"]["row"], r["location"]["column"], r["code"]) for r in rows]


def cached(*arguments: str) -> list[dict[str, Any]]:
    """The findings of a run with the cache."""
    loaded: list[dict[str, Any]] = json.loads(detlint("--output-format", "json", "--show-notes", *arguments).stdout)
    return loaded


# -- what is reported, and where ------------------------------------------------------------------------------------


def test_position_and_span(project: Project) -> None:
    project(**{"conf/model/net.yaml": "model:\n  drop:\n    _target_: torch.nn.Dropout  # half\n    p: 0.5\n"})
    (row,) = findings(".")
    assert row["filename"].endswith("conf/model/net.yaml")
    assert row["location"] == {"row": 3, "column": 5}
    assert row["end_location"] == {"row": 3, "column": 31}
    assert (row["code"], row["severity"], row["cell"]) == ("DET201", "note", None)


def test_text_marks_the_line(project: Project) -> None:
    project(**{"net.yaml": "layers:\n  - {_target_: torch.nn.Dropout, p: 0.5}\n"})
    shown = detlint("--isolated", "--no-cache", "--show-notes", ".").stdout
    assert "--> net.yaml:2:6  dropout" in shown
    assert "2 |   - {_target_: torch.nn.Dropout, p: 0.5}\n  |      ^^^^^^^^^^^^^^^^^^^^^^^^^^" in shown


@pytest.mark.parametrize(
    ("data", "place"),
    [
        ("# größer\nä: {ß: {_target_: torch.nn.Dropout}}\n".encode(), (2, 9)),
        ("a: ü\r\nb:\r\n  _target_: torch.nn.Dropout\r\n".encode(), (3, 3)),
        (b"a: 1\rb:\r  _target_: torch.nn.Dropout\r", (3, 3)),
        ("\ufeff_target_: torch.nn.Dropout\n".encode(), (1, 1)),
        ("a: ü\nb: {_target_: torch.nn.Dropout}\n".encode("utf-16"), (2, 5)),
        ("# one\u2028line\x85only\nb: {_target_: torch.nn.Dropout}\n".encode(), (2, 5)),
        (b"%YAML 1.2\n---\n_target_: torch.nn.Dropout\n...\n", (3, 1)),
        (b"a: |\n  text\n\nb:\n- !!map\n  _target_: torch.nn.Dropout\n", (6, 3)),
        (b"? {_target_: torch.nn.Dropout}\n: 1\n", (1, 4)),
        (b"&all\n_target_: torch.nn.Dropout\n", (2, 1)),
    ],
    ids=["columns", "crlf", "cr", "bom", "utf-16", "breaks", "directive", "tagged", "key", "anchor"],
)
def test_layouts(project: Project, data: bytes, place: tuple[int, int]) -> None:
    project(**{"a.yaml": data})
    assert places(".") == [("a.yaml", *place, "DET201")]


def test_every_document(project: Project) -> None:
    project(**{"a.yml": f"{DROPOUT}---\nkind: Other\n---\nnull\n---\n{DROPOUT}"})
    assert places(".") == [("a.yml", 1, 1, "DET201"), ("a.yml", 8, 1, "DET201")]


def test_aliases_are_one_thing(project: Project) -> None:
    project(**{"a.yaml": f"base: &drop\n  {DROPOUT.splitlines()[0]}\na: *drop\nb: [*drop, *drop]\n"})
    assert places(".") == [("a.yaml", 2, 3, "DET201")]


def test_circles_end(project: Project) -> None:
    project(
        **{"a.yaml": "a: &a\n  _target_: torch.nn.Dropout\n  own: *a\nb: &b\n  <<: *b\n  _target_: torch.nn.Dropout\n"}
    )
    assert [place[1] for place in places(".")] == [2, 6]


def test_what_the_program_defines(project: Project) -> None:
    project(
        **{
            "pyproject.toml": "",
            "src/layers.py": "import torch\n\n\nclass Drop(torch.nn.Dropout):\n    pass\n\n\nclass Own(torch.nn.Module):\n    pass\n",
            "conf/net.yaml": "a: {_target_: src.layers.Drop, p: 0.2}\nb: {_target_: src.layers.Own, p: 0.2}\n"
            "c: {_target_: layers.Drop, p: 0.0}\n",
        }
    )
    assert [place for place in places(".") if place[0] == "net.yaml"] == [("net.yaml", 1, 5, "DET201")]


def test_what_the_program_registers(project: Project) -> None:
    register = "from mmengine.registry import TRANSFORMS\n\n\n@TRANSFORMS.register_module({})\nclass {}:\n    pass\n"
    project(
        **{
            "pyproject.toml": "",
            "crops.py": register.format("", "RandomCrop"),
            "flips.py": register.format("name='RandomFlip'", "Mirror"),
            "a.yaml": "- type: RandomCrop\n- {type: RandomFlip, prob: 0.5}\n- type: PhotoMetricDistortion\n",
            "b.py": 'a = dict(type="RandomCrop")\nb = dict(type="ColorJitter")\n',
        }
    )
    assert [(name, line) for name, line, _, _ in places(".")] == [("a.yaml", 3), ("b.py", 2)]


def test_the_profile_counts_and_no_name_of_a_folder(project: Project) -> None:
    project(**{"a.yaml": DROPOUT, "tests/b.yaml": DROPOUT})
    assert [row["severity"] for row in findings("--profile", "align", ".")] == ["error", "error"]


def test_a_yaml_file_starts_no_run_and_ends_none(project: Project) -> None:
    script = "import numpy\nprint(numpy.random.rand())\n"
    named = "_target_: train.Net\n---\n_target_: torch.randn\n_args_: [3]\n"
    project(**{"pyproject.toml": "", "train.py": script, "a.yaml": named})
    found = [(Path(row["filename"]).name, row["code"], row["severity"]) for row in findings(".")]
    assert found == [("a.yaml", "DET104", "note"), ("train.py", "DET102", "error")]


# -- what is no YAML, and what is none of ours ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "line", "reason"),
    [
        (b"_target_: torch.nn.Dropout\np: [1\nq: 2\n", 3, "did not find expected ',' or ']'"),
        (b"_target_: a.B\n\tp: 1\n", 2, "found a tab character that violates indentation"),
        (b"a: 1\n_target_: \xff\n", 2, "it is not in UTF-8"),
        (b"_target_: a.B\np: \x07\n", 1, "unacceptable character #x0007: control characters are not allowed"),
        (b"_target_: " + b"[" * 100_000, 1, "it is nested too deeply"),
        (b"_target_: a.B\np: " + b"{a: " * 600 + b"}" * 600, 1, "it is nested too deeply"),
    ],
    ids=["bracket", "tab", "encoding", "control", "deep", "closed"],
)
def test_broken(project: Project, data: bytes, line: int, reason: str) -> None:
    project(**{"a.yaml": data})
    (row,) = findings(".")
    assert (row["code"], row["severity"], row["location"]["row"]) == ("DET001", "warning", line)
    assert row["message"] == f"can't be parsed: {reason}"


def test_deep_lists_are_no_crash(project: Project) -> None:
    project(**{"a.yaml": "_target_: a.B\np:\n  " + "- " * 100_000 + "1\n", "b.yaml": DROPOUT})
    assert places(".") == [("a.yaml", 1, 1, "DET001"), ("b.yaml", 1, 1, "DET201")]


@pytest.mark.parametrize(
    "text",
    [
        "a: [1\nb: 2\n",
        "{{ if x }}\n_target_: a.B\n{{ end }}\n",
        "_target_: {{ package }}.Net\np: {{ p }}\n",
        "{% if x %}\n_target_: torch.nn.Dropout\n{% endif %}\n",
        "<% if x %>\n_target_: torch.nn.Dropout\n",
        "",
        "---\n",
        "- just\n- text\n",
        "type: object\n",
    ],
)
def test_silence(project: Project, text: str) -> None:
    project(**{"a.yaml": text})
    assert places(".") == []


def test_large_files(project: Project) -> None:
    project(**{"data.yaml": "x: 1\n" * 30_000, "model.yaml": DROPOUT + "# padding\n" * 20_000})
    Path("detlint.toml").write_text("max-file-size = 100000\n")
    assert places(".", isolated=False) == [("model.yaml", 1, 1, "DET001")]


def test_names_of_files(project: Project) -> None:
    project(**{"a.yaml": DROPOUT, "b.yml": DROPOUT, "c.yaml.j2": DROPOUT, "d.json5": DROPOUT, "build/e.yaml": DROPOUT})
    assert [place[0] for place in places(".")] == ["a.yaml", "b.yml"]
    assert [place[0] for place in places("b.yml")] == ["b.yml"]
    assert detlint("--isolated", "--show-files", ".").stdout.split() == ["a.yaml", "b.yml"]
    assert [place[0] for place in places("--extend-exclude", "*.yml", ".")] == ["a.yaml"]


def test_unrelated_files_are_counted_and_not_parsed(project: Project) -> None:
    project(**{"a.yaml": "a: [\n", "b.yaml": "b: 1\n"})
    result = detlint("--isolated", "--no-cache", "-v", ".")
    assert result.stdout == "No problems found in 2 files.\n"
    assert result.stderr.startswith("2 files, 0 lines parsed")


# -- suppressions ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "_target_: torch.nn.Dropout  # noqa: DET201\np: 0.1\n",
        "_target_: torch.nn.Dropout  # noqa\np: 0.1\n",
        "_target_: torch.nn.Dropout  # detlint: ignore[DET201] wanted\np: 0.1\n",
        "_target_: torch.nn.Dropout\ninplace: true\np: 0.1  # noqa: DET201\n",
        "p: 0.1  # noqa: DET201\n_target_: torch.nn.Dropout\n",
        "class_path: torch.nn.Dropout\ninit_args:\n  inplace: true\n  p: 0.1  # noqa: DET2\n",
        "x: !new:torch.nn.Dropout\n  inplace: true\n  p: 0.1  # noqa: DET201\n",
        "# detlint: skip-file\n_target_: torch.nn.Dropout\n",
        "_target_: torch.nn.Dropout\n# detlint: ignore-file[DET201] all of them\n",
        "a: |  # noqa: DET001\n  text\nb:\n  'c # d': {_target_: torch.nn.Dropout} # noqa: DET201\n",
    ],
)
def test_suppressed(project: Project, text: str) -> None:
    project(**{"a.yaml": text})
    assert places("--ignore", "DET002", ".") == []


def test_what_suppresses_nothing(project: Project) -> None:
    project(
        **{
            "a.yaml": "text: |\n  # noqa: DET201\nquoted: 'x # noqa: DET201'\nplain: a#noqa:DET201\n"
            "late:\n  _target_: torch.nn.Dropout\n  p: 0.1\nother: 1  # noqa: DET201\nwrong: 2  # detlint: ignore\n"
        }
    )
    assert places(".") == [("a.yaml", 6, 3, "DET201"), ("a.yaml", 8, 11, "DET002"), ("a.yaml", 9, 11, "DET002")]


def test_nested_tables_do_not_share_a_suppression(project: Project) -> None:
    project(
        **{
            "a.yaml": "_target_: torchvision.transforms.RandomApply\ntransforms:\n"
            "  - _target_: torchvision.transforms.ColorJitter  # noqa: DET301\n    brightness: 0.4\n"
        }
    )
    assert places(".") == [("a.yaml", 1, 1, "DET301")]


def test_per_file_ignores(project: Project) -> None:
    project(
        **{"conf/a.yaml": DROPOUT, "b.yaml": DROPOUT, "detlint.toml": '[per-file-ignores]\n"conf/*" = ["DET201"]\n'}
    )
    assert [place[0] for place in places(".", isolated=False)] == ["b.yaml"]


# -- other ways in --------------------------------------------------------------------------------------------------


def test_standard_input(project: Project) -> None:
    project(**{"a.yaml": "x: 1\n"})
    result = detlint(
        "--isolated", "--no-cache", "--show-notes", "--output-format", "concise", "--stdin-filename", "a.yaml", "-",
        stdin=DROPOUT.encode(),
    )  # fmt: skip
    assert result.stdout == "a.yaml:1:1: note: DET201 `torch.nn.Dropout` zeroes random elements while training\n"


def test_standard_input_keeps_suppressions(project: Project) -> None:
    project(**{"a.yaml": DROPOUT})
    text = b"_target_: torch.nn.Dropout\ninplace: true\np: 0.2  # noqa: DET201\n"
    result = detlint("--isolated", "--no-cache", "--show-notes", "--stdin-filename", "a.yaml", "-", stdin=text)
    assert result.exit_code == 0
    assert "DET" not in result.stdout


def test_explain_and_graph(project: Project) -> None:
    project(**{"a.yaml": f"# net\n{DROPOUT}", "detlint.toml": ""})
    explained = detlint("explain", "a.yaml:2")
    assert explained.exit_code == 0
    assert "torch.nn.Dropout" in explained.stdout
    assert "no entry point comes here, so the caller decides" in explained.stdout
    assert detlint("graph", "a.yaml").exit_code in (0, 2)


# -- the cache, and the order of things ------------------------------------------------------------------------------


def test_warm_is_cold(project: Project) -> None:
    project(
        **{
            "pyproject.toml": "",
            "a.yaml": DROPOUT,
            "b.yaml": "x: 1\n",
            "c.yaml": "_target_: [\n",
            "d.py": "import torch\n",
        }
    )
    first = cached(".")
    assert [row["code"] for row in first] == ["DET201", "DET001"]
    assert cached(".") == first
    assert cached("a.yaml") == first[:1]
    Path("b.yaml").write_text("x:\n  _target_: torch.nn.Dropout\n")
    Path("a.yaml").write_text("x: 1\n")
    assert [(Path(row["filename"]).name, row["code"]) for row in cached(".")] == [
        ("b.yaml", "DET201"),
        ("c.yaml", "DET001"),
    ]


def test_a_change_elsewhere_reaches_the_file(project: Project) -> None:
    project(
        **{
            "pyproject.toml": "",
            "net.py": "import torch\n\n\nclass Net(torch.nn.Dropout):\n    pass\n",
            "a.yaml": "_target_: net.Net\n",
        }
    )
    assert [row["code"] for row in cached("a.yaml")] == ["DET201"]
    Path("net.py").write_text("import torch\n\n\nclass Net(torch.nn.Linear):\n    pass\n")
    assert cached("a.yaml") == []


def test_a_registration_elsewhere_reaches_the_file(project: Project) -> None:
    own = "from mmengine.registry import TRANSFORMS\n\n\n@TRANSFORMS.register_module()\nclass {}{}:\n    pass\n"
    project(
        **{
            "pyproject.toml": "",
            "crops.py": own.format("Crop", ""),
            "a.yaml": "type: RandomCrop\n",
            "b.py": 'import mmcv\n\nCROP = dict(type="RandomCrop")\n\nif __name__ == "__main__":\n    mmcv.build(CROP)\n',
        }
    )

    def names() -> list[str]:
        return [Path(row["filename"]).name for row in cached(".") if row["code"] == "DET301"]

    assert names() == ["a.yaml", "b.py"]
    Path("crops.py").write_text(own.format("RandomCrop", ""))
    assert names() == []
    Path("crops.py").write_text(
        "import torchvision\n" + own.format("RandomCrop", "(torchvision.transforms.RandomCrop)")
    )
    assert names() == ["a.yaml", "b.py"]
    os.remove("crops.py")
    assert names() == ["a.yaml", "b.py"]


def test_any_number_of_processes(project: Project) -> None:
    files = {f"conf/{i}.yaml": f"a: {i}\nb: {{_target_: torch.nn.Dropout, p: 0.{i + 1}}}\n" for i in range(60)}
    project(**files, **{"pyproject.toml": ""})
    alone = findings("--jobs", "1", ".")
    assert len(alone) == 60
    assert findings("--jobs", "2", ".") == alone
    assert findings(*sorted(files, reverse=True)) == alone


# -- catalogs ---------------------------------------------------------------------------------------------------


OWN = """
[[framework]]
name = "ourlib"
modules = ["ourlib"]

[[factory]]
name = "ourlib"
key = "make"
arguments = ["with"]
partial = "later"

[[settings-file]]
name = "ourlib"
marks = ["ourlib_version"]
under = ["train"]
calls = { drop = "ourlib.Drop" }

[[api]]
rule = "DET201"
names = ["ourlib.Drop"]
when = { rate = { above = 0 } }
source = "ourlib"

[[api]]
rule = "DET111"
kind = "setting"
names = ["ourlib.seed"]
when = { value = { given = false } }
message = "no seed"
source = "ourlib"

[signatures]
"ourlib.Drop" = "rate=0.1"
"""


def test_forms_of_ones_own(project: Project) -> None:
    project(
        **{
            "detlint.toml": 'catalogs = ["ours.toml"]\n',
            "ours.toml": OWN,
            "a.yaml": 'a: {make: ourlib.Drop}\nb: {make: ourlib.Drop, with: {rate: 0}}\nc: {make: ourlib.Drop, with: "${x}"}\n',
            "b.yaml": "ourlib_version: 3\nseed: null\ntrain:\n  seed: 3\n  drop: {rate: 0.3}\nother: {seed: null}\n",
            "c.yaml": "seed: null\ndrop: {rate: 0.3}\n",
            "d.py": 'a = {"make": "ourlib.Drop", "with": {"rate": 0.3}}\nb = {"make": "ourlib.Drop", "with": {"rate": 0}}\n',
        }
    )
    assert places(".", isolated=False) == [
        ("a.yaml", 1, 5, "DET201"),
        ("b.yaml", 2, 1, "DET111"),
        ("b.yaml", 5, 3, "DET201"),
        ("d.py", 1, 5, "DET201"),
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('[[factory]]\nname = "x"\n', "[[factory]] 1: key `key`: a key or tags are needed"),
        ('[[factory]]\nname = "x"\ntags = ["new:"]\n', "[[factory]] 1: key `tags`: `new:` is no YAML tag"),
        ('[[factory]]\nname = "x"\nkey = "y"\nrequired = true\n', "[[factory]] 1: key `required`: name the key"),
        ('[[factory]]\nname = "x"\nkey = "y"\nnames = "z"\n', "[[factory]] 1: key `names`: Invalid enum value 'z'"),
        ('[[settings-file]]\nname = "x"\n', "[[settings-file]] 1: Object missing required field `marks`"),
        (
            '[[api]]\nkind = "setting"\nnames = ["x.seed"]\n',
            "[[api]] 1: key `names`: `x.seed` begins with no `[[settings-file]]`'s name",
        ),
    ],
)
def test_wrong_catalogs(project: Project, text: str, reason: str) -> None:
    project(**{"detlint.toml": 'catalogs = ["ours.toml"]\n', "ours.toml": text, "a.yaml": ""})
    result = detlint("--no-cache", ".")
    assert result.exit_code == 2
    assert reason in result.stderr
    assert "ours.toml" in result.stderr
