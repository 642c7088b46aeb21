"""A repository may hold anything under any name: nothing in it keeps a check waiting, fills the memory or ends it in a traceback."""

from __future__ import annotations

import ast
import json
import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import REPOSITORY, detlint, findings, notebook

from detlint.formats import MODULES
from detlint.patterns import spec

Project = Callable[..., Path]

pytestmark = pytest.mark.timeout(120)

GOOD = "import torch.nn.functional as F\nimport helper\nfrom helper import x\n\n\ndef warp(x, g):\n    return F.grid_sample(x, g)\n"
DROPOUT = "import torch\nprint(torch.nn.Dropout(0.5))\n"
METADATA = (
    "README.md", "setup.cfg", "setup.py", "requirements.txt", "requirements-dev.txt", "poetry.lock", "uv.lock", "Pipfile.lock",
    "environment.yml", ".gitignore", "helper.py", "conf.yaml", "run.sh", "Dockerfile", "config.json", "README.ipynb",
)  # fmt: skip
SPARSE = 1 << 42
"""Bytes that take no room on disk, and that no memory holds."""


def put(path: Path, kind: str) -> None:
    """Put something in the place of a file that isn't one to be read."""
    if kind == "pipe":
        os.mkfifo(path.with_name(f"{path.name}.pipe"))
        path.symlink_to(f"{path.name}.pipe")
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)  # a full path may be too long for one
    elif kind == "folder":
        path.mkdir()
    else:
        with path.open("wb") as file:
            file.truncate(SPARSE)


def codes(root: Path, name: str = "a_good.py") -> list[str]:
    """What is found in a file of a project that is checked whole."""
    return [row["code"] for row in findings(root, isolated=False) if Path(row["filename"]).name == name]


# -- what is read ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["pipe", "device", "socket", "folder", "sparse"])
def test_what_is_no_regular_file_is_not_read(project: Project, kind: str) -> None:
    root = project(**{"a_good.py": GOOD})
    for name in METADATA:
        put(root / name, kind)
    assert "DET403" in codes(root)


@pytest.mark.parametrize("kind", ["pipe", "device", "socket", "sparse"])
@pytest.mark.parametrize("name", ["named.py", "named.ipynb", "named.yaml"])
def test_what_is_no_regular_file_is_told_where_it_is_named(project: Project, name: str, kind: str) -> None:
    root = project(**{"a_good.py": GOOD})
    put(root / name, kind)
    rows = findings(name, "a_good.py")
    assert {row["code"] for row in rows} == {"DET001", "DET403"}
    message = next(row["message"] for row in rows if row["code"] == "DET001")
    expected = f"can't be read: it has {SPARSE:,} bytes" if kind == "sparse" else "can't be read: it is no regular file"
    assert message.startswith(expected)


@pytest.mark.parametrize("kind", ["pipe", "device", "sparse"])
@pytest.mark.parametrize("name", ["detlint.toml", ".detlint-baseline.json", "own.toml"])
def test_settings_that_can_not_be_read_are_told(project: Project, name: str, kind: str) -> None:
    settings = {"detlint.toml": 'catalogs = ["own.toml"]\n'} if name == "own.toml" else {}
    root = project(**{"a_good.py": GOOD, **settings})
    put(root / name, kind)
    given = ["--config", name] if name == "detlint.toml" else []
    result = detlint("check", "--no-cache", *given, root)
    assert result.exit_code == 2
    assert f"{name}: can't be read: it " in result.stderr


def test_one_function_reads() -> None:
    # Every other way to open a file would have to know what that one knows.
    reading = {"open", "fdopen", "read_text", "read_bytes"}
    allowed = {
        ("files.py", "open"),
        ("cachefile.py", "open"), ("whole.py", "open"),  # they write
        ("__main__.py", "open"), ("cli/shell.py", "open"),  # the null device, for streams that are closed
        ("report/html.py", "read_text"), ("report/rules.py", "read_text"),  # files of detlint's own
    }  # fmt: skip
    package = REPOSITORY / "detlint"
    found = set()
    for file in package.rglob("*.py"):
        name = file.relative_to(package).as_posix()
        if name.startswith(("runtime/", "tracing/")):
            continue
        for node in ast.walk(ast.parse(file.read_bytes())):
            if isinstance(node, ast.Call):
                called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                found |= {(name, called)} if called in reading else set()
    assert found == allowed


# -- YAML, TOML and JSON --------------------------------------------------------------------------------------------


def doubled(count: int, how: str) -> str:
    """Tables each of which has the one before twice."""
    return "a0: &a0 {k: 1}\n" + "".join(f"a{i}: &a{i}\n  {how.format(f'*a{i - 1}')}\n" for i in range(1, count))


