"""Whole programs: what an entry point reaches unseeded, seeds too late or switches off, wherever it stands.

Each folder of `fixtures/programs` is a project; its lines are marked as in `fixtures/rules` (see test_fixtures.py).
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import REPOSITORY, Told, findings, once, told
from test_fixtures import SUFFIXES, Mark, marks, options, place

Copied = Callable[[str], Path]

PROGRAMS = sorted(path for path in (REPOSITORY / "fixtures" / "programs").iterdir() if path.is_dir())
SELECT = "DET101,DET102,DET103,DET104,DET105,DET106,DET107,DET108,DET110,DET111,DET112,DET113,DET114,DET115,DET116,DET304,DET606"


def sources(root: Path) -> list[Path]:
    """The files of a program, and its notebooks."""
    return sorted(path for path in root.rglob("*") if path.suffix in SUFFIXES)


def arguments(root: Path, config: Path) -> list[str | Path]:
    """The command line that a program asks for."""
    select, chosen = SELECT, dict[str, str]()
    for path in sources(root):
        asked = options(path)
        select += f",{asked.pop('select').replace(' ', '')}" if "select" in asked else ""
        chosen |= asked
    args: list[str | Path] = ["--select", select, root]
    if "profile" in chosen:
        args += ["--profile", chosen["profile"]]
    for target in chosen.get("target", "").split(","):
        args += ["--target", target.strip()] if target.strip() else []
    if "versions" in chosen:
        pairs = [pair.split("=") for pair in chosen["versions"].split(",")]
        config.write_text("[versions]\n" + "".join(f'{k.strip()} = "{v.strip()}"\n' for k, v in pairs))
        args += ["--config", config]
    return args


def judged(program: Path, folder: Path, change: Callable[[Path], object] | None = None) -> tuple[Path, list[Told]]:
    """A copy of a program, and what is found in it.

    Args:
        folder: a new one, for the copy.
        change: done to each file of the copy before.
    """
    root = folder / "alone" / program.name  # which the program itself may say
    shutil.copytree(program, root)
    asked = arguments(root, folder / "detlint.toml")
    if change:
        for path in root.rglob("*"):
            change(path)
    return root, told(*asked, isolated=not any((root / name).exists() for name in ("detlint.toml", "pyproject.toml")))


def compare(program: Path, shared: Path) -> None:
    """What is marked is found, each mark once, and nothing else."""
    root, rows = once(shared, program, judged)
    expected: dict[tuple[str, Mark], list[str]] = {}
    for path in sources(root):
        name = path.relative_to(root).as_posix()
        expected |= {(name, mark): found for mark, found in marks(path).items()}
    found = [((row.path.relative_to(root).as_posix(), (place(row), row.code)), row.level) for row in rows]
    counted = Counter(key for key, _ in found)
    wrong = [
        f"{name}:{line}: expected {code} {len(severities)}x, found {counted[name, (line, code)]}x"
        for (name, (line, code)), severities in expected.items()
        if counted[name, (line, code)] != len(severities)
    ]
    wrong += [
        f"{key[0]}:{key[1][0]}: {key[1][1]} is not a {severity}"
        for key, severities in expected.items()
        for severity in severities
        if severity and counted[key] and (key, severity) not in found
    ]
    wrong += [f"{k[0]}:{k[1][0]}: unexpected {k[1][1]} ({level})" for k, level in found if k not in expected]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.name)
def test_program(program: Path, shared: Path) -> None:
    compare(program, shared)


def test_programs_exist() -> None:
    assert len(PROGRAMS) >= 60


def test_gradients_that_the_compiler_adds_up(copied: Copied) -> None:
    """A network builds no reducer of its own in the automatic modes, but where another mode is set as well."""
    rows = findings("--select", "DET608", copied("programs/mindspore_adds_up_by_compiler"))
    told = {Path(row["filename"]).name: "DistributedGradReducer" in row["message"] for row in rows}
    assert told == {"train_by_compiler.py": False, "train_either_way.py": True}


def test_a_missing_switch_names_the_hardware_that_the_script_chooses(copied: Copied) -> None:
    """What a library could run on counts only where the script leaves its devices open."""
    rows = findings("--select", "DET602", copied("programs/devices_that_a_script_names"))
    told = {Path(row["filename"]).name: row["message"].partition(" and never ")[0].partition(" on ")[2] for row in rows}
    everywhere = "ascend and cuda"
    assert told == {
        "train.py": "cuda",
        "train_accelerated.py": everywhere,
        "train_anywhere.py": everywhere,
        "train_by_either.py": everywhere,
        "train_by_nccl.py": "cuda",
        "train_moved.py": everywhere,
    }


@pytest.mark.parametrize(
    ("target", "codes"),
    [("cpu", set()), ("ascend", {"DET602", "DET605", "DET606", "DET608"}), ("cuda", {"DET401", "DET608"})],
)
def test_switches_are_asked_for_on_the_hardware_of_the_settings(copied: Copied, target: str, codes: set[str]) -> None:
    """What the code names, and what a framework is usually run on, is none of the user's who says otherwise."""
    root = copied("programs/targets_of_the_settings")
    rows = findings("--select", "DET401,DET602,DET605,DET606,DET608", "--target", target, root)
    assert {row["code"] for row in rows} == codes


