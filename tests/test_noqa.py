"""`--add-noqa`: every finding gets its comment, and nothing else of a file changes."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import detlint, examples, notebook
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

Project = Callable[..., Path]

HEAD = "import torch.nn.functional as F\n\n\n"


def add(*arguments: str | Path) -> str:
    result = detlint("check", "--isolated", "--no-cache", "--add-noqa", *arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def annotated(project: Project, body: str) -> str:
    """What becomes of the body of a function with parameters `x`, `g`."""
    lines = "".join(f"    {line}\n" if line else "\n" for line in body.splitlines())
    root = project(**{"a.py": f"{HEAD}def f(x, g):\n{lines}"})
    add("a.py")
    assert add("a.py") == "No comments to add.\n"
    text = (root / "a.py").read_text()
    return "\n".join(line[4:] for line in text.splitlines()[4:])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("return F.grid_sample(x, g)", "return F.grid_sample(x, g)  # noqa: DET403"),
        ("return F.grid_sample(x, g)   ", "return F.grid_sample(x, g)  # noqa: DET403"),
        ("return F.grid_sample(x, g)  # why", "return F.grid_sample(x, g)  # why  # noqa: DET403"),
        ("return F.grid_sample(x, g)  # noqa: E501", "return F.grid_sample(x, g)  # noqa: E501, DET403"),
        (
            "return F.grid_sample(x, g)  # NOQA:E501,W291 why",
            "return F.grid_sample(x, g)  # NOQA:E501,W291, DET403 why",
        ),
        (
            "return F.grid_sample(x, g)  # type: ignore  # noqa: E501",
            "return F.grid_sample(x, g)  # type: ignore  # noqa: E501, DET403",
        ),
        (
            "return F.grid_sample(x, '# noqa: E501')",
            "return F.grid_sample(x, '# noqa: E501')  # noqa: DET403",
        ),
        (
            "return F.grid_sample(x, g)  # ruff: noqa: E501",
            "return F.grid_sample(x, g)  # ruff: noqa: E501  # noqa: DET403",
        ),
        (
            "return F.dropout(F.grid_sample(x, g), 0.5)  # noqa: DET201",
            "return F.dropout(F.grid_sample(x, g), 0.5)  # noqa: DET201, DET403",
        ),
        (
            "return F.dropout(F.grid_sample(x, g), 0.5)  # detlint: ignore[DET201] why",
            "return F.dropout(F.grid_sample(x, g), 0.5)  # detlint: ignore[DET201] why  # noqa: DET403",
        ),
        ("return F.grid_sample(\n    x,\n    g,\n)", "return F.grid_sample(  # noqa: DET403\n    x,\n    g,\n)"),
        ("return F.grid_sample(x, \\\n    g)", "return F.grid_sample(x, \\\n    g)  # noqa: DET403"),
        ('return F.grid_sample(x, """\n  text""")', 'return F.grid_sample(x, """\n  text""")  # noqa: DET403'),
        ('return F.grid_sample(x, f"""\n{g}""")', 'return F.grid_sample(x, f"""\n{g}""")  # noqa: DET403'),
        ("return F.grid_sample(x, g) if 1 \\\n    else x", ""),
        ("g.y = '''\n''', F.grid_sample(x, g), '''\n'''", ""),
        (
            "g.y = F.grid_sample(x, g), '''\n'''\ng.z = F.grid_sample(x, g)",
            "",
        ),
    ],
)
def test_where_it_goes(project: Project, before: str, after: str) -> None:
    if after:
        assert annotated(project, before) == after
        return
    lines = "".join(f"    {line}\n" for line in before.splitlines())
    root = project(**{"a.py": f"{HEAD}def f(x, g):\n{lines}"})
    result = detlint("check", "--isolated", "--no-cache", "--add-noqa", "a.py")
    assert result.exit_code == 1
    assert re.findall(r"a\.py:\d+: DET403 gets no comment: (.*)", result.stderr) == [
        "its lines end inside of a string or with a backslash"
    ]
    text = (root / "a.py").read_text()
    assert text.count("# noqa") == text.count("z = ")


def test_the_line_of_the_argument(project: Project) -> None:
    body = 'import torch.nn as nn\nreturn nn.TransformerEncoderLayer("""\n""", 2,\n    dropout=0.1, dim_feedforward="""\n""")'
    root = project(**{"a.py": "".join(f"{line}\n" for line in ["def f():", *(f"    {x}" for x in body.splitlines())])})
    add("--show-notes", "--select", "DET202", "a.py")
    assert "noqa" in (root / "a.py").read_text()


def test_files_and_lines_are_counted(project: Project) -> None:
    root = project(
        **{"a.py": HEAD + "def f(x, g):\n    return F.grid_sample(x, g), F.grid_sample(x, g)\n", "b.py": "x = 1\n"}
    )
    (root / "c.py").write_text((root / "a.py").read_text())
    assert add() == "Added `# noqa` to 2 lines of 2 files.\n"
    assert (root / "b.py").read_text() == "x = 1\n"


def test_only_what_is_reported(project: Project) -> None:
    source = "import torch.nn as nn\n\n\ndef f():\n    return nn.Dropout(0.5)\n"
    root = project(**{"pyproject.toml": "", "a.py": source})
    assert add("a.py") == "No comments to add.\n"
    assert detlint("baseline", "--no-cache", "--show-notes").exit_code == 0
    assert detlint("check", "--no-cache", "--add-noqa", "--show-notes").stdout == "No comments to add.\n"
    assert add("--show-notes", "a.py") == "Added `# noqa` to 1 line of 1 file.\n"
    assert (root / "a.py").read_text() == source.replace("(0.5)", "(0.5)  # noqa: DET201")


def test_what_is_no_code_gets_none(project: Project) -> None:
    files = {"broken.py": "import torch\n(\n", "late.py": "x = 1  # noqa: DET201\n"}
    root = project(**files)
    result = detlint("check", "--isolated", "--no-cache", "--add-noqa")
    assert result.exit_code == 1
    assert result.stderr.count("gets no comment") == 2
    assert {name: (root / name).read_text() for name in files} == files


@pytest.mark.parametrize(
    "data",
    [
        HEAD.encode() + b"def f(x, g):\r\n    return F.grid_sample(x, g)\r\n",
        HEAD.replace("\n", "\r\n").encode() + b"def f(x, g):\r\n    return F.grid_sample(x, g)",
        HEAD.replace("\n", "\r").encode() + b"def f(x, g):\r    return F.grid_sample(x, g)\r",
        b"\xef\xbb\xbf" + HEAD.encode() + b"def f(x, g):\n    return F.grid_sample(x, '\xc3\xa9')\n",
        b"# coding: latin-1\n" + HEAD.encode() + b"def f(x, g):\n    return F.grid_sample(x, '\xe9')\n",
        b"# coding: shift-jis\n"
        + HEAD.encode()
        + "def f(x, g):\n    return F.grid_sample(x, '表')\n".encode("shift-jis"),
        HEAD.encode() + b"\x0cdef f(x, g):\n    return F.grid_sample(x, g)\x0c\n",
        HEAD.encode() + b"def f(x, g):\n    '''\x0c\n    \x0c'''\n    return F.grid_sample(x, g)\n",
    ],
)
def test_bytes_stay(project: Project, data: bytes) -> None:
    root = project(**{"a.py": data})
    assert add("a.py") == "Added `# noqa` to 1 line of 1 file.\n"
    after = (root / "a.py").read_bytes()
    assert after.replace(b"  # noqa: DET403", b"") == data.replace(b"g)\x0c\n", b"g)\n")


PIECES = st.sampled_from(
    [
        "a = F.grid_sample(x, g)",
        "b = F.grid_sample(x, g)  # why",
        "c = F.grid_sample(x, g)  # noqa: E501",
        "d = F.grid_sample(x, g)  # noqa: DET403",
        "e = F.grid_sample(\n        x,\n        g,\n    )",
        "h = [\n        F.grid_sample(x, g), F.dropout(x, 0.5),\n        # why\n        F.grid_sample(x, g)]",
        'i = F.grid_sample(x, """\n# noqa: DET403\n""")',
        'j = """\n  F.grid_sample(x, g)\n"""',
        "k = F.grid_sample(x, \\\n        g)",
        'l = f"""{F.grid_sample(x, g)}\n"""',
        "if F.grid_sample(x, g):  # é\n        pass",
        "m = 'é', F.grid_sample(x, g); n = F.grid_sample(g, x)",
        "",
    ]
)


