"""Commands that set detlint up: in a repository, an editor, a shell."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from detlint.cli.shell import fail, main, show_diff
from detlint.visible import visible

if TYPE_CHECKING:
    from detlint.beginning import Beginning


@main.command()
@click.option("--stdio", is_flag=True, hidden=True, help="Accepted because many editors pass it.")
def server(stdio: bool) -> None:
    """Run the language server, over standard input and output: editors start it. Needs detlint[server]."""
    try:
        from detlint.language_server import main as serve
    except ModuleNotFoundError as error:
        if error.name not in ("pygls", "lsprotocol"):
            raise
        fail(f"{error.name} is not installed; `pip install 'detlint[server]'` has what the language server needs")
    if sys.stdin is None:
        fail("standard input is closed, and editors speak to the server by it")
    serve()


@main.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False), default=Path())
@click.option("--diff", "--dry-run", "dry", is_flag=True, help="Show what would be written, and write nothing.")
@click.option("--yes", "-y", is_flag=True, help="Don't ask before writing.")
def init(folder: Path, dry: bool, yes: bool) -> None:
    """Look through a repository, and write a configuration for it: into its pyproject.toml, else into a detlint.toml.

    A configuration that is there stays as it is. On a terminal, it asks before it writes.
    """
    sys.exit(_init(folder, dry, yes))


MOST_CHECKED = 2_000
"""Files that `detlint init` checks, to tell how much is found, and follows runs in: that takes seconds."""


def _init(folder: Path, dry: bool, yes: bool) -> int:
    from detlint import beginning
    from detlint.discover import discover
    from detlint.project import Project
    from detlint.report.place import shown
    from detlint.survey import survey

    project = Project.of(folder, {})
    config = project.config
    # What nothing marks as a project is that folder and no more, although its root is where names are looked for.
    root = config.root.absolute() if config.project else folder.absolute()
    files = discover([root], config)
    quick = len(files.files) <= MOST_CHECKED
    found = survey(project, files.files, follow=quick)
    for matter, said in beginning.summary(found, config):
        click.echo(f"{matter:<10} {visible(said)}")
    if quick:
        report = project.bare().check(files.files, [root], None, files.problems)
        click.echo(f"{'findings':<10} {visible(beginning.counted(report))}")
    else:
        click.echo(f"{'findings':<10} not counted here: `detlint --statistics` does")
    click.echo()
    if config.source is not None:
        click.echo(f"{shown(str(config.source.absolute()))} has a configuration, which stays as it is.")
        return 0
    return _begin(beginning.beginning(root, found), dry, yes)


def _begin(new: Beginning, dry: bool, yes: bool) -> int:
    """Write a configuration, or show it."""
    from detlint.beginning import write
    from detlint.fixes.write import NotWritten
    from detlint.report.changes import diff
    from detlint.report.place import shown

    name = shown(str(new.path))
    show_diff(diff(str(new.path), new.before or b"", new.after))
    if dry:
        click.echo(f"Would write {name}.", err=True)
        return 0
    asked = not yes and sys.stdin.isatty() and sys.stdout.isatty()
    if asked and not click.confirm(f"Write {name}?", default=True):
        return 0
    try:
        write(new)
    except NotWritten as error:
        fail(f"{name}: not written: {error}")
    click.echo(
        f"Wrote {name}. Next: `detlint` reports, `detlint --diff` shows fixes, `detlint baseline` accepts what is there."
    )
    return 0


@main.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def generate_shell_completion(shell: str) -> None:
    """Print what makes a shell complete commands, options, paths and rules.

    \b
    bash: eval "$(detlint generate-shell-completion bash)"  in ~/.bashrc
    zsh:  eval "$(detlint generate-shell-completion zsh)"   in ~/.zshrc, behind compinit
    fish: detlint generate-shell-completion fish | source    in ~/.config/fish/config.fish
    """
    from detlint.completion import script

    click.echo(script(main, "detlint", shell))
