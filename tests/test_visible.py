"""Names and sources that hold escape sequences, line breaks and marks of direction: they steer no terminal and forge no line."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from conftest import REPOSITORY, detlint, notebook

Project = Callable[..., Path]
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="such names can't be given there")

STEERING = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
LINK = "\x1b]8;;http://example.com\x1b\\"
NAMES = [
    "a\x1b[2J\x1b[31m.py",
    "b.py:1:1: error: DET999 forged\nc.py",
    "d\r\u202eyp.py",
    f"{LINK.replace('/', '')}e.py",
    "f\u009b2J\u2028\x7f.py",
    "::error::g\t.py",
    "##vso[task.complete]h.py",
]
TEXT = 'import random\n\nx = random.random(), "\x1b[2J\u202e\u2066\x9b\x07"  # \x1b]0;title\x07 ##[error] ##vso[task.complete]\n'
FORMATS = [
    "full",
    "concise",
    "grouped",
    "json",
    "json-lines",
    "sarif",
    "github",
    "gitlab",
    "junit",
    "rdjson",
    "pylint",
    "azure",
]


@pytest.fixture
def hostile(project: Project) -> Path:
    root = project(**dict.fromkeys(NAMES, TEXT))
    (root / os.fsdecode(b"i\xff\x1b.py")).write_text(TEXT)
    return root


def check(*arguments: str | Path, color: bool = False) -> str:
    result = detlint("check", "--no-cache", *arguments)
    assert result.exit_code in (0, 1), result.output
    assert not STEERING.search(result.stdout + result.stderr)
    return result.stdout


@pytest.mark.parametrize("form", FORMATS)
def test_no_format_steers(hostile: Path, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_BUILD", "True")
    told = check("--output-format", form, "--show-notes")
    if form in ("concise", "pylint", "github", "azure"):
        assert len(told.splitlines()) == len(NAMES) + 1
        assert all("DET101" in line for line in told.splitlines())
        assert not any(line.startswith("::error::g") or "DET999 forged\n" in line for line in told.splitlines())
    if form in ("full", "concise", "grouped", "pylint"):
        assert "##vso[" not in told
        assert "##[" not in told
    elif form == "azure":
        assert told.count("##vso[") == len(NAMES) + 1


def test_data_stays_exact(hostile: Path) -> None:
    rows = json.loads(check("--output-format", "json"))
    names = {os.path.relpath(row["filename"], hostile) for row in rows}
    assert names == {*NAMES, "i\\xff\x1b.py"}
    assert rows == [json.loads(line) for line in check("--output-format", "json-lines").splitlines()]
    suites = ElementTree.fromstring(check("--output-format", "junit")).findall("testsuite")
    assert f"{hostile}/f\u009b2J\u2028\x7f.py" in {suite.get("name") for suite in suites}


def test_what_a_line_shows_and_where_it_is_marked(project: Project) -> None:
    project(**{"a.py": 'import random\n\nx = "\x1b[2J", random.random()\n'})
    lines = check("--output-format", "full").splitlines()
    assert lines[3:5] == ['3 | x = "\\x1b[2J", random.random()', "  |                ^^^^^^^^^^^^^^^"]


def test_colours_are_detlint_s_own(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    project(**{"\x1b[31mred.py": TEXT})
    result = detlint("check", "--no-cache")
    assert "\\x1b[31mred.py" in result.stdout
    assert not STEERING.search(re.sub(r"\x1b\[[0-9]+m", "", result.stdout))
    assert '"\\x1b[2J' in result.stdout


def test_other_commands(hostile: Path) -> None:
    for name in NAMES:
        for command in (["explain", f"{name}:3"], ["graph", name], ["graph", "--format", "dot", name]):
            result = detlint(*command)
            assert result.exit_code == 0, result.output
            assert not STEERING.search(result.output)
        told = detlint("graph", name).stdout
        assert "forged" not in told or "\nc.py" not in told
    assert len(check("--show-files").splitlines()) == len(NAMES) + 1
    check("--statistics")
    check("-v")
    result = detlint("init", "--diff")
    assert not STEERING.search(result.output)
    (hostile / "no\x1b[2J\ntebook.ipynb").write_text(notebook(TEXT))
    check("no\x1b[2J\ntebook.ipynb")


@pytest.mark.parametrize(
    "arguments",
    [
        ["no\x1b[2J\nthing.py"],
        ["explain", "no\x1b[2J\nthing.py:1"],
        ["explain", "no\x1b[2J\nthing"],
        ["graph", "no\x1b[2J\nthing.py"],
        ["rule", "DET\x1b[2J\n"],
        ["--no\x1b[2Jthing"],
        ["--select", "\x1b[2J\n"],
        ["--config", "no\x1b[2J\nthing.toml"],
        ["--diff-base", "no\x1b[2J\nthing"],
        ["--baseline", "no\x1b[2J\nthing", "."],
        ["diff", "no\x1b[2J\nthing", "thing"],
        ["-o", "no\x1b[2J\nthing/x", "."],
        ["\udcff.py"],
        ["x" * 5_000],
        ["x/" * 5_000],
    ],
)
def test_errors(project: Project, arguments: list[str]) -> None:
    project(**{"a.py": TEXT})
    result = detlint(*arguments)
    assert not STEERING.search(result.output)
    assert "\nthing" not in result.output
    assert "Traceback" not in result.output


@pytest.mark.parametrize(
    "settings",
    [
        'select = ["\\u001b[2J\\n"]',
        '"\\u001b[2J\\nkey" = 1',
        'catalogs = ["\\u001b[2J\\nrules.toml"]',
        'profile = "\\u001b\\n"',
    ],
)
def test_configuration(project: Project, settings: str) -> None:
    project(**{"a.py": TEXT, "detlint.toml": settings})
    result = detlint("check", "--no-cache")
    assert not STEERING.search(result.output)
    assert len(result.stderr.splitlines()) <= 1


def test_rules_of_a_project_s_own(project: Project) -> None:
    escape = "\\u001b[2J\\nx.py:1:1: error: DET999 forged"
    rules = f"""
