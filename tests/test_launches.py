"""Launch texts: what they start, whatever their layout; and that none of them hinders a run."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from detlint.catalog import load
from detlint.ir.launch_texts import lower
from detlint.model.launches.chosen import Read, chosen
from detlint.model.launches.commands import UNKNOWN, Started, started
from detlint.model.launches.documents import read
from detlint.model.launches.launches import Launch, Programs
from detlint.model.sites.records import Const

PROGRAMS = Programs(load().launchers)


def run(text: str | bytes, name: str = "run.sh") -> list[Started]:
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return started(read(name, data).script)


def launches(text: str, name: str = "run.sh") -> list[Launch]:
    return [*PROGRAMS.launches(run(text, name), name)]


def words(text: str, name: str = "run.sh") -> list[tuple[str, ...]]:
    return [command.words for command in run(text, name)]


# -- commands -------------------------------------------------------------------------------------------------------------


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
        ("python -m tools.train data.py --n 1", "tools/train.py", {"n": "1"}),
        ("torchrun -m tools.train --n 1", "tools/train.py", {"n": "1"}),
        ("accelerate launch --num_processes 2 train.py --n 1", "train.py", {"n": "1"}),
        ("poetry run python -m coverage run train.py --n 1", "train.py", {"n": "1"}),
        ("env -u X A=1 time python train.py --n 1", "train.py", {"n": "1"}),
        ("srun -N 2 bash -c 'cd x && python train.py --n 1'", "./x/train.py", {"n": "1"}),
        ("$PYTHON ${ROOT}/train.py --n 1", f"{UNKNOWN}/train.py", {"n": "1"}),
        ("cd x && ./train.py --n 1; cd ..", "./x/./train.py", {"n": "1"}),
        ("python train.py --n 1 --n 2", "train.py", {"n": "2"}),
        ("python train.py --flag > log", "train.py", {"flag": ""}),
        ("python train.py --low -1 --high -x", "train.py", {"low": "-1", "high": "", "x": ""}),
        ("N=1\npython train.py --n $N --m ${N}x", "train.py", {"n": "1", "m": "1x"}),
        ("N=1\nN=2\npython train.py --n $N", "train.py", {"n": "2"}),
        ("N=$1\npython train.py --n $N --m=${2}", "train.py", {"n": None, "m": None}),
        ("python train.py --n ${N:-4}", "train.py", {"n": "4"}),
        ("python train.py --n $(nproc) --m `date`", "train.py", {"n": None, "m": None}),
        ('ARGS="--n 1 --m 2"\nARGS+=" --k 3"\npython train.py $ARGS', "train.py", {"n": "1", "m": "2", "k": "3"}),
        ('ARGS=(--n 1 # one\n --m "a b")\npython train.py "${ARGS[@]}"', "train.py", {"n": "1", "m": "a b"}),
        ("run() { python train.py --n $1; }\nrun 3", "train.py", {"n": "3"}),
        ('run() { python train.py "$@"; }\nrun --n 3', "train.py", {"n": "3"}),
        ('CMD="python train.py --n 1"\neval $CMD', "train.py", {"n": "1"}),
        ("read N\npython train.py --n $N", "train.py", {"n": None}),
        ("python train.py \\\n  --n 1 \\\n  # --k 1 \\\n  --m 2", "train.py", {"n": "1", "m": "2"}),
    ],
)
def test_a_launch(text: str, script: str, options: dict[str, str | None]) -> None:
    (found,) = launches(text)
    assert (found.script, found.options()) == (script, options)


@pytest.mark.parametrize(
    "text",
    [
        "cp ../*.py ./train",
        "vi train.py",
        "git add train.py",
        "echo python train.py",
        "# python train.py",
        "cat <<EOF > x.sh\npython train.py\nEOF",
        "python -c 'import train' train.py",
        "black train.py",
        "Start it with python train.py",
    ],
)
def test_no_launch(text: str) -> None:
    assert launches(text) == []


def test_ways_through_a_script() -> None:
    """Of two arms both are gone, of a list all, and what is set in one arm holds for what comes behind it."""
    script = "if [ $1 ]; then N=1; else N=2; fi\nfor M in a b; do python x.py --n $N --m $M; done\n"
    assert {found[3:] for found in words(script)} == {(n, "--m", m) for n in "12" for m in "ab"}
    assert words("N=1\n[ $1 ] && N=2\necho $N") == [("echo", "1"), ("echo", "2")]
    assert words("case $1 in a) N=1;; *) N=2;; esac\necho $N $N") == [("echo", "1", "1"), ("echo", "2", "2")]
    assert words("N=1\n(N=2; echo $N)\necho $N | cat") == [("echo", "2"), ("echo", "1"), ("cat",)]
    assert words("N=0\nwhile true; do echo $N; N=1; done")[1:] == [("echo", "0"), ("echo", UNKNOWN)]


def test_what_processes_are_handed() -> None:
    """Exported variables, and those in front, but no others."""
    script = "A=1\nexport B=2 A\nC=3\nD=4 python x.py\nunset B\nset -a\nE=5\npython y.py\n"
    assert [found.environment for found in run(script)] == [{"A": "1", "B": "2", "D": "4"}, {"A": "1", "E": "5"}]
    assert [found.environment for found in run("for A in 1 2; do export A; python x.py; done")] == [
        {"A": "1"},
        {"A": "2"},
    ]


def test_a_script_that_another_one_reads() -> None:
    texts = {"env.sh": b"export A=1\nrun() { python $1; }\nother() { python y.py; }\n"}
    lowered = lower("run.sh", b"source env.sh\n. missing.sh\nrun x.py\n").script
    found = started(lowered, lambda name: lower(name, texts[name]).script if name in texts else None)
    assert [(one.words, one.environment) for one in found] == [(("python", "x.py"), {"A": "1"})]


def test_how_many_processes() -> None:
    def counts(text: str) -> tuple[str, ...]:
        return launches(text)[0].counts

    assert counts("torchrun --nproc_per_node 8 x.py") == ("8",)
    assert counts("torchrun x.py") == ("1",)
    assert counts("mpirun x.py") == ("",)
    assert counts("export RANK_SIZE=4\nmpirun -n $RANK_SIZE python x.py") == ("4", "4")
    assert counts("python x.py --n 8") == ()


@pytest.mark.parametrize(
    ("name", "text", "command", "environment", "place"),
    [
        (
            "Dockerfile",
            'FROM a AS b\nENV A=1 \\\n  # why\n  B="x y"\nFROM b\nENTRYPOINT ["python", "x.py"]\nCMD ["--n", "1"]\n',
            ("python", "x.py", "--n", "1"),
            {"A": "1", "B": "x y"},
            (7, 0),
        ),
        ("gpu.dockerfile", "RUN cd y && \\\n    python x.py --n 1\n", ("python", "x.py", "--n", "1"), {}, (2, 4)),
        (
            "Makefile",
            "ARGS := --n 1\nexport A = 1\nall:\n\t@python x.py $(ARGS)\n",
            ("python", "x.py", "--n", "1"),
            {"A": "1"},
            (4, 2),
        ),
        (
            "train.yml",
            "env: {A: 1}\njobs:\n  t:\n    steps:\n      - run: |\n          cd y\n          python x.py --n ${{ env.A }}\n",
            ("python", "x.py", "--n", "1"),
            {"A": "1"},
            (7, 10),
        ),
        (
            "compose.yaml",
            "services:\n  a:\n    environment: [A=1]\n    entrypoint: python x.py\n    command: --n 1\n",
            ("python", "x.py", "--n", "1"),
            {"A": "1"},
            (4, 4),
        ),
        (
            "pod.yaml",
            "spec:\n  containers:\n  - command: [python, x.py]\n    args: [--n, 1]\n    env:\n    - name: A\n      value: 1\n",
            ("python", "x.py", "--n", "1"),
            {"A": "1"},
            (3, 4),
        ),
        (
            "launch.json",
            json.dumps({"configurations": [{"program": "x.py", "args": ["--n", "1"], "env": {"A": "1"}}]}),
            ("python", "x.py", "--n", "1"),
            {"A": "1"},
            (1, 21),
        ),
        ("pyproject.toml", 'tool.pixi.tasks.t = "python x.py --n 1"', ("python", "x.py", "--n", "1"), {}, (1, 0)),
        ("Procfile", "web: python x.py --n 1\n", ("python", "x.py", "--n", "1"), {}, (1, 5)),
        (
            "a.ipynb",
            json.dumps({"cells": [{"cell_type": "code", "source": ["x = 1\n", "!python x.py --n 1"]}]}),
            ("python", "x.py", "--n", "1"),
            {},
            (1, 0),
        ),
    ],
)
def test_launch_texts(
    name: str, text: str, command: tuple[str, ...], environment: dict[str, str], place: tuple[int, int]
) -> None:
    found = next(one for one in run(text, name) if "x.py" in one.words)
    assert (found.words, dict(found.environment), found[3:5]) == (command, environment, place)


@pytest.mark.parametrize(
    ("cell", "commands"),
    [
        ("x = 1\n!python x.py --n {n} \\\n  --m 2\n", [("python", "x.py", "--n", UNKNOWN, "--m", "2")]),
        ("out = !python x.py --n 1\n", [("python", "x.py", "--n", "1")]),
        ("if ready:\n    !python x.py\n", [("python", "x.py")]),
        ('text = """\n!python x.py\n"""\n', []),
        ("%run x.py --n 1\n", [("python", "x.py", "--n", "1")]),
        ("%%bash\npython x.py &&\npython y.py\n", [("python", "x.py"), ("python", "y.py")]),
        ("%%script bash --out log\npython x.py\n", [("python", "x.py")]),
        ("%%capture\n!python x.py\n", [("python", "x.py")]),
        ("%%writefile x.sh\n!python x.py\n", []),
        ("# python x.py\n", []),
    ],
)
def test_cells(cell: str, commands: list[tuple[str, ...]]) -> None:
    notebook = json.dumps({"cells": [{"cell_type": "code", "source": cell}]})
    assert words(notebook, "a.ipynb") == commands


def test_a_notebook_sets_variables() -> None:
    cells = [{"cell_type": "code", "source": text} for text in ("%env A=1 2", "!python x.py")]
    assert [found.environment for found in run(json.dumps({"cells": cells}), "a.ipynb")] == [{"A": "1 2"}]


# -- values ---------------------------------------------------------------------------------------------------------------


def said(name: str, text: str, key: str) -> set[object]:
    """What a text gives a key."""
    found = lower(name, text.encode())
    commands = tuple(started(found.script))
    read = Read(name, found, commands, tuple(PROGRAMS.launches(commands, name)))
    return {value.value if isinstance(value, Const) else ... for value in chosen([read], key, "").values}


@pytest.mark.parametrize(
    ("name", "text", "values"),
    [
        ("a.yaml", "model: {clip: true}\n---\nclip: null\n", {True, None}),
        ("a.yaml", "clip: ${other}", {...}),
        ("a.yaml", "clip: [", {...}),
        ("a.json", '{"clip": 0.5}', {0.5}),
        ("a.toml", "[model]\nclip = 'x'", {"x"}),
        ("a.ini", "[model]\nclip: True  \n# clip = 2\n", {True}),
        (".env", "APP__CLIP=1\n", {1}),
        ("a.jsonnet", "{clip: 1 + 1}", {...}),
        ("large.args", "--clip\nTrue\n", {True}),
        ("run.sh", "python x.py --clip", {True}),
        ("run.sh", "python x.py --clip=0", {0}),
        ("run.sh", "python x.py --clip $1", {...}),
        ("run.sh", "python x.py model.clip=None", {None}),
        ("run.sh", "python x.py +model.clip=a model.clip 2 ~model.clip", {"a", 2, ...}),
        ("run.sh", "export APP__MODEL__CLIP=1e-3\npython x.py", {0.001}),
        ("run.sh", "clip=1\npython x.py # --clip", set()),
    ],
)
def test_values(name: str, text: str, values: set[object]) -> None:
    assert said(name, text, "clip") == values


# -- properties -----------------------------------------------------------------------------------------------------------

WORD = st.text(st.sampled_from("ab1-_=.:/ $'\"\\#&;|<>(){}*é\n"), min_size=1, max_size=6)


def quoted(word: str, style: int) -> str:
    """A word so that a shell takes it for that."""
    if style == 0 and word.isalnum() and word.isascii():
        return word
    if style <= 1:
        return "'" + word.replace("'", "'\\''") + "'"
    if style == 2:
        return '"' + "".join(f"\\{each}" if each in '\\"$`' else each for each in word) + '"'
    return "".join(each if each.isalnum() else "$'\\n'" if each == "\n" else f"\\{each}" for each in word)


@given(st.lists(st.lists(st.tuples(WORD, st.integers(0, 2)), min_size=1, max_size=4), min_size=1, max_size=4))
@example([[("a\\", 1)]])
def test_quotes_are_no_part_of_words(commands: list[list[tuple[str, int]]]) -> None:
    text = "\n".join("run " + " ".join(quoted(*word) for word in words) for words in commands)
    expected = dict.fromkeys(("run", *(word for word, _ in words)) for words in commands)
    assert [*dict.fromkeys(words(text))] == [*expected]


GAPS = st.sampled_from([" ", "  ", "\t", " \\\n ", "  \\\n\t"])
ENDS = st.sampled_from(
    ["\n", ";", " ;\n", " # --n 2\n", "\n\n  ", " \n# python y.py --z\n", " > log 2>&1\n", " &\n", " & "]
)


@settings(max_examples=200)
@given(st.lists(st.lists(st.sampled_from(["--n", "1", "'x y'", "a=b"]), max_size=3), max_size=4), st.data())
def test_layout_and_comments_change_nothing(commands: list[list[str]], data: st.DataObject) -> None:
    plain = "".join(f"python x.py {' '.join(words)}\n" for words in commands)
    text = data.draw(st.sampled_from(["", "#!/bin/bash\n", "\n \n", "# it's \"\n"]))
    for words_ in commands:
        text += "python" + "".join(f"{data.draw(GAPS)}{word}" for word in ["x.py", *words_]) + data.draw(ENDS)
    assert [found[:3] for found in run(text)] == [found[:3] for found in run(plain)]


PIECES = [
    *"{}()`'\"|;=\\[]a-:\t\n",
    "if",
    "then",
    "fi",
    "for",
    "in",
    "do",
    "done",
    "case",
    "esac",
    "$(",
    "${",
    "<<",
    "EOF",
    "&&",
    "RUN",
    "FROM",
]
NAMES = ["a.sh", "Dockerfile", "Makefile", "a.yaml", "a.json", "a.toml", "a.ini", ".env", "a.args", "a.ipynb"]


@settings(max_examples=300)
@given(
    st.sampled_from(NAMES), st.binary(max_size=300) | st.lists(st.sampled_from(PIECES)).map(" ".join).map(str.encode)
)
def test_any_input_is_understood_as_far_as_it_goes(name: str, data: bytes) -> None:
    run(data, name)


@pytest.mark.parametrize(
    "text",
    [
        "a | " * 20_000,
        ")" * 100_000,
        "$(" * 40_000,
        "{ " * 50_000,
        "if a; then " * 10_000,
        "a && " * 20_000,
        "x=$x$x\n" * 5_000,
        "f() { f; f; }\nf\n",
        "f() { g; g; }\ng() { f; f; }\nf\n",
        "for a in 1 2 3 4 5 6 7 8 9; do\n" * 40 + "python x.py $a\n" + "done\n" * 40,
        "python x.py\n" * 9_000,
        "\0" * 1_000_000,
        "".join(f"A{n}=1\n[ $1 ] && A{n}=2\n" for n in range(200))
        + "python x.py "
        + " ".join(f"$A{n}" for n in range(200)),
        "(" * 3_000 + "python x.py" + ")" * 3_000,
        "eval " * 3_000 + "python x.py",
        "[" * 100_000,
        "a: &a [*a, *a]\n",
        "a:\n" + "".join(f"{' ' * n}- a:\n" for n in range(300)),
    ],
)
@pytest.mark.parametrize("name", ["a.sh", "Makefile", "Dockerfile", "a.yaml"])
def test_what_nobody_writes_by_hand_takes_no_time(name: str, text: str) -> None:
    before = time.process_time()
    run(text, name)
    assert time.process_time() - before < 8


def test_launches_of_a_copy(tmp_path: Path) -> None:
    """The same bytes say the same, wherever they stand."""
    text = "export A=1\npython x.py\n"
    assert lower(str(tmp_path / "a.sh"), text.encode()) == lower("b.sh", text.encode())
