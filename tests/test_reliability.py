"""Any bytes in, a finding or silence out: one bad file never costs the others their findings."""

from __future__ import annotations

import ast
import json
import os
import random
import re
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from conftest import REPOSITORY, apart, detlint, examples
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from detlint.catalog import load
from detlint.model.sites.reader import read

Project = Callable[..., Path]

GOOD = "import torch.nn.functional as F\n\n\ndef warp(x, g):\n    return F.grid_sample(x, g)\n"
SOURCES = sorted((REPOSITORY / "fixtures").rglob("*.py"))


def check(root: Path, *arguments: str) -> list[dict[str, Any]]:
    """Check a folder in a process of its own, so that an overflowing stack is a failed test and no dead test run."""
    result = apart("--output-format", "json", *arguments, cwd=root)
    assert result.returncode in (0, 1), result.stderr.decode("utf-8", "replace")[-2000:]
    assert result.stderr == b""
    rows: list[dict[str, Any]] = json.loads(result.stdout)
    assert result.returncode == int(any(row["severity"] != "note" for row in rows))
    return rows


def of(rows: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    return [row for row in rows if row["filename"].endswith(f"/{name}")]


def beside(project: Project, content: str | bytes, name: str = "bad.py") -> list[dict[str, Any]]:
    """The findings in a file that stands between two good ones, whose own findings must come."""
    rows = check(project(**{"a_good.py": GOOD, name: content, "z_good.py": GOOD}))
    for good in ("a_good.py", "z_good.py"):
        assert [(row["code"], row["location"]) for row in of(rows, good)] == [("DET403", {"row": 5, "column": 12})]
    return of(rows, name)


def places(rows: list[dict[str, Any]]) -> list[tuple[str, int, int]]:
    return [(row["code"], row["location"]["row"], row["location"]["column"]) for row in rows]


# -- files that can't be read ---------------------------------------------------------------------------------------


def test_unreadable_file(project: Project) -> None:
    # A file that opens and then fails to read, for every user: address 0 of a process is never mapped.
    memory = Path("/proc/self/mem")
    if not memory.exists():
        pytest.skip("needs /proc")
    root = project(**{"a_good.py": GOOD, "z_good.py": GOOD})
    (root / "bad.py").symlink_to(memory)
    rows = check(root)
    assert [row["code"] for row in rows] == ["DET403", "DET001", "DET403"]
    assert "can't be read" in rows[1]["message"]
    assert rows[1]["severity"] == "warning"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_file_without_permission(project: Project) -> None:
    root = project(**{"a_good.py": GOOD, "bad.py": GOOD, "z_good.py": GOOD})
    (root / "bad.py").chmod(0)
    rows = check(root)
    assert [row["code"] for row in rows] == ["DET403", "DET001", "DET403"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may list everything")
def test_folder_without_permission(project: Project) -> None:
    root = project(**{"a_good.py": GOOD, "closed/bad.py": GOOD})
    (root / "closed").chmod(0)
    try:
        assert [row["code"] for row in check(root)] == ["DET403", "DET001"]
    finally:
        (root / "closed").chmod(0o700)


def test_folder_that_is_named_like_a_file(project: Project) -> None:
    rows = check(project(**{"a_good.py": GOOD, "bad.py/inner.py": GOOD, "bad.py/sub.pyi/deep.py": GOOD}))
    assert [Path(row["filename"]).name for row in rows] == ["a_good.py", "inner.py", "deep.py"]


def test_pipe_in_a_folder_is_no_source(project: Project) -> None:
    root = project(**{"a_good.py": GOOD})
    os.mkfifo(root / "pipe.py")
    assert [row["code"] for row in check(root)] == ["DET403"]


def test_broken_link(project: Project) -> None:
    root = project(**{"a_good.py": GOOD, "z_good.py": GOOD})
    (root / "bad.py").symlink_to(root / "gone.py")
    rows = check(root)
    assert [row["code"] for row in rows] == ["DET403", "DET001", "DET403"]


def test_link_to_itself(project: Project) -> None:
    root = project(**{"a_good.py": GOOD, "z_good.py": GOOD})
    (root / "bad.py").symlink_to(root / "bad.py")
    (root / "loop").symlink_to(root)
    assert [row["code"] for row in check(root) if not row["filename"].endswith("bad.py")] == ["DET403", "DET403"]


def test_imported_file_that_has_vanished(project: Project) -> None:
    root = project(
        **{
            "package/__init__.py": "from .gone import nothing\nfrom .broken import *\n",
            "package/broken.py": "def (:\n",
            "package/use.py": "from . import gone, broken\nfrom .gone import helper\nfrom .broken import f\n" + GOOD,
        }
    )
    (root / "package" / "gone.py").symlink_to(root / "nowhere.py")
    assert ("DET403", 8, 12) in places(of(check(root, "package/use.py"), "use.py"))


HELPER = "import data\nfrom a_good import warp as good\nfrom bad import warp\n\nwarp(data.x, good(data.x, data.grid)).backward()\n"


def test_file_that_vanishes_between_two_runs_with_a_cache(project: Project) -> None:
    root = project(**{"a_good.py": GOOD, "bad.py": GOOD, "helper.py": HELPER})
    arguments = ["check", "--isolated", "--cache-dir", str(root / "cache"), "--output-format", "concise"]
    assert detlint(*arguments).exit_code == 1
    (root / "bad.py").unlink()
    result = detlint(*arguments)
    assert result.exit_code == 1
    assert result.stdout.count("DET403") == 1


# -- bytes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"\r", b"   ", b"\t\n", b"#", b"\\\n", b"\x0c", b"\xef\xbb\xbf", b"pass"]
)
def test_next_to_nothing(project: Project, content: bytes) -> None:
    assert [row for row in beside(project, content) if row["code"] != "DET001"] == []


def test_empty_file_is_fine(project: Project) -> None:
    assert beside(project, b"") == []


def test_not_utf8(project: Project) -> None:
    (row,) = beside(project, b"import torch\nname = '\xe9'\n")
    assert row["code"] == "DET001"
    assert row["severity"] == "warning"


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "iso-8859-15", "utf-8", "utf-8-sig"])
def test_declared_encoding(project: Project, encoding: str) -> None:
    text = (
        f"# -*- coding: {encoding} -*-\nimport torch.nn.functional as F\n"
        f"def f(x, g): return 'éé', F.grid_sample(x, g)\n"
    )
    assert places(beside(project, text.encode(encoding))) == [("DET403", 3, 27)]


