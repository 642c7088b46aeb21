"""What the IR of a file answers: what is only a hint, what is the file's own start, who binds, reads, sets and says a name, and where."""

from __future__ import annotations

import ast
import gc
import io
import keyword
import tokenize
import weakref
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from ir_programs import Maker
from test_ir_meaning import PROGRAMS

from detlint.ir import body, words
from detlint.ir import ops as op
from detlint.ir.code import VALUES, Binding, Code, Function
from detlint.ir.depth import at_any_depth
from detlint.ir.extent import around, canonical, statement
from detlint.ir.lower import lower
from detlint.ir.records import FileIR
from detlint.ir.storage import decode, encode

ROOT = Path(__file__).parent.parent
FILES = sorted((ROOT / "detlint").rglob("*.py"))[::15]


def code_of(source: str) -> Code:
    return Code(lower(ast.parse(source)))


def loads(code: Code, name: str) -> list[tuple[Function, int]]:
    """Where a name is read, in the order of functions."""
    return [(f, at) for f in code.functions() for at, part in f.each(op.LOAD) if f.text(part[1]) == name]


# -- the way to an op ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("if __name__ == '__main__':\n X\nX", [True, False]),
        ("if '__main__' == __name__: X\nelse: X", [True, False]),
        ("if __name__ != '__main__': X\nelse: X", [False, True]),
        ("if not __name__ == '__main__': X\nelse: X", [False, True]),
        ("if __name__ != '__main__': raise ImportError\nX", [True]),
        ("if __name__ == '__main__' and a: X\nelse: X", [True, False]),
        ("if a and b and __name__ == '__main__': X\nif __name__ == '__main__' or a: X", [True, False]),
        ("if __name__ != '__main__' or a: X\nelse: X", [False, True]),
        ("if __name__ == '__main__':\n for i in a:\n  with b:\n   try: X\n   finally: X", [True, True]),
        ("__name__ == '__main__' and X\nX if __name__ == '__main__' else X", [True, True, False]),
        ("if __name__ == '__main__':\n if a: X\n else: X\nelif a: X", [True, True, False]),
        (
            "if __name__ == 'other': X\nif name == '__main__': X\nif __name__: X\nif a.__name__ == '__main__': X",
            [False] * 4,
        ),
        ("while __name__ == '__main__': X", [True]),
    ],
)
def test_what_runs_only_where_the_file_is_started(source: str, expected: list[bool]) -> None:
    assert [function.is_main(at) for function, at in loads(code_of(source), "X")] == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def f(a: X, *b: list[X], c: X = X) -> X | None: pass", [False, True, True, True, True]),
        ("a: X = X()\nb: 'X'", [False, True]),
        (
            "class A:\n a: X\n b: list[X] = X\n def f(self, a: X) -> X: b: X = 1",
            [False, False, False, True, True, True],
        ),
        (
            "isinstance(a, X)\nissubclass(a, (b, X))\nisinstance(a, X | b | None)\nisinstance(a, (b, (c, X)))",
            [True] * 4,
        ),
        ("isinstance(X, a)\nisinstance(X)\nlist(a, X)\nisinstance(a, X())\nb = isinstance(a, X.b)", [False] * 5),
        ("isinstance(a, b or X)\n(a, X)\nX\na | X", [False] * 4),
        ("def isinstance(a, b): b()\nisinstance(a, X)", [False]),
        (
            "match a:\n case X(): pass\n case X(b=1) | [X()]: pass\n case X.b: pass\n case b: X",
            [True, True, True, False, False],
        ),
        ("def f(a=isinstance(b, X), c=X): pass", [True, False]),
        ("try: pass\nexcept X: raise X", [False, False]),
    ],
)
def test_what_only_says_of_which_class_something_is(source: str, expected: list[bool]) -> None:
    assert [function.is_hint(at) for function, at in loads(code_of(source), "X")] == expected


def test_values_of_any_depth() -> None:
    """As deep as what is put together of thousands of parts."""
    deep = " | ".join(["X"] * 3000)
    source = f"def f(a: {deep}): pass\nclass A:\n a: {deep}\nisinstance(a, {deep})\nb = {deep}"
    code = at_any_depth(lambda: code_of(source))
    found = [function.is_hint(at) for function, at in loads(code, "X")[::3000]]
    assert found == [True, True, False, False]
    value = max(at for at, _ in code.module.each(op.BINARY))
    assert sum(1 for _ in code.module.within(value)) == 5999


