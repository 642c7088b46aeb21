"""Fixing YAML files: what is set, added and left out, what is left alone, and that nothing else changes."""

from __future__ import annotations

import difflib
import tempfile
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import pytest
import yaml
from conftest import REPOSITORY, detlint, examples, findings
from hypothesis import given, settings
from hypothesis import strategies as st

FIXTURES = REPOSITORY / "fixtures" / "fixes"
EVERYTHING = ("--unsafe-fixes", "--show-notes", "--profile", "align", "--target", "cuda")
DROPOUT = "_target_: torch.nn.Dropout"


def fixed(folder: Path, content: str | bytes, *options: str) -> bytes:
    """What `--fix` makes of a file; a second time changes nothing."""
    file = folder / "a.yaml"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    result = detlint("check", "--isolated", "--no-cache", "--fix", *options, file)
    assert (result.exit_code in (0, 1), result.stderr) == (True, "")
    after = file.read_bytes()
    again = detlint("check", "--isolated", "--no-cache", "--diff", *options, file)
    assert (again.stdout, again.stderr) == ("", "Nothing can be fixed.\n")
    return after


@pytest.mark.parametrize(
    "name", sorted(path.name for path in (FIXTURES / "before").iterdir() if path.suffix in (".yaml", ".yml"))
)
def test_fixtures(name: str, tmp_path: Path) -> None:
    after = fixed(tmp_path, (FIXTURES / "before" / name).read_bytes(), *EVERYTHING)
    assert after == (FIXTURES / "after" / name).read_bytes()


# -- what is set and added ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f"{DROPOUT}\np: 0.5\n", f"{DROPOUT}\np: 0.0\n"),
        (f"{DROPOUT}\np:   5e-1   # half\n", f"{DROPOUT}\np:   0.0   # half\n"),
        (f"p: 0.5\n{DROPOUT}", f"p: 0.0\n{DROPOUT}"),
        (f"{DROPOUT}", f"{DROPOUT}\np: 0.0"),
        (f"{DROPOUT}\r\n", f"{DROPOUT}\r\np: 0.0\r\n"),
        (f"- {DROPOUT}\n- 1\n", f"- {DROPOUT}\n  p: 0.0\n- 1\n"),
        (f"- - {DROPOUT}  # why\n\n  - 1\n", f"- - {DROPOUT}  # why\n    p: 0.0\n\n  - 1\n"),
        (f"a:\n- {DROPOUT}\nb: 1\n", f"a:\n- {DROPOUT}\n  p: 0.0\nb: 1\n"),
        (f"{DROPOUT}\nx:\n  y: 1\n# end\n", f"{DROPOUT}\np: 0.0\nx:\n  y: 1\n# end\n"),
        (f"{DROPOUT}\nx: |\n  text\n\n", f"{DROPOUT}\np: 0.0\nx: |\n  text\n\n"),
        ("'_target_': torch.nn.Dropout\n", "'_target_': torch.nn.Dropout\n'p': 0.0\n"),
        (f"{{{DROPOUT}}}", f"{{{DROPOUT}, p: 0.0}}"),
        (f"{{{DROPOUT},}}", f"{{{DROPOUT}, p: 0.0,}}"),
        (f"{{{DROPOUT},inplace: true}}", f"{{{DROPOUT},inplace: true,p: 0.0}}"),
        (f"{{\n  {DROPOUT},\n  inplace: true\n}}\n", f"{{\n  {DROPOUT},\n  inplace: true,\n  p: 0.0\n}}\n"),
        ('{"_target_": "torch.nn.Dropout"}', '{"_target_": "torch.nn.Dropout", "p": 0.0}'),
        (f"{DROPOUT}\n_args_: [0.5]\n", f"{DROPOUT}\n_args_: [0.0]\n"),
        (f"{DROPOUT}\n_args_:\n- 0.5\n- true\n", f"{DROPOUT}\n_args_:\n- 0.0\n- true\n"),
        (f"{DROPOUT}\n_args_: []\n", f"{DROPOUT}\np: 0.0\n_args_: []\n"),
        ("class_path: torch.nn.Dropout\n", "class_path: torch.nn.Dropout\ninit_args:\n  p: 0.0\n"),
        ("x: {class_path: torch.nn.Dropout}\n", "x: {class_path: torch.nn.Dropout, init_args: {p: 0.0}}\n"),
        ("target: torch.nn.Dropout\nparams: {}\n", "target: torch.nn.Dropout\nparams: {p: 0.0}\n"),
        ("d: !new:torch.nn.Dropout {p: 0.5}\n", "d: !new:torch.nn.Dropout {p: 0.0}\n"),
        ("d: &one !new:torch.nn.Dropout\n  p: 0.5\n", "d: &one !new:torch.nn.Dropout\n  p: 0.0\n"),
        (f"&top\n{DROPOUT}\np: 0.5\n", f"&top\n{DROPOUT}\np: 0.0\n"),
        ("SEED: -1\nMODEL: {META_ARCHITECTURE: A}\n", "SEED: 0\nMODEL: {META_ARCHITECTURE: A}\n"),
        ("randomness: {}\n", "randomness: {seed: 0}\n"),
        ("randomness:\n  seed:   # none\n", "randomness:\n  seed: 0   # none\n"),
        ("type: DefaultSampler\nshuffle: TRUE\n", "type: DefaultSampler\nshuffle: FALSE\n"),
        (
            "seed_everything: 1\ntrainer:\n  benchmark: true\n  max_epochs: 1\n",
            "seed_everything: 1\ntrainer:\n  max_epochs: 1\n",
        ),
        ("seed_everything: 1\ntrainer: {benchmark: true, x: 1}\n", "seed_everything: 1\ntrainer: {x: 1}\n"),
        ("seed_everything: 1\ntrainer: {x: 1, benchmark: true}\n", "seed_everything: 1\ntrainer: {x: 1}\n"),
    ],
)
def test_changes(before: str, after: str, tmp_path: Path) -> None:
    assert fixed(tmp_path, before, *EVERYTHING).decode() == after


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_encodings(encoding: str, mark: str, tmp_path: Path) -> None:
    if encoding != "utf-8" and not mark:
        return  # YAML asks for the mark
    text = f"{mark}# größer \u2028 one line\nä: {{ß: {{{DROPOUT}, p: 0.5}}}}\r\n"
    assert fixed(tmp_path, text.encode(encoding), *EVERYTHING) == text.replace("0.5", "0.0").encode(encoding)


