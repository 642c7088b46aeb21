"""The formats that services read, against their schemas and rules; and fingerprints, which stay while lines move."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest
import xmlschema
from conftest import REPOSITORY, detlint, examples, notebook
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft4Validator  # type: ignore[import-untyped]

Project = Callable[..., Path]

SCHEMAS = Path(__file__).parent / "data" / "schemas"
EVERY = ["full", "text", "concise", "grouped", "json", "json-lines", "sarif", "github", "gitlab", "junit", "rdjson",
         "pylint", "azure"]  # fmt: skip

SOURCE = """\
import random

import torch
import torch.nn.functional as F


def warp(x, g):
    return F.grid_sample(
        x,
        g,
    )


if __name__ == "__main__":
    é = "é", random.random()
    warp(torch.rand(2, requires_grad=True), 1)
"""
DRAWS = "import random\n\n\ndef order(x):\n    random.shuffle(x)\n"
MAIN = "from data import order\n\n\ndef main():\n    order([1, 2])\n\n\nif __name__ == '__main__':\n    main()\n"
LAYER = "import torch.nn as nn\n\nlayer = nn.Dropout(0.5)\n"


def output(form: str, *arguments: str | Path) -> str:
    return detlint("check", "--isolated", "--no-cache", "--output-format", form, *arguments).stdout


def rows(form: str, *arguments: str | Path) -> Any:
    return json.loads(output(form, *arguments))


@pytest.fixture
def repository(project: Project) -> Path:
    """A repository with a bit of everything, and a project in a folder of it."""
    files = {
        ".git/HEAD": "",
        "app/pyproject.toml": "[project]\nname = 'app'\n",
        "app/a b,c.py": SOURCE,
        "app/data.py": DRAWS,
        "app/main.py": MAIN,
        "app/book.ipynb": notebook("#md text", "import torch.nn.functional as F\nx = 1", "\n\nF.grid_sample(x, x)\n"),
        "app/net.yaml": "model:\n  _target_: torch.nn.Dropout\n  p: 0.5\n",
        "app/broken.py": "import torch\n(\n",
        "app/latin.py": "# coding: latin-1\nimport random\ns = 'é', random.random()\n".encode("latin-1"),
    }
    root = project(**files)
    shutil.copytree(REPOSITORY / "fixtures" / "showcase", root / "app" / "showcase")
    os.chdir(root / "app")
    return root


@pytest.mark.parametrize("form", EVERY)
def test_every_format_by_its_name(repository: Path, form: str) -> None:
    result = detlint("check", "--no-cache", "--isolated", "--output-format", form, "main.py")
    assert result.exit_code == 1
    assert "DET101" in result.stdout
    (repository / "app" / "pyproject.toml").write_text(f"[tool.detlint]\noutput-format = '{form}'\n")
    assert "DET101" in detlint("check", "--no-cache", "main.py").stdout


@pytest.mark.parametrize("form", EVERY)
def test_nothing_found(project: Project, form: str) -> None:
    project(**{"a.py": "x = 1\n"})
    result = detlint("check", "--no-cache", "--isolated", "--output-format", form, "a.py")
    assert result.exit_code == 0
    assert "DET" not in result.stdout
    if form in ("full", "text", "grouped"):
        assert result.stdout == "No problems found in 1 file.\n"
    elif form in ("concise", "pylint", "github", "azure", "json-lines"):
        assert result.stdout == ""
    elif form == "junit":
        suites = ElementTree.fromstring(result.stdout)
        assert suites.attrib == {"name": "detlint", "tests": "1", "failures": "0", "errors": "0"}
    else:
        json.loads(result.stdout)


def test_an_unknown_format_is_refused_with_those_there_are(project: Project) -> None:
    project(**{"a.py": "x = 1\n", "detlint.toml": "output-format = 'xml'\n"})
    result = detlint("check", "--no-cache", "a.py")
    assert result.exit_code == 2
    assert "detlint.toml: `output-format`: `xml` is not one of `full`, " in result.stderr
    assert "`sarif`" in result.stderr


@pytest.mark.parametrize("form", EVERY)
def test_written_to_a_file(repository: Path, form: str) -> None:
    target = repository / "report"
    result = detlint("check", "--no-cache", "--isolated", "--output-format", form, "-o", target, ".")
    assert (result.exit_code, result.stdout) == (1, "")
    assert target.read_text("utf-8") == output(form, ".")


def test_a_file_that_cannot_be_written(repository: Path) -> None:
    result = detlint("check", "--no-cache", "--isolated", "-o", repository / "no" / "report", "main.py")
    assert result.exit_code == 2
    assert "report: can't be written: No such file or directory" in result.stderr


def test_full_and_text_are_one(repository: Path) -> None:
    assert output("full", ".") == output("text", ".")


def test_json_lines_are_the_rows_of_json(repository: Path) -> None:
    lines = output("json-lines", "--show-notes", ".").splitlines()
    assert [json.loads(line) for line in lines] == rows("json", "--show-notes", ".")


# -- text for people and for editors ---------------------------------------------------------------------------------


def test_grouped(project: Project) -> None:
    project(**{"data.py": DRAWS, "main.py": MAIN, "n.ipynb": notebook("import random", "random.random()")})
    assert output("grouped").splitlines()[:7] == [
        "data.py:",
        "  5:5  error: DET101 `random.shuffle` draws from Python's global stream, which nothing seeds before",
        "",
        "n.ipynb:",
        "  cell 2:1:1  error: DET101 `random.random` draws from Python's global stream, which nothing seeds before",
        "",
        "2  DET101  unseeded-python  error",
    ]


def test_statistics_instead_of_findings(project: Project) -> None:
    project(**{"data.py": DRAWS, "main.py": MAIN})
    for form in ("full", "concise", "grouped"):
        assert output(form, "--statistics") == "1  DET101  unseeded-python  error\n1 fixable with --fix.\n"


def test_pylint(project: Project) -> None:
    project(**{"a.py": SOURCE, "n.ipynb": notebook("import random", "random.random()")})
    for line in output("pylint").splitlines():
        assert re.fullmatch(r"(a\.py:\d+|n\.ipynb:1): \[DET\d{3}\] \S.*", line), line
    assert "n.ipynb:1: [DET101] cell 2:1: `random.random`" in output("pylint")


# -- GitHub ----------------------------------------------------------------------------------------------------------

COMMAND = re.compile(r"::(?P<command>error|warning|notice) (?P<fields>.*?)::(?P<text>.*)")


def commands(text: str) -> list[tuple[str, dict[str, str], str]]:
    """What GitHub's runner reads: it ends the command at the first `::`, then splits at commas and `=`."""
    found = []
    for line in text.splitlines():
        match = COMMAND.fullmatch(line)
        assert match is not None, line
        fields = dict(part.split("=", 1) for part in match["fields"].split(","))
        found.append((match["command"], {key: unquote(value) for key, value in fields.items()}, unquote(match["text"])))
    return found


