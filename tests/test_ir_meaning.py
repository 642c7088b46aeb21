"""Nothing of what a program does is lost when it is lowered: the IR, run by a machine, does what Python does."""

from __future__ import annotations

import ast
import sys
from typing import Any

import pytest
from ir_machine import run

from detlint.ir.lower import lower


def traced(work: Any) -> list[str]:
    """What a program tells, and the exception that it ends with."""
    trace: list[str] = []

    def tell(*values: object) -> Any:
        trace.append(repr(values))
        assert len(trace) < 10_000
        return values[0] if values else None

    try:
        work({"tell": tell, "__name__": "program"})
    except Exception as error:
        trace.append(type(error).__name__)
    return trace


def assert_means_the_same(source: str) -> list[str]:
    expected = traced(lambda names: exec(compile(source, "program.py", "exec"), names))
    assert traced(lambda names: run(lower(ast.parse(source)), names)) == expected
    return expected


PROGRAMS = {
    "expressions": """
x = [1, 2, 3]
tell(-5, +x[0], ~x[1], not x, - -3, -0.0, 1 - 2j, 2 ** -1, "a" "b", b"c", ..., None, 10 ** 30)
tell(x[0] + x[1] * x[2] // 2 - 7 % 3 << 1 | 5 & 6 ^ 3 >> 1, x[1] @ 1 if False else "no", 7 / 2)
tell(x[1:], x[::-1], x[:2], x[1:2:3], {1: 2, **{3: 4}, 5: 6}, {*x, 7}, [*x, 8], (*x, 9), *x, ())
tell(1 < 2 < 3, 1 < 2 > 5, x[0] == 1 in [1], 3 not in x, x is not None)
tell(tell(0) < tell(5) < tell(3) < tell(9))
tell(tell(0) and tell(1), tell(2) and tell(3) and tell(0) and tell(4), tell(0) or tell("") or tell(5) or tell(6))
tell(tell(1) if tell(0) else tell(2) if tell(3) else tell(4), (tell(1) and tell(2)) or tell(3), not tell(1) or not tell(0))
tell(f"{x[0]}{x!r:>{10 + 2}} {tell(3):{'0'}{tell(5)}d} {{}} {'s'!s} {'é'!a} {x[1]=}", f"", f"{1}" "2")
tell((y := tell(3)) + y, [z := 4, z])
tell(tell(tell)(1, *[2, 3], *tell((4,)), end=5) if False else dict(a=tell(1), **{"b": tell(2)}, c=tell(3)))
tell(x[tell(0)].real.__class__.__name__, "a.b".split(".")[1].upper())
tell(dict(a=1, **{"a": 2}))
""",
    "statements": """
import os.path, collections.abc as abc, sys
from math import *
from os import path as p, sep
tell(os.path.basename("a/b"), abc.Mapping.__name__, floor(2.5), p is os.path, sep, sys.__name__)
a = b = [1, 2, 3]
a, (b, *c), [d] = 1, (2, 3, 4), [5]
*e, f = "xyz"
tell(a, b, c, d, e, f)
class Box:
    def __repr__(self): return "box"
box = Box()
box.x, table = 1, {}
box.x += tell(2); table[tell("k")] = tell(4); table[tell("k")] *= tell(5); a -= 3; b **= 2; c += [1]
tell(box.x, table, a, b, c)
i = 0
order = {}
i, order[i] = 1, 2
tell(order)
del order[1], (box.x, [a])
tell(order, hasattr(box, "x"), "a" in globals() if False else 1)
for k in range(3): pass
tell(k)
x: int = 5
y: tell(1)
box.z: int = 3
tell(box).q: int
table[tell("w")]: int
tell(x, box.z)
try: tell(a)
except NameError as error: tell(type(error).__name__)
try: error
except NameError: tell("gone")
assert tell(1), tell("no")
global g
g = 3
try: assert tell(0), tell("message")
except AssertionError as e:
    tell(e.args)
    del e
try: assert 0
except AssertionError as e: tell(e.args)
from math import nowhere
""",
    "loops": """
for i in range(4):
    if i == 1: continue
    for j in range(3):
        if j == 2: break
        tell(i, j)
    else:
        tell("never")
    while i:
        i -= 1
        if i == 1: break
    else:
        tell("else", i)
        if i == 0: continue
    tell("end", i)
else:
    tell("done")
for i, (j, *k) in [(1, (2, 3, 4))]: tell(i, j, k)
box = {}
for box["x"], box["y"] in [(1, 2), (3, 4)]: tell(box)
while True:
    try: break
    finally: tell("finally")
for x in [1, 2, 3]:
    try:
        if x == 2: continue
        tell(x)
    finally:
        tell("f", x)
        if x == 3: break
else: tell("no")
if tell(0): pass
elif tell(0): pass
elif tell(2): tell("third")
else: tell("never")
for i in 5: pass
""",
    "exceptions": """
def f(x):
    try:
        tell("try")
        if x == 0: return "returned"
        if x == 1: raise ValueError("v")
        if x == 2: raise KeyError("k") from OSError()
        if x == 3: 1 / 0
        if x == 5: raise SystemError
    except (ValueError, TypeError) as e:
        tell("value", e.args)
        return e.args
    except KeyError as e:
        tell("key", type(e.__cause__))
        try: raise
        except KeyError as again: tell(again is e)
        try: e
        except: tell("never")
    except tell(ArithmeticError):
        tell("zero")
        raise RuntimeError
    else:
        tell("else")
        return "other"
    finally:
        tell("finally")
        if x == 6: return "over"
    tell("behind")
for x in range(7):
    try: tell(f(x))
    except RuntimeError as e: tell(type(e))
    except SystemError: tell("system")
def g():
    for i in range(5):
        try:
            try: raise OSError(i)
            finally:
                if i < 3: continue
                if i == 3: break
        except OSError: tell("inner")
    try: return tell("a")
    finally: tell("b")
g()
def h():
    try: return 1
    finally: return 2
tell(h())
def reraises():
    try: raise KeyError(1)
    except KeyError:
        try: raise ValueError
        except ValueError: pass
        inner()
def inner(): raise
try: reraises()
except KeyError as e: tell(e.args)
try: raise
except RuntimeError: tell("nothing to raise")
try:
    try: raise 3
    except 4: pass
except TypeError: tell("no exceptions")
raise LookupError
""",
    "with": """
class Manager:
    def __init__(self, name, holds=False): self.name, self.holds = name, holds
    def __enter__(self):
        tell("enter", self.name)
        return self.name
    def __exit__(self, kind, error, trace):
        tell("exit", self.name, kind)
        return self.holds
with Manager("a") as a, Manager("b", True) as (b, *c):
    tell(a, b, c)
    raise ValueError
with Manager("a", True), Manager("b"):
    raise ValueError
def f():
    for i in range(3):
        with Manager(i):
            if i == 0: continue
            if i == 1: return i
tell(f())
with Manager("t") as Manager.x: tell(Manager.x)
with Manager("last") as (x, y): pass
""",
    "functions": """
def f(a, /, b=tell(2), *args, c, d=tell(4), **rest): return a, b, args, c, d, rest
tell(f(1, c=3), f(1, 2, 3, 4, c=5, e=6))
def bad(): return f(1)
try: bad()
except TypeError: tell("type")
def counter():
    count = 0
    def add(by=1):
        nonlocal count
        count += by
        return count
    return add, lambda: count
add, get = counter()
add(); add(5)
tell(get(), counter()[1]())
def unbound():
    if 0: x = 1
    return x
try: unbound()
except UnboundLocalError: tell("unbound")
def free():
    def inner(): return y
    if 0: y = 1
    return inner()
try: free()
except NameError as e: tell(type(e).__name__)
def sets():
    global made, tell2
    made = 3
    tell2 = lambda: made
    def inner():
        global made
        made += 1
    inner()
    del tell2
sets()
tell(made, "tell2" in dir())
fs = []
for i in range(3): fs.append(lambda x, i=i: (x, i))
tell([f(1) for f in fs])
gs = [lambda: i for i in range(3)]
tell([g() for g in gs])
gs = [(lambda: (lambda j: (i, j)))()(j) for i in range(2) for j in range(2)]
tell(gs)
hs = []
for i in range(2): hs += [lambda: (i, k) for k in range(2)]
tell([h() for h in hs], i)
def decorate(word):
    tell(word)
    def inner(function):
        tell(word, "on", function.__name__)
        return lambda *a: (word, function(*a))
    return inner
@decorate("outer")
@decorate("inner")
def decorated(x): return x
tell(decorated(7))
def annotated(x: tell("no"), *y: int) -> str:
    z: undefined = 3
    w: int
    return z
def recursive(n): return 1 if n < 2 else n * recursive(n - 1)
tell(recursive(10), (lambda *a, **k: (a, k))(1, b=2))
""".replace('x: tell("no")', 'x: "no"'),
    "classes": """
x = "global"
def around(x="free"):
    class Inner:
        y = x
        z = [x for _ in range(2)]
        def get(self): return x
    return Inner
tell(around().y, around().z, around()().get())
def shadowed():
    x = "function"
    class Inner:
        x = x
        y = x
        def get(self): return x
        z = (lambda: x)()
        w = [x for x in x], [i for i in x]
    return Inner
Inner = shadowed()
tell(Inner.x, Inner.y, Inner().get(), Inner.z, Inner.w)
class Meta(type):
    def __new__(meta, name, bases, names, **options):
        tell(name, sorted(k for k in names if k[0] != "_"), options)
        return super().__new__(meta, name, bases, names)
    def __init__(self, *a, **k): pass
class Base(metaclass=Meta, word=tell(1)):
    a: int = 1
    __private = "private"
    def __init__(self, x): self.x, self.__y = x, x
    def get(self): return self.__private, __class__.__name__, self.__y
    @property
    def both(self): return self.x, self.__private
    @classmethod
    def made(cls, __x=5): return cls(__x)
    @staticmethod
    def plain(): return [__class__ for _ in range(1)]
class Derived(Base):
    __private = "derived"
    def __init__(self, x):
        super().__init__(x)
        self.more = super().get()
    def get(self): return super().get(), self.__private
d = Derived(tell(3))
tell(d.get(), d.both, d.more, Derived.made().x, d.plain()[0].__name__, d._Base__y, d._Base__private)
@tell
@(lambda c: (c.__name__, c.a))
class Decorated:
    a = 1
    for b in range(3): pass
    del b
    if a: c = a
tell(Decorated)
class Outer:
    v = 1
    class Inner:
        def get(self):
            try: return v
            except NameError: return "no name"
    def __get(self): return lambda: self.__get
    def call(self): return self.__get()().__name__
tell(Outer.Inner().get(), Outer().call())
class __:
    def f(self): return self.__x
    __x = 3
tell(__().f())
class Global:
    global of_class
    of_class = 4
    def f(self): return of_class
tell(of_class, Global().f(), hasattr(Global, "of_class"))
class Bad(3): pass
""",
    "comprehensions": """
tell([x * y for x in range(3) if x for y in range(x) if y % 2 == 0], {x for x in "aab"} == {"a", "b"}, {k: v for k, v in [(1, 2), (3, 4)]})
x = 5
tell([x for x in [x, x + 1]], x, [[x for x in range(x)] for x in range(3)])
g = (tell(x) for x in tell([1, 2, 3]) if x != 2)
tell("made")
tell(list(g), list(g), sum(x for x in range(4)))
try: (x for x in 3)
except TypeError: tell("at once")
tell([(last := x) for x in range(3)], last, [y := 1, y ** 2])
def f(xs):
    if any((found := x) > 1 for x in xs): return found
    return [(lambda: (found, x))() for x in xs]
tell(f([1, 2]), f([0, 1]))
gs = [(a + i for a in range(2)) for i in (10, 20)]
tell([list(g) for g in gs])
a, b = [iter((i, j) for j in range(2)) for i in range(2)]
tell(next(a), next(b), next(a), next(b))
tell([i for i, *j in [(1, 2, 3)]], [j for [i, *j] in [(1, 2, 3)]])
box = {}
tell([box["k"] for box["k"] in range(3)], box)
tell({tell(k): tell(v) for k, v in [(1, 2)]}, [a if a else tell("zero") for a in (0, 1)], [a and b for a, b in [(1, 0), (0, 1)]])
tell([x for x in range(3) if (lambda: x)() if x > 0], [*(x for x in "ab")])
[1 / x for x in (1, 0)]
""",
    "generators": """
def g(n):
    tell("start")
    for i in range(n):
        got = yield i
        if got: tell("got", got)
    return "end"
def outer():
    result = yield from g(2)
    tell(result)
    try: yield "x"
    except KeyError: tell("caught"); yield "y"
    finally: tell("closed")
it = outer()
tell(next(it), it.send("hello"), next(it), it.throw(KeyError))
it.close()
def empty():
    return
    yield
tell(list(empty()), list(g(1)))
def stops():
    yield 1
    next(iter([]))
try: list(stops())
except RuntimeError: tell("runtime")
def plain(): next(iter([]))
try: plain()
except StopIteration: tell("stop")
def both():
    with_finally = [1]
    try:
        yield (yield with_finally)
    finally:
        yield "last"
it = both()
tell(next(it), it.send(2), it.send(3))
lam = lambda: (yield 3)
tell(list(lam()))
tell(sum(g(4)), [x for x in g(2)], dict(zip(g(2), g(2))))
a, b = g(3)
""",
    "match": """
class Point:
    __match_args__ = ("x", "y")
    def __init__(self, x, y): self.x, self.y = x, y
    def __repr__(self): return f"Point({self.x}, {self.y})"
class Color: RED = 1; GREEN = "green"
def f(v):
    x = y = rest = "before"
    match v:
        case 0 | 10: r = "number"
        case -1 | 1 + 2j: r = "signed"
        case "text": r = "text"
        case None: r = "none"
        case True: r = "true"
        case Color.GREEN: r = "green"
        case []: r = "empty"
        case [x]: r = "one"
        case [5, y] | [y, 5]: r = "five"
        case [1, [x, *_], *rest, y]: r = "nested"
        case [x, y] if tell(x == y): r = "same"
        case [Point(x=0, y=y) as x, *rest]: r = "points"
        case {"a": 1, "b": [x, y]}: r = "mapping"
        case {"a": x, **rest}: r = "rest"
        case {"n": None}: r = "n"
        case Point(0, y=y): r = "axis"
        case Point(x=Point(x, y=0 as y)) | Point(x, Point(y=0 as y)): r = "inner"
        case Point(): r = "point"
        case str(x) | bytes(x): r = "string"
        case int(): r = "integer"
        case {}: r = "any mapping"
        case (x, y, *_) if x == "q": r = "q"
        case whole if tell(callable(whole)): r = "callable"
        case _: r = "other"
    return r, x, y, rest
for v in [0, 10, -1, 1 + 2j, "text", None, True, False, "green", [], [7], [5, 6], [6, 5], (5, 5), [3, 3], [3, 4],
          [1, [2, 3], 4, 5, 6], [1, "ab", 3], [Point(0, 2), 3], [Point(1, 2)], Point(0, 1), Point(Point(1, 0), 2),
          Point(3, Point(2, 0)), Point(3, 4), {"a": 1, "b": [1, 2]}, {"a": 1, "b": 3}, {"n": None}, {"n": 0}, {},
          "other", b"b", 7, 7.5, print, range(2), range(3), "qq", ["q", 1, 2], iter([])]:
    tell(f(v))
match tell(1), tell(2):
    case a, b: tell(a, b)
match 3:
    case x if x > 5: tell("no")
    case 4: tell("no")
tell(x)
def g(v):
    match v:
        case {"k": k}: return k
        case [*all]: return all
        case other: return other
tell(g({"k": 1}), g((1, 2)), g(3))
match 5:
    case int(a, b): pass
""",
}
if sys.version_info >= (3, 11):
    PROGRAMS["groups"] = """
def f(*errors):
    try:
        tell("try")
        if errors: raise ExceptionGroup("g", errors)
    except* ValueError as e: tell("value", len(e.exceptions))
    except* (KeyError, OSError) as e:
        tell("others", len(e.exceptions))
    else: tell("else")
    finally: tell("finally")
f()
f(ValueError(), KeyError(), ValueError())
try: f(TypeError(), OSError())
except ExceptionGroup as e: tell(len(e.exceptions))
try:
    raise ValueError
except* ValueError as e: tell(type(e).__name__)
"""
if sys.version_info >= (3, 12):
    PROGRAMS["type parameters"] = """
def f[T: undefined](x: T) -> T: return T.__name__, x
class A[T]:
    def method(self): return T.__name__
type B[T] = undefined[T]
T = 3
tell(f(1), T)
def g():
    return A().method()
"""


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_does_what_its_lowered_form_does(name: str) -> None:
    assert len(assert_means_the_same(PROGRAMS[name])) > 3