@pytest.mark.parametrize("how", ["<<: [{0}, {0}]", "x: [{0}, {0}]", "{{y: {0}, z: {0}}}"])
def test_aliases_that_stand_for_far_more_than_is_written(project: Project, how: str) -> None:
    bomb = doubled(40, how) + "x:\n  _target_: torch.nn.Dropout\n  p: *a39\n"
    rows = findings(project(**{"a_good.py": GOOD, "helper.py": "x = 1\n", "conf.yaml": bomb, "README.md": "torch\n"}))
    assert [row["code"] for row in rows] == ["DET403", "DET001"]
    assert rows[1]["message"] == "can't be parsed: its aliases stand for more than 100,000 values"


def test_many_aliases_are_fine(project: Project) -> None:
    lines = ["base: &base {p: 0.5, other: [1, 2, 3]}", *(f"use{i}: {{<<: *base}}" for i in range(2_000))]
    rows = findings(
        project(**{"conf.yaml": "\n".join([*lines, "x:", "  _target_: torch.nn.Dropout", "  <<: *base\n"])})
    )
    assert "DET001" not in {row["code"] for row in rows}


def test_alias_that_leads_back_to_itself(project: Project) -> None:
    text = "a: &a [*a, *a]\nb: &b {<<: *b, c: &c [*b, *c], d: *c}\nx:\n  _target_: torch.nn.Dropout\n  p: 0.5\n"
    assert "DET001" not in {row["code"] for row in findings(project(**{"conf.yaml": text}))}


def test_long_line_of_yaml_beyond_ascii(project: Project) -> None:
    text = f"x: [{'é, ' * 60_000}1]  # detlint: ignore[DET201]\n"
    assert [row["code"] for row in findings(project(**{"conf.yaml": text}))] == ["DET002"]


TOML = {
    "lists": "x = " + "[" * 20_000,
    "tables": "x = " + "{a=" * 20_000 + "1" + "}" * 20_000,
    "key": ".".join("a" * 20_000) + " = 1\n",
    "quoted key": ".".join(['"a"'] * 20_000) + " = 1\n",
    "key after a text": 'x = """a"""\n' + ".".join("a" * 20_000) + " = 1\n",
    "header": f"[{'.'.join('a' * 20_000)}]\n",
    "number": f"x = {'9' * 10_000}\n",
}


@pytest.mark.parametrize("kind", TOML)
def test_toml_that_nobody_writes(project: Project, kind: str) -> None:
    root = project(**{"a.py": GOOD, "detlint.toml": TOML[kind]})
    result = detlint("check", "--no-cache", root)
    assert result.exit_code == 2
    assert "detlint.toml: not valid TOML: " in result.stderr
    (root / "detlint.toml").write_text('catalogs = ["own.toml"]\n')
    (root / "own.toml").write_text(TOML[kind])
    result = detlint("check", "--no-cache", root)
    assert result.exit_code == 2
    assert "own.toml: not valid TOML: " in result.stderr


@pytest.mark.parametrize(
    "text", ["(" * 90_000, f"x={'-' * 10_000}1", "x={[]: 1}", "x=1j", f"x=0x{'f' * 30}", "x=b''.a"]
)
def test_signature_that_is_none(project: Project, text: str) -> None:
    root = project(**{"detlint.toml": 'catalogs = ["own.toml"]\n', "own.toml": f"[signatures]\n'a.b' = \"{text}\"\n"})
    result = detlint("check", "--no-cache", root)
    assert result.exit_code == 2
    assert "own.toml: [signatures] a.b: not a parameter list with literal defaults" in result.stderr


def test_dots_that_are_no_keys(project: Project) -> None:
    dots, numbers = "." * 500, ", ".join(["1.5"] * 500)
    text = f'[tool.x]\na = \'{dots}\' # {dots}\nb = [{numbers}]\nc = """{dots}\n\\"{dots}"""\n[tool.detlint]\nselect = [\'DET4\']\n'
    root = project(**{"a_good.py": GOOD, "helper.py": "x = 1\n", "pyproject.toml": text})
    assert codes(root) == ["DET403"]


NOTEBOOKS = {
    "deep": "[" * 1_000_000,
    "deep in an output": '{"cells": [], "x": ' + "[" * 200_000 + "]" * 200_000 + "}",
    "deep, and only Python's reader takes it": '{"x": NaN, "y": ' + "[" * 200_000 + "]" * 200_000 + "}",
    "a number": '{"x": NaN, "y": ' + "9" * 10_000 + "}",
    "cells of odd kinds": '{"cells": [1, null, "x", [], {"cell_type": 3}]}',
    "a table of cells": '{"cells": {}}',
}


@pytest.mark.parametrize("kind", NOTEBOOKS)
def test_notebook_that_is_none(project: Project, kind: str) -> None:
    rows = findings(project(**{"a_good.py": GOOD, "helper.py": "x = 1\n", "bad.ipynb": NOTEBOOKS[kind]}))
    assert [row["code"] for row in rows if row["filename"].endswith("a_good.py")] == ["DET403"]
    assert all(row["code"] == "DET001" and "fault" not in row["message"] for row in rows if row["code"] != "DET403")


