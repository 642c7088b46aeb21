"""`detlint explain FILE:LINE`: what is known of a line, which runs come there, and why the verdict is what it is."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import detlint

Project = Callable[..., Path]

HELPERS = """\
import numpy as np
import torch


def seed_numpy(seed):
    np.random.seed(seed)


def noise():
    return torch.rand(3)
"""
TRAIN = """\
import torch
from torch import nn

from helpers import noise, seed_numpy


def main():
    seed_numpy(0)
    noise()
    drop = nn.Dropout(0.0)
    keep = nn.Dropout(0.5)
    return torch.rand(1)


if __name__ == "__main__":
    main()
"""
SEEDED = "import torch\n\ntorch.manual_seed(0)\ntorch.rand(1)\n"
TWO = {"helpers.py": HELPERS, "train.py": TRAIN, "pyproject.toml": ""}


def explained(place: str) -> str:
    result = detlint("explain", place)
    assert result.exit_code == 0, result.stderr
    return result.stdout


def test_unseeded_draw(project: Project) -> None:
    project(**TWO)
    text = explained("helpers.py:10")
    assert "draws from torch" in text
    assert "path: `main` (train.py:16) > `noise` (train.py:9) > here" in text
    assert "draws torch: unseeded\n      nothing in this run seeds it" in text
    assert "error[DET113] the run seeds numpy but not torch" in text


def test_where_nothing_marks_a_project_the_current_folder_is_it(project: Project) -> None:
    project(**{"src/net.py": "import torch\n\n\ndef noise():\n    return torch.rand(2)\n", "train.py": "print(1)\n"})
    assert "no entry point of the program imports the file" in explained("src/net.py:5")
    project(**{"train.py": "from src.net import noise\n\nprint(noise())\n"})
    assert "path: `noise` (train.py:3) > here" in explained("src/net.py:5")


def test_later_draw_is_told_with_the_first(project: Project) -> None:
    project(**TWO)
    assert "told once for a run, at its first unseeded draw: helpers.py:10 (`torch.rand`)" in explained("train.py:12")


def test_call_of_a_helper_says_what_that_does(project: Project) -> None:
    project(**TWO)
    text = explained("train.py:8")
    assert "seeds numpy" in text
    assert "seeded at helpers.py:6 by `numpy.random.seed`, fixed" in text
    assert "on the way to error[DET113] helpers.py:10" not in text  # the path names the seeding itself
    assert "on the way to error[DET113] helpers.py:10" in explained("helpers.py:6")


def test_condition_that_is_not_met(project: Project) -> None:
    project(**TWO)
    assert "no finding: DET201 dropout\n    because: it asks that `p` > 0 and < 1, and it is 0.0" in explained(
        "train.py:10"
    )


def test_severity_step_by_step(project: Project) -> None:
    project(**TWO)
    assert "because: warning, certain: random by design, and a run comes here whose streams are unseeded" in explained(
        "train.py:11"
    )


def test_seeded_draw(project: Project) -> None:
    project(**{"train.py": SEEDED})
    text = explained("train.py:4")
    assert "draws torch: seeded\n      seeded at train.py:3 by `torch.manual_seed`, fixed" in text
    assert "no entry point that comes here leaves the stream unseeded" in text


def test_draw_that_is_only_tried_out(project: Project) -> None:
    net = """\
    from torch import nn


    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.head = nn.Linear(2, 1)


    if __name__ == "__main__":
        import torch

        net = Net()
        {what}
        print(net(torch.ones(2)){shown})
    """
    project(
        **{
            "tried.py": textwrap.dedent(net.format(what="", shown=".shape")),
            "loaded.py": textwrap.dedent(net.format(what='net.load_state_dict(torch.load("net.pt"))', shown="")),
        }
    )
    assert "because: a run that comes here only tries something out" in explained("tried.py:7")
    assert "because: a run that comes here loads weights and doesn't train" in explained("loaded.py:7")


def test_optional_seed(project: Project) -> None:
    project(
        **{
            "train.py": "import argparse\nimport random\n\np = argparse.ArgumentParser()\n"
            "p.add_argument('--seed', type=int, default=None)\nargs = p.parse_args()\n"
            "if args.seed is not None:\n    random.seed(args.seed)\nprint(random.random())\n"
        }
    )
    assert "draws python: seeded only where an option gives a seed" in explained("train.py:9")
    assert "warning[DET111]" in explained("train.py:5")


def test_late_seed(project: Project) -> None:
    project(**{"train.py": "import torch\n\ntorch.rand(1)\ntorch.manual_seed(0)\ntorch.rand(1)\n"})
    text = explained("train.py:4")
    assert "fixed but late" in text
    assert "error[DET112]" in text


def test_caller_decides(project: Project) -> None:
    project(**{"lib.py": "import torch\n\n\ndef noise():\n    return torch.rand(1)\n"})
    text = explained("lib.py:5")
    assert "no entry point of the program imports the file" in text
    assert "the caller decides" in text


def test_suppressed(project: Project) -> None:
    project(**{"ops.py": "import torch\n\n\ndef f(x, i, s):\n    return torch.index_add(x, 0, i, s)  # noqa: DET402\n"})
    text = explained("ops.py:5")
    assert "suppressed: DET402" in text
    assert "a comment suppresses it" in text


@pytest.mark.parametrize(
    ("key", "reason"),
    [
        ("severity = { DET402 = 'error' }", "error: the configuration's `severity` says so"),
        ("per-file-ignores = { 'ops.py' = ['DET402'] }", "`per-file-ignores` leaves it out"),
        ("ignore = ['DET402']", "the rule is not selected"),
        ("targets = ['cpu']", "which this file isn't judged for"),
    ],
)
def test_configuration(project: Project, key: str, reason: str) -> None:
    project(
        **{
            "ops.py": "import torch\n\n\ndef f(x, i, s):\n    return torch.index_add(x, 0, i, s)\n",
            "detlint.toml": key,
        }
    )
    assert reason in " ".join(explained("ops.py:5").split())


def test_nothing_there(project: Project) -> None:
    project(**TWO)
    assert "nothing that the catalog knows, and no call of the program's own" in explained("train.py:2")


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("train.py", "name a file and a line, as in train.py:12"),
        ("train.py:x", "name a file and a line, as in train.py:12"),
        ("train.py:99", "train.py has 4 lines; there is no line 99"),
        ("train.py:0", "there is no line 0"),
        ("nope.py:1", "no such file: nope.py"),
        ("broken.py:1", "broken.py"),
    ],
)
def test_wrong_use(project: Project, place: str, message: str) -> None:
    project(**{"train.py": SEEDED, "broken.py": "import torch\ndef f(:\n"})
    result = detlint("explain", place)
    assert result.exit_code == 2
    assert message in result.stderr
    assert not result.stdout


@pytest.mark.parametrize(
    ("start", "where"),
    [
        ("from layers import Net\nfrom evaluate import score\n", "at the import of `evaluate.score` in train.py"),
        ("from layers import Net\n\nnet = Net(3, size=8)\n", "at line 6 in train.py"),
        ("from layers import Net\n\n\ndef main():\n    Net(width)\n\n\nmain()\n", "at `width` in train.py"),
    ],
    ids=["import", "call", "name"],
)
def test_where_runs_end_with_an_error(project: Project, start: str, where: str) -> None:
    layers = "from mindspore import nn\n\n\nclass Net(nn.Cell):\n    def __init__(self, width):\n        super().__init__()\n"
    layers += "        self.conv = nn.Conv2d(3, width, 3)\n\n    def construct(self, x):\n        return self.conv(x)\n"
    train = f"import mindspore\nfrom mindspore import nn\n\n{start}\ncell = nn.TrainOneStepCell(Net(3), nn.SGD([]))\ncell(1)\n"
    project(**{"pyproject.toml": "", "layers.py": layers, "train.py": train, "evaluate.py": "def score(:\n"})
    text = " ".join(explained("layers.py:7").split())
    assert f"every run that would use it ends with an error, before it trains or evaluates anything: {where}" in text


def test_settings_are_those_of_check(project: Project) -> None:
    project(**{
        "train.py": "import torch\ntorch.manual_seed(1)\nnet = torch.nn.Dropout(0.1)\nprint(net(torch.ones(3)))\n",
        "detlint.toml": 'profile = "align"\n',
    })  # fmt: skip
    assert "error[DET201]" in detlint("explain", "train.py:3").stdout
    assert "note[DET201]" in detlint("explain", "--isolated", "train.py:3").stdout
    assert "error[DET201]" in detlint("explain", "--isolated", "--profile", "align", "train.py:3").stdout
    assert detlint("graph", "--isolated", "--target", "cpu", "train.py").exit_code == 0


def test_runs_are_told_by_their_launches(project: Project) -> None:
    text = """\
import argparse
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int)
args = parser.parse_args()
if args.seed is not None:
    torch.manual_seed(args.seed)
print(torch.rand(3))
"""
    project(**{"train.py": text, "run.sh": "python train.py --seed 3\n"})
    out = detlint("explain", "--isolated", "train.py:9").stdout
    assert "as run.sh:1 starts it" in out
    assert "seeded" in out
