"""The verdict on a program doesn't change when the program is written down in another way.

Properties over `fixtures/programs`: what is found, how severe it is and where it stands (by line of code, followed
through the rewrite) stays the same whatever the order of the files and of their definitions, under other names for
modules and imports, with a module in two, with comments between the lines, and with a cache that knew the program before.
"""

from __future__ import annotations

import ast
import json
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import rewrites
from conftest import detlint, examples
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st
from rewrites import Program, mark_at, marked, sources
from test_fixtures import SUFFIXES
from test_programs import PROGRAMS, arguments

from detlint import run
from detlint.catalog import load

Row = dict[str, Any]
Verdicts = Counter[tuple[str, str, str]]
"""How often each mark, code and severity is found."""

few = settings(
    max_examples=examples(40),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)
NUMBERS = st.integers(0, 10_000)
COMMENTS = [
    "",
    "# A note.",
    "    # indented",
    "# torch.manual_seed(0)",
    "# import random; random.random()",
    "# %% cell",
]


# -- programs and their verdicts ------------------------------------------------------------------------------------


@cache
def _read(folder: Path) -> tuple[tuple[str, str], ...]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return tuple(marked({path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in files}).items())


def read(folder: Path) -> Program:
    """A program of the fixtures, with its lines of code marked."""
    return dict(_read(folder))


class Written:
    """A program on disk, in a project of its own, with the options that it asks for.

    Args:
        asks: the folder in which the options stand; the program's own where it is None.
    """

    def __init__(self, program: Program, folder: Path, asks: Path | None = None) -> None:
        self.root = folder / "program"
        (self.root / ".git").mkdir(parents=True)  # marks the project's root
        for name, text in program.items():
            self.write(name, text)
        select = ["--select", "DET"]
        self.options = [*select, *arguments(asks or self.root, folder / "detlint.toml")[3:]]
        if not any((self.root / name).exists() for name in ("detlint.toml", "pyproject.toml")):
            self.options.append("--isolated")

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")

    def check(self, *names: str, kept: Path | None = None, jobs: int = 1) -> list[Row]:
        """The findings of a run over some files, or over the whole folder where none is named."""
        where = ["--cache-dir", kept] if kept is not None else ["--no-cache"]
        paths = [self.root / name for name in names] or [self.root]
        options = [*self.options, *where, "--jobs", str(jobs), "--show-notes", "--output-format", "json"]
        result = detlint("check", *paths, *options)
        assert result.exit_code in (0, 1), result.stderr
        rows: list[Row] = json.loads(result.stdout)
        return rows

    def place(self, row: Row) -> str:
        """The path of the file that a finding, or a step on the way to it, stands in."""
        return Path(row["filename"]).relative_to(self.root).as_posix()


@contextmanager
def written(program: Program, asks: Path | None = None) -> Iterator[Written]:
    folder = Path(tempfile.mkdtemp(prefix="verdicts"))
    try:
        yield Written(program, folder, asks)
    finally:
        shutil.rmtree(folder)


def verdicts(program: Program, asks: Path | None = None) -> Verdicts:
    """What a run over a program finds, by mark."""
    with written(program, asks) as project:
        rows = project.check()
        places = [(mark_at(program[project.place(row)], row["location"]["row"]), row) for row in rows]
    return Counter((mark, row["code"], row["severity"]) for mark, row in places)


@cache
def verdicts_of(folder: Path) -> Verdicts:
    return verdicts(read(folder))


def assert_same(
    folder: Path, program: Program, may_come: Callable[[str, str], bool] = lambda code, level: False
) -> None:
    """A rewritten program compiles, is another text, and is judged as before.

    Args:
        may_come: whether a code of some level may be told of now, and was not before.
    """
    assume(program != read(folder))
    for name in sources(program):
        compile(program[name], name, "exec", dont_inherit=True)
    expected, found = verdicts_of(folder), verdicts(program, folder)
    found -= Counter({key: count for key, count in (found - expected).items() if may_come(*key[1:])})
    changed = "\n".join(f"--- {name}\n{text}" for name, text in program.items() if text != read(folder).get(name))
    assert found == expected, f"{folder.name}: lost {expected - found}, new {found - expected}\n{changed}"


def keys(rows: Iterable[Row]) -> Counter[str]:
    """Findings as a multiset, with all that is said of each."""
    return Counter(json.dumps(row, sort_keys=True) for row in rows)


