"""The IR of a file: places, what it depends on, how deep and how large a file may be, and what is kept of it."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from operator import attrgetter
from pathlib import Path

import msgspec
import pytest
from ir_machine import nested
from metamorphic import Transformation, commented, documented, laid_out, renamed

from detlint.ir import ops as op
from detlint.ir.depth import at_any_depth
from detlint.ir.lower import lower
from detlint.ir.records import OF_CLASS, OF_FUNCTION, OF_IMPORT, OF_VALUE, SEVERAL, FileIR
from detlint.ir.spans import spans_of
from detlint.ir.storage import body_of, decode, encode

ROOT = Path(__file__).parent.parent
FILES = sorted((ROOT / "detlint").rglob("*.py")) + sorted((ROOT / "fixtures" / "rules").rglob("*.py"))[:200]
DEEP = 3000


def of(source: str | bytes) -> FileIR:
    return lower(ast.parse(source))


def all_ops(ir: FileIR) -> list[tuple[tuple[int, ...], ...]]:
    return [body_of(ir, number).ops for number in range(len(ir.functions))]


def meaning(ir: FileIR) -> list[object]:
    """All but places: ops, with what they say instead of rows."""
    headers = [
        (header.kind, ir.strings[header.name], header.parent, header.parameters, header.returns)
        for header in ir.functions
    ]
    names = [
        [(ir.strings[name.text], name.owner, name.slot) for name in body_of(ir, number).names]
        for number in range(len(ir.functions))
    ]
    return [headers, names, all_ops(ir), ir.strings, ir.constants, ir.imports, ir.exports, ir.classes]


# -- places -------------------------------------------------------------------------------------------------------------------


place = attrgetter("lineno", "col_offset", "end_lineno", "end_col_offset")


@pytest.mark.parametrize("path", FILES[::5], ids=lambda path: path.name)
def test_every_op_has_the_place_of_a_node(path: Path) -> None:
    tree = ast.parse(path.read_bytes())
    places = {place(node) for node in ast.walk(tree) if hasattr(node, "lineno")}
    ir = lower(tree)
    for number, ops in enumerate(all_ops(ir)):
        spans = spans_of(ir, number)
        assert len(spans) == len(ops)
        assert set(spans) <= places
        nested(ops)


def test_places_are_those_of_calls_and_names() -> None:
    source = "def f(x):\n    return (print(x, 'é'), x\n      .y)\n"
    ir = of(source)
    lines = source.encode().split(b"\n")
    texts = []
    for operation, (line, column, end, end_column) in zip(body_of(ir, 1).ops, spans_of(ir, 1), strict=True):
        text = b"\n".join(lines[line - 1 : end])
        texts.append((op.NAMES[operation[0]], text[column : len(text) - len(lines[end - 1]) + end_column].decode()))
    assert texts == [
        ("LOAD", "print"),
        ("LOAD", "x"),
        ("CONST", "'é'"),
        ("CALL", "print(x, 'é')"),
        ("LOAD", "x"),
        ("ATTR", "x\n      .y"),
        ("TUPLE", "(print(x, 'é'), x\n      .y)"),
        ("RETURN", "return (print(x, 'é'), x\n      .y)"),
    ]
    assert ir.functions[1].line == 1


def operands(operation: tuple[int, ...]) -> Iterator[int]:
    """The values that an op takes, of those codes that have nothing else."""
    if operation[0] in {
        op.LIST,
        op.TUPLE,
        op.SET,
        op.DICT,
        op.TEXT,
        op.SLICE,
        op.STAR,
        op.AWAIT,
        op.YIELD,
        op.ITEM,
        op.RETURN,
    }:
        yield from operation[1:]


def test_an_op_takes_only_what_is_before_it() -> None:
    for path in FILES[::7]:
        for ops in all_ops(of(path.read_bytes())):
            for number, operation in enumerate(ops):
                assert all(value < number for value in operands(operation))
                assert operation[0] in op.NAMES


# -- what it depends on -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("change", [commented, laid_out, documented])
def test_comments_layout_and_docstrings_change_nothing(change: Transformation) -> None:
    for path in FILES[::40]:
        text = path.read_text(encoding="utf-8")
        assert meaning(of(change(text))) == meaning(of(text)), path


def test_names_of_variables_change_nothing_else() -> None:
    for path in FILES[::12]:
        text = path.read_text(encoding="utf-8")
        before, after = of(text), of(renamed(text))
        assert all_ops(before) == all_ops(after), path
        assert before.constants == after.constants
        assert [header.parameters for header in before.functions] == [header.parameters for header in after.functions]


def test_a_function_that_moves_is_the_same() -> None:
    source = "x = 1\ndef f(a, b=x):\n    return [y for y in a if y.z(b)]\nclass A(f):\n    def m(self): return self.n\n"
    before, after = of(source), of(source.replace("def f", "\n\n# f\n\ndef f"))
    assert before.bodies == after.bodies
    assert [header.line for header in before.functions] == [1, 2, 4, 5]
    assert [header.line for header in after.functions] == [1, 6, 8, 9]
    assert before.spans != after.spans


# -- how deep, how large ------------------------------------------------------------------------------------------------------

DEEPLY: dict[str, Callable[[int], str]] = {
    "sum": lambda n: "+".join(["a"] * n),
    "sum of sums": lambda n: "(" * min(n, 90) + "a" + "+a)" * min(n, 90),
    "right": lambda n: "a**" * n + "a",
    "calls": lambda n: "x" + ".a().b(1)" * n,
    "items": lambda n: "x" + "[0]" * n,
    "attributes": lambda n: "x" + ".y" * n,
    "not": lambda n: "not " * n + "x",
    "minus": lambda n: "-" * n + "x",
    "else": lambda n: "a if b else " * n + "c",
    "and": lambda n: " and ".join(["a"] * n),
    "lambdas": lambda n: "lambda: " * n + "x",
    "compared": lambda n: " < ".join(["a"] * n),
    "lists": lambda n: "[" * min(n, 90) + "]" * min(n, 90),
    "calls inside": lambda n: "f(" * min(n, 90) + ")" * min(n, 90),
    "walrus and lists": lambda n: "[x for x in " * min(n, 60) + "y" + "]" * min(n, 60),
    "texts": lambda n: "'a' " * n,
    "elif": lambda n: "if a: b\n" + "elif a: b\n" * n,
    "functions": lambda n: "".join(f"{' ' * depth}def f{depth}(x):\n" for depth in range(90)) + " " * 90 + "return x",
}


def parsed_however_deep(source: str) -> ast.Module:
    return at_any_depth(lambda: ast.parse(source))


def deepest(kind: str) -> int:
    """How deep Python itself parses it, up to 3,000."""
    depth = DEEP
    while depth > 10:
        try:
            parsed_however_deep(DEEPLY[kind](depth))
        except (RecursionError, MemoryError, SyntaxError):
            depth //= 2
        else:
            return depth
    raise AssertionError(kind)


@pytest.mark.parametrize("kind", DEEPLY)
def test_a_deep_expression(kind: str) -> None:
    """Twice as deep is twice as much."""
    counts = []
    depth = deepest(kind)
    for part in (depth // 2, depth):
        ir = lower(parsed_however_deep(DEEPLY[kind](part)))
        counts.append(sum(map(len, all_ops(ir))))
        assert decode(encode(ir)) == ir
        for ops in all_ops(ir):
            nested(ops)
    assert counts[1] <= 2 * counts[0] + 10


def test_python_s_limit_is_what_it_was() -> None:
    limit = sys.getrecursionlimit()
    lower(parsed_however_deep("-" * DEEP + "x"))
    assert sys.getrecursionlimit() == limit

    def deeper(depth: int) -> int:
        return depth if depth == 0 else deeper(depth - 1)

    assert at_any_depth(lambda: deeper(20_000)) == 0
    with pytest.raises(ValueError):
        at_any_depth(lambda: int("x"))
    with pytest.raises(RecursionError):
        at_any_depth(lambda: deeper(10**9) if sys.version_info >= (3, 11) else deeper(sys.getrecursionlimit() * 300))


def test_ten_thousand_times_elif() -> None:
    """Python's parser takes some thousands; notebooks and generators of trees know no limit."""
    tree = ast.parse("if a: b\n")
    innermost = tree.body[0]
    for _ in range(10_000):
        inner = ast.parse("if a: b\n").body[0]
        assert isinstance(innermost, ast.If)
        innermost.orelse, innermost = [inner], inner
    ir = lower(tree)
    assert [operation[0] for operation in body_of(ir, 0).ops].count(op.END) == 10_001