[[rule]]
code = "DET901"
name = "own"
message = "`{{api}}` is bad {escape}"
summary = "Bad. {escape}"
why = "Because. {escape}"
remedy = "Don't. {escape}"
level = "error"

[[api]]
names = ["own.bad"]
rule = "DET901"
source = "https://example.com {escape}"
"""
    project(**{"a.py": "import own\n\nown.bad()\n", "rules.toml": rules, "detlint.toml": 'catalogs = ["rules.toml"]\n'})
    for form in FORMATS:
        result = detlint("check", "--no-cache", "--output-format", form)
        assert result.exit_code == 1, result.stderr
        assert not STEERING.search(result.output)
    assert len(check("--output-format", "concise").splitlines()) == 1
    assert not STEERING.search(detlint("rule", "DET901").output)


def test_a_diff_is_for_programs_unless_people_see_it(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`patch` gets every byte."""
    text = "import torch\n\n# \x1b[31mred\x1b[0m \x07\ntorch.backends.cudnn.benchmark = True\n\x0c# \u202e end\n"
    root = project(**{"a\x1b[31m\u00e9 b.py": text, "plain.py": text})
    told = detlint("check", "--no-cache", "--diff", "--unsafe-fixes").stdout
    assert '"a\\033[31m\\303\\251 b.py"' in told
    assert "# \x1b[31mred\x1b[0m \x07" in told
    if shutil.which("patch"):
        subprocess.run(["patch", "-p0"], input=told.encode(), cwd=root, check=True, capture_output=True)
        assert detlint("check", "--no-cache", "--diff", "--unsafe-fixes").stdout == ""
        assert "# \x1b[31mred\x1b[0m \x07" in (root / "plain.py").read_text()
    monkeypatch.setenv("FORCE_COLOR", "1")
    (root / "plain.py").write_text(text)
    told = detlint("check", "--no-cache", "--diff", "--unsafe-fixes").stdout
    assert "\\x1b[31mred" in told
    assert not STEERING.search(re.sub(r"\x1b\[[0-9]+m", "", told))


def test_an_encoding_that_lacks_letters(project: Project) -> None:
    root = project(**{"\u00e9\u4e2d.py": 'import random\n\nx = "\u4e2d", random.random()\n'})
    for arguments in ([".", "--no-cache"], [".", "--diff"], ["explain", "\u00e9\u4e2d.py:3"]):
        env = {**os.environ, "PYTHONPATH": str(REPOSITORY), "PYTHONIOENCODING": "cp1252"}
        command = [sys.executable, "-m", "detlint", *arguments]
        done = subprocess.run(command, cwd=root, capture_output=True, env=env, timeout=300, check=False)
        assert b"Traceback" not in done.stderr
        assert b"\\u4e2d.py" in done.stdout
        assert done.returncode in (0, 1)


@pytest.mark.parametrize("columns", ["0", "1", "7", "-3", "x", "9" * 30])
def test_absurd_widths(project: Project, monkeypatch: pytest.MonkeyPatch, columns: str) -> None:
    project(**{"a.py": TEXT})
    monkeypatch.setenv("COLUMNS", columns)
    for arguments in (["--no-cache", "."], ["rule", "DET101"], ["--help"], ["explain", "a.py:3"]):
        assert detlint(*arguments).exit_code in (0, 1)
