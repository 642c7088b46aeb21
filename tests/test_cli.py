"""The command line: commands, exit codes, selection, output and its destinations."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import detlint, findings

from detlint import __version__

Project = Callable[..., Path]

ERROR = "import torch.nn.functional as F\n\n\ndef warp(x, g):\n    return F.grid_sample(x, g)\n"
WARNING = "import torch\n\n\ndef add(x, i, s):\n    return torch.index_add(x, 0, i, s)\n"
NOTE = "import torch.nn as nn\n\n\ndef layer():\n    return nn.Dropout(0.5)\n"
CLEAN = "import torch.nn as nn\n\n\ndef layer():\n    return nn.Linear(2, 2)\n"
ALL = {"error.py": ERROR, "warning.py": WARNING, "note.py": NOTE, "clean.py": CLEAN}


def shell(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """A process of its own, as a shell starts it, with nothing on it that decides about colours."""
    plain = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE")}
    return subprocess.run(
        [sys.executable, "-m", "detlint", *arguments],
        cwd=cwd,
        capture_output=True,
        timeout=120,
        env={**plain, **environment},
        check=False,
    )


def codes(*arguments: str) -> list[str]:
    return [row["code"] for row in findings(*arguments)]


# -- exit codes -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("file", "code"), [("error.py", 1), ("warning.py", 1), ("note.py", 0), ("clean.py", 0)])
def test_exit_code(project: Project, file: str, code: int) -> None:
    project(**ALL)
    assert detlint("check", "--no-cache", file).exit_code == code


@pytest.mark.parametrize(
    ("fail_on", "expected"),
    [("error", [1, 0, 0, 0]), ("warning", [1, 1, 0, 0]), ("note", [1, 1, 1, 0])],
)
def test_fail_on(project: Project, fail_on: str, expected: list[int]) -> None:
    project(**ALL)
    assert [detlint("check", "--no-cache", "--fail-on", fail_on, file).exit_code for file in ALL] == expected


def test_exit_zero_prints_findings_all_the_same(project: Project) -> None:
    project(**ALL)
    result = detlint("check", "--no-cache", "--exit-zero", "error.py")
    assert result.exit_code == 0
    assert "DET403" in result.stdout


def test_exit_zero_does_not_hide_wrong_use(project: Project) -> None:
    project(**ALL)
    assert detlint("check", "--no-cache", "--exit-zero", "--select", "DET999", "error.py").exit_code == 2


@pytest.mark.parametrize("path", ["missing.py", "missing", "missing/deeper.py"])
def test_unknown_path(project: Project, path: str) -> None:
    project(**ALL)
    result = detlint("check", "--no-cache", "error.py", path)
    assert result.exit_code == 2
    assert path in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize("option", ["--select", "--extend-select", "--ignore", "--extend-ignore"])
@pytest.mark.parametrize("code", ["DET999", "F401", "dropout"])
def test_unknown_rule(project: Project, option: str, code: str) -> None:
    project(**ALL)
    result = detlint("check", "--no-cache", option, code, "error.py")
    assert result.exit_code == 2
    assert code.upper() in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["--no-such-option"],
        ["--jobs", "many"],
        ["--jobs", "-1"],
        ["--profile", "fast"],
        ["--target", "toaster"],
        ["--output-format", "xml"],
        ["--fail-on", "never"],
    ],
    ids=" ".join,
)
def test_wrong_option(project: Project, arguments: list[str]) -> None:
    project(**ALL)
    result = detlint("check", *arguments, "error.py")
    assert result.exit_code == 2
    assert arguments[0] in result.stderr


# -- commands -------------------------------------------------------------------------------------------------------


def test_check_is_the_default_command(project: Project) -> None:
    project(**ALL)
    short, long = detlint("--no-cache", "error.py"), detlint("check", "--no-cache", "error.py")
    assert (short.exit_code, short.stdout) == (long.exit_code, long.stdout)
    assert detlint("error.py", "--no-cache").stdout == long.stdout


def test_a_folder_named_like_a_command_can_be_checked(project: Project) -> None:
    project(**{"rule/a.py": ERROR})
    assert "DET403" in detlint("check", "--no-cache", "rule").stdout
    assert "DET403" in detlint("--no-cache", "./rule").stdout


def test_without_a_path_the_current_folder_is_checked(project: Project) -> None:
    project(**ALL)
    bare, dot = detlint("check", "--no-cache"), detlint("check", "--no-cache", ".")
    assert bare.exit_code == 1
    assert bare.stdout == dot.stdout


def test_bare_invocation_checks_the_current_folder(project: Project) -> None:
    root = project(**ALL)
    result = shell("--no-cache", cwd=root)
    assert result.returncode == 1
    assert b"error.py" in result.stdout


@pytest.mark.parametrize("flag", ["--version", "-V"])
def test_version(flag: str) -> None:
    result = detlint(flag)
    assert result.exit_code == 0
    assert re.fullmatch(rf"\S+ {re.escape(__version__)}\n", result.stdout)


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["check", "--help"], ["rule", "-h"]], ids=" ".join)
def test_help(arguments: list[str]) -> None:
    result = detlint(*arguments)
    assert result.exit_code == 0
    assert "Usage:" in result.stdout


def test_show_files(project: Project) -> None:
    project(**ALL)
    result = detlint("check", "--no-cache", "--show-files")
    assert result.exit_code == 0
    assert result.stdout.split() == sorted(ALL)


def test_show_settings_reports_what_is_in_force(project: Project) -> None:
    project(**{**ALL, "detlint.toml": 'profile = "align"\nignore = ["DET2"]\n'})
    result = detlint("check", "--no-cache", "--show-settings", "--ignore", "DET3")
    assert result.exit_code == 0
    settings = json.loads("".join(line for line in result.stdout.splitlines() if not line.startswith("#")))
    assert settings["profile"] == "align"
    assert settings["ignore"] == ["DET3"]
    assert "detlint.toml" in result.stdout


def test_verbose_speaks_on_standard_error(project: Project) -> None:
    project(**ALL)
    quiet, loud = detlint("--no-cache", "error.py"), detlint("--no-cache", "-v", "error.py")
    assert loud.stdout == quiet.stdout
    assert "1 files" in loud.stderr
    assert quiet.stderr == ""


# -- selection ------------------------------------------------------------------------------------------------------

BOTH = ERROR + "\n\ndef drop(x):\n    return F.dropout(x, 0.5), F.interpolate(x, mode='bicubic')\n"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], ["DET201", "DET401", "DET403"]),
        (["--select", "ALL"], ["DET201", "DET401", "DET403"]),
        (["--select", "DET4"], ["DET401", "DET403"]),
        (["--select", "DET403"], ["DET403"]),
        (["--select", "DET403,DET2"], ["DET201", "DET403"]),
        (["--select", "DET403", "--select", "DET2"], ["DET201", "DET403"]),
        (["--select", " det403 , det2 "], ["DET201", "DET403"]),
        (["--ignore", "DET4"], ["DET201"]),
        (["--ignore", "DET4", "--extend-ignore", "DET2"], []),
        (["--select", "DET2", "--extend-select", "DET403"], ["DET201", "DET403"]),
        # The longer selector wins, on either side.
        (["--select", "DET403", "--ignore", "DET4"], ["DET403"]),
        (["--select", "DET4", "--ignore", "DET403"], ["DET401"]),
        (["--ignore", "DET4", "--extend-select", "DET401"], ["DET201", "DET401"]),
        (["--select", "ALL", "--ignore", "DET"], []),
        # `ignore` wins ties.
        (["--select", "DET403", "--ignore", "DET403"], []),
        (["--select", "DET4", "--ignore", "DET4"], []),
    ],
    ids=lambda value: " ".join(value) or "nothing",
)
def test_selection(project: Project, arguments: list[str], expected: list[str]) -> None:
    project(**{"a.py": BOTH})
    assert sorted(codes(*arguments, "a.py")) == expected


def test_command_line_replaces_select_and_extends_the_rest(project: Project) -> None:
    project(**{"a.py": BOTH, "detlint.toml": 'select = ["DET2"]\nextend-ignore = ["DET401"]\n'})

    def found(*arguments: str) -> list[str]:
        result = detlint("check", "--no-cache", "--show-notes", "--output-format", "json", *arguments, "a.py")
        return sorted(row["code"] for row in json.loads(result.stdout))

    assert found() == ["DET201"]
    assert found("--select", "DET4") == ["DET403"]
    assert found("--extend-select", "DET403") == ["DET201", "DET403"]


# -- output ---------------------------------------------------------------------------------------------------------


def test_notes_are_counted_but_not_listed(project: Project) -> None:
    project(**ALL)
    hidden, listed = detlint("--no-cache", "note.py"), detlint("--no-cache", "--show-notes", "note.py")
    assert "DET201" not in hidden.stdout
    assert "1 note" in hidden.stdout
    assert "note[DET201]" in listed.stdout
    assert hidden.exit_code == listed.exit_code == 0


@pytest.mark.parametrize("form", ["concise", "json"])
def test_notes_in_other_formats(project: Project, form: str) -> None:
    project(**ALL)
    arguments = ["--no-cache", "--output-format", form, "note.py"]
    assert "DET201" not in detlint(*arguments).stdout
    assert "DET201" in detlint(*arguments, "--show-notes").stdout


def test_no_show_notes_overrides_the_configuration(project: Project) -> None:
    project(**{**ALL, "detlint.toml": "show-notes = true\n"})
    assert "DET201" in detlint("--no-cache", "note.py").stdout
    assert "DET201" not in detlint("--no-cache", "--no-show-notes", "note.py").stdout


def test_help_cuts_no_sentence() -> None:
    told = detlint("--help").stdout
    assert "..." not in told.partition("Commands:")[2]
    assert "  compare " in told
    assert "  diff " not in told, "the name that it had works, and is not shown"
    assert "folders that `detlint trace` made" in detlint("diff", "--help").stdout


def test_a_folder_without_files_is_told(project: Project) -> None:
    project(**{"empty/notes.txt": "nothing\n"})
    result = detlint("check", "--no-cache", "empty")
    assert (result.exit_code, result.stdout[:18]) == (0, "No files to check:")


def test_statistics(project: Project) -> None:
    project(**{**ALL, "more.py": ERROR.replace("warp", "again")})
    result = detlint("--no-cache", "--statistics")
    assert result.exit_code == 1
    rows = [line.split() for line in result.stdout.splitlines()]
    assert rows[:2] == [["2", "DET403", "grid-sample", "error"], ["1", "DET402", "switchable-operator", "warning"]]
    assert [" ".join(row) for row in rows[2:]] == ["2 fixable with --fix --unsafe-fixes."]


def test_statistics_of_nothing(project: Project) -> None:
    project(**ALL)
    result = detlint("--no-cache", "--statistics", "clean.py")
    assert (result.exit_code, result.stdout) == (0, "")


def test_concise_lines(project: Project) -> None:
    project(**{"folder/a.py": ERROR, "b.py": WARNING})
    lines = detlint("--no-cache", "--output-format", "concise").stdout.splitlines()
    assert [re.sub(r" (DET\d{3}) .*", r" \1", line) for line in lines] == [
        "b.py:5:12: warning: DET402",
        "folder/a.py:5:12: error: DET403",
    ]


def test_concise_says_nothing_of_nothing(project: Project) -> None:
    project(**ALL)
    assert detlint("--no-cache", "--output-format", "concise", "clean.py").stdout == ""


def test_files_outside_of_the_current_folder_have_their_whole_path(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = project(**{"src/a.py": ERROR, "elsewhere/keep.py": CLEAN})
    monkeypatch.chdir(root / "elsewhere")
    result = detlint("--no-cache", "--output-format", "concise", "../src")
    assert str(root / "src" / "a.py") in result.stdout or "../src/a.py" in result.stdout


@pytest.mark.parametrize("form", ["text", "concise", "json"])
def test_output_file(project: Project, form: str) -> None:
    root = project(**ALL)
    printed = detlint("--no-cache", "--output-format", form, "error.py")
    written = detlint("--no-cache", "--output-format", form, "-o", "report.out", "error.py")
    assert written.exit_code == 1
    assert written.stdout == ""
    assert (root / "report.out").read_text("utf-8") == printed.stdout


def test_output_file_has_no_colours_and_no_other_encoding(project: Project) -> None:
    root = project(**{"é.py": ERROR + "# é\n"})
    result = shell("--no-cache", "-o", "report.txt", ".", cwd=root, FORCE_COLOR="1", PYTHONIOENCODING="ascii")
    assert result.returncode == 1
    text = (root / "report.txt").read_text("utf-8")
    assert "\x1b" not in text
    assert "é.py" in text


def test_output_file_that_cannot_be_written(project: Project) -> None:
    root = project(**ALL)
    result = shell("--no-cache", "-o", "no/such/folder/report.txt", "error.py", cwd=root)
    assert result.returncode == 2
    assert b"Traceback" not in result.stderr
    assert b"report.txt" in result.stderr


@pytest.mark.parametrize(
    ("environment", "coloured"),
    [
        ({}, False),
        ({"FORCE_COLOR": "1"}, True),
        ({"NO_COLOR": "1"}, False),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
        ({"NO_COLOR": "", "FORCE_COLOR": "1"}, True),
    ],
    ids=str,
)
def test_colours(project: Project, environment: dict[str, str], coloured: bool) -> None:
    root = project(**ALL)
    result = shell("--no-cache", "error.py", cwd=root, **environment)
    assert result.returncode == 1
    assert (b"\x1b[" in result.stdout) is coloured


def test_json_is_never_coloured(project: Project) -> None:
    root = project(**ALL)
    result = shell("--no-cache", "--output-format", "json", "error.py", cwd=root, FORCE_COLOR="1")
    assert json.loads(result.stdout)


def test_names_that_a_terminal_cannot_show(project: Project) -> None:
    root = project(
        **{"ünïcode.py": ERROR + "# ж\n", "b.py": "import torch.nn.functional as F\ny = ['ж', F.grid_sample(1, 2)]\n"}
    )
    for form in ("text", "concise", "json"):
        result = shell("--no-cache", "--output-format", form, cwd=root, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
        assert result.returncode == 1, result.stderr
        assert b"Traceback" not in result.stderr


def test_names_that_are_not_text(project: Project) -> None:
    root = project(**{"a.py": CLEAN})
    try:
        Path(os.fsdecode(bytes(root) + b"/\xff.py")).write_text(ERROR)
    except OSError:
        pytest.skip("the file system takes no such name")
    for form in ("text", "concise", "json"):
        result = shell("--no-cache", "--output-format", form, cwd=root)
        assert result.returncode == 1, result.stderr
        assert b"Traceback" not in result.stderr
        assert b"DET403" in result.stdout


def test_a_reader_that_goes_away(project: Project) -> None:
    calls = "".join(f"    yield F.grid_sample(x, {i})\n" for i in range(500))
    root = project(**{"a.py": "import torch.nn.functional as F\n\n\ndef warp(x):\n" + calls})
    command = [sys.executable, "-m", "detlint", "--no-cache", "a.py"]
    with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        complaints = process.stderr.read()
        code = process.wait(60)
    assert complaints == b""
    assert code == 1


# -- standard input -------------------------------------------------------------------------------------------------


def test_standard_input(project: Project) -> None:
    project(**ALL)
    result = detlint("--no-cache", "--output-format", "concise", "-", stdin=ERROR.encode())
    assert result.exit_code == 1
    assert re.match(r"stdin\.py:5:12: error: DET403 ", result.stdout)


def test_standard_input_under_a_name(project: Project) -> None:
    project(**ALL)
    arguments = ["--no-cache", "--output-format", "concise", "--stdin-filename", "clean.py", "-"]
    result = detlint(*arguments, stdin=ERROR.encode())
    assert result.exit_code == 1
    assert result.stdout.startswith("clean.py:5:12: error: DET403 ")
    assert detlint(*arguments, stdin=CLEAN.encode()).exit_code == 0


def test_standard_input_is_linked_with_the_files_around_its_name(project: Project) -> None:
    project(
        **{
            "package/__init__.py": "",
            "package/ops.py": "from torch.nn.functional import grid_sample as warp\n",
            "package/model.py": CLEAN,
        }
    )
    text = b"from .ops import warp\n\n\ndef run(x, g):\n    return warp(x, g)\n"
    result = detlint(
        "--no-cache", "--output-format", "concise", "--stdin-filename", "package/model.py", "-", stdin=text
    )
    assert result.stdout.startswith("package/model.py:5:12: error: DET403 ")


def test_standard_input_has_the_settings_of_its_name(project: Project) -> None:
    project(**{"sub/detlint.toml": 'ignore = ["DET403"]\n', "sub/a.py": CLEAN})
    assert detlint("--no-cache", "--stdin-filename", "sub/new.py", "-", stdin=ERROR.encode()).exit_code == 0
    assert detlint("--no-cache", "--stdin-filename", "new.py", "-", stdin=ERROR.encode()).exit_code == 1


def test_standard_input_is_what_is_shown(project: Project) -> None:
    project(**ALL)
    text = "import torch.nn.functional as F\n\n\ndef warp(image, grid):\n    return 'é', F.grid_sample(image, grid)\n"
    for name in ("clean.py", "not_there.py"):
        result = detlint("--no-cache", "--stdin-filename", name, "-", stdin=text.encode())
        assert f"{name}:5:17 " in result.stdout
        assert "return 'é', F.grid_sample(image, grid)" in result.stdout


def test_standard_input_counts_columns_in_its_own_text(project: Project) -> None:
    project(**ALL)
    text = "import torch.nn.functional as F\ndef warp(x, g): return 'é', F.grid_sample(x, g)\n"
    result = detlint("--no-cache", "--output-format", "json", "--stdin-filename", "error.py", "-", stdin=text.encode())
    (row,) = json.loads(result.stdout)
    assert row["location"] == {"row": 2, "column": 29}
    assert row["end_location"] == {"row": 2, "column": 48}


def test_standard_input_goes_with_no_other_path(project: Project) -> None:
    project(**ALL)
    result = detlint("--no-cache", "-", "error.py", stdin=ERROR.encode())
    assert result.exit_code == 2
    assert "`-`" in result.stderr


def test_suppression_in_standard_input(project: Project) -> None:
    project(**ALL)
    text = ERROR.replace("F.grid_sample(x, g)", "F.grid_sample(x, g)  # noqa: DET403")
    assert detlint("--no-cache", "-", stdin=text.encode()).exit_code == 0


def test_empty_standard_input(project: Project) -> None:
    project(**ALL)
    assert detlint("--no-cache", "-", stdin=b"").exit_code == 0


# -- detlint rule ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["DET403", "det403", "grid-sample", "Grid-Sample"])
def test_rule(name: str) -> None:
    result = detlint("rule", name)
    assert result.exit_code == 0
    assert result.stdout.startswith("DET403 grid-sample\n")
    for part in (
        "torch.nn.functional.grid_sample",
        "Why it matters",
        "Before:",
        "# <- DET403",
        "After:",
        "noqa: DET403",
    ):
        assert part in result.stdout


def test_rule_fits_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for line in detlint("rule", "--all").stdout.splitlines():
        # Code that a sentence shows is not broken.
        assert len(line) <= 80 or re.fullmatch(r"[^ ]*`?[^`]*`[^ ]*|[^ ]*", line.strip()), line


def test_rule_all() -> None:
    result = detlint("rule", "--all")
    assert result.exit_code == 0
    heads = re.findall(r"^(DET\d{3}) [a-z-]+\n=", result.stdout, re.M)
    assert len(heads) >= 44
    assert heads == sorted(set(heads))


def test_rule_as_json() -> None:
    row = json.loads(detlint("rule", "DET201", "--output-format", "json").stdout)
    assert row["code"] == "DET201"
    assert row["name"] == "dropout"
    assert {"family", "level", "summary", "message", "why", "remedy", "source", "sources", "apis"} <= set(row)
    assert row["explanation"] == detlint("rule", "DET201", "--output-format", "markdown").stdout
    names = {name for api in row["apis"] for name in api["names"]}
    assert {"torch.nn.Dropout", "torch.nn.functional.dropout"} <= names
    assert any(api["fix"] and api["fix"]["applicability"] for api in row["apis"])


def test_all_rules_as_json() -> None:
    rows = json.loads(detlint("rule", "--all", "--output-format", "json").stdout)
    assert len(rows) == len({row["code"] for row in rows}) >= 44


def test_rule_as_markdown() -> None:
    page = detlint("rule", "DET115", "--output-format", "markdown").stdout
    assert page.startswith("# DET115 hash-order\n\n")
    assert "\n## APIs\n" in page
    assert "\n| API | When | What | Remedy |\n| --- |" in page
    assert "`polars.DataFrame.unique`" in page


OWN = """\
[[rule]]
code = "DET901"
name = "racing-cache"
level = "warning"
summary = "A cache that hands out entries in the order in which its threads finish."
message = "`{api}` races"
why = "Several threads fill it."

