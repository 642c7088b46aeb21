"""What holds of every fix, whatever the source: over generated calls, over the fixtures, over files that none of us wrote."""

from __future__ import annotations

import ast
import dis
import shutil
import tempfile
import types
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from conftest import REPOSITORY, detlint, examples
from hypothesis import given, settings
from hypothesis import strategies as st

EVERYTHING = ("--unsafe-fixes", "--show-notes", "--profile", "align", "--target", "cuda", "--target", "ascend")
PACKAGES = (
    "nn/modules",
    "nn/utils",
    "optim",
    "utils/data",
    "distributions",
    "testing/_internal/distributed",
    "_refs",
    "ao",
)


def fix(folder: Path) -> None:
    """Make every fix there is, and look that a second time finds none."""
    result = detlint("check", "--isolated", "--no-cache", "--fix", *EVERYTHING, folder)
    assert result.exit_code in (0, 1), result.stderr
    assert result.stderr == ""
    again = detlint("check", "--isolated", "--no-cache", "--diff", *EVERYTHING, folder)
    assert (again.exit_code, again.stdout, again.stderr) == (0, "", "Nothing can be fixed.\n")


# -- calls in any layout --------------------------------------------------------------------------------------------

SPACES = st.sampled_from(["", " ", "\n", "\n    ", "  # why, (not)\n", "\n  # own line\n  "])
VALUES = st.sampled_from(["0.5", "1 / 2", "rate", "f(0.5, (1,))", "'0.5'", "(0.5)", "[0.5][0]", "0.5 if x else 0.25"])


@st.composite
def calls(draw: st.DrawFn) -> str:
    """A dropout layer, and whatever may stand in its parentheses."""
    given = draw(st.sampled_from(["p", "p inplace", "inplace p", "inplace", ""])).split()
    position: bool = draw(st.booleans())
    by_position = position and given[:1] == ["p"]
    parts = []
    for name in given:
        value = draw(VALUES) if name == "p" else "False"
        keyword = "" if by_position else f"{name}{draw(st.sampled_from(['=', ' = ']))}"
        parts.append(f"{draw(SPACES)}{keyword}{value}{draw(SPACES)}")
    comma: bool = draw(st.booleans())
    end = "," if parts and comma else ""
    return f"torch.nn.Dropout({','.join(parts)}{end}{draw(SPACES)})"


@settings(max_examples=examples(150))
@given(st.lists(calls(), min_size=1, max_size=4), st.sampled_from(["\n", "\r\n"]))
def test_an_argument_is_set_and_all_else_stays(written: list[str], newline: str) -> None:
    before = "import torch\n" + "".join(f"layer_{i} = {call}\n" for i, call in enumerate(written))
    with tempfile.TemporaryDirectory() as name:
        file = Path(name, "net.py")
        file.write_bytes(before.replace("\n", newline).encode())
        fix(file)
        after = file.read_bytes().decode().replace(newline, "\n")
    assert comments(before) == comments(after)
    old, new = ast.parse(before), ast.parse(after)
    for then, now in zip(dropouts(old), dropouts(new), strict=True):
        assert rate(now) == 0.0
        assert others(then) == others(now)


def comments(source: str) -> list[str]:
    return [line.partition("#")[2] for line in source.splitlines() if "#" in line]


def dropouts(tree: ast.Module) -> Iterator[ast.Call]:
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            yield node.value


def rate(call: ast.Call) -> object:
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    return ast.literal_eval(call.args[0] if call.args else given["p"])


def others(call: ast.Call) -> list[str]:
    return [*map(ast.unparse, call.args[1:]), *(ast.unparse(k) for k in call.keywords if k.arg != "p")]


# -- the fixtures, and a framework's own files ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "folder", sorted((REPOSITORY / "fixtures" / "rules").iterdir()), ids=lambda folder: str(folder.name)
)
def test_fixtures(folder: Path, tmp_path: Path) -> None:
    check_folder(folder, tmp_path / "copy")


@pytest.mark.parametrize("package", PACKAGES)
def test_files_of_torch(package: str, tmp_path: Path) -> None:
    spec = find_spec("torch")
    assert spec is not None and spec.origin is not None
    check_folder(Path(spec.origin).parent / package, tmp_path / "copy")


def check_folder(folder: Path, copy: Path) -> None:
    """Fix a copy; what is no part of an edit compiles to what it did."""
    shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    before = {file: file.read_bytes() for file in sorted(copy.rglob("*.py"))}
    fix(copy)
    for file, old in before.items():
        new = file.read_bytes()
        if new != old:
            compare(old, new, str(file))


def compare(old: bytes, new: bytes, name: str) -> None:
    """Functions whose lines are as they were compile to the same instructions."""
    lines = new.splitlines()
    then = dict(functions(compile(old, name, "exec"), old.splitlines()))
    now = dict(functions(compile(new, name, "exec"), lines))
    assert then.keys() == now.keys()
    for key, (code, text) in now.items():
        earlier, was = then[key]
        if text == was:
            assert instructions(code) == instructions(earlier), (name, key)


def functions(
    code: types.CodeType, lines: list[bytes]
) -> Iterator[tuple[tuple[str, int], tuple[types.CodeType, list[bytes]]]]:
    """The functions in a module's code, by name and how many of that name came before; with the lines that they have."""
    seen: dict[str, int] = {}
    todo = [("", code)]
    while todo:
        outer, within = todo.pop(0)
        for inner in within.co_consts:
            if isinstance(inner, types.CodeType):
                name = f"{outer}.{inner.co_name}"
                todo.append((name, inner))
                number = seen[name] = seen.get(name, -1) + 1
                numbers = [line for _, _, line in inner.co_lines() if line]
                yield (name, number), (inner, lines[min(numbers) - 1 : max(numbers)])


def instructions(code: types.CodeType) -> list[tuple[str, str]]:
    return [(i.opname, written(i.argval)) for i in dis.get_instructions(code)]


def written(value: object) -> str:
    if isinstance(value, frozenset):  # of which two that are equal may have another order
        return f"{{{', '.join(sorted(map(repr, value)))}}}"
    return "code" if isinstance(value, types.CodeType) else repr(value)
