"""Fixes that come to nothing: they are left out and told of, and all others are made."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import detlint

Project = Callable[..., Path]
CATALOG = """\
[[framework]]
name = "lib"
modules = ["lib"]

[[rule]]
code = "DET901"
name = "lib-is-odd"
level = "warning"
summary = "It is odd."
message = "`{api}` is odd"
why = "It is."
remedy = "Leave it."

"""
RULE = """\
[[api]]
rule = "DET901"
names = ["lib.NAME"]
source = "lib"
fix = { kind = "KIND", text = "TEXT", applicability = "safe" }

"""
BAD = "import lib\n\nlib.bad(0)\n"
GOOD = "import lib\n\nlib.good(0)\n"


@pytest.fixture
def fix(project: Project) -> Callable[..., tuple[Any, dict[str, str]]]:
    """Fixes files by rules that are given as `name: (kind, text)`, and gives what was said, and what the files have."""

    def fixing(rules: dict[str, tuple[str, str]], **files: str) -> tuple[Any, dict[str, str]]:
        made = (
            RULE.replace("NAME", name).replace("KIND", kind).replace("TEXT", text)
            for name, (kind, text) in {"bad": ("rename", "good"), **rules}.items()
        )
        settings = 'catalogs = ["odd.toml"]\n'
        root = project(**{"detlint.toml": settings, "odd.toml": CATALOG + "".join(made)}, **files)
        result = detlint("check", "--no-cache", "--fix", root)
        return result, {name: (root / name).read_text() for name in files}

    return fixing


Fix = Callable[..., tuple[Any, dict[str, str]]]
ODD = "lib.ping(1)\n"


def test_what_would_write_the_same_is_no_fix(project: Project) -> None:
    source = (
        "import argparse\nimport os\n\nimport torch\n\n"
        'parser = argparse.ArgumentParser()\nparser.add_argument("--seed", type=int, default=0)\n'
        "args = parser.parse_args()\nif args.seed:\n    torch.manual_seed(args.seed)\n"
        "print(torch.rand(3), os.sep)\nos.environ['NCCL_DETERMINISTIC'] = '1'  # why\n"
    )
    root = project(**{"train.py": source})
    result = detlint("check", "--isolated", "--no-cache", "--fix", root)
    assert (root / "train.py").read_text() == source.replace("os.environ['NCCL_DETERMINISTIC'] = '1'  # why", "# why")
    assert (result.exit_code, result.stderr) == (1, "")
    assert "DET111" in result.stdout
    assert "= fix: not made here: what it would write stands there already" in result.stdout
    assert "Found 1 warning in 1 file; 1 fixed." in result.stdout
    (found,) = json.loads(detlint("check", "--isolated", "--no-cache", "--output-format", "json", root).stdout)
    assert not found.get("fix")


def test_two_fixes_that_undo_each_other(fix: Fix) -> None:
    rules = {"ping": ("rename", "pong"), "pong": ("rename", "ping")}
    result, files = fix(rules, **{"a.py": "import lib\n\n" + ODD, "b.py": BAD + ODD, "c.py": BAD})
    assert result.exit_code == 1
    assert files["c.py"] == GOOD
    assert files["b.py"].startswith(GOOD)
    for name in ("a.py", "b.py"):
        assert f"{name}: DET901 is not fixed, which is a fault of detlint's" in result.stderr
        assert files[name].endswith(ODD)
    assert "another fix undoes it" in result.stdout
    assert "2 fixed" in result.stdout


def test_a_fix_that_never_ends(fix: Fix) -> None:
    result, files = fix({"ping": ("wrap", "tuple({})")}, **{"a.py": BAD + ODD, "b.py": BAD})
    assert files == {"a.py": GOOD + ODD, "b.py": GOOD}
    assert result.exit_code == 1
    assert "a.py: DET901 is not fixed, which is a fault of detlint's" in result.stderr
    assert "it is still found after 10 rounds" in result.stdout


def test_a_fix_that_breaks_the_file(fix: Fix) -> None:
    twice = ODD + "lib.pong(2)\n"
    result, files = fix({"ping": ("rename", "1+"), "pong": ("rename", "good")}, **{"a.py": BAD + twice})
    assert files["a.py"] == GOOD + twice.replace("pong", "good")
    assert result.exit_code == 1
    assert "the result can't be parsed" in result.stdout


def test_a_fix_that_only_breaks_the_file_together_with_another(fix: Fix) -> None:
    """Each leaves the block something; both would leave it nothing."""
    rules = {"ping": ("remove-statement", ""), "pong": ("remove-statement", "")}
    result, files = fix(rules, **{"a.py": "import lib\n\n\ndef f():\n    lib.ping(1)\n    lib.pong(1)\n"})
    assert files["a.py"] == "\n\n\ndef f():\n    pass\n" or files["a.py"].endswith("def f():\n    pass\n")
    assert (result.exit_code, result.stderr) == (0, "")


def test_a_fault_in_a_rewrite_is_the_findings_alone(fix: Fix) -> None:
    result, files = fix(
        {"ping": ("replace", "<lib.x>("), "pong": ("rename", "good")}, **{"a.py": BAD + ODD + "lib.pong(2)\n"}
    )
    assert files["a.py"] == GOOD + ODD + "lib.good(2)\n"
    assert result.exit_code == 1
