"""The documentation: what it shows is what happens, and the site builds without a warning or a broken link."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import click
import pytest
from conftest import REPOSITORY, detlint, findings

from detlint.catalog import Rule, load
from detlint.cli import main
from detlint.report.rules import every, example

Project = Callable[..., Path]

DOCS = REPOSITORY / "docs"
PAGES = [REPOSITORY / "README.md", *sorted(DOCS.glob("*.md")), *sorted((DOCS / "guides").glob("*.md"))]
BLOCK = re.compile(r"(?:^`(?P<file>[\w./-]+)`:\n\n)?^```(?P<language>\w+)\n(?P<text>.*?)^```$", re.M | re.S)
RULES = every(load())
NO_EXAMPLE = {"DET001": "a syntax error would be all there is to see"}


# -- commands and their output ----------------------------------------------------------------------------------------


def commands(page: Path) -> list[str]:
    """The command lines of detlint that a page shows, without prompt, comment and what they are piped to."""
    blocks = [
        block["text"] for block in BLOCK.finditer(page.read_text("utf-8")) if block["language"] in ("sh", "console")
    ]
    blocks += [
        _scripts(block["text"]) for block in BLOCK.finditer(page.read_text("utf-8")) if block["language"] == "yaml"
    ]
    parts = [
        part.strip("$ ") for text in blocks for line in text.splitlines() for part in re.split(r" #|[|<]|&&", line)
    ]
    return [part for part in parts if part.startswith("detlint ")]


def _scripts(text: str) -> str:
    """The lines of a service's configuration that a shell runs, without what stands before them."""
    return re.sub(r"^\s*(?:- )?(?:(?:run|script|entry): )?", "", text, flags=re.M)


COMMANDS = sorted({line for page in PAGES for line in commands(page)})


@pytest.mark.parametrize("line", COMMANDS)
def test_command_is_one_that_exists(line: str) -> None:
    arguments = shlex.split(line)[1:]
    if arguments == ["--version"]:
        return
    name = arguments.pop(0) if arguments[0] in main.commands else "check"
    group = click.Context(main, **main.context_settings)
    main.commands[name].make_context(name, arguments, group)  # an unknown option or value raises


def test_pages_show_commands() -> None:
    assert len(COMMANDS) >= 20


def shows(page: Path) -> bool:
    """Whether a page holds the files of a project, and what detlint says of it."""
    blocks = [*BLOCK.finditer(page.read_text("utf-8"))]
    return any(b["file"] for b in blocks) and any(
        b["language"] == "console" and "\n" in b["text"].strip() for b in blocks
    )


SHOWING = [page for page in PAGES if shows(page)]


@pytest.mark.parametrize("page", SHOWING, ids=lambda page: page.stem)
def test_shown_output_is_what_comes_out(page: Path, project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for block in BLOCK.finditer(page.read_text("utf-8")):
        if block["file"]:
            project(**{block["file"]: block["text"]})
        elif block["language"] == "console":
            for shown in re.split(r"^\$ ", block["text"], flags=re.M)[1:]:
                line, _, output = shown.partition("\n")
                if output.strip():
                    expected = ".*".join(
                        re.escape(part) for part in re.split(r"^\.\.\.\n", output.rstrip() + "\n", flags=re.M)
                    )
                    actual = detlint(*shlex.split(line)[1:]).stdout.rstrip() + "\n"
                    assert re.fullmatch(expected, actual, re.S), f"{line}\n{actual}"


def test_guides_show_output() -> None:
    assert {"README", "catalog", "getting-started", "loss-differs", "ascend", "flaky-ci"} <= {
        page.stem for page in SHOWING
    }


# -- examples ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_rule_has_an_example(rule: Rule, tmp_path: Path) -> None:
    before, after = example(rule.code, "bad"), example(rule.code, "good")
    if rule.code in NO_EXAMPLE and not before:
        return
    assert f"# <- {rule.code}" in before
    assert "expect" not in before
    assert before != after
    (tmp_path / "after.py").write_text(after)
    left = [row for row in findings(tmp_path) if row["severity"] != "note" or row["code"] == rule.code]
    assert not left, "the remedy leaves findings"


# -- the site ---------------------------------------------------------------------------------------------------------


class Page(HTMLParser):
    """The text of a page, the places it can be linked at, and where it links to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.words: list[str] = []
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.anchors.add(value)
            elif name in ("href", "src") and value:
                self.links.append(value)

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def test_site(tmp_path: Path) -> None:
    for module in ("sphinx", "myst_parser", "furo", "sphinx_copybutton"):
        pytest.importorskip(module, reason="the extra `docs` is not installed")
    for name in ("README.md", "CHANGELOG.md", "benchmarks/RESULTS.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(REPOSITORY / name, tmp_path / name)
    shutil.copytree(DOCS, tmp_path / "docs", ignore=shutil.ignore_patterns("rules"))
    site = tmp_path / "site"
    build = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-n", "-q", str(tmp_path / "docs"), str(site)]
    result = subprocess.run(build, cwd=REPOSITORY, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    pages = {path: Page(path) for path in site.rglob("*.html")}
    assert not [*broken(pages)]
    for rule in RULES:
        words = "".join(pages[site / "rules" / f"{rule.code}.html"].words)
        assert rule.why.split("`")[0] in words
        for api in names(rule):
            assert api.removeprefix("builtins.") in words, f"{rule.code}: {api}"


def broken(pages: dict[Path, Page]) -> list[str]:
    """The links within the site that lead nowhere."""
    found = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            there = target.exists() and (
                not parts.fragment or target not in pages or parts.fragment in pages[target].anchors
            )
            if not there:
                found.append(f"{path.name}: {link}")
    return found


def names(rule: Rule) -> list[str]:
    """All APIs that the catalog has under a rule."""
    entries = [entry for entry in load().entries if entry.rule == rule.code]
    return [name for entry in entries for name in (*entry.names, *entry.registry, *entry.copies)]


def test_how_it_works_stays_short_and_knows_all_rooms() -> None:
    text = (DOCS / "how-it-works.md").read_text("utf-8")
    assert len(text.split()) < 2_000
    rooms = {path.parent.name for path in (REPOSITORY / "detlint").glob("*/__init__.py")}
    assert {room for room in rooms if f"detlint/{room}/" not in text} == set()
