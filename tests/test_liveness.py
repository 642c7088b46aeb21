"""Which code is of a run although no calls are seen to lead there: as `detlint explain` tells it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import detlint

Project = Callable[..., Path]

MAY = "but these may"
UNSAID = "don't refer to this code"
ALONE = "imports the file"

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

RUNS = {
    "a function that something keeps": ("part.hook = lib.draw", 6, MAY),
    "one that a lambda has": ("part.hook = lambda: lib.draw", 6, MAY),
    "one that a file imports as another name": ("from lib import draw as pick\npart.hook = pick", 6, MAY),
    "one that a function has": ("def get():\n    return lib.draw\npart.hook = get", 6, MAY),
    "one of which nobody speaks": ("part.hook = lib.Net", 6, UNSAID),
    "one that is only imported": ("from lib import draw", 6, UNSAID),
    "one in a function that nobody calls": ("def idle():\n    return lib.draw()", 6, UNSAID),
    "one in dead code": ("if False:\n    part.hook = lib.draw", 6, UNSAID),
    "a method of an object that isn't known": ("part.kind = lib.Own\npart.go = lambda made: made.step()", 19, MAY),
    "a method that its base calls": ("part.kind = lib.Own\npart.go = lambda made: made.run()", 19, MAY),
    "a method of no class that is built": ("part.go = lambda made: made.step()", 19, UNSAID),
    "a method that nothing calls": ("part.kind = lib.Net", 27, UNSAID),
    "a method that is asked for by a text": ("part.kind = lib.Net\ngetattr(part.made, 'sample')()", 27, MAY),
    "what a framework calls": ("part.kind = lib.Net", 24, MAY),
    "a class that is only asked about": ("part.is_net = isinstance(part, lib.Net)", 24, UNSAID),
    "a class that only annotates": ("def go(net: lib.Net) -> None: ...\npart.go = go", 24, UNSAID),
}
"""What a run does -> a line of the library, and what is told of it."""


@pytest.mark.parametrize("case", RUNS)
def test_what_is_live(case: str, project: Project) -> None:
    text, line, told = RUNS[case]
    project(
        **{
            "lib.py": LIBRARY,
            "train.py": f"import lib\nfrom other import part\n\n{text}\nif __name__ == '__main__':\n    part.go()\n",
        }
    )
    shown = detlint("explain", f"lib.py:{line}").stdout
    assert told in shown, shown
    assert (told == MAY) is ("train.py" in shown)


def test_the_way_is_shown(project: Project) -> None:
    train = "import lib\nfrom other import part\n\n\ndef main():\n    part.hook = lib.draw\n\n\nif __name__ == '__main__':\n    main()\n"
    project(**{"lib.py": LIBRARY, "train.py": train})
    shown = detlint("explain", "lib.py:6").stdout
    assert "path: (train.py:10) > `main` (train.py:6) > here" in shown


def test_what_nobody_imports(project: Project) -> None:
    project(**{"lib.py": LIBRARY, "train.py": "import torch\n\nprint(torch.ones(3))\n"})
    assert ALONE in detlint("explain", "lib.py:6").stdout