def _is_python(path: Path) -> bool:
    try:
        ast.parse(path.read_bytes())
    except SyntaxError:
        return False
    return True


WHOLE = [program for program in PROGRAMS if all(map(_is_python, program.rglob("*.py")))]
"""Those of which every file can be parsed, and so rewritten."""


def programs() -> st.SearchStrategy[Path]:
    return st.sampled_from(WHOLE)


# -- files in any order, and alone ----------------------------------------------------------------------------------


@few
@given(programs(), st.data())
def test_files_in_any_order(folder: Path, data: st.DataObject) -> None:
    with written(read(folder)) as project:
        names = data.draw(st.permutations([name for name in read(folder) if name.endswith(SUFFIXES)]))
        assert project.check(*names) == project.check()
        assert project.check(*names, names[0]) == project.check()


def kept_within(project: Written, row: Row, chosen: set[str]) -> Row:
    """A finding without its fix, if that edits other files."""
    leaves = row["fix"] and any(project.place({**row, **edit}) not in chosen for edit in row["fix"]["edits"])
    return {**row, "fix": None} if leaves else row


def assert_subset_agrees(project: Written, names: Iterable[str]) -> None:
    """What the full run finds in some files, a run over these finds too; and besides, on the way to other files, only
    what the full run finds there. No fix leaves the files that were asked for."""
    chosen = set(names)
    full, part = project.check(), project.check(*sorted(chosen))
    expected = keys(kept_within(project, row, chosen) for row in full if project.place(row) in chosen)
    found = keys(part)
    assert not expected - found, f"lost in a run over {chosen}: {expected - found}"
    reached = Counter(
        (row["filename"], row["location"]["row"], row["code"], row["severity"])
        for row in full
        if project.place(row) not in chosen
    )
    for text in found - expected:
        row = json.loads(text)
        there = row["path"][-1] if row["path"] else row
        assert project.place(there) not in chosen, f"new in a run over {chosen}: {text}"
        place = (there["filename"], there["location"]["row"], row["code"], row["severity"])
        assert reached[place], f"found on the way to a place where the full run finds nothing: {text}"


def assume_one_project(folder: Path) -> None:
    """No part of a program is a project of its own, which is what files in it are judged in when they are named alone."""
    assume(not any(path.parent != folder for name in ("setup.py", "pyproject.toml") for path in folder.rglob(name)))


@few
@example(next(path for path in PROGRAMS if path.name == "plugins_imported_by_loop"))  # led to by its package alone
@given(programs())
def test_each_file_alone(folder: Path) -> None:
    assume_one_project(folder)
    with written(read(folder)) as project:
        for name in sources(read(folder)):
            assert_subset_agrees(project, [name])


@few
@given(programs(), st.data())
def test_some_files(folder: Path, data: st.DataObject) -> None:
    names = sources(read(folder))
    assume(len(names) > 2)
    assume_one_project(folder)
    chosen = data.draw(st.lists(st.sampled_from(names), min_size=2, max_size=len(names) - 1, unique=True))
    with written(read(folder)) as project:
        assert_subset_agrees(project, chosen)


# -- the same program, written in another way -----------------------------------------------------------------------

HOOKS = ("__init_subclass__", "__set_name__", "metaclass")
"""What makes a class definition act."""


@few
@given(programs(), st.data())
def test_definitions_in_any_order(folder: Path, data: st.DataObject) -> None:
    program = read(folder)
    assume(not any(hook in text for text in program.values() for hook in HOOKS))
    for name in sources(program):
        layout = rewrites.layout(program, name)
        order = data.draw(st.permutations(layout.movable))
        program[name] = layout.arranged(order, [data.draw(st.integers(item.first, item.last)) for item in order])
    # A file that no run passes is told of its draws in one note, at the first that stands in it.
    assert_same(folder, program, lambda code, level: code < "DET110" and level == "note")


@few
@given(programs(), st.data())
def test_a_module_under_another_name(folder: Path, data: st.DataObject) -> None:
    program = read(folder)
    names = rewrites.renamable(program)
    assume(names)
    name = data.draw(st.sampled_from(names))
    stem = data.draw(st.sampled_from(["a_{}", "{}_z"])).format(Path(name).stem)
    assert_same(folder, rewrites.renamed(program, name, stem))


@few
@given(programs(), st.lists(NUMBERS, min_size=1, max_size=8))
def test_imports_under_other_names(folder: Path, chosen: list[int]) -> None:
    program = read(folder)
    for name in sources(program):
        program[name] = rewrites.aliased(program, name, chosen, "_known") or program[name]
    assert_same(folder, program)


