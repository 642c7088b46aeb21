"""The output formats: what programs parse, and what people read."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import CONCISE, Corpus, detlint, findings
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

Project = Callable[..., Path]

SCHEMA = json.loads((Path(__file__).parent / "data" / "report.schema.json").read_text("utf-8"))

SOURCE = """\
import random

import torch
import torch.nn.functional as F


def warp(x, g):
    return F.grid_sample(
        x,
        g,
    )


if __name__ == "__main__":
    random.shuffle([1, 2])
    warp(torch.rand(2, requires_grad=True), 1)  # noqa: DET999
"""


def output(form: str, *arguments: str) -> str:
    return detlint("check", "--isolated", "--no-cache", "--output-format", form, *arguments).stdout


@pytest.fixture(scope="module")
def everything(corpus: Corpus) -> list[dict[str, Any]]:
    """The findings of all rules' fixtures under the stricter profile: every rule's shape of finding."""
    loaded: list[dict[str, Any]] = json.loads(corpus.check("--output-format", "json").stdout)
    return loaded


# -- JSON -----------------------------------------------------------------------------------------------------------


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)


def test_json_follows_its_schema(everything: list[dict[str, Any]]) -> None:
    assert len(everything) > 300
    errors = [f"{error.json_path}: {error.message}" for error in Draft202012Validator(SCHEMA).iter_errors(everything)]
    assert errors == []


def test_json_of_nothing(project: Project) -> None:
    project(**{"a.py": "x = 1\n"})
    assert json.loads(output("json", "a.py")) == []


def test_json_of_an_unreadable_file(project: Project) -> None:
    project(**{"a.py": "import torch\n(\n"})
    rows = json.loads(output("json", "a.py"))
    assert list(Draft202012Validator(SCHEMA).iter_errors(rows)) == []
    assert [row["code"] for row in rows] == ["DET001"]


def test_json_fields(project: Project) -> None:
    root = project(**{"a.py": SOURCE})
    row = next(row for row in json.loads(output("json", "a.py")) if row["code"] == "DET403")
    assert row["filename"] == str(root / "a.py")
    assert (row["name"], row["family"], row["severity"]) == ("grid-sample", 4, "error")
    assert (row["location"], row["end_location"]) == ({"row": 8, "column": 12}, {"row": 11, "column": 6})
    assert (row["fix"]["applicability"], row["cell"], row["path"]) == ("unsafe", None, [])
    assert row["url"] is None
    assert row["target"] == ["cuda"]
    assert "grid_sample" in row["message"]
    assert row["remedy"].endswith(".")


def test_json_places_that_a_message_counts(project: Project) -> None:
    project(**{"train.py": "import random\n\nprint(random.random())\nprint(random.random(), random.choice('ab'))\n"})
    (row,) = json.loads(output("json"))
    assert row["message"].endswith("(and 2 more)")
    assert [(one["location"], one["message"]) for one in row["others"]] == [
        ({"row": 4, "column": 7}, "`random.random` draws too"),
        ({"row": 4, "column": 24}, "`random.choice` draws too"),
    ]


@pytest.mark.parametrize(
    ("base", "url"),
    [("https://us.dev/x/", "https://us.dev/x/rules/DET403.html"), ("site", "file://{}/site/rules/DET403.html")],
)
def test_links_to_the_pages_of_rules(project: Project, base: str, url: str) -> None:
    root = project(**{"a.py": SOURCE, "detlint.toml": f'docs-url = "{base}"\nselect = ["DET403"]\n'})
    (row,) = json.loads(detlint("check", "--no-cache", "--output-format", "json").stdout)
    log = json.loads(detlint("check", "--no-cache", "--output-format", "sarif").stdout)
    assert row["url"] == log["runs"][0]["tool"]["driver"]["rules"][0]["helpUri"] == url.format(root)


def test_json_path_from_the_entry_point(project: Project) -> None:
    root = project(
        **{
            "data.py": "import random\n\n\ndef order(x):\n    random.shuffle(x)\n",
            "train.py": "from data import order\n\n\ndef main():\n    order([1, 2])\n"
            "\n\nif __name__ == '__main__':\n    main()\n",
        }
    )
    (row,) = json.loads(output("json"))
    assert (row["code"], row["filename"], row["location"]["row"]) == ("DET101", str(root / "data.py"), 5)
    steps = [(Path(step["filename"]).name, step["location"]["row"]) for step in row["path"]]
    assert ("train.py", 9) in steps
    assert ("train.py", 5) in steps


def test_end_is_never_before_the_start(everything: list[dict[str, Any]]) -> None:
    for row in everything:
        start, end = row["location"], row["end_location"]
        assert (start["row"], start["column"]) <= (end["row"], end["column"])


def test_order(everything: list[dict[str, Any]]) -> None:
    keys = [
        (row["filename"], row["cell"] or 0, row["location"]["row"], row["location"]["column"], row["code"])
        for row in everything
    ]
    assert keys == sorted(keys)


def test_nothing_twice(everything: list[dict[str, Any]]) -> None:
    rows = [json.dumps(row, sort_keys=True) for row in everything]
    assert len(rows) == len(set(rows))


def test_messages_are_sentences_without_holes(everything: list[dict[str, Any]]) -> None:
    for row in everything:
        for text in (row["message"], row["remedy"], *(step["message"] for step in row["path"])):
            assert not re.search(r"\{\w*\}|\bNone\b.*\bNone\b|\s\s|\n", text.replace("{}", "")), text


# -- concise --------------------------------------------------------------------------------------------------------


def test_concise_lines(everything: list[dict[str, Any]], corpus: Corpus) -> None:
    lines = corpus.check("--output-format", "concise").stdout.splitlines()
    assert len(lines) == len(everything)
    for line, row in zip(lines, everything, strict=True):
        match = CONCISE.fullmatch(line)
        assert match is not None, line
        assert (int(match["line"]), int(match["column"])) == (row["location"]["row"], row["location"]["column"])
        assert match["cell"] == (str(row["cell"]) if row["cell"] else None)
        assert (match["level"], match["code"], match["text"]) == (row["severity"], row["code"], row["message"])
        assert row["filename"].endswith(match["file"].removeprefix(".."))


# -- text -----------------------------------------------------------------------------------------------------------


def test_text_marks_the_span(project: Project) -> None:
    project(**{"a.py": "import torch.nn.functional as F\n\n\ndef f(x, g):\n    return F.grid_sample(x, g) + 1\n"})
    lines = output("text", "a.py").splitlines()
    assert lines[0].startswith("error[DET403] ")
    assert lines[1].split() == ["-->", "a.py:5:12", "grid-sample"]
    at = lines.index("5 |     return F.grid_sample(x, g) + 1")
    assert lines[at + 1] == "  |            ^^^^^^^^^^^^^^^^^^^"
    assert lines[at + 2].startswith("  = help: ")


@pytest.mark.parametrize(
    ("line", "marked"),
    [
        ("    return 'é', F.grid_sample(x, g)", "F.grid_sample(x, g)"),
        ("    return '中文', F.grid_sample(x, g)", "F.grid_sample(x, g)"),
        ("    é = F.grid_sample('é', g); return é", "F.grid_sample('é', g)"),
        ("    return    F.grid_sample(x,g)   ", "F.grid_sample(x,g)"),
    ],
)
def test_text_marks_characters(project: Project, line: str, marked: str) -> None:
    project(**{"a.py": f"import torch.nn.functional as F\ndef f(x, g):\n{line}\n"})
    lines = output("text", "a.py").splitlines()
    at = next(i for i, text in enumerate(lines) if text.startswith("3 | "))
    assert lines[at] == f"3 | {line.rstrip()}"
    start = lines[at + 1].index("^")
    assert lines[at + 1].count("^") == len(marked)
    assert lines[at][start : start + len(marked)] == marked


def test_text_marks_behind_tabs(project: Project) -> None:
    project(**{"a.py": "import torch.nn.functional as F\ndef f(x, g):\n\treturn\tF.grid_sample(x, g)\n"})
    lines = output("text", "a.py").splitlines()
    at = next(i for i, text in enumerate(lines) if text.startswith("3 | "))
    assert "\t" not in lines[at]
    assert lines[at][lines[at + 1].index("^") :] == "F.grid_sample(x, g)"


def test_text_of_several_lines(project: Project) -> None:
    project(**{"a.py": SOURCE})
    text = output("text", "--select", "DET403", "a.py")
    assert " 8 |     return F.grid_sample(\n" in f"\n {text}".replace("\n8 |", "\n 8 |")
    assert "(to line 11)" in text


def test_text_of_a_long_line(project: Project) -> None:
    project(**{"a.py": f"import torch.nn.functional as F\ndef f(x, g): return {'1, ' * 500}F.grid_sample(x, g)\n"})
    assert max(map(len, output("text", "a.py").splitlines())) < 200


def test_text_shows_the_path_and_the_remedy(project: Project) -> None:
    project(**{"a.py": SOURCE})
    text = output("text", "--select", "DET101", "a.py")
    assert "error[DET101]" in text
    assert re.search(r"^ +\|? *= path: a\.py:\d+: ", text, re.M)
    assert re.search(r"^ += help: .+\.$", text, re.M)


METRICS = """\
import random