@pytest.mark.parametrize("text", ["[" * 1_000_000, '{"version": ' + "9" * 10_000 + "}", "[]", '{"version": "1"}'])
def test_baseline_that_is_none(project: Project, text: str) -> None:
    result = detlint("check", "--no-cache", project(**{"a.py": GOOD, ".detlint-baseline.json": text}))
    assert result.exit_code == 2
    assert "not a baseline" in result.stderr


# -- lines that take long -------------------------------------------------------------------------------------------


LINES = {
    "marks before noqa": "x = 1 " + "#" * 300_000 + " noqa\n",
    "marks before detlint": "x = 1 " + "#" * 300_000 + " detlint\n",
    "noqa": "x = 1 # " + "noqa:" * 100_000 + "\n",
    "blanks behind noqa": "x = 1 # noqa" + " " * 500_000 + "\n",
    "noqa in comments": "x = 1 " + "# noqa" * 80_000 + "\n",
    "comments of ours": "x = 1 " + "# detlint: " * 2_000 + "\n",
    "a word": "x = 1 # noqa: A1 " + "A" * 500_000 + "\n",
    "brackets": "x = 1 # {" + " for " * 100_000 + "\n",
    "blanks in a call": "import torch\n# getattr(" + " " * 100_000 + "\n",
    "comments on order": "x = 1 " + "#" * 300_000 + " ascend: small first\n",
}


@pytest.mark.parametrize("kind", LINES)
def test_line_of_a_megabyte(project: Project, kind: str) -> None:
    text = LINES[kind]
    root = project(**{"x.py": text, "x.yaml": f"_target_: torch.nn.Dropout {text}", "x.ipynb": notebook(text)})
    assert not {"DET001"} & {row["code"] for row in findings(root)}


METADATA_LINES = {
    "requirements.txt": ["\n" * 300_000, "a" * 300_000, "a" + "-1" * 100_000, " " * 300_000 + "x", "torch" + ",<2" * 100_000],
    "environment.yml": ["dependencies:\n - a" + " " * 300_000 + "x\n", "- " + "a-" * 100_000, "- torch" + "=" * 300_000],
    "Pipfile.lock": ["[" * 300_000, '{"default":{"torch":{"version":' + "9" * 10_000 + "}}}"],
    "setup.py": [
        "setup(entry_points=" + "(" * 90_000,
        "setup(entry_points={'console_scripts': 3, 'gui_scripts': None})",
        "setup(entry_points={'console_scripts': 'a:" + "[" * 300_000 + "'})",
        "# coding: rot13\n",
    ],
    "setup.cfg": ["[" * 300_000, "[options]\ninstall_requires =\n" + "\n" * 300_000],
}  # fmt: skip


@pytest.mark.parametrize("name", METADATA_LINES)
def test_metadata_that_nobody_writes(project: Project, name: str) -> None:
    for text in METADATA_LINES[name]:
        root = project(**{"a_good.py": GOOD, "helper.py": "x = 1\n", name: text})
        assert codes(root) == ["DET403"]


# -- patterns -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line", ["build\\", "!", "[z-a]", "\\", "[", "[[:alpha:]]", "!\\", "\\#x\\", "x" * 100_000, "***"]
)
def test_line_of_gitignore_that_matches_nothing_here(project: Project, line: str) -> None:
    ignored = "***" if line == "***" else "ignored.py"
    text = f"\n{line}\r\n{ignored}\n!a_good.py\n".encode()
    root = project(
        **{"a_good.py": GOOD, "helper.py": "x = 1\n", "ignored.py": GOOD, ".gitignore": b"\xef\xbb\xbf\xff\xfe" + text}
    )
    result = detlint("check", "--no-cache", "--isolated", "--output-format", "json", root)
    assert result.stderr == ""
    assert {Path(row["filename"]).name for row in json.loads(result.stdout)} == {"a_good.py"}


@pytest.mark.parametrize("pattern", ["[z-a]", "!", "build\\"])
def test_wrong_pattern_in_settings_is_told(project: Project, pattern: str) -> None:
    root = project(**{"a_good.py": GOOD, "detlint.toml": f"extend-exclude = ['{pattern}']\n"})
    result = detlint("check", "--no-cache", root)
    assert result.exit_code == 2
    assert f"`extend-exclude`: `{pattern}` is no pattern" in result.stderr


