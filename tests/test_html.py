"""`--output-format html`: one page with all findings, which loads nothing, holds nothing unescaped and reads without its script."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from html import unescape
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest
from conftest import REPOSITORY, detlint, notebook

Project = Callable[..., Path]

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
VOID = {"meta", "br", "hr", "img", "link", "input", "wbr"}
PROGRAM = {
    "pyproject.toml": "[project]\nname = 'x'\n",
    "model.py": "import torch\nfrom torch import nn\n\n\nclass Net(nn.Module):\n    def __init__(self):\n"
    "        self.layer = nn.Linear(2, 2)\n\n    def forward(self, x, grid):\n"
    "        return nn.functional.grid_sample(self.layer(x), grid)\n",
    "train.py": "from model import Net\n\nif __name__ == '__main__':\n    Net().cuda()(1, 2).sum().backward()\n",
    "other.py": "from model import Net\n\nif __name__ == '__main__':\n    Net().cuda()(1, 2).sum().backward()\n",
    "alone.py": "import os\n\n\ndef load():\n    return [open(name) for name in os.listdir('data')]\n",
    "quiet.py": "import torch\n\ntorch.manual_seed(0)\nprint(torch.rand(3))\n",
}


class Page(HTMLParser):
    """A page as a reader without eyes or a program has it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[tuple[str, dict[str, str]]] = []
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.headings: list[tuple[int, str]] = []
        self.findings: list[dict[str, str]] = []
        self.words: list[str] = []
        self.unlabelled: list[str] = []
        self.within: dict[str, list[dict[str, str]]] = {}
        """The findings in each section, by its heading."""
        self.feed(text)
        self.text = "".join(self.words)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.tags.append((tag, given))
        if tag not in VOID:
            self.open.append((tag, given))
        if "id" in given:
            self.ids.append(given["id"])
        if tag == "a":
            self.links.append(given["href"])
        if re.fullmatch(r"h\d", tag):
            self.headings.append((int(tag[1]), ""))
        if "finding" in given.get("class", "").split():
            self.findings.append({**given, "text": ""})
            self.within.setdefault(next(h for n, h in reversed(self.headings) if n == 2), []).append(self.findings[-1])
        if tag in ("input", "select") and "label" not in [name for name, _ in self.open]:
            self.unlabelled.append(str(given))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)
        for tag, given in self.open:
            if re.fullmatch(r"h\d", tag):
                level, text = self.headings[-1]
                self.headings[-1] = level, text + data
            if "finding" in given.get("class", "").split():
                self.findings[-1]["text"] += data

    def all(self, tag: str) -> list[dict[str, str]]:
        return [given for name, given in self.tags if name == tag]


