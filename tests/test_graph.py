"""`detlint graph FILE[:FUNCTION]`: the seed flow of an entry point, as Mermaid, Graphviz or a page."""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest
from conftest import detlint
from test_explain import TWO

Project = Callable[..., Path]

VOID = {"meta", "br", "hr", "img", "link", "input"}


@pytest.fixture
def showcase(copied: Callable[[str], Path]) -> Path:
    return copied("showcase")


def drawn(*arguments: str | Path) -> str:
    result = detlint("graph", *arguments)
    assert result.exit_code == 0, result.stderr
    return result.stdout


def test_mermaid(project: Project) -> None:
    project(**TWO)
    text = drawn("train.py")
    assert text.startswith("flowchart LR\n")
    assert '"train.py<br/>starts here: train.py:15"' in text
    assert re.search(r'\["seed_numpy<br/>helpers.py"\]:::function', text)
    assert re.search(r"✓ seeds numpy.*numpy\.random\.seed \(helpers\.py:6\).*:::good", text)
    assert re.search(r"✗ draws torch, unseeded.*torch\.rand \(helpers\.py:10\).*:::bad", text)


def test_edges_are_numbered_in_order(project: Project) -> None:
    project(**TWO)
    text = drawn("train.py")
    names = {title: name for name, title in re.findall(r'^  (n\d+)\[?\(?\[?"([^<"]*)', text, re.M)}
    steps = {(a, b): int(step) for a, step, b in re.findall(r"(n\d+) -->\|(\d+)\| (n\d+)", text)}
    assert steps[names["main"], names["seed_numpy"]] < steps[names["main"], names["noise"]]


def test_dot(project: Project) -> None:
    project(**TWO)
    text = drawn("train.py", "--format", "dot")
    assert text.startswith("digraph seedflow {\n")
    assert text.endswith("}\n")
    assert 'label="✓ seeds numpy, imgaug\\nnumpy.random.seed (helpers.py:6)"' in text


def test_function_as_start(project: Project) -> None:
    project(**TWO)
    text = drawn("helpers.py:noise")
    assert "draws torch, unseeded" in text
    assert "numpy" not in text


def test_process_and_command_are_shown(copied: Callable[[str], Path]) -> None:
    assert "new process: main_worker" in drawn(copied("programs/spawn_worker_seeds") / "main.py")
    assert "command sample" in drawn(copied("programs/click_group_one_command_unseeded") / "cli.py")


@pytest.mark.parametrize("name", ["train.py", "find_lr.py", "train_mindspore.py"])
def test_page_is_whole_in_itself(tmp_path: Path, showcase: Path, name: str) -> None:
    file = tmp_path / "flow.html"
    result = detlint("graph", showcase / name, "--format", "html", "-o", file)
    assert (result.exit_code, result.stdout) == (0, "")
    page = file.read_text("utf-8")
    assert not re.search(r"(?:src|href)=[\"'](?!#)|https?://|@import|url\(", page)
    assert "prefers-color-scheme: dark" in page
    parser = Balanced()
    parser.feed(page)
    assert parser.open == []
    assert parser.links <= parser.names


def test_page_shows_lines_streams_and_findings(showcase: Path) -> None:
    page = drawn(showcase / "train.py", "--format", "html")
    assert "<code>np.random.seed(seed)</code>" in page
    assert re.search(r"torch: \d+ unseeded", page)
    assert "<b>error DET113</b>" in page
    assert "DET103" not in page  # `thumbnails` is not on this run's way


def test_same_again(showcase: Path) -> None:
    for form in ("mermaid", "dot", "html"):
        assert drawn(showcase / "find_lr.py", "--format", form) == drawn(showcase / "find_lr.py", "--format", form)


@pytest.mark.parametrize(
    ("start", "message"),
    [
        ("nope.py", "no such file: nope.py"),
        (
            "helpers.py",
            "no entry point in helpers.py; entry points of the program that reach it:\n  train.py:15 (__main__)",
        ),
        ("train.py:nix", "no function `nix` in train.py; entry points of the program that reach it:\n  train.py:15"),
        ("alone.py", "entry points of the program that reach it: none"),
    ],
)
def test_wrong_use(project: Project, start: str, message: str) -> None:
    project(**TWO, **{"alone.py": "def f():\n    return 1\n"})
    result = detlint("graph", start)
    assert result.exit_code == 2
    assert message in result.stderr


class Balanced(HTMLParser):
    """Collects the elements that are left open, the anchors and what points at them."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.links: set[str] = set()
        self.names: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag not in VOID:
            self.open.append(tag)
        if given.get("href"):
            self.links.add(str(given["href"]).removeprefix("#"))
        if given.get("id"):
            self.names.add(str(given["id"]))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
