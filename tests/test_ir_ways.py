"""What is said of the ways through a function: exactly, of small ones; and of large ones without more work than they have ops."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable
from itertools import pairwise

import pytest

from detlint.ir import exits
from detlint.ir import flow as flows
from detlint.ir import ops as op
from detlint.ir.code import Code, Function
from detlint.ir.exits import BEFORE, MOST, UNTOLD
from detlint.ir.lower import lower


def code_of(source: str) -> Code:
    return Code(lower(ast.parse(source)))


def said(function: Function, definition: int) -> str:
    """A definition, by its line."""
    if definition < 0:
        return {BEFORE: "before", UNTOLD: "any"}[definition]
    return str(function.spans[definition][0])


def reached_by(source: str) -> list[str]:
    """What reaches each `x` that is read, in order: the lines of the definitions."""
    code = code_of(source)
    function = code.function(min(1, len(code.ir.functions) - 1))
    loads = [at for at, operation in function.each(op.LOAD) if function.text(operation[1]) == "x"]
    reaching = function.flow.reaching
    return [" ".join(sorted(said(function, d) for d in reaching[at])) if at in reaching else "never" for at in loads]


CASES = {
    "in order": ("def f(x):\n x\n x = 1\n x\n del x\n x", ["before", "3", "5"]),
    "if": ("def f(x):\n if c:\n  x = 1\n x", ["3 before"]),
    "if and else": ("def f(x):\n if c:\n  x = 1\n else:\n  x = 2\n x", ["3 5"]),
    "elif": ("def f(x):\n if a:\n  x = 1\n elif b:\n  x = 2\n elif x:\n  x = 3\n x", ["before", "3 5 7 before"]),
    "early return": ("def f(x):\n if c:\n  x = 1\n  return x\n x", ["3", "before"]),
    "both arms leave": ("def f(x):\n if c:\n  return\n else:\n  raise x\n x", ["before", "never"]),
    "test that binds": ("def f(x):\n if (x := g()):\n  x\n elif (x := h()):\n  x\n x", ["2", "4", "2 4"]),
    "one arm that may bind": ("def f():\n a and (x := 1)\n x", ["2 before"]),
    "loop": ("def f(x):\n for i in y:\n  x\n  x = 1\n x", ["4 before", "4 before"]),
    "loop that may bind": ("x = 0\nfor i in y:\n if i:\n  x = 1\n x\nx", ["1 4", "1 4"]),
    "its own name": ("for x in y:\n x\nx", ["1", "1 before"]),
    "loops inside each other": (
        "def f(x):\n for i in y:\n  x\n  for j in y:\n   x\n   x = 1\n   if j: continue\n   x = 2\n  x = 3\n x",
        ["9 before", "6 8 9 before", "9 before"],
    ),
    "break": ("x = 0\nfor i in y:\n x = 1\n if i:\n  x = 2\n  break\n x = 3\nx", ["1 5 7"]),
    "continue": ("x = 0\nfor i in y:\n x\n x = 1\n if i:\n  x = 2\n  continue\n x = 3", ["1 6 8"]),
    "else of a loop": ("x = 0\nfor i in y:\n x = 1\n break\nelse:\n x = 2\nx", ["3 6"]),
    "else of a while": ("x = 0\nwhile x:\n x = 1\n if y: break\nelse:\n x\n x = 2\nx", ["1 3", "1 3", "3 7"]),
    "while that goes on": ("x = 0\nwhile True:\n x = 1\n if y:\n  break\n x = 2\nx", ["3"]),
    "while without end": ("while 1:\n x\n x = 1\nx", ["3 before", "never"]),
    "while that never begins": ("x = 0\nwhile 0:\n x = 1\n x\nx", ["never", "1"]),
    "constant tests": ("x = 0\nif 0:\n x = 1\nelif True:\n x = 2\nelse:\n x = 3\nx", ["5"]),
    "constant in a value": ("x = 0\n0 and (x := 1)\n1 or (x := 2)\n1 and (x := 3)\nx", ["4"]),
    "try": ("x = 0\ntry:\n x = 1\n x = 2\nexcept E:\n x\nx", ["1 3 4", "1 3 4"]),
    "else of a try": ("x = 0\ntry:\n x = 1\nexcept E:\n x = 2\nelse:\n x\n x = 3\nx", ["3", "5 8"]),
    "handler that leaves": ("def f(x):\n try:\n  x = 1\n except E:\n  return\n x", ["3"]),
    "exception": ("try: y\nexcept E as x:\n x\nx", ["2", "2 before"]),
    "exception and break": ("x = 0\nwhile c:\n try: y\n except E as x:\n  break\n x\nx", ["1", "1 4"]),
    "finally": ("x = 0\ntry:\n x = 1\nfinally:\n x\nx", ["1 3", "3"]),
    "finally that binds": ("x = 0\ntry:\n x = 1\nexcept E:\n x = 2\nfinally:\n x = 3\nx", ["7"]),
    "finally behind break": ("for i in y:\n try:\n  x = 1\n  break\n finally:\n  x = 2\nelse:\n x = 3\nx", ["6 8"]),
    "finally behind continue": ("x = 0\nfor i in y:\n x\n try: continue\n finally: x = 1", ["1 5"]),
    "finally that leaves": ("def f(x):\n try: y\n finally: return\n x", ["never"]),
    "finally that breaks": ("while 1:\n try: return_()\n finally:\n  x = 1\n  break\nx", ["4"]),
    "with": ("x = 0\nwith y as x:\n x\n x = 1\nx", ["2", "4"]),
    "with that leaves": ("def f(x):\n if c:\n  with y:\n   return 1\n x", ["before"]),
    "with that holds exceptions": ("x = 0\nwith y:\n x = 1\n raise E\nx", ["1 3"]),
    "match": (
        "x = 0\nmatch y:\n case 1: x = 1\n case [x] if x: pass\n case {'a': x}: x\n case _: x = 2\nx",
        ["4", "5", "1 3 4 5 6"],
    ),
    "match without default": ("x = 0\nmatch y:\n case 1: x = 1\nx", ["1 3"]),
    "comprehension": ("x = 0\n[x for x in [x] if x]\nx", ["1", "2", "2", "1"]),
    "walrus in a comprehension": ("x = 0\n[(x := i) for i in y]\nx", ["1 2"]),
    "generator at once": ("x = 0\nany(x for i in y)\nx = 1", ["1"]),
    "generator kept": ("x = 0\ng = (x for i in y)\nx = 1\nx", ["1 3", "3"]),
    "generator in a loop": ("for i in z:\n x = 0\n g.append(x for i in y)\n x = 1", ["2 4"]),
    "generator that binds": ("x = 0\ng = ((x := i) for i in y)\nx = 1\nlist(g)\nx", ["2 3"]),
    "star": ("x = 0\nfrom y import *\nx", ["1 2"]),
    "nonlocal": ("def f(x):\n x = 1\n def g():\n  nonlocal x\n  x = 2\n g()\n x", ["2 any"]),
    "global": ("x = 1\nx\ndef g():\n global x\n x = 2", []),
    "assertion": ("def f(x):\n assert x, (x := 1)\n x", ["before", "before"]),
    "annotation": ("def f(x):\n x: int\n x\n x: int = 3\n x", ["before", "4"]),
    "definitions": ("def x(): pass\nclass A: x\nimport x\nx", []),
}


@pytest.mark.parametrize("name", CASES)
def test_definitions_that_reach(name: str) -> None:
    source, expected = CASES[name]
    assert reached_by(source) == expected


def test_a_global_may_be_bound_by_functions() -> None:
    module = code_of("x = 1\nx\ny = 1\ny\ndef g():\n global x\n x = 2").module
    found = {module.text(part[1]): module.flow.reaching[at] for at, part in module.each(op.LOAD)}
    assert {name: UNTOLD in definitions for name, definitions in found.items()} == {"x": True, "y": False}
    loads = {module.text(part[1]): at for at, part in module.each(op.LOAD)}
    assert module.stored(loads["x"]) is None and module.constant(module.meant(loads["y"])) == 1


def test_a_parameter_that_a_function_inside_binds_is_no_parameter_for_sure() -> None:
    function = code_of("def f(x, y):\n def g():\n  nonlocal x\n  x = 2\n return x, y").function(1)
    assert [function.parameter(at) for at, _ in function.each(op.LOAD)] == [-1, 1]


def guarded_by(source: str) -> list[str]:
    """The tests that were passed on the way to each call of `here`, the outermost first, as Python would write them."""
    code = code_of(source)
    function = code.function(len(code.ir.functions) - 1)
    lines = [line.encode() for line in source.split("\n")]
    found = []
    for at, _ in function.each(op.CALL):
        if function.dotted(function.call(at).callee) == "here":
            tests = []
            for guard in function.guards(at):
                row, column, _, end = function.spans[guard.test]
                tests.append(("" if guard.holds else "not ") + lines[row - 1][column:end].decode())
            found.append(", ".join(reversed(tests)))
    return found


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("if a:\n here()\nelif b:\n here()\nelse:\n here()\nhere()", ["a", "not a, b", "not a, not b", ""]),
        ("def f():\n if a: return\n here()\n if b: pass\n else: raise E\n here()", ["not a", "not a, b"]),
        ("def f():\n if a: return\n elif b: return\n here()", ["not a, not b"]),
        ("def f():\n if a: return\n elif b: pass\n else: return\n here()", ["not a, b"]),
        ("def f():\n if a: pass\n elif b: return\n else: return\n here()", ["a"]),
        ("def f():\n if a:\n  pass\n else:\n  if b: return\n  here()\n  if c: return\n  elif d: here()\n  here()",
         ["not a, not b", "not a, not b, not c, d", "not a, not b, not c"]),
        ("while a:\n here()\n if b: break\n here()\nelse:\n here()\nhere()", ["a", "a, not b", "", ""]),
        ("for i in a:\n if b: continue\n here()\nhere()", ["not b", ""]),
        ("a and here()\na or here()\nhere() if a else here()", ["a", "not a", "a", "not a"]),
        ("a and b and here()\na or b or here()", ["a and b and here()", "not a or b or here()"]),
        ("[here() for i in a if b]\nhere()", ["b", ""]),
        ("try:\n if a: raise E\n here()\nexcept E:\n here()\nhere()", ["not a", "", ""]),
        ("def f():\n assert a\n here()", ["a"]),
        ("if a:\n with b: here()\n for i in c: here()\n try: pass\n finally: here()", ["a", "a", "a"]),
    ],
)  # fmt: skip
def test_tests_on_the_way(source: str, expected: list[str]) -> None:
    assert guarded_by(source) == expected


@pytest.mark.parametrize(
    ("source", "never"),
    [
        ("return\nhere", [2]),
        ("if 0: here\nelse: there", [1]),
        ("while 1:\n  if a: break\nelse:\n  here\nthere", [4]),
        ("while 1: a\nhere", [2]),
        ("try: return a\nexcept E: here\nelse: there\nfinally: then", [3]),
        ("for i in a:\n  break\n  here\nelse: there", [3]),
        ("a if 1 else here", []),
        ("match a:\n  case b: return\nhere", [3]),
        ("with a: return\nhere", []),
        ("def g(): here\nreturn\nthere", [3]),
    ],
)
def test_lines_that_are_never_come_to(source: str, never: list[int]) -> None:
    function = code_of("def f():\n" + re.sub("(?m)^", " ", source)).function(1)
    lines = {at: function.spans[at][0] - 1 for at, _ in function.each(op.LOAD)}
    reached = {line for at, line in lines.items() if function.flow.reached[at]}
    assert sorted(set(lines.values()) - reached) == never


# -- large ones ---------------------------------------------------------------------------------------------------------------


class Counted(tuple[tuple[int, ...], ...]):
    """Ops that count how often they are looked at."""

    looked = 0

    def __getitem__(self, at: int) -> tuple[int, ...]:  # type: ignore[override]
        Counted.looked += 1
        return super().__getitem__(at)


def elifs(count: int, name: Callable[[int], str]) -> str:
    return "if c: pass\n" + "".join(f"elif c == {n}: {name(n)} = {n}\n" for n in range(count)) + "x"


LARGE: dict[str, Callable[[int], str]] = {
    "elif": lambda n: elifs(n, lambda number: "x"),
    "elif of many names": lambda n: elifs(n, lambda number: f"x{number}"),
    "one after another": lambda n: "".join(f"if c: x{m} = x\n" for m in range(n)),
    "the same again": lambda n: "x = 0\n" + "if c: x += 1\n" * n,
    "states of a loop": lambda n: "while c:\n" + "".join(f"  if c == {m}:\n    x{m} = x\n    continue\n" for m in range(n)),
    "breaks": lambda n: "for i in y:\n" + "".join(f"  x{m} = x\n  if c == {m}: break\n" for m in range(n)) + "x",
    "rounds": lambda n: "while c:\n" + "".join(f"  if c == {m}:\n    x{m % 9} = x\n    continue\n  x{m} = {m}\n" for m in range(n)),
    "breaks in loops": lambda n: "while c:\n" + "".join(f"  x{m} = x\n  for x in y:\n    if x: break\n  if x: break\n" for m in range(n)),
    "breaks in tries": lambda n: (
        "for i in y:\n" + "".join(f"  try:\n    x{m} = x\n    if c == {m}: break\n  finally:\n    z = {m}\n" for m in range(n))
    ),
    "returns": lambda n: "while c:\n" + "".join(f"  x{m} = x\n  if c == {m}: raise x\n" for m in range(n)),
    "tries": lambda n: "".join(f"try: x{m} = x\nexcept E: x{m} = 2\nfinally: x\n" for m in range(n)),
    "plain": lambda n: "x = 1\n" * n + "x\n" * n,
    "values": lambda n: "y = " + " or ".join(["x"] * n) + "\nz = " + "a if x else " * (n // 10) + "x",
    "cases": lambda n: "match y:\n" + "".join(f"  case {m}: x = {m}\n" for m in range(n)) + "x",
}  # fmt: skip


def work(source: str, monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    """How many ops there are, and how many steps are taken over them: ops that are looked at, and changes of the state that are joined."""
    ir = code_of(source)
    steps = Counter[str]()
    put, since = flows._Pass.put, flows._Pass.since

    take = exits.Way.take

    def counted_take(self: exits.Way, now: exits.State, trail: exits.Trail) -> None:
        steps["take"] += 1 + len(trail) - self._upto + len(self._back)
        take(self, now, trail)

    def counted_put(self: flows._Pass, slot: int, definitions: exits.Definitions) -> None:
        steps["put"] += 1 + len(definitions) // 8
        put(self, slot, definitions)

    def counted_since(self: flows._Pass, mark: int) -> exits.State:
        steps["since"] += len(self.trail) - mark
        return since(self, mark)

    monkeypatch.setattr(exits.Way, "take", counted_take)
    monkeypatch.setattr(flows._Pass, "put", counted_put)
    monkeypatch.setattr(flows._Pass, "since", counted_since)
    Counted.looked = 0
    ops = Counted(ir.module.ops)
    flows.flow(ops, ir.constants)
    monkeypatch.undo()
    return len(ops), Counted.looked + steps.total()


@pytest.mark.parametrize("name", LARGE)
def test_work_grows_as_the_file_does(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    count, steps = work(LARGE[name](300), monkeypatch)
    more, more_steps = work(LARGE[name](1500), monkeypatch)
    assert more > 4 * count
    assert more_steps < 1.5 * more / count * steps
    assert more_steps < 30 * more


def nested_blocks(depth: int) -> str:
    """As deep as Python's parser allows, which counts how far lines stand to the right; and deeper than that in one line."""
    lines = []
    for number in range(depth):
        head = ["if x:", "for i in x:", "while x:", "with x as x:", "try:"][number % 5]
        lines.append(" " * number + head)
    lines.append(" " * depth + "x = [x " + "for x in x if x " * 300 + "]")
    for number in reversed(range(depth)):
        if number % 5 == 4:
            lines += [" " * number + "except x:", " " * number + " x = 1"]
    return "\n".join([*lines, "x"])