@settings(max_examples=examples(40), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(PIECES, min_size=1, max_size=6), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_all_is_covered_and_nothing_else_changes(project: Project, pieces: list[str], end: str, final: bool) -> None:
    text = HEAD + "def f(x, g):\n" + "".join(f"    {piece}\n" for piece in pieces) + "    return x" + "\n" * final
    data = text.replace("\n", end).encode()
    root = project(**{"a.py": data})
    result = detlint("check", "--isolated", "--no-cache", "--show-notes", "--add-noqa", "a.py")
    after = (root / "a.py").read_bytes()
    assert ast.dump(ast.parse(after)) == ast.dump(ast.parse(data))
    left = json.loads(
        detlint("check", "--isolated", "--no-cache", "--show-notes", "--output-format", "json", "a.py").stdout
    )
    assert len(left) == result.stderr.count("gets no comment")
    assert (result.exit_code == 1) is bool(left)
    detlint("check", "--isolated", "--no-cache", "--show-notes", "--add-noqa", "a.py")
    assert (root / "a.py").read_bytes() == after
    bare = re.sub(rb"  # noqa: DET\d{3}(, DET\d{3})*|(?<=# noqa: E501), DET403", b"", after)
    assert bare == re.sub(rb"  # noqa: DET403(?=\r?\n)", b"", data)


# -- other files -----------------------------------------------------------------------------------------------------


def test_a_notebook(project: Project) -> None:
    cells = (
        "#md text",
        "import torch.nn.functional as F\nx = 1\nx.backward()",
        "%time x = 2\n\nF.grid_sample(x, x)\n",
        "    F.grid_sample(x, x)",
    )
    root = project(**{"n.ipynb": notebook(*cells)})
    assert add("n.ipynb") == "Added `# noqa` to 2 lines of 1 file.\n"
    after = (root / "n.ipynb").read_text()
    assert after == notebook(*cells).replace("grid_sample(x, x)", "grid_sample(x, x)  # noqa: DET403")
    assert add("n.ipynb") == "No comments to add.\n"


@pytest.mark.parametrize("layout", [{"indent": 2}, {"indent": None}, {"indent": "\t", "ensure_ascii": False}], ids=str)
@pytest.mark.parametrize("end", ["", "\n"])
def test_the_layout_of_a_notebook_stays(project: Project, layout: dict[str, object], end: str) -> None:
    text = json.dumps(json.loads(notebook("import random\nx = 'é'; random.random()", "#md é")), **layout) + end  # type: ignore[arg-type]
    root = project(**{"n.ipynb": text})
    assert add("n.ipynb") == "Added `# noqa` to 1 line of 1 file.\n"
    assert (root / "n.ipynb").read_text() == text.replace("random.random()", "random.random()  # noqa: DET101")


def test_a_notebook_of_another_layout(project: Project) -> None:
    text = notebook("import random\nrandom.random()").replace('"nbformat": 4', '"nbformat":  4')
    root = project(**{"n.ipynb": text})
    assert add("n.ipynb") == "Added `# noqa` to 1 line of 1 file.\n"
    assert (root / "n.ipynb").read_text() == text.replace("random.random()", "random.random()  # noqa: DET101")


def test_yaml(project: Project) -> None:
    text = (
        "text: |\n  # no comment\na:\n  _target_: torch.nn.Dropout  # why\n  p: 0.5\n"
        "b: {_target_: torch.nn.Dropout, p: 0.5}\r\nc:\n  _target_:\n    torch.nn.Dropout\n"
    )
    root = project(**{"m.yaml": text})
    assert add("--show-notes", "m.yaml") == "Added `# noqa` to 3 lines of 1 file.\n"
    after = (root / "m.yaml").read_bytes().decode()
    assert after.replace("  # noqa: DET201", "") == text
    assert "# why  # noqa: DET201\n" in after
    assert add("--show-notes", "m.yaml") == "No comments to add.\n"


def test_standard_input_is_refused(project: Project) -> None:
    project()
    result = detlint("check", "--add-noqa", "-", stdin=b"x = 1\n")
    assert result.exit_code == 2
    assert "--add-noqa" in result.stderr