@pytest.mark.parametrize(
    ("encoding", "text"), [("gbk", "中文"), ("shift_jis", "日本"), ("koi8-r", "привет"), ("euc-kr", "한글")]
)
def test_declared_encoding_of_other_scripts(project: Project, encoding: str, text: str) -> None:
    source = (
        f"# coding={encoding}\nimport torch.nn.functional as F\ndef f(x, g): return '{text}', F.grid_sample(x, g)\n"
    )
    (row,) = beside(project, source.encode(encoding))
    assert row["location"] == {"row": 3, "column": 25 + len(text)}
    assert row["end_location"] == {"row": 3, "column": 25 + len(text) + 19}


def test_conditions_are_read_in_the_declared_encoding(project: Project) -> None:
    text = "# coding: latin-1\nimport torch.nn as nn\ndef f(): return 'éééé', nn.Dropout(1 - 1), nn.Dropout(0.5 + 0)\n"
    assert places(beside(project, text.encode("latin-1"))) == [("DET201", 3, 44)]
    assert places(beside(project, text.replace("latin-1", "utf-8"))) == [("DET201", 3, 44)]


@pytest.mark.parametrize(
    "name",
    [
        "idna",
        "\\xff",
        "no-such-encoding",
        "utf-16",
        "utf-32",
        "rot13",
        "base64",
        "undefined",
    ],
)
def test_useless_declared_encoding(project: Project, name: str) -> None:
    rows = beside(project, f"# -*- coding: {name} -*-\nimport torch\n".encode())
    assert {row["code"] for row in rows} <= {"DET001"}


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-16-le"])
def test_undeclared_wide_encoding(project: Project, encoding: str) -> None:
    assert [row["code"] for row in beside(project, GOOD.encode(encoding))] in ([], ["DET001"])


def test_byte_order_mark(project: Project) -> None:
    assert places(beside(project, b"\xef\xbb\xbf" + GOOD.encode())) == [("DET403", 5, 12)]
    text = "import torch.nn.functional as F; F.grid_sample(1, 2)\n"
    assert ("DET403", 1, 34) in places(beside(project, b"\xef\xbb\xbf" + text.encode()))


