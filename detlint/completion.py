"""What a shell is told when somebody presses Tab. Only completing imports this."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
from click.shell_completion import CompletionItem, get_completion_class

from detlint.catalog import CatalogError, directory, parse
from detlint.config import ConfigError, load
from detlint.files import read


def script(command: click.Command, name: str, shell: str) -> str:
    """The script that a shell runs to learn how to complete a command.

    Args:
        name: the command's name in the shell.
        shell: `bash`, `zsh` or `fish`.
    """
    kind = get_completion_class(shell)
    assert kind is not None
    return kind(command, {}, name, f"_{name.upper()}_COMPLETE").source()


def selectors(incomplete: str) -> list[CompletionItem]:
    """Codes that begin so; of several with commas, the last is completed."""
    before, comma, last = incomplete.rpartition(",")
    return [
        CompletionItem(f"{before}{comma}{code}", help=name)
        for code, name in _rules()
        if code.startswith(last.upper()) and code not in before.upper().split(",")
    ]


def rules(incomplete: str) -> list[CompletionItem]:
    """Codes and names that begin so."""
    found = [CompletionItem(code, help=name) for code, name in _rules() if code.startswith(incomplete.upper())]
    if incomplete:
        found += [CompletionItem(name, help=code) for code, name in _rules() if name.startswith(incomplete.lower())]
    return found


def _rules() -> Iterator[tuple[str, str]]:
    """The codes and names of the shipped rules, and of those of the catalogs that the configuration names. Only the tables of
    rules are read: the whole catalog would take longer than a person waits for a Tab."""
    files = [directory() / "rules.toml"]
    try:
        config = load(Path.cwd())
        files += [(config.source or config.root).parent / name for name in config.settings.catalogs]
    except ConfigError:
        pass  # running the command tells what is wrong
    found = {}
    for file in files:
        try:
            found.update({rule.code: rule.name for rule in parse(str(file), read(file)).rules})
        except (CatalogError, OSError):
            continue
    yield from sorted(found.items())