def is_declared(program: Program, definition: str) -> bool:
    """Whether a configuration file names a definition as an entry point."""
    files = (text for name, text in program.items() if not name.endswith(".py") or Path(name).name == "setup.py")
    return any(f":{definition}" in text for text in files)


LISTS = re.compile(r"\b(?:listdir|i?r?glob|scandir|walk|iterdir)\b")


def works_in_training(text: str, definition: str) -> bool:
    """Whether a class stands in a file that trains: if it is no layer, that is what says that its objects take gradients."""
    return ".backward(" in text and f"class {definition}" in text


def works_without_gradients(text: str, definition: str) -> bool:
    """Whether a class, of which some method takes no gradients, stands in a file: helpers there that nothing calls are its own."""
    return "no_grad" in text and f"class {definition}" in text


def lists_beside(text: str, definition: str) -> bool:
    """Whether a file lists something outside of a definition only: what functions do with a listing that they are handed is read only
    in files that list something."""
    nodes = [node for node in ast.parse(text).body if getattr(node, "name", "") == definition]
    inside = "".join(ast.get_source_segment(text, node) or "" for node in nodes)
    return LISTS.search(text) is not None and LISTS.search(inside) is None


def names_an_attribute(text: str, definition: str) -> bool:
    """Whether a file has an attribute of a definition's name: where it imports the definition, that may be a use of it (docs/limits.md)."""
    return re.search(rf"\.{definition}\b", text) is not None


def is_printed(text: str) -> bool:
    """Whether a script prints what it makes: that this is all that happens to a network, or a data set, is known of what the script itself
    defines."""
    return "print(" in text


def imports_its_neighbours(program: Program, name: str) -> bool:
    """Whether a file can import one beside it: a script in a folder above has the other's folder not on its path."""
    folder = Path(name).parent
    return folder == Path() or (folder / "__init__.py").as_posix() in program


@few
@given(programs(), st.data())
def test_a_module_in_two(folder: Path, data: st.DataObject) -> None:
    program = read(folder)
    found = [
        (name, definition)
        for name in sources(program)
        for definition in rewrites.separable(program, name)
        if not is_declared(program, definition)
        and imports_its_neighbours(program, name)
        and not works_in_training(program[name], definition)
        and not works_without_gradients(program[name], definition)
        and not lists_beside(program[name], definition)
        and not names_an_attribute(program[name], definition)
        and not is_printed(program[name])
    ]
    assume(found)
    name, definition = data.draw(st.sampled_from(found))
    stem = data.draw(st.sampled_from(["apart", "z_apart"]))
    # A file that no run passes is told of its draws in a note, and this one may have been a part of one that is passed.
    assert_same(
        folder, rewrites.split(program, name, definition, stem), lambda code, level: code < "DET110" and level == "note"
    )


@few
@given(programs(), st.lists(st.tuples(NUMBERS, st.sampled_from(COMMENTS)), min_size=1, max_size=12))
def test_comments_and_blank_lines(folder: Path, places: list[tuple[int, str]]) -> None:
    program = read(folder)
    for name in sources(program):
        program[name] = rewrites.spaced(program[name], places)
    assert_same(folder, program)


# -- what the properties found --------------------------------------------------------------------------------------

