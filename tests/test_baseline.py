"""Baselines: what was there stays silent until the code that it stands on changes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import detlint, examples, notebook
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

Project = Callable[..., Path]

FILE = ".detlint-baseline.json"
WARP = """\
import torch.nn.functional as F


def warp(x, g):
    return F.grid_sample(x, g)
"""
TWICE = """\
import torch.nn.functional as F


def warp(x, g):
    if x:
        x = F.grid_sample(x, g)
    else:
        x = F.grid_sample(x, g)
    return x
"""


def check(*arguments: str | Path) -> str:
    return detlint("check", "--no-cache", "--output-format", "concise", *arguments).stdout


def summary(*arguments: str | Path) -> list[str]:
    lines = detlint("check", "--no-cache", *arguments).stdout.splitlines()
    return [line for line in lines if " fixable " not in line][-2:]


def baseline(*arguments: str | Path) -> str:
    result = detlint("baseline", "--no-cache", *arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_what_was_there_is_silent(project: Project) -> None:
    root = project(**{"pyproject.toml": "", "a.py": WARP, "b.py": TWICE})
    assert baseline() == f"Wrote {FILE}: 3 findings in 2 files: 3 new, 0 gone.\n"
    assert detlint("check", "--no-cache").exit_code == 0
    assert summary() == ["No problems found in 2 files.", "The baseline has 3 more."]
    (root / "c.py").write_text(WARP)
    assert [line.partition(":")[0] for line in check().splitlines()] == ["c.py"]
    assert check("--no-baseline").count("DET403") == 4


def test_the_file_can_be_read_and_compared(project: Project) -> None:
    root = project(**{"pyproject.toml": "", "a.py": WARP, "b.py": TWICE})
    baseline()
    text = (root / FILE).read_text()
    rows = [line.strip().rstrip(",") for line in text.splitlines() if '"rule"' in line]
    assert [{**json.loads(row), "digest": ""} for row in rows] == [
        {"rule": "DET403", "function": "warp", "code": code, "digest": "", "count": count}
        for code, count in [("return F.grid_sample(x, g)", 1), ("x = F.grid_sample(x, g)", 2)]
    ]
    assert [*json.loads(text)["findings"]] == ["a.py", "b.py"]
    assert baseline() == f"{FILE} is up to date: 3 findings in 2 files: 0 new, 0 gone.\n"


PARTS = (
    "ops.max(x)",
    "ops.mean(x)",
    "ops.sum(x)",
    "nn.Dropout(0.5)",
    "nn.Linear(2, 2)",
    "F.grid_sample(x, g)",
    "os.listdir(x)",
)
"""Several rules, each at one level or another by what is known: some of it is a note."""
HEAD = """\
import os
import torch
import torch.nn.functional as F
from mindspore import ops
from torch import nn
"""


@settings(max_examples=examples(15), suppress_health_check=[HealthCheck.function_scoped_fixture])
@example([["ops.max(x)", "ops.mean(x)", "ops.sum(x)"]], False)
@given(st.lists(st.lists(st.sampled_from(PARTS), min_size=1, max_size=5), min_size=1, max_size=4), st.booleans())
def test_nothing_is_left_right_after(project: Project, statements: list[list[str]], runs: bool) -> None:
    body = "".join(f"    y = [{', '.join(parts)}]\n" for parts in statements)
    start = "\n\nif __name__ == '__main__':\n    build(*map(float, os.sys.argv))\n" if runs else ""
    project(**{"pyproject.toml": "", "a.py": f"{HEAD}\n\ndef build(x, g, rate):\n{body}    return y\n{start}"})
    baseline()
    assert check() == ""


@settings(max_examples=examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.dictionaries(st.integers(0, len(TWICE.splitlines())), st.sampled_from(["", "# text", "    # text"]), max_size=9)
)
def test_lines_may_move(project: Project, inserted: dict[int, str]) -> None:
    root = project(**{"pyproject.toml": "", "a.py": TWICE})
    baseline()
    lines = TWICE.splitlines()
    for at in sorted(inserted, reverse=True):
        lines.insert(at, inserted[at])
    (root / "a.py").write_text("\n".join(lines) + "\n")
    assert summary() == ["No problems found in 1 file.", "The baseline has 2 more."]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return F.grid_sample(x, g)", "return F.grid_sample(x, 2 * g)"),
        ("def warp(", "def bend("),
        ("return F", "x.y = F"),
    ],
)
def test_code_that_changes_is_told_of(project: Project, old: str, new: str) -> None:
    root = project(**{"pyproject.toml": "", "a.py": WARP})
    baseline()
    (root / "a.py").write_text(WARP.replace(old, new))
    assert check().count("DET403") == 1
    drops = "The baseline has 0 more, and 1 that is found no more: `detlint baseline --prune` drops it."
    assert summary() == ["Found 1 error in 1 file.", drops]


def test_they_are_counted(project: Project) -> None:
    root = project(**{"pyproject.toml": "", "a.py": TWICE})
    baseline()
    (root / "a.py").write_text(TWICE.replace("    return x\n", "    x = F.grid_sample(x, g)\n    return x\n"))
    assert re.findall(r"a\.py:\d+", check()) == ["a.py:9"]
    (root / "a.py").write_text(TWICE.replace("    else:\n        x = F.grid_sample(x, g)\n", ""))
    assert check() == ""
    assert "has 1 more, and 1 that is found no more" in summary()[-1]


def test_files_may_be_moved(project: Project) -> None:
    root = project(**{"pyproject.toml": "", "a.py": WARP, "b.py": TWICE})
    baseline()
    (root / "pkg").mkdir()
    (root / "a.py").rename(root / "pkg" / "c.py")
    assert summary() == ["No problems found in 2 files.", "The baseline has 3 more."]
    assert detlint("baseline", "--no-cache", "--check").exit_code == 1
    assert baseline() == f"Wrote {FILE}: 3 findings in 2 files: 0 new, 0 gone.\n"
    assert [*json.loads((root / FILE).read_text())["findings"]] == ["b.py", "pkg/c.py"]


def test_a_copy_is_new(project: Project) -> None:
    root = project(**{"pyproject.toml": "", "a.py": WARP})
    baseline()
    (root / "c.py").write_text(WARP)
    assert re.findall(r"\w\.py", check()) == ["c.py"]


def test_a_file_that_is_gone(project: Project) -> None:
    root = project(**{"pyproject.toml": "", "a.py": WARP, "b.py": TWICE})
    baseline()
    (root / "a.py").unlink()
    assert "and 1 that is found no more" in summary()[-1]
    assert baseline("--prune") == f"Wrote {FILE}: 2 findings in 1 file: 0 new, 1 gone.\n"


def test_part_of_the_files(project: Project) -> None:
    root = project(**{"pyproject.toml": "", "a.py": WARP, "b.py": TWICE})
    baseline("a.py")
    assert re.findall(r"\w\.py", check()) == ["b.py", "b.py"]
    baseline("b.py")
    assert check() == ""
    (root / "b.py").write_text("")
    assert summary("a.py") == ["No problems found in 1 file.", "The baseline has 1 more."]


def test_prune_adds_nothing(project: Project) -> None:
    root = project(**{"pyproject.toml": "", "a.py": TWICE, "b.py": WARP})
    baseline()
    (root / "a.py").write_text(TWICE.replace("x = F.grid_sample(x, g)", "x = F.grid_sample(x, -g)", 1))
    assert baseline("--prune") == f"Wrote {FILE}: 2 findings in 2 files: 0 new, 1 gone.\n"
    assert re.findall(r"\w\.py:\d+", check()) == ["a.py:6"]


def test_check_writes_nothing(project: Project) -> None:
    root = project(**{"pyproject.toml": "", "a.py": WARP})
    result = detlint("baseline", "--no-cache", "--check")
    assert (result.exit_code, (root / FILE).exists()) == (1, False)
    assert result.stdout == f"Would write {FILE}: 1 finding in 1 file: 1 new, 0 gone.\n"
    baseline()
    assert detlint("baseline", "--no-cache", "--check").exit_code == 0


def test_notes_are_in_it_when_they_are_asked_for(project: Project) -> None:
    project(**{"pyproject.toml": "", "a.py": "import torch.nn as nn\n\n\ndef f():\n    return nn.Dropout(0.5)\n"})
    assert "0 findings in 0 files" in baseline()
    assert "1 finding in 1 file" in baseline("--show-notes")
    assert summary("--show-notes") == ["No problems found in 1 file.", "The baseline has 1 more."]


def test_another_place(project: Project) -> None:
    root = project(**{"pyproject.toml": "[tool.detlint]\nbaseline = 'ci/known.json'\n", "ci/x": "", "a.py": WARP})
    missing = detlint("check", "--no-cache")
    assert missing.exit_code == 2
    assert "known.json: no such baseline; `detlint baseline` writes one" in missing.stderr
    assert baseline().startswith("Wrote ci/known.json: ")
    assert check() == ""
    baseline("--baseline", root / "other.json")
    assert check("--baseline", "other.json", "--isolated") == ""
    assert check("--isolated").count("DET403") == 1
    (root / "pyproject.toml").write_text("[tool.detlint]\nbaseline = ''\n")
    assert check().count("DET403") == 1


def test_every_surface_is_silent(project: Project) -> None:
    root = project(**{"pyproject.toml": "", "a.py": WARP.replace("x, g)\n", "x, sorted(os.listdir(g)))\n")})
    baseline()
    for form in ("json", "sarif", "gitlab"):
        assert "DET403" not in detlint("check", "--no-cache", "--output-format", form).stdout
    assert detlint("check", "--no-cache", "-", "--stdin-filename", "a.py", stdin=WARP.encode()).exit_code == 1
    text = (root / "a.py").read_bytes()
    assert detlint("check", "--no-cache", "-", "--stdin-filename", "a.py", stdin=text).exit_code == 0


def test_notebooks_yaml_and_what_cannot_be_read(project: Project) -> None:
    cells = ("import torch.nn.functional as F", "%time x = 1\nF.grid_sample(x, x)")
    files = {
        "pyproject.toml": "",
        "n.ipynb": notebook(*cells),
        "m.yaml": "a:\n  _target_: torch.nn.Dropout\n  p: 0.5\n",
        "broken.py": "import torch\n(\n",
        "late.py": "x = 1  # noqa: DET201\n",
    }
    root = project(**files)
    baseline("--show-notes")
    assert check("--show-notes") == ""
    (root / "n.ipynb").write_text(notebook("#md title", cells[0], "import os", cells[1]))
    (root / "m.yaml").write_text("b: 1\n" + files["m.yaml"])
    (root / "broken.py").write_text("import torch\n\n(\n")
    (root / "late.py").write_text("y = 2\n\nx = 1  # noqa: DET201\n")
    assert check("--show-notes") == ""
    (root / "m.yaml").write_text(files["m.yaml"].replace("torch.nn.Dropout", "torch.nn.Dropout2d"))
    assert re.findall(r"\S+?:", check("--show-notes"))[0] == "m.yaml:2:3:"[:7]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("<<<<<<< HEAD\n", "not a baseline"),
        ("[]", "not a baseline"),
        ('{"version": 1, "findings": {"a.py": [{}]}}', "not a baseline"),
        ('{"version": 2, "findings": {}}', "a baseline of another version of detlint (2, not 1)"),
    ],
)
def test_one_that_cannot_be_read(project: Project, content: str, said: str) -> None:
    project(**{"pyproject.toml": "", "a.py": WARP, FILE: content})
    result = detlint("check", "--no-cache")
    assert result.exit_code == 2
    assert FILE in result.stderr
    assert said in result.stderr
    assert detlint("baseline", "--no-cache", "--prune").exit_code == 2
    if "`detlint baseline` writes it anew" in result.stderr:
        baseline()
        assert check() == ""
    else:
        assert detlint("baseline", "--no-cache").exit_code == 2


def test_what_is_no_baseline_is_written_anew_where_nothing_is_found(project: Project) -> None:
    project(**{"pyproject.toml": "", "a.py": "x = 1\n", FILE: "<<<<<<<\n"})
    assert baseline() == f"Wrote {FILE}: 0 findings in 0 files: 0 new, 0 gone.\n"
    assert check() == ""


def test_rules_that_are_off_are_not_stale(project: Project) -> None:
    project(**{"pyproject.toml": "", "a.py": WARP})
    baseline()
    assert summary("--select", "DET2")[-1] == "No problems found in 1 file."


def test_warm_and_cold_agree(project: Project) -> None:
    root = project(**{"pyproject.toml": "", "a.py": WARP, "b.py": TWICE})
    assert detlint("baseline").exit_code == 0
    (root / "b.py").write_text(TWICE.replace("x = F.grid_sample(x, g)", "x = F.grid_sample(x, -g)", 1))
    runs = [detlint("check", "--jobs", jobs).stdout for jobs in ("1", "2", "1")]
    assert runs == [detlint("check", "--no-cache").stdout] * 3
