"""Where seeds and switches go: where the run's code runs. What a fix repairs isn't found any more afterwards."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent

import pytest
from conftest import detlint

BODY = """\
    net = nn.Conv2d(3, 8, 3).cuda()
    net(torch.rand(4, 3, 16, 16).cuda()).sum().backward()
"""
HEAD = "import torch\nfrom torch import nn\n"
WORK = f"def work(*args):\n{BODY}"
MAIN = '\n\ndef main():\n    {0}\n\n\nif __name__ == "__main__":\n    main()\n'
OBJECT = "class Job:\n    def __call__(self):\n" + BODY.replace("    ", "        ")
SEEDED = "    torch.manual_seed(0)\n"
STATEMENTS = (
    '    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")\n    torch.use_deterministic_algorithms(True)\n'
)

PROCESSES = {
    "submitit": ("import submitit\n", WORK, 'submitit.AutoExecutor(folder="logs").submit(work, 3)'),
    "an object for submitit": ("import submitit\n", OBJECT, 'submitit.AutoExecutor(folder="logs").submit(Job())'),
    "torch.multiprocessing": ("import torch.multiprocessing as mp\n", WORK, "mp.spawn(work, nprocs=2)"),
    "Process": ("from multiprocessing import Process\n", WORK, "Process(target=work).start()"),
    "ray": ("import ray\n", f"@ray.remote\n{WORK}", "print(ray.get(work.remote(1)))"),
}
"""What starts a process -> its import, what runs there, the call in `main`."""
HERE = {
    "a main function": f"{HEAD}\n\ndef main():\n{BODY}\n\nif __name__ == '__main__':\n    main()\n",
    "a main block": f"{HEAD}\nif __name__ == '__main__':\n{BODY}",
    "a top level": HEAD + "\n" + dedent(BODY),
    "options": f"import argparse\n\n{HEAD}\n\ndef main():\n    parser = argparse.ArgumentParser()\n"
    f"    args = parser.parse_args()\n    print(args)\n{BODY}\n\nmain()\n",
    "a method": f"{HEAD}\n\nclass Runner:\n    def run(self):\n{BODY.replace('    ', '        ')}\n\nRunner().run()\n",
    "a trainer": f"from transformers import Trainer, TrainingArguments\n\n{HEAD}\n\ndef main():\n    model = nn.Linear(3, 2)\n"
    "    Trainer(model, TrainingArguments('out', seed=3), train_dataset=[]).train()\n\n\nmain()\n",
}
"""Runs that stay in one process."""


def found(folder: Path, *options: str) -> set[str]:
    result = detlint("check", *(options or ("--isolated",)), "--no-cache", "--output-format", "json", folder)
    assert result.exit_code in (0, 1), result.stderr
    return {finding["code"] for finding in json.loads(result.stdout)}


def fixed(folder: Path) -> None:
    assert detlint("check", "--isolated", "--no-cache", "--fix", "--unsafe-fixes", folder).exit_code in (0, 1)


@pytest.mark.parametrize("name", PROCESSES)
def test_a_process_is_seeded_and_switched_itself(tmp_path: Path, name: str) -> None:
    imported, work, call = PROCESSES[name]
    file = tmp_path / "train.py"
    file.write_text(f"{imported}{HEAD}\n\n{work}{MAIN.format(call)}")
    assert {"DET104", "DET602"} <= found(file)
    fixed(file)
    text = file.read_text()
    margin = "    " if name.startswith("an object") else ""
    begin = text.index("(self):\n" if margin else "(*args):\n")
    inside = text[begin : text.index("def main")]
    assert all(margin + line in inside for line in (SEEDED + STATEMENTS).splitlines())
    assert text.count("manual_seed") == text.count("use_deterministic") == 1
    assert found(file) == set()


def test_a_switch_of_the_launcher_does_not_reach_a_new_process(tmp_path: Path) -> None:
    imported, work, call = PROCESSES["torch.multiprocessing"]
    file = tmp_path / "train.py"
    switched = MAIN.replace("main():\n", f"main():\n{STATEMENTS}", 1)
    file.write_text(f"import os\n{imported}{HEAD}\n\n{work}{switched.format(call)}")
    assert "DET602" in found(file)
    file.write_text(
        f"import os\n{imported}{HEAD}\n\n{work.replace(':' + chr(10), ':' + chr(10) + STATEMENTS, 1)}{MAIN.format(call)}"
    )
    assert "DET602" not in found(file)


def test_a_forked_process_has_the_switches_of_the_launcher(tmp_path: Path) -> None:
    switched = MAIN.replace("main():\n", f"main():\n{STATEMENTS}    torch.manual_seed(0)\n", 1)
    call = 'multiprocessing.get_context("fork").Process(target=work).start()'
    file = tmp_path / "train.py"
    file.write_text(f"import multiprocessing\nimport os\n\n{HEAD}\n\n{WORK}{switched.format(call)}")
    assert found(file) == set()


@pytest.mark.parametrize("name", HERE)
def test_a_run_is_not_told_again_once_it_is_fixed(tmp_path: Path, name: str) -> None:
    file = tmp_path / "train.py"
    file.write_text(HERE[name])
    before = found(file)
    assert "DET602" in before
    fixed(file)
    left = found(file)
    assert not left & {"DET104", "DET113", "DET402", "DET602"}, file.read_text()


def test_a_notebook_is_not_told_again_once_it_is_fixed(tmp_path: Path) -> None:
    cells = [HEAD, dedent(BODY)]
    made: list[dict[str, object]] = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": cell} for cell in cells
    ]
    file = tmp_path / "train.ipynb"
    file.write_text(json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    assert {"DET104", "DET602"} <= found(file)
    fixed(file)
    assert found(file) == set()


LAZY = """\
import argparse

