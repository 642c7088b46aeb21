"""Commands that print what is known: of a rule, a line, a run."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from detlint import visible
from detlint.cli.shell import CONFIG, ISOLATED, PROFILE, TARGET, colour, fail, main, put

if TYPE_CHECKING:
    from detlint.inspect import Inspection

LINE = re.compile(r"(?P<file>.+):(?P<line>\d+)", re.S)

CELL_LINE = re.compile(r"(?P<file>.+\.ipynb):(?:cell )?(?P<cell>\d+):(?P<line>\d+)(?::\d+)?", re.S)
"""A line as findings in notebooks have it, with or without the column."""

WIDEST = 100
"""Columns of text that are still easy to read."""


def _rules(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
    from detlint.completion import rules

    return rules(incomplete)


@main.command()
@click.argument("code", required=False, shell_complete=_rules)
@click.option("--all", "everything", is_flag=True, help="Print every rule.")
@click.option(
    "--output-format",
    type=click.Choice(["text", "json", "markdown"]),
    default="text",
    show_default=True,
    help="How to print the page.",
)
@CONFIG
@ISOLATED
def rule(code: str | None, everything: bool, output_format: str, config_file: Path | None, isolated: bool) -> None:
    """Print a rule's page: what it finds, why, an example, the APIs and their conditions, what to do.

    CODE is a code or a name, as in DET403 or grid-sample. Rules of the catalogs that the configuration names count too.
    """
    from detlint.catalog import CatalogError
    from detlint.config import ConfigError, load
    from detlint.report import rules
    from detlint.run import load_catalog

    if (code is None) is not everything:
        fail("name a rule (`detlint rule DET403`) or say --all")
    try:
        catalog = load_catalog(load(Path.cwd(), config_file, isolated), None)
        chosen = rules.every(catalog) if code is None else [rules.find(catalog, code)]
    except (ConfigError, CatalogError, rules.UnknownRule) as error:
        fail(str(error))
    if output_format == "json":
        found = [rules.data(catalog, one) for one in chosen]
        click.echo(visible.encoded(found if everything else found[0]))
        return
    import shutil

    from detlint.report.document import markdown, text

    width = min(shutil.get_terminal_size().columns, WIDEST)
    pages = [[*rules.page(catalog, one)] for one in chosen]
    if output_format == "markdown":
        click.echo(visible.lines(markdown(page) for page in pages), nl=False)
    else:
        click.echo(visible.lines(["\n\n\n".join(text(page, width) for page in pages)]), color=colour())


@main.command()
@click.argument("place", metavar="FILE:[CELL:]LINE")
@PROFILE
@TARGET
@CONFIG
@ISOLATED
def explain(place: str, **options: Any) -> None:
    """Print the reasoning for one line: what is known of it, which runs come there, and why the verdict is what it is.

    In a notebook, a line is one of a cell: train.ipynb:3:12, or train.ipynb:cell 3:12 as findings have it.
    """
    from detlint.report.explain import explain as explained

    in_cell = CELL_LINE.fullmatch(place)
    named = in_cell or LINE.fullmatch(place)
    if named is None:
        fail(f"`{place}`: name a file and a line, as in train.py:12, or train.ipynb:3:12 for line 12 of cell 3")
    file, line, cell = Path(named["file"]), int(named["line"]), int(in_cell["cell"]) if in_cell else None
    lines = _inspected(file, lambda inspection: [*explained(inspection, line, cell)], options)
    click.echo("\n".join(map(visible.line, lines)), color=colour())


@main.command()
@click.argument("start", metavar="FILE[:FUNCTION]")
@click.option(
    "--format",
    "form",
    type=click.Choice(["dot", "mermaid", "html"]),
    default="mermaid",
    show_default=True,
    help="Graphviz, Mermaid, or a page of its own with the source lines.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write it there instead of to standard output.",
)
@PROFILE
@TARGET
@CONFIG
@ISOLATED
def graph(start: str, form: str, output: Path | None, **options: Any) -> None:
    """Write the seed flow of an entry point: which functions its run passes, and what they seed and draw from."""
    from detlint.report.graph import graph as drawn

    file, function = (start, "") if Path(start).exists() else start.rpartition(":")[::2]
    text = _inspected(Path(file or start), lambda inspection: drawn(inspection, function, form), options)
    put(text, output)


_T = TypeVar("_T")


def _inspected(path: Path, show: Callable[[Inspection], _T], options: dict[str, Any]) -> _T:
    """What is shown of a file's program; what can't be shown is an error.

    Args:
        options: those of the command that choose the settings.
    """
    from detlint.inspect import NotThere, inspect
    from detlint.model.sites.store import with_deep_stack
    from detlint.project import Project

    def work() -> _T:
        overrides = {"profile": options["profile"]} if options["profile"] is not None else {}
        overrides |= {"targets": [*options["targets"]]} if options["targets"] else {}
        project = Project.around(path, overrides, options["config_file"], options["isolated"])
        with inspect(path, project.config, project.catalog, project.cache) as inspection:
            return show(inspection)

    try:
        return with_deep_stack(work)
    except NotThere as error:
        fail(*str(error).split("\n"))
