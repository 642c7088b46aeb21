"""What the model says of one file: the tests on the way to a place, what they come to, what is set once, what nobody uses."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from detlint.domains.constant.evaluator import Evaluator
from detlint.ir import ops as op
from detlint.ir.alone import in_ir
from detlint.ir.code import Code, Function
from detlint.ir.lower import lower
from detlint.ir.places import Place
from detlint.ir.written import written
from detlint.model.flow import is_replaced
from detlint.model.kept import always_set_to, only_setter, set_once
from detlint.model.sites.records import Const
from detlint.model.unused import Unused, Worth, reads_any_name


def code_of(text: str) -> Code:
    return Code(lower(ast.parse(dedent(text))))


def call_of(code: Code, name: str) -> Place:
    """The only call of something of that name."""
    found = [(f, at) for f in code.functions() for at, o in f.each(op.CALL) if f.dotted(o[1]) == name]
    assert len(found) == 1
    return Place(*found[0])


@pytest.mark.parametrize(
    ("body", "asked"),
    [
        ("if a: x()", ["a"]),
        ("if a:\n    return\nx()", ["not a"]),
        ("if a:\n    pass\nelse:\n    x()", ["not a"]),
        ("while a:\n    if b: continue\n    x()", ["not b", "a"]),
        ("x() if a else b", ["a"]),
        ("a and (b or x())", ["not b", "a"]),
        ("assert a > 1\nx()", ["a > 1"]),
        ("[x() for i in b if i]", ["i"]),
        ("if a:\n    f = lambda: x() if b else 0", ["b", "a"]),
        ("if a:\n    raise ValueError\nelse:\n    b = 1\nx()", ["not a"]),
        ("if a: b = 1\nx()", []),
    ],
)
def test_tests_on_the_way(body: str, asked: list[str]) -> None:
    code = code_of("def f(a, b):\n" + "".join(f"    {line}\n" for line in body.split("\n")))
    tests = call_of(code, "x").tests()
    assert [("" if test.wanted else "not ") + written(test.function, test.value) for test in tests] == asked


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("a", True),
        ("not a", False),
        ("a and b", None),
        ("a or b", True),
        ("b or not a", None),
        ("a == 2", True),
        ("1 < a <= 2", True),
        ("1 < a < 2", False),
        ("a in (2, b)", True),
        ("a not in (1, 3)", True),
        ("a in b", None),
        ("a - 2", False),
        ("a is None", False),
        ("-1 < a", True),
        ("0.5 * a == 1.0", True),
        ("'x' < a", None),
        ("min(8, a) == 2", True),
        ("max(a, b) > 1", None),
        ("len((a, b)) == 2", True),
        ("(1, a)[1] == 2", True),
        ("(a if b else 3) > 1", True),
        ("(a if b else 1) > 1", None),
        ("(b and 0) or a", True),
        ("not (b and not a)", True),
        ("int(a / 2) * [1] == b", None),
        ("a // 0", None),
        ("str(a) == '2'", True),
    ],
)
def test_what_a_test_comes_to(text: str, holds: bool | None) -> None:
    found = in_ir(text)
    assert found is not None
    assert Evaluator(lambda f, at: Const(2) if f.dotted(at) == "a" else None).of(*found) is holds


def test_names_are_what_they_were_bound_to() -> None:
    point = call_of(code_of("def f(a):\n    wide = a > 1\n    if wide:\n        x()"), "x")
    (test,) = point.tests()

    def leaf(function: Function, at: int) -> Const | None:
        return Const(3) if function.given(at) == (function, 0) else None

    assert Evaluator(leaf).of(test.function, test.value) is True


@pytest.mark.parametrize(
    ("body", "given"),
    [
        ("x(a)", True),
        ("a = 1\n    x(a)", False),
        ("g = lambda: x(a)", True),
        ("g = lambda: x(a)\n    a = 1", False),
        ("def g():\n        nonlocal a\n        a = 1\n    x(a)", False),
        ("for a in b: pass\n    x(a)", False),
    ],
)
def test_parameters(body: str, given: bool) -> None:
    function, call = call_of(code_of(f"def f(a, b):\n    {body}"), "x")
    found = function.given(function.call(call).positional[0])
    assert (found is not None and found[0].name == "f" and found[1] == 0) is given


@pytest.mark.parametrize(
    ("more", "only", "once", "always"),
    [
        ("", True, True, True),
        ("    def g(self):\n        self.x = 2", False, False, False),
        ("    def g(self, other):\n        other.x = 2", False, False, False),
        ("class Other:\n    def g(self):\n        self.x = 2", True, True, True),
    ],
)
def test_what_a_class_keeps(more: str, only: bool, once: bool, always: bool) -> None:
    code = code_of(f"class Net:\n    def __init__(self, x):\n        self.x = x\n{more}")
    found = only_setter(code, "Net", "x"), set_once(code, "Net", "x"), always_set_to(code, "Net", "x")
    assert [one is not None for one in found] == [only, once, always]


def test_what_is_set_under_a_test_is_not_always_set() -> None:
    code = code_of("class Net:\n    def __init__(self, x):\n        if x:\n            self.x = x")
    assert set_once(code, "Net", "x") is not None
    assert always_set_to(code, "Net", "x") is None


@pytest.mark.parametrize(
    ("body", "unused"),
    [
        ("y = x()", True),
        ("y = x()\n    z = y * 2", True),
        ("y = x()\n    return y", False),
        ("y = x()\n    y = 1\n    return y", True),
        ("y = x()\n    g = lambda: y", False),
        ("kept = []\n    kept.append(x())", True),
        ("kept = []\n    kept.append(x())\n    return kept", False),
        ("kept = [x() for i in a]", True),
        ("for i in x(): pass", True),
        ("for i in x(): print(i)", False),
        ("self.y = x()", False),
        ("for i in a:\n        if i: print(y)\n        y = x()", False),
        ("y = x() if a else 0", True),
        ("y = x() and print(a)", False),
        ("a += x()", False),
    ],
)
def test_what_nobody_uses(body: str, unused: bool) -> None:
    function, call = call_of(code_of(f"def f(self, a):\n    {body}"), "x")
    assert Unused(function, Worth(fills=("append",))).holds(call) is unused


@pytest.mark.parametrize(
    ("text", "any_name"), [("model.eval()", False), ("eval('a')", True), ("'locals()'", False), ("vars()", True)]
)
def test_names_that_are_not_written_out(text: str, any_name: bool) -> None:
    assert reads_any_name(code_of(f"def f(model):\n    return {text}")) is any_name


@pytest.mark.parametrize(
    ("body", "replaced"),
    [
        ("y = x()\n    if a:\n        y = 1\n    z(y)", True),
        ("y = x()\n    if b:\n        y = 1\n    z(y)", False),
        ("y = x()\n    while a:\n        y = 1\n    z(y)", False),
    ],
)
def test_what_tests_that_hold_replace(body: str, replaced: bool) -> None:
    function, call = call_of(code_of(f"def f(a, b):\n    {body}"), "z")
    store = next(at for at, operation in function.each(op.STORE) if function.text(operation[1]) == "y")

    def holds(test: object) -> bool:
        return function.dotted(test.value) == "a"  # type: ignore[attr-defined]

    assert is_replaced(function, store, function.call(call).positional[0], holds) is replaced


@pytest.mark.parametrize("text", ["a.b[0]", "f(a, *b, c=1)", "a if b else c", "not (a and b)", "(a, 'b')"])
def test_written(text: str) -> None:
    found = in_ir(text)
    assert found is not None
    assert written(*found) == text