@pytest.mark.parametrize("end", ["\r\n", "\r"], ids=["crlf", "cr"])
def test_line_ends(project: Project, end: str) -> None:
    assert places(beside(project, GOOD.replace("\n", end).encode())) == [("DET403", 5, 12)]


def test_mixed_line_ends(project: Project) -> None:
    text = "import torch.nn.functional as F\r\n\r\n\ndef warp(x, g):\r    return F.grid_sample(x, g)\r\n"
    assert places(beside(project, text.encode())) == [("DET403", 5, 12)]


@pytest.mark.parametrize("mark", ["\x0c", "\x0b", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"], ids=ascii)
def test_characters_that_only_some_take_for_line_ends(project: Project, mark: str) -> None:
    text = f"import torch.nn.functional as F\ns = '{mark}'\ndef f(x, g): return '{mark}', F.grid_sample(x, g)\n"
    assert places(beside(project, text.encode())) == [("DET403", 3, 26)]


def test_form_feed_before_a_statement(project: Project) -> None:
    assert places(beside(project, GOOD.replace("def", "\x0cdef").encode())) == [("DET403", 5, 12)]


@pytest.mark.parametrize("content", [b"\0", b"import torch\0\n", b"x = '\0'\n", b"# \0\nimport torch\n", b"\0" * 5000])
def test_nul_bytes(project: Project, content: bytes) -> None:
    assert {row["code"] for row in beside(project, b"import torch\n" + content)} == {"DET001"}


def test_no_end_of_the_last_line(project: Project) -> None:
    assert places(beside(project, GOOD.rstrip("\n"))) == [("DET403", 5, 12)]


@pytest.mark.parametrize(
    "line",
    [
        "return 'ä', F.grid_sample(x, g)",
        "return '中文字', F.grid_sample(x, g)",
        "return '🙂🙂', F.grid_sample(x, g)",
        "return 'e\u0301', F.grid_sample(x, g)",
        "x.ä = F.grid_sample(x, g)",
        "return\tF.grid_sample(x, g)",
    ],
)
def test_columns_are_characters(project: Project, line: str) -> None:
    text = f"import torch.nn.functional as F\ndef f(x, g):\n    {line}\n"
    (row,) = beside(project, text)
    start = 4 + line.index("F.")
    assert row["location"] == {"row": 3, "column": start + 1}
    assert row["end_location"] == {"row": 3, "column": start + 20}


def test_end_column_after_other_scripts(project: Project) -> None:
    (row,) = beside(
        project,
        "import torch.nn.functional as F\ndef f(x, g):\n    return F.grid_sample(x['ключ'],\n        g['中文'])\n",
    )
    assert row["end_location"] == {"row": 4, "column": 17}


# -- text that can't be parsed --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("import torch\ndef f(:\n    pass\n", 2),
        ("import torch\nx = (1,\n", 2),
        ("import torch\nx = 'open\n", 2),
        ('import torch\nx = """open\n', 2),
        ("import torch\n  x = 1\n", 2),
        ("import torch\nif x:\n\ty\n        z\n", 4),
        ("import torch\n<<<<<<< HEAD\nx = 1\n=======\n", 2),
        ("import torch\nreturn = 1\n", 2),
        ("import torch\nx = 08\n", 2),
        ("import torch\nx = $\n", 2),
        ("{{ cookiecutter.imports }}\nimport torch\nclass {{name}}: pass\n", 3),
    ],
)
def test_syntax_error(project: Project, text: str, line: int) -> None:
    (row,) = beside(project, text)
    assert (row["code"], row["severity"], row["name"]) == ("DET001", "warning", "unreadable-file")
    assert row["location"]["row"] == line
    assert row["location"]["column"] >= 1


def test_column_of_a_syntax_error_is_in_characters(project: Project) -> None:
    (ascii_row,) = beside(project, "import torch\nx = 'ee' + $\n")
    (row,) = beside(project, "import torch\nx = 'éé' + $\n")
    assert row["location"] == ascii_row["location"] == {"row": 2, "column": 12}


@pytest.mark.parametrize(
    "line",
    ["print 'loss', torch.rand(1)", "exec 'x = 1'", "raise ValueError, 'no'", "x = 0777", "try: x\nexcept A, e: pass"],
)
def test_python_2(project: Project, line: str) -> None:
    (row,) = beside(project, f"import torch\n{line}\n")
    assert row["code"] == "DET001"
    assert row["location"]["row"] == 2 + line.count("\n")


