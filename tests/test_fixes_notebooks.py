"""Fixing notebooks: what becomes of the cells, what is left alone, and that no other byte of the file changes."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path
from typing import Any

import pytest
from conftest import REPOSITORY, detlint, examples, findings, notebook
from hypothesis import given, settings
from hypothesis import strategies as st

FIXTURES = REPOSITORY / "fixtures" / "fixes"
EVERYTHING = ("--unsafe-fixes", "--show-notes", "--profile", "align", "--target", "cuda")
MAGIC = "%matplotlib inline"
DRAW = "x = torch.rand(3, device='cuda')"
DRAWN = "x = torch.rand(3).to('cuda')"
DROP = "drop = torch.nn.Dropout(0.5)"
DROPPED = "drop = torch.nn.Dropout(0.0)"
SEEDED = "import torch\ntorch.manual_seed(1)"


def fixed(folder: Path, content: str | bytes, *options: str) -> bytes:
    """What `--fix` makes of a notebook; a second time changes nothing."""
    file = folder / "a.ipynb"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    result = detlint("check", "--isolated", "--no-cache", "--fix", *options, file)
    assert (result.exit_code in (0, 1), result.stderr) == (True, "")
    after = file.read_bytes()
    again = detlint("check", "--isolated", "--no-cache", "--diff", *options, file)
    assert (again.stdout, again.stderr) == ("", "Nothing can be fixed.\n")
    return after


def cells_of(content: bytes) -> list[str]:
    return ["".join(cell["source"]) for cell in json.loads(content)["cells"]]


def fixed_cells(folder: Path, *cells: str | dict[str, Any]) -> list[str]:
    return cells_of(fixed(folder, notebook(*cells), *EVERYTHING))


# -- whole files ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(path.name for path in (FIXTURES / "before").glob("*.ipynb")))
def test_fixtures(name: str, tmp_path: Path) -> None:
    after = fixed(tmp_path, (FIXTURES / "before" / name).read_bytes(), *EVERYTHING)
    assert after == (FIXTURES / "after" / name).read_bytes()


@pytest.mark.parametrize("path", sorted((REPOSITORY / "fixtures" / "programs").rglob("*.ipynb")), ids=lambda p: p.stem)
def test_notebooks_of_programs_stay_notebooks(path: Path, tmp_path: Path) -> None:
    before = path.read_bytes()
    after = fixed(tmp_path, before, *EVERYTHING)
    old, new = json.loads(before), json.loads(after)
    assert [magics(cell) for cell in old["cells"]] == [magics(cell) for cell in new["cells"]]
    for cell in (*old["cells"], *new["cells"]):
        del cell["source"]
    assert json.dumps(old) == json.dumps(new)


def magics(cell: dict[str, Any]) -> list[str]:
    return [line for line in "".join(cell["source"]).splitlines() if line.lstrip()[:1] in ("%", "!", "?")]


# -- where fixes go -------------------------------------------------------------------------------------------------


def test_a_run_is_seeded_behind_the_imports_of_their_cell(tmp_path: Path) -> None:
    cells = fixed_cells(tmp_path, "#md text", f"{MAGIC}\nimport torch", "!nvidia-smi", DRAW)
    assert cells[1:] == [f"{MAGIC}\nimport torch\n\ntorch.manual_seed(0)", "!nvidia-smi", DRAWN]


def test_without_imports_a_run_is_seeded_in_the_cell_that_starts_it(tmp_path: Path) -> None:
    draws = "x = [1, 2]\nimport random; random.shuffle(x)"
    cells = fixed_cells(tmp_path, "# Setup", f"%%time\n{draws}")
    assert cells == ["# Setup", f"%%time\nimport random\n\nrandom.seed(0)\n{draws}"]


def test_imports_go_to_the_cell_that_has_imports(tmp_path: Path) -> None:
    cells = fixed_cells(tmp_path, "%load_ext tensorboard", "import os\nfrom torch import rand", "y = 1", "rand(3)")
    assert cells == [
        "%load_ext tensorboard",
        "import os\nimport torch\nfrom torch import rand\n\ntorch.manual_seed(0)",
        "y = 1",
        "rand(3)",
    ]


def test_imports_never_come_after_what_needs_them(tmp_path: Path) -> None:
    source = "def draw():\n    from torch import rand\n    return rand(3)\nz = draw()"
    first, last = fixed_cells(tmp_path, source, "import os\nimport sys")
    assert first == source  # the framework is only imported where it is drawn from, perhaps more than once: not safe
    assert last == "import os\nimport sys"


@pytest.mark.parametrize("magic", ["%%time", "%%capture out\n", "#@title Net\n%%timeit -n 1"])
def test_the_code_of_a_cell_magic(magic: str, tmp_path: Path) -> None:
    assert fixed_cells(tmp_path, SEEDED, f"{magic}\n{DROP}\n{DRAW}")[1] == f"{magic}\n{DROPPED}\n{DRAWN}"


@pytest.mark.parametrize(
    "source",
    [f"{DROP}\n{DRAW}", f"{DROP}\n{DRAW}\n", [f"{DROP}\n", DRAW], [f"{DROP}\n{DRAW[:5]}", DRAW[5:]]],
)
def test_ways_to_write_a_source(source: str | list[str], tmp_path: Path) -> None:
    after = fixed(tmp_path, notebook(SEEDED, {"source": source}), *EVERYTHING)
    now = json.loads(after)["cells"][1]["source"]
    assert type(now) is type(source)
    assert "".join(now) == "".join(source).replace(DROP, DROPPED).replace(DRAW, DRAWN)


@pytest.mark.parametrize("ends", ["\r\n", "\r", "\n"])
def test_line_ends_of_a_source(ends: str, tmp_path: Path) -> None:
    source = f"import torch{ends}{MAGIC}{ends}{DRAW}{ends}"
    (after,) = fixed_cells(tmp_path, {"source": source})
    assert after == f"import torch{ends}{ends}torch.manual_seed(0){ends}{MAGIC}{ends}{DRAWN}{ends}"


def test_a_margin_and_prompts_are_kept(tmp_path: Path) -> None:
    indented = f"    import torch\n\n    {DRAW}\n    for _ in x:\n        {DROP}"
    prompted = f">>> import os\n>>> files = [\n...     open(name) for name in os.listdir()]\n>>> {DROP}"
    assert fixed_cells(tmp_path, indented, prompted) == [
        f"    import torch\n\n    torch.manual_seed(0)\n\n    {DRAWN}\n    for _ in x:\n        {DROPPED}",
        f">>> import os\n>>> files = [\n...     open(name) for name in sorted(os.listdir())]\n>>> {DROPPED}",
    ]


# -- what is left alone ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "cell",
    [
        f"%time {DROP}",
        f"%timeit -n 3 {DROP}",
        f"y = %time {DROP.partition('= ')[2]}",
        f"%%time {DROP}\nx = 1",
        f"pip install torch\n{DROP}",
        f"{DROP}  # noqa: DET201",
        f"{DROP}\n'''\n%no magic\n'''; \\\n",
        f"%%bash\n{DROP}",
        f"%%writefile net.py\nimport torch\n{DROP}",
        f"{DROP} +",
    ],
)
def test_lines_that_are_no_python_and_cells_that_are_not_read_as_they_stand(cell: str, tmp_path: Path) -> None:
    before = notebook(SEEDED, cell)
    assert fixed(tmp_path, before, *EVERYTHING) == before.encode()


def test_a_call_that_a_shell_line_interrupts(tmp_path: Path) -> None:
    cell = "names = !ls\ndrop = torch.nn.Dropout(\n    0.5,\n)\n!ls"
    assert fixed_cells(tmp_path, SEEDED, cell)[1] == cell.replace("0.5", "0.0")


@pytest.mark.parametrize(
    "content",
    ["", "{}", '{"cells": 3}', "[" * 100_000, '{"cells": [{"cell_type": "code", "source": 3}]}', b"\xff\xfe"],
)
def test_what_is_no_notebook(content: str | bytes, tmp_path: Path) -> None:
    data = content if isinstance(content, bytes) else content.encode()
    assert fixed(tmp_path, data, *EVERYTHING) == data


def test_a_number_too_long_for_python_in_an_output(tmp_path: Path) -> None:
    before = notebook(SEEDED, {"source": DROP, "outputs": ["LONG"]}).replace('"LONG"', "1" * 5_000)
    assert fixed(tmp_path, before, *EVERYTHING) == before.encode()


# -- every other byte -----------------------------------------------------------------------------------------------

LINES = [
    (MAGIC, MAGIC),
    ("!ls -l 'é'", "!ls -l 'é'"),
    ("", ""),
    ('# größer \\ "quoted" \t 😀', '# größer \\ "quoted" \t 😀'),
    (DROP, DROPPED),
    (DRAW, DRAWN),
    ("é = [torch.nn.Dropout(0.25), '\\\\', \"\\n\"]  # ö", "é = [torch.nn.Dropout(0.0), '\\\\', \"\\n\"]  # ö"),
    ("d = torch.nn.Dropout(\n    p=0.1)", "d = torch.nn.Dropout(\n    p=0.0)"),
    ("files = [open(f) for f in os.listdir('/')]", "files = [open(f) for f in sorted(os.listdir('/'))]"),
    ("s = '''\n%not magic\n'''", "s = '''\n%not magic\n'''"),
    ("text?", "text?"),
]
OUTPUT: dict[str, Any] = {
    "output_type": "stream",
    "name": "stdout",
    "text": ['"source": ["x = torch.rand(3, device=\'cuda\')"]', "\u001b[0m ü \\ / \x7f"],
    "data": {"application/json": {"cells": [1e5, 0.10, -0.0, None, {"source": [], "input": ""}]}},
}


@st.composite
def cells(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    """A cell before and after."""
    if draw(st.integers(0, 4)) == 0:
        cell: dict[str, Any] = {
            "cell_type": draw(st.sampled_from(["markdown", "raw"])),
            "metadata": {},
            "source": [DROP],
        }
        return cell, cell
    lines = draw(st.lists(st.sampled_from(LINES), max_size=5))
    head, margin = draw(st.sampled_from(["", "", "%%time\n", "%%bash\n"])), draw(st.sampled_from(["", "", "  "]))
    tail = draw(st.sampled_from(["", "\n", "\n\n"]))
    ends, listed, extra = draw(st.sampled_from(["\n", "\r\n"])), draw(st.booleans()), draw(st.booleans())
    found = []
    for side in (0, 1):
        text: str = head + "\n".join(line[side if head != "%%bash\n" else 0] for line in lines) + tail
        if margin and not any(line[:1] in ("'", "%", "!") for line in text.splitlines() if line):
            text = "".join(margin * bool(line.strip()) + line for line in text.splitlines(keepends=True))
        text = text.replace("\n", ends)
        source = re.findall(rf".*?{ends}|.+", text, re.S) if listed else text
        cell = {"source": source, "outputs": [OUTPUT] * extra, "cell_type": "code", "metadata": {"tags": ["ä"]}}
        found.append({**cell, "execution_count": 3})
    return found[0], found[1]


@st.composite
def layouts(draw: st.DrawFn) -> dict[str, Any]:
    indent = draw(st.sampled_from([None, 0, 1, 2, "\t"]))
    separators = draw(st.sampled_from([(",", ":"), (", ", ": "), (" ,\n", " : ")])) if indent is None else None
    return {"indent": indent, "separators": separators, "ensure_ascii": draw(st.booleans())}


@settings(max_examples=examples(120))
@given(
    st.lists(cells(), max_size=5),
    layouts(),
    st.booleans(),
    st.sampled_from([b"", b"\xef\xbb\xbf"]),
    st.sampled_from(["", "\n", "\n\n "]),
)
def test_only_edited_lines_change(
    pairs: list[tuple[dict[str, Any], dict[str, Any]]], layout: dict[str, Any], old: bool, mark: bytes, end: str
) -> None:
    first = {
        "cell_type": "code",
        "metadata": {},
        "outputs": [],
        "source": "import os\nimport torch\ntorch.manual_seed(1)",
    }
    before, after = ([first, *(pair[side] for pair in pairs)] for side in (0, 1))
    content, expected = (mark + (json.dumps(_notebook(side, old), **layout) + end).encode() for side in (before, after))
    with tempfile.TemporaryDirectory() as folder:
        assert fixed(Path(folder), content, *EVERYTHING) == expected


def _notebook(listed: list[dict[str, Any]], old: bool) -> dict[str, Any]:
    """A notebook of version 4 or 3."""
    if not old:
        return {"metadata": {"author": "Jürgen"}, "nbformat": 4, "nbformat_minor": 5, "cells": listed}
    older = [
        {"language": "python", **{"input" if (key, cell["cell_type"]) == ("source", "code") else key: value for key, value in cell.items()}}
        for cell in listed
    ]  # fmt: skip
    return {"worksheets": [{"cells": older[:2]}, {"metadata": {}, "cells": older[2:]}], "metadata": {}, "nbformat": 3}


# -- what is said ---------------------------------------------------------------------------------------------------


def test_a_diff_names_the_cells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    before = notebook("#md text", f"{MAGIC}\nimport torch", "y = 1", DRAW)
    Path("a.ipynb").write_text(before, "utf-8")
    result = detlint("check", "--isolated", "--no-cache", "--diff", *EVERYTHING, "a.ipynb")
    assert (result.exit_code, result.stderr) == (1, "Would fix 2 findings in 1 file.\n")
    assert result.stdout.splitlines() == [
        "--- a.ipynb:cell 2",
        "+++ a.ipynb:cell 2",
        "@@ -1,2 +1,4 @@",
        f" {MAGIC}",
        " import torch",
        "+",
        "+torch.manual_seed(0)",
        "--- a.ipynb:cell 4",
        "+++ a.ipynb:cell 4",
        "@@ -1 +1 @@",
        f"-{DRAW}",
        f"+{DRAWN}",
    ]
    assert Path("a.ipynb").read_text("utf-8") == before


def test_standard_input() -> None:
    arguments = ("check", "--isolated", "--no-cache", "--fix", *EVERYTHING, "-", "--stdin-filename", "a.ipynb")
    result = detlint(*arguments, stdin=notebook(SEEDED, DRAW).encode())
    assert cells_of(result.stdout_bytes) == [SEEDED, DRAWN]


@pytest.mark.parametrize("form", ["sarif", "rdjson"])
def test_formats_without_cells_have_no_fixes(form: str, tmp_path: Path) -> None:
    file = tmp_path / "a.ipynb"
    file.write_text(notebook(SEEDED, DRAW), "utf-8")
    told = detlint("check", "--isolated", "--no-cache", "--show-notes", "--output-format", form, file).stdout
    assert "DET501" in told and ".to(" in told
    assert DRAWN not in told and "deletedRegion" not in told and "suggestions" not in told


@pytest.mark.parametrize("margin", ["", "  "])
def test_edits_in_json_are_those_of_cells(margin: str, tmp_path: Path) -> None:
    """Whoever makes them gets what `--fix` does."""
    cells = [f"{margin}import os\n{margin}import torch", f"{margin}{DRAW}\n{margin}files = [*map(open, os.listdir())]"]
    file = tmp_path / "a.ipynb"
    file.write_text(notebook(*cells), "utf-8")
    rows = [row for row in findings("--profile", "align", file) if row["fix"] and row["fix"]["edits"]]
    assert [(row["code"], row["cell"], [edit["cell"] for edit in row["fix"]["edits"]]) for row in rows] == [
        ("DET104", 2, [1]),
        ("DET501", 2, [2]),
        ("DET305", 2, [2]),
    ]
    assert [made(cells, row["fix"]["edits"]) for row in rows] == [
        [f"{cells[0]}\n\n{margin}torch.manual_seed(0)", cells[1]],
        [cells[0], cells[1].replace(DRAW, DRAWN)],
        [cells[0], cells[1].replace("os.listdir()", "sorted(os.listdir())")],
    ]


def made(cells: list[str], edits: list[dict[str, Any]]) -> list[str]:
    """Cells with edits made."""
    texts = [f"{cell}\n" for cell in cells]
    for edit in edits:
        lines = texts[edit["cell"] - 1].splitlines(keepends=True)
        start, end = (offset(lines, edit[key]) for key in ("location", "end_location"))
        text = "".join(lines)
        texts[edit["cell"] - 1] = text[:start] + edit["content"] + text[end:]
    return [text.removesuffix("\n") for text in texts]


def offset(lines: list[str], place: dict[str, int]) -> int:
    return sum(map(len, lines[: place["row"] - 1])) + place["column"] - 1