def test_every_document(tmp_path: Path) -> None:
    before = f"%YAML 1.2\n---\n{DROPOUT}\n...\n---\nkind: other\n---\n- {DROPOUT}\n  p: 0.5\n"
    assert fixed(tmp_path, before, *EVERYTHING).decode() == before.replace(
        f"{DROPOUT}\n...", f"{DROPOUT}\np: 0.0\n..."
    ).replace("0.5", "0.0")


# -- what is left alone ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        f"a: &d\n  {DROPOUT}\n  p: 0.5\nb: *d\n",
        f"a: &d\n  x:\n    {DROPOUT}\nb: *d\n",
        f"rate: &r 0.5\na:\n  {DROPOUT}\n  p: *r\n",
        f"base: &b\n  p: 0.5\na:\n  <<: *b\n  {DROPOUT}\n",
        f"base: &b\n  {DROPOUT}\na:\n  <<: *b\n  p: 0.5\n",
        f"{DROPOUT}\np: ${{rate}}\n",
        f"{DROPOUT}\np: ???\n",
        f"{DROPOUT}\np: '@rate'\n",
        f"{DROPOUT}\np: !!float 0.5\n",
        f"{DROPOUT}\np: &anchored 0.5\n",
        f"{DROPOUT}\np: |\n  0.5\n",
        f"{DROPOUT}\n_args_: ${{args}}\n",
        "class_path: torch.nn.Dropout\ninit_args: ${args}\n",
        f"{DROPOUT}  # noqa: DET201\np: 0.5\n",
        f"{DROPOUT}\np: 0.5  # noqa: DET201\n",
        f"? {DROPOUT}\n: 1\n",
        "d: !new:torch.nn.Dropout\n",
        "seed_everything: 1\ntrainer:\n  benchmark: true\n",
    ],
)
def test_left_alone(text: str, tmp_path: Path) -> None:
    assert fixed(tmp_path, text, *EVERYTHING).decode() == text


def test_what_no_recipe_of_yaml_does_is_left_alone(tmp_path: Path) -> None:
    text = "a:\n  _target_: torch.randn\n  size: [3]\n  device: cuda\n"
    assert fixed(tmp_path, text, *EVERYTHING).decode() == text


# -- items of lists -------------------------------------------------------------------------------------------------

