"""`detlint init`: what it tells of a repository, and the configuration that it writes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import detlint, notebook

Project = Callable[..., Path]

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TRAIN = "import torch\n\nif __name__ == '__main__':\n    print(torch.rand(3).cuda())\n"
PYPROJECT = "# ours\n[project]\nname = 'x'   # as it was\ndependencies = ['torch==2.6']\n"


def init(*arguments: str) -> str:
    result = detlint("init", *arguments)
    assert result.exit_code == 0, result.stderr
    return result.stdout


def lines(text: str) -> dict[str, str]:
    """What was told, by matter."""
    return {line[:10].strip(): line[11:] for line in text.splitlines() if line[:10].strip().isalpha()}


def test_what_is_told(project: Project) -> None:
    project(
        **{
            "pyproject.toml": PYPROJECT,
            "train.py": TRAIN,
            "model.py": "import torch_npu\nimport torch.nn as nn\n\n\ndef build():\n    return nn.Dropout(0.1)\n",
            "look.ipynb": notebook("import numpy as np\nnp.random.seed(1)\nprint(np.random.rand())"),
        }
    )
    told = lines(init("--dry-run"))
    assert told["files"] == "2 Python files, 1 notebook"
    assert told["libraries"] == "torch 2, numpy 1, torch_npu 1"
    assert told["versions"] == "torch 2.6 (pyproject.toml)"
    assert told["hardware"] == "ascend 1, cuda 1"
    assert told["runs"] == "2: look.ipynb:cell 1:2 (notebook), train.py:3 (__main__)"
    assert told["library"] == "1 file that no run comes to: their callers seed"
    assert told["findings"].startswith("1 error")
    assert "DET104 1" in told["findings"]


def test_into_pyproject(project: Project) -> None:
    root = project(**{"pyproject.toml": PYPROJECT, "train.py": TRAIN})
    said = init()
    text = (root / "pyproject.toml").read_text()
    assert text.startswith(PYPROJECT + "\n[tool.detlint]\n")
    assert tomllib.loads(text)["tool"]["detlint"] == {"profile": "reproduce", "targets": ["cuda"]}
    assert "Wrote pyproject.toml." in said
    assert not (root / "detlint.toml").exists()
    assert detlint("check").exit_code == 1  # the settings can be used
    assert init().endswith("pyproject.toml has a configuration, which stays as it is.\n")
    assert (root / "pyproject.toml").read_text() == text


def test_without_pyproject(project: Project) -> None:
    root = project(**{"train.py": TRAIN.replace(".cuda()", "")})
    init()
    text = (root / "detlint.toml").read_text()
    assert tomllib.loads(text) == {"profile": "reproduce"}
    assert '# targets = ["cuda"]' in text
    assert detlint("check").exit_code == 1


@pytest.mark.parametrize(
    "before", [b"", b"\n", b"[project]\r\nname = 'x'\r\n", b"[project]\nname = 'x'", "# \u00e9\n[tool.ruff]\n".encode()]
)
def test_every_byte_stays(project: Project, before: bytes) -> None:
    root = project(**{"pyproject.toml": before, "train.py": TRAIN})
    os.chmod(root / "pyproject.toml", 0o640)
    init()
    after = (root / "pyproject.toml").read_bytes()
    assert after.startswith(before)
    assert (b"\r\n" in after) == (b"\r\n" in before)
    assert after.count(b"\n") == after.count(b"\r\n") or b"\r\n" not in after
    assert (root / "pyproject.toml").stat().st_mode & 0o777 == 0o640
    assert "detlint" in tomllib.loads(after.decode())["tool"]


@pytest.mark.parametrize("option", ["--dry-run", "--diff"])
def test_only_shown(project: Project, option: str) -> None:
    root = project(**{"pyproject.toml": PYPROJECT, "train.py": TRAIN})
    said = init(option)
    assert "+[tool.detlint]\n" in said
    assert " dependencies = ['torch==2.6']\n" in said
    assert (root / "pyproject.toml").read_text() == PYPROJECT


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("detlint.toml", "profile = 'align'\n"),
        (".detlint.toml", ""),
        ("pyproject.toml", "[tool.detlint.versions]\ntorch = '2.0'\n"),
    ],
)
def test_what_is_there_stays(project: Project, name: str, text: str) -> None:
    root = project(**{name: text, "train.py": TRAIN})
    assert f"{name} has a configuration, which stays as it is." in init("--yes")
    assert (root / name).read_text() == text
    assert sorted(p.name for p in root.iterdir() if p.suffix == ".toml") == [name]


def test_from_a_folder_below(project: Project) -> None:
    root = project(**{"pyproject.toml": PYPROJECT, "train.py": TRAIN, "tools/a.py": "x = 1\n"})
    assert lines(init("tools"))["files"] == "2 Python files"
    assert "[tool.detlint]" in (root / "pyproject.toml").read_text()


def test_what_nothing_marks_is_one_folder(project: Project) -> None:
    root = project(**{"beside.py": TRAIN, "package/__init__.py": "", "package/a.py": "x = 1\n"})
    assert lines(init("package"))["files"] == "2 Python files"
    assert (root / "package" / "detlint.toml").exists()


def test_a_library(project: Project) -> None:
    root = project(**{"model.py": "import torch\n\n\ndef noise():\n    return torch.rand(3)\n"})
    assert lines(init())["runs"] == "none: a library, whose callers seed"
    assert tomllib.loads((root / "detlint.toml").read_text())["library"] == "caller"


def test_what_others_wrote_is_left_out(project: Project) -> None:
    root = project(**{"train.py": TRAIN, "src/third_party/a/b.py": TRAIN, "vendor/c.py": TRAIN})
    init()
    assert tomllib.loads((root / "detlint.toml").read_text())["extend-exclude"] == ["src/third_party", "vendor"]
    assert detlint("check", "--show-files").stdout.split() == ["train.py"]


def test_hardware_that_hardly_any_file_names_is_left_out(project: Project) -> None:
    files = {f"m{n}.py": "import torch\n\nprint(torch.rand(3).npu())\n" for n in range(6)}
    root = project(**files, **{"n.py": "import torch\n\nx = torch.device('mps')\n"})
    assert lines(init())["hardware"] == "ascend 6, mps 1"
    assert tomllib.loads((root / "detlint.toml").read_text())["targets"] == ["ascend"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tool = {}\n", "[tool.detlint] can't be added behind what it says"),
        ("[project\n", "not valid TOML"),
        ("x = 'é'\n".encode("latin-1"), "not valid TOML"),
    ],
)
def test_what_can_not_be_added_to_is_an_error(project: Project, text: str | bytes, message: str) -> None:
    root = project(**{"pyproject.toml": text, "train.py": TRAIN})
    before = (root / "pyproject.toml").read_bytes()
    result = detlint("init")
    assert result.exit_code == 2
    assert message in result.stderr
    assert "pyproject.toml" in result.stderr
    assert (root / "pyproject.toml").read_bytes() == before


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
@pytest.mark.parametrize(("answer", "written"), [(b"n\n", False), (b"\n", True)])
def test_on_a_terminal_it_asks(project: Project, answer: bytes, written: bool) -> None:
    root = project(**{"train.py": TRAIN})
    above, below = os.openpty()
    os.write(above, answer)
    command = [sys.executable, "-m", "detlint", "init"]
    process = subprocess.Popen(command, stdin=below, stdout=below, stderr=below)
    os.close(below)
    said = b""
    while True:
        try:
            said += os.read(above, 4096)
        except OSError:  # the other end is closed
            break
    os.close(above)
    assert process.wait(60) == 0
    assert b"Write detlint.toml? [Y/n]" in said
    assert (root / "detlint.toml").exists() is written
