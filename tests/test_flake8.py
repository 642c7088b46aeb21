"""The plugin under real flake8, in processes of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from conftest import CHECKING
from forks import server

DRAW = "import torch\n\nprint(torch.rand(3))\n"
SEEDED = "import torch\n\ntorch.manual_seed(0)\nprint(torch.rand(3))\n"
DROPOUT = "import torch\n\ntorch.manual_seed(0)\nnet = torch.nn.Dropout(0.5)\nprint(net(torch.rand(3)))\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    return tmp_path


def flake8(folder: Path, *arguments: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run flake8 where it, the plugin and what a check takes have been imported."""
    return server(CHECKING + "import detlint.flake8_plugin, flake8.main.cli\n").run(
        "import sys\nsys.argv[0] = 'flake8'\nsys.exit(flake8.main.cli.main())", *arguments, cwd=folder, stdin=stdin
    )


def test_it_is_registered_under_its_prefix(project: Path) -> None:
    assert "detlint: " in flake8(project, "--version").stdout


def test_findings_come_with_flake8s_own(project: Path) -> None:
    (project / "train.py").write_text(DRAW + "print( 1)\n")
    result = subprocess.run([sys.executable, "-m", "flake8"], cwd=project, capture_output=True, text=True, timeout=120)
    assert result.returncode == 1
    assert result.stdout.splitlines() == [
        "./train.py:3:7: DET104 `torch.rand` draws from PyTorch's global stream, which nothing seeds before",
        "./train.py:4:7: E201 whitespace after '('",
    ]


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_verdicts_are_the_whole_programs(project: Path, jobs: str) -> None:
    (project / "noise.py").write_text("import torch\n\n\ndef noise():\n    return torch.rand(3)\n")
    (project / "seeded.py").write_text(
        "import torch\nfrom noise import noise\n\ntorch.manual_seed(0)\nprint(noise())\n"
    )
    assert flake8(project, "-j", jobs).stdout == ""
    (project / "bare.py").write_text("from noise import noise\n\nprint(noise())\n")
    assert "./noise.py:5:12: DET104" in flake8(project, "-j", jobs).stdout
    named = flake8(project, "-j", jobs, "noise.py", "bare.py").stdout
    assert named.startswith("noise.py:5:12: DET104")


def test_what_the_baseline_has_is_silent(project: Path) -> None:
    (project / "train.py").write_text(DRAW)
    written = subprocess.run(
        [sys.executable, "-m", "detlint", "baseline"], cwd=project, capture_output=True, timeout=120
    )
    assert written.returncode == 0
    assert flake8(project).stdout == ""
    (project / "train.py").write_text(DRAW.replace("rand(3)", "rand(4)"))
    assert "./train.py:3:7: DET104" in flake8(project).stdout
    (project / ".detlint-baseline.json").write_text("<<<<<<<")
    assert "detlint: " in flake8(project).stderr + flake8(project).stdout
    assert "not a baseline" in flake8(project).stderr + flake8(project).stdout


def test_an_unsaved_buffer_is_judged_within_its_program(project: Path) -> None:
    (project / "noise.py").write_text("import torch\n\n\ndef noise():\n    return torch.rand(3)\n")
    (project / "train.py").write_text("print('saved before')\n")
    seeded = "import torch\nfrom noise import noise\n\ntorch.manual_seed(0)\nprint(noise())\n"
    arguments = ("--select", "DET", "--stdin-display-name", "train.py", "-")
    assert flake8(project, *arguments, stdin=seeded).stdout == ""
    bare = "from noise import noise\n\nprint(noise())\n"
    assert "train.py:3:7: DET104" in flake8(project, *arguments, stdin=bare).stdout
    assert (project / "train.py").read_text() == "print('saved before')\n"


def test_what_is_random_by_design_is_shown_when_asked_for(project: Path) -> None:
    (project / "train.py").write_text(DROPOUT)
    assert flake8(project).stdout == ""
    assert "DET201" in flake8(project, "--detlint-show-notes").stdout
    assert "DET201" in flake8(project, "--detlint-profile", "align").stdout


def test_options_stand_in_flake8s_configuration(project: Path) -> None:
    (project / "train.py").write_text(DROPOUT)
    (project / ".flake8").write_text("[flake8]\ndetlint-profile = align\ndetlint-target = cuda,ascend\n")
    assert "DET201" in flake8(project).stdout


def test_detlints_own_configuration_counts(project: Path) -> None:
    (project / "train.py").write_text(DROPOUT)
    (project / "pyproject.toml").write_text("[tool.detlint]\nprofile = 'align'\n")
    assert "DET201" in flake8(project).stdout
    (project / "pyproject.toml").write_text("[tool.detlint]\nexclude = ['train.py']\n")
    (project / "train.py").write_text(DRAW)
    assert flake8(project).stdout == ""


def test_a_wrong_configuration_is_told(project: Path) -> None:
    (project / "train.py").write_text(DRAW)
    (project / "pyproject.toml").write_text("[tool.detlint]\nprofil = 'align'\n")
    result = flake8(project)
    assert result.returncode == 1
    assert "profil" in result.stdout + result.stderr
    assert "Traceback" not in result.stdout + result.stderr


@pytest.mark.parametrize(
    ("comment", "silent"),
    [
        ("# noqa", True),
        ("# noqa: DET104", True),
        ("# noqa: DET1", True),
        ("# noqa: E501", False),
        ("# detlint: ignore[DET104] why", True),
    ],
)
def test_suppressions(project: Path, comment: str, silent: bool) -> None:
    (project / "train.py").write_text(DRAW.rstrip() + f"  {comment}\n")
    assert (flake8(project).stdout == "") is silent


def test_selection_is_flake8s(project: Path) -> None:
    (project / "train.py").write_text(DRAW)
    assert flake8(project, "--extend-ignore", "DET").stdout == ""
    assert flake8(project, "--select", "E").stdout == ""
    assert flake8(project, "--per-file-ignores", "train.py:DET104").stdout == ""


@pytest.mark.parametrize("option", ["ignore", "extend-ignore", "select", "extend-select"])
def test_a_prefix_that_takes_det_along_is_told(project: Path, option: str) -> None:
    (project / "train.py").write_text(SEEDED)
    (project / ".flake8").write_text(f"[flake8]\n{option} = D\n")
    result = flake8(project)
    assert f"`{option} = D`" in result.stderr
    assert "D1,D2,D3,D4" in result.stderr


def test_columns_are_counted_in_characters(project: Path) -> None:
    (project / "train.py").write_text('import torch\n\nprint("é", torch.rand(3))\n', "utf-8")
    assert "train.py:3:12: DET104" in flake8(project).stdout


def test_what_is_broken_is_left_to_flake8(project: Path) -> None:
    (project / "train.py").write_text("import torch\nprint(torch.rand(\n")
    result = flake8(project)
    assert "E999" in result.stdout or "E902" in result.stdout
    assert "Traceback" not in result.stderr
