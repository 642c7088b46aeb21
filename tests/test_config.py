"""Settings: where they are found, what each key does, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import detlint

Project = Callable[..., Path]

SOURCE = """\
import torch
import torch.nn as nn
import torch.nn.functional as F


def run(x, g, i):
    x = nn.Dropout(0.5)(x)
    x = torch.index_add(x, 0, i, x)
    return F.grid_sample(x, g)
"""


def rows(*arguments: str) -> list[dict[str, Any]]:
    result = detlint("check", "--no-cache", "--output-format", "json", *arguments)
    assert result.exit_code in (0, 1), result.stderr
    found: list[dict[str, Any]] = json.loads(result.stdout)
    return found


def codes(*arguments: str) -> list[str]:
    return [row["code"] for row in rows(*arguments)]


def refused(*arguments: str) -> str:
    result = detlint("check", "--no-cache", *arguments)
    assert result.exit_code == 2, result.stdout
    assert result.stdout == ""
    return result.stderr


def test_a_function_that_seeds(project: Project) -> None:
    code = "import torch\nfrom {0} import setup\n\nsetup()\nprint(torch.rand(3), torch.rand(2, device='cuda'))\n"
    ours = {"our/__init__.py": "", "our/lib.py": "def setup(how):\n    how.go()\n"}
    said = 'seeds = {{ "our.lib.setup" = ["{0}"], "them.setup" = ["{0}"] }}\n'
    project(
        **ours, **{"a.py": code.format("our.lib"), "b.py": code.format("them"), "detlint.toml": said.format("torch")}
    )
    assert codes() == []
    assert {*codes("--isolated")} == {"DET104"}
    Path("detlint.toml").write_text(said.format("tosh"))
    assert "seeds: [[api]] 1 (our.lib.setup): key `seeds`: there is no stream `tosh`; known are" in refused()
    Path("detlint.toml").write_text('seeds = { "setup it" = ["torch"] }')
    assert "`seeds`: `setup it` is no dotted name of a function" in refused()


def test_a_configuration_extends_another_one(project: Project) -> None:
    project(**{
        "repo/a.py": SOURCE, "repo/detlint.toml": 'extend = "../base.toml"\nseverity = { DET402 = "error" }\n',
        "base.toml": 'show-notes = true\nignore = ["DET201"]\nextend = "more/pyproject.toml"\n',
        "more/pyproject.toml": '[tool.detlint]\nignore = ["DET4"]\nseverity = { DET403 = "note", DET402 = "note" }\n',
    })  # fmt: skip
    assert [(row["code"], row["severity"]) for row in rows("repo")] == [("DET402", "error"), ("DET403", "note")]
    Path("more/pyproject.toml").write_text('[tool.detlint]\nextend = "../repo/detlint.toml"\n')
    assert "detlint.toml extends itself" in refused("repo")
    Path("more/pyproject.toml").unlink()
    assert "pyproject.toml: can't be read" in refused("repo")


# -- where settings are found ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("detlint.toml", 'ignore = ["DET403"]'),
        (".detlint.toml", 'ignore = ["DET403"]'),
        ("pyproject.toml", '[tool.detlint]\nignore = ["DET403"]'),
    ],
)
def test_files(project: Project, name: str, text: str) -> None:
    project(**{"a.py": SOURCE, "sub/folder/b.py": SOURCE, name: text})
    assert codes("a.py") == ["DET402"]
    assert codes("sub/folder/b.py") == ["DET402"]
    assert codes("sub") == ["DET402"]


def test_own_file_beats_pyproject(project: Project) -> None:
    project(
        **{
            "a.py": SOURCE,
            "detlint.toml": 'select = ["DET403"]',
            "pyproject.toml": '[tool.detlint]\nselect = ["DET402"]',
        }
    )
    assert codes("a.py") == ["DET403"]


def test_the_nearest_file_holds(project: Project) -> None:
    project(**{"sub/a.py": SOURCE, "detlint.toml": 'select = ["DET403"]', "sub/detlint.toml": 'select = ["DET402"]'})
    assert codes("sub/a.py") == ["DET402"]


def test_a_pyproject_without_our_section_does_not_count(project: Project) -> None:
    project(
        **{"sub/a.py": SOURCE, "detlint.toml": 'select = ["DET403"]', "sub/pyproject.toml": "[project]\nname = 'x'\n"}
    )
    assert codes("sub/a.py") == ["DET403"]


def test_isolated(project: Project) -> None:
    project(**{"a.py": SOURCE, "detlint.toml": 'ignore = ["DET403"]\nwrong-key = 1'})
    assert codes("--isolated", "a.py") == ["DET402", "DET403"]


def test_config(project: Project) -> None:
    project(**{"a.py": SOURCE, "detlint.toml": 'select = ["DET403"]', "other.toml": 'select = ["DET402"]'})
    assert codes("--config", "other.toml", "a.py") == ["DET402"]


def test_config_with_a_pyproject(project: Project) -> None:
    project(**{"a.py": SOURCE, "elsewhere/pyproject.toml": '[tool.detlint]\nselect = ["DET402"]'})
    assert codes("--config", "elsewhere/pyproject.toml", "a.py") == ["DET402"]


def test_config_that_does_not_exist(project: Project) -> None:
    project(**{"a.py": SOURCE})
    assert "missing.toml" in refused("--config", "missing.toml", "a.py")


def test_the_command_line_wins(project: Project) -> None:
    project(
        **{
            "a.py": SOURCE,
            "detlint.toml": 'select = ["DET403"]\nprofile = "align"\nfail-on = "error"\noutput-format = "text"',
        }
    )
    assert codes("--select", "DET402", "--profile", "reproduce", "a.py") == ["DET402"]
    assert detlint("--no-cache", "--select", "DET402", "--profile", "reproduce", "a.py").exit_code == 0
    assert (
        detlint("--no-cache", "--select", "DET402", "--profile", "reproduce", "--fail-on", "warning", "a.py").exit_code
        == 1
    )


# -- each key -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ["DET402", "DET403"]),
        ('select = ["DET402"]', ["DET402"]),
        ('select = ["DET2"]\nextend-select = ["DET403"]', ["DET403"]),
        ('ignore = ["DET402"]', ["DET403"]),
        ('ignore = ["DET4"]\nextend-ignore = ["DET2"]', []),
        ('exclude = ["a.py"]', []),
        ('extend-exclude = ["*.py"]', []),
        ('profile = "align"', ["DET201", "DET402", "DET403"]),
        ('targets = ["cpu"]', []),
        ('targets = ["ascend"]', ["DET402", "DET403"]),
        ("show-notes = true", ["DET201", "DET402", "DET403"]),
        ('severity = { DET403 = "off" }', ["DET402"]),
        ('severity = { DET201 = "warning" }', ["DET201", "DET402", "DET403"]),
        ('severity = { DET403 = "note", DET402 = "note" }', []),
        ("max-file-size = 10", ["DET001"]),
        ("jobs = 1", ["DET402", "DET403"]),
        ('library = "strict"', ["DET402", "DET403"]),
        ("respect-gitignore = false", ["DET402", "DET403"]),
    ],
)
def test_key(project: Project, text: str, expected: list[str]) -> None:
    project(**{"a.py": SOURCE, "detlint.toml": text})
    assert [code for code in codes() if code in {"DET001", "DET201", "DET402", "DET403"}] == expected


@pytest.mark.parametrize("level", ["error", "warning", "note"])
def test_severity(project: Project, level: str) -> None:
    project(
        **{
            "a.py": SOURCE,
            "detlint.toml": f'severity = {{ DET403 = "{level}" }}\nshow-notes = true\nselect = ["DET403"]',
        }
    )
    (row,) = rows("a.py")
    assert row["severity"] == level
    assert detlint("--no-cache", "a.py").exit_code == (0 if level == "note" else 1)


@pytest.mark.parametrize(("level", "expected"), [("error", "error"), ("note", "note"), ("off", None)])
def test_severity_of_an_unreadable_file(project: Project, level: str, expected: str | None) -> None:
    project(**{"a.py": "import torch\n(", "detlint.toml": f'severity = {{ DET001 = "{level}" }}\nshow-notes = true'})
    assert [row["severity"] for row in rows("a.py")] == ([expected] if expected else [])


@pytest.mark.parametrize(
    ("text", "code"),
    [('fail-on = "error"', 0), ('fail-on = "warning"', 1), ('fail-on = "note"', 1)],
)
def test_fail_on(project: Project, text: str, code: int) -> None:
    project(**{"a.py": SOURCE, "detlint.toml": f'{text}\nselect = ["DET402"]'})
    assert detlint("--no-cache", "a.py").exit_code == code


def test_output_format(project: Project) -> None:
    project(**{"a.py": SOURCE, "detlint.toml": 'output-format = "concise"'})
    assert detlint("--no-cache", "a.py").stdout.startswith("a.py:8:9: warning: DET402 ")
    assert detlint("--no-cache", "--output-format", "json", "a.py").stdout.startswith("[")


def test_cache_dir(project: Project) -> None:
    root = project(**{"a.py": SOURCE, "detlint.toml": 'cache-dir = "kept/here"'})
    assert detlint("a.py").exit_code == 1
    assert (root / "kept" / "here").is_dir()
    assert not (root / ".detlint_cache").exists()


def test_the_cache_stands_in_the_projects_root(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    root = project(**{"sub/a.py": SOURCE, "detlint.toml": ""})
    monkeypatch.chdir(root / "sub")
    assert detlint("a.py").exit_code == 1
    assert (root / ".detlint_cache" / ".gitignore").read_text() == "*\n"
    assert not (root / "sub" / ".detlint_cache").exists()


def test_no_cache_writes_nothing(project: Project) -> None:
    root = project(**{"a.py": SOURCE})
    assert detlint("--no-cache", "a.py").exit_code == 1
    assert [path.name for path in root.iterdir()] == ["a.py"]


@pytest.mark.parametrize(
    ("pattern", "silent"),
    [
        ("a.py", ["a.py", "sub/a.py"]),
        ("sub/*", ["sub/a.py", "sub/b.py"]),
        ("sub/a.py", ["sub/a.py"]),
        ("*.py", ["a.py", "b.py", "sub/a.py", "sub/b.py"]),
        ("**/b.py", ["b.py", "sub/b.py"]),
        ("!sub/*", ["a.py", "b.py"]),
        ("other/*", []),
    ],
)
def test_per_file_ignores(project: Project, pattern: str, silent: list[str]) -> None:
    files = ["a.py", "b.py", "sub/a.py", "sub/b.py"]
    root = project(
        **{file: f"{SOURCE}\n\nFILE = {file!r}  # so that none is a copy of another\n" for file in files},
        **{"detlint.toml": f'select = ["DET403"]\n[per-file-ignores]\n"{pattern}" = ["DET4"]'},
    )
    loud = [str(Path(row["filename"]).relative_to(root)) for row in rows()]
    assert sorted(loud) == sorted(set(files) - set(silent))


@pytest.mark.parametrize(
    ("ignored", "left"), [("DET403", ["DET402"]), ("DET", []), ("ALL", []), ("DET2", ["DET402", "DET403"])]
)
def test_per_file_ignores_takes_prefixes(project: Project, ignored: str, left: list[str]) -> None:
    project(**{"a.py": SOURCE, "detlint.toml": f'per-file-ignores = {{ "a.py" = ["{ignored}"] }}'})
    assert codes() == left


def test_per_file_ignores_from_another_folder(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    root = project(**{"sub/a.py": SOURCE, "detlint.toml": '[per-file-ignores]\n"sub/a.py" = ["DET4"]'})
    monkeypatch.chdir(root / "sub")
    assert codes("a.py") == []


def test_versions(project: Project) -> None:
    text = "import torch.nn.functional as F\n\n\ndef f(x):\n    return F.interpolate(x, 2, mode='bilinear')\n"
    found = {}
    for version in ("1.12", "2.13"):
        project(**{"a.py": text, "detlint.toml": f'versions = {{ torch = "{version}" }}'})
        found[version] = codes("a.py")
    project(**{"a.py": text, "detlint.toml": ""})
    assert found["1.12"] != found["2.13"] == codes("a.py") == ["DET402"]


def test_targets_follow_from_the_file(project: Project) -> None:
    mindspore = "import mindspore.ops as ops\n\n\ndef f(x):\n    return ops.ReduceSum()(x)\n"
    project(**{"a.py": mindspore})
    assert "DET406" in codes("a.py")
    assert "DET406" not in codes("--target", "cuda", "a.py")
    assert "DET406" in codes("--target", "cuda", "--target", "ascend", "a.py")


def test_align_raises_what_is_by_design(project: Project) -> None:
    project(**{"a.py": SOURCE})
    severities = {row["code"]: row["severity"] for row in rows("--profile", "align", "a.py")}
    assert severities["DET201"] == severities["DET402"] == severities["DET403"] == "error"


def test_strict_library(project: Project) -> None:
    text = "import random\n\n\ndef draw():\n    return random.random()\n"
    project(**{"a.py": text})
    assert codes("a.py") == []


def test_catalogs_are_relative_to_the_configuration(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    catalog = '[[api]]\nrule = "DET401"\nnames = ["ours.op"]\nsource = "us"\n'
    root = project(
        **{
            "sub/a.py": "import ours\n\n\ndef f(x):\n    return ours.op(x)\n",
            "detlint.toml": 'catalogs = ["data/ours.toml"]',
            "data/ours.toml": catalog,
        }
    )
    monkeypatch.chdir(root / "sub")
    assert codes("a.py") == ["DET401"]


# -- what is refused ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["detlint.toml", "pyproject.toml"])
@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("line-length = 88", "line-length"),
        ("Select = ['DET']", "Select"),
        ("per_file_ignores = {}", "per_file_ignores"),
        ("select = 'DET4'", "select"),
        ("select = [4]", "select"),
        ("select = ['F401']", "select"),
        ("extend-select = ['DET4033']", "extend-select"),
        ("ignore = ['dropout']", "ignore"),
        ("extend-ignore = ['det4']", "extend-ignore"),
        ("per-file-ignores = { 'a.py' = 'DET4' }", "per-file-ignores"),
        ("per-file-ignores = { 'a.py' = ['F401'] }", "per-file-ignores.a.py"),
        ("per-file-ignores = ['a.py']", "per-file-ignores"),
        ("exclude = 'a.py'", "exclude"),
        ("extend-exclude = [1]", "extend-exclude"),
        ("force-exclude = 'yes'", "force-exclude"),
        ("respect-gitignore = 1", "respect-gitignore"),
        ("profile = 'quick'", "profile"),
        ("targets = ['gpu']", "targets"),
        ("targets = 'cuda'", "targets"),
        ("versions = { torch = 2 }", "versions"),
        ("versions = { torch = 'newest' }", "versions.torch"),
        ("catalogs = 'a.toml'", "catalogs"),
        ("severity = { DET403 = 'fatal' }", "severity"),
        ("severity = { grid-sample = 'note' }", "severity"),
        ("severity = 'note'", "severity"),
        ("fail-on = 'info'", "fail-on"),
        ("output-format = 'xml'", "output-format"),
        ("show-notes = 'no'", "show-notes"),
        ("library = 'mine'", "library"),
        ("max-file-size = '1 MB'", "max-file-size"),
        ("max-file-size = -1", "max-file-size"),
        ("cache-dir = 1", "cache-dir"),
        ("jobs = 'all'", "jobs"),
        ("jobs = -2", "jobs"),
    ],
)
def test_wrong_settings_name_file_and_key(project: Project, name: str, text: str, key: str) -> None:
    project(**{"a.py": SOURCE, name: f"[tool.detlint]\n{text}\n" if name == "pyproject.toml" else text})
    message = refused("a.py")
    assert name in message
    assert key in message


def test_a_misspelt_key_is_corrected(project: Project) -> None:
    project(**{"a.py": SOURCE, "detlint.toml": "extend_select = ['DET4']"})
    assert "did you mean `extend-select`?" in refused("a.py")


@pytest.mark.parametrize(
    "text",
    [
        "select = ['DET999']",
        "ignore = ['DET7']",
        "severity = { DET999 = 'note' }",
        "per-file-ignores = { 'a.py' = ['DET999'] }",
    ],
)
def test_an_unknown_rule_names_file_and_key(project: Project, text: str) -> None:
    project(**{"a.py": SOURCE, "detlint.toml": text})
    message = refused("a.py")
    assert "DET999" in message or "DET7" in message
    assert "detlint.toml" in message
    assert text.partition(" ")[0] in message


def test_a_wrong_selector_of_the_command_line_is_not_blamed_on_the_file(project: Project) -> None:
    project(**{"a.py": SOURCE, "detlint.toml": "select = ['DET']"})
    assert "detlint.toml" not in refused("--select", "F401", "a.py")


@pytest.mark.parametrize(
    "text", ["select = [", "select = ['DET'", "= 1", "a = 1\na = 2", b"\xff\xfe", "[tool.detlint]\nselect = 1"]
)
def test_a_file_that_is_not_what_it_should_be(project: Project, text: str | bytes) -> None:
    project(**{"a.py": SOURCE, "detlint.toml": text})
    assert "detlint.toml" in refused("a.py")


@pytest.mark.parametrize(
    "text",
    [
        "[tool.detlint]\nselect = [\n",
        "[tool]\ndetlint = 1\n",
        "[tool.detlint]\nignore = ['DET4']\n[tool.detlint]\n",
    ],
)
def test_a_pyproject_that_is_not_what_it_should_be(project: Project, text: str) -> None:
    project(**{"a.py": SOURCE, "pyproject.toml": text})
    assert "pyproject.toml" in refused("a.py")


def test_a_missing_catalog(project: Project) -> None:
    project(**{"a.py": SOURCE, "detlint.toml": "catalogs = ['none.toml']"})
    assert "none.toml" in refused("a.py")