def test_blocks_of_any_depth() -> None:
    """Each round of a loop is looked at once more for each loop around it."""
    module = code_of(nested_blocks(90)).module
    last = max(at for at, _ in module.each(op.LOAD))
    assert module.flow.reached[last] and len(module.flow.reaching[last]) > 30
    assert max(len([*module.guards(at)]) for at, _ in module.each(op.LOAD)) > 300


def test_elifs_without_end() -> None:
    """More than Python's parser takes."""
    tree = ast.parse("if c: x = 1\nx")
    *_, last_arm = arms = [ast.parse("if c: x = 1").body[0] for _ in range(10_000)]
    assert isinstance(tree.body[0], ast.If) and isinstance(last_arm, ast.If)
    for outer, inner in pairwise([tree.body[0], *arms]):
        assert isinstance(outer, ast.If)
        outer.orelse = [inner]
    module = Code(lower(tree)).module
    for arm in arms:
        arm.orelse = []  # type: ignore[attr-defined]  # or it is freed as deep as it is
    last = max(at for at, _ in module.each(op.LOAD))
    assert module.flow.reaching[last] == {UNTOLD}
    assert sum(1 for _ in module.guards(last)) == 0
    deepest = max(at for at, _ in module.each(op.STORE))
    assert sum(not guard.holds for guard in module.guards(deepest)) == 10_000


def test_so_many_definitions_are_told_apart() -> None:
    for count, told in ((MOST - 1, True), (MOST, False)):
        module = code_of("x = 0\n" + "if c: x = 1\n" * count + "x").module
        last = max(at for at, _ in module.each(op.LOAD))
        assert (UNTOLD not in module.flow.reaching[last]) is told
        assert (module.stored(last) is not None) is told
        assert all(last in module.loads.get(at) for at, _ in module.each(op.STORE))
        assert (last in module.loads.get(BEFORE)) is not told


def test_users_are_told_in_one_go() -> None:
    module = code_of("y = [" + "f(x), " * 12_000 + "]\n").module
    assert len(module.ops) > 36_000
    assert sum(map(len, module.users)) == 3 * 12_000 + 1
