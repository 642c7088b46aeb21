"""The parts of a file: which of them an edit changes, and the names that they have."""

from __future__ import annotations

import ast
from pathlib import Path
from random import Random

import pytest
from conftest import REPOSITORY
from edits import edited

from detlint.ir.code import Code
from detlint.ir.lower import lower
from detlint.ir.parts import REFLECTING, Parts, parts_of
from detlint.ir.writes import BY_NAME
from detlint.model.imports import MAKES_NAMES
from detlint.model.raises import INSTEAD

SOURCE = """
import torch
from torch import nn

SIZE = 3


def helper(x, *, scale=SIZE):
    def inner(y):
        return y.first
    return inner(x) * scale + "some.name"


class Net(nn.Module):
    kept = 1

    def forward(self, x):
        return helper(x, scale=2).second

    @property
    def width(self):
        return self.kept


def sets():
    global SIZE
    SIZE = 4
"""
FILES = sorted((REPOSITORY / "fixtures").rglob("*.py"))


def parts(text: str) -> Parts:
    return parts_of(code(text))


def code(text: str) -> Code:
    return Code(lower(ast.parse(text)))


def changed(now: str) -> tuple[bool, set[str]]:
    """Whether an edit changes anything outside of functions, and the names of the functions that it changes."""
    before, after = parts(SOURCE), parts(now)
    return before.top != after.top, {*after.names_changed(before)}


@pytest.mark.parametrize(
    ("old", "new", "top", "names"),
    [
        ("y.first", "(y\n            .first)  # the same", False, set()),
        ("import torch\n", "import torch\n\n# a comment\n\n", False, set()),
        ("y.first", "y.third", False, {"helper", "inner", "first", "third", "some", "name", "scale"}),
        (".second", ".third", False, {"forward", "second", "third", "helper", "scale"}),
        ("scale=2", "scale=3", False, {"forward", "second", "helper", "scale"}),
        ("return self.kept", "return self", False, {"width", "kept"}),
        ("scale=SIZE", "scale=torch", True, set()),
        ("kept = 1", "kept = 2", True, set()),
        ("@property", "@torch.no_grad", True, set()),
        ("SIZE = 4", "SIZE = 5", True, set()),
        ("return self.kept", "self.new = 1; return self.kept", True, set()),
        ("return self.kept", "return vars(self)", True, set()),
        ("return self.kept", "return 'spelled'", True, set()),
        ("SIZE = 3\n", "SIZE = 3\nOTHER = 'text'\n", True, set()),
    ],
)
def test_what_an_edit_changes(old: str, new: str, top: bool, names: set[str]) -> None:
    assert old in SOURCE
    other, found = changed(SOURCE.replace(old, new, 1))
    assert other is top and found >= names and (bool(names) or not found or top)


@pytest.mark.parametrize("seed", range(40))
def test_what_has_changed_has_its_names(seed: int) -> None:
    """An edit that changes how often a file has a name, in code that runs, changes a part that has it."""
    random = Random(seed)
    path: Path = random.choice(FILES)
    text = path.read_text()
    try:
        now = edited(text, ["torch"], random)
        one, other = code(text), code(now)
    except (SyntaxError, ValueError):
        return
    before, after = parts_of(one), parts_of(other)
    if before.top != after.top:
        return
    names = after.names_changed(before)
    said = {name for name in one.mentions.keys() | other.mentions.keys() if name.isidentifier()}
    told = {name for name in said if one.mentions[name] != other.mentions[name]}
    assert told <= names


def test_by_what_code_comes_to_names_is_known_outside() -> None:
    """Who looks for such words in a file rests on functions that have them, and else on none having one."""
    assert BY_NAME | MAKES_NAMES | INSTEAD <= REFLECTING