@pytest.mark.parametrize(
    ("pattern", "matching", "other"),
    [
        ("*a*a*a*a*a*a*a*b", "a" * 200 + "b", "a" * 250),
        ("**/a/**/a/**/a/**/a/**/b", "a/" * 50 + "b", "a/" * 900 + "c"),
        ("a*b/**/c*d*e/f", "ab/x/cxdye/f", "ab/x/cxd/ye/f"),
        ("**/x*y*z/**/b/*.py", "q/xyz/b/b/a.py", "q/xyz/b/b/a/c.pyc"),
    ],
)
def test_patterns_are_matched_in_linear_time(pattern: str, matching: str, other: str) -> None:
    assert spec([pattern]).match_file(matching)
    assert not spec([pattern]).match_file(other)


# -- what is no text ------------------------------------------------------------------------------------------------


def cell(source: str, output: str = "") -> bytes:
    return notebook({"source": source, "outputs": [output]}).encode("utf-8", "surrogatepass")


ODD = {
    "half a character in a cell": ("a.ipynb", cell(DROPOUT.replace("0.5))", "0.5), '\ud800')"))),
    "another alphabet beside it": ("a.ipynb", cell(DROPOUT.replace("0.5))", "0.5), '\ud800')")).replace(b"\\ud800", b"\\ud800\xc3\xa9")),
    "an output in Latin-1": ("a.ipynb", cell(DROPOUT, "@").replace(b"@", b"\xff\xfe")),
    "half a character in an output": ("a.ipynb", cell(DROPOUT, "\ud800")),
    "half a character in an output, raw": ("a.ipynb", cell(DROPOUT, "@").replace(b"@", b"\xed\xa0\x80")),
    "a long number in an output": ("a.ipynb", cell(DROPOUT, "@").replace(b'"@"', b"9" * 10_000)),
    "a file name": ("\udcff.py", DROPOUT.encode()),
    "a folder's name": ("\udcff/a.ipynb", cell(DROPOUT)),
    "a line break in a name": ("a\nb.yaml", b"_target_: torch.nn.Dropout\np: 0.5\n"),
    "half a character in YAML": ("a.yaml", b'_target_: torch.nn.Dropout\np: 0.5\nx: "\\ud800"\n'),
    "half a character in Python": ("a.py", DROPOUT.replace("0.5))", "0.5), '\\ud800')").encode()),
}  # fmt: skip
"""A file's name, and what it has: each has a finding, and a fix."""


@pytest.mark.parametrize("kind", ODD)
def test_what_is_no_text_is_reported_in_all_formats(project: Project, kind: str) -> None:
    name, content = ODD[kind]
    root = project(**{name: content})
    given = ["--no-cache", "--profile", "align"]
    for output in MODULES:
        result = detlint("check", *given, "--output-format", output, root)
        assert result.exit_code == 1, result.output
        assert result.stdout
    assert detlint("check", *given, "--diff", "--unsafe-fixes", root).exit_code in (0, 1)
    assert detlint("check", *given, "--fix", "--unsafe-fixes", root).exit_code in (0, 1)
    assert detlint("check", *given, "--add-noqa", root).exit_code in (0, 1)
    assert detlint("baseline", root).exit_code == 0


def test_outputs_of_a_fixed_notebook_keep_their_bytes(project: Project) -> None:
    before = cell(DROPOUT, "@").replace(b"@", b"\xff\xfe\xed\xa0\x80")
    root = project(**{"a.ipynb": before})
    result = detlint("check", "--no-cache", "--profile", "align", "--fix", "--unsafe-fixes", root)
    after = (root / "a.ipynb").read_bytes()
    assert "1 fixed" in result.output or after != before
    assert b'"\xff\xfe\xed\xa0\x80"' in after


# -- what is written ------------------------------------------------------------------------------------------------


def test_cache_leaves_files_alone_that_it_has_not_made(project: Project) -> None:
    root = project(**{"a.py": GOOD, "detlint.toml": "cache-dir = '.'\n", ".gitignore": "build\n"})
    detlint("check", root)
    assert not (root / "CACHEDIR.TAG").exists()  # nothing is said of a folder that has other things, too
    assert (root / ".gitignore").read_text() == "build\n"


@pytest.mark.parametrize("name", ["../outside.txt", "linked.json"])
def test_configuration_puts_no_baseline_outside_of_the_project(project: Project, tmp_path: Path, name: str) -> None:
    folder = project(**{"inside/a.py": GOOD, "inside/detlint.toml": f"baseline = '{name}'\n", "outside.txt": "mine\n"})
    (folder / "inside/linked.json").symlink_to("../outside.txt")
    result = detlint("baseline", folder / "inside")
    assert result.exit_code == 2
    assert "outside of the project" in result.stderr
    assert (folder / "outside.txt").read_text() == "mine\n"
    named = detlint("baseline", "--baseline", folder / "inside" / name, folder / "inside")
    linked = name == "linked.json"  # no link leads out, whoever names it
    assert named.exit_code == (2 if linked else 0)
    assert ("findings" in (folder / "outside.txt").read_text()) is not linked