import torch


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--framework", default="torch", choices=["torch", "tf"])
    parser.add_argument("--seed", type=int, default=7)
    args = parser.parse_args()
    if args.framework == "tf":
        import tensorflow as tf  # only here

        print(tf.random.normal((4, 3)))
    else:
        print(torch.rand(3))  # noise


if __name__ == "__main__":
    main()
"""


def test_what_only_an_option_imports_is_seeded_beside_that(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_text(LAZY)
    assert detlint("check", "--isolated", "--no-cache", "--fix", file).exit_code == 0
    expected = LAZY.replace("  # only here\n", "  # only here\n        tf.random.set_seed(args.seed)\n")
    expected = expected.replace("parse_args()\n", "parse_args()\n    torch.manual_seed(args.seed)\n")
    assert file.read_text() == expected


def test_an_import_in_a_function_that_runs_more_than_once_is_unsafe_to_seed_beside(tmp_path: Path) -> None:
    helper = "def mixed(x):\n    import tensorflow\n\n    return tensorflow.random.shuffle(x)\n\n\n"
    file = tmp_path / "train.py"
    file.write_text(f"{helper}def main():\n    print(mixed([1]), mixed([2]))\n\n\nmain()\n")
    shown = detlint("check", "--isolated", "--no-cache", file).stdout
    assert "--fix --unsafe-fixes can call `tensorflow.random.set_seed(n)` where `tensorflow` is imported" in shown
    detlint("check", "--isolated", "--no-cache", "--fix", file)
    assert "set_seed" not in file.read_text()
    fixed(file)
    assert "    import tensorflow\n    tensorflow.random.set_seed(0)\n" in file.read_text()


def test_nothing_is_seeded_in_a_forward_that_nothing_calls(tmp_path: Path) -> None:
    net = "class Net(nn.Module):\n    def forward(self, x):\n        return x + torch.rand(3)\n"
    file = tmp_path / "net.py"
    file.write_text(f"{HEAD}\n\n{net}")
    (tmp_path / "train.py").write_text(
        "from net import Net\n\n\ndef main():\n    net = Net()\n    net.fit()\n\n\nmain()\n"
    )
    fixed(tmp_path)
    assert "manual_seed" not in file.read_text()


SWITCHED = (
    "import torch\nfrom torch import nn\n\ntorch.manual_seed(0)\ntorch.use_deterministic_algorithms(True)\n"
    + dedent(BODY)
)
PROJECT = "[project]\nname = 'p'\ndependencies = ['torch==2.3.0']\n"
SETS = "NVTE_ALLOW_NONDETERMINISTIC_ALGO"
LAUNCHES = {
    "export": ("run.sh", f"# one\nexport {SETS}=0  # no\n\npython train.py\n", "export {}=:4096:8\n"),
    "quotes": ("run.sh", f"  export A=1 {SETS}='0'\npython train.py\n", "  export {}=':4096:8'\n"),
    "ENV": ("Dockerfile", f'FROM python\nENV {SETS}=0\nCMD ["python", "train.py"]\n', "ENV {}=:4096:8\n"),
    "ENV with a space": ("Dockerfile", f"FROM python\nENV {SETS} 0\nCMD python train.py\n", "ENV {} :4096:8\n"),
    "before the command": ("run.sh", f"{SETS}=0 python train.py\n", ""),
    "nothing else": ("run.sh", "python train.py\n", ""),
    "a line that goes on": ("run.sh", f"export A=1 \\\n  {SETS}=0\npython train.py\n", ""),
}
"""What starts a run -> the name of the file, what it has, the line that it gets, "" for none."""


@pytest.mark.parametrize("name", LAUNCHES)
def test_a_variable_is_set_where_a_launch_sets_others(tmp_path: Path, name: str) -> None:
    launch, text, line = LAUNCHES[name]
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    (tmp_path / "train.py").write_text(SWITCHED)
    (tmp_path / launch).write_text(text)
    assert found(tmp_path, "--no-fix") == {"DET603"}
    shown = detlint("check", "--no-cache", tmp_path).stdout
    told = line.format("CUBLAS_WORKSPACE_CONFIG").strip()
    assert (f"--fix can write `{told}` in {launch}" in shown) is bool(line)
    assert detlint("check", "--no-cache", "--fix", tmp_path).exit_code == 0
    after = (tmp_path / launch).read_text().splitlines(keepends=True)
    number = next((i for i, each in enumerate(after) if SETS in each), -1) + 1
    assert (after.pop(number) if line else "") == line.format("CUBLAS_WORKSPACE_CONFIG")
    assert "".join(after) == text
    assert ("os.environ" in (tmp_path / "train.py").read_text()) is not bool(line)
    assert found(tmp_path, "--no-fix") == set()


def test_only_the_files_that_were_named_get_a_variable(tmp_path: Path) -> None:
    launch, text, _ = LAUNCHES["export"]
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    (tmp_path / "train.py").write_text(SWITCHED)
    (tmp_path / launch).write_text(text)
    assert detlint("check", "--no-cache", "--fix", tmp_path / "train.py").exit_code == 0
    assert (tmp_path / launch).read_text() == text
    assert "os.environ.setdefault" in (tmp_path / "train.py").read_text()
