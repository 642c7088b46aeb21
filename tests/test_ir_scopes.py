"""What the IR says of names is what Python's own symbol table says."""

from __future__ import annotations

import ast
import re
import symtable
from collections.abc import Iterator
from pathlib import Path

import pytest
from ir_machine import comprehended

from detlint.ir import ops as op
from detlint.ir.lower import lower
from detlint.ir.records import CLASS, KIND, FileIR
from detlint.ir.storage import body_of

ROOT = Path(__file__).parent.parent
COMPREHENSIONS = {"listcomp", "setcomp", "dictcomp", "genexpr"}
Path_ = tuple[tuple[str, int], ...]
"""The functions and classes around something, outermost first: name and line."""
Meaning = tuple[Path_, str, str | Path_]
"""In which function a name stands, the name, and what it is there: "local", "global", or what function binds it."""


def mangled(text: str, path: Path_, classes: set[Path_]) -> str:
    """What Python calls a name."""
    for end in range(len(path), 0, -1):
        if path[:end] in classes:
            bare = path[end - 1][0].lstrip("_")
            return f"_{bare}{text}" if bare and text.startswith("__") and not text.endswith("__") else text
    return text


def of_ir(ir: FileIR) -> set[Meaning]:
    paths: list[Path_] = [()]
    classes = set()
    for header in ir.functions[1:]:
        paths.append((*paths[header.parent], (ir.strings[header.name], header.line)))
        if header.kind & KIND == CLASS:
            classes.add(paths[-1])
    bodies = [body_of(ir, number) for number in range(len(paths))]
    inside = [comprehended(body) for body in bodies]
    found = set()
    for number, (path, body) in enumerate(zip(paths, bodies, strict=True)):
        used = {part[1] for part in body.ops if part[0] in (op.LOAD, op.STORE, op.DELETE, op.ANNOTATE)}
        for slot, name in enumerate(body.names):
            if slot not in used and number == 0:
                continue  # only a function binds it, which declares it global
            assert name.slot >= 0 or not any(part[:2] == (op.STORE, slot) for part in body.ops)
            assert name.slot == -1 or name.owner != number or body.names[name.slot] == name
            text = mangled(ir.strings[name.text], path, classes)
            meaning: str | Path_
            meaning = (
                "global"
                if name.owner == 0 and name.slot not in inside[0]
                else "local"
                if name.owner == number
                else paths[name.owner]
            )
            assert (
                name.slot == -1
                or mangled(ir.strings[bodies[name.owner].names[name.slot].text], paths[name.owner], classes) == text
            )
            found.add((path, text, meaning))
    return found


def of_python(source: str) -> set[Meaning]:
    return set(_of_table([symtable.symtable(source, "file.py", "exec")], ()))


def _of_table(tables: list[symtable.SymbolTable], path: Path_) -> Iterator[Meaning]:
    table = tables[-1]
    for symbol in table.get_symbols():
        name = symbol.get_name()
        used = (
            symbol.is_referenced()
            or symbol.is_assigned()
            or symbol.is_parameter()
            or symbol.is_imported()
            or symbol.is_annotated()
        )
        if not used or name.startswith("."):
            continue
        if symbol.is_free():
            owner = _owner(tables, name)
            yield path, name, "local" if owner == path else owner
        elif symbol.is_global() or len(tables) == 1:
            yield path, name, "global"
        else:
            yield path, name, "local"
    for child in table.get_children():
        inner = path if child.get_name() in COMPREHENSIONS and child.get_type() != "class" else _inside(path, child)
        yield from _of_table([*tables, child], inner)


def _inside(path: Path_, table: symtable.SymbolTable) -> Path_:
    return (*path, ("<lambda>" if table.get_name() == "lambda" else table.get_name(), table.get_lineno()))


def _owner(tables: list[symtable.SymbolTable], name: str) -> Path_:
    """The nearest function around that binds a name."""
    for end in range(len(tables) - 1, 1, -1):
        table = tables[end - 1]
        is_class = table.get_type() == "class"
        if (is_class and name == "__class__") or (
            not is_class and name in table.get_identifiers() and table.lookup(name).is_local()
        ):
            path: Path_ = ()
            for part in tables[1:end]:
                path = path if part.get_name() in COMPREHENSIONS else _inside(path, part)
            return path
    raise AssertionError(name)