def test_several_bad_files(project: Project) -> None:
    root = project(**{f"bad{i}.py": f"import torch\n{'(' * i}\n" for i in range(1, 30)}, **{"good.py": GOOD})
    rows = check(root)
    assert sorted(row["code"] for row in rows) == ["DET001"] * 29 + ["DET403"]


def test_bad_files_can_be_ignored(project: Project) -> None:
    root = project(**{"bad.py": "import torch\n(\n", "good.py": GOOD})
    assert [row["code"] for row in check(root, "--ignore", "DET001")] == ["DET403"]
    assert check(root, "--ignore", "DET001", "bad.py") == []


def test_unreadable_file_with_a_cache(project: Project) -> None:
    root = project(**{"bad.py": "import torch\n(\n", "good.py": GOOD})
    arguments = ["check", "--isolated", "--cache-dir", str(root / "cache"), "--output-format", "json"]
    cold, warm = detlint(*arguments), detlint(*arguments)
    assert [row["code"] for row in json.loads(cold.stdout)] == ["DET001", "DET403"]
    assert warm.stdout == cold.stdout


def test_warnings_of_the_checked_code_are_not_ours(project: Project) -> None:
    assert beside(project, "import torch\nx = '\\d'\nif x is 1: pass\nassert (x, 1)\n1if x else 2\n") == []


# -- size and depth -------------------------------------------------------------------------------------------------


def test_large_generated_file_is_skipped(project: Project) -> None:
    large = "import torch\nTABLE = [\n" + "    0.123456789,\n" * 320_000 + "]\n"
    assert len(large) > 5_000_000
    (row,) = beside(project, large)
    assert row["code"] == "DET001"
    assert "max-file-size" in row["message"]


def test_large_file_is_read_when_allowed(project: Project) -> None:
    root = project(
        **{
            "large.py": GOOD + "TABLE = [\n" + "    0.123456789,\n" * 320_000 + "]\n",
            "c.toml": "max-file-size = 9000000\n",
        }
    )
    result = detlint("--no-cache", "--config", "c.toml", "--output-format", "concise", "large.py")
    assert re.match(r"large\.py:5:12: error: DET403 ", result.stdout)
    assert (root / "large.py").stat().st_size > 5_000_000


def test_one_long_line(project: Project) -> None:
    text = "import torch.nn.functional as F\ndef f(x, g): return [" + "1, " * 100_000 + "F.grid_sample(x, g)]\n"
    assert places(beside(project, text)) == [("DET403", 2, 22 + 300_000)]


