"""What stands in a copy of a file, as launch scripts make them, is told of the file alone."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import detlint, findings

Project = Callable[..., Path]

DRAWS = "import numpy as np\n\n\ndef order(n):\n    return np.random.permutation(n)\n"
TRAIN = "from src.data import order\n\nif __name__ == '__main__':\n    print(order(3))\n"
LAUNCHED = {
    "detlint.toml": "",
    "train.py": TRAIN,
    "src/data.py": DRAWS,
    "runs/device0/train.py": TRAIN,
    "runs/device0/src/data.py": DRAWS,
    "runs/device1/train.py": TRAIN,
    "runs/device1/src/data.py": DRAWS,
}
HERE, THERE = "src/data.py", "runs/device0/src/data.py"


@pytest.fixture
def severities(project: Project) -> Callable[..., dict[str, set[str]]]:
    """The severities of what is found in each file."""

    def check(files: dict[str, str], *arguments: str) -> dict[str, set[str]]:
        root = project(**files)
        found: dict[str, set[str]] = {}
        for row in findings(*(arguments or ["."]), isolated=False):
            name = os.path.relpath(row["filename"], root).replace(os.sep, "/")
            found.setdefault(name, set()).add(row["severity"])
        return found

    return check


def test_copies_are_notes(severities: Callable[..., dict[str, set[str]]]) -> None:
    found = severities(LAUNCHED)
    assert found[HERE] == {"error"}
    assert found[THERE] == found["runs/device1/src/data.py"] == {"note"}


def test_explain_says_of_what_it_is_a_copy(project: Project) -> None:
    project(**LAUNCHED)
    assert f"note: the file is a copy of {HERE}" in detlint("explain", f"{THERE}:5").stdout


def test_a_copy_alone_is_judged_as_in_the_full_run(severities: Callable[..., dict[str, set[str]]]) -> None:
    assert severities(LAUNCHED, "runs/device0") == {THERE: {"note"}}


@pytest.mark.parametrize(
    ("file", "text"),
    [
        (THERE, DRAWS.replace("return", "return 1 +")),
        ("runs/device0/train.py", TRAIN.replace("3", "4")),
        ("runs/device0/other.py", "from src.data import order\n\nif __name__ == '__main__':\n    order(3)\n"),
    ],
    ids=["edited", "run by another script", "run by one more"],
)
def test_what_is_no_copy_any_more(severities: Callable[..., dict[str, set[str]]], file: str, text: str) -> None:
    found = severities({**LAUNCHED, file: text})
    assert "error" in found[THERE]
    assert found["runs/device1/src/data.py"] == {"note"}


def test_files_beside_each_other_are_no_copies(severities: Callable[..., dict[str, set[str]]]) -> None:
    projects = {f"{folder}/{name}": text for folder in "ab" for name, text in (("train.py", TRAIN), (HERE, DRAWS))}
    found = severities({"detlint.toml": "", **projects})
    assert found == {f"a/{HERE}": {"error"}, f"b/{HERE}": {"error"}}


def test_files_outside_of_the_root_are_no_copies(severities: Callable[..., dict[str, set[str]]]) -> None:
    net = "from torch.nn.functional import grid_sample\n\n\ndef warp(x, grid):\n    return grid_sample(x, grid)\n"
    found = severities({"a/net.py": net, "b/net.py": net}, "a/net.py", "b/net.py")  # nothing marks a project
    assert found == {"a/net.py": {"error"}, "b/net.py": {"error"}}


def test_what_cannot_be_read_is_no_copy(project: Project) -> None:
    root = project(**{"detlint.toml": "", "sub/main.py": "import torch\n"})
    (root / "sub" / "lost.py").symlink_to(root / "nowhere.py")
    assert [(row["code"], row["severity"]) for row in findings(".", isolated=False)] == [("DET001", "warning")]