ITEM = """
[[api]]
rule = "DET301"
names = ["ours.Jitter"]
registry = ["Jitter"]
source = "ours"
fix = {{ kind = "replace-item", applicability = "unsafe"{} }}
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "p:\n  - type: Load\n  # jitter\n  - type: Jitter  # 1\n    by: 2\n\n  # pack\n  - type: Pack\n",
            "p:\n  - type: Load\n  # jitter\n  # 1\n\n  # pack\n  - type: Pack\n",
        ),
        (
            "p:\n- type: Load\n- type: Jitter  # a\n  # b\n  x: '# no'  # c\n  y: |  # d\n    # no\n  z: e#no\n",
            "p:\n- type: Load\n# a\n# b\n# c\n# d\n",
        ),
        ("p:\n- type: Load\n- type: Jitter\n", "p:\n- type: Load\n"),
        ("p:\n- type: Jitter\n  x: {y: 1}\n- type: Load", "p:\n- type: Load"),
        ("p:\n- type: Load\n- type: Jitter\n  x:\n  - 1\nq: 1\n", "p:\n- type: Load\nq: 1\n"),
        ("p: [{type: Load}, {type: Jitter}, {type: Pack}]\n", "p: [{type: Load}, {type: Pack}]\n"),
        ("p: [{type: Load}, {type: Jitter}]\n", "p: [{type: Load}]\n"),
        ("p:\n- _target_: ours.Jitter\n- 1\n", "p:\n- 1\n"),
        ("p:\n- !new:ours.Jitter\n  x: 1\n- 1\n", "p:\n- 1\n"),
        ("p: {x: {type: Jitter}}\n", None),
        ("p:\n- type: Jitter\n", None),
        ("p:\n- - type: Jitter\n  - 1\n", None),
        ("p:\n- x: {type: Jitter}\n- 1\n", None),
        ("p: &p\n- type: Jitter\n- 1\nq: *p\n", None),
        ("p:\n- type: Load\n- &j\n  type: Jitter\nq: *j\n", None),
    ],
)
def test_items_are_left_out(before: str, after: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ours.toml").write_text(ITEM.format(""))
    Path("detlint.toml").write_text('catalogs = ["ours.toml"]\n')
    Path("a.yaml").write_text(before)
    detlint("check", "--no-cache", "--fix", "--unsafe-fixes", "--show-notes", "--profile", "align", "a.yaml")
    assert Path("a.yaml").read_text() == (before if after is None else after)


@pytest.mark.parametrize("between", ["", "\n", "# why\n"])
def test_the_last_item_that_is_left_is_turned_off(
    between: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ours.toml").write_text(ITEM.format(', argument = "prob", value = 0.0'))
    Path("detlint.toml").write_text('catalogs = ["ours.toml"]\n')
    Path("a.yaml").write_text(between.join(["p:\n", *(f"- type: Jitter\n  by: {i}\n" for i in range(20))]))
    result = detlint("check", "--no-cache", "--fix", "--unsafe-fixes", "--show-notes", "--profile", "align", "a.yaml")
    assert result.stderr == ""
    assert [*loaded(Path("a.yaml").read_text())[0]["p"]] == [{"type": "Jitter", "by": ANY, "prob": 0.0}]


def test_what_takes_an_items_place_is_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ours.toml").write_text(ITEM.format(', text = "<torch.nn.Identity>()"'))
    Path("detlint.toml").write_text('catalogs = ["ours.toml"]\n')
    Path("a.yaml").write_text("p:\n- type: Load\n- type: Jitter\n")
    result = detlint("check", "--no-cache", "--diff", "--unsafe-fixes", "--show-notes", "--profile", "align", "a.yaml")
    assert (result.exit_code, result.stderr) == (0, "Nothing can be fixed.\n")


# -- everything else stays ------------------------------------------------------------------------------------------

PLAIN = st.sampled_from(["1", "text", "'it''s'", '"a: \\n#"', "~", "[1, 'x']", "{k: v, 'l': [true]}", "é # no"])
COMMENTS = st.sampled_from(["", "", "  # why, p: 0.5", "   "])
RATES = st.sampled_from(["0.5", ".5", "5e-1", "0.75", "0.25", '"0.5"'])


@st.composite
def tables(draw: st.DrawFn, depth: int = 0) -> list[str]:
    """The lines of a block: a mapping, or a list of such."""
    step: int = draw(st.sampled_from([1, 2, 4]))
    lines: list[str] = []
    if depth < 3 and draw(st.integers(0, 2)) == 0:
        for _ in range(draw(st.integers(1, 3))):
            first, *rest = draw(tables(depth + 1))
            while first.startswith("#"):
                lines.append(first)
                first, *rest = rest
            lines += [f"- {first}", *(f"  {line}" if line else "" for line in rest)]
        return lines
    if draw(st.booleans()):
        kind = draw(st.sampled_from(["_target_: torch.nn.Dropout", "type: Dropout2d", "_component_: torch.nn.Dropout"]))
        lines.append(kind.replace("type: Dropout2d", "_target_: 'torch.nn.Dropout2d'") + draw(COMMENTS))
        if draw(st.booleans()):
            lines.append(f"p: {draw(RATES)}{draw(COMMENTS)}")
    for i in range(draw(st.integers(0 if lines else 1, 3))):
        lines += draw(st.sampled_from([[], [], ["# own line"], [""], ["  # deeper"]])) if lines else []
        if depth < 3 and draw(st.booleans()):
            inner = draw(tables(depth + 1))
            lines += [f"k{i}:{draw(COMMENTS)}", *(" " * step + line if line else "" for line in inner)]
        elif draw(st.integers(0, 3)) == 0:
            rate = draw(st.sampled_from(["", ", p: 0.5", ", inplace: true", " ,p: 0.1 ,"]))
            lines.append(f"k{i}: {{_target_: torch.nn.Dropout{rate}}}{draw(COMMENTS)}")
        else:
            lines.append(f"k{i}: {draw(PLAIN)}{draw(COMMENTS)}")
    return lines


@settings(max_examples=examples(150))
@given(
    st.lists(tables(), min_size=1, max_size=2),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([b"", b"\xef\xbb\xbf"]),
    st.booleans(),
)
def test_only_the_argument_changes(documents: list[list[str]], newline: str, mark: bytes, ended: bool) -> None:
    before = newline.join([line for lines in documents for line in ("---", *lines)]) + newline * ended
    with tempfile.TemporaryDirectory() as folder:
        after = fixed(Path(folder), mark + before.encode(), *EVERYTHING).removeprefix(mark).decode()
    assert loaded(after) == [without_dropout(document) for document in loaded(before)]
    old, new = (text.split(newline) for text in (before, after))
    for tag, i, j, k, n in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            assert all("p:" in line or "Dropout" in line for line in (*old[i:j], *new[k:n]))
            assert [comment(line) for line in old[i:j] if comment(line)] == [comment(x) for x in new[k:n] if comment(x)]


def loaded(text: str) -> list[Any]:
    return [*yaml.safe_load_all(text)]


def without_dropout(value: Any) -> Any:
    """What a configuration says when each dropout's rate is 0."""
    if isinstance(value, list):
        return [without_dropout(item) for item in value]
    if not isinstance(value, dict):
        return value
    table = {key: without_dropout(item) for key, item in value.items()}
    named = str(table.get("_target_", table.get("_component_", "")))
    return {**table, "p": 0.0} if named.startswith("torch.nn.Dropout") else table