DEEP = 3000
DEEPLY_NESTED = {
    "parentheses": "(" * DEEP + "1" + ")" * DEEP,
    "lists": "[" * DEEP + "]" * DEEP,
    "dictionaries": "{1:" * DEEP + "1" + "}" * DEEP,
    "calls": "f(" * DEEP + ")" * DEEP,
    "fewer-calls": "f(" * 90 + "nn.Dropout(0.5)" + ")" * 90,
    "attributes": "x" + ".a" * DEEP,
    "attributes-of-import": "nn" + ".modules" * DEEP + "()",
    "methods": "x" + ".a()" * DEEP,
    "methods-of-site": "F.dropout(x)" + ".relu()" * DEEP,
    "methods-with-sites": "x" + ".a(F.dropout(1, 0.5))" * DEEP,
    "subscripts": "x" + "[0]" * DEEP,
    "calls-of-calls": "f" + "()" * DEEP,
    "sum": "+".join(["x"] * DEEP),
    "sum-of-sites": "+".join(["F.dropout(x)"] * DEEP),
    "powers": "**".join(["x"] * DEEP),
    "negations": "-" * DEEP + "x",
    "nots": "not " * DEEP + "x",
    "and": " and ".join(["x"] * DEEP),
    "and-or": " and ".join(["(x or y)"] * DEEP),
    "or-of-functions": "y = x" + " or F.dropout" * DEEP,
    "comparison": "<".join(["x"] * DEEP),
    "conditional": "1 if x else " * DEEP + "2",
    "lambdas": "lambda: " * DEEP + "1",
    "lambdas-around-site": "lambda: " * 200 + "F.dropout(1)",
    "awaits": "async def f():\n return " + "await " * DEEP + "x",
    "ifs": "".join(" " * i + "if x:\n" for i in range(DEEP)) + " " * DEEP + "pass",
    "ifs-that-python-takes": "".join(" " * i + "if x:\n" for i in range(95)) + " " * 95 + "F.dropout(1)",
    "elifs": "if x:\n  pass\n" + "".join(f"elif x == {i}:\n  random.random()\n" for i in range(DEEP)),
    "functions": "".join(" " * i + f"def f{i}():\n" for i in range(95)) + " " * 95 + "nn.Dropout(0.5)",
    "classes": "".join(" " * i + f"class C{i}:\n" for i in range(95)) + " " * 95 + "a = nn.Dropout(0.5)",
    "targets": " = ".join(["x"] * DEEP) + " = 1",
    "texts": " ".join(["'a'"] * DEEP),
    "fors-of-comprehension": "[x" + " for x in y" * 500 + "]",
    "decorators": "@f\n" * DEEP + "def g(): pass",
    "withs": "with " + ", ".join(["x"] * DEEP) + ": pass",
    "annotation": "x: " + "|".join(["nn.Dropout"] * DEEP),
    "subclasses": "class C0(nn.Module): pass\n"
    + "".join(f"class C{i + 1}(C{i}): pass\n" for i in range(DEEP))
    + f"C{DEEP}()(1)",
    "call-chain": "".join(f"def f{i}(x): return f{i + 1}(x)\n" for i in range(DEEP))
    + f"def f{DEEP}(x): return random.random()\nf0(1)",
    "returned-functions": "".join(f"def f{i}(): return f{i + 1}()\n" for i in range(DEEP))
    + f"def f{DEEP}(): return nn.Dropout\nf0()(0.5)",
    "partials": "p0 = partial(nn.Dropout, 0.5)\n"
    + "".join(f"p{i + 1} = partial(p{i})\n" for i in range(DEEP))
    + f"p{DEEP}()",
    "aliases": "a0 = nn.Dropout\n" + "".join(f"a{i + 1} = a{i}\n" for i in range(DEEP)) + f"a{DEEP}(0.5)",
}


@pytest.mark.parametrize("name", list(DEEPLY_NESTED))
def test_deep_nesting(project: Project, name: str) -> None:
    head = "import random\nfrom functools import partial\nimport torch.nn as nn\nimport torch.nn.functional as F\n"
    beside(project, f"{head}{DEEPLY_NESTED[name]}\n")


@pytest.mark.parametrize(
    "name",
    ["sum-of-sites", "elifs", "aliases", "ifs-that-python-takes", "functions", "classes"],
)
def test_findings_in_deep_nesting(project: Project, name: str) -> None:
    head = "import random\nfrom functools import partial\nimport torch.nn as nn\nimport torch.nn.functional as F\n"
    codes = {row["code"] for row in beside(project, f"{head}{DEEPLY_NESTED[name]}\n")}
    assert codes & {"DET201", "DET101"}, codes


def test_a_long_call_chain_still_ends_at_the_draw(project: Project) -> None:
    chain = "".join(f"def f{i}(x):\n    return f{i + 1}(x)\n" for i in range(30))
    text = f"import random\n{chain}def f30(x):\n    return random.random()\n\n\nif __name__ == '__main__':\n    f0(1)\n"
    assert [row["code"] for row in beside(project, text)] == ["DET101"]


def test_circles(project: Project) -> None:
    root = project(
        **{
            "a.py": "from b import f\nfrom b import *\nimport a\n\n\ndef g(x):\n"
            "    return f(g)(x)\n\n\nclass A(A): pass\n\n\ng(1)\n",
            "b.py": "from a import g as f\nfrom a import *\nx = x\ny = y()\n"
            "\n\nclass B(C): pass\n\n\nclass C(B): pass\n\n\nC()(1)\n",
            "p/__init__.py": "from .q import *\nfrom . import p\n",
            "p/q.py": "from . import *\nfrom .q import q\nfrom p import thing\nthing(1)\n",
            "z_good.py": GOOD,
        }
    )
    assert [row["code"] for row in of(check(root), "z_good.py")] == ["DET403"]


# -- properties -----------------------------------------------------------------------------------------------------

CATALOG = load()
FEW = settings(
    max_examples=examples(120),
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.generate],
)