def test_github(repository: Path) -> None:
    """Escaped as by GitHub's own library: `%`, line ends, and in fields `:` and `,`."""
    listed = commands(output("github", "--show-notes", "."))
    for command, fields, text in listed:
        assert re.fullmatch(r"detlint \(DET\d{3}\)", fields["title"])
        assert (repository / fields["file"]).is_file()
        assert int(fields["line"]) <= int(fields["endLine"])
        assert ("col" in fields) is ("endColumn" in fields)
        assert fields["line"] == fields["endLine"] or "col" not in fields
        assert command in ("error", "warning", "notice")
        assert text.startswith(fields["title"][9:15])
    assert {fields["file"] for _, fields, _ in listed} > {"app/a b,c.py", "app/book.ipynb", "app/net.yaml"}
    spans = {fields["line"]: fields for _, fields, text in listed if fields["file"] == "app/a b,c.py"}
    assert spans["8"] == {"title": "detlint (DET403)", "file": "app/a b,c.py", "line": "8", "endLine": "11"}
    (book,) = [(fields, text) for _, fields, text in listed if fields["file"] == "app/book.ipynb" and "DET403" in text]
    assert (book[0]["line"], book[0]["endLine"]) == ("1", "1")
    assert book[1].startswith("DET403 cell 3:3: ")
    assert "\n  help: " in book[1]


