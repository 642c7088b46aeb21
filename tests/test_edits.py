"""After any edit, what is kept from before an edit gives the answer that a run from nothing gives."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from conftest import REPOSITORY, age, detlint, examples
from edits import Project as Edited
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

PROGRAMS = sorted(path for path in (REPOSITORY / "fixtures" / "programs").iterdir() if len([*path.rglob("*.py")]) > 1)
PROJECTS = (
    "settled_by_all_files", "notebook_definitions_used", "run_stops_at_an_import", "mindspore_option_that_the_run_needs/gpu_alone",
)  # fmt: skip
"""Projects with all that answers rest on: packages and scripts, notebooks, configurations, documents."""
EDITS = 4


def report(*options: str) -> str:
    result = detlint("check", "--show-notes", "--output-format", "json", "--jobs", "1", *options, ".")
    assert result.exit_code in (0, 1), result.stderr
    return result.stdout


def one_answer(project: Path, random: Random, edits: int) -> None:
    """What is kept gives what a run from nothing gives, however a copy of a project is edited."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        root, cache = Path(folder) / project.name, Path(folder) / "cache"
        shutil.copytree(project, root)
        os.chdir(root)
        try:
            (root / "detlint.toml").touch()  # all files below are one program
            edited, done = Edited(root, random), ["begin"]
            kept, unasked = ("--cache-dir", str(cache)), ("--output-format", "concise")  # which plans no fix
            report(*kept, *unasked)
            for number in range(edits):
                done.append(edited.edit())
                if number % 2:
                    assert report(*kept) == report("--no-cache"), "\n".join(done)
                else:
                    report(*kept, *unasked)
        finally:
            os.chdir(before)


@settings(max_examples=examples(300, 20), suppress_health_check=[HealthCheck.too_slow])
@given(program=st.sampled_from(PROGRAMS), random=st.randoms(use_true_random=False))
def test_edits(program: Path, random: Random) -> None:
    one_answer(program, random, EDITS)


@pytest.mark.parametrize("name", PROJECTS)
@settings(max_examples=examples(300, 3), suppress_health_check=[HealthCheck.too_slow])
@given(random=st.randoms(use_true_random=False))
def test_edits_of_a_project(name: str, random: Random) -> None:
    one_answer(REPOSITORY / "fixtures" / "programs" / name, random, 2 * EDITS)


NOISE = "import torch\n\n\ndef noise():\n    return torch.rand(3)\n"
TRAIN = "from noise import noise\n\nif __name__ == '__main__':\n    print(noise())\n"


@pytest.mark.parametrize("file", ["noise.py", "train.py"])
def test_where_only_lines_move_nothing_is_judged_and_all_is_told_where_it_stands(
    project: Callable[..., Path], file: str
) -> None:
    constants = "LIMITS = (..., 2j, b'', 1 << 70, 1e400, '\\ud800', None)\n"  # of each kind that is kept of a file
    files = {"noise.py": NOISE + constants, "train.py": TRAIN + constants}
    root = project(**{"pyproject.toml": "[project]\nname = 'x'\n", **files})
    age(root, 0)
    before, told, text = report("--cache-dir", "cache"), set[str](), files[file]
    edits = (
        text.replace("\n", "  # torch.manual_seed(0)\n", 1),
        f"# a line\n\n{text}",
        text.replace("\n\n", "\n\n\n# why\n\n"),
        text,
    )
    for number, now in enumerate(edits, 1):
        (root / file).write_text(now)
        age(root, number)
        warm = detlint("check", "--verbose", "--show-notes", "--output-format", "json", "--cache-dir", "cache", ".")
        assert "judged anew: 0, runs followed anew: 0" in warm.stderr
        assert warm.stdout == report("--no-cache")
        told.add(warm.stdout)
    assert warm.stdout == before
    assert len(told) == 3


def test_a_file_that_can_not_be_read_for_a_while(project: Callable[..., Path]) -> None:
    project(**{"pyproject.toml": "[project]\nname = 'x'\n", "noise.py": NOISE, "train.py": TRAIN})
    whole = report()
    assert "DET104" in whole
    project(**{"noise.py": f"x = (\n{NOISE}"})
    assert "DET001" in report()
    assert report() == report("--no-cache")
    project(**{"noise.py": NOISE})
    assert report() == whole


