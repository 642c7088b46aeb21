"""Writes what the program itself knows below `docs/`, before Sphinx reads the sources: the rules, and the options."""

from __future__ import annotations

from collections.abc import Iterator
from inspect import cleandoc
from itertools import groupby
from pathlib import Path

import click
from sphinx.application import Sphinx

from detlint.catalog import Catalog, load
from detlint.cli import main
from detlint.report.document import Block, Table, markdown
from detlint.report.rules import every, family, page


def write(app: Sphinx) -> None:
    """Write what has changed; the page of a rule that is gone goes away."""
    catalog = load()
    folder = Path(app.srcdir)
    (folder / "rules").mkdir(exist_ok=True)
    pages = {folder / "rules" / f"{rule.code}.md": markdown(page(catalog, rule)) for rule in every(catalog)}
    pages[folder / "rules" / "index.md"] = markdown(rules(catalog))
    pages[folder / "command-line.md"] = markdown(options())
    for path, text in pages.items():
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")
    for path in (folder / "rules").glob("*.md"):
        if path not in pages:
            path.unlink()


def rules(catalog: Catalog) -> Iterator[Block]:
    """All rules, by family."""
    yield "# Rules"
    yield (
        "The first digit of a code is its family. What is *by design* is random on purpose: it is a note, a warning "
        "where a run comes to it unseeded, and an error with `--profile align`. [Levels](../levels.md) has the table of "
        "all. At the terminal, `detlint rule CODE` prints the same pages."
    )
    for number, group in groupby(every(catalog), lambda rule: rule.family):
        members = [*group]
        rows = [
            (
                [f"[{rule.code}]({rule.code}.md)"],
                [rule.name],
                [rule.summary],
                ["by design" if rule.level == "design" else rule.level],
            )
            for rule in members
        ]
        yield f"## {number}: {family(members[0])}"
        yield Table(("Code", "Name", "What it finds", "Level"), rows)
    yield "\n".join(["```{toctree}", ":hidden:", "", *(rule.code for rule in every(catalog)), "```"])


def options() -> Iterator[Block]:
    """The commands and their options, as the command line itself tells them."""
    yield "# Command line"
    yield "`detlint PATHS` is short for `detlint check PATHS`. `detlint COMMAND --help` says the same as this page."
    for name, command in main.commands.items():
        if command.hidden:
            continue
        context = click.Context(command, info_name=f"detlint {name}", max_content_width=200)
        told = [record for option in command.params if (record := option.get_help_record(context)) and record[1]]
        rows = [([f"`{part}`" for part in names.split(", ")], [meaning]) for names, meaning in told]
        yield f"## detlint {name}"
        yield f"```text\n{' '.join(command.get_usage(context).split()[1:])}\n```"
        yield cleandoc(command.help or "")
        if rows:
            yield Table(("Option", "Meaning"), rows)
    yield "## Exit codes"
    yield Table(
        ("Code", "Meaning"),
        [
            (["0"], ["nothing at or above `--fail-on`"]),
            (["1"], ["findings"]),
            (["2"], ["wrong use, configuration or catalog"]),
            (["3"], ["a fault of detlint's own"]),
        ],
    )


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
