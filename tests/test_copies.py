"""What stands in a copy of a file, as launch scripts make them, is told of the file alone."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import detlint, findings, notebook

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


# -- notebooks with the code of a script --------------------------------------------------------------------------

PERCENT = """# %% [markdown]
# # Noise

# %%
import numpy as np

# %%
noise = np.random.rand(
    3,
    4,
)
print(noise)  # the first rows
"""
PROSE = '''"""
# Noise
"""

import numpy as np

"""shell
pip install numpy
"""


def noise(n):
    """Makes some."""
    return np.random.rand(n, 4)


print(noise(3))
'''
CELLS = ["#md # Noise", "!pip install numpy", "import numpy as np", "noise = np.random.rand(3, 4)\nprint(noise)"]
CELLS_OF_PROSE = [
    "import numpy as np",
    "%pip install numpy",
    'def noise(n):\n    """ Makes some. """\n    return np.random.rand(\n        n, 4\n    )',
    "print(noise(3))",
]


@pytest.mark.parametrize(
    ("script", "file", "cells"),
    [
        (PERCENT, "noise.ipynb", CELLS),
        (PROSE, "ipynb/noise.ipynb", CELLS_OF_PROSE),
    ],
    ids=["Jupytext", "documentation"],
)
def test_a_notebook_with_the_code_of_a_script_is_a_copy(
    severities: Callable[..., dict[str, set[str]]], script: str, file: str, cells: list[str]
) -> None:
    found = severities({"detlint.toml": "", "noise.py": script, file: notebook(*cells)})
    assert found == {"noise.py": {"error"}, file: {"note"}}
    assert severities({"detlint.toml": "", "noise.py": script, file: notebook(*cells)}, file) == {file: {"note"}}


@pytest.mark.parametrize(
    ("files", "cells"),
    [
        ({"noise.py": PERCENT}, [*CELLS, "np.random.shuffle(noise)"]),
        ({"noise.py": PERCENT}, [*CELLS[:-1], CELLS[-1].replace("4", "5")]),
        ({"noise.py": PERCENT.replace("print", "if noise.any():\n    print")}, CELLS),
        ({"noise.py": "import numpy as np\nnp.random.seed(0)\n" + PERCENT}, CELLS),
        ({"noise.py": PERCENT, "train.py": "import numpy as np\nnp.random.seed(0)\nimport noise\n"}, CELLS),
        ({"sound.py": PERCENT}, CELLS),
        ({"scripts/noise.py": PERCENT}, CELLS),
    ],
    ids=["more", "other numbers", "an if", "a script that seeds", "imported", "another name", "another folder"],
)
def test_what_is_no_notebook_of_a_script(
    severities: Callable[..., dict[str, set[str]]], files: dict[str, str], cells: list[str]
) -> None:
    found = severities({"detlint.toml": "", "ipynb/noise.ipynb": notebook(*cells), **files})
    assert "error" in found["ipynb/noise.ipynb"]


def test_layout_of_a_script_is_no_other_code(severities: Callable[..., dict[str, set[str]]]) -> None:
    """But indentation is: what a loop does is not what follows it."""
    loop = "import numpy as np\nfor _ in range(3):\n    print('x')\n    print(np.random.rand())\n"
    after = loop.replace("    print(np", "print(np")
    assert severities({"detlint.toml": "", "a.py": loop, "a.ipynb": notebook(loop)})["a.ipynb"] == {"note"}
    assert severities({"detlint.toml": "", "b.py": loop, "b.ipynb": notebook(after)})["b.ipynb"] == {"error"}
