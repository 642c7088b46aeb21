"""Suppression comments: what they cover, what they leave alone, and which of them are findings themselves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import findings

Project = Callable[..., Path]

HEAD = "import torch.nn as nn\nimport torch.nn.functional as F\n\n\n"


def found(project: Project, body: str, *arguments: str) -> list[tuple[str, int]]:
    """(code, line) of what is found in a function body; line 1 is the body's first."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    project(**{"a.py": f"{HEAD}def f(x, g):\n{lines}"})
    return [(row["code"], row["location"]["row"] - 5) for row in findings(*arguments, "a.py")]


def unused(rows: list[tuple[str, int]]) -> list[int]:
    return [line for code, line in rows if code == "DET002"]


# -- a line ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "comment",
    [
        "# noqa",
        "#noqa",
        "#  noqa",
        "# NOQA",
        "# NoQA",
        "# noqa: DET403",
        "# noqa:DET403",
        "# noqa : DET403",
        "# noqa: det403",
        "# NOQA: DET403",
        "# noqa: DET403,DET201",
        "# noqa: F401,DET403",
        "# noqa: DET403 F401",
        "# noqa: E501, DET403",
        "# noqa: DET4",
        "# noqa: DET403  the reason",
        "# type: ignore[no-any-return]  # noqa: DET403",
        "# noqa: DET403  # type: ignore",
        "# comment  # noqa: DET403",
        "# detlint: ignore[DET403]",
        "# detlint: ignore[DET403] because the flow field is constant",
        "# detlint:ignore[DET403]",
        "# detlint: ignore [DET403]",
        "# detlint: ignore[det403]",
        "# detlint: ignore[DET201, DET403]",
        "# detlint: ignore[DET4]",
        "# comment  # detlint: ignore[DET403] reason",
        "#detlint:ignore[DET403]",
    ],
)
def test_covers_its_line(project: Project, comment: str) -> None:
    rows = found(project, f"a = F.grid_sample(x, g)  {comment}\nreturn a + F.grid_sample(x, g)")
    assert [row for row in rows if row[0] == "DET403"] == [("DET403", 2)]


@pytest.mark.parametrize(
    "comment",
    [
        "# noqa: F401",
        "# noqa: E501,W291",
        "# noqa: DETS403",
        "# noqa: DET201",
        "# noqa: DET404",
        "# see noqa",
        "# type: ignore",
        "# pylint: disable=all",
        "# nosec",
        "# DET403",
        "# detlint",
        "# detlint: ignore[DET201] reason",
        "# detlint: ignore",
        "# detlint: ignore[]",
        "# detlint: ignore[F401]",
        "# detlint: disable=DET403",
        "# detlint: ignore DET403",
        "# ignore[DET403]",
    ],
)
def test_does_not_cover(project: Project, comment: str) -> None:
    assert ("DET403", 1) in found(project, f"return F.grid_sample(x, g)  {comment}")


def test_several_findings_on_one_line(project: Project) -> None:
    line = "return F.dropout(F.grid_sample(x, g), 0.5)"
    assert found(project, line) == [("DET201", 1), ("DET403", 1)]
    assert found(project, f"{line}  # noqa: DET403") == [("DET201", 1)]
    assert found(project, f"{line}  # noqa: DET201, DET403") == []
    assert found(project, f"{line}  # noqa") == []
    assert found(project, f"{line}  # detlint: ignore[DET201]  # noqa: DET403") == []


def test_neighbouring_lines_are_not_covered(project: Project) -> None:
    body = "# noqa: DET403\nreturn F.grid_sample(x, g)\n# detlint: ignore[DET403] reason"
    assert sorted(found(project, body)) == [("DET002", 1), ("DET002", 3), ("DET403", 2)]


def test_a_blanket_noqa_on_the_next_line_does_not_count(project: Project) -> None:
    assert found(project, "y = F.grid_sample(x, g)\nreturn y  # noqa") == [("DET403", 1)]


# -- a call over several lines --------------------------------------------------------------------------------------


MULTI = [
    "return F.interpolate(",
    "    x,",
    "    scale_factor=2,",
    '    mode="bicubic",',
    "    align_corners=False,",
    ")",
]


@pytest.mark.parametrize("comment", ["# noqa", "# noqa: DET401", "# detlint: ignore[DET401] reason"])
@pytest.mark.parametrize("line", [1, 4, 6])
def test_first_last_and_the_argument_of_a_call(project: Project, line: int, comment: str) -> None:
    lines = [*MULTI]
    lines[line - 1] += f"  {comment}"
    assert found(project, "\n".join(lines)) == []


@pytest.mark.parametrize("line", [2, 3, 5])
def test_other_lines_of_a_call(project: Project, line: int) -> None:
    lines = [*MULTI]
    lines[line - 1] += "  # noqa: DET401"
    assert sorted(found(project, "\n".join(lines))) == [("DET002", line), ("DET401", 1)]


