"""A function is interpreted once for all runs: what one run came to there must say nothing of another one that comes with something else.

Each program has two scripts that use the same code differently. What is found of the runs of one is the same as where the other
isn't there, whichever of them is followed first.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, NamedTuple

import pytest
from conftest import findings

CODES: Final = "DET101,DET102,DET103,DET104,DET110,DET111,DET112,DET113,DET602,DET606"


class Program(NamedTuple):
    """Files by name, and two scripts."""

    files: dict[str, str]
    one: str
    other: str
    different: bool = True
    """Whether their runs come to different things."""


TRAINS: Final = "torch.nn.Linear(2, 2)(torch.ones(2)).sum().backward()\n"
PARSER: Final = "import argparse\nfrom helper import begin\n\nparser = argparse.ArgumentParser()\n"
MAIN: Final = "if __name__ == '__main__':\n    open('y', 'w').write("
PROGRAMS: Final = {
    "an argument decides": Program(
        {"helper.py": "import torch\n\ndef begin(fix):\n    if fix:\n        torch.manual_seed(0)\n    return torch.rand(2)\n"},
        "from helper import begin\n\nprint(begin(True).sum())\n",
        "from helper import begin\n\nprint(begin(False).sum())\n",
    ),
    "a text decides": Program(
        {
            "helper.py": "import random\n\ndef begin(mode):\n    if mode == 'fixed':\n        random.seed(0)\n"
            "    with open('x') as f:\n        return random.choice(f.readlines())\n"
        },
        "from helper import begin\n\nopen('y', 'w').write(begin('fixed'))\n",
        "from helper import begin\n\nopen('y', 'w').write(begin('free'))\n",
    ),
    "what is called is handed over": Program(
        {"helper.py": "def twice(f):\n    return f(), f()\n"},
        "import torch\nfrom helper import twice\n\ndef draw():\n    return torch.rand(2)\n\nopen('y', 'w').write(str(twice(draw)))\n",
        "from helper import twice\n\ndef draw():\n    return 1\n\nopen('y', 'w').write(str(twice(draw)))\n",
    ),
    "the option of a script": Program(
        {"helper.py": "import random\n\ndef begin(args):\n    random.seed(args.seed)\n    return random.random()\n"},
        f"{PARSER}parser.add_argument('--seed', type=int, default=0)\n{MAIN}str(begin(parser.parse_args())))\n",
        f"{PARSER}parser.add_argument('--seed', type=int, default=None)\n{MAIN}str(begin(parser.parse_args())))\n",
    ),
    "what a constructor was handed": Program(
        {
            "helper.py": "class Data:\n    def __init__(self, make):\n        self.make = make\n\n"
            "    def rows(self):\n        return self.make(3)\n",
            "rates.py": "import numpy as np\n\ndef drawn(size):\n    return np.random.rand(size)\n\n"
            "def ones(size):\n    return np.ones(size)\n",
        },
        f"from helper import Data\nfrom rates import drawn\n{MAIN}str(Data(drawn).rows()))\n",
        f"from helper import Data\nfrom rates import ones\n{MAIN}str(Data(ones).rows()))\n",
    ),
    "a function that another one is defined in": Program(
        {
            "helper.py": "import torch\n\ndef maker(fix):\n    def make():\n        if fix:\n            torch.manual_seed(0)\n"
            "        return torch.rand(2)\n    return make()\n"
        },
        "from helper import maker\n\nopen('y', 'w').write(str(maker(True)))\n",
        "from helper import maker\n\nopen('y', 'w').write(str(maker(False)))\n",
    ),
    "what was done before": Program(
        {"helper.py": "import torch\n\ndef draw():\n    return torch.rand(2)\n"},
        "import torch\nfrom helper import draw\n\ntorch.manual_seed(0)\nopen('y', 'w').write(str(draw()))\n",
        "from helper import draw\n\nopen('y', 'w').write(str(draw()))\n",
    ),
    "what importing does": Program(
        {
            "package/__init__.py": "try:\n    import missing\nexcept ImportError:\n    missing = None\n",
            "package/seeds.py": "import torch\n\ntorch.manual_seed(0)\n",
            "package/draws.py": "import torch\n\nRATES = [0.1]\n\ndef draw():\n    return torch.rand(2)\n",
        },
        "import package.seeds\nfrom package.draws import draw\n\nopen('y', 'w').write(str(draw()))\n",
        "from package.draws import draw\n\nopen('y', 'w').write(str(draw()))\n",
    ),
    "an import that stops": Program(
        {
            "package/__init__.py": "try:\n    from .lacks import nothing\nexcept ImportError:\n    nothing = None\n",
            "package/lacks.py": "here = 1\n",
            "package/draws.py": "import torch\n\ndef draw():\n    return torch.rand(2)\n",
        },
        "from package.draws import draw\n\nopen('y', 'w').write(str(draw()))\n",
        "from package.lacks import nothing\nfrom package.draws import draw\n\nopen('y', 'w').write(str(draw()))\n",
        different=False,
    ),
    "a context manager": Program(
        {
            "helper.py": "import contextlib\nimport torch\n\n@contextlib.contextmanager\ndef around(fix):\n    if fix:\n"
            "        torch.manual_seed(0)\n    yield\n"
        },
        "import torch\nfrom helper import around\n\nwith around(True):\n    open('y', 'w').write(str(torch.rand(2)))\n",
        "import torch\nfrom helper import around\n\nwith around(False):\n    open('y', 'w').write(str(torch.rand(2)))\n",
    ),
    "what a registry keeps": Program(
        {
            "registry.py": "TABLE = {}\n\ndef register(f):\n    TABLE[f.__name__] = f\n    return f\n\n"
            "def build(name):\n    return TABLE[name]()\n",
            "noisy.py": "import torch\nfrom registry import register\n\n@register\ndef noise():\n    return torch.rand(2)\n",
            "plain.py": "from registry import register\n\n@register\ndef ones():\n    return [1, 1]\n",
        },
        "import noisy\nfrom registry import build\n\nopen('y', 'w').write(str(build('noise')))\n",
        "import plain\nfrom registry import build\n\nopen('y', 'w').write(str(build('ones')))\n",
    ),
    "an object that importing makes": Program(
        {
            "helper.py": "import torch\n\nclass Pipe:\n    def __init__(self):\n        self.size = 2\n\n"
            "    def __call__(self):\n        return torch.rand(self.size)\n\nPIPE = Pipe()\n"
        },
        "import torch\nfrom helper import PIPE\n\ntorch.manual_seed(0)\nopen('y', 'w').write(str(PIPE()))\n",
        "from helper import PIPE\n\nopen('y', 'w').write(str(PIPE()))\n",
    ),
    "the switch of one": Program(
        {
            "helper.py": "import torch\n\ndef train(fix):\n    torch.use_deterministic_algorithms(fix)\n    torch.manual_seed(0)\n"
            f"    {TRAINS}"
        },
        "import torch\nfrom helper import train\n\nmodel = torch.nn.Linear(2, 2).cuda()\ntrain(True)\n",
        "import torch\nfrom helper import train\n\nmodel = torch.nn.Linear(2, 2).cuda()\ntrain(False)\n",
    ),
}  # fmt: skip


def found_in(root: Path, files: dict[str, str], scripts: dict[str, str]) -> dict[str, list[tuple[object, ...]]]:
    """What is found of the runs of each of some scripts, by its name: the findings that stand in it, and those on whose way it stands."""
    for name, text in {**files, **scripts}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    told = findings("--select", CODES, root)
    found: dict[str, list[tuple[object, ...]]] = {name: [] for name in scripts}
    for finding in told:
        steps = [finding["filename"], *(step["filename"] for step in finding["path"])]
        said = (finding["code"], finding["severity"], Path(finding["filename"]).name, finding["location"]["row"])
        for name, seen in found.items():
            if any(Path(path).name == name for path in steps):
                seen.append(said if said[2] != name else (*said[:2], "the script", said[3]))
    return {name: sorted(seen, key=str) for name, seen in found.items()}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_runs_say_nothing_of_one_another(program: Program, tmp_path: Path) -> None:
    alone: list[list[tuple[object, ...]]] = []
    for number, text in enumerate((program.one, program.other)):
        alone += found_in(tmp_path / f"alone{number}", program.files, {"main.py": text}).values()
    for number, (first, second) in enumerate([(program.one, program.other), (program.other, program.one)]):
        both = found_in(tmp_path / f"both{number}", program.files, {"a.py": first, "b.py": second})
        assert [both["a.py"], both["b.py"]][:: 1 - 2 * number] == alone
    if program.different:
        assert alone[0] != alone[1]