def assert_as_python_says(source: str) -> None:
    expected, found = of_python(source), of_ir(lower(ast.parse(source)))
    # calling super() makes a method refer to its class
    calling = {path for path, name, _ in expected if name == "super"}
    implied = {meaning for meaning in expected - found if meaning[1] == "__class__" and meaning[0] in calling}
    assert found == expected - implied


SCOPES = """
import os, os.path as p, a.b.c
from sys import path, argv as given

def shadows(x):
    return [(lambda x: (lambda: x)) for x in x], [lambda: x for x in (y for y in x)], x

class Class:
    x = 1
    y = [x for z in range(3)]
    z = [(lambda: (x, z)) for z in [x]]
    __private = 2
    a: int
    (b): int
    def method(self, __x, y=__private):
        print(__class__, __private, self.__x, __x)
        def inner():
            nonlocal __x
            __x = x
            return super(), [__class__ for x in y]
        return inner
    class Inner(x):
        def method(self): return __private, x
    def again(self): return super().again()
    del y
    w = [__class__ for i in x]

def passes_on():
    x = y = z = 1
    def first():
        global y
        y = 2
        def second():
            nonlocal x
            def third():
                nonlocal x, z
                x = y = 3
                z += 1
                return lambda: (x, y, z)
            x = y
        return second, [y for y in range(y)], {x: y for x, y in z}
    class Local:
        nonlocal x
        global z, w
        x = z = w = 1
        v = [(x, z) for _ in y]
        def method(self): return x, z, w, v
    return first

def walrus(xs, ys):
    if any((found := x) for x in xs):
        print([[(last := (x, y)) for y in ys if (ys := y)] for x in xs], found, last)
    return lambda: [(inner := x) for x in (found, last, late)]
    late = 1

def excepts(e):
    global g
    try:
        pass
    except A as e:
        del e
    except B as f:
        print(f)
    with open(e) as (g, (h, *i)), g as i.x[j]:
        for k.l, (m, n) in h: del n[k]
    match e:
        case {"a": [x, *y], **z} | A(x, b=(y)): print(x, y, z)
        case None as w: pass
    from os import name
    import a.b
    o: int
    p.x: int = 1
    p += 1
    return lambda: (e, f, g, h, i, name, a, o, p)

def default(x, f=[(lambda y=x: (x, y)) for x in range(3)], *, g=(lambda: [x for x in x])): return f

async def coroutine(x):
    async for y in x:
        async with y as z:
            yield [await a async for a in x if a], (b async for b in z)

global top
top = (lambda x, /, *y, z=top, **w: (x, y, z, w, top))
[top for top in top]
{(lambda: inner) for inner in top}
"""
TYPE_PARAMETERS = """
T = 1
def f[T: (int, T), *Ts, **P](x: T, y=T) -> [T, P]:
    z: Ts = T
    return lambda: T
class A[T: B](Base[T], x=T):
    a: T
    def method[U](self, x: T) -> U: return T, U
    class B(T): b = T
type X[K] = dict[K, lambda: K]
type Y = T
def g():
    def h[Q](x: Q): return Q
    type L = [Q for Q in T]
    return L, h, T
"""


def test_of_names_written_by_hand() -> None:
    assert_as_python_says(SCOPES)


@pytest.mark.parametrize("folder", ["detlint", "tests", "benchmarks", "tools", "fixtures/programs", "fixtures/rules"])
def test_of_our_own_files(folder: str) -> None:
    count = 0
    for path in sorted((ROOT / folder).rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        try:
            symtable.symtable(source, str(path), "exec")
        except SyntaxError:
            continue
        # what annotations are is a matter of the version of Python, and of this import
        source = source.replace("from __future__ import annotations\n", "\n")
        # what `symtable` takes for the module
        source = re.sub(r"\btop\b", "top_", source)
        assert_as_python_says(source)
        count += 1
    assert count