def test_the_argument_of_a_call_over_three_lines(project: Project) -> None:
    assert found(project, 'return F.interpolate(x,\n    mode="bicubic",  # noqa: DET401\n    scale_factor=2)') == []
    assert found(project, "nn.Dropout(\n    p=0.5,  # noqa: DET201\n)") == []


def test_the_argument_of_a_call_in_other_scripts(project: Project) -> None:
    body = (
        'return "ééé", F.interpolate("ж",\n    scale_factor={"中": 1},\n'
        '    mode="bicubic",  # noqa: DET401\n    antialias=False,\n)'
    )
    assert found(project, body) == []


def test_the_argument_over_several_lines(project: Project) -> None:
    body = (
        "F.interpolate(\n    x,\n    scale_factor=2,\n    mode=(\n"
        '        "bicubic"  # noqa: DET401\n    ),\n    antialias=False,\n)'
    )
    assert ("DET002", 5) in found(project, body) or found(project, body) == []


def test_the_last_line_of_an_inner_call_is_not_the_outer_ones(project: Project) -> None:
    body = "return F.grid_sample(\n    F.interpolate(\n        x, 2, mode='bicubic'\n    ),  # noqa: DET401\n    g,\n)"
    assert found(project, body) == [("DET403", 1)]


# -- a file ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("comment", "left"),
    [
        ("# detlint: skip-file", []),
        ("# detlint: skip-file generated", []),
        ("# detlint:skip-file", []),
        ("# flake8: noqa", []),
        ("# ruff: noqa", []),
        ("# flake8: noqa: DET403", ["DET201"]),
        ("# ruff: noqa: DET403", ["DET201"]),
        ("# flake8: noqa: F401, DET2", ["DET403"]),
        ("# flake8: noqa: F401", ["DET201", "DET403"]),
        ("# detlint: ignore-file[DET403] reason", ["DET201"]),
        ("# detlint: ignore-file[DET201, DET403]", []),
        ("# detlint: ignore-file[DET]", []),
    ],
)
@pytest.mark.parametrize("first", [True, False])
def test_file_level(project: Project, comment: str, left: list[str], first: bool) -> None:
    text = f"{HEAD}def f(x, g):\n    return F.dropout(F.grid_sample(x, g), 0.5)\n"
    project(**{"a.py": f"{comment}\n{text}" if first else f"{text}\n{comment}\n", "b.py": text})
    rows = findings(".")
    assert [row["code"] for row in rows if row["filename"].endswith("a.py")] == left
    assert [row["code"] for row in rows if row["filename"].endswith("b.py")] == ["DET201", "DET403"]


def test_skipping_a_file_skips_entry_point_findings(project: Project) -> None:
    text = "import random\n\nif __name__ == '__main__':\n    random.random()\n"
    project(**{"a.py": text, "b.py": f"# detlint: skip-file\n{text}"})
    assert [row["filename"][-4:] for row in findings(".")] == ["a.py"]


# -- text in strings ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "# noqa",
        "# noqa: DET403",
        "# detlint: ignore[DET403] reason",
        "# detlint: skip-file",
        "# flake8: noqa",
        "# ruff: noqa: DET403",
    ],
)
@pytest.mark.parametrize("quote", ["'{}'", '"""{}"""', "f'{}'", "b'{}'", "'''\n{}\n'''"])
def test_text_in_strings_never_counts(project: Project, text: str, quote: str) -> None:
    rows = found(project, f"return F.grid_sample(x, g), {quote.format(text)}")
    assert [code for code, _ in rows] == ["DET403"]


def test_docstring_never_counts(project: Project) -> None:
    project(
        **{
            "a.py": f'"""How to: `# detlint: skip-file`\n\n    # flake8: noqa\n'
            f'"""\n{HEAD}def f(x, g):\n    return F.grid_sample(x, g)\n'
        }
    )
    assert [row["code"] for row in findings("a.py")] == ["DET403"]


# -- findings about comments ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "comment",
    [
        "# detlint: ignore",
        "# detlint: ignore[]",
        "# detlint: ignore[ ]",
        "# detlint: ignore[F401]",
        "# detlint: ignore[DET201, F401]",
        "# detlint: ignore[DET2019]",
        "# detlint: ignore[dropout]",
        "# detlint: ignore DET201",
        "# detlint: ignore[DET201",
        "# detlint: ignore=DET201",
        "# detlint: disable=DET201",
        "# detlint: noqa",
        "# detlint: skip",
        "# detlint:",
        "# noqa: DETX",
        "# noqa: DET2019",
    ],
)
def test_malformed(project: Project, comment: str) -> None:
    rows = found(project, f"x = 1\nreturn nn.Dropout(0.5)  {comment}")
    assert sorted(rows) == [("DET002", 2), ("DET201", 2)]


def test_malformed_comments_say_why(project: Project) -> None:
    project(**{"a.py": "import torch\nx = 1  # detlint: ignore[F401]\ny = 2  # detlint: ignore\n"})
    first, second = findings("a.py")
    assert "F401" in first["message"]
    assert "detlint: ignore[DET201]" in second["message"]
    assert first["severity"] == second["severity"] == "warning"