def test_a_default_is_used_where_its_function_is_made() -> None:
    module = code_of("def f(a, b=X, *, c=1, d=Y): pass\nlambda e, f=Z: e").module
    made = [at for at, _ in module.each(op.FUNCTION)]
    found = {module.text(part[1]): module.users[at] for at, part in module.each(op.LOAD)}
    assert found == {"X": [(made[0], -2)], "Y": [(made[0], -4)], "Z": [(made[1], -2)]}


def test_whose_annotation_it_is() -> None:
    code = code_of("def f(a: X): pass\nclass A:\n def g(self) -> list[X]:\n  def h(*x: X): y: X\nb: X = X()\nX")
    found = [function.annotated(at) for function, at in loads(code, "X")]
    assert [f.qualified if f is not None else None for f in found] == [
        "f",
        None,
        None,
        None,
        "A.g",
        "A.g.<locals>.h",
        None,
    ]


# -- who binds, reads, sets ---------------------------------------------------------------------------------------------------


BINDINGS = """\
x = y = z = 0
def outer(x, p):
    def inner():
        nonlocal x
        x += 1
        global y
        y = x
        return lambda: (x, z)
    class A:
        x = x
        def method(self): return x, y
    [x for x in [x]]
    {k: p for k in range(3) if (w := p)}
    del p
    return x, w
[z for z in [z] if [y for y in [z]]]
"""


def lines(places: object) -> list[str]:
    return sorted(f"{function.qualified}:{function.spans[at][0]}" for function, at in places)  # type: ignore[attr-defined]


def test_who_binds_and_reads_a_variable() -> None:
    code = code_of(BINDINGS)
    outer = code.by_name["outer"][0]
    x, p, w = (outer.slots[name][0] for name in "xpw")
    inner, method = "outer.<locals>.inner", "outer.<locals>.A.method"
    assert lines(code.stores(Binding(1, x))) == [f"{inner}:5"]
    assert lines(code.reads(Binding(1, x))) == [
        "outer.<locals>.A.method:11", f"{inner}.<locals>.<lambda>:8", f"{inner}:5", f"{inner}:7", "outer:12", "outer:15",
    ]  # fmt: skip
    assert lines(code.stores(Binding(1, p))) == ["outer:14"]
    assert lines(code.reads(Binding(1, w))) == ["outer:15"]
    module = code.module
    y, z = (module.slots[name][0] for name in "yz")
    assert lines(code.stores(Binding(0, y))) == [":1", f"{inner}:7"]
    assert lines(code.reads(Binding(0, y))) == [f"{method}:11"]
    assert lines(code.reads(Binding(0, z))) == [":16", f"{inner}.<locals>.<lambda>:8"]
    private = [slot for slot in module.slots["z"] if slot != z]
    assert [lines(code.reads(Binding(0, slot))) for slot in private] == [[":16", ":16"]]
    body = code.by_name["outer.<locals>.A"][0]
    assert {body.binding(slot).owner for slot in body.slots["x"]} == {body.number}


def test_who_sets_an_attribute() -> None:
    code = code_of(
        "import os.path\nself.a = b.a\ndel b.a\nc.b += 1\ndef f(x):\n x.a: int = 3\n x.a: int\n(x.a, y.b), z.c = d\nb.path"
    )
    assert lines(code.setters("a")) == [":2", ":3", ":8", "f:6"]
    assert lines(code.setters("b")) == [":4", ":8"]
    assert lines(code.setters("path")) == lines(code.setters("os")) == lines(code.setters("int")) == []


def test_who_reads_the_same_attribute() -> None:
    code = code_of("""
class Data:
    def load(self, other):
        self.files = []
        other.files = []

    def get(self, other):
        return self.files, other.files, self.files.files
""")
    load = code.by_name["Data.load"][0]
    of_self, of_other = (at for at, _ in load.each(op.SET_ATTR))
    assert [(f.name, f.dotted(at)) for f, at in code.same_attribute(load, of_self)] == [("get", "self.files")] * 2
    assert [(f.name, f.dotted(at)) for f, at in code.same_attribute(load, of_other)] == [("get", "other.files")]