def metric(function):
    METRICS[function.__name__] = function
    return function


METRICS = dict()


@metric
def draw(options):
    return random.random()


if __name__ == "__main__":
    print(METRICS["draw"](1))
"""


def test_text_says_what_is_called_without_a_name(project: Project) -> None:
    project(**{"a.py": METRICS})
    assert "  = path: a.py:18: calls an item of `METRICS`\n" in output("text", "a.py")


def test_text_summary(project: Project) -> None:
    project(**{"a.py": SOURCE, "b.py": SOURCE.replace("warp", "bend"), "c.py": "x = 1\n"})
    text = output("text", "--select", "DET403")
    assert text.splitlines()[-4:] == [
        "2  DET403  grid-sample  error", "", "Found 2 errors in 3 files.", "2 fixable with --fix --unsafe-fixes.",
    ]  # fmt: skip
    assert output("text", "c.py") == "No problems found in 1 file.\n"


def test_text_counts_notes(project: Project) -> None:
    project(**{"a.py": "import torch.nn as nn\ndef f(): return nn.Dropout(0.1), nn.Dropout(0.2)\n"})
    assert output("text", "a.py") == "No problems found in 1 file. 2 notes (--show-notes lists them).\n"
    assert output("text", "--show-notes", "a.py").splitlines()[-1] == "Found no problems in 1 file. 2 notes."


def test_text_folds_what_one_switch_answers(project: Project) -> None:
    calls = "".join(f"    x = torch.index_add(x, {i}, i, x)\n" for i in range(6)) + "    return x\n"
    project(**{"a.py": f"import torch\n\n\ndef f(x, i):\n{calls}", "b.py": f"import torch\n\n\ndef f(x, i):\n{calls}"})
    text = output("text")
    assert text.count("warning[DET402]") == 1
    assert "11 more" in text
    assert "12  DET402  switchable-operator  warning" in text
    assert output("concise").count("DET402") == 12


def test_text_folds_runs_of_one_cause(project: Project) -> None:
    train = (
        "import torch\n\nnet = torch.nn.Conv2d(1, 2, 1).cuda()\n{}net(torch.ones(1, 1, 2, 2).cuda()).sum().backward()\n"
    )
    more = "print(torch.nn.functional.interpolate(net.weight, scale_factor=2))\n"
    files = {f"train{n}.py": "import torch\ntorch.manual_seed(1)\n" + train.format(more * (n % 3)) for n in range(5)}
    project(**files)
    rows = ("--select", "DET602", "--target", "cuda")
    out = output("text", *rows)
    assert out.count("warning[DET602]") == 1
    assert "= also: 4 more, for the same cause; --no-fold lists them" in out
    assert "train4.py: line " in out
    assert output("text", *rows, "--no-fold").count("warning[DET602]") == 5
    assert output("json", *rows).count('"DET602"') == 5


def test_text_folds_what_is_said_again_and_again(project: Project) -> None:
    draws = "".join(f"    b{n} = torch.rand(3, device='cuda')\n" for n in range(8))
    project(**{"a.py": f"import torch\n\n\ndef f():\n{draws}    c = torch.randn(3, device='cuda')\n    return c\n"})
    out = output("text", "--show-notes", "--select", "DET501", "a.py")
    assert out.count("note[DET501]") == 2
    assert "= also: 7 more, in the same words; --no-fold lists them" in out
    assert "a.py: lines 6, 7, 8, 9, 10, 11 and 1 more" in out
    assert out.endswith("Found no problems in 1 file. 9 notes.\n")
    assert output("concise", "--show-notes", "--select", "DET501", "a.py").count("DET501") == 9


def test_paths_are_relative_to_the_current_folder(project: Project) -> None:
    root = project(**{"sub/a.py": SOURCE})
    for form in ("text", "concise"):
        text = output(form, str(root / "sub"))
        assert f"sub{os.sep}a.py:8:12" in text
        assert str(root) not in text


TRAINS = """\
import torch
import torch.nn.functional as F