@pytest.mark.parametrize(
    ("program", "named"), [("mindspore_may_communicate", True), ("mindspore_never_communicates", False)]
)
def test_operators_that_the_switch_would_answer(copied: Copied, program: str, named: bool) -> None:
    """What adds up between devices is none of them in a run that never communicates."""
    root = copied(f"programs/{program}")
    (found,) = findings("--select", "DET608", "--target", "ascend", "--no-cache", root)
    assert ("DistributedGradReducer" in found["message"]) == named


def test_a_missing_switch_names_the_layers_that_it_would_reach(copied: Copied) -> None:
    """Those whose weights are frozen, those that nothing uses, those that add up whole numbers, those whose result is the same in any
    order, and what nobody reads aren't counted."""
    rows = findings("--select", "DET608", copied("programs/mindspore_switch_over_idle_layers"))
    told = {Path(row["filename"]).name: row["message"].partition("; ")[2] for row in rows}
    assert told == {
        "picture.py": "",
        "train.py": "1 operator on its way would follow the switch: `mindspore.nn.Conv2d`",
    }


def test_a_missing_switch_names_no_operator_without_a_backward_pass(copied: Copied) -> None:
    """What is picked from constant tables needs no gradient; what is picked from weights does."""
    rows = findings("--select", "DET602", copied("programs/switch_missing_over_tables"))
    (told,) = [row["message"].partition("; ")[2] for row in rows]
    assert told == "1 operator on its way would follow the switch: `torch.gather`"


def test_a_missing_switch_names_no_table_that_is_asked_once_for_each_row(copied: Copied) -> None:
    """Positions are left out, and what is made behind all training; tokens, and positions that come again, aren't."""
    rows = findings("--select", "DET607", copied("programs/tensorflow_switch_over_positions"))
    told = {Path(row["filename"]).name: row["message"].partition("; ")[2] for row in rows}
    assert told == {
        "apart.py": "",
        "again.py": "7 operators on its way would follow the switch: 7 `keras.layers.Embedding`",
        "later.py": "2 operators on its way would follow the switch: `keras.layers.Conv2D`, `keras.layers.Conv2DTranspose`",
        "taped.py": "1 operator on its way would follow the switch: `keras.layers.Conv2D`",
    }


def test_a_message_says_nothing_of_a_default_beside_what_is_written_out(tmp_path: Path) -> None:
    """A data set that is told `shuffle=True` is said to be shuffled; one that is told nothing, to be so unless it is told otherwise."""
    (tmp_path / "load.py").write_text(
        "import mindspore.dataset as ds\n\n\n"
        "def load(folder, shuffle):\n"
        "    yield ds.MnistDataset(folder, shuffle=True)\n"
        "    yield ds.MnistDataset(folder, shuffle=None)\n"
        "    yield ds.MnistDataset(folder, shuffle=shuffle)\n"
        "    yield ds.MnistDataset(folder)\n"
    )
    rows = findings("--select", "DET302", tmp_path)
    assert ["unless `shuffle=False`" in row["message"] for row in rows] == [False, True, True, True]
