"""Which code is of a run although no calls are seen to lead there: as `detlint explain` tells it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import detlint

Project = Callable[..., Path]

MAY = "but these may"
UNSAID = "these import the file"
ALONE = "no entry point of the program imports the file"

LIBRARY = """\
import torch
from torch import nn


def draw():
    return torch.rand(3)  # line 6


class Base:
    def step(self):
        raise NotImplementedError

    def run(self):
        return self.step()


class Own(Base):
    def step(self):
        return torch.rand(3)  # line 19


class Net(nn.Module):
    def forward(self, x):
        return x + torch.rand(3)  # line 24

    def sample(self):
        return torch.rand(3)  # line 27
"""

NAMELESS = "nothing in this run refers to `draw` by its name"
UNBUILT = "nothing in this run refers to the class"

RUNS = {
    "a function that something keeps": ("part.hook = lib.draw", 6, MAY, "train.py:4 keeps `draw`, and who calls it"),
    "one that is handed to what isn't known": (
        "def go(add):\n    add(lib.draw)\npart.go = go", 6, MAY, "train.py:6 keeps `go`, and who calls it",
    ),
    "one that a lambda has": ("part.hook = lambda: lib.draw", 6, MAY, "train.py:4 keeps `draw`"),
    "one that a file imports as another name": ("from lib import draw as pick\npart.hook = pick", 6, MAY, "train.py:5 keeps `draw`"),
    "one that a function has": ("def get():\n    return lib.draw\npart.hook = get", 6, MAY, "train.py:6 keeps `get`"),
    "one of which nobody speaks": ("part.hook = lib.Net", 6, UNSAID, NAMELESS),
    "one that is only imported": ("from lib import draw", 6, UNSAID, NAMELESS),
    "one in a function that nobody calls": ("def idle():\n    return lib.draw()", 6, UNSAID, NAMELESS),
    "one in dead code": ("if False:\n    part.hook = lib.draw", 6, UNSAID, NAMELESS),
    "one by a name that isn't known": ("getattr(lib, part.name)()", 6, UNSAID, "train.py:4 asks for a name that is not written out"),
    "a method of an object that isn't known": (
        "part.kind = lib.Own\npart.go = lambda made: made.step()", 19, MAY, "train.py:5 calls `step` of an object whose class is not known",
    ),
    "a method that its base calls": (
        "part.kind = lib.Own\npart.go = lambda made: made.run()", 19, MAY, "train.py:5 calls `run` of an object whose class is not known",
    ),
    "a method of no class that is built": ("part.go = lambda made: made.step()", 19, UNSAID, UNBUILT),
    "a method that nothing calls": ("part.kind = lib.Net", 27, UNSAID, "nothing in this run calls `sample`"),
    "a method that is asked for by a text": (
        "part.kind = lib.Net\ngetattr(part.made, 'sample')()", 27, MAY, "train.py:5 asks for it by `getattr`",
    ),
    "what a framework calls": ("part.kind = lib.Net", 24, MAY, "no call of `Net.forward` is seen"),
    "a class that is only asked about": ("part.is_net = isinstance(part, lib.Net)", 24, UNSAID, UNBUILT),
    "a class that only annotates": ("def go(net: lib.Net) -> None: ...\npart.go = go", 24, UNSAID, UNBUILT),
}  # fmt: skip
"""What a run does -> a line of the library, and what is told of it: whether a run may come there, and why it isn't followed."""


@pytest.mark.parametrize("case", RUNS)
def test_what_is_live(case: str, project: Project) -> None:
    text, line, told, why = RUNS[case]
    project(
        **{
            "lib.py": LIBRARY,
            "train.py": f"import lib\nfrom other import part\n\n{text}\nif __name__ == '__main__':\n    part.go()\n",
        }
    )
    shown = detlint("explain", f"lib.py:{line}").stdout
    assert told in shown, shown
    assert why in " ".join(shown.partition("not followed because ")[2].split()), shown


def test_the_way_is_shown(project: Project) -> None:
    train = "import lib\nfrom other import part\n\n\ndef main():\n    part.hook = lib.draw\n\n\nif __name__ == '__main__':\n    main()\n"
    project(**{"lib.py": LIBRARY, "train.py": train})
    shown = detlint("explain", "lib.py:6").stdout
    assert "path: (train.py:10) > `main` (train.py:6) > here" in shown


def test_what_nobody_imports(project: Project) -> None:
    project(**{"lib.py": LIBRARY, "train.py": "import torch\n\nprint(torch.ones(3))\n"})
    assert ALONE in detlint("explain", "lib.py:6").stdout