{decorator}
def upsampled(x):
    return F.interpolate(x, scale_factor=2, mode="bilinear")


def step(net, x):
    loss = (net(x) - upsampled(x)).abs().sum()
    loss.backward()


if __name__ == "__main__":
    torch.manual_seed(0)
    step(torch.nn.Linear(4, 8).cuda(), torch.ones(1, 1, 4, 4, requires_grad=True))
"""


@pytest.mark.parametrize(("decorator", "counted"), [("", True), ("@torch.no_grad()", False)])
def test_operators_without_gradients_are_not_counted(project: Project, decorator: str, counted: bool) -> None:
    project(**{"a.py": TRAINS.format(decorator=decorator)})
    (row,) = [row for row in findings("a.py", "--select", "DET602") if row["severity"] == "warning"]
    assert ("interpolate" in row["message"]) is counted


MAPS = """\
import tensorflow as tf


def smaller(image):
    return tf.image.random_flip_left_right(tf.image.resize(image, (8, 8)))


def main():
    tf.keras.utils.set_random_seed(1)
    tf.config.list_physical_devices("GPU")
    images = tf.data.Dataset.from_tensor_slices({data}
    model = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(images)


if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(
    ("data", "counted"), [("smaller(tf.ones((8, 16, 16, 3))))", True), ("[]).map(smaller)", False)]
)
def test_operators_on_data_are_not_counted(project: Project, data: str, counted: bool) -> None:
    project(**{"a.py": MAPS.format(data=data)})
    (row,) = [row for row in findings("a.py", "--select", "DET607") if row["severity"] == "warning"]
    assert ("resize" in row["message"]) is counted
