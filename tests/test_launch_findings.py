"""Launch files: what they give processes is found at its line, suppressed and fixed there, and counts for runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import detlint, findings

Project = Callable[..., Path]
STARTS = "python train.py\n"
ALIGN = ("--profile", "align", "--target", "cuda")


def places(*arguments: str) -> list[tuple[str, int, int, str]]:
    """(file, line, column, code) of what is found."""
    rows = findings(*arguments)
    return [(Path(r["filename"]).name, r["location"]["row"], r["location"]["column"], r["code"]) for r in rows]


# -- where ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("run.sh", "export NCCL_ALGO=Tree\n", [(1, 8)]),
        ("run.sh", "NCCL_ALGO='NVLS' python a.py\n", [(1, 1)]),
        ("run.slurm", "NCCL_ALGO=CollnetDirect\nexport NCCL_ALGO\n", [(1, 1)]),
        ("run.sh", "set -a\nNCCL_ALGO=Tree\n", [(2, 1)]),
        ("run.sh", 'WAY=Tree\nexport NCCL_ALGO="$WAY"\n', [(2, 8)]),
        ("run.sh", "export NCCL_ALGO=${NCCL_ALGO:-Tree}\n", [(1, 8)]),
        ("run.sh", "for WAY in Ring Tree; do\n  NCCL_ALGO=$WAY python a.py\ndone\n", [(2, 3)]),
        ("run.sh", "env -u X NCCL_ALGO=Tree python a.py\n", [(1, 10)]),
        ("run.sh", "mpirun -np 2 -x NCCL_ALGO=Tree python a.py\n", [(1, 17)]),
        ("run.sh", 'docker run -e "NCCL_ALGO=Tree" image python a.py\n', [(1, 15)]),
        ("run.sh", "srun --export=ALL,NCCL_ALGO=Tree python a.py\n", [(1, 6)]),
        ("run.sh", 'srun bash -c "NCCL_ALGO=Tree python a.py"\n', [(1, 1)]),
        ("Dockerfile", "FROM a\nENV A=1 \\\n    NCCL_ALGO=Tree\n", [(3, 5)]),
        ("Dockerfile", "FROM a\nENV NCCL_ALGO Tree\nRUN NCCL_ALGO=NVLS python a.py\n", [(2, 5), (3, 5)]),
        ("Makefile", "export NCCL_ALGO := Tree\nall:\n\tNCCL_ALGO=NVLS python a.py\n", [(1, 1), (3, 2)]),
        (".env", "A=1\nNCCL_ALGO=Tree\n", [(2, 1)]),
        ("compose.yml", "services:\n  a:\n    environment:\n      NCCL_ALGO: Tree\n", [(4, 7)]),
        ("compose.yml", "services:\n  a:\n    environment:\n      - NCCL_ALGO=Tree\n", [(4, 9)]),
        ("ci.yml", "env: {NCCL_ALGO: Tree}\nsteps:\n  - run: |\n      export NCCL_ALGO=NVLS\n", [(1, 7), (4, 14)]),
        ("pod.yaml", "env:\n  - name: NCCL_ALGO\n    value: Tree\n", [(3, 5)]),
        # what leaves the ring, isn't known, or is no variable of a process
        ("run.sh", "export NCCL_ALGO=Ring\nNCCL_ALGO=ring python a.py\n", []),
        ("run.sh", "export NCCL_ALGO=^NVLS\n", []),
        ("r.yaml", "ENV_VARS:\n  NCCL_ALGO: Tree\n", [(2, 3)]),
        ("run.sh", "export NCCL_ALGO=$1\nexport NCCL_ALGO=$(choose)\n", []),
        ("run.sh", "NCCL_ALGO=Tree\necho $NCCL_ALGO\n", []),
        ("run.sh", "# export NCCL_ALGO=Tree\necho 'export NCCL_ALGO=Tree'\ncat <<E\nexport NCCL_ALGO=Tree\nE\n", []),
        ("Dockerfile", "FROM a\nARG NCCL_ALGO=Tree\n", []),
        ("net.yaml", "model:\n  NCCL_ALGO: Tree\n", []),
        ("run.sh", "export PYTHONHASHSEED=0\n", []),  # in time, as it isn't in the process itself
    ],
)
def test_place(project: Project, name: str, text: str, found: list[tuple[int, int]]) -> None:
    project(**{name: text})
    assert places(*ALIGN, ".") == [(name, *place, "DET605") for place in found]


@pytest.mark.parametrize(
    ("text", "code", "level"),
    [
        ("HCCL_DETERMINISTIC=1", "DET605", "warning"),
        ("HCCL_DETERMINISTIC=strict", "", ""),
        ("CUBLAS_WORKSPACE_CONFIG=:4096:2", "DET603", "warning"),
        ("CUBLAS_WORKSPACE_CONFIG=:16:8", "", ""),
        ("NVTE_ALLOW_NONDETERMINISTIC_ALGO=1", "DET606", "warning"),
        ("NVTE_ALLOW_NONDETERMINISTIC_ALGO=0", "", ""),
        ("NCCL_ALGO=Tree", "DET605", "note"),
        ("TF_USE_CUDNN_AUTOTUNE=0", "DET604", "warning"),
    ],
)
def test_the_catalog_knows_which(project: Project, text: str, code: str, level: str) -> None:
    project(**{"run.sh": f"export {text}\n", "detlint.toml": '[versions]\ntorch = "2.4.0"\n'})
    rows = findings(".", isolated=False)
    assert [(row["code"], row["severity"]) for row in rows] == ([(code, level)] if code else [])


# -- servers --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "fixed"),
    [
        ("vllm serve m\n", "VLLM_BATCH_INVARIANT=1 vllm serve m\n"),
        (
            "python -m vllm.entrypoints.openai.api_server &\n",
            "VLLM_BATCH_INVARIANT=1 python -m vllm.entrypoints.openai.api_server &\n",
        ),
        (
            "nohup python -m sglang.launch_server --random-seed 1\n",
            "nohup python -m sglang.launch_server --enable-deterministic-inference --random-seed 1\n",
        ),
        ("export VLLM_BATCH_INVARIANT=0\nvllm serve m\n", None),
    ],
)
def test_servers(project: Project, text: str, fixed: str | None) -> None:
    root = project(**{"serve.sh": text})
    rows = findings(*ALIGN, ".")
    assert [(row["code"], row["severity"]) for row in rows] == [("DET602", "error")]
    assert [row["severity"] for row in findings(".")] == ["note"]
    detlint("--isolated", "--no-cache", *ALIGN, "--fix", "--unsafe-fixes", ".")
    assert fixed is None or (root / "serve.sh").read_text() == fixed


def test_a_server_that_draws_its_seed(project: Project) -> None:
    project(**{"serve.sh": "python -m sglang.launch_server\n"})
    assert ("DET107", "warning") in [(row["code"], row["severity"]) for row in findings(".")]


@pytest.mark.parametrize(
    "text",
    [
        "export VLLM_BATCH_INVARIANT=1\nvllm serve m\n",
        "docker run -e VLLM_BATCH_INVARIANT=1 image vllm serve m\n",
        "python -m sglang.launch_server --enable-deterministic-inference\n",
        "vllm bench serve\npip install vllm\n",
    ],
)
def test_servers_that_are_told(project: Project, text: str) -> None:
    project(**{"serve.sh": text})
    assert findings(*ALIGN, ".") == []


# -- comments, fixes, formats ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("run.sh", "export NCCL_ALGO=Tree  # detlint: ignore[DET605] one node\n"),
        ("run.sh", "# detlint: ignore[DET605] one node\n# indeed\nexport NCCL_ALGO=Tree\n"),
        ("run.sh", "export NCCL_ALGO=Tree  # noqa: DET605\n"),
        ("run.sh", "# detlint: skip-file\nexport NCCL_ALGO=Tree\n"),
        ("Dockerfile", "FROM a\n# detlint: ignore[DET605]\nENV NCCL_ALGO=Tree\n"),
        ("Makefile", "# detlint: ignore[DET605]\nexport NCCL_ALGO = Tree\n"),
        (".env", "# detlint: ignore[DET605]\nNCCL_ALGO=Tree\n"),
        ("compose.yml", "services:\n  a:\n    environment:\n      NCCL_ALGO: Tree  # detlint: ignore[DET605]\n"),
    ],
)
def test_comments(project: Project, name: str, text: str) -> None:
    project(**{name: text})
    assert places(*ALIGN, ".") == []


def test_a_comment_that_covers_nothing(project: Project) -> None:
    project(**{"run.sh": "# detlint: ignore[DET605]\nexport NCCL_ALGO=Ring\n"})
    assert places(*ALIGN, ".") == [("run.sh", 1, 1, "DET002")]


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("run.sh", b"export A=1 NCCL_ALGO='Tree' # \xc3\xa4\r\n", b"export A=1 NCCL_ALGO='Ring' # \xc3\xa4\r\n"),
        ("run.sh", b"export NCCL_ALGO=${NCCL_ALGO:-Tree}\n", b"export NCCL_ALGO=${NCCL_ALGO:-Ring}\n"),
        ("run.sh", b"docker run -e NCCL_ALGO=Tree i python a.py", b"docker run -e NCCL_ALGO=Ring i python a.py"),
        ("run.sh", b"A=1\nexport TF_USE_CUDNN_AUTOTUNE=0\nB=1\n", b"A=1\nB=1\n"),
        ("run.sh", b"WAY=Tree\nexport NCCL_ALGO=$WAY\n", b"WAY=Tree\nexport NCCL_ALGO=$WAY\n"),
        ("Dockerfile", b'FROM a\nENV NCCL_ALGO="Tree" B=1\n', b'FROM a\nENV NCCL_ALGO="Ring" B=1\n'),
        ("Makefile", b"export NCCL_ALGO := Tree # w\n", b"export NCCL_ALGO := Ring # w\n"),
        (".env", b'NCCL_ALGO="Tree"\n', b'NCCL_ALGO="Ring"\n'),
        ("c.yml", b"environment:\n  - NCCL_ALGO=Tree # why\n", b"environment:\n  - NCCL_ALGO=Ring # why\n"),
        ("c.yml", b'environment: {NCCL_ALGO: "Tree"}\n', b'environment: {NCCL_ALGO: "Ring"}\n'),
        ("c.yml", b"- run: |\n    export NCCL_ALGO=Tree\n    x\n", b"- run: |\n    export NCCL_ALGO=Ring\n    x\n"),
        ("c.yml", b'command: ["env", "NCCL_ALGO=Tree", "x"]\n', b'command: ["env", "NCCL_ALGO=Ring", "x"]\n'),
    ],
)
def test_fixes(project: Project, name: str, before: bytes, after: bytes) -> None:
    root = project()
    (root / name).write_bytes(before)
    shown = detlint("--isolated", "--no-cache", *ALIGN, "--diff", ".").stdout
    assert ("+++" in shown) is (before != after)
    assert (root / name).read_bytes() == before
    detlint("--isolated", "--no-cache", *ALIGN, "--fix", ".")
    assert (root / name).read_bytes() == after


@pytest.mark.parametrize(
    "form", ["full", "concise", "grouped", "github", "gitlab", "sarif", "junit", "html", "rdjson", "pylint"]
)
def test_formats(project: Project, form: str) -> None:
    project(**{"run.sh": "export NCCL_ALGO=Tree\n", "Dockerfile": "FROM a\nENV NCCL_ALGO=Tree\n"})
    shown = detlint("--isolated", "--no-cache", *ALIGN, "--output-format", form, ".").stdout
    assert "run.sh" in shown
    assert "Dockerfile" in shown


def test_baseline_and_noqa(project: Project) -> None:
    root = project(**{"run.sh": "export NCCL_ALGO=Tree\n", "Dockerfile": "FROM a\nENV NCCL_ALGO=Tree\n"})
    detlint("--isolated", "--no-cache", *ALIGN, "--add-noqa", "run.sh")
    assert (root / "run.sh").read_text() == "export NCCL_ALGO=Tree  # noqa: DET605\n"
    detlint("baseline", "--isolated", "--no-cache", *ALIGN, ".")
    assert detlint("--no-cache", *ALIGN, ".").exit_code == 0


def test_excluded_and_ignored(project: Project) -> None:
    text = "export NCCL_ALGO=Tree\n"
    project(
        **{
            "run.sh": text,
            "old/run.sh": text,
            ".gitignore": "old\n",
            "detlint.toml": '[per-file-ignores]\n"run.sh" = ["DET605"]\n',
        }
    )
    assert findings(*ALIGN, ".", isolated=False) == []


def test_the_cache_follows(project: Project) -> None:
    root = project(**{"run.sh": "export NCCL_ALGO=Tree\n"})

    def found() -> list[int]:
        loaded = json.loads(detlint("--isolated", *ALIGN, "--output-format", "json", ".").stdout)
        return [row["location"]["row"] for row in loaded]

    assert (found(), found()) == ([1], [1])
    (root / "run.sh").write_text("\nexport NCCL_ALGO=Tree\n")
    assert found() == [2]
    (root / "run.sh").write_text("\nexport NCCL_ALGO=Ring\n")
    assert found() == []


def test_a_file_that_is_too_long(project: Project) -> None:
    project(**{"run.sh": "export NCCL_ALGO=Tree\n" + "#" * 140_000})
    (row,) = findings(*ALIGN, ".")
    assert row["code"] == "DET001"
    assert "131,072" in row["message"]


# -- runs -----------------------------------------------------------------------------------------------------------

TRAIN = """\
import torch

