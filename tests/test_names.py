"""Name resolution: whatever a thing is called here, it is found where it is used, and nothing else is."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import detlint

Project = Callable[..., Path]


def found(code: str, *paths: str) -> list[tuple[str, int]]:
    """(file, line) of every finding of one rule."""
    result = detlint(
        "check", "--isolated", "--no-cache", "--show-notes", "--select", code, "--output-format", "json", *paths
    )
    assert result.exit_code in (0, 1), result.stderr
    return [(Path(row["filename"]).name, row["location"]["row"]) for row in json.loads(result.stdout)]


def marked(text: str) -> list[int]:
    """The lines that end in a comment of one `!` for each finding."""
    return [
        n
        for n, line in enumerate(text.splitlines(), 1)
        for _ in range(len(line.rpartition("#")[2].strip()))
        if line.endswith("!")
    ]


def holds(project: Project, text: str, code: str = "DET403", **files: str) -> None:
    project(
        **{"a.py": text, **{name.replace("__", "/").replace("_py", ".py"): content for name, content in files.items()}}
    )
    assert found(code, "a.py") == [("a.py", line) for line in marked(text)]


# -- imports --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "import torch\ntorch.nn.functional.grid_sample(1, 2)  #!",
        "import torch as t\nt.nn.functional.grid_sample(1, 2)  #!",
        "import torch.nn\ntorch.nn.functional.grid_sample(1, 2)  #!",
        "import torch.nn as nn\nnn.functional.grid_sample(1, 2)  #!",
        "import torch.nn.functional as F\nF.grid_sample(1, 2)  #!",
        "import torch.nn.functional\nimport torch.cuda\ntorch.nn.functional.grid_sample(1, 2)  #!",
        "from torch import nn\nnn.functional.grid_sample(1, 2)  #!",
        "from torch.nn import functional as F\nF.grid_sample(1, 2)  #!",
        "from torch.nn.functional import grid_sample\ngrid_sample(1, 2)  #!",
        "from torch.nn.functional import grid_sample as gs, pad\ngs(1, 2)  #!\npad(1, 2)",
        "from torch.nn.functional import *\ngrid_sample(1, 2)  #!\npad(1, 2)",
        "from torch.nn.functional import (\n    pad,\n    grid_sample,\n)\ngrid_sample(1, 2)  #!",
        "import torch.nn.functional as F, os\nF.grid_sample(os, 2)  #!",
        "def f():\n    import torch.nn.functional as F\n    return F.grid_sample(1, 2)  #!\nF.grid_sample(1, 2)",
        "class A:\n    from torch.nn.functional import grid_sample\n    x = grid_sample(1, 2)  #!",
        "import importlib\nF = importlib.import_module('torch.nn.functional')\nF.grid_sample(1, 2)  #!",
        "from importlib import import_module as load\nload('torch.nn').functional.grid_sample(1, 2)  #!",
        "import importlib\ndef f(name):\n    return importlib.import_module(name).grid_sample(1, 2)",
        "import torch.nn.functional as F\ngetattr(F, 'grid_sample')(1, 2)  #!\ngetattr(F, 'pad')(1, 2)",
        "import torch.nn.functional as F\ndef f(name):\n    return getattr(F, name)(1, 2)",
        "import torchvision.ops, torch\ntorch.nn.functional.grid_sample(1, 2)  #!",
        "import mytorch as torch\ntorch.nn.functional.grid_sample(1, 2)",
        "from mytorch.nn.functional import grid_sample\ngrid_sample(1, 2)",
        "import torch.nn.functional as F\nF.grid_sample",
        "grid_sample(1, 2)",
        "class F: pass\nF.grid_sample(1, 2)",
    ],
)
def test_import(project: Project, text: str) -> None:
    holds(project, text)


@pytest.mark.parametrize(
    "text",
    [
        "try:\n    import torch.nn.functional as F\nexcept ImportError:\n    F = None\nF.grid_sample(1, 2)  #!",
        "try:\n    from torch.nn.functional import grid_sample\n"
        "except ImportError:\n    grid_sample = None\ngrid_sample(1, 2)  #!",
        "try:\n    from fast import grid_sample\nexcept ImportError:\n"
        "    from torch.nn.functional import grid_sample as other\n    other(1, 2)  #!",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import torch.nn.functional as F\n"
        "def f():\n    import torch.nn.functional as F\n    return F.grid_sample(1, 2)  #!",
        "import sys\nif sys.version_info >= (3, 8):\n    import torch.nn.functional as F\n"
        "else:\n    import torch.nn.functional as F\nF.grid_sample(1, 2)  #!",
        "if x:\n    from torch.nn.functional import grid_sample as f\n"
        "else:\n    from torch.nn.functional import pad as f\nf(1, 2)  #!",
        "import contextlib\nwith contextlib.suppress(ImportError):\n"
        "    import torch.nn.functional as F\nF.grid_sample(1, 2)  #!",
    ],
)
def test_conditional_import(project: Project, text: str) -> None:
    holds(project, text)


# -- rebinding and shadowing ----------------------------------------------------------------------------------------

HEAD = "import torch.nn.functional as F\nfrom torch.nn.functional import grid_sample\n"


@pytest.mark.parametrize(
    "text",
    [
        "sample = F.grid_sample\nsample(1, 2)  #!",
        "sample = resample = grid_sample\nresample(1, 2)  #!",
        "f, g = F.pad, F.grid_sample\nf(1, 2)\ng(1, 2)  #!",
        "OPS = {'warp': F.grid_sample, 'pad': F.pad}\nOPS['warp'](1, 2)  #!\nOPS['pad'](1, 2)",
        "OPS = [F.pad, F.grid_sample]\nOPS[1](1, 2)  #!\nOPS[0](1, 2)\nOPS[-1](1, 2)  #!",
        "def grid_sample(x, y): return x\ngrid_sample(1, 2)",
        "class grid_sample: pass\ngrid_sample(1, 2)",
        "grid_sample(1, 2)  #!\ngrid_sample = print\ngrid_sample(1, 2)",
        "F = None\nF.grid_sample(1, 2)",
        "del F\nF.grid_sample(1, 2)",
        "def f(grid_sample): return grid_sample(1, 2)",
        "def f(*F): return F.grid_sample(1, 2)",
        "def f(**F): return F.grid_sample(1, 2)",
        "def f(a, *, F): return F.grid_sample(1, 2)",
        "lambda F: F.grid_sample(1, 2)",
        "lambda x: F.grid_sample(x, 2)  #!",
        "[F.grid_sample(1, 2) for F in range(3)]",
        "[F.grid_sample(1, x) for x in range(3)]  #!",
        "[F for F in range(3)]\nF.grid_sample(1, 2)  #!",
        "{F: F.grid_sample(1, 2) for F in range(3)}",
        "for F in range(3):\n    F.grid_sample(1, 2)",
        "with open(1) as F:\n    F.grid_sample(1, 2)",
        "try: pass\nexcept Exception as F:\n    F.grid_sample(1, 2)",
        "match 1:\n    case F:\n        F.grid_sample(1, 2)",
        "match 1:\n    case [*F]:\n        F.grid_sample(1, 2)",
        "match 1:\n    case {0: 0}:\n        pass\n    case {**z}:\n        F.grid_sample(z, 2)  #!",
        "match __name__:\n    case 1:\n        pass\n    case [z] | [1, 0 | 1 as z] | [z]:\n        F.grid_sample(z, 2)  #!",
        "(F := 3).grid_sample(1, 2)\nF.grid_sample(1, 2)",
        "if (f := F.grid_sample):\n    f(1, 2)  #!",
        "def f():\n    F = print\n    F.grid_sample(1, 2)\ndef g():\n    return F.grid_sample(1, 2)  #!",
        "def f():\n    def g():\n        F.grid_sample(1, 2)\n    F = print\n    g()",
        "def f():\n    global F\n    F = print\nf()",
        "class A:\n    F = print\n    def f(self):\n        return F.grid_sample(1, 2)  #!",
        "class A:\n    F = print\n    F.grid_sample(1, 2)",
        "def outer():\n    sample = F.grid_sample\n    def inner():\n        return sample(1, 2)  #!\n    return inner",
        "def later():\n    return sample(1, 2)  #!\nsample = F.grid_sample",
        "async def f():\n    await F.grid_sample(1, 2)  #!",
        "def f():\n    yield F.grid_sample(1, 2)  #!",
        "@F.grid_sample(1, 2)  #!\ndef f(): pass",
        "def f(x=F.grid_sample(1, 2)): pass  #!",
        "class A(F.grid_sample(1, 2)): pass  #!",
        "x: 'F.grid_sample(1, 2)' = 1",
        "'F.grid_sample(1, 2)'",
        "f'{F.grid_sample(1, 2)}'  #!",
        "assert F.grid_sample(1, 2)  #!",
        "raise F.grid_sample(1, 2)  #!",
        "x[F.grid_sample(1, 2)] = 1  #!",
        "x = [*F.grid_sample(1, 2)]  #!",
        "f(**F.grid_sample(1, 2))  #!",
        "x = F.grid_sample(F.grid_sample(1, 2), 2)  #!!",
        "while F.grid_sample(1, 2): pass  #!",
        "return_ = not F.grid_sample(1, 2)  #!",
    ],
)
def test_binding(project: Project, text: str) -> None:
    holds(project, HEAD + text)


# -- constants ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "RATE = 0.0\nnn.Dropout(RATE)",
        "RATE = 0.5\nnn.Dropout(RATE)  #!",
        "RATE = 1 - 1\nnn.Dropout(p=RATE)",
        "def f():\n    rate = 0.0\n    return nn.Dropout(rate)",
        "RATE = 0.5\ndef f():\n    RATE = 0\n    return nn.Dropout(RATE)",
        "def f(rate=0.5):\n    return nn.Dropout(rate)  #!",
        "class Config:\n    rate = 0.0\nnn.Dropout(Config.rate)",
        "class A:\n    rate = 0.0\n    def f(self):\n        return nn.Dropout(self.rate)",
        "class A:\n    def __init__(self):\n        self.rate = 0\n"
        "    def f(self):\n        return nn.Dropout(self.rate)",
        "CONFIG = {'rate': 0.0, 'other': 0.5}\nnn.Dropout(CONFIG['rate'])\nnn.Dropout(CONFIG['other'])  #!",
        "CONFIG = dict(rate=0.0)\nnn.Dropout(CONFIG['rate'])",
        "CONFIG = dict(p=0.0)\nnn.Dropout(**CONFIG)",
        "CONFIG = {'p': 0.5}\nnn.Dropout(**CONFIG)  #!",
        "a, b = 0.0, 0.5\nnn.Dropout(a)\nnn.Dropout(b)  #!",
        "rate = 0.5\nif x:\n    rate = 0.0\nnn.Dropout(rate)  #!",
        "nn.Dropout()  #!",
        "nn.Dropout(False)",
        "nn.Dropout(0)\nnn.Dropout(0.)\nnn.Dropout(-0.0)",
    ],
)
def test_constants(project: Project, text: str) -> None:
    holds(project, f"import torch.nn as nn\n{text}", "DET201")


def test_constants_of_other_files(project: Project) -> None:
    text = (
        "import torch.nn as nn\nfrom config import RATE, OFF\nimport config\nnn.Dropout(OFF)\n"
        "nn.Dropout(RATE)  #!\nnn.Dropout(config.OFF)\nnn.Dropout(config.Net.rate)\n"
    )
    holds(project, text, "DET201", config_py="RATE = 0.5\nOFF = 0.0\n\n\nclass Net:\n    rate = 0.0\n")


# -- functools.partial ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "from functools import partial\nlayer = partial(nn.Dropout, 0.5)  #!",
        "from functools import partial\nlayer = partial(nn.Dropout, p=0.0)",
        "import functools\nlayer = functools.partial(nn.Dropout, p=0.5)  #!",
        "import functools as ft\nlayer = ft.partial(nn.Linear, 3)",
        "def partial(*x): return print\nlayer = partial(nn.Dropout, 0.5)",
    ],
)
def test_partial(project: Project, text: str) -> None:
    holds(project, f"import torch.nn as nn\n{text}", "DET201")


# -- classes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "class A:\n    warp = F.grid_sample\n    def f(self):\n        return A.warp(1, 2)  #!",
        "class A:\n    warp = staticmethod(F.grid_sample)\n    def f(self):\n        return self.warp(1, 2)  #!",
        "class A:\n    def __init__(self):\n        self.warp = F.grid_sample\n"
        "    def f(self):\n        return self.warp(1, 2)  #!",
        "class A:\n    def __init__(self):\n        self.warp = F.grid_sample\n"
        "class B(A):\n    def f(self):\n        return self.warp(1, 2)  #!",
        "class A:\n    def __init__(self):\n        self.warp = F.pad\n"
        "    def f(self):\n        return self.warp(1, 2)",
        "class A:\n    def warp(self, x): return x\n    def f(self):\n        return self.warp(1)",
        "class A:\n    @classmethod\n    def f(cls):\n        return cls.warp(1, 2)  #!\n    warp = F.grid_sample",
        "class A:\n    class B:\n        warp = F.grid_sample\nA.B.warp(1, 2)  #!",
        "def f(self):\n    return self.grid_sample(1, 2)",
    ],
)
def test_class_attributes(project: Project, text: str) -> None:
    holds(project, HEAD + text)


def test_a_bare_subclass_is_its_base(project: Project) -> None:
    text = (
        "import torch.nn as nn\n\n\nclass Drop(nn.Dropout):\n"
        "    pass\n\n\ndef f():\n    return Drop(0.5), Drop(0.0)  #!\n"
    )
    holds(project, text, "DET201")


# -- across files ---------------------------------------------------------------------------------------------------

TREE = {
    "package/__init__.py": "from .ops import warp\nfrom . import ops as operators\n",
    "package/ops.py": "from torch.nn.functional import grid_sample as warp, pad\n\n_hidden = warp\n",
    "package/star.py": "from .ops import *\n",
    "package/choice.py": "from .ops import *\nfrom .ops import pad as warp\n__all__ = ['warp']\n",
    "package/sub/__init__.py": "from ..ops import warp as bend\nfrom .deep import *\n",
    "package/sub/deep.py": "from ... import package\nfrom .. import warp\nfrom ..star import warp as starred\n",
    "package/circle.py": "from .circle import warp\n",
    "package/lazy.py": "def __getattr__(name): ...\n",
    "alone.py": "import torch.nn.functional as F\nwarp = F.grid_sample\n",
}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.py", "from package.ops import warp\nwarp(1, 2)  #!"),
        ("a.py", "from package.ops import warp as w\nw(1, 2)  #!"),
        ("a.py", "import package.ops\npackage.ops.warp(1, 2)  #!\npackage.ops.pad(1, 2)"),
        ("a.py", "import package.ops as ops\nops.warp(1, 2)  #!"),
        ("a.py", "from package import ops\nops.warp(1, 2)  #!"),
        ("a.py", "import package\npackage.warp(1, 2)  #!"),
        ("a.py", "import package as p\np.operators.warp(1, 2)  #!"),
        ("a.py", "from package import warp\nwarp(1, 2)  #!"),
        ("a.py", "from package import *\nwarp(1, 2)  #!"),
        ("a.py", "from package.star import *\nwarp(1, 2)  #!\npad(1, 2)"),
        ("a.py", "from package.star import warp\nwarp(1, 2)  #!"),
        ("a.py", "from package.star import _hidden\n_hidden(1, 2)"),
        ("a.py", "from package.ops import _hidden\n_hidden(1, 2)  #!"),
        ("a.py", "from package.star import *\nfrom torch.nn.functional import pad as warp\nwarp(1, 2)"),
        ("a.py", "from package.choice import warp\nwarp(1, 2)"),
        ("a.py", "from package.sub import bend\nbend(1, 2)  #!"),
        ("a.py", "from package.sub import warp, starred\nwarp(1, 2)  #!\nstarred(1, 2)  #!"),
        ("a.py", "from package.sub.deep import warp\nwarp(1, 2)  #!"),
        ("a.py", "from alone import warp\nwarp(1, 2)  #!"),
        ("a.py", "import alone\nalone.F.grid_sample(1, 2)  #!"),
        ("a.py", "from package.circle import warp\nwarp(1, 2)"),
        ("a.py", "from package.missing import warp\nwarp(1, 2)"),
        ("a.py", "from package.lazy import warp\nwarp(1, 2)"),
        ("a.py", "import importlib\nimportlib.import_module('package.ops').warp(1, 2)  #!"),
        ("a.py", "def f():\n    from package import warp\n    return warp(1, 2)  #!"),
        ("package/a.py", "from .ops import warp\nwarp(1, 2)  #!"),
        ("package/a.py", "from . import ops\nops.warp(1, 2)  #!"),
        ("package/a.py", "from . import warp\nwarp(1, 2)  #!"),
        ("package/a.py", "from .sub import bend\nbend(1, 2)  #!"),
        ("package/a.py", "from .ops import *\nwarp(1, 2)  #!"),
        ("package/a.py", "from ..package.ops import warp\n"),
        ("package/a.py", "from ops import warp\nwarp(1, 2)"),
        ("package/sub/a.py", "from ..ops import warp\nwarp(1, 2)  #!"),
        ("package/sub/a.py", "from .. import ops\nops.warp(1, 2)  #!"),
        ("package/sub/a.py", "from . import bend\nbend(1, 2)  #!"),
        ("package/sub/a.py", "from .deep import package\n"),
        ("package/sub/a.py", "from package import warp\nwarp(1, 2)  #!"),
        ("scripts/a.py", "from package import warp\nwarp(1, 2)  #!"),
    ],
)
def test_across_files(project: Project, name: str, text: str) -> None:
    # `.git` tells where the project's root is.
    text = f"import torch\n{text}"
    project(**TREE, **{name: text, ".git/HEAD": ""})
    assert found("DET403", name) == [("a.py", line) for line in marked(text)]


def test_a_file_that_names_no_library_itself(project: Project) -> None:
    text = "from layers import Drop, warp\n\n\ndef f(x):\n    return warp(Drop(0.5)(x), 1)\n"
    project(
        **{
            "a.py": text,
            "layers.py": "import torch.nn as nn\nfrom torch.nn.functional import grid_sample as warp\n"
            "\n\nclass Drop(nn.Dropout): pass\n",
        }
    )
    assert found("DET", "a.py") == [("a.py", 5), ("a.py", 5)]


def test_source_layout(project: Project) -> None:
    text = "from package.ops import warp\n\n\ndef test():\n    return warp(1, 2)  #!\n"
    project(
        **{
            "src/package/__init__.py": "",
            "src/package/ops.py": TREE["package/ops.py"],
            "tests/a.py": text,
            "pyproject.toml": "",
        }
    )
    assert found("DET403", "tests/a.py") == [("a.py", 5)]


PUT = [
    "import sys\nsys.path.append('../parts')",
    "import sys\nsys.path.insert(0, './../parts/')",
    "import sys\nsys.path += ['/somewhere/else', '../parts']",
    "import os, sys\nsys.path.insert(1, os.path.join(os.path.dirname(__file__), os.pardir, 'parts'))",
    "import os.path as osp, sys\nhere = osp.dirname(osp.abspath(__file__))\nsys.path.append(osp.join(osp.dirname(here), 'parts'))",
    "import os, sys\nsys.path.append(os.path.join(os.getcwd(), '..', 'parts'))",
    "import os, sys\nsys.path.append(os.path.join(sys.path[0], '../parts'))",
    "import sys\nfrom pathlib import Path\nsys.path.append(str(Path(__file__).resolve().parent.parent / 'parts'))",
    "import sys\nfrom pathlib import Path\nROOT = str(Path(__file__).parents[1].joinpath('parts'))\n"
    "if ROOT not in sys.path:\n    sys.path.insert(0, ROOT)",
    "import os, sys\nDIRS = [os.path.abspath('../parts'), os.path.abspath('../other')]\nsys.path.extend(DIRS)",
    "import sys\ntry:\n    import noise\nexcept ImportError:\n    sys.path.append('../parts')",
    "import sys\nfor name in ('other', 'parts'):\n    sys.path.append(f'../{name}')",
    "import sys\nsys.path[:0] = ['../' + name for name in ('other', 'parts')]",
    "import os, sys\n\ndef put(*names, base='..'):\n    for name in names:\n        sys.path.append(os.path.join(base, name))\n\n"
    "put('other', 'parts')",
    "import os, sys\nfrom sys import path\n\ndef root(where=__file__):\n"
    "    return os.path.split(os.path.dirname(os.path.abspath(where)))[0]\n\n"
    "path.insert(0, os.path.join(root(), 'parts'))",
    # functions that call one another in several places: what each gives is found out once
    "import os, sys\n\ndef f0(where):\n    return os.path.join(where, 'parts')\n\n"
    + "\n\n".join(
        f"def f{n}(where):\n    return f{n - 1}(where) or f{n - 1}(where) or f{n - 1}(where)" for n in range(1, 12)
    )
    + "\n\nsys.path.append(f11('..'))",
]
NOT_PUT = [
    "",
    "import sys\nsys.path.append('../other')",
    "import sys\nsys.path.append('/job/parts')",
    "import sys\n\ndef put():\n    sys.path.append('../parts')",
    "import sys\nsys.path.remove('../parts')",
    "import sys\nsys.path.append(sys.argv[1])",
    "import sys\npath = '../parts'\npath = sys.argv[1]\nsys.path.append(path)",
    "import os, sys\nsys.path.append(os.environ['PARTS'] + '../parts')",
]


@pytest.mark.parametrize("put", PUT + NOT_PUT)
def test_folders_put_on_the_path(project: Project, put: str) -> None:
    project(
        **{
            "job/parts/noise.py": "import torch\n\n\ndef noise():\n    return torch.rand(3)\n",
            "job/tools/run.py": f"{put}\nfrom noise import noise\n\nif __name__ == '__main__':\n    print(noise())\n",
        }
    )
    result = detlint("check", "--isolated", "--no-cache", "--output-format", "json", ".")
    assert [row["code"] for row in json.loads(result.stdout)] == (["DET104"] if put in PUT else [])


def test_a_local_module_hides_the_library(project: Project) -> None:
    text = "import torch.nn.functional as F\nF.grid_sample(1, 2)\n"
    project(
        **{
            "a.py": text,
            "torch/__init__.py": "",
            "torch/nn/__init__.py": "",
            "torch/nn/functional.py": "def grid_sample(x, y): return x\n",
        }
    )
    assert found("DET403", "a.py") in ([], [("a.py", 2)])


def test_a_function_of_the_project_keeps_its_name_to_itself(project: Project) -> None:
    project(
        **{
            "a.py": "from ops import grid_sample\ngrid_sample(1, 2)\n",
            "ops.py": "def grid_sample(x, y):\n    return x\n",
        }
    )
    assert found("DET403") == []


def test_a_wrapper_is_found_once_where_it_calls(project: Project) -> None:
    project(
        **{
            "ops.py": "import torch.nn.functional as F\n\n\ndef warp(x):\n    return F.grid_sample(x, 1)\n",
            "a.py": "import torch\nfrom ops import warp\n\nx = torch.ones(2, requires_grad=True)\nwarp(x)\nwarp(x)\n",
        }
    )
    assert found("DET403") == [("ops.py", 5)]


def test_draws_are_followed_through_files(project: Project) -> None:
    project(
        **{
            "package/__init__.py": "from .seeds import fix\n",
            "package/seeds.py": "import random as r\n\n\ndef fix(n=1):\n    r.seed(n)\n",
            "package/draws.py": "from random import random as draw\n",
            "good.py": "from package import fix\nfrom package.draws import draw\n"
            "\nif __name__ == '__main__':\n    fix()\n    draw()\n",
            "bad.py": "from package.draws import draw\n\nif __name__ == '__main__':\n    draw()\n",
        }
    )
    assert found("DET101") == [("bad.py", 4)]
