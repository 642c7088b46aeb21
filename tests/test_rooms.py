"""What rooms ask: each only those below it (`[tool.importlinter]`), and nobody behind `sources` and `ir` syntax trees or text."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import REPOSITORY

PACKAGE = REPOSITORY / "detlint"
BEHIND = ("model", "db", "effects", "domains", "checks")
"""The rooms that ask the IR and the model what code means."""


def importing(module: str) -> list[Path]:
    """The files of these rooms that import a module of the standard library, wherever in them."""
    found = []
    for path in sorted(path for room in BEHIND for path in (PACKAGE / room).rglob("*.py")):
        nodes = [*ast.walk(ast.parse(path.read_bytes()))]
        names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
        names |= {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}
        if module in names:
            found.append(path)
    return found


@pytest.mark.parametrize("module", ["ast", "re", "tokenize"])
def test_nobody_reads_code_again(module: str) -> None:
    assert importing(module) == []


def test_rooms_ask_only_those_below() -> None:
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as run; run()", "--no-cache"]
    result = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=300, check=False)
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize(
    "room", [p for p in sorted(PACKAGE.rglob("__init__.py")) if p.parent.name in BEHIND], ids=lambda p: p.parent.name
)
def test_a_room_says_what_it_is_for(room: Path) -> None:
    assert ast.get_docstring(ast.parse(room.read_bytes()))