@pytest.mark.parametrize(
    ("call", "bound", "expected"),
    [
        ("f(X)", 0, ["a"]),
        ("f(0, X)", 0, ["b"]),
        ("f(0, X)", 1, ["c"]),
        ("f(0, c=X)", 0, ["c"]),
        ("f(X, c=X)", 0, ["a"]),  # each time that it is read it is another value
        ("f(*X)", 0, []),
        ("f(*rest, X)", 0, []),
        ("f(0, 0, 0, X)", 0, []),
        ("f(other=X)", 0, []),
        ("f(0)", 0, []),
    ],
)
def test_which_parameters_a_value_is_handed_to(call: str, bound: int, expected: list[str]) -> None:
    code = code_of(f"def f(a, b, c): pass\nX\n{call}")
    top, takes = code.module, code.by_name["f"][0]
    at = next(at for at, _ in top.each(op.CALL))
    value = loads(code, "X")[1][1] if call.count("X") else -1
    assert [takes.text(slot) for slot in takes.taking(top, at, value, bound)] == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("[X for a in b]", "list"),
        ("{X for a in b}", "set"),
        ("{X: 0 for a in b}", "dict"),
        ("[a for a in b for X in c]", ""),
        ("for a in b: X", ""),
    ],
)
def test_what_a_comprehension_gathers(source: str, expected: str) -> None:
    top = code_of(source).module
    gives = [use.op for at, part in top.each(op.LOAD) if top.text(part[1]) == "X" for use in top.users[at]]
    made = [top.collected(at) for at in gives]
    assert [top.strings[top.ops[at][1]] for at in made if at >= 0] == ([expected] if expected else [])


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a, b = 1, 2", [1, 2]),
        ("a, (b, c) = 1, (2, 3)", [1, 2, 3]),
        ("[a, b] = [1, 2]", [1, 2]),
        ("a, b = 1, *c", [None, None]),
        ("a, *b = 1, 2, 3", [None, None]),
        ("a, b = c", [None, None]),
    ],
)
def test_what_is_taken_out_of_a_display(source: str, expected: list[int | None]) -> None:
    top = code_of(source).module
    found = [top.constant(top.element(operation[2])) for _, operation in top.each(op.STORE)]
    assert [value if isinstance(value, int) else None for value in found] == expected


def test_functions_by_name() -> None:
    source = (
        "def f():\n def g(): pass\n class A:\n  def g(self): pass\n g = lambda: 0\ndef f(): pass\n"
        "class A:\n class B:\n  def f(self): pass\n def f(self): pass\n def f(self, x): pass"
    )
    by_name = code_of(source).by_name
    assert {name: [f.header.line for f in found] for name, found in by_name.items()} == {
        "": [1],
        "f": [1, 6],
        "A": [7],
        "f.<locals>.g": [2],
        "f.<locals>.A": [3],
        "f.<locals>.A.g": [4],
        "f.<locals>.<lambda>": [5],
        "A.B": [8],
        "A.f": [10, 11],
        "A.B.f": [9],
    }
    code = code_of(source)
    assert {f.qualified: f.outermost.name for f in code.functions()}["f.<locals>.A.g"] == "f"
    for function in code.functions():
        names = [inner.qualified for inner in code.inside(function.number)]
        assert names[0] == function.qualified
        assert all(name.startswith(f"{function.qualified}.") for name in names[1:]) or not function.number


SKELETON = "import os\n\nclass A(os.B):\n    def f(self, x=1):\n        return self.g(x)\n\n    g = f\n\ndef h():\n    return A().f()\n"


def test_exports_and_classes_are_known_without_bodies(monkeypatch: pytest.MonkeyPatch) -> None:
    decoded: list[int] = []

    def noting(read: Callable[[FileIR, int], object]) -> Callable[[FileIR, int], object]:
        return lambda ir, number: (decoded.append(number), read(ir, number))[1]  # type: ignore[func-returns-value]

    for ask in ("body_of", "spans_of"):
        monkeypatch.setattr(body, ask, noting(getattr(body, ask)))
    code = Code(decode(encode(lower(ast.parse(SKELETON)))))
    assert [code.strings[export.name] for export in code.ir.exports] == ["os", "A", "h"]
    assert [code.strings[base] for found in code.ir.classes for base in found.bases] == ["os.B"]
    assert [code.strings[name] for found in code.ir.classes for name, _ in found.methods] == ["f"]
    assert {"A.f", "A", "h"} <= code.by_name.keys()
    assert [f.parent.name for f in code.functions() if f.parent is not None] == ["", "", "A"]
    assert [len(f.header.parameters) for f in code.functions()] == [0, 0, 0, 2]
    assert code.children == {-1: [0], 0: [1, 2], 1: [3]}
    assert {"B", "g", "self"} <= code.identifiers
    assert not decoded
    (asked,) = code.by_name["A.f"]
    assert asked.called(asked.ops[-1][1]) == "g" and asked.spans and decoded == [3, 3]


