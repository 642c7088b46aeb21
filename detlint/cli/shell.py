"""What all commands share: the group that they are in, options, messages, errors."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import click

from detlint import __version__, interrupts
from detlint.visible import visible
from detlint.whole import save

WRONG_USE = 2


class _Group(click.Group):
    """`detlint PATH` is `detlint check PATH`."""

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args and args[0] not in self.commands:
            args = ["check", *args]
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ("--help", "-h", "--version", "-V"):
            args = ["check", *args]
        return super().parse_args(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Each command with a whole sentence, which click would cut."""
        shown = [(name, command) for name, command in sorted(self.commands.items()) if not command.hidden]
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.get_short_help_str(limit=1000)) for name, command in shown])

    def main(self, *arguments: Any, **options: Any) -> Any:
        with errors():  # help that can't be written
            return super().main(*arguments, **options)

    def make_context(self, *arguments: Any, **options: Any) -> click.Context:
        with _readable():
            return super().make_context(*arguments, **options)

    def invoke(self, ctx: click.Context) -> Any:
        with interrupts.undoing(), errors(), _readable():  # else an interrupt would be told as "Aborted!"
            found = super().invoke(ctx)
            flush()
            return found

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        """Commands, or what may follow `check`, which need not be written. (bash takes words or files, not both.)"""
        found = super().shell_complete(ctx, incomplete)
        return found if found and not incomplete.startswith("-") else [*found, *_of(self.commands["check"], incomplete)]


@contextlib.contextmanager
def _readable() -> Iterator[None]:
    """What click says of arguments quotes them; they may be names of files that somebody else gave."""
    try:
        yield
    except click.ClickException as error:
        error.message = visible(error.message, keep="\n")  # type: ignore[misc]
        raise


def _of(command: click.Command, incomplete: str) -> list[Any]:
    """How a command goes on: with its options, or with a path."""
    context = click.Context(command, info_name=command.name)
    found = command.shell_complete(context, incomplete)
    return found or command.params[0].shell_complete(context, incomplete)


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, "-V", "--version", message="%(prog)s %(version)s")
def main() -> None:
    """Finds nondeterminism in machine-learning code: unseeded draws, random layers and transforms, operators that sum
    in varying order, device-side randomness, and switches that are missing, misspelt or set too late.

    `detlint PATH...` is short for `detlint check PATH...`.
    """


CONFIG = click.option(
    "--config",
    "config_file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Configuration file (pyproject.toml or detlint.toml) instead of the nearest.",
)

PROFILE = click.option(
    "--profile",
    type=click.Choice(["reproduce", "align"]),
    help="reproduce: does the same command give the same result twice? "
    "align: can the run be compared with another back end? [default: reproduce]",
)
TARGET = click.option(
    "--target",
    "targets",
    multiple=True,
    type=click.Choice(["cpu", "cuda", "ascend", "tpu", "mps", "xpu"]),
    help="Hardware to judge for; may be repeated. [default: what each file mentions]",
)
ISOLATED = click.option("--isolated", is_flag=True, help="Use no configuration file.")


class Ended(SystemExit):
    """The end of a command that leaves nothing to do: what still runs may end with the process."""

    code: int


@contextlib.contextmanager
def errors() -> Iterator[None]:
    """Ends the program with a message where the user is to do something."""
    try:
        yield
    except FileNotFoundError as error:
        fail(f"no such file or folder: {error}")
    except BrokenPipeError:
        # The reader has gone (`detlint . | head`): nothing is left to say.
        _drop_output()
        sys.exit(1)
    except KeyboardInterrupt:
        raise Ended(interrupts.CODE) from None
    except MemoryError:
        fail("out of memory; `--jobs 1` needs the least")
    except OSError as error:  # the disk is full, say
        _drop_output()
        fail(str(error))
    except Exception as error:
        from detlint.catalog import CatalogError
        from detlint.config import ConfigError
        from detlint.pool import WorkerLost

        if isinstance(error, (CatalogError, ConfigError, WorkerLost)):
            fail(str(error))
        raise


def flush() -> None:
    """Write what is still to be written, while it can be told that it couldn't be."""
    for stream in filter(None, (sys.stdout, sys.stderr)):  # closed ones are None
        stream.flush()


def _drop_output() -> None:
    """Have what standard output couldn't write go nowhere: Python tries that once more at its end, and then tells of it by another exit
    code."""
    with contextlib.suppress(AttributeError, OSError):  # there is none, or it is no file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def put(text: str, file: Path | None, err: bool = False) -> None:
    """Write a text into a file, without its colours, or to standard output."""
    if file is None:
        click.echo(text, nl=False, err=err, color=colour())
        return
    try:
        save(file, click.unstyle(text).encode("utf-8", "backslashreplace"))
    except OSError as error:
        fail(f"{file}: can't be written: {error.strerror}")


def colour() -> bool | None:
    """Whether to colour: click leaves colours out where the output is no terminal; NO_COLOR and FORCE_COLOR say otherwise."""
    return False if os.environ.get("NO_COLOR") else True if os.environ.get("FORCE_COLOR") else None


def show_diff(lines: Iterable[str]) -> None:
    """Print a diff: to people as they can read it, and to a program, which may apply it, with every byte."""
    from detlint.report.changes import coloured

    chosen = colour()
    people = chosen or sys.stdout.isatty()
    for line in lines:
        text = line.rstrip("\r\n")
        shown = coloured(visible(text, keep="\t") + line[len(text) :]) if people else line
        click.echo(shown, nl=False, color=chosen if people else True)  # else what looks like a colour would be left out


def tell(message: str, *more: str) -> None:
    """Print an error; what else there is to say of it on lines of its own."""
    message = "\n".join(map(visible, (message, *more)))
    with contextlib.suppress(OSError):  # whoever reads standard error has gone
        click.echo(f"{click.style('error', fg='red', bold=True)}: {message}", err=True)


def fail(message: str, *more: str) -> NoReturn:
    tell(message, *more)
    sys.exit(WRONG_USE)
