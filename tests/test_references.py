"""What counts as a reference of a definition, as users see it: what nothing refers to is only noted."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import notebook, told
from metamorphic import together, transform

Project = Callable[..., Path]

LAYERS = """\
from mindspore import nn
from mindspore.ops import operations as P


class Kept(nn.Cell):
    def construct(self, x):
        return x


class Pool(nn.Cell):
    def __init__(self):
        super().__init__()
        self.total = P.ReduceSum(keep_dims=True)

    def construct(self, x):
        return self.total(x)
"""


def cases(told: str) -> dict[str, dict[str, str]]:
    """Names of cases -> their files, each with its text: behind `+` that of the layers comes first, and `%%` divides a notebook."""
    found: dict[str, dict[str, str]] = {}
    for case in told.split("=== ")[1:]:
        name, *parts = re.split(r"(?m)^--- ", case)
        files = found[name.strip()] = {}
        for part in parts:
            file, text = part.split("\n", 1)
            file, _, more = file.partition(" ")
            files[file] = notebook(*text.split("\n%%\n")) if file.endswith(".ipynb") else LAYERS * bool(more) + text
    return found


NAMED = cases("""\
=== import
--- net.py
from layers import Kept, Pool
net = Pool()
=== import under another name
--- net.py
from layers import Kept, Pool as P
net = P()
=== import in a function
--- net.py
from layers import Kept
def build():
    from layers import Pool
    return Pool()
build()
=== module
--- net.py
import layers
net = layers.Pool()
=== module under another name
--- net.py
import layers as y
net = y.Pool()
=== module kept under another name
--- net.py
import layers
other = layers
net = other.Pool()
=== module handed on
--- net.py
import layers
def build(m):
    return m.Pool()
build(layers)
=== star
--- net.py
from layers import *
net = Pool()
=== star with a list
--- layers.py +
__all__ = ['Kept', 'Pool']
--- net.py
from layers import *
net = Pool()
=== handed on by another file
--- more.py
from layers import Kept, Pool
--- net.py
from more import Pool
net = Pool()
=== handed on under another name
--- more.py
from layers import Pool as Q
--- net.py
import more
net = more.Q()
=== handed on by a star
--- more.py
from layers import *
--- net.py
from more import Pool
net = Pool()
=== handed on in turn
--- more.py
from layers import Pool as Q
--- again.py
from more import Q as R
--- net.py
from again import R
net = R()
=== handed on as a value
--- more.py
import layers
Q = layers.Pool
--- net.py
import more
net = more.Q()
=== getattr
--- net.py
import layers
net = getattr(layers, 'Pool')()
=== getattr with a name for it
--- net.py
import layers
name = 'Pool'
net = getattr(layers, name)()
=== getattr with any name
--- net.py
import sys
import layers
net = getattr(layers, sys.argv[1])()
=== table of the module
--- net.py
import sys
import layers
net = layers.__dict__[sys.argv[1]]()
=== vars
--- net.py
import sys
import layers
net = vars(layers)[sys.argv[1]]()
=== globals behind a star
--- net.py
import sys
from layers import *
net = globals()[sys.argv[1]]()
=== own globals
--- layers.py +
def build(name):
    return globals()[name]()
--- net.py
import sys
from layers import build
build(sys.argv[1])
=== import_module
--- net.py
import importlib
from layers import Kept
net = getattr(importlib.import_module('layers'), 'Pool')()
=== import_module of a whole name
--- net.py
import importlib
from layers import Kept
def build(target):
    module, name = target.rsplit('.', 1)
    return getattr(importlib.import_module(module), name)()
build('layers.Pool')
=== eval
--- net.py
import layers
net = eval('layers.Pool()')
=== eval of what is put together
--- net.py
from layers import *
import sys
net = eval(sys.argv[1] + '()')
=== registry
--- layers.py
from mindspore import nn
from mindspore.ops import operations as P


class Kept(nn.Cell):
    def construct(self, x):
        return x