USES = "import noise\n\nprint(noise.noise())\n"


@pytest.mark.parametrize("file", ["noise.py", "noise/__init__.py"])
@pytest.mark.parametrize("uses", [USES, USES + "x = (\n"], ids=["plain", "broken"])
def test_what_a_file_imports_comes_into_the_program(project: Callable[..., Path], file: str, uses: str) -> None:
    root = project(**{"detlint.toml": "", "use.py": uses})
    before = report("--cache-dir", "cache")
    assert before == "[]\n"  # nothing in it can matter
    project(**{file: NOISE})
    there = report("--cache-dir", "cache")
    assert there == report("--no-cache") and ("DET001" if uses != USES else "error") in there
    (root / file).unlink()
    assert report("--cache-dir", "cache") == before


STOPS = REPOSITORY / "fixtures" / "programs" / "run_stops_at_an_import"


@pytest.mark.parametrize(
    ("file", "now"),
    [
        ("evaluate.py", "def score(net):\n    return net\n"),
        ("tools/__init__.py", "best_checkpoint = str\n"),
        ("tools/freeze.py", "def freeze(net):\n    return net\n"),
        ("train.py", "from layers import Net\n\nif __name__ == '__main__':\n    print(Net())\n"),
    ],
    ids=["file", "name", "module", "script"],
)
def test_an_import_that_failed_is_mended(project: Callable[..., Path], file: str, now: str) -> None:
    files = {path.relative_to(STOPS).as_posix(): path.read_text() for path in STOPS.rglob("*.py")}
    root = project(**files)
    age(root, 0)
    only = ("--select", "DET406", "--cache-dir", "cache")
    (before,) = json.loads(report(*only))
    assert before["severity"] == "note"
    (root / file).write_text(now)
    age(root, 1)
    (after,) = json.loads(report(*only))
    assert after["severity"] == "warning"
    (root / file).write_text(files.get(file, "raise ImportError\n"))
    age(root, 2)
    assert report(*only) == report("--select", "DET406", "--no-cache")


RAISES = {
    "layers.py": "from mindspore import nn\n\n\nclass Net(nn.Cell):\n    def __init__(self, size):\n        super().__init__()\n"
    "        self.conv = nn.Conv2d(3, size, 3)\n\n    def construct(self, x):\n        return self.conv(x)\n",
    "train.py": "import mindspore\nfrom mindspore import nn\n\nfrom layers import Net\n\nnet = Net()\n"
    "cell = nn.TrainOneStepCell(net, nn.SGD(net.trainable_params()))\ncell(mindspore.ops.ones((1, 3, 8, 8)))\n",
}


@pytest.mark.parametrize(("file", "old", "new"), [("layers.py", "size):", "size=8):"), ("train.py", "Net()", "Net(8)")])
def test_a_call_that_raised_is_mended(project: Callable[..., Path], file: str, old: str, new: str) -> None:
    root = project(**RAISES)
    age(root, 0)
    only = ("--select", "DET406", "--cache-dir", "cache")
    (before,) = json.loads(report(*only))
    assert before["severity"] == "note"
    (root / file).write_text(RAISES[file].replace(old, new))
    age(root, 1)
    (after,) = json.loads(report(*only))
    assert after["severity"] == "warning"
    (root / file).write_text(RAISES[file])
    age(root, 2)
    assert report(*only) == report("--select", "DET406", "--no-cache")


IDLE = {
    "core.py": "import numpy as np\n\n\ndef fit():\n    print(scale)\n    print(np.random.rand())\n",
    "opts.py": "import core\n\n\ndef prepare():\n    pass\n",
    "train.py": "import core\nimport opts\n\nopts.prepare()\ncore.fit()\n",
}