@pytest.mark.parametrize("comment", ["# noqa: DET201", "# noqa: F401, DET201", "# detlint: ignore[DET201] reason"])
def test_unused(project: Project, comment: str) -> None:
    project(**{"a.py": f"import torch\nx = 1  {comment}\n"})
    (row,) = findings("a.py")
    assert (row["code"], row["name"], row["severity"]) == ("DET002", "unused-suppression", "warning")
    assert row["location"] == {"row": 2, "column": 8}
    assert "DET201" in row["message"]


@pytest.mark.parametrize(
    "comment",
    ["# noqa", "# noqa: F401", "# type: ignore", "# flake8: noqa", "# ruff: noqa: E501", "# detlint is great"],
)
def test_other_comments_are_left_alone(project: Project, comment: str) -> None:
    project(**{"a.py": f"import torch\nx = 1  {comment}\n"})
    assert findings("a.py") == []


def test_unused_in_a_file_without_any_framework(project: Project) -> None:
    project(**{"a.py": "x = 1  # noqa: DET201\n", "b.py": "x = 1  # detlint: ignore[DET201] reason\n"})
    assert [row["code"] for row in findings(".")] == ["DET002", "DET002"]


def test_position_of_an_unused_suppression_is_in_characters(project: Project) -> None:
    project(**{"a.py": "import torch\nx = 'éé中'  # noqa: DET201\n"})
    (row,) = findings("a.py")
    assert row["location"] == {"row": 2, "column": 12}
    assert row["end_location"] == {"row": 2, "column": 26}


def test_unused_can_be_switched_off(project: Project) -> None:
    project(**{"a.py": "import torch\nx = 1  # noqa: DET201\n"})
    assert findings("--ignore", "DET002", "a.py") == []
    assert findings("--select", "DET2", "a.py") == []


def test_unused_keeps_its_configured_severity(project: Project) -> None:
    project(**{"a.py": "import torch\nx = 1  # noqa: DET201\n", "c.toml": 'severity = { DET002 = "error" }\n'})
    (row,) = findings("--config", "c.toml", "a.py")
    assert row["severity"] == "error"


@pytest.mark.parametrize("comment", ["# noqa: DET403", "# detlint: ignore[DET403] reason"])
def test_suppression_of_a_rule_that_is_not_selected(project: Project, comment: str) -> None:
    # Whether it is needed can't be known while the rule is off.
    line = f"return F.grid_sample(x, g)  {comment}"
    assert found(project, line, "--ignore", "DET403") == []
    assert found(project, line, "--select", "DET0,DET2") == []


def test_one_suppression_for_two_profiles(project: Project) -> None:
    for profile in ("reproduce", "align"):
        assert found(project, "return nn.Dropout(0.5)  # noqa: DET201", "--profile", profile) == []


def test_partly_used_list(project: Project) -> None:
    rows = found(project, "return nn.Dropout(0.5)  # noqa: DET201, DET403")
    assert [row for row in rows if row[0] != "DET002"] == []


def test_suppressing_the_finding_about_suppressions(project: Project) -> None:
    project(**{"a.py": "# detlint: ignore-file[DET002] templates\nimport torch\nx = 1  # noqa: DET201\n"})
    assert findings("a.py") == []


def test_unreadable_file_is_not_suppressed_by_accident(project: Project) -> None:
    project(**{"a.py": "import torch\nx = (  # noqa: DET201\n"})
    assert [row["code"] for row in findings("a.py")] == ["DET001"]


def test_the_rest_of_the_file_does_not_change_what_a_comment_means(project: Project) -> None:
    line = "return F.grid_sample(x, g)  # noqa because it is frozen"
    alone = ("DET403", 1) in found(project, line)
    assert (("DET403", 1) in found(project, f"{line}\ny = nn.Dropout(0.5)  # detlint: ignore[DET201] reason")) is alone


@pytest.mark.parametrize(
    "end",
    [
        "\r\n",
        "\r",
    ],
    ids=["crlf", "cr"],
)
@pytest.mark.parametrize("comment", ["# noqa", "# noqa: DET403", "# detlint: ignore[DET403] reason"])
def test_line_ends(project: Project, end: str, comment: str) -> None:
    text = f"{HEAD}def f(x, g):\n    a = F.grid_sample(x, g)  {comment}\n    return a + F.grid_sample(x, g)\n"
    project(**{"a.py": text.replace("\n", end).encode()})
    assert [(row["code"], row["location"]["row"]) for row in findings("a.py")] == [("DET403", 7)]


def test_byte_order_mark_and_encoding(project: Project) -> None:
    text = f"{HEAD}def f(x, g):\n    return 'é', F.grid_sample(x, g)  # noqa: DET403\n"
    project(**{"a.py": text.encode("utf-8-sig"), "b.py": ("# coding: latin-1\n" + text).encode("latin-1")})
    assert findings(".") == []


def test_a_finding_of_an_entry_point(project: Project) -> None:
    text = "import random\n\nif __name__ == '__main__':\n    random.random()  # noqa: DET101\n"
    project(**{"a.py": text})
    assert findings("a.py") == []
