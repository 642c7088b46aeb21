"""Four times as large is four times the work: generated files of every shape, from their tree to what checks ask of all of it.

Work is counted: calls of functions, those of Python's own among them.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Final

import pytest

from detlint.catalog import Catalog
from detlint.catalog.loading import load
from detlint.ir import ops as op
from detlint.ir.code import Code
from detlint.ir.lower import lower
from detlint.ir.storage import decode, encode
from detlint.ir.words import of_code
from detlint.ir.writes import Writes
from detlint.model.sites.reader import read

IN_ONE_FUNCTION: Final = {
    "assignments": "v{0} = torch.relu(x + v{0})",
    "same name": "x = torch.relu(x)",
    "ifs": "if g == {0}:\n        x = torch.dropout(x, {0})",
    "ifs with else": "if g:\n        x = a(x)\n    else:\n        x = b(x)",
    "returns": "if g == {0}:\n        return {0}",
    "loops": "for i in x:\n        x = g(x)",
    "tries": "try:\n        x = g(x)\n    except E as e:\n        y = x",
    "withs": "with g as h:\n        x = g(x)",
    "elifs": "if x: pass\n    elif x == {0}:\n        y = torch.relu(x)",
}
SHAPES: Final[dict[str, Callable[[int], str]]] = {
    name: (lambda n, part=part: "def f(x, g):\n" + parts(f"    {part}\n", n)) for name, part in IN_ONE_FUNCTION.items()
} | {
    "functions": lambda n: parts(
        "def f{0}(x, y=1):\n    z = x.call(y, key='{0}')\n    return [a for a in z if a]\n", n
    ),
    "of the top level": lambda n: parts("v{0} = {0}\nif g: x = torch.relu(v{0})\n", n),
    "methods": lambda n: (
        "class C:\n" + parts("    def m{0}(self, x):\n        self.a{0} = x\n        return self.m(x)\n", n)
    ),
    "classes": lambda n: parts("class C{0}(nn.Module):\n    def forward(self, x):\n        return self.x + x\n", n),
    "table": lambda n: "T = [" + parts("(1, 'a{0}', {{'b': {0}}}),\n", n) + "]\n",
    "imports": lambda n: parts("from m{0} import n{0}\nimport p{0}.q as r{0}\n", n),
    "lambdas": lambda n: "T = [" + parts("lambda x: x + {0},\n", n) + "]\n",
    "globals": lambda n: parts("def f{0}():\n    global g\n    g = {0}\n    return g\n", n),
    "settings": lambda n: parts("config.a{0} = {0}\nconfig['k{0}'] = {0}\n", n),
    "options": lambda n: "p = argparse.ArgumentParser()\n" + parts("p.add_argument('--o{0}', default={0})\n", n),
}


def parts(part: str, count: int) -> str:
    return "".join(part.format(number) for number in range(count))


@cache
def catalog() -> Catalog:
    return load()


@contextmanager
def counted() -> Iterator[list[int]]:
    """How often functions are called while it is entered."""
    calls = [0]

    def called(frame: object, event: str, argument: object) -> None:
        calls[0] += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        yield calls
    finally:
        sys.setprofile(before)


def look_at_all(code: Code) -> None:
    """What checks ask of functions and files."""
    for function in code.functions():
        assert len(function.spans) == len(function.ops) == len(function.users)
        for at, operation in enumerate(function.ops):
            function.guards(at)
            if operation[0] == op.STORE:
                function.loads.get(at)
            elif operation[0] < op.STORE:
                function.meant(at)
    assert code.identifiers and code.mentions and code.by_name and code.children
    assert sum(1 for _ in Writes(code).all()) <= sum(len(function.ops) for function in code.functions())
    of_code(code)


def work(source: str) -> list[int]:
    """The calls that it takes to lower a file and to keep it, to read facts off it, and to look at all of it."""
    tree, data = ast.parse(source), source.encode()
    with counted() as lowering:
        kept = encode(lower(tree))
    with counted() as reading:
        facts, _ = read(data, "large", False, catalog())
    with counted() as looking:
        look_at_all(Code(decode(kept)))
    assert facts.problem is None
    return [lowering[0], reading[0], looking[0]]


@pytest.mark.parametrize("name", SHAPES)
def test_so_many_times_the_work(name: str) -> None:
    small, large = (
        work("import argparse, torch\nfrom torch import nn\n" + SHAPES[name](count)) for count in (150, 600)
    )
    assert [count <= 4.2 * before for before, count in zip(small, large, strict=True)] == [True] * 3, (small, large)