def comment(line: str) -> str:
    return line.partition(" #")[2]


# -- what is said ---------------------------------------------------------------------------------------------------


def test_edits_in_json(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(f"- {DROPOUT}\n  p: 0.5\n- {DROPOUT}\n", "utf-8")
    edits = [row["fix"]["edits"] for row in findings("--profile", "align", file)]
    assert edits == [
        [{"content": "0.0", "cell": None, "location": {"row": 2, "column": 6}, "end_location": {"row": 2, "column": 9}}],
        [{"content": "  p: 0.0\n", "cell": None, "location": {"row": 4, "column": 1}, "end_location": {"row": 4, "column": 1}}],
    ]  # fmt: skip


def test_by_design_stays_where_runs_are_only_to_be_repeated(tmp_path: Path) -> None:
    text = f"{DROPOUT}\np: 0.5\n"
    assert fixed(tmp_path, text, "--unsafe-fixes", "--show-notes").decode() == text


@pytest.mark.parametrize("depth", [100, 400, 900])
def test_deep_nesting(depth: int, tmp_path: Path) -> None:
    keys = "".join(f"{' ' * i}k:\n" for i in range(depth))
    before = f"{keys}{' ' * depth}{DROPOUT}\n{' ' * depth}p: 0.5\n---\n{'- ' * depth}{{{DROPOUT}, p: 0.5}}\n"
    assert fixed(tmp_path, before, *EVERYTHING).decode() == before.replace("0.5", "0.0")


def test_several_keys_of_one_table(tmp_path: Path) -> None:
    text = "seed_everything: false\ntrainer:\n  benchmark: true\n  max_epochs: 1\n  deterministic: false\n"
    after = fixed(tmp_path, text, *EVERYTHING).decode()
    assert loaded(after)[0]["trainer"].keys() == {"max_epochs", "deterministic"}
    assert after.startswith("seed_everything: 0\ntrainer:\n  max_epochs: 1\n")