def test_nothing_is_kept_of_a_file_that_nobody_has() -> None:
    collects = gc.isenabled()
    gc.disable()
    try:
        code = code_of(SKELETON)
        inner = code.by_name["A.f"][0]
        assert all(f.flow and f.users and f.qualified and f.decorators is not None for f in [*code.functions()][1:])
        assert [*code.inside(0)] and code.setters("a") and code.mentions and code.at((1, 0, 1, 9)) is None
        gone = weakref.ref(code)
        del code
        assert gone() is None
        assert inner.outermost.name == "A" and inner.code.module.text(0) == "os"  # as far as somebody asks, it is there
        assert inner.code is inner.code
    finally:
        if collects:
            gc.enable()


def test_what_definitions_bind() -> None:
    code = code_of(
        "def f(): pass\nclass A: pass\ng = lambda: 0\nimport h\nif f:\n def i(): pass\ndef j():\n def k(): pass\nl = f"
    )
    assert {code.module.text(binding.slot) for binding in code.defined} == {"f", "A", "g", "i", "j"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_an_op_is_found_by_its_place(path: Path) -> None:
    code = Code(lower(ast.parse(path.read_bytes())))
    for function in [*code.functions()][::9]:
        for at in range(0, len(function.ops), 11):
            kind = function.ops[at][0]
            if kind in VALUES:
                found = code.at(function.spans[at], kind)
                assert found is not None
                assert found[0].spans[found[1]] == function.spans[at] and found[0].ops[found[1]][0] == kind
    assert code.at((1, 0, 1, 1000), *VALUES) is None


# -- names --------------------------------------------------------------------------------------------------------------------


def names_in(source: str) -> Counter[str]:
    """How often each name is written, as Python cuts its source; but in what declares them."""
    found = Counter[str]()
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    declares = False
    for token in tokens:
        if token.type == tokenize.NAME and token.string in ("global", "nonlocal"):
            declares = True
        elif token.type in (tokenize.NEWLINE, tokenize.OP) and token.string != ",":
            declares = False
        elif token.type == tokenize.NAME and not declares and not keyword.iskeyword(token.string):
            found[token.string] += 1
    return found


MENTIONED = """\
import os, a.b, c.d as e
from f import g, h as i
from . import j
from ..k.l import *
x: int = 3
x: int
y.z: w = u
y.z: w
y[x]: w
y.v += 1
y[0].q += y.q
x += 1
x = 5
del y.z, x
try: pass
except E as error: error
except F as other: pass
except (E, F): del y
else: y
finally: z
def f(p, /, q=1, *r: s, t, **o) -> int: return p
@f
async def m(): await f
@f
class A(B, metaclass=C, key=1): n = 1
f(1, *o, key=2, **o)
lambda x: x
[x for x, *y in z if x]
(x := y)
with f as g, h as (i, j): pass
for x, y.z in f: pass
x < y < z
a and b or c if d else e
assert x, y
raise x from y
x, (y, *z) = f
yield_ = -x
"""


def test_each_name_is_counted_as_often_as_it_is_written() -> None:
    assert Counter({n: c for n, c in code_of(MENTIONED).mentions.items() if n and n != "<lambda>"}) == names_in(
        MENTIONED
    )


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_so_it_is_in_files(path: Path) -> None:
    tree = ast.parse(path.read_bytes())
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr | ast.Match) or (isinstance(node, ast.alias) and node.name == node.asname):
            return
    source = ast.unparse(tree)
    code = code_of(source)
    texts = {part for text in code.constants if isinstance(text, str) for part in text.split(".")}
    expected = names_in(source)
    for name in expected.keys() - texts:
        assert code.mentions[name] == expected[name], name


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_file_has_all_names_of_its_code(name: str) -> None:
    has_all_names(PROGRAMS[name])


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2**32))
def test_so_has_any_program(seed: int) -> None:
    source = Maker(Random(seed)).program()
    try:
        ast.parse(source)
    except SyntaxError:
        assume(False)
    has_all_names(source)