torch.manual_seed(0)
torch.use_deterministic_algorithms(True)
net = torch.nn.Linear(2, 2).cuda()
net(torch.ones(1, 2).cuda()).sum().backward()
"""


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("python train.py\n", [("train.py", "DET603")]),
        ("export CUBLAS_WORKSPACE_CONFIG=:4096:8\npython train.py\n", []),
        ("env CUBLAS_WORKSPACE_CONFIG=:4096:8 python train.py\n", []),
        ("srun --export=ALL,CUBLAS_WORKSPACE_CONFIG=:4096:8 python train.py\n", []),
        ("docker run -e CUBLAS_WORKSPACE_CONFIG=:4096:8 image python train.py\n", []),
        ("env CUBLAS_WORKSPACE_CONFIG=:4096:2 python train.py\n", [("run.sh", "DET603")]),
    ],
)
def test_what_a_launch_sets_counts_for_its_run(project: Project, text: str, found: list[tuple[str, str]]) -> None:
    project(**{"run.sh": text, "train.py": TRAIN, "detlint.toml": '[versions]\ntorch = "2.4.0"\n'})
    rows = findings("--target", "cuda", "--select", "DET603", ".", isolated=False)
    assert [(Path(row["filename"]).name, row["code"]) for row in rows] == found


FLAGS = """\
import argparse
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--exact", action="store_true")
parser.add_argument("--mode", default="fast", choices=["fast", "same"])
parser.add_argument("--seed", type=int)
args = parser.parse_args()
if args.seed is not None:
    torch.manual_seed(args.seed)