CACHE = TemporaryDirectory()  # the compiled catalog makes a run ten times as fast; every example is new to it


def in_order(content: bytes) -> None:
    """Read a file and, by way of standard input, everything after; a crash is an exception here."""
    read(content, "module", False, CATALOG)
    name = Path(CACHE.name, "alone", "stdin.py")  # a program of its own
    name.parent.mkdir(exist_ok=True)
    arguments = ["check", "--isolated", "--cache-dir", CACHE.name, "--show-notes", "-", "--stdin-filename", str(name)]
    for form in ("text", "json"):
        result = detlint(*arguments, "--output-format", form, stdin=content)
        assert result.exit_code in (0, 1), result.stderr
    for row in json.loads(result.stdout):
        assert row["location"]["row"] >= 1
        assert row["location"]["column"] >= 1
        assert (row["location"]["row"], row["location"]["column"]) <= (
            row["end_location"]["row"],
            row["end_location"]["column"],
        )


@FEW
@given(st.binary(max_size=300))
def test_any_bytes(content: bytes) -> None:
    in_order(content)
    in_order(b"import torch, random\n" + content)


@FEW
@given(st.text(max_size=200))
def test_any_text(text: str) -> None:
    in_order(b"# noqa: DET201\nimport torch\n" + text.encode("utf-8", "surrogatepass"))


@FEW
@given(
    st.lists(
        st.sampled_from(
            [
                "#",
                " ",
                "noqa",
                ":",
                "DET201",
                "DET",
                "F401",
                ",",
                "detlint",
                "ignore",
                "[",
                "]",
                "ignore-file",
                "skip-file",
                "flake8",
                "=",
                "\n",
                "é",
                '"',
                "x",
            ]
        ),
        max_size=14,
    )
)
def test_any_comment(words: list[str]) -> None:
    in_order(f"import torch.nn as nn\nx = nn.Dropout(0.5)  # {''.join(words)}\n".encode())


@FEW
@given(st.sampled_from(SOURCES), st.integers(0, 2**32), st.integers(1, 12))
def test_any_mutation(path: Path, seed: int, count: int) -> None:
    content, chance = bytearray(path.read_bytes()), random.Random(seed)
    for _ in range(count):
        at = chance.randrange(len(content) + 1)
        match chance.randrange(4):
            case 0:
                content[at:at] = bytes([chance.randrange(256)])
            case 1:
                del content[at : at + chance.randrange(40)]
            case 2:
                content[at : at + 1] = chance.choice(
                    [b"(", b")", b"\n", b"'", b"*", b"**", b".", b",", b":", b"=", b"\xc3\xa9", b"#"]
                )
            case _:
                start = chance.randrange(len(content) + 1)
                content[at:at] = content[start : start + chance.randrange(80)]
    in_order(bytes(content))


@FEW
@given(st.sampled_from(SOURCES), st.floats(0, 1))
def test_any_truncation(path: Path, part: float) -> None:
    content = path.read_bytes()
    in_order(content[: int(part * len(content))])


NAMES = st.sampled_from(
    [
        "x",
        "y",
        "self",
        "nn",
        "F",
        "torch",
        "np",
        "random",
        "Net",
        "run",
        "Dropout",
        "args",
        "seed",
        "None",
        "True",
        "os",
    ]
)
EXPRESSIONS = st.recursive(
    st.one_of(
        NAMES,
        st.sampled_from(
            ["0", "0.5", "-1", "'cuda'", "'bicubic'", "[]", "()", "{}", "...", "1e400", "2**99", "b'x'", "1j", "f'{x}'"]
        ),
        st.sampled_from(
            [
                "nn.Dropout(0.5)",
                "F.grid_sample(x, y)",
                "random.random()",
                "np.random.rand()",
                "torch.rand(1)",
                "torch.manual_seed(0)",
            ]
        ),
    ),
    lambda inner: st.one_of(
        st.builds(
            "{}.{}".format,
            NAMES,
            st.sampled_from(["Dropout", "random", "shuffle", "seed", "__init__", "forward", "apply", "sort"]),
        ),
        st.builds("({})({}, p={})".format, inner, inner, inner),
        st.builds("({})(*{}, **{})".format, inner, inner, inner),
        st.builds("({})[{}]".format, inner, inner),
        st.builds("({} if {} else {})".format, inner, inner, inner),
        st.builds("({} or {})".format, inner, inner),
        st.builds("(-{} + {})".format, inner, inner),
        st.builds("(lambda x={}: {})".format, inner, inner),
        st.builds("[{} for x in {} if {}]".format, inner, inner, inner),
        st.builds("(x := {})".format, inner),
        st.builds("partial({}, {})".format, inner, inner),
        st.builds("dict(type='RandomFlip', p={})".format, inner),
        st.builds("{{'type': {}, '_target_': {}}}".format, inner, inner),
        st.builds("getattr({}, 'Dropout')".format, inner),
        st.builds("[{}, {}]".format, inner, inner),
        st.builds("\nnot {}".format, inner).map(lambda text: f"({text})"),
    ),
    max_leaves=8,
)