def test_a_large_module() -> None:
    """50,000 lines, and 5 MB: so many ops a line."""
    part = "def f{0}(x, y=1):\n    z = x.call(y, key='{0}')\n    return [a for a in z if a]\nv{0} = f{0}([{0}, {0}], y=None)\n"
    small, large = (of("".join(part.format(number) for number in range(count))) for count in (1_250, 12_500))
    assert sum(map(len, all_ops(large))) == 10 * sum(map(len, all_ops(small)))
    assert len(encode(large)) < 12 * len(encode(small))
    table = of("TABLE = [" + f"('{'a' * 100}', 1.5, {{'b': 2}}),\n" * 41_000 + "]")
    assert sum(map(len, all_ops(table))) == 41_000 * 6 + 2
    assert len(table.constants) == 4


# -- what is kept -------------------------------------------------------------------------------------------------------------


def test_what_is_kept_is_what_was_lowered() -> None:
    for path in FILES[::11]:
        ir = of(path.read_bytes())
        again = decode(encode(ir))
        assert again == ir
        assert meaning(again) == meaning(ir)
        assert [[*spans_of(again, number)] for number in range(len(again.functions))] == [
            [*spans_of(ir, number)] for number in range(len(ir.functions))
        ]
    for text in ("", "'only text'", "pass"):
        assert decode(encode(of(text))) == of(text)
        assert not spans_of(of(text), 0)


