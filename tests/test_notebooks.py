"""Notebooks: what is read of them, what is passed over, and that everything is told by cell and line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import REPOSITORY, detlint, examples, findings, notebook
from hypothesis import given, settings
from hypothesis import strategies as st

from detlint.ipython import as_python
from detlint.notebook import NotANotebook, cell_of, lines_of, open_notebook

Project = Callable[..., Path]

IMPORT = "import torch"
DRAW = "x = torch.rand(3)"
SEED = "torch.manual_seed(0)"
PLAIN = notebook("#md # Title", IMPORT, DRAW)
PNG = {"output_type": "display_data", "metadata": {}, "data": {"image/png": "iVBORw0KGgo" * 20_000}}

Found = list[tuple[str, int | None, int, int]]


def found(root: Path, *names: str) -> Found:
    """Code, cell, line and column of each finding."""
    rows = findings("--select", "DET0,DET1", *(root / name for name in names or ("a.ipynb",)))
    return [(row["code"], row["cell"], row["location"]["row"], row["location"]["column"]) for row in rows]


def concise(*arguments: str | Path, stdin: bytes | None = None) -> list[str]:
    base = ["check", "--isolated", "--no-cache", "--output-format", "concise"]
    return detlint(*base, *arguments, stdin=stdin).stdout.splitlines()


# -- the format -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("accelerator", "told"), [("GPU", [["cuda"]]), ("TPU", []), ("NONE", []), (None, []), (["GPU"], [])]
)
def test_the_accelerator_of_the_metadata(project: Project, accelerator: Any, told: list[list[str]]) -> None:
    """Colab writes it where a notebook is to be opened on one, and nothing in the code needs to."""
    code = [
        "from tensorflow import keras",
        'model = keras.Sequential([keras.layers.Dense(1)])\nmodel.compile("adam", "mse")',
    ]
    text = notebook(*code, "model.fit([[1.0]], [[2.0]])", metadata={"accelerator": accelerator})
    project(**{"a.ipynb": text})
    assert [row["target"] for row in findings("--select", "DET607", "a.ipynb")] == told


@pytest.mark.parametrize(
    "source",
    [
        "import torch\n\ntorch.rand(3)",
        "import torch\n\ntorch.rand(3)\n",
        ["import torch\n", "\n", "torch.rand(3)"],
        ["import torch\n\ntorch", ".rand(3)", "\n"],
        ["import torch\r\n", "\r\n", "torch.rand(3)\r\n"],
        "import torch\r\rtorch.rand(3)",
        "import torch\n\ntorch.rand(3);",
    ],
)
def test_ways_to_write_a_source(project: Project, source: str | list[str]) -> None:
    root = project(**{"a.ipynb": notebook("#md text", {"source": source}, "y = 1")})
    assert found(root) == [("DET104", 2, 3, 1)]


def test_version_3(project: Project) -> None:
    cells = [
        {"cell_type": "heading", "level": 1, "metadata": {}, "source": ["Title"]},
        {"cell_type": "code", "collapsed": False, "input": ["import torch\n", "x = 1"], "language": "python"},
        {"cell_type": "code", "collapsed": False, "input": "y <- 1 +", "language": "r"},
    ]
    more = [{"cell_type": "code", "collapsed": False, "input": "torch.rand(3)", "language": "python", "outputs": []}]
    content = {"metadata": {"name": "old"}, "nbformat": 3, "nbformat_minor": 0}
    content["worksheets"] = [{"cells": cells, "metadata": {}}, {"cells": more}]
    root = project(**{"a.ipynb": json.dumps(content)})
    assert found(root) == [("DET104", 4, 1, 1)]


@pytest.mark.parametrize("start", [b"\xef\xbb\xbf", b"\n \t"])
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_byte_order_mark_and_line_ends(project: Project, start: bytes, ends: str) -> None:
    root = project(**{"a.ipynb": start + PLAIN.replace("\n", ends).encode()})
    assert found(root) == [("DET104", 3, 1, 5)]


def test_columns_are_characters(project: Project) -> None:
    root = project(**{"a.ipynb": notebook(IMPORT, "é = '中文🙂', torch.rand(3)")})
    assert found(root) == [("DET104", 2, 1, 12)]


def test_a_comment_about_the_encoding_means_nothing(project: Project) -> None:
    cells = ["# -*- coding: latin-1 -*-\nimport torch", "'é', torch.rand(3)"]
    assert found(project(**{"a.ipynb": notebook(*cells)})) == [("DET104", 2, 1, 6)]
    cells[0] = "# coding: no-such-thing\nimport torch"
    assert found(project(**{"a.ipynb": notebook(*cells)})) == [("DET104", 2, 1, 6)]


@pytest.mark.parametrize(
    ("cell", "place"),
    [
        ("    import torch\n\n    torch.rand(3)", (3, 5)),
        ("\n\timport torch\n\ttorch.rand(3)", (3, 2)),
        (">>> import torch\n>>> for i in range(3):\n...     torch.rand(3)\n...", (3, 9)),
    ],
)
def test_indented_cells_and_prompts(project: Project, cell: str, place: tuple[int, int]) -> None:
    root = project(**{"a.ipynb": notebook("x = 1", cell)})
    assert found(root) == [("DET104", 2, *place)]


def test_empty_cells_count(project: Project) -> None:
    root = project(**{"a.ipynb": notebook("", IMPORT, "", "\n\n", "#md", "\ntorch.rand(3)")})
    assert found(root) == [("DET104", 6, 2, 1)]


@pytest.mark.parametrize("cells", [[], ["#md text"], [""], ["%%bash\nls"], ["# import torch"]])
def test_nothing_to_run(project: Project, cells: list[str]) -> None:
    root = project(**{"a.ipynb": notebook(*cells)})
    assert found(root) == []
    assert detlint("--no-cache", "--isolated", "a.ipynb").stdout == "No problems found in 1 file.\n"


# -- languages ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "metadata",
    [
        {"language_info": {"name": "R"}},
        {"kernelspec": {"name": "julia-1.9", "language": "julia"}},
        {"kernelspec": {"name": "python3", "language": "python"}, "language_info": {"name": "scala"}},
    ],
)
def test_other_languages_are_left_alone(project: Project, metadata: dict[str, Any]) -> None:
    root = project(**{"a.ipynb": notebook(IMPORT, DRAW, "library(torch", metadata=metadata)})
    assert found(root) == []


@pytest.mark.parametrize(
    "metadata",
    [
        {},
        None,
        {"language_info": None, "kernelspec": None},
        {"language_info": {"name": "python", "version": "3.12.1"}},
        {"kernelspec": {"name": "python3", "display_name": "Python 3"}},
        {"kernelspec": {"name": "conda-env", "language": "python"}, "colab": {"provenance": []}},
        {"language_info": {"name": "ipython"}},
    ],
)
def test_python_is_read(project: Project, metadata: dict[str, Any] | None) -> None:
    root = project(**{"a.ipynb": notebook(IMPORT, DRAW, metadata=metadata)})
    assert found(root) == [("DET104", 2, 1, 5)]


def test_a_cell_of_another_language(project: Project) -> None:
    other = {"source": "SELECT torch FROM (", "metadata": {"vscode": {"languageId": "sql"}}}
    own = {"source": DRAW, "metadata": {"vscode": {"languageId": "python"}, "tags": ["a"]}}
    root = project(**{"a.ipynb": notebook(IMPORT, other, own)})
    assert found(root) == [("DET104", 3, 1, 5)]


# -- outputs --------------------------------------------------------------------------------------------------------


def test_outputs_are_passed_over(project: Project) -> None:
    said = {"output_type": "stream", "name": "stdout", "text": ["import torch\n", "torch.rand(3)  # noqa: DET104\n"]}
    root = project(**{"a.ipynb": notebook({"source": "print(", "outputs": [said, PNG]})})
    # The syntax error isn't told either: nothing in the code could be found.
    assert found(root) == []


def test_the_size_is_that_of_the_code(project: Project) -> None:
    root = project(
        **{"a.ipynb": notebook(IMPORT, {"source": DRAW, "outputs": [PNG] * 6}), "c.toml": "max-file-size = 1000\n"}
    )
    assert (root / "a.ipynb").stat().st_size > 1_000_000
    assert found(root) == [("DET104", 2, 1, 5)]
    assert concise("--config", "c.toml", "a.ipynb")[0].startswith("a.ipynb:cell 2:1:5: error: DET104 ")
    project(**{"a.ipynb": notebook(IMPORT, DRAW + "  # " + "x" * 1000)})
    (line,) = concise("--config", "c.toml", "a.ipynb")
    assert re.fullmatch(r"a\.ipynb:1:1: warning: DET001 is skipped: 1,\d+ bytes are more than max-file-size .*", line)


def test_a_larger_limit_reads_what_was_skipped(project: Project) -> None:
    project(**{"a.ipynb": PLAIN, "b.py": f"{IMPORT}\n{DRAW}\n", "small.toml": "max-file-size = 5\n", "large.toml": ""})
    keep = ["--cache-dir", "cache", "--output-format", "concise", "a.ipynb", "b.py"]
    assert detlint("--config", "small.toml", *keep).stdout.count("DET001") == 2
    assert detlint("--config", "large.toml", *keep).stdout.count("DET104") == 2
    assert detlint("--config", "small.toml", *keep).stdout.count("DET001") == 2


@pytest.mark.parametrize("odd", ["NaN", "-Infinity", '"\\ud800"', '"\\udc00x"'])
def test_json_that_python_takes(project: Project, odd: str) -> None:
    text = notebook(IMPORT, {"source": DRAW, "outputs": [{"data": {"application/json": "@"}}]})
    root = project(**{"a.ipynb": text.replace('"@"', odd)})
    assert found(root) == [("DET104", 2, 1, 5)]


def test_half_a_character_in_code(project: Project) -> None:
    root = project(**{"a.ipynb": notebook(IMPORT, "'\\ud83d', torch.rand(3)").replace("\\\\", "\\")})
    assert found(root) == [("DET104", 2, 1, 6)]


# -- what can't be read ---------------------------------------------------------------------------------------------

DEEP = b'{"x":' + b"[" * 200_000


@pytest.mark.parametrize(
    ("content", "message", "line"),
    [
        (b"", "it is not JSON", 1),
        (b" \n", "it is not JSON", 2),
        (b'{"cells": [],\n<<<<<<< HEAD\n', "it is not JSON", 2),
        (b"import torch\n", "it is not JSON", 1),
        (b'{"cells": []} x', "it is not JSON", 1),
        (PLAIN.encode()[:-20], "it is not JSON", PLAIN[:-20].count("\n") + 1),
        (b"[]", "expected `object`, got `array`", 1),
        (b"3", "expected `object`, got `int`", 1),
        (b"{}", "it has no `cells`", 1),
        (b'{"cells": null}', "it has no `cells`", 1),
        (b'{"cells": {}}', "got `object` at `$.cells`", 1),
        (b'{"cells": [3]}', "at `$.cells[0]`", 1),
        (b'{"cells": [{"cell_type": 3}]}', "at `$.cells[0].cell_type`", 1),
        (b'{"cells": [{"cell_type": "code", "source": {}}]}', "at `$.cells[0].source`", 1),
        (b'{"cells": [{"cell_type": "code", "source": [1]}]}', "at `$.cells[0].source[0]`", 1),
        (PLAIN.encode("utf-16"), "it is not in UTF-8", 1),
        (b'{"nbformat": 4,\n"cells": [{"cell_type": "code", "source": "\xe9"}]}', "it is not in UTF-8", 2),
        (DEEP, "nested too deeply", 1),
    ],
)
def test_no_notebook(project: Project, content: bytes, message: str, line: int) -> None:
    root = project(**{"a.ipynb": content, "b.ipynb": PLAIN, "c.py": f"{IMPORT}\n{DRAW}\n"})
    rows = findings("--select", "DET0,DET1", root)
    assert [(Path(row["filename"]).name, row["code"]) for row in rows] == [
        ("a.ipynb", "DET001"),
        ("b.ipynb", "DET104"),
        ("c.py", "DET104"),
    ]
    assert message in rows[0]["message"]
    assert rows[0]["remedy"]
    assert (rows[0]["cell"], rows[0]["location"], rows[0]["severity"]) == (None, {"row": line, "column": 1}, "warning")
    text = detlint("--no-cache", "--isolated", "a.ipynb").stdout
    assert f"--> a.ipynb:{line}:1  unreadable-file" in text
    assert "help: " in text


def test_the_line_of_an_error_is_shown(project: Project) -> None:
    project(**{"a.ipynb": b'{"cells": [],\n<<<<<<< HEAD\n'})
    assert "\n2 | <<<<<<< HEAD\n" in detlint("--no-cache", "--isolated", "a.ipynb").stdout


def test_no_notebook_to_explain(project: Project) -> None:
    project(**{"a.ipynb": b"{"})
    for command in (["explain", "a.ipynb:1:1"], ["graph", "a.ipynb"]):
        result = detlint(*command)
        assert result.exit_code == 2
        assert "a.ipynb: isn't a Jupyter notebook" in result.stderr


@pytest.mark.parametrize(
    ("broken", "line"),
    [
        ("def f(:\n    pass", 1),
        ("x = 1\ny = = 2", 2),
        ("\nx = (1,\n\n", 2),
        ("y = 1\nx = '''\nno end", 2),
        ("x = 'no end", 1),
        ("x = 1\n  y = 2", 2),
        ("print 'two'", 1),
        ("y = \\", 1),
        ("[" * 300, 1),
        ("x ? y", 1),
    ],
)
def test_a_broken_cell_costs_no_other(project: Project, broken: str, line: int) -> None:
    root = project(**{"a.ipynb": notebook("import random", IMPORT, broken, "#md", DRAW, "random.random()")})
    assert [row[:3] for row in found(root)] == [("DET001", 3, line), ("DET104", 5, 1), ("DET101", 6, 1)]


def test_zeros_in_a_cell(project: Project) -> None:
    root = project(**{"a.ipynb": notebook(IMPORT, "a\0b", DRAW)})
    assert [row[:2] for row in found(root)] == [("DET001", 2), ("DET104", 3)]


def test_each_broken_cell_is_told(project: Project) -> None:
    root = project(**{"a.ipynb": notebook(IMPORT, "(", "x = 1\n)", DRAW, "]")})
    assert [row[:3] for row in found(root)] == [
        ("DET001", 2, 1),
        ("DET001", 3, 2),
        ("DET104", 4, 1),
        ("DET001", 5, 1),
    ]
    assert concise("a.ipynb")[1].startswith(
        "a.ipynb:cell 3:2:1: warning: DET001 this cell can't be parsed: unmatched ')'"
    )


def test_a_broken_cell_hides_what_it_defines_only(project: Project) -> None:
    root = project(**{"a.ipynb": notebook(IMPORT, f"{SEED}\n)", "seed = 1", DRAW)})
    assert [row[:2] for row in found(root)] == [("DET001", 2), ("DET104", 4)]


# -- IPython --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cell", "place"),
    [
        # line magics, shell lines, help
        ("%matplotlib inline\ntorch.rand(3)", (2, 1)),
        ("%load_ext autoreload\n%autoreload 2\n\ntorch.rand(3)", (4, 1)),
        ("!pip install -q 'torch'\ntorch.rand(3)", (2, 1)),
        ("!pip install \\\n    torch \\\n    numpy\ntorch.rand(3)", (4, 1)),
        ("!!ls (\ntorch.rand(3)", (2, 1)),
        ("!echo 'it\ntorch.rand(3)", (2, 1)),
        ("?torch.rand\n??torch\ntorch.rand?\ntorch.rand??\ntorch.rand(3)", (5, 1)),
        ("torch.rand?  # how\ntorch.rand(3)", (2, 1)),
        ("/print 1\n,print 1 2\n;print 1 2\ntorch.rand(3)", (4, 1)),
        ("%\n!\n?\ntorch.rand(3)", (4, 1)),
        ("if x:\n    !ls\nelse:\n\t%cd ..\ntorch.rand(3)", (5, 1)),
        ("try:\n    import torch\nexcept ImportError:\n    %pip install torch\ntorch.rand(3)", (5, 1)),
        # what is assigned
        ("files = !ls *.png\ntorch.rand(3)", (2, 1)),
        ("a, b = %env HOME\nself.x = !pwd\nx: list = !ls \\\n  -l\ntorch.rand(3)", (5, 1)),
        ("x = \\\n    !ls\ntorch.rand(3)", (3, 1)),
        ("f(a=1)[0] = !ls [\ntorch.rand(3)", (2, 1)),
        # what only looks like IPython's
        ("x = (10\n% 3)\ny = 10 \\\n% 3\ntorch.rand(3)", (5, 1)),
        ("'''\n%time (\n!ls\nwhy?\n'''\ntorch.rand(3)", (6, 1)),
        ("'''\n%time\n'''\n%pwd\n'''\n!ls'''\ntorch.rand(3)", (7, 1)),
        ("x = 'a=%s' % '!'\ny = x != '%'\nf'{x!r}', f'{x=}'\n# why?\ntorch.rand(3)", (5, 1)),
        ("x = '\\'\\\\'\n!ls\ny = r'\\''\ntorch.rand(3)", (4, 1)),
        ("x = '''\\''''\n!ls\ntorch.rand(3)", (3, 1)),
        ("{'%': 1}['%'] == 2\n%ls\nx = {\n  '?': [\n    1 % 2]}\ntorch.rand(3)", (6, 1)),
        # magics that run Python
        ("%time torch.rand(3)", (1, 7)),
        ("%timeit -n 10 -r3 -q torch.rand(3)", (1, 22)),
        ("for i in x:\n    %time y = torch.rand(3); z = 1", (2, 15)),
        ("x = %time torch.rand(3)  # slow", (1, 11)),
        ("x = %timeit -o torch.rand(3)", (1, 16)),
        ("%prun -l 5 -s cumulative torch.rand(3)", (1, 26)),
        ("%time print(1,\\\n torch.rand(3))", (2, 2)),
        ("%time\n%timeit (\n%time for x in y: pass\n%lprun -f f\ntorch.rand(3)", (5, 1)),
        # cell magics whose body is Python
        ("%%time\ntorch.rand(3)", (2, 1)),
        ("%%capture --no-stderr out\n!pip install torch\ntorch.rand(3)", (3, 1)),
        ("\n# a note\n%%time\ntorch.rand(3)", (4, 1)),
        ("#@title Install\n%%capture\ntorch.rand(3)", (3, 1)),
        ("%%timeit -n 3 x = torch.rand(3)\nx.sum()", (1, 19)),
        ("%%wandb\ntorch.rand(3)", (2, 1)),
        ("%%time?\ntorch.rand(3)", (2, 1)),
        # magics without their sign
        ("pip install torch\ntorch.rand(3)", (2, 1)),
        ("cd ..\nls -l *.png\nmatplotlib inline\ntorch.rand(3)", (4, 1)),
        ("time torch.rand(3)", (1, 6)),
        ("cd = 1\nls = [cd]\nls [0]\ntorch.rand(3)", (4, 1)),
        # at the top level of a cell
        ("await f()\nasync with g() as h:\n    pass\ntorch.rand(3)", (4, 1)),
    ],
)
def test_ipython(project: Project, cell: str, place: tuple[int, int]) -> None:
    """One draw, found where it stands, and no cell is broken."""
    root = project(**{"a.ipynb": notebook("import torch\nx = y = []", "#md", cell)})
    assert found(root) == [("DET104", 3, *place)]


@pytest.mark.parametrize(
    "magic", ["bash", "sh", "html", "writefile a.py", "script python", "javascript", "sql", "R", "", "python3"]
)
def test_cells_that_are_something_else(project: Project, magic: str) -> None:
    root = project(**{"a.ipynb": notebook(IMPORT, f"%%{magic}\ntorch.rand(3)\n(", "#md", DRAW)})
    assert found(root) == [("DET104", 4, 1, 5)]


@pytest.mark.parametrize("line", ["%env {}={}", "%env {} {}", "%set_env {} = {}", "env {}={}"])
def test_environment_variables(project: Project, line: str) -> None:
    cells = [line.format("PYTHONHASHSEED", "0"), IMPORT, line.format("CUBLAS_WORKSPACE_CONFIG", ":4096:2")]
    project(**{"a.ipynb": notebook(*cells)})
    rows = findings("--select", "DET114,DET603", "a.ipynb")
    assert [(row["code"], row["cell"], row["location"]) for row in rows] == [
        ("DET114", 1, {"row": 1, "column": 1}),
        ("DET603", 3, {"row": 1, "column": 1}),
    ]


@pytest.mark.parametrize(
    "line", ["%run helpers.py", "%run ./helpers.py --fast", "%run -i 'helpers.py'", "%run helpers", "%run -m helpers"]
)
def test_run_brings_in_what_a_file_defines(project: Project, line: str) -> None:
    helpers = "import torch\n\n\ndef seed():\n    torch.manual_seed(0)\n\n\ndef noise():\n    return torch.rand(3)\n"
    root = project(**{"helpers.py": helpers, "a.ipynb": notebook(line, "noise()")})
    assert found(root, "a.ipynb", "helpers.py") == [("DET104", None, 9, 12)]
    project(**{"a.ipynb": notebook(line, "seed()", "noise()")})
    assert found(root, "a.ipynb", "helpers.py") == []


@pytest.mark.parametrize("line", ["%run", "%run other.ipynb", "%run ../up.py", "%run -m", "%run 'two words.py'"])
def test_run_of_what_is_no_module(project: Project, line: str) -> None:
    root = project(**{"a.ipynb": notebook(line, IMPORT, DRAW)})
    assert found(root) == [("DET104", 3, 1, 5)]


SOURCES = sorted((REPOSITORY / "fixtures").rglob("*.py"))


def test_plain_python_is_left_as_it_is() -> None:
    assert len(SOURCES) > 400
    for path in SOURCES:
        text = path.read_text("utf-8")
        assert as_python(text) == text, path


PIECES = st.sampled_from(
    [
        "%",
        "%%",
        "!",
        "?",
        "=",
        " ",
        "\n",
        "\\\n",
        "'",
        '"',
        "'''",
        "(",
        ")",
        "[",
        "]",
        "#",
        "time",
        "run",
        "env",
        "x",
        "1",
        ";",
        "  ",
        ":",
    ]
)


@settings(max_examples=examples(400))
@given(st.lists(PIECES, max_size=40).map("".join))
def test_lines_stay_where_they_are(text: str) -> None:
    assert as_python(text).count("\n") == text.count("\n")


VALUES = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=12) | st.sampled_from(["code", "python", "%time x\n"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["cells", "cell_type", "source", "input", "worksheets", "metadata"]), inner, max_size=5
        )
    ),
    max_leaves=24,
)


@settings(max_examples=examples(400))
@given(st.binary(max_size=60) | VALUES.map(lambda value: json.dumps(value).encode()))
def test_anything_is_a_notebook_or_told(data: bytes) -> None:
    try:
        opened = open_notebook(data)
    except NotANotebook as error:
        assert str(error).startswith("isn't a Jupyter notebook: ")
        assert error.problem.line > 0
        return
    assert opened.code.count(b"\n") == opened.text.count(b"\n")
    assert [cell.line for cell in opened.cells] == sorted({cell.line for cell in opened.cells})


def test_positions_there_and_back() -> None:
    opened = open_notebook(notebook("a\nb", "#md", "", "c", "d\n\n").encode())
    last = opened.code.count(b"\n")
    assert [cell.number for cell in opened.cells] == [1, 4, 5]
    there = {cell.number: lines_of(opened.cells, cell.number, last) for cell in opened.cells}
    assert [len(lines) for lines in there.values()] == [2, 1, 2]
    for number, lines in there.items():
        for line in lines:
            cell = cell_of(opened.cells, line)
            assert cell is not None
            assert (cell.number, cell.line) == (number, lines[0])
    assert len(lines_of(opened.cells, 2, last)) == 0


# -- runs -----------------------------------------------------------------------------------------------------------


def test_a_notebook_is_a_run(project: Project) -> None:
    model = (
        "import torch.nn as nn\n\n\nclass Net(nn.Module):\n    def __init__(self):\n"
        "        super().__init__()\n        self.drop = nn.Dropout(0.1)\n"
    )
    project(**{"model.py": model, "a.ipynb": notebook("from model import Net", "#md", "net = Net()"), ".git/HEAD": ""})
    (row,) = [row for row in findings(".") if row["code"] == "DET201"]
    assert row["severity"] == "warning"
    project(**{"a.ipynb": notebook("import torch\nfrom model import Net", SEED, "net = Net()")})
    (row,) = [row for row in findings(".") if row["code"] == "DET201"]
    assert row["severity"] == "note"


def test_the_path_is_told_by_cells(project: Project) -> None:
    data = "import random\n\n\ndef order(x):\n    random.shuffle(x)\n"
    cells = ["#md", "from data import order", "#md", "def work():\n    order([1, 2])", "\nwork()"]
    root = project(**{"data.py": data, "a.ipynb": notebook(*cells)})
    (row,) = findings("--select", "DET101", "a.ipynb", "data.py")
    assert (row["filename"], row["cell"], row["location"]["row"]) == (str(root / "data.py"), None, 5)
    steps = [(Path(s["filename"]).name, s["cell"], s["location"]["row"], s["message"]) for s in row["path"]]
    assert steps == [
        ("a.ipynb", 5, 2, "the run starts here (notebook)"),
        ("a.ipynb", 5, 2, "calls `work`"),
        ("a.ipynb", 4, 2, "calls `data.order`"),
    ]
    # Alone, the notebook is told what it reaches.
    assert found(root) == [("DET101", 4, 2, 5)]


def test_nothing_imports_a_notebook(project: Project) -> None:
    root = project(
        **{"a.ipynb": notebook(IMPORT, f"def seed():\n    {SEED}"), "b.py": f"import a\n{IMPORT}\na.seed()\n{DRAW}\n"}
    )
    assert found(root, "a.ipynb", "b.py") == [("DET104", None, 4, 5)]


# -- what is printed ------------------------------------------------------------------------------------------------


def test_text(project: Project) -> None:
    project(**{"a.ipynb": notebook("#md", IMPORT, "\n\nx = torch.rand(\n    3,\n)")})
    assert detlint("--no-cache", "--isolated", "a.ipynb").stdout == (
        "error[DET104] `torch.rand` draws from PyTorch's global stream, which nothing seeds before\n"
        " --> a.ipynb:cell 3:3:5  unseeded-torch\n"
        "  |\n"
        "3 | x = torch.rand(\n"
        "  |     ^^^^^^^^^^^ (to line 5)\n"
        "  = path: a.ipynb:cell 3:3: the run starts here (notebook)\n"
        "  = help: Call `torch.manual_seed(n)` before the model and the data are built.\n"
        "  = fix: --fix can call `torch.manual_seed(n)` at the start of the run\n"
        "\n"
        "1  DET104  unseeded-torch  error\n"
        "\n"
        "Found 1 error in 1 file.\n"
        "1 fixable with --fix.\n"
    )


def test_text_shows_magics_as_they_are(project: Project) -> None:
    project(**{"a.ipynb": notebook(IMPORT, "%time x = torch.rand(3)")})
    text = detlint("--no-cache", "--isolated", "a.ipynb").stdout
    assert "1 | %time x = torch.rand(3)\n  |           ^^^^^^^^^^^^^\n" in text


def test_text_folds_by_cell(project: Project) -> None:
    call = "x = torch.index_add(x, 0, i, x)"
    project(**{"a.ipynb": notebook("import torch\nx = i = torch.zeros(3)", f"{call}\n{call}", f"\n{call}", call)})
    text = detlint("--no-cache", "--isolated", "--select", "DET402", "a.ipynb").stdout
    assert "a.ipynb: cell 2:2, cell 3:2, cell 4:1\n" in text


def test_concise(project: Project) -> None:
    project(**{"a.ipynb": PLAIN})
    (line,) = concise("a.ipynb")
    assert line.startswith("a.ipynb:cell 3:1:5: error: DET104 `torch.rand` draws")


def test_findings_are_in_the_order_of_the_cells(project: Project) -> None:
    cells = ["import torch, random", *[f"torch.nn.functional.grid_sample(x, {i})" for i in range(12)]]
    project(**{"a.ipynb": notebook(*cells)})
    rows = [row["cell"] for row in findings("a.ipynb") if row["code"] == "DET403"]
    assert rows == [*range(2, 14)]


@pytest.mark.parametrize("place", ["a.ipynb:4:2", "a.ipynb:cell 4:2", "a.ipynb:cell 4:2:5"])
def test_explain(project: Project, place: str) -> None:
    project(**{"a.ipynb": notebook(IMPORT, "def f():\n    return torch.rand(3)", "#md", "if x:\n    f()")})
    result = detlint("explain", place)
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[:2] == ["a.ipynb:cell 4:2", "    2 |     f()"]
    assert "  a.ipynb:cell 4:2 (notebook)" in lines
    text = detlint("explain", "a.ipynb:2:2").stdout
    assert "path: `f` (a.ipynb:cell 4:2) > here" in text
    assert "path: a.ipynb:cell 4:2: calls `f`" in text


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("a.ipynb:3", "a.ipynb is a notebook: name a cell and a line, as in a.ipynb:3:12; cells of code: 2, 3"),
        ("a.ipynb:1:1", "a.ipynb has no cell 1 with Python; cells of code: 2, 3"),
        ("a.ipynb:9:1", "a.ipynb has no cell 9 with Python; cells of code: 2, 3"),
        ("a.ipynb:3:2", "cell 3 of a.ipynb has 1 lines; there is no line 2"),
        ("a.ipynb:3:0", "cell 3 of a.ipynb has 1 lines; there is no line 0"),
        ("b.ipynb:1:1", "no such file: b.ipynb"),
        ("a.ipynb", "name a file and a line"),
    ],
)
def test_explain_what_is_not_there(project: Project, place: str, message: str) -> None:
    project(**{"a.ipynb": PLAIN})
    result = detlint("explain", place)
    assert result.exit_code == 2
    assert message in result.stderr


def test_graph(project: Project) -> None:
    project(**{"a.ipynb": notebook(IMPORT, "def f():\n    return torch.rand(3)", "#md", "f()")})
    drawn = detlint("graph", "a.ipynb").stdout
    assert 'n0["a.ipynb<br/>starts here: a.ipynb:cell 4:1"]' in drawn
    assert "torch.rand (a.ipynb:cell 2:2)" in drawn
    assert "cell 2:2" in detlint("graph", "a.ipynb", "--format", "dot").stdout
    page = detlint("graph", "a.ipynb", "--format", "html").stdout
    assert '<span class="at">a.ipynb:cell 2:2</span> <code>return torch.rand(3)</code>' in page
    assert "a.ipynb:cell 2:2</a> <b>error DET104</b>" in page
    assert "starts here: a.ipynb:cell 2:2" in detlint("graph", "a.ipynb:f").stdout


# -- suppressions ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "cells",
    [
        ["x = torch.rand(3)  # noqa: DET104"],
        ["x = torch.rand(3)  # detlint: ignore[DET104] for a demo"],
        ["x = torch.rand(3)  # noqa"],
        ["%time x = torch.rand(3)  # noqa: DET104"],
        ["!ls 'it", "x = torch.rand(3)  # noqa"],
        ["x = torch.rand(\n    3,\n)  # noqa: DET104"],
        ["x = torch.rand(3)", "# detlint: ignore-file[DET104] for a demo"],
        ["# detlint: skip-file", "x = torch.rand(3)"],
        ["# ruff: noqa", "x = torch.rand(3)"],
    ],
)
def test_suppressed(project: Project, cells: list[str]) -> None:
    root = project(**{"a.ipynb": notebook("#md", IMPORT, *cells)})
    assert found(root) == []


@pytest.mark.parametrize(
    "cells",
    [["# noqa: DET104", DRAW], ["'# noqa: DET104'; x = torch.rand(3)"], ["#md # noqa: DET104", DRAW], [DRAW, "# noqa"]],
)
def test_not_suppressed(project: Project, cells: list[str]) -> None:
    root = project(**{"a.ipynb": notebook(IMPORT, *cells)})
    assert [row[0] for row in found(root) if row[0] != "DET002"] == ["DET104"]


def test_blanket_comments_after_a_broken_cell(project: Project) -> None:
    root = project(**{"a.ipynb": notebook(IMPORT, "'''", "x = torch.rand(3)  # noqa")})
    assert [row[:2] for row in found(root)] == [("DET001", 2)]


def test_unused_suppressions_stand_where_they_are(project: Project) -> None:
    cells = [IMPORT, "x = 1\ny = 2  # noqa: DET104", "    x = 1  # detlint: ignore", "%%bash\nls  # noqa: DET104"]
    root = project(**{"a.ipynb": notebook(*cells)})
    assert found(root) == [("DET002", 2, 2, 8), ("DET002", 3, 1, 12)]


def test_per_file_ignores(project: Project) -> None:
    settings = '[per-file-ignores]\n"*.ipynb" = ["DET104"]\n'
    root = project(**{"a.ipynb": PLAIN, "b.py": f"{IMPORT}\n{DRAW}\n", "detlint.toml": settings})
    rows = findings("--select", "DET104", root, isolated=False)
    assert [Path(row["filename"]).name for row in rows] == ["b.py"]


# -- files, standard input, the cache -------------------------------------------------------------------------------


def test_notebooks_are_found(project: Project) -> None:
    names = [
        "a.ipynb",
        "sub/b.ipynb",
        "sub/.ipynb_checkpoints/b-checkpoint.ipynb",
        "ignored.ipynb",
        "c.ipynb.bak",
        "d.IPYNB",
    ]
    project(**dict.fromkeys(names, PLAIN), **{".gitignore": "ignored.ipynb\n", ".git/HEAD": ""})
    shown = detlint("check", "--no-cache", "--show-files").stdout.splitlines()
    assert shown == ["a.ipynb", "sub/b.ipynb"]
    assert detlint("check", "--no-cache", "--show-files", "ignored.ipynb").stdout == "ignored.ipynb\n"
    assert detlint("check", "--no-cache", "--show-files", "--extend-exclude", "*.ipynb").stdout == ""


def test_standard_input(project: Project) -> None:
    root = project(
        **{"a.ipynb": notebook("x = 1"), "data.py": f"{IMPORT}\n\n\ndef draw():\n    return torch.rand(3)\n"}
    )
    text = notebook("from data import draw", "%pwd\ndraw()").encode()
    (line,) = concise("-", "--stdin-filename", "a.ipynb", "--select", "DET104", stdin=text)
    assert line.startswith("a.ipynb:cell 2:2:1: error: DET104 ")
    full = detlint("--isolated", "--no-cache", "-", "--stdin-filename", root / "a.ipynb", stdin=text).stdout
    assert "2 | draw()\n  | ^^^^^^\n" in full
    (line,) = concise("-", "--stdin-filename", "a.ipynb", stdin=b"{")
    assert line.startswith("a.ipynb:1:1: warning: DET001 ")


def test_warm_as_cold(project: Project) -> None:
    files = {"a.ipynb": notebook(IMPORT, "%time x = torch.rand(3)", "(", "y = 1  # noqa: DET104"), "b.ipynb": b"{"}
    project(**files)
    keep = ["--isolated", "--cache-dir", "cache", "--show-notes", "--output-format", "json", "."]
    cold = detlint("check", *keep).stdout
    assert {row["code"] for row in json.loads(cold)} == {"DET001", "DET002", "DET104"}
    assert detlint("check", *keep).stdout == cold
    assert detlint("check", "--isolated", "--no-cache", "--show-notes", "--output-format", "json", ".").stdout == cold


def test_edited_notebooks(project: Project) -> None:
    keep = ["--isolated", "--cache-dir", "cache", "--output-format", "concise", "a.ipynb"]

    def places(*cells: str | dict[str, Any]) -> list[str]:
        project(**{"a.ipynb": notebook(*cells)})
        return [line.partition(": ")[0] for line in detlint("check", *keep).stdout.splitlines()]

    assert places(IMPORT, DRAW) == ["a.ipynb:cell 2:1:5"]
    assert places(IMPORT, {"source": DRAW, "outputs": [PNG], "execution_count": 7}) == ["a.ipynb:cell 2:1:5"]
    assert places("#md new", IMPORT, DRAW) == ["a.ipynb:cell 3:1:5"]
    assert places(IMPORT, SEED, DRAW) == []
    assert places(IMPORT, "#md", f"\n{DRAW}", SEED) == ["a.ipynb:cell 4:1:1"]


def test_any_number_of_processes(project: Project) -> None:
    many = {
        f"n{i}.ipynb": notebook(IMPORT, f"%time x{i} = torch.rand(3)", "(" if i % 7 == 0 else "y = 1")
        for i in range(60)
    }
    project(**many)
    arguments = ["check", "--isolated", "--no-cache", "--output-format", "json", "."]
    one, three = detlint(*arguments, "--jobs", "1").stdout, detlint(*arguments, "--jobs", "3").stdout
    assert one == three
    assert len(json.loads(one)) == 60 + 9