TABLE = {}
def keep(c):
    TABLE[c.__name__] = c
    return c
@keep
class Pool(nn.Cell):
    def __init__(self):
        super().__init__()
        self.total = P.ReduceSum(keep_dims=True)

    def construct(self, x):
        return self.total(x)
--- net.py
import sys
from layers import TABLE
net = TABLE[sys.argv[1]]()
=== table
--- layers.py +
TABLE = {'pool': Pool}
--- net.py
import sys
from layers import TABLE
net = TABLE[sys.argv[1]]()
=== default
--- net.py
from layers import Kept, Pool
def build(kind=Pool):
    return kind()
build()
=== default of a lambda
--- net.py
from layers import Kept, Pool
build = lambda kind=Pool: kind()
build()
=== base
--- net.py
from layers import Kept, Pool
class Net(Pool):
    pass
Net()
=== base in its own file
--- layers.py +
class Net(Pool):
    pass
--- net.py
from layers import Net
Net()
=== decorator
--- layers.py +
--- net.py
from layers import Kept, Pool
@Pool
def f():
    pass
=== field
--- net.py
import dataclasses
from layers import Kept, Pool
@dataclasses.dataclass
class Net:
    pool: Pool = dataclasses.field(default_factory=Pool)
Net()
=== comprehension
--- net.py
import layers
nets = [kind() for kind in (layers.Kept, layers.Pool)]
=== generator
--- net.py
from layers import Kept, Pool
nets = list(kind() for kind in (Kept, Pool))
=== closure
--- net.py
from layers import Kept, Pool
def build():
    kind = Pool
    def inner():
        return kind()
    return inner()
build()
=== global
--- net.py
import layers
kind = layers.Kept
def choose():
    global kind
    kind = layers.Pool
choose()
kind()
=== walrus
--- net.py
import layers
print((kind := layers.Pool)())
=== exception
--- net.py
try:
    from layers import Pool
except ImportError:
    Pool = None
Pool()
=== in its own main
--- layers.py +
if __name__ == '__main__':
    import mindspore
    Pool()(mindspore.Tensor([1.0]))
    mindspore.train.Model(Pool()).train(1, None)
--- net.py
from layers import Kept
Kept()
=== notebook
--- net.py
from layers import Kept
Kept()
--- use.ipynb
from layers import Pool
%%
net = Pool()
=== notebook's star
--- net.py
from layers import Kept
Kept()
--- use.ipynb
from layers import *
%%
net = Pool()
=== settings
--- net.py
import importlib, sys
from layers import Kept
def build(target):
    module, name = target.rsplit('.', 1)
    return getattr(importlib.import_module(module), name)()
build(sys.argv[1])
--- conf.yaml
model: layers.Pool
=== package
--- kit/__init__.py
from .layers import Pool
--- kit/layers.py +
--- net.py
import kit
net = kit.Pool()
kit.layers.Kept()
=== relative
--- kit/__init__.py
--- kit/layers.py +
--- kit/use.py
from . import layers
from .layers import Kept
def build():
    return layers.Pool()
--- net.py
from kit.use import build
build()
=== in a class
--- net.py
from layers import Kept
class A:
    from layers import Pool
    def f(self):
        return self.Pool()
A().f()
=== module in a class
--- net.py
class A:
    import layers
    def f(self):
        return self.layers.Pool()
A().f()
=== global import
--- net.py
from layers import Kept
def load():
    global Pool
    from layers import Pool
load()
Pool()
=== attrgetter
--- net.py
import operator
import layers
operator.attrgetter('Pool')(layers)()
=== methodcaller
--- net.py
import operator
import layers
operator.methodcaller('Pool')(layers)
=== __import__
--- net.py
from layers import Kept
__import__('layers').Pool()
=== import_module and attribute
--- net.py
import importlib
from layers import Kept
importlib.import_module('layers').Pool()
=== sys.modules
--- net.py
import sys
from layers import Kept
sys.modules['layers'].Pool()
=== table of the module with a name
--- net.py
import layers
layers.__dict__['Pool']()
=== vars with a name
--- net.py
import layers
vars(layers)['Pool']()
=== star in a try
--- net.py
try:
    from layers import *
