"""Commands as shell scripts and READMEs write them."""

from __future__ import annotations

import pytest

from detlint.program.commands import commands, fenced


@pytest.mark.parametrize(
    ("text", "script", "options"),
    [
        ("python train.py --device_target GPU", "train.py", {"device_target": "GPU"}),
        (
            "python3 -u ../train.py --device-target='GPU' --resume",
            "../train.py",
            {"device_target": "GPU", "resume": ""},
        ),
        ("CUDA_VISIBLE_DEVICES=0 nohup python train.py \\\n  --n=1 > log.txt 2>&1 &", "train.py", {"n": "1"}),
        ("mpirun -n 8 --allow-run-as-root python train.py --n 1 &> log &", "train.py", {"n": "1"}),
        ("torchrun --nproc_per_node=8 tools/train.py -n 1", "tools/train.py", {"n": "1"}),
        ("msrun --worker_num=2 tools/train.py", "tools/train.py", {}),
        ("python -m torch.distributed.launch --nproc 4 train.py --n 1", "train.py", {"n": "1"}),
        ("python -m tools.train --n 1", "tools/train.py", {"n": "1"}),
        ("$PYTHON ${ROOT}/train.py --n 1", "${ROOT}/train.py", {"n": "1"}),
        ("$ python train.py --n 1", "train.py", {"n": "1"}),
        ("# python train.py --n 1", "train.py", {"n": "1"}),
        ("cd x && ./train.py --n 1; cd ..", "./train.py", {"n": "1"}),
        ("python train.py --n 1 --n 2", "train.py", {"n": "2"}),
        ("python train.py --flag > log", "train.py", {"flag": ""}),
        ("N=1\npython train.py --n $N --m ${N}x", "train.py", {"n": "1", "m": "1x"}),
        ("N=1\nN=2\npython train.py --n $N", "train.py", {"n": None}),
        ("N=$1\npython train.py --n $N --m=${2}", "train.py", {"n": None, "m": None}),
        ("N=1\nfor N in 1 2; do\npython train.py --n $N\ndone", "train.py", {"n": None}),
        ("python train.py --a [A | B] --b <B> --c=<C> --d 1", "train.py", {"a": None, "b": None, "c": None, "d": "1"}),
    ],
)
def test_a_command(text: str, script: str, options: dict[str, str | None]) -> None:
    (found,) = commands(text)
    assert found is not None
    assert found == (script, options)


@pytest.mark.parametrize("text", ["cp ../*.py ./train", "vi train.py", "echo done", "# it's train.py"])
def test_no_command(text: str) -> None:
    assert [*commands(text)] == []


def test_a_command_that_can_not_be_read() -> None:
    assert [*commands("python train.py --name 'open")] == [None]


def test_blocks_of_code() -> None:
    code = fenced("# One\n\n- two\n  ```bash\n  python train.py\n  ```\n~~~\nthree\n~~~\nfour\n")
    assert code == ["  python train.py\n", "three\n"]
