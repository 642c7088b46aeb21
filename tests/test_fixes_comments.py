"""Comments stay when a fix takes out what they stand with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import detlint, notebook

EVERYTHING = ("--unsafe-fixes", "--show-notes", "--profile", "align")
GONE = 'os.environ["NCCL_DETERMINISTIC"] = "1"'
"""A statement that a fix takes out. `os` is used besides, so that its import stays."""


def fixed(folder: Path, source: str | bytes, name: str = "train.py") -> str:
    file = folder / name
    file.write_bytes(source if isinstance(source, bytes) else source.encode())
    result = detlint("check", "--isolated", "--no-cache", "--fix", *EVERYTHING, file)
    assert (result.exit_code, result.stderr) in ((0, ""), (1, ""))
    return file.read_bytes().decode()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f"x = 1\n{GONE}  # why\ny = 2\n", "x = 1\n# why\ny = 2\n"),
        (f"# above\n{GONE}\n# below\ny = 2\n", "# above\n# below\ny = 2\n"),
        (f"x = 1\n{GONE}  # why", "x = 1\n# why"),
        (f"x = 1\n{GONE}", "x = 1\n"),
        (f"def f():\n    # above\n    {GONE}  # why\n\nf()\n", "def f():\n    # above\n    pass  # why\n\nf()\n"),
        (
            f"def f():\n    x = 1\n    {GONE}  # why\n    # end\n\nf()\n",
            "def f():\n    x = 1\n    # why\n    # end\n\nf()\n",
        ),
        (f"def f():\n    {GONE}  # why\n    x = 1\n\nf()\n", "def f():\n    # why\n    x = 1\n\nf()\n"),
        (f'def f():\n    """Text."""\n    {GONE}  # why\n\nf()\n', 'def f():\n    """Text."""\n    # why\n\nf()\n'),
        (f"if x:\n    {GONE}  # why\nelse:\n    y = 1\n", "if x:\n    pass  # why\nelse:\n    y = 1\n"),
        (f"if x: {GONE}  # why\n", "if x: pass  # why\n"),
        (f"if x: {GONE}; y = 1  # why\n", "if x: pass; y = 1  # why\n"),
        (f"x = 1; {GONE}  # why\n", "x = 1; pass  # why\n"),
        (f"{GONE};  # why\n", "pass;  # why\n"),
        (f"x = 1; \\\n  {GONE}  # why\ny = 2\n", "x = 1; \\\n  pass  # why\ny = 2\n"),
        (
            'os.environ["NCCL_DETERMINISTIC"] = (  # why\n    # own\n    "1"  # one\n)  # end\ny = 2\n',
            "# why\n# own\n# one\n# end\ny = 2\n",
        ),
        (
            'def f():\n    os.environ["NCCL_DETERMINISTIC"] = (\n        "1"  # one\n    )\n\nf()\n',
            'def f():\n    os.environ["NCCL_DETERMINISTIC"] = (\n        "1"  # one\n    )\n\nf()\n',
        ),
        (f"x = 1\n{GONE}  # type: ignore[index]\n", "x = 1\n"),
        (f"x = 1\n{GONE}  # noqa: E501\ny = '#'\n", "x = 1\ny = '#'\n"),
        (f"x = '#'; {GONE}  # it's\n", "x = '#'; pass  # it's\n"),
        (f"def f():\n    {GONE}  # a\n    {GONE}  # b\n\nf()\n", "def f():\n    # a\n    pass  # b\n\nf()\n"),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_statement(tmp_path: Path, before: str, after: str, newline: str) -> None:
    lead = "import os\nx = y = os.sep\n"
    source = (lead + before).replace("\n", newline)
    assert fixed(tmp_path, source) == (lead + after).replace("\n", newline)


def test_a_notebook(tmp_path: Path) -> None:
    before = notebook("import os\nprint(os.sep)", f"x = 1\n{GONE}  # why", f"{GONE}  # only")
    cells = [cell["source"] for cell in json.loads(fixed(tmp_path, before, "train.ipynb"))["cells"]]
    assert cells[1:] == [["x = 1\n", "# why"], ["# only"]]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[\n    Flip(),  # flip\n    Resize(8),\n]", "[\n    # flip\n    Resize(8),\n]"),
        ("[\n    Resize(8),\n    Flip(  # flip\n    )  # end\n]", "[\n    Resize(8),\n    # flip\n    # end\n]"),
        ("[Resize(8), Flip()]  # both", "[Resize(8)]  # both"),
        ("[Flip(  # flip\n), Resize(8)]", "[Flip(  # flip\n), Resize(8)]"),
        ("[Flip(),  # flip\n Resize(8)]", "[Flip(),  # flip\n Resize(8)]"),
    ],
)
def test_an_item(tmp_path: Path, before: str, after: str) -> None:
    lead = "from torchvision.transforms import RandomHorizontalFlip as Flip, Resize\nflip = Flip\n\n\nSTEPS = "
    assert fixed(tmp_path, f"{lead}{before}\n").partition("STEPS = ")[2] == f"{after}\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("# above\nfrom torchvision.transforms import RandomHorizontalFlip  # flip\n", "# above\n# flip\n"),
        ("from torchvision.transforms import RandomHorizontalFlip  # noqa: E402\n", ""),
        (
            "from torchvision.transforms import (\n    RandomHorizontalFlip,  # flip\n    # big\n    Normalize,\n)\n",
            "from torchvision.transforms import (\n    Normalize,\n)\n",
        ),
    ],
)
def test_an_import(tmp_path: Path, before: str, after: str) -> None:
    source = f"{before}from torchvision.transforms import Resize\n\n\nSTEPS = [RandomHorizontalFlip(), Resize(8)]\n"
    found = fixed(tmp_path, source)
    assert "RandomHorizontalFlip" not in found
    assert [line for line in found.splitlines() if "#" in line] or "#" not in before or "noqa" in before
    for comment in ("# above", "# flip", "# big"):
        assert found.count(comment) == before.count(comment)
    assert all(line in found for line in after.splitlines())


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x=1,  # one\n)", "x=1,  # one\n    random_state=0,\n)"),
        ("x=1  # one\n)", "x=1,  # one\n    random_state=0\n)"),
        ("x=1,  # one\n    # below\n)", "x=1,  # one\n    random_state=0,\n    # below\n)"),
        ("x=1)  # one", "x=1,\n    random_state=0)  # one"),
    ],
)
def test_a_new_argument_leaves_the_comment_of_the_last(tmp_path: Path, before: str, after: str) -> None:
    lead = "from sklearn.cluster import KMeans\n\nmodel = KMeans(\n    n_clusters=3,  # three\n    "
    assert fixed(tmp_path, f"{lead}{before}\nmodel.fit([[1.0]])\n") == f"{lead}{after}\nmodel.fit([[1.0]])\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('"n_clusters": 3,  # three\n})', '"n_clusters": 3,  # three\n    "random_state": 0,\n})'),
        ('"n_clusters": 3  # three\n})', '"n_clusters": 3,  # three\n    "random_state": 0\n})'),
    ],
)
def test_a_new_item_leaves_the_comment_of_the_last(tmp_path: Path, before: str, after: str) -> None:
    lead = 'from hydra.utils import instantiate\n\nmodel = instantiate({\n    "_target_": "sklearn.cluster.KMeans",  # what\n    '
    assert fixed(tmp_path, f"{lead}{before}\nmodel.fit([[1.0]])\n") == f"{lead}{after}\nmodel.fit([[1.0]])\n"