def written(*arguments: str | Path, isolated: bool = True) -> str:
    result = detlint(
        "check", *(["--isolated"] if isolated else []), "--no-cache", "--output-format", "html", *arguments
    )
    assert result.exit_code in (0, 1), result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The showcase as a project of its own: within the repository, all fixtures would be read with it."""
    copy = tmp_path_factory.mktemp("copy") / "showcase"
    shutil.copytree(REPOSITORY / "fixtures" / "showcase", copy)
    (copy / "setup.cfg").touch()
    return copy


@pytest.fixture(scope="module")
def showcase(folder: Path) -> str:
    return written("--show-notes", folder)


def test_every_finding_is_there(showcase: str, folder: Path) -> None:
    rows = json.loads(
        detlint("check", "--isolated", "--no-cache", "--show-notes", "--output-format", "json", folder).stdout
    )
    page = Page(showcase)
    assert len(page.findings) == len(rows) > 40
    for row in rows:
        found = [
            f for f in page.findings if row["message"].replace("`", "") in f["text"] and f["data-rule"] == row["code"]
        ]
        assert found
        assert {f["data-level"] for f in found} == {row["severity"]}
        assert any(
            f"{row['location']['row']}" in f["text"] and row["remedy"].replace("`", "") in f["text"] for f in found
        )
    for code in {row["code"] for row in rows}:
        assert code in page.ids


def test_it_loads_nothing_and_is_well_formed(showcase: str) -> None:
    page = Page(showcase)
    assert page.open == []
    assert len(page.ids) == len(set(page.ids))
    assert {link.removeprefix("#") for link in page.links} <= set(page.ids)
    assert all(link.startswith("#") for link in page.links)
    assert not [given for _, given in page.tags if {"src", "srcset", "action", "style"} & given.keys()]
    assert not [name for _, given in page.tags for name in given if name.startswith("on")]
    assert not re.search(r"@import|url\(|https?://", showcase)
    assert "//# sourceMappingURL" not in showcase


def test_it_reads_well_aloud(showcase: str) -> None:
    page = Page(showcase)
    assert page.all("html")[0]["lang"] == "en"
    assert [*map(len, map(page.all, ("h1", "header", "main", "nav", "aside", "form")))] == [1] * 6
    assert page.all("form")[0]["aria-label"]
    assert page.all("nav")[0]["aria-label"]
    assert page.unlabelled == []
    levels = [level for level, _ in page.headings]
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert all(text.strip() for _, text in page.headings)
    assert page.tags.index(("a", {"class": "skip", "href": "#findings"})) < [tag for tag, _ in page.tags].index("aside")
    for finding in page.findings:
        assert finding["data-level"] in finding["text"]  # the level is a word, not a colour
    assert all(given.get("aria-hidden") == "true" for given in page.all("svg"))
    for media in ("prefers-color-scheme: dark", "print", "max-width"):
        assert media in showcase
    assert "transition" not in showcase and "animation" not in showcase


def test_same_bytes_again(showcase: str, folder: Path) -> None:
    assert written("--show-notes", folder) == showcase
    assert written("--show-notes", "--jobs", "2", folder) == showcase
    options = ["check", "--isolated", "--no-cache", "--output-format", "html", "--show-notes", str(folder)]
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        command = [sys.executable, "-m", "detlint", *options]
        assert subprocess.run(command, env=environment, capture_output=True).stdout.decode() == showcase


def test_findings_stand_with_the_run_that_comes_to_them(project: Project) -> None:
    project(**PROGRAM)
    page = Page(written())
    assert [text for level, text in page.headings if level == 2] == [
        "other.py:3 (__main__)", "train.py:3 (__main__)", "On no run’s way", "Rules",
    ]  # fmt: skip
    first, second, rest = page.within.values()
    assert [f["data-rule"] for f in first] == ["DET104", "DET403", "DET602"]
    assert [f["data-rule"] for f in second] == ["DET602"]
    assert [(f["data-rule"], f["data-file"]) for f in rest] == [("DET305", "alone.py")]
    assert "Also on the way of train.py:3 (__main__)." in first[0]["text"]
    assert "It passes 2 more findings that earlier runs come to as well." in page.text
    assert "drawn unseeded" in page.text
    assert "✗ draws torch, unseeded torch.nn.Linear (model.py:7)" in page.text
    assert "1 run without findings" in page.text


def test_source_path_remedy_and_fix(project: Project) -> None:
    project(**PROGRAM)
    text = written("--select", "DET104")
    assert "<mark>nn.Linear(2, 2)</mark>" in text
    (finding, *_) = Page(text).findings
    assert "calls model.Net other.py:4" in finding["text"]
    assert "--fix does it" in finding["text"]
    assert re.search(r"<ins>\+ .*torch\.manual_seed\(0\)</ins>", text)
    diff = detlint("check", "--isolated", "--no-cache", "--select", "DET104", "--diff").stdout
    added = {line[1:].strip() for line in diff.splitlines() if re.match(r"\+(?!\+\+)", line) and line[1:].strip()}
    shown = {line.strip() for line in re.findall(r"<ins>\+ (.*?)</ins>", text) if line.strip()}
    assert added == {line.replace("&#x27;", "'") for line in shown}


def test_rules_are_told(project: Project) -> None:
    project(**PROGRAM)
    page = Page(written("--select", "DET403"))
    assert "Several output points read the same input pixel" in page.text
    assert "How to switch it off" in page.text
    assert "#DET403" in page.links


def test_nothing_found(project: Project) -> None:
    project(**{"a.py": "print('é')\n"})
    page = Page(written())
    assert page.findings == []
    assert "No problems found." in page.text


def test_notes_are_counted_unless_they_are_asked_for(project: Project) -> None:
    project(**{"a.py": "import torch.nn as nn\ndef f(): return nn.Dropout(0.1)\n"})
    assert "1 note (not listed)" in Page(written()).text
    assert [f["data-level"] for f in Page(written("--show-notes")).findings] == ["note"]


def test_notebooks(project: Project) -> None:
    project(**{"n.ipynb": notebook("#md hello", "import torch", "x = 1\nprint(torch.rand(3))\ny = 2")})
    text = written()
    page = Page(text)
    assert "n.ipynb:cell 3:2 (notebook)" in [name for _, name in page.headings]
    assert "<span>2</span>print(<mark>torch.rand(3)</mark>)" in text
    assert "n.ipynb:cell" in page.findings[0]["text"]


def test_standard_input(project: Project) -> None:
    project(**{"a.py": "x = 1\n"})
    result = detlint(
        "check", "--isolated", "--no-cache", "--output-format", "html", "--stdin-filename", "a.py", "-",
        stdin=b"import torch\nprint(torch.rand(3))\n",
    )  # fmt: skip
    assert [f["data-rule"] for f in Page(result.stdout).findings] == ["DET104"]
    assert "<mark>torch.rand(3)</mark>" in result.stdout


EVIL = "<script>alert(1)<!--'\"&amp;"
WORDS = {
    "summary": EVIL,
    "why": "<img src=x> `<i>` [x](javascript:alert(1))",
    "message": "`{name}` <img src=x onerror=alert(1)>",
    "remedy": "<b>no</b>",
}


def test_everything_is_escaped(project: Project) -> None:
    told = "".join(f"{key} = {json.dumps(value)}\n" for key, value in WORDS.items())
    rule = f'[[rule]]\ncode = "DET490"\nname = "our-operator"\n{told}level = "error"\n'
    api = '\n[[api]]\nrule = "DET490"\nnames = ["ours.operator"]\nsource = "ours"\n'
    script = "import ours\nours.operator('</script></pre><img src=x onerror=alert(2)>', '\x1b[31m\u202e')\n"
    files = {f"a {EVIL}.py": script, "detlint.toml": 'catalogs = ["ours.toml"]\n', "ours.toml": rule + api}
    project(**files)
    text = written(isolated=False)
    page = Page(text)
    assert [f["data-rule"] for f in page.findings] == ["DET490"]
    assert page.findings[0]["data-file"] == f"a {EVIL}.py"
    assert len(page.all("script")) == 1
    assert page.all("img") == page.all("i") == page.all("iframe") == []
    assert not [link for link in page.links if not link.startswith("#")]
    assert "alert(2)" in page.findings[0]["text"]
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_the_mildest_of_very_many_are_lines_only(project: Project) -> None:
    calls = "".join("    x = torch.cumsum(x.cuda(), 0)\n" for _ in range(5_010))
    project(**{"a.py": f"import torch\n\n\ndef f(x):\n{calls}    x.requires_grad = x.histc()\n"})
    text = written("--select", "DET4", "--show-notes", "--target", "cuda")
    page = Page(text)
    assert len(page.findings) > 5_000
    assert len([f for f in page.findings if "bare" in f["class"].split()]) == len(page.findings) - 5_000
    assert "The 5,000 most severe findings have source, path and fix; the others are lines only." in page.text
    assert len(text) < 10_000_000


# -- in a browser ---------------------------------------------------------------------------------------------------

PROBE = """
<script>
{
const shown = () => [...document.querySelectorAll(".finding")].filter(
  (one) => one.checkVisibility()).map((one) => one.dataset.rule);
const told = { all: shown(), count: document.querySelector("output").textContent };
form.rule.value = "DET403"; form.dispatchEvent(new Event("input"));
told.rule = shown();
form.reset(); form.words.value = "SORTS  listdir"; form.dispatchEvent(new Event("input"));
told.words = shown();
form.words.value = ""; form.querySelector("[value=error]").checked = false; form.dispatchEvent(new Event("input"));
told.levels = shown();
form.file.value = "alone.py"; form.dispatchEvent(new Event("input"));
told.file = shown(); told.headings = [...document.querySelectorAll("main h2")].filter((h) => h.checkVisibility()).map((h) => h.textContent);
told.left = document.querySelector("output").textContent;
location.hash = "#DET403"; follow();
told.opened = document.getElementById("DET403").open;
for (const fold of document.querySelectorAll("details")) fold.open = true;
told.beyond = document.scrollingElement.scrollWidth - document.scrollingElement.clientWidth;
parent.document.title = JSON.stringify(told);
}
</script>
"""


@pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")
def test_in_a_browser_on_a_phone(project: Project, tmp_path_factory: pytest.TempPathFactory) -> None:
    project(**PROGRAM)
    page = written().replace("</body>", f"{PROBE}</body>")
    folder = tmp_path_factory.mktemp("browser")
    frame = folder / "frame.html"
    inside = page.replace("&", "&amp;").replace('"', "&quot;")
    frame.write_text(f'<!doctype html><iframe width="360" height="640" srcdoc="{inside}"></iframe>', "utf-8")
    options = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'profile'}", "--dump-dom"]
    command = [str(BROWSER), *options, frame.as_uri()]
    dom = subprocess.run(command, capture_output=True, text=True, timeout=120).stdout
    title = re.search(r"<title>(.*?)</title>", dom)
    assert title is not None, dom[:500]
    told = json.loads(unescape(title[1]))
    assert sorted(told["all"]) == ["DET104", "DET305", "DET403", "DET602", "DET602"]
    assert told["count"] == "5 of 5 findings shown"
    assert told["rule"] == ["DET403"]
    assert told["words"] == ["DET305"]
    assert told["levels"] == ["DET602", "DET602", "DET305"]
    assert told["file"] == ["DET305"]
    assert told["headings"] == ["On no run’s way", "Rules"]
    assert told["left"] == "1 of 5 findings shown"
    assert told["opened"] is True
    assert told["beyond"] == 0, "something is wider than a phone"