def has_all_names(source: str) -> None:
    code = code_of(source)
    found = words.of_code(code)
    again = words.decode(found.encode())
    for name in names_in(source):
        if name not in ("match", "case", "type", "_", "print"):
            assert found.have(name) and again.have(name), name


def test_names_are_not_those_of_comments_and_documentation() -> None:
    source = '''\
"""apple"""
# banana
def f(x):
    "cherry"
    """date"""
    return x  # elder
class A:
    """fig"""
    x = "grape", "h.ibis", "juniper kale"
    y = f"lemon {mango!r:nutmeg}"
    z = "%s" % ("olive" * 500), b"pear"
'''
    found = words.of_code(code_of(source))
    said = ["grape", "h", "ibis", "juniper", "kale", "lemon", "mango", "nutmeg", "olive"]
    assert [name for name in said if found.have(name)] == said
    assert not any(
        map(found.have, ["apple", "banana", "cherry", "date", "elder", "fig", "pear", "", "int", words.STAR])
    )
    assert not words.of_code(code_of(f"x = {'quince ' * 100!r}")).have("quince")


def test_names_of_what_is_imported() -> None:
    found = words.of_code(
        code_of("import a.b as c\nfrom .d.e import f as g\nfrom . import h\ndef i():\n import j\nk = 'l'")
    )
    assert [name for name in "abcdefghijkl" if found.import_(name)] == [*"abdefhj"]
    assert [name for name in "abcdefghijkl" if found.have(name)] == [*"abcdefghijkl"]
    assert not found.have(words.STAR)
    star = words.of_code(code_of("from a.b import *"))
    assert star.have(words.STAR) and star.import_(words.STAR) and star.have("b")


def test_names_that_cannot_be_encoded() -> None:
    found = words.of_code(code_of("ünï = 'x\\udc80y'\n𝐱 = 1"))
    assert found.have("ünï") and found.have("x") and found.have("y")


def test_what_is_no_python_has_all_its_words() -> None:
    found = words.of_text("# a: b.c-d \xe9".encode() + b"\xff")
    assert all(map(found.have, "abcd")) and not found.import_("a")


# -- statements ---------------------------------------------------------------------------------------------------------------

STATEMENTS = """\
@dec(1)
def f(a=g(2), *, b):
    x = a if h(a) else b
    if F.warp(x):  # why
        y = z = q(x)
    self.x = [k(n) for n in m(y) if o(n)]
    return lambda: r(1)
"""


@pytest.mark.parametrize(
    ("text", "line", "inside"),
    [
        ("dec", 1, ""), ("g(2)", 1, ""), ("h(a)", 3, "f"), ("b\n", 3, "f"), ("warp(", 4, "f"), ("q(x)", 5, "f"), ("k(n)", 6, "f"),
        ("o(n)", 6, "f"), ("m(y)", 6, "f"), ("r(1)", 7, "f"),
    ],
)  # fmt: skip
def test_the_statement_around_a_place(text: str, line: int, inside: str) -> None:
    before = STATEMENTS.partition(text)[0]
    found = statement(code_of(STATEMENTS), before.count("\n") + 1, len(before.rpartition("\n")[2]))
    assert found is not None
    assert (found.line, around(found.function)) == (line, inside)


def test_between_statements_there_is_none() -> None:
    assert statement(code_of("x = 1\n# text\ny = 2\n"), 2, 0) is None
    assert statement(code_of("def f():\n    x = 1\n    # text\n    y = 2\n"), 3, 4) is None


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("x = f(a, 'b')", "x = (f(a,\n\t\"b\"))", True), ("x = f(a)", "x = f(b)", False), ("x = 1", "x = True", False),
        ("x = [f(n) for n in m]", "x = [f(n) for n in k]", False), ("x = lambda: f(1)", "x = lambda: f(2)", False),
        ("x = a if b else c", "x = a if c else b", False), ("def f(a): return 1", "def f(a): return 2", True),
        ("def f(a): ...", "def f(b): ...", False), ("class C(B): x = 1", "class C(B, k=1): x = 1", False),
        ("f(a=b)", "f(c=b)", False), ("if f(x): y()", "if f(x): z()", True),
    ],
)  # fmt: skip
def test_what_a_statement_says(one: str, other: str, same: bool) -> None:
    start = 3 if one.startswith("if") else 0
    said = [[*canonical(found)] for text in (one, other) if (found := statement(code_of(text), 1, start)) is not None]
    assert len(said) == 2
    assert (said[0] == said[1]) is same