def test_azure(repository: Path) -> None:
    for line in output("azure", ".").splitlines():
        match = re.fullmatch(r"##vso\[task\.logissue ((?:\w+=[^;\]]*;)+)\](\S.*)", line)
        assert match is not None, line
        fields = dict(part.split("=", 1) for part in match[1].split(";") if part)
        assert list(fields) == ["type", "sourcepath", "linenumber", "columnnumber", "code"]
        assert fields["type"] in ("error", "warning")
        assert (repository / fields["sourcepath"]).is_file()


# -- GitLab ----------------------------------------------------------------------------------------------------------


def test_gitlab(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI_PROJECT_DIR", raising=False)
    listed = rows("gitlab", "--show-notes", ".")
    for row in listed:
        assert row.keys() == {"check_name", "description", "severity", "fingerprint", "location"}
        assert row["severity"] in ("info", "minor", "major")
        assert row["description"].startswith(f"{row['check_name']}: ")
        assert (repository / row["location"]["path"]).is_file()
        begin, end = row["location"]["positions"]["begin"], row["location"]["positions"]["end"]
        assert 1 <= begin["line"] <= end["line"]
    prints = [row["fingerprint"] for row in listed]
    assert len(prints) == len(set(prints)) > 20
    monkeypatch.setenv("CI_PROJECT_DIR", str(repository / "app"))
    assert {row["location"]["path"] for row in rows("gitlab", "main.py", "data.py")} == {"data.py"}


# -- JUnit -----------------------------------------------------------------------------------------------------------


def test_junit_follows_the_schema_of_jenkins(repository: Path) -> None:
    text = output("junit", "--show-notes", ".")
    xmlschema.XMLSchema(SCHEMAS / "junit-10.xsd").validate(ElementTree.fromstring(text))
    top = ElementTree.fromstring(text)
    suites = {os.path.relpath(suite.get("name", "")): suite for suite in top}
    assert (
        sum(int(suite.get("tests", "")) for suite in top) == int(top.get("tests", "")) == len(top.findall(".//failure"))
    )
    (case,) = suites["data.py"]
    assert case.attrib == {"name": "org.detlint.DET101", "classname": str(repository / "app" / "data")}
    failure = case.find("failure")
    assert failure is not None
    assert (failure.get("type"), str(failure.text).partition(", `")[0]) == ("error", "line 5, col 5")
    assert "cell 3, line 3, col 1, " in "".join(suites["book.ipynb"].itertext())


@pytest.mark.skipif(sys.platform == "win32", reason="file names there are text")
def test_names_that_are_no_text_are_written(project: Project) -> None:
    root = project(**{"a.py": LAYER})
    for name in (b"\xff<&\x01.py", b"a%2Cb.py"):
        Path(os.fsdecode(os.fsencode(root) + b"/" + name)).write_text(LAYER)
    for form in EVERY:
        text = output(form, "--show-notes", ".")
        text.encode("utf-8")
        if form == "junit":
            assert len(ElementTree.fromstring(text)) == 3
    uris = [r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
            for r in rows("sarif", "--show-notes", ".")["runs"][0]["results"]]  # fmt: skip
    assert sorted({*uris}) == ["%FF%3C%26%01.py", "a%252Cb.py", "a.py"]


# -- reviewdog -------------------------------------------------------------------------------------------------------


def test_rdjson(repository: Path) -> None:
    log = rows("rdjson", "--show-notes", ".")
    schema = json.loads((SCHEMAS / "rdjson.json").read_text("utf-8"))
    assert [error.message for error in Draft4Validator(schema).iter_errors(log)] == []
    of = {row["location"]["path"]: row for row in log["diagnostics"] if row["code"]["value"] in ("DET101", "DET403")}
    data, latin, book = of["app/data.py"], of["app/latin.py"], of["app/book.ipynb"]
    assert [step["message"] for step in data["related_locations"]] == [
        "the run starts here (__main__)", "calls `main`", "calls `data.order`",
    ]  # fmt: skip
    assert latin["location"]["range"]["start"] == {"line": 3, "column": len("s = 'é', ".encode()) + 1}
    assert book["location"]["range"] == {"start": {"line": 1}}
    assert book["message"].startswith("cell 3:3: ")


@pytest.mark.parametrize("form", ["rdjson", "sarif", "json"])
def test_what_a_fix_replaces(project: Project, form: str) -> None:
    """The listing that is to be sorted stands behind characters of several bytes, which only reviewdog counts as such."""
    line = "    return 'é𐐀', os.listdir(root)"
    project(**{"a.py": f"import os\n\n\ndef names(root):\n{line}\n"})
    found = rows(form, "--select", "DET305", "a.py")
    if form == "rdjson":
        (made,) = found["diagnostics"][0]["suggestions"]
        start, end, text = made["range"]["start"], made["range"]["end"], made["text"]
        columns = start["column"], end["column"]
    elif form == "sarif":
        ((change,),) = [fix["artifactChanges"] for fix in found["runs"][0]["results"][0]["fixes"]]
        (made,) = change["replacements"]
        columns, text = (
            (made["deletedRegion"]["startColumn"], made["deletedRegion"]["endColumn"]),
            made["insertedContent"]["text"],
        )
    else:
        (made,) = found[0]["fix"]["edits"]
        columns, text = (made["location"]["column"], made["end_location"]["column"]), made["content"]
    width = len(line.encode()) if form == "rdjson" else len(line)
    units = [bytes([byte]) for byte in line.encode()] if width > len(line) else [sign.encode() for sign in line]
    fixed = [*units[: columns[0] - 1], text.encode(), *units[columns[1] - 1 :]]
    assert b"".join(fixed).decode() == "    return 'é𐐀', sorted(os.listdir(root))"


@pytest.mark.parametrize("form", ["rdjson", "sarif"])
def test_what_a_fix_does_to_cells_is_not_told(project: Project, form: str) -> None:
    """These formats know no cells, so a place in one would be taken for a place in the JSON."""
    project(**{"n.ipynb": notebook("import os\n\ndef names(root):\n    return os.listdir(root)\n")})
    assert [row["fix"]["edits"][0]["cell"] for row in rows("json", "--select", "DET305")] == [1]
    text = output(form, "--select", "DET305")
    assert "DET305" in text
    assert "suggestions" not in text
    assert '"fixes"' not in text


def test_a_suggestion_is_for_the_file_it_stands_in(project: Project) -> None:
    project(**{"data.py": DRAWS, "main.py": MAIN})
    (row,) = rows("rdjson")["diagnostics"]
    assert "suggestions" not in row
    (result,) = rows("sarif")["runs"][0]["results"]
    assert [change["artifactLocation"]["uri"] for change in result["fixes"][0]["artifactChanges"]] == ["main.py"]


# -- SARIF -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def log(repository: Path) -> Any:
    return rows("sarif", "--show-notes", ".")


def test_sarif_follows_its_schema(log: Any) -> None:
    schema = json.loads((SCHEMAS / "sarif-2.1.0.json").read_text("utf-8"))
    errors = [f"{error.json_path}: {error.message}" for error in Draft4Validator(schema).iter_errors(log)]
    assert errors == []
    assert len(log["runs"][0]["results"]) > 20


def test_sarif_has_what_github_asks_for(repository: Path, log: Any) -> None:
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    for rule in rules:
        assert len(rule["fullDescription"]["text"]) <= 1024
        assert len(rule["shortDescription"]["text"]) <= 1024
        assert rule["help"]["text"]
        assert "## What to do" in rule["help"]["markdown"]
        assert "`" not in rule["shortDescription"]["text"] + rule["fullDescription"]["text"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        (location,) = result["locations"]
        physical = location["physicalLocation"]
        assert (repository / unquote(physical["artifactLocation"]["uri"])).is_file()
        assert physical["region"].keys() == {"startLine", "startColumn", "endLine", "endColumn"}
        assert result["partialFingerprints"]["primaryLocationLineHash"]
    prints = [result["partialFingerprints"]["primaryLocationLineHash"] for result in run["results"]]
    assert len(set(prints)) == len(prints)


def test_sarif_shows_the_way(log: Any) -> None:
    (result,) = [r for r in log["runs"][0]["results"] if "data.order" in json.dumps(r)]
    ((flow,),) = [flow["threadFlows"] for flow in result["codeFlows"]]
    steps = [step["location"] for step in flow["locations"]]
    assert [step["message"]["text"].partition(" draws")[0] for step in steps] == [
        "the run starts here (__main__)", "calls `main`", "calls `data.order`", "`random.shuffle`",
    ]  # fmt: skip
    places = [step["physicalLocation"] for step in steps]
    assert [(p["artifactLocation"]["uri"], p["region"]["startLine"]) for p in places] == [
        ("app/main.py", 8), ("app/main.py", 9), ("app/main.py", 5), ("app/data.py", 5),
    ]  # fmt: skip


def test_sarif_of_a_notebook_names_the_cell(log: Any) -> None:
    (location,) = [r["locations"][0] for r in log["runs"][0]["results"] if "book.ipynb" in json.dumps(r["locations"])
                   and r["ruleId"] == "DET403"]  # fmt: skip
    assert location["logicalLocations"] == [{"fullyQualifiedName": "cell 3:3:1", "kind": "cell"}]


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_a_link_is_reported_where_it_leads(project: Project) -> None:
    root = project(**{".git/HEAD": "", "real/a.py": LAYER})
    (root / "linked.py").symlink_to("real/a.py")
    result = rows("sarif", "--show-notes", "linked.py")["runs"][0]["results"][0]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "real/a.py"


# -- fingerprints ----------------------------------------------------------------------------------------------------

FLOW = """\
import random

import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self):
        self.drop = nn.Dropout(0.5)
        self.twice = nn.Sequential(nn.Dropout(0.5), nn.Dropout(0.5))

    def forward(self, x, g):
        if F.dropout(x, 0.1) is not None:
            x = F.grid_sample(x, g)
        for _ in range(3):
            x = F.grid_sample(x, g)
        return self.drop(x)


@decorated(nn.Dropout(0.1))
def f(x, layer=nn.Dropout(0.2)):
    match x:
        case 1 if F.dropout(x, 0.3):
            return lambda y: F.grid_sample(x, y)


random.shuffle([1, 2])
"""


def fingerprints(text: str) -> list[tuple[str, str]]:
    result = detlint("check", "--isolated", "--no-cache", "--show-notes", "--output-format", "gitlab",
                     "--stdin-filename", "a.py", "-", stdin=text.encode())  # fmt: skip
    return sorted((row["check_name"], row["fingerprint"]) for row in json.loads(result.stdout))


@settings(max_examples=examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.dictionaries(st.integers(0, len(FLOW.splitlines())), st.sampled_from(["", "# text", "    # text"]), max_size=8)
)
def test_inserted_lines_change_no_fingerprint(project: Project, inserted: dict[int, str]) -> None:
    project()
    lines = FLOW.splitlines()
    for at in sorted(inserted, reverse=True):
        lines.insert(at, inserted[at])
    before = fingerprints(FLOW)
    assert len(before) == len(set(before)) == 12
    assert fingerprints("\n".join(lines) + "\n") == before


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("F.grid_sample(x, g)", "F.grid_sample(\n                x,\n                g,  # why\n            )"),
        ("x = F.grid_sample(x, g)", "x = (F.grid_sample(x, g))"),
        ("return self.drop(x)", "return 1"),
        ("random.shuffle", "import os\nrandom.shuffle"),
        ("for _ in range(3):", "for _ in range(4):"),
    ],
)
def test_layout_and_other_statements_change_no_fingerprint(project: Project, old: str, new: str) -> None:
    project()
    assert fingerprints(FLOW.replace(old, new)) == fingerprints(FLOW)


@pytest.mark.parametrize(
    ("old", "new", "count"),
    [
        ("nn.Dropout(0.2)", "nn.Dropout(0.3)", 3),
        ("nn.Sequential(nn.Dropout(0.5),", "nn.Sequential(nn.Dropout(0.6),", 2),
        ("self.drop = nn.Dropout(0.5)", "self.drop = self.fall = nn.Dropout(0.5)", 1),
        ("def forward(", "def call(", 3),
        ("class Net(", "class Network(", 6),
        ("@decorated(nn.Dropout(0.1))", "@decorated(nn.Dropout(0.11))", 3),
    ],
)
def test_the_statement_and_its_function_make_the_fingerprint(project: Project, old: str, new: str, count: int) -> None:
    project()
    before, after = fingerprints(FLOW), fingerprints(FLOW.replace(old, new))
    assert len({*before} - {*after}) == count
    assert len(after) == len(before)
