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
LONG_AGO = 1_600_000_000
"""In seconds."""


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


def age(root: Path, number: int) -> None:
    """Date back what has just been written: a file that is this young is looked into, whatever is known of it."""
    for path in root.rglob("*"):
        if path.is_file() and path.stat().st_mtime > LONG_AGO + EDITS:
            os.utime(path, (LONG_AGO + number, LONG_AGO + number))


def edit(root: Path, random: Random) -> None:
    """Change a file of a program, or what files it has."""
    files = sorted(root.rglob("*.py"))
    if len(files) < 2:
        return
    modules = [".".join(file.relative_to(root).with_suffix("").parts) for file in files]
    file, other = random.choice(files), random.choice(files)
    kind = random.choice(["edit", "edit", "edit", "edit", "add", "remove", "rename", "folder"])
    if kind == "edit":
        file.write_text(edited(file.read_text(), modules, random))
    elif kind == "add":
        name = random.choice(["added", *(part for module in modules for part in module.split("."))])
        (other.parent / f"{name}.py").write_text(file.read_text())
    elif kind == "remove":
        file.unlink()
    elif kind == "rename":
        file.rename(file.with_name(random.choice(["renamed.py", other.name])))
    else:
        folder = file.parent / random.choice(["more", *modules[0].split(".")])
        folder.mkdir(exist_ok=True)
        file.rename(folder / file.name)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(program=st.sampled_from(PROGRAMS), random=st.randoms(use_true_random=False))
def test_edits(program: Path, random: Random) -> None:
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / program.name
        shutil.copytree(program, root)
        os.chdir(root)
        try:
            (root / "detlint.toml").touch()  # all files below are one program
            age(root, 0)
            report("--cache-dir", "cache")
            for number in range(EDITS):
                edit(root, random)
                age(root, number + 1)
                assert report("--cache-dir", "cache") == report("--no-cache")
        finally:
            os.chdir(before)
