"""What is walked in a syntax tree: all that `ast.walk` gives, but for what says nothing of its own."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from conftest import REPOSITORY

from detlint.sources.nodes import walk

SILENT = (ast.expr_context, ast.boolop, ast.operator, ast.unaryop, ast.cmpop)
SOURCES = [*sorted((REPOSITORY / "detlint").rglob("*.py"))[::12], Path(ast.__file__)]
SYNTAX = """
async def f(a, /, b: int = 1, *c, d=2, **e) -> str:
    match a:
        case {"x": [1, *rest], **others} if rest: return
        case Point(x=0) | None as p: global q
    async with a as (b, c), d: await b
    async for x in y: yield x
    try: raise ValueError from None
    except* (OSError, KeyError) as g: del h[1:2, ...]
    return f"{x!r:>{width}} {y}" if (z := not -x) in {1: 2, **m} else [*l, {n for n in o if n < 3 < 4}, lambda: {5}]
"""


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_a_file(path: Path) -> None:
    compare(path.read_text(encoding="utf-8"))


def test_all_kinds_of_syntax() -> None:
    compare(SYNTAX.replace("except*", "except"))
    try:
        ast.parse(SYNTAX)
    except SyntaxError:
        pytest.skip("`except*` is of Python 3.11")
    compare(SYNTAX)


def compare(text: str) -> None:
    tree = ast.parse(text)
    assert [*walk(tree)] == [node for node in ast.walk(tree) if not isinstance(node, SILENT)]
