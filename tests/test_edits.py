"""After any edit, what is kept from before an edit gives the answer that a run from nothing gives."""

from __future__ import annotations

import ast
import os
import shutil
import tempfile
from pathlib import Path
from random import Random

from conftest import REPOSITORY, detlint
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

PROGRAMS = sorted(path for path in (REPOSITORY / "fixtures" / "programs").iterdir() if len([*path.rglob("*.py")]) > 1)
CALLS = {
    "np.random.rand()": "import numpy as np",
    "random.random()": "import random",
    "torch.manual_seed(0)": "import torch",
    "np.random.seed(0)": "import numpy as np",
}
EDITS = 4


def report(*options: str) -> str:
    result = detlint("check", "--show-notes", "--output-format", "json", "--jobs", "1", *options, ".")
    assert result.exit_code in (0, 1), result.stderr
    return result.stdout


def edited(text: str, others: list[str], random: Random) -> str:
    """A program's file after one edit of the kind that people make; as it was where that is none.

    Args:
        others: the names of the program's modules.
    """
    lines, tree = text.splitlines(keepends=True), ast.parse(text)
    nodes = [*ast.walk(tree)]
    statements = [node for node in nodes if isinstance(node, ast.stmt)]
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef) and node.body[0].lineno > node.lineno]
    names = [node for node in nodes if isinstance(node, ast.Name)]
    kind = random.choice(["delete", "empty", "define", "call", "import", "rename", "shift"])
    if kind == "delete" and statements:
        gone = random.choice(statements)
        first = min(node.lineno for node in (gone, *getattr(gone, "decorator_list", ())))
        lines[first - 1 : gone.end_lineno] = [" " * gone.col_offset + "pass\n"]
    elif kind == "empty" and functions:
        body = random.choice(functions).body
        lines[body[0].lineno - 1 : body[-1].end_lineno] = [" " * body[0].col_offset + "pass\n"]
    elif kind == "define":
        lines.append("\n\ndef added(x):\n    return x\n")
    elif kind == "call" and statements:
        here, call = random.choice(statements), random.choice([*CALLS])
        lines.insert(here.lineno - 1, f"{' ' * here.col_offset}{CALLS[call]}; {call}\n")
    elif kind == "import" and statements:
        here = random.choice(statements)
        lines.insert(here.lineno - 1, f"{' ' * here.col_offset}import {random.choice(others)}\n")
    elif kind == "rename" and names:
        name = random.choice(names)
        line, end = lines[name.lineno - 1].encode(), name.end_col_offset
        lines[name.lineno - 1] = (line[:end] + b"_renamed" + line[end:]).decode()
    else:
        lines.insert(0, "# a line more\n")
    after = "".join(lines)
    try:
        ast.parse(after)
    except SyntaxError:
        return text
    return after


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(program=st.sampled_from(PROGRAMS), random=st.randoms(use_true_random=False))
def test_edits(program: Path, random: Random) -> None:
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / program.name
        shutil.copytree(program, root)
        os.chdir(root)
        try:
            files = sorted(root.rglob("*.py"))
            modules = [".".join(file.relative_to(root).with_suffix("").parts) for file in files]
            report("--cache-dir", "cache")
            for _ in range(EDITS):
                file = random.choice(files)
                file.write_text(edited(file.read_text(), modules, random))
                assert report("--cache-dir", "cache") == report("--no-cache")
        finally:
            os.chdir(before)