def test_constants_of_every_kind() -> None:
    source = (
        "x = [0, 0.0, -0.0, False, 0j, -0j, '', b'', None, ..., True, 1, 1.0, 2**64, 18446744073709551616, -9223372036854775808,"
        " 0x" + "f" * 8000 + ", 1e999, 1e-320, '\\ud800', 'é\\0', b'\\xff', 1.5e300j, '''a\nb''']"
    )
    ir = of(source)
    again = decode(encode(ir))
    assert [*map(kind, again.constants)] == [*map(kind, ir.constants)]
    kinds = {kind(node.value) for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant)}
    assert set(map(kind, ir.constants)) >= kinds - {kind(2**63)}


def kind(value: object) -> tuple[type, str]:
    return type(value), hex(value) if isinstance(value, int) else repr(value)


def test_what_is_damaged_is_told() -> None:
    data = encode(of("x = f(1)"))
    for end in range(len(data)):
        with pytest.raises(msgspec.DecodeError):
            decode(data[:end])


def test_a_file_s_imports_exports_and_classes() -> None:
    ir = of(
        """
import os.path, numpy as np
from . import sibling
from ..package.module import name as other, second
try: import triton
except ImportError: triton = None
from star import *
def function(): from inside import late
async def coroutine(): pass
class Base(np.random.Generator, make(), metaclass=M):
    def __init__(self): global assigned; assigned = 1
    @property
    def p(self): pass
    @p.setter
    def p(self, value): pass
    alias = p
    class Inner(Base): pass
value = [x for x in y]
twice = 1
twice += 1
gone = 1
del gone
for loop, in z: (walrus := loop)
declared: int
"""
    )
    strings = ir.strings
    assert [
        (
            i.function,
            strings[i.module],
            i.level,
            i.member if i.member < 0 else strings[i.member],
            i.name if i.name < 0 else strings[i.name],
        )
        for i in ir.imports
    ] == [
        (0, "os.path", 0, -1, "os"),
        (0, "numpy", 0, -1, "np"),
        (0, "", 1, "sibling", "sibling"),
        (0, "package.module", 2, "name", "other"),
        (0, "package.module", 2, "second", "second"),
        (0, "triton", 0, -1, "triton"),
        (0, "star", 0, "*", -1),
        (1, "inside", 0, "late", "late"),
    ]
    assert {strings[export.name]: (export.kind, export.number) for export in ir.exports} == {
        "os": (OF_IMPORT, 0),
        "np": (OF_IMPORT, 1),
        "sibling": (OF_IMPORT, 2),
        "other": (OF_IMPORT, 3),
        "second": (OF_IMPORT, 4),
        "triton": (SEVERAL, -1),
        "function": (OF_FUNCTION, 1),
        "coroutine": (OF_FUNCTION, 2),
        "Base": (OF_CLASS, 3),
        "value": (OF_VALUE, -1),
        "twice": (SEVERAL, -1),
        "gone": (SEVERAL, -1),
        "loop": (OF_VALUE, -1),
        "walrus": (OF_VALUE, -1),
        "declared": (SEVERAL, -1),
        "assigned": (SEVERAL, -1),
    }
    first, inner = ir.classes
    assert [row if row < 0 else strings[row] for row in first.bases] == ["np.random.Generator", -1]
    assert [strings[name] for name, _ in first.methods] == ["__init__", "p", "p"]
    assert [strings[ir.functions[number].name] for _, number in first.methods] == ["__init__", "p", "p"]
    assert (strings[ir.functions[inner.function].name], ir.functions[inner.function].parent) == (
        "Inner",
        first.function,
    )