except ImportError:
    Pool = None
Pool()
=== star, bound later
--- net.py
from layers import *
Pool()
Pool = 3
=== one of two modules
--- other.py
class Pool:
    pass
--- net.py
import sys
import layers
import other
m = layers if sys.argv else other
m.Pool()
=== bound in a loop
--- net.py
import layers
for name in ('Kept', 'Pool'):
    kind = getattr(layers, name)
    kind()
=== names that are called
--- net.py
import layers
def call(args):
    for name, value in vars(args).items():
        print(name, value())
call(layers)
=== eval of what another function has
--- net.py
import layers
TEXT = "layers.Pool()"
def build():
    return eval(TEXT)
build()
=== partial
--- net.py
import functools
from layers import Pool
functools.partial(Pool)()
=== exec
--- net.py
exec('import layers\\nnet = layers.Pool()')
import layers
=== eval of a variable
--- net.py
import layers
text = 'layers.Pool()'
if layers:
    text = text + ''
eval(text)
=== eval of a format
--- net.py
import layers
x = 1
eval(f'layers.Pool({x})')
=== part of its methods
--- layers.py
from mindspore import nn
from mindspore.ops import operations as P


class Kept(nn.Cell):
    def __init__(self):
        super().__init__()
        self.pool = Pool()

    def construct(self, x):
        return x


class Pool(nn.Cell):
    def __init__(self):
        super().__init__()
        self.total = P.ReduceSum(keep_dims=True)

    def construct(self, x):
        return self.total(x)
--- net.py
from layers import Kept
Kept()
""")
NOT_NAMED = cases("""\
=== nothing
--- net.py
from layers import Kept
Kept()
=== module
--- net.py
import layers
layers.Kept()
=== import alone
--- net.py
from layers import Kept, Pool
Kept()
=== comment
--- net.py
from layers import Kept  # Pool, layers.Pool
Kept()
=== docstring
--- net.py
'''Pool: layers.Pool'''
from layers import Kept
Kept()
def f():
    "layers.Pool()"
=== star
--- net.py
from layers import *
Kept()
=== list
--- layers.py +
__all__ = ['Kept', 'Pool']
--- net.py
from layers import Kept
Kept()
=== annotation
--- net.py
from layers import Kept, Pool
def f(x: Pool) -> Pool:
    y: Pool = x
    return y
f(Kept())
=== isinstance
--- net.py
from layers import Kept, Pool
print(isinstance(Kept(), Pool), isinstance(Kept(), (Kept, Pool)))
=== isinstance of several
--- net.py
from layers import Kept, Pool
print(isinstance(Kept(), Kept | Pool))
=== pattern
--- net.py
from layers import Kept, Pool
match Kept():
    case Pool():
        print(1)
=== another's attribute
--- net.py
import mindspore as m
from layers import Kept
Kept()
m.Pool()
m.nn.Pool()
=== own attribute
--- net.py
from layers import Kept
class A:
    def __init__(self):
        self.Pool = 1
    def f(self):
        return self.Pool
A().f()
Kept()
=== another definition
--- net.py
from layers import Kept
class Pool:
    pass
Pool()
Kept()
=== another import
--- net.py
from layers import Kept
from mindspore.nn import Pool
Pool()
Kept()
=== local
--- net.py
from layers import Kept
def f():
    Pool = Kept
    return Pool()
f()
=== keyword
--- net.py
from layers import Kept
print(dict(Pool=1), Kept())
=== another's text
--- net.py
from layers import Kept
Kept()
print('Pool', 'other.Pool')
=== itself
--- layers.py +
    def again(self):
        return Pool()
--- net.py
from layers import Kept
Kept()
=== what is not named itself
--- layers.py +
class Net(Pool):
    pass
