"""Files of settings that code reads: what they say decides whether a run is seeded, and what they name is built and called."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import detlint, findings

Project = Callable[..., Path]
SELECT = "DET104,DET108,DET110,DET111,DET112,DET301,DET602"


def told(*arguments: str) -> list[tuple[str, int, str]]:
    """(file, line, code) of what is a warning or an error."""
    rows = findings("--select", SELECT, *arguments, ".")
    return sorted(
        (Path(r["filename"]).as_posix().rpartition("alone/")[2], r["location"]["row"], r["code"])
        for r in rows
        if r["severity"] != "note"
    )


def named(found: list[tuple[str, int, str]]) -> list[tuple[str, int, str]]:
    return [(Path(name).name, line, code) for name, line, code in found]


USES = """\
if seed is not None:
    torch.manual_seed(seed)
print(torch.nn.Linear(2, 2).weight)
"""
READS = {
    "run.json": "import json, torch\nwith open('run.json') as file:\n    options = json.load(file)\nseed = options['seed']\n"
    + USES,
    "a.json": "import json, torch\nfrom pathlib import Path\noptions = json.loads((Path(__file__).parent / 'a.json').read_text())\n"
    "seed = options.get('seed')\n" + USES.replace("if seed", "if options.get('seed')"),
    "b.yaml": "import yaml, torch, os\noptions = yaml.safe_load(open(os.path.join(os.path.dirname(__file__), 'b.yaml')))\n"
    "seed = options['seed']\n" + USES,
    "c.yaml": "import torch\nfrom omegaconf import OmegaConf\noptions = OmegaConf.load('c.yaml')\nseed = options.seed\n"
    + USES,
    "d.json": "import json, torch\n\ndef load(path):\n    with open(path) as file:\n        return json.load(file)\n\n"
    "options = load('d.json')\nseed = options['seed']\n" + USES,
}


@pytest.mark.parametrize("name", READS)
def test_a_seed_that_is_null(project: Project, name: str) -> None:
    text = '{\n  "width": 2,\n  "seed": null\n}\n' if name.endswith("json") else "width: 2\nother: 1\nseed: null\n"
    root = project(**{name: text, "train.py": READS[name]})
    assert named(told()) == [(name, 3, "DET111")]
    detlint("--isolated", "--no-cache", "--fix", ".")
    assert (root / name).read_text() == text.replace("null", "0")
    assert told() == []


def test_the_cache_follows(project: Project) -> None:
    root = project(**{"run.json": '{"seed": 1}', "train.py": READS["run.json"]})

    def found() -> str:
        return detlint("--isolated", "--select", SELECT, "--output-format", "concise", ".").stdout

    assert "DET111" not in found()
    (root / "run.json").write_text('{"seed": null}')
    assert "run.json:1:2: warning: DET111" in found()
    (root / "run.json").write_text('{"seed": 2}')
    assert "DET111" not in found()


HYDRA = """\
import hydra
import torch


@hydra.main(config_path="conf", config_name="config")
def main(cfg):
    if cfg.train.seed is not None:
        torch.manual_seed(cfg.train.seed)
    print(torch.nn.Linear(2, 2).weight)


if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({"config": "train:\n  seed: null\n"}, [("config.yaml", 2, "DET111")]),
        ({"config": "train:\n  seed: 3\n"}, []),
        ({"config": "defaults:\n  - train: base\n", "train/base": "lr: 1\nseed: null\n"}, [("base.yaml", 2, "DET111")]),
        ({"config": "defaults:\n  - train: base\n", "train/base": "seed: 1\n", "train/other": "seed: null\n"}, []),
        ({"config": "defaults:\n  - train: base\ntrain:\n  seed: 4\n", "train/base": "seed: null\n"}, []),
        (
            {"config": "defaults:\n  - _self_\n  - train: base\ntrain:\n  seed: 4\n", "train/base": "seed: null\n"},
            [("base.yaml", 1, "DET111")],
        ),
        ({"config": "seed: null\ntrain:\n  seed: ${seed}\n"}, [("config.yaml", 3, "DET111")]),
    ],
)
def test_hydra(project: Project, files: dict[str, str], found: list[tuple[str, int, str]]) -> None:
    project(**{f"conf/{name}.yaml": text for name, text in files.items()}, **{"train.py": HYDRA})
    assert named(told()) == found


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("seed: 3\n__set: !apply:torch.manual_seed [!ref <seed>]\n", []),
        ("seed: 3\n__set: !apply:torch.manual_seed\n  seed: !ref <seed>\n", []),
        ("seed: 3\n", ["DET104"]),
        ("net: !new:torch.nn.Linear [2, 2]\n__set: !apply:torch.manual_seed [3]\n", ["DET112"]),
    ],
)
def test_hyperpyyaml(project: Project, text: str, codes: list[str]) -> None:
    script = """\
import torch
from hyperpyyaml import load_hyperpyyaml

with open("hparams.yaml") as file:
    hparams = load_hyperpyyaml(file)
print(torch.rand(3))
"""
    project(**{"hparams.yaml": text, "train.py": script})
    assert [code for *_, code in told()] == codes


@pytest.mark.parametrize(("seeds", "codes"), [("set_determinism(1)", set()), ("", {"DET108", "DET301"})])
@pytest.mark.parametrize("name", ["t.json", "t.yaml"])
def test_what_a_file_names_is_built(project: Project, name: str, seeds: str, codes: set[str]) -> None:
    script = f"""\
from monai.bundle import ConfigParser
from monai.utils import set_determinism

if __name__ == "__main__":
    {seeds}
    parser = ConfigParser()
    parser.read_config("{name}")
    flip = parser.get_parsed_content("flip")
"""
    project(**{name: '{"flip": {"_target_": "RandFlipd", "keys": ["a"], "prob": 0.5}}\n', "apply.py": script})
    assert {code for *_, code in told()} == codes


@pytest.mark.parametrize(("value", "codes"), [("true", []), ("false", ["DET602"])])
@pytest.mark.parametrize("kind", ["json", "yaml"])
def test_training_arguments(project: Project, kind: str, value: str, codes: list[str]) -> None:
    script = f"""\
from torch import nn
from transformers import HfArgumentParser, Trainer, TrainingArguments, set_seed

(args,) = HfArgumentParser(TrainingArguments).parse_{kind}_file("args.{kind}")
set_seed(args.seed)
Trainer(model=nn.Linear(2, 2).cuda(), args=args, train_dataset=[]).train()
"""
    project(**{f"args.{kind}": f'{{"output_dir": "x", "full_determinism": {value}}}\n', "tune.py": script})
    assert [code for *_, code in told("--target", "cuda")] == codes


def test_json_that_is_data_or_none(project: Project) -> None:
    long = '{"flip": {"_target_": "torch.nn.Dropout"}, "x": "' + "x" * 40_000 + '"}'
    project(
        **{
            "long.json": long,
            "broken.json": '{"_target_": "torch.nn.Dropout"',
            "notes.json": '// {"_target_": "a.b"}\n{}',
        }
    )
    assert told() == []


def test_the_cache_follows_files_elsewhere(project: Project) -> None:
    text = READS["run.json"].replace("'run.json'", "'../conf/run.json'")
    root = project(
        **{
            "pyproject.toml": "",
            "conf/run.json": '{"seed": 1}',
            "src/train.py": text,
            "src/run.sh": "python train.py\n",
        }
    )

    def found() -> str:
        return detlint("--isolated", "--select", SELECT, "--output-format", "concise", ".").stdout

    assert "DET111" not in found()
    (root / "conf/run.json").write_text('{"seed": null}')
    assert "DET111" in found()