[[api]]
rule = "DET901"
names = ["ourlib.Cache"]
when = { threads = { above = 1 } }
versions = "ourlib < 4"
source = "ourlib 3.1, cache.py"
"""


def test_rule_of_a_catalog_of_ones_own(project: Project) -> None:
    project(**{"detlint.toml": 'catalogs = ["own.toml"]', "own.toml": OWN})
    page = detlint("rule", "DET901").stdout
    for part in ("racing-cache", "ourlib.Cache", "`threads` > 1", "ourlib < 4", "ourlib 3.1, cache.py"):
        assert part in page
    assert detlint("rule", "DET901", "--isolated").exit_code == 2


def test_rule_names_a_wrong_catalog(project: Project) -> None:
    project(**{"detlint.toml": 'catalogs = ["own.toml"]', "own.toml": OWN.replace("when", "wenn")})
    result = detlint("rule", "DET403")
    assert result.exit_code == 2
    assert "own.toml: [[api]] 1 (ourlib.Cache)" in result.stderr
    assert "wenn" in result.stderr


@pytest.mark.parametrize(
    ("wrong", "near"),
    [("DET4O3", "DET403 (grid-sample)"), ("gridsample", "DET403 (grid-sample)"), ("DET40", "DET408 (silent-operator)")],
)
def test_unknown_rule_names_those_near_it(wrong: str, near: str) -> None:
    result = detlint("rule", wrong)
    assert result.exit_code == 2
    assert f"unknown rule `{wrong}`" in result.stderr
    assert near in result.stderr


@pytest.mark.parametrize("arguments", [[], ["DET999"], ["nonsense"], ["DET403", "--all"]], ids=" ".join)
def test_rule_wrong_use(arguments: list[str]) -> None:
    result = detlint("rule", *arguments)
    assert result.exit_code == 2
    assert result.stderr


# -- what the shell hands over --------------------------------------------------------------------------------------


def through_shell(command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """A line of a POSIX shell, in which `detlint` is this one."""
    line = command.replace("detlint", f'"{sys.executable}" -m detlint')
    return subprocess.run(["sh", "-c", line], cwd=cwd, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell")
def test_closed_streams(project: Project) -> None:
    root = project(**ALL)
    assert through_shell("detlint check --no-cache error.py >&-", root).returncode == 1
    assert through_shell("detlint check --no-cache clean.py >&- 2>&-", root).returncode == 0
    result = through_shell("detlint check --no-cache error.py 2>&-", root)
    assert (result.returncode, "Found 1 error" in result.stdout) == (1, True)


@pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell")
def test_a_reader_that_goes(project: Project) -> None:
    result = through_shell("detlint check --no-cache --show-notes . | true", project(**ALL))
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk(project: Project) -> None:
    root = project(**ALL)
    for buffered in ("unset PYTHONUNBUFFERED", "export PYTHONUNBUFFERED=1"):
        result = through_shell(f"{buffered}; detlint check --no-cache error.py > /dev/full", root)
        assert (result.returncode, result.stderr) == (2, "error: [Errno 28] No space left on device\n")