def test_a_script_that_did_nothing_comes_to_act_by_an_edit_elsewhere(project: Callable[..., Path]) -> None:
    root = project(**IDLE)
    age(root, 0)
    only = ("--select", "DET102", "--cache-dir", "cache")
    (before,) = json.loads(report(*only))
    assert before["severity"] == "note"  # the run ends at a name that nothing binds
    (root / "opts.py").write_text(IDLE["opts.py"].replace("pass", "core.scale = 3"))
    age(root, 1)
    (after,) = json.loads(report(*only))
    assert after["severity"] == "error"
    (root / "opts.py").write_text(IDLE["opts.py"])
    age(root, 2)
    assert report(*only) == report("--select", "DET102", "--no-cache")


LACKING = "import torch\n\nSIZE = 3\n"
MORE = "from noise import SIZE\n\n\ndef sized():\n    return SIZE\n"


@pytest.mark.parametrize("now", [NOISE, f"{LACKING}\nnoise = torch.rand\n"], ids=["function", "alias"])
@pytest.mark.parametrize(
    "train",
    [
        TRAIN,
        TRAIN.replace("from noise import noise", "from shared import *"),
        TRAIN.replace("from noise import noise", "import noise").replace("noise()", "noise.noise()"),
        TRAIN.replace("from noise import noise", "import shared").replace("noise()", "shared.noise()"),
        TRAIN.replace("from noise import noise", "from noise import noise as rand"),
    ],
    ids=["name", "star", "attribute", "attribute of another", "another name"],
)
def test_what_was_asked_for_in_vain_is_there_now(project: Callable[..., Path], train: str, now: str) -> None:
    train = train.replace("noise()", "noise(3)") if "def" not in now else train
    shared = {"shared.py": "from noise import *\n", "more.py": MORE}
    root = project(**{"pyproject.toml": "[project]\nname = 'x'\n", "noise.py": LACKING, "train.py": train, **shared})
    age(root, 0)
    assert "DET1" not in report("--cache-dir", "cache")
    (root / "noise.py").write_text(now)
    age(root, 1)
    warm = report("--cache-dir", "cache")
    assert warm == report("--no-cache")
    assert "DET104" in warm or "as rand" in train


def test_another_name_of_an_operator_is_news_to_who_passed_over_it(project: Callable[..., Path]) -> None:
    warps = "from ops import warp\n\n\ndef warped(x):\n    return warp(x.cuda(), x)\n"
    ops = "import torch.nn.functional as F\n\nMODE = F\n"
    root = project(**{"pyproject.toml": "[project]\nname = 'x'\n", "ops.py": ops, "use.py": warps})
    age(root, 0)
    assert "DET403" not in report("--cache-dir", "cache")
    (root / "ops.py").write_text(f"{ops}warp = F.grid_sample\n")
    age(root, 1)
    warm = report("--cache-dir", "cache")
    assert warm == report("--no-cache")
    assert "DET403" in warm


NET = """import torch

__all__ = ["Net"]


class Net:
    def order(self, items):
        return sorted(items, key=lambda item: item[0])

    def noise(self):
        return torch.rand(3)
"""
FAR = """__all__ = ["far"]
import use


class Network:
    name = "Nets"
    items = dict.items


def far():
    return Network()
"""
PROGRAM = {
    "pyproject.toml": "[project]\nname = 'x'\n",
    "net.py": NET,
    "make.py": '__all__ = ["make"]\nfrom net import Net\n\n\ndef make():\n    return Net()\n',
    "use.py": '__all__ = ["noisy"]\nfrom make import make\n\n\ndef noisy():\n    return make().noise()\n',
    "far.py": FAR,
}


