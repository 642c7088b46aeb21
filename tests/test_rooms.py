"""What the rooms behind the IR are read with: code is parsed once and lowered, and nothing behind that looks at syntax trees or text again.

`tests/data/rooms.toml` lists the files that still do. Names are only taken out of it, by whoever moves a file onto the model.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from detlint.toml import parse

PACKAGE = Path(__file__).parent.parent / "detlint"
KNOWN = parse((Path(__file__).parent / "data" / "rooms.toml").read_bytes())
BEHIND = ("facts", "program", "checks", "model", "effects", "domains")
"""The rooms that are to ask the IR and the model."""


def importing(module: str) -> list[str]:
    """The files of these rooms that import a module of the standard library, wherever in them."""
    found = []
    for path in sorted(path for room in BEHIND for path in (PACKAGE / room).rglob("*.py")):
        nodes = [*ast.walk(ast.parse(path.read_bytes()))]
        names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
        names |= {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}
        if module in names:
            found.append(path.relative_to(PACKAGE).as_posix())
    return found


@pytest.mark.parametrize("module", ["ast", "re"])
def test_only_known_files_read_code_again(module: str) -> None:
    assert importing(module) == KNOWN[module]


@pytest.mark.parametrize("room", ["model", "db"])
def test_the_new_rooms_do_not(room: str) -> None:
    assert [path for module in ("ast", "re") for path in importing(module) if path.startswith(f"{room}/")] == []


def asked(path: Path) -> set[str]:
    """The modules of the package that a file imports from, wherever in it."""
    nodes = ast.walk(ast.parse(path.read_bytes()))
    modules = {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    return {module for module in modules if module.startswith("detlint.")}


def test_the_ir_asks_no_other_room() -> None:
    for path in (PACKAGE / "ir").rglob("*.py"):
        assert {module for module in asked(path) if not module.startswith("detlint.ir")} == set(), path


@pytest.mark.parametrize("path", sorted((PACKAGE / "model").rglob("*.py")), ids=lambda path: path.stem)
def test_the_model_asks_nobody_who_asks_it(path: Path) -> None:
    assert {module for module in asked(path) if module.startswith(("detlint.program", "detlint.checks"))} == set()


@pytest.mark.parametrize("room", sorted(KNOWN["asks"]))
def test_rooms_ask_only_those_before_them(room: str) -> None:
    may = {f"detlint.{name}" for name in (room, *KNOWN["asks"][room])}
    for path in (PACKAGE / room).rglob("*.py"):
        assert {module for module in asked(path) if ".".join(module.split(".")[:2]) not in may} == set(), path