DRAWING = "import torch\n\n\ndef make():\n    return torch.rand(2)\n"
DECLARED = '[project]\nname = "pkg"\nversion = "0.1"\n\n[project.scripts]\ntrain = "pkg.cli:make"\n'
LISTED = "import os\n\n\ndef names(folder):\n    return os.listdir(folder)\n"
USING = "def main(folder):\n    print(len(names(folder)))\n"
STARTED = 'if __name__ == "__main__":\n    main("data")\n'
TYPED = """import numpy as np
from torch import nn
from typing import Optional


class Report(nn.Module):
    def forward(self, lookup: Optional[np.ndarray]):
        return lookup.take(0)
"""
CHOSEN = """from mindspore import nn


class Grid(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)

    def construct(self, images):
        return self.conv(images)
"""
PLAIN = """


class Plain(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(3, 8)

    def construct(self, images):
        return self.dense(images)
"""
CHOOSES = """import argparse

import mindspore as ms
import nets
from mindspore import nn
from nets import Plain

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--variant")
    args = parser.parse_args()
    ms.set_context(device_target="Ascend")
    net = nets.__dict__[args.variant]() if args.variant else Plain()
    ms.train.Model(net, nn.MSELoss(), nn.Adam(net.trainable_params())).train(1, None)
"""
MINIMAL: dict[str, tuple[Program, Program]] = {
    "function of its file's name that is imported and not used": (
        {"names.py": LISTED, "train.py": f"from names import names\n\n\n{USING}\n\n{STARTED}"},
        {
            "names.py": LISTED,
            "train.py": f"from names import names\nfrom apart import main\n\n\n{STARTED}",
            "apart.py": f"from names import names\n\n\n{USING}",
        },
    ),
    "declared entry point that is imported from elsewhere": (
        {"pyproject.toml": DECLARED, "pkg/__init__.py": "", "pkg/cli.py": DRAWING},
        {
            "pyproject.toml": DECLARED,
            "pkg/__init__.py": "",
            "pkg/cli.py": "from .apart import make\n",
            "pkg/apart.py": DRAWING,
        },
    ),
    "script that only calls what it imports": (
        {"train.py": f"{DRAWING}\n\nx = make()\n"},
        {"train.py": "from apart import make\n\nx = make()\n", "apart.py": DRAWING},
    ),
    "class that is chosen by its name from a file which only imports it": (
        {"train.py": CHOOSES, "nets.py": CHOSEN + PLAIN},
        {
            "train.py": CHOOSES,
            "nets.py": f"from apart import Grid\nfrom mindspore import nn\n{PLAIN}",
            "apart.py": CHOSEN,
        },
    ),
    "Optional under another name": (
        {"report.py": TYPED},
        {"report.py": TYPED.replace("Optional\n", "Optional as Maybe\n").replace(": Optional", ": Maybe")},
    ),
}


def unplaced(program: Program, folder: Path) -> Counter[tuple[str, str, str]]:
    """What a run finds, by the line of code that it stands at."""
    project = Written(program, folder)
    found = Counter[tuple[str, str, str]]()
    for row in project.check():
        line = program[project.place(row)].splitlines()[row["location"]["row"] - 1]
        found[line, row["code"], row["severity"]] += 1
    return found


@pytest.mark.parametrize(
    ("one", "other"),
    [pytest.param(one, other, id=name) for name, (one, other) in MINIMAL.items()],
)
def test_minimal(one: Program, other: Program, tmp_path: Path) -> None:
    assert unplaced(other, tmp_path / "other") == unplaced(one, tmp_path / "one")


# -- a cache that knew the program before ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache folder that has the compiled catalog and nothing else."""
    folder = tmp_path_factory.mktemp("cache")
    load([], folder)
    return folder


def assert_edits_are_seen(folder: Path, data: st.DataObject, catalog: Path, jobs: int) -> None:
    """After each edit of a file, a run with the cache of the runs before gives what a run without a cache gives."""
    program = read(folder)
    assume(sources(program))  # a notebook alone has none
    name = data.draw(st.sampled_from(sources(program)))
    edits: list[Callable[[str], str | None]] = [
        lambda text: f"{text}# A note.\n",
        lambda text: rewrites.with_changed_body(text, data.draw(NUMBERS)),
        lambda text: rewrites.with_changed_definition(text, data.draw(NUMBERS)),
    ]
    with written(program) as project:
        kept = shutil.copytree(catalog, project.root.parent / "cache")
        assert project.check(kept=kept, jobs=jobs) == project.check()
        for edit in edits:
            text = edit(program[name])
            if text is None:
                continue
            program[name] = text
            project.write(name, text)
            expected = project.check()
            assert project.check(kept=kept, jobs=jobs) == expected
            assert project.check(kept=kept, jobs=jobs) == expected
            assert project.check(name, kept=kept, jobs=jobs) == project.check(name)


@settings(few, max_examples=examples(20))
@given(folder=programs(), data=st.data())
def test_edits_are_seen_through_the_cache(catalog: Path, folder: Path, data: st.DataObject) -> None:
    assert_edits_are_seen(folder, data, catalog, jobs=1)


@settings(few, max_examples=examples(6))
@given(folder=programs(), data=st.data())
def test_edits_are_seen_through_the_cache_by_two_processes(catalog: Path, folder: Path, data: st.DataObject) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "FEWEST_FOR_FORKS", 1)  # else so few files are judged in one process
        assert_edits_are_seen(folder, data, catalog, jobs=2)