if args.exact or args.mode == "same":
    torch.use_deterministic_algorithms(True)
net = torch.nn.Linear(2, 2).cuda()
net(torch.ones(1, 2).cuda()).sum().backward()
"""
CLICK = """\
import click
import torch


@click.command()
@click.option("--exact", is_flag=True, default=False)
def main(exact):
    torch.manual_seed(1)
    if exact:
        torch.use_deterministic_algorithms(True)
    torch.nn.Linear(2, 2).cuda()(torch.ones(1, 2).cuda()).sum().backward()


if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(
    ("launches", "found"),
    [
        (["--seed 1 --exact"], {}),
        (["--seed 1 --mode same"], {}),
        (["--seed=1 --exact", "--seed 2 --mode=same"], {}),
        (["--seed 1"], {"DET602": []}),
        (["--exact"], {"DET111": []}),
        (["--seed 1 --mode fast", "--seed 1 --exact"], {"DET602": [1]}),
        (["--exact", "--exact --seed 3"], {"DET111": [1]}),
        (["--seed $1 --exact"], {}),  # whoever starts it gives one
        (["--seed 1 --ex"], {}),  # short for it
    ],
)
def test_options_that_launches_give(project: Project, launches: list[str], found: dict[str, list[int]]) -> None:
    project(**{"run.sh": "".join(f"python train.py {one}\n" for one in launches), "train.py": FLAGS})
    rows = findings("--target", "cuda", "--select", "DET104,DET111,DET602", ".")
    told = {
        row["code"]: [step["location"]["row"] for step in row["path"] if step["filename"].endswith("run.sh")]
        for row in rows
    }
    assert told == found


@pytest.mark.parametrize(("option", "codes"), [("--exact", []), ("", ["DET602"])])
def test_options_of_decorators(project: Project, option: str, codes: list[str]) -> None:
    project(**{"run.sh": f"python train.py {option}\n", "train.py": CLICK})
    assert [row["code"] for row in findings("--target", "cuda", "--select", "DET602", ".")] == codes


def test_a_switch_that_all_launches_set(project: Project) -> None:
    text = """\
import torch
import transformer_engine.pytorch as te

torch.manual_seed(1)
torch.use_deterministic_algorithms(True)
te.TransformerLayer(16, 64, 2).cuda()(torch.ones(8, 2, 16).cuda()).mean().backward()
"""
    root = project(**{"run.sh": "NVTE_ALLOW_NONDETERMINISTIC_ALGO=0 python train.py\n", "train.py": text})
    assert findings("--target", "cuda", "--select", "DET405", ".") == []
    (root / "run.sh").write_text("python train.py\n")
    assert [row["code"] for row in findings("--target", "cuda", "--select", "DET405", ".")] == ["DET405"]