@pytest.mark.parametrize(
    ("now", "judged"),
    [
        (NET, 0),
        (f"# a line more\n{NET}", 0),
        (f"import os\n{NET}", 1),  # what says `Net` comes to what it came to, and the lambda is the one that it was
        (NET.replace('["Net"]', '["Net", "torch"]'), 1),
        (f"{NET}\n\ndef items(net):\n    return net\n", 1),  # the others say `items`, and mean something else
        (NET.replace("def noise", "def added(self):\n        return 1\n\n    def noise"), 3),  # not far.py
        (NET.replace("class Net:", "class Net(torch.nn.Module):"), 3),
        (NET.replace("Net", "Other"), 3),
    ],
    ids=["nothing", "line", "import", "listing", "function", "method", "base", "name"],
)
def test_an_edit_is_judged_where_it_can_be_seen(project: Callable[..., Path], now: str, judged: int) -> None:
    root = project(**PROGRAM)
    age(root, 0)
    assert "judged anew: 4, runs followed anew: 0" in detlint("check", "--verbose", "--cache-dir", "cache", ".").stderr
    (root / "net.py").write_text(now)
    age(root, 1)
    warm = detlint("check", "--verbose", "--cache-dir", "cache", ".")
    assert f"judged anew: {judged}, runs followed anew: 0" in warm.stderr
    assert warm.stdout == detlint("check", "--no-cache", ".").stdout


def interpreted(*options: str) -> int:
    """How many steps a run interprets."""
    said = detlint("check", "-vv", "--statistics", "--jobs", "1", *options, ".").stderr
    return int(
        next(line.split()[-1] for line in said.splitlines() if line.startswith("steps interpreted")).replace(",", "")
    )


def test_what_is_imported_is_not_gone_through_again(project: Callable[..., Path]) -> None:
    part = "import logging\nimport torch\n\nlog = logging.getLogger(__name__)\nlog.addFilter(Name({0}))\nNET = torch.nn.ReLU()\n"
    parts = {f"kit/part{i}.py": "from kit.filters import Name\n" + part.format(i) for i in range(30)}
    imports = "".join(f"from kit import part{i}\n" for i in range(30))
    filters = "class Name:\n    def __init__(self, i):\n        self.i = i\n"
    train = "import torch\nfrom kit import *\n\nif __name__ == '__main__':\n    {0}print(torch.rand(3))\n"
    root = project(**parts, **{"kit/__init__.py": imports, "kit/filters.py": filters, "train.py": train.format("")})
    age(root, 0)
    cold = interpreted("--cache-dir", "cache")
    assert cold > 30  # once for each part, at least
    (root / "train.py").write_text(train.format("print('begins'); "))
    age(root, 1)
    assert interpreted("--cache-dir", "cache") < 10
    seeding = filters.replace("self.i = i", "self.i = torch.manual_seed(i)")
    (root / "kit/filters.py").write_text(f"import torch\n\n\n{seeding}")
    age(root, 2)
    assert report("--cache-dir", "cache") == report("--no-cache")
    assert "DET104" not in report("--cache-dir", "cache")


@pytest.mark.parametrize("made", ["STEP = Step()", "import logging\n\nlogging.getLogger().addFilter(Step())"])
def test_what_an_object_does_that_is_made_where_it_is_imported(project: Callable[..., Path], made: str) -> None:
    root = project(**{
        "kit/__init__.py": "",
        "kit/noise.py": "def noise():\n    return 0\n",
        "kit/step.py": "from kit.noise import noise\n\n\nclass Step:\n    def __len__(self):\n        return noise()\n",
        "kit/table.py": f"from kit.step import Step\n\n{made}\n",
        "train.py": "import torch\nimport kit.table\n\nif __name__ == '__main__':\n    torch.manual_seed(0)\n    print(kit.table)\n",
    })  # fmt: skip
    age(root, 0)
    assert "DET113" not in report("--cache-dir", "cache")
    (root / "kit/noise.py").write_text("import random\n\n\ndef noise():\n    print(random.random())\n    return 0\n")
    age(root, 1)
    now = report("--cache-dir", "cache")
    assert "DET113" in now
    assert now == report("--no-cache")