--- net.py
from layers import Kept
Kept()
=== replaced
--- net.py
from layers import Kept
Kept()
--- more.py
Pool = 1
=== notebook
--- net.py
from layers import Kept
Kept()
--- use.ipynb
#md Pool
%%
from layers import Kept
%%
Kept()  # Pool
=== name of a comprehension in its own file
--- layers.py +
print([Pool for Pool in (1, 2)])
--- net.py
from layers import Kept
Kept()
=== names that are only shown
--- net.py
from layers import *
def show(args):
    found = vars(args)
    print(" ".join(f"{name}={value}" for name, value in sorted(found.items())), dir(args))
show(Kept())
=== a long list
--- layers.py +
__all__ = ["Kept"]%s
--- net.py
from layers import Kept
Kept()
=== parameter
--- net.py
from layers import Kept
def f(Pool):
    return Pool()
f(Kept)
=== parameter in its own file
--- layers.py +
def f(Pool):
    return Pool
f(1)
--- net.py
from layers import Kept
Kept()
=== text of an annotation
--- net.py
from __future__ import annotations
from layers import Kept
def f(x: 'Pool', y: 'layers.Pool'):
    pass
f(Kept(), 1)
=== checked types
--- net.py
from typing import TYPE_CHECKING
from layers import Kept
if TYPE_CHECKING:
    from layers import Pool
def f(x: 'Pool'):
    pass
f(Kept())
=== functions that only call each other
--- layers.py +
def a():
    return Pool(), b()
def b():
    return a()
--- net.py
from layers import Kept
Kept()
=== a message beside eval
--- net.py
import sys
import layers
eval('layers.Kept()')
sys.exit('no Pool here')
=== in a class that nothing names
--- layers.py +
class Big:
    def f(self):
        return Pool()
--- net.py
from layers import Kept
Kept()
=== never run
--- net.py
from layers import Kept, Pool
Kept()
if 0:
    Pool()
=== behind a return
--- net.py
from layers import Kept, Pool
def f():
    return Kept()
    Pool()
f()
""")


NOT_NAMED["a long list"]["layers.py"] = NOT_NAMED["a long list"]["layers.py"].replace("%s", " + ['Pool']" * 2000)


def level(project: Project, files: dict[str, str], change: Callable[[Path], object] | None = None) -> str:
    """Of what is said of the sum in `Pool`."""
    root = project(**({} if any("layers.py" in name for name in files) else {"layers.py": LAYERS}) | files)
    for path in root.rglob("*") if change else ():
        if change and path.is_file():
            change(path)
    rows = told("--select", "DET406", "--target", "ascend", root)
    assert {row.path.name for row in rows} == {"layers.py"}
    assert len(rows) == 1
    return rows[0].level


@pytest.mark.parametrize("name", NAMED)
def test_what_is_referred_to(project: Project, name: str) -> None:
    assert level(project, NAMED[name]) == "warning"


@pytest.mark.parametrize("name", NOT_NAMED)
def test_what_is_not(project: Project, name: str) -> None:
    assert level(project, NOT_NAMED[name]) == "note"


@pytest.mark.parametrize("name", NOT_NAMED)
def test_nor_by_what_means_nothing(project: Project, name: str) -> None:
    """Comments and documentation that name it."""

    def change(path: Path) -> None:
        if path.suffix == ".py":
            text = path.read_text("utf-8")
            text = f'"""Pool, `layers.Pool` and "Pool"."""\n# Pool: layers.Pool()\n{text}\n'
            text += 'def documented():\n    """Pool"""  # layers.Pool\n'
            path.write_text(text, "utf-8")

    assert level(project, NOT_NAMED[name], change) == "note"


@pytest.mark.parametrize("name", [*NAMED, *NOT_NAMED])
def test_how_it_is_written_changes_nothing(project: Project, name: str) -> None:
    files, expected = (NAMED[name], "warning") if name in NAMED else (NOT_NAMED[name], "note")
    assert level(project, files, lambda path: transform(path, together)) == expected