def indented(lines: list[str]) -> str:
    return "".join(f"    {line}\n" for text in lines for line in text.splitlines())


STATEMENTS = st.recursive(
    st.one_of(
        EXPRESSIONS,
        st.builds(
            "{} = {}".format,
            st.sampled_from(
                [
                    "x",
                    "nn",
                    "x, y",
                    "self.pool",
                    "os.environ['PYTHONHASHSEED']",
                    "x[0]",
                    "torch.backends.cudnn.benchmark",
                ]
            ),
            EXPRESSIONS,
        ),
        st.builds("x: {} = {}".format, EXPRESSIONS, EXPRESSIONS),
        st.builds("x += {}".format, EXPRESSIONS),
        st.builds("del {}".format, st.sampled_from(["x", "nn", "x.y"])),
        st.sampled_from(
            [
                "from . import x",
                "from .x import *",
                "from ... import y",
                "import torch.nn as x",
                "from torch import *",
                "import stdin",
                "pass",
            ]
        ),
    ),
    lambda inner: st.one_of(
        st.builds(
            lambda test, body, other: f"if {test}:\n{indented(body)}else:\n{indented(other)}",
            EXPRESSIONS,
            st.lists(inner, min_size=1, max_size=3),
            st.lists(inner, min_size=1, max_size=2),
        ),
        st.builds(
            lambda body: f"if __name__ == '__main__':\n{indented(body)}", st.lists(inner, min_size=1, max_size=3)
        ),
        st.builds(
            lambda over, body: f"for x in {over}:\n{indented([*body, 'break'])}",
            EXPRESSIONS,
            st.lists(inner, max_size=3),
        ),
        st.builds(
            lambda body: f"try:\n{indented(body)}except ImportError:\n    nn = None\n",
            st.lists(inner, min_size=1, max_size=3),
        ),
        st.builds(
            lambda base, body: f"class Net({base}):\n{indented(body)}",
            EXPRESSIONS,
            st.lists(inner, min_size=1, max_size=3),
        ),
        st.builds(
            lambda value, body: f"def run(self, x={value}):\n{indented([*body, 'return run(x)'])}",
            EXPRESSIONS,
            st.lists(inner, max_size=3),
        ),
        st.builds(
            lambda what, body: f"with {what} as x:\n{indented(body)}",
            EXPRESSIONS,
            st.lists(inner, min_size=1, max_size=3),
        ),
        st.builds(
            lambda what, body: f"match {what}:\n    case [x, *y]:\n{indented(body).replace('    ', '        ')}",
            EXPRESSIONS,
            st.lists(inner, min_size=1, max_size=2),
        ),
    ),
    max_leaves=10,
)
HEAD = (
    "import os, random\nfrom functools import partial\nimport numpy as np\n"
    "import torch, torch.nn as nn\nimport torch.nn.functional as F\n"
)


@settings(FEW, max_examples=examples(250))
@given(st.lists(STATEMENTS, min_size=1, max_size=6))
def test_any_program(statements: list[str]) -> None:
    source = HEAD + "\n".join(statements) + "\n"
    in_order(source.encode())


def test_generated_programs_are_mostly_valid() -> None:
    valid = []

    @settings(FEW, max_examples=examples(100))
    @given(st.lists(STATEMENTS, min_size=1, max_size=6))
    def count(statements: list[str]) -> None:
        try:
            ast.parse(HEAD + "\n".join(statements) + "\n")
            valid.append(True)
        except SyntaxError:
            valid.append(False)

    count()
    assert sum(valid) > len(valid) * 0.6