PARTS = """import torch


def pick(x):
    return torch.empty(3).cuda().index_add_(0, x, x)
"""
NOTEBOOK = json.dumps(
    {
        "cells": [
            {"cell_type": "code", "source": "from kit.parts import *\npick.size = 3", "metadata": {}, "outputs": []}
        ],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
)
"""Its cell is one text, whose second line begins behind an escaped break."""
KIT = {
    "pyproject.toml": "[tool.other]\n",
    "kit/__init__.py": "",
    "kit/parts.py": PARTS,
    "kit/table.py": "from kit import parts\n\nMODULES = [parts]\n",
    "train.py": "import kit.table\nfrom torch.optim import SGD\n\nif __name__ == '__main__':\n    print(kit.table.MODULES, SGD)\n",
    "plan.py": "import torch\n\nSTEPS = []\n",
}


@pytest.mark.parametrize(
    ("file", "now"),
    [
        ("plan.py", "import torch\n\nSTEPS = ['kit.parts.pick']\n"),
        ("plan.py", "import torch\nimport kit.parts\n\nSTEPS = [kit.parts.pick]\n"),
        ("plan.yaml", "step: kit.parts.pick\n"),
        ("plan.ipynb", NOTEBOOK),
        (
            "kit/table.py",
            "from kit import parts\n\nMODULES = [parts]\nSTEPS = [getattr(parts, name) for name in MODULES]\n",
        ),
    ],
    ids=["text", "attribute", "configuration", "notebook", "put together"],
)
def test_what_nothing_names_is_named_by_an_edit(project: Callable[..., Path], file: str, now: str) -> None:
    root = project(**KIT)
    age(root, 0)
    unnamed = report("--cache-dir", "cache")
    assert '"note"' in unnamed and "warning" not in unnamed
    before = (root / file).read_text() if (root / file).exists() else None
    (root / file).write_text(now)
    age(root, 1)
    named = report("--cache-dir", "cache")
    assert named == report("--no-cache")
    assert "warning" in named
    if before is None:
        (root / file).unlink()
    else:
        (root / file).write_text(before)
    age(root, 2)
    assert report("--cache-dir", "cache") == unnamed


PORTED = """from mindspore import nn


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.masked = False
        self.conv = nn.Conv2d(8, 8, 3)

    def forward(self, x):
        return self.conv(x)


class Head(nn.Cell):
    def __init__(self):
        super().__init__()
        self.masked = False

    def construct(self, x):
        return x.sum(1) if self.masked else x
"""
BUILDS = """import mindspore
from build import nets

mindspore.set_context(device_target="Ascend")
net, head = nets()  # Net calls no construct, and a Head is not masked
grad = mindspore.value_and_grad(lambda x: head(net(x)), None, net.trainable_params())
"""


@pytest.mark.parametrize("line", ["head.masked = True\n"])
def test_what_is_left_out_is_set_by_an_edit(project: Callable[..., Path], line: str) -> None:
    build = "from ported import Head, Net\n\n\ndef nets():\n    return Net(), Head()\n"
    root = project(**{"ported.py": PORTED, "build.py": build, "train.py": BUILDS})
    age(root, 0)
    before = report("--cache-dir", "cache")
    (root / "train.py").write_text(BUILDS.replace("grad =", line + "grad ="))
    age(root, 1)
    warm = report("--cache-dir", "cache")
    assert warm == report("--no-cache")
    assert warm.count("warning") > before.count("warning")


def test_a_folder_above_gets_a_script(project: Callable[..., Path]) -> None:
    plain = "def main():\n    print(1)\n"
    script = f"{plain}\n\nif __name__ == '__main__':\n    main()\n"
    tried = "from src.noise import noise\n\nif __name__ == '__main__':\n    print(noise())\n"
    root = project(
        **{
            "detlint.toml": "",
            "app/src/noise.py": NOISE,
            "app/parts/net.py": tried,
            "app/run.py": plain,
            "app/other.py": plain,
        }
    )
    age(root, 0)
    before = report("--cache-dir", "cache")
    assert '"error"' not in before
    edits = (("run", script, True), ("other", script, True), ("run", plain, True), ("other", plain, False))
    for number, (name, text, told) in enumerate(edits, 1):
        (root / f"app/{name}.py").write_text(text)
        age(root, number)
        assert report("--cache-dir", "cache") == report("--no-cache")
        assert ('"error"' in report("--cache-dir", "cache")) is told
    assert report("--cache-dir", "cache") == before


def test_a_script_puts_another_folder_on_the_path(project: Callable[..., Path]) -> None:
    script = "import sys\n{}\nfrom noise import noise\n\nif __name__ == '__main__':\n    print(noise())\n"
    put = "sys.path.append('../{}')"
    root = project(
        **{
            "detlint.toml": "",
            "job/parts/noise.py": NOISE,
            "job/other/noise.py": "def noise():\n    return 1\n",
            "job/tools/run.py": script.format(""),
            "job/tools/_paths.py": "",
        }
    )
    age(root, 0)
    before = report("--cache-dir", "cache")
    assert '"error"' not in before
    edits = (("run", "parts", True), ("run", "other", False), ("run", "", False), ("_paths", "parts", True))
    for number, (name, folder, told) in enumerate(edits, 1):
        line = put.format(folder) if folder else ""
        text = script.format(line) if name == "run" else f"import sys\n{line}\n"
        (root / f"job/tools/{name}.py").write_text(text)
        age(root, number)
        assert report("--cache-dir", "cache") == report("--no-cache")
        assert ('"error"' in report("--cache-dir", "cache")) is told


def test_a_package_becomes_a_folder_of_scripts(project: Callable[..., Path]) -> None:
    run = "from src.noise import noise\n\n\ndef main():\n    print(noise())\n"
    script = f"{run}\n\nif __name__ == '__main__':\n    main()\n"
    root = project(
        **{
            "detlint.toml": "",
            "app/__init__.py": "",
            "app/src/__init__.py": "",
            "app/src/noise.py": NOISE,
            "app/run.py": run,
        }
    )
    age(root, 0)
    before = report("--cache-dir", "cache")
    assert '"error"' not in before
    for number, (text, told) in enumerate(((script, True), (run, False)), 1):
        (root / "app/run.py").write_text(text)
        age(root, number)
        assert report("--cache-dir", "cache") == report("--no-cache")
        assert ('"error"' in report("--cache-dir", "cache")) is told
    assert report("--cache-dir", "cache") == before


DOCUMENTED = REPOSITORY / "fixtures" / "programs" / "mindspore_documented_hardware" / "by_commands"
ON_ONE = REPOSITORY / "fixtures" / "programs" / "mindspore_on_one_device" / "as_it_is"


@pytest.mark.parametrize(
    ("file", "now"),
    [
        ("run.sh", "python train.py --device_target=Ascend\n"),
        ("scripts/run.sh", "python ../train.py --device_target Ascend\n"),
    ],
    ids=["the same script", "another script"],
)
def test_documents_say_another_hardware(project: Callable[..., Path], file: str, now: str) -> None:
    names = ("run.sh", "train.py", "scripts/run_train.sh")
    files = {name: (DOCUMENTED / name).read_text() for name in names}
    root = project(**files)
    age(root, 0)
    only = ("--select", "DET406,DET605,DET608", "--cache-dir", "cache")
    assert "DET608" not in report(*only)
    (root / file).parent.mkdir(exist_ok=True)
    (root / file).write_text(now)
    age(root, 1)
    assert "DET608" in report(*only)
    (root / "run.sh").write_text(files["run.sh"] + "\n# No more than that.\n")
    if file != "run.sh":
        (root / file).unlink()
    age(root, 2)
    assert "DET608" not in report(*only)
    assert "judged anew: 0" in detlint("check", "--verbose", *only, ".").stderr
    age(root, 3)
    assert "judged anew: 0" in detlint("check", "--verbose", *only, ".").stderr


@pytest.mark.parametrize(
    ("file", "now"),
    [
        ("scripts/run.sh", "mpirun -n 8 python ../train.py\n"),
        ("run.ipynb", '{"cells": [{"cell_type": "code", "source": ["!python train.py --distribute 1"]}]}\n'),
        ("settings.yaml", "distribute: 1\n"),
        ("start.py", 'COMMAND = ["msrun", "train.py"]\n'),
    ],
    ids=["script", "notebook", "settings", "python"],
)
def test_documents_say_several_devices(project: Callable[..., Path], file: str, now: str) -> None:
    files = {name: (ON_ONE / name).read_text() for name in ("run.sh", "train.py")}
    root = project(**files)
    age(root, 0)
    only = ("--select", "DET605", "--cache-dir", "cache")
    assert '"warning"' not in report(*only)
    (root / file).parent.mkdir(exist_ok=True)
    (root / file).write_text(now)
    age(root, 1)
    assert '"warning"' in report(*only)
    (root / file).write_text("{}\n")
    age(root, 2)
    assert '"warning"' not in report(*only)
    age(root, 3)
    assert "judged anew: 0" in detlint("check", "--verbose", *only, ".").stderr


SWITCHED = REPOSITORY / "fixtures" / "programs" / "hccl_switch_in_launches"


@pytest.mark.parametrize(
    ("file", "now"),
    [
        ("run.sh", "torchrun --nproc_per_node 8 main.py\n"),
        ("compose.yaml", "services: {train: {command: torchrun main.py}}\n"),
        ("scripts/run.sh", "torchrun ../main.py\n"),
        ("run.ipynb", '{"cells": [{"cell_type": "code", "source": ["!torchrun main.py"]}]}\n'),
    ],
    ids=["script", "settings", "another script", "notebook"],
)
def test_launches_no_longer_set_a_switch(project: Callable[..., Path], file: str, now: str) -> None:
    files = {name: (SWITCHED / name).read_text() for name in ("main.py", "run.sh", "compose.yaml")}
    root = project(**files)
    age(root, 0)
    only = ("--select", "DET605", "--cache-dir", "cache")
    assert '"warning"' not in report(*only)
    (root / file).parent.mkdir(exist_ok=True)
    (root / file).write_text(now)
    age(root, 1)
    assert '"warning"' in report(*only)
    (root / file).write_text(files.get(file, "{}\n"))
    age(root, 2)
    assert '"warning"' not in report(*only)


NEEDING = REPOSITORY / "fixtures" / "programs" / "mindspore_option_that_the_run_needs" / "gpu_alone"


@pytest.mark.parametrize(
    ("file", "now"),
    [
        ("run_ascend.sh", "python train.py --distributed=True --folder=data\n"),
        ("settings.yaml", 'device_target: "Ascend"\ndistributed: True\n'),
        ("settings.py", "import seen\n\nconfig = seen.read()\nconfig.distributed = True\n"),
    ],
    ids=["command", "settings", "file"],
)
def test_documents_say_who_gives_what_a_run_needs(project: Callable[..., Path], file: str, now: str) -> None:
    files = {path.name: path.read_text() for path in NEEDING.iterdir() if path.is_file()}
    root = project(**files)
    age(root, 0)
    only = ("--select", "DET406,DET605,DET608", "--cache-dir", "cache")
    assert "DET608" not in report(*only)
    (root / file).write_text(now)
    age(root, 1)
    assert "DET608" in report(*only)
    assert report(*only) == report(*only[:2], "--no-cache")
    if file in files:
        (root / file).write_text(files[file])
    else:
        (root / file).unlink()
    age(root, 2)
    assert "DET608" not in report(*only)


@pytest.mark.parametrize(
    ("file", "now"),
    [
        ("large.yaml", "model:\n  whole: sum\n"),
        ("settings.json", '{"whole": "sum"}\n'),
        ("run.sh", "python train.py small.yaml --whole sum\n"),
        ("tune.py", "def tuned(cfg):\n    cfg.model.whole = 'sum'\n"),
    ],
    ids=["settings", "JSON", "command", "code"],
)
def test_settings_come_to_say_something_else(project: Callable[..., Path], file: str, now: str) -> None:
    folder = REPOSITORY / "fixtures" / "programs" / "settled_but_for_missing_keys"
    root = project(**{name: (folder / name).read_text() for name in ("small.yaml", "train.py")})
    age(root, 0)
    only = ("--select", "DET406", "--target", "ascend", "--cache-dir", "cache")
    found = report(*only)
    (root / file).write_text(now)
    age(root, 1)
    assert report(*only) != found
    (root / file).unlink()
    age(root, 2)
    assert report(*only) == found
    assert "judged anew: 0" in detlint("check", "--verbose", *only, ".").stderr


RESIZES = """
import torch
import torch.nn.functional as F


class Net(torch.nn.Module):
    def forward(self, x, mode="bilinear"):
        return F.interpolate(x, scale_factor=2, mode=mode)
"""
BESIDE = """
import torch


class Other(torch.nn.Module):
    def forward(self, x):
        return x


def helper(x):
    return x + 1
"""
TRAINING = """
import torch

from net import Net

if __name__ == "__main__":
    torch.manual_seed(0)
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    net(torch.ones(1, 3, 4, 4)).sum().backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("now", "judged"),
    [
        (BESIDE.replace("x + 1", "x + 2"), 1),
        (BESIDE.replace("x + 1", "x.forward()"), 2),
        (BESIDE.replace("return x\n", "return x + x\n"), 2),
        (f"# moved\n{BESIDE}", 0),
    ],
    ids=["elsewhere", "newly said", "in it", "moved"],
)
def test_a_function_is_news_to_who_looked_for_what_it_says(project: Callable[..., Path], now: str, judged: int) -> None:
    """Who calls `forward` is looked for by that name: what functions say that don't have it is nothing to `net.py`."""
    root = project(**{"net.py": RESIZES, "other.py": BESIDE, "train.py": TRAINING})
    age(root, 0)
    report("--cache-dir", "cache")
    (root / "other.py").write_text(now)
    age(root, 1)
    warm = detlint("check", "--verbose", "--cache-dir", "cache", ".")
    assert f"judged anew: {judged}, runs followed anew: 0" in warm.stderr
    assert report("--cache-dir", "cache") == report("--no-cache")


def test_a_target_that_is_asked_for_counts_more_than_documents(project: Callable[..., Path]) -> None:
    project(**{name: (DOCUMENTED / name).read_text() for name in ("run.sh", "train.py")})
    found = report("--select", "DET406,DET605,DET608", "--target", "ascend", "--no-cache")
    assert all(code in found for code in ("DET406", "DET605", "DET608"))


FITS = """import torch


def fit():
    torch.manual_seed(0)
    net = torch.nn.Linear(2, 1).cuda()
    net(torch.rand(3, 2).cuda()).sum().backward()
    torch.optim.SGD(net.parameters(), 0.1).step()
"""
TRIES = """import fits
import mindspore.dataset as ds


def count(x):
    for row in x:
        row = key
    return x


def other(net):
    return net.eval()


key = 3
fits.fit()
for number in (1, 2):
    print(number)
again = ds.MindDataset("rows", ["rows"], shuffle=True)
print(again)
"""
FLAGS = """import numpy as np
import other
import torch


class Net:
    def __init__(self, flag):
        self.flag = flag

    def draw(self):
        if self.flag:
            return np.random.rand(3)
        return 0


torch.manual_seed(0)
net = Net(False)
print(other.noise(1))
other.use(net)
layer = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
(layer(torch.ones(4, 3)).sum() + net.draw()).backward()
optimizer.step()
"""
SETS = """import torch


def noise(x):
    torch.manual_seed(1)
    return x


class Other:
    def reset(self, there):
        this, rest = self, 0
        this.flag = True
        return rest


def use(net):
    return net
"""


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("main.py", "row = key", "row = again"),
        ("main.py", "row = key", "row = eval"),
        ("other.py", "this, rest = self, 0", "this = self; rest = 0"),
        ("other.py", "return rest", "return rest + 7"),
    ],
    ids=["a variable is read", "any name is read", "another's attribute", "the last line"],
)
def test_an_edit_inside_of_a_function_that_facts_do_not_tell(
    project: Callable[..., Path], file: str, old: str, new: str
) -> None:
    files = {"fits.py": FITS, "main.py": TRIES if file == "main.py" else FLAGS, "other.py": SETS}
    root = project(**files)
    age(root, 0)
    asked = ("--target", "cuda", "--show-notes")
    report(*asked, "--cache-dir", "cache")
    (root / file).write_text(files[file].replace(old, new))
    age(root, 1)
    assert report(*asked, "--cache-dir", "cache") == report(*asked, "--no-cache")
