"""Commands that run programs, or compare what they did."""

from __future__ import annotations

import contextlib
import copy
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from detlint.cli.shell import CONFIG, ISOLATED, fail, main, put

if TYPE_CHECKING:
    from detlint.tracing.start import Program


def _handled(ctx: click.Context, param: click.Parameter, value: str | None) -> str | list[str] | None:
    if value is None or value in ("listed", "keep"):
        return value
    return [name.strip() for name in value.split(",") if name.strip()]


MODULE = click.option("-m", "module", is_flag=True, help="SCRIPT is a module, as for `python -m`.")


@main.command(context_settings={"allow_interspersed_args": False})
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="SCRIPT [ARGUMENTS]...")
@MODULE
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), help="The seed of every stream. [default: 1234]")
@click.option(
    "--profile",
    type=click.Choice(["reproduce", "align"]),
    help="reproduce: the same command gives the same result twice, and randomness by design stays. "
    "align: dropout and random transforms are off, data comes in order, random numbers come from the CPU. "
    "[default: reproduce]",
)
@click.option("--dropout", type=click.Choice(["keep", "off"]), help="What drops at random.")
@click.option("--rng", type=click.Choice(["device", "cpu"]), help="Where random tensors are drawn.")
@click.option(
    "--operators",
    callback=_handled,
    metavar="listed|keep|NAMES",
    help="Nondeterministic operators that run on the CPU: those of the catalog, none, or these APIs and rule codes.",
)
@click.option(
    "--replace",
    callback=_handled,
    metavar="listed|keep|NAMES",
    help="Operators that are put together from small ones, likewise.",
)
@click.option("--loaders", type=click.Choice(["seeded", "sequential", "keep"]), help="The order of data.")
@click.option("--transforms", type=click.Choice(["keep", "off"]), help="Random transforms of samples.")
@click.option(
    "--collectives", type=click.Choice(["deterministic", "strict", "keep"]), help="Communication between devices."
)
@click.option(
    "--unsupported",
    type=click.Choice(["warn", "error", "cpu"]),
    help="What to do about a nondeterministic operator for which nothing else is known. [default: warn]",
)
@click.option(
    "--deterministic/--no-deterministic",
    default=None,
    help="Whether the libraries' switches of deterministic operators are turned on. [default: on]",
)
@click.option(
    "--report",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write what was done there, as JSON.",
)
@click.option("-q", "--quiet", is_flag=True, help="Don't print what was done.")
@CONFIG
@ISOLATED
def run(
    command: tuple[str, ...],
    module: bool,
    report: Path | None,
    quiet: bool,
    config_file: Path | None,
    isolated: bool,
    **options: Any,
) -> None:
    """Run a program with everything seeded and deterministic, without editing it.

    Its options, its exit code and the signals that it gets are its own. What was done is printed to standard error when it
    ends. Options not given are those of `[tool.detlint.runtime]`.
    """
    from detlint.runtime.launch import NotStarted, launch

    settings, source = _enforced(command, module, config_file, isolated)
    chosen = {**settings, **{key: value for key, value in options.items() if value is not None}}
    written = os.path.abspath(report) if report is not None else ""
    try:
        launch(_arguments(command, module), chosen, written, quiet, source)
    except NotStarted as error:
        fail(str(error))


def _arguments(command: tuple[str, ...], module: bool) -> tuple[str, ...]:
    """A program as `python` takes it."""
    return ("-m", *command) if module else command


def _enforced(
    command: tuple[str, ...], module: bool, config_file: Path | None = None, isolated: bool = False
) -> tuple[dict[str, Any], str]:
    """What the configuration of a program says of enforcing, and the file that it stands in; "" for none."""
    from detlint.config import enforced, load

    script = Path(command[0])
    config = load(script if script.exists() and not module else Path.cwd(), config_file, isolated)
    return enforced(config.settings), os.path.abspath(config.source) if config.source is not None else ""


PROGRAM = {"ignore_unknown_options": True, "allow_interspersed_args": False}
"""What stands behind a script's name is the script's."""

_LEVEL = click.option(
    "--level",
    type=click.Choice(["module", "api", "kernel"]),
    default="kernel",
    show_default=True,
    help="What is recorded: calls of modules, of public functions, or every kernel.",
)

ITERATIONS = click.option(
    "--iterations",
    type=click.IntRange(min=0),
    default=2,
    show_default=True,
    help="Training iterations after which a run ends; 0: when it ends by itself.",
)
AS_IS = click.option("--as-is", is_flag=True, help="Run it as it is, not in the environment of `detlint run`.")

TO = click.option(
    "-o",
    "--output-file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the report there instead of to standard output.",
)


class _Trace(click.Command):
    """Its options may stand behind the folder, too, as far as the script."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        valued = {name for p in self.params if isinstance(p, click.Option) and not p.is_flag for name in p.opts}
        end = 1
        while end < len(args) and not args[0].startswith("-") and args[end].startswith("-"):
            end += 2 if args[end] in valued else 1
        return super().parse_args(ctx, [*args[1:end], *args[:1], *args[end:]])


@main.command(cls=_Trace, context_settings=PROGRAM)
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), metavar="DIR")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="SCRIPT [ARGUMENTS]...")
@MODULE
@click.option("--steps", metavar="STEPS", help="Training steps to record, as in 0,1 or 0-3. [default: all]")
@_LEVEL
@click.option("--enforce", "enforced", is_flag=True, help="Trace it in the environment of `detlint run`.")
@click.option("--values", is_flag=True, help="Record how large values are, too, for `detlint compare --rtol`.")
def trace(
    folder: Path, command: tuple[str, ...], module: bool, steps: str | None, level: str, enforced: bool, values: bool
) -> None:
    """Run a program with a trace: digests of what each operator is given and gives, and the line that calls it.

    DIR gets a file for each process; `detlint compare` compares two.
    """
    from detlint.runtime.launch import NotStarted
    from detlint.tracing.settings import parse_steps
    from detlint.tracing.watch import Watch

    if folder.exists() and any(folder.glob("*.trace")):
        fail(f"{folder}: there is a trace already; name another folder, or remove this one")
    try:
        chosen = sorted(parse_steps(steps)) if steps is not None else None
        watch = Watch(trace=os.path.abspath(folder), steps=chosen, level=level, values=values)  # type: ignore[arg-type]
        program_of(command, module, enforced).become(watch)
    except (NotStarted, ValueError) as error:
        fail(str(error))


def program_of(command: tuple[str, ...], module: bool, enforced: bool) -> Program:
    """What is to be run; enforced as the configuration says."""
    from detlint.tracing.start import Program

    return Program(_arguments(command, module), *(_enforced(command, module) if enforced else ()))


@main.command()
@click.argument("left", type=click.Path(path_type=Path))
@click.argument("right", type=click.Path(path_type=Path))
@click.option(
    "--output-format",
    type=click.Choice(["text", "json", "sarif", "html"]),
    default="text",
    show_default=True,
    help="How to print what is found.",
)
@click.option(
    "--rtol", type=click.FloatRange(min=0), help="Relative error that an operator may add. [default: by type]"
)
@click.option("--atol", type=click.FloatRange(min=0), help="Absolute error that it may add. [default: by type]")
@click.option(
    "--tolerance",
    "tolerances",
    multiple=True,
    metavar="NAME[:TYPE]=RTOL[,ATOL]",
    help="What one operator or function may add, or (`:TYPE`) what all may of a type.",
)
@click.option("--tolerant", is_flag=True, help="Compare within tolerances: by type where none is said.")
@TO
def compare(
    left: Path,
    right: Path,
    output_format: str,
    output_file: Path | None,
    rtol: float | None,
    atol: float | None,
    tolerances: tuple[str, ...],
    tolerant: bool,
) -> None:
    """Compare the traces of two runs: the first operator that differs, its line, and why.

    LEFT and RIGHT are folders that `detlint trace` made, or dumps of msprobe (the folder with dump.json).

    With tolerances, traces of two back ends are compared: what each operator adds to the error is ranked.

    Exit code: 0 equal, 1 different, 2 not comparable.
    """
    from detlint.tracing import output
    from detlint.tracing.reader import Unreadable
    from detlint.tracing.runs import NotComparable, compare_runs
    from detlint.tracing.story import verdict

    try:
        if tolerant or tolerances or rtol is not None or atol is not None:
            from detlint.tracing import tolerant as within

            chosen = within.Tolerances(rtol, atol, within.parsed(tolerances))
            found = within.errors(left, right, chosen)
            put(f"{output.of_errors(found, output_format)}\n", output_file)
            sys.exit(int(not found.equal))
        told = verdict(compare_runs(left, right), left, right)
    except (Unreadable, NotComparable, ValueError) as error:
        fail(str(error))
    put(f"{output.of_traces(told, output_format)}\n", output_file)
    sys.exit(int(not told.equal))


_BEFORE = copy.copy(compare)
"""The command under the name that it had, which is too much like `--diff`."""
_BEFORE.name, _BEFORE.hidden = "diff", True
main.add_command(_BEFORE)


@main.command(context_settings=PROGRAM)
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="SCRIPT [ARGUMENTS]...")
@MODULE
@click.option("--runs", type=click.IntRange(min=2), default=2, show_default=True, help="How often to run it.")
@ITERATIONS
@click.option(
    "--atol", type=click.FloatRange(min=0), help="Let losses pass that differ by no more. [default: 1e-3, told only]"
)
@click.option("--metric", metavar="REGEX", help="Read the loss from the output: the expression's first group.")
@click.option(
    "--output",
    metavar="EXPR",
    help="Compare the value that this expression has as the program ends (`-`: what it prints); with --batch-invariant, its rows.",
)
@AS_IS
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="End a run that takes longer, with all that it has started. [default: none]",
)
@click.option(
    "--trace/--no-trace", default=True, show_default=True, help="Trace two more runs where the losses differ."
)
@click.option(
    "--resume-at",
    type=click.IntRange(min=1),
    metavar="K",
    help="Break it off after K iterations, start it again, and compare with a run that isn't broken off.",
)
@click.option(
    "--resume-with",
    metavar="ARGUMENTS",
    default="",
    help="With --resume-at: what the program gets besides, to go on from its checkpoint.",
)
@click.option(
    "--batch-invariant",
    is_flag=True,
    help="Compute samples alone and in another order, and name the first operator whose rows depend on the batch.",
)
@click.option("--twice", is_flag=True, help="Run each kernel twice within one run, instead of the program.")
@click.option(
    "--output-format",
    type=click.Choice(["text", "json", "sarif"]),
    default="text",
    show_default=True,
    help="How to print what is found.",
)
@TO
@click.option(
    "--html", type=click.Path(path_type=Path, dir_okay=False), help="Write a page with both curves there, too."
)
@click.option("--keep", type=click.Path(path_type=Path, file_okay=False), help="Keep losses, output and traces there.")
@click.option(
    "--record",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Where the runs are equal, write what --against compares with.",
)
@click.option(
    "--against",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Run it once, and compare it with the run in this file.",
)
@click.option("--overwrite", is_flag=True, help="Replace what --keep and --record find there.")
def verify(command: tuple[str, ...], module: bool, output_file: Path | None, **options: Any) -> None:
    """Run a program twice, and tell whether it repeats; if not, which operator is the first that differs.

    The runs end after two iterations: if the first loss agrees, the forward pass is fixed, and if the second does, the
    backward pass.

    Exit code: 0 equal bit for bit (or within --atol, if given), 1 not, 2 not comparable.
    """
    from dataclasses import replace

    from detlint.runtime.launch import NotStarted
    from detlint.tracing import output
    from detlint.tracing.start import TimedOut

    _check(options["output"], options["metric"])
    _clear(options["keep"], options["record"], options["overwrite"])
    with folder_for(options["keep"]) as folder:
        try:
            program = replace(program_of(command, module, not options["as_is"]), seconds=options["timeout"])
            found: output.Found
            if options["resume_at"]:
                found = output.resumed(program, folder, options)
            elif options["batch_invariant"]:
                found = output.batch_invariant(program, folder, options["iterations"], options["output"] or "")
            elif options["twice"]:
                found = output.twice(program, folder, options["iterations"])
            else:
                found = output.verified(program, folder, options)
        except (NotStarted, re.error) as error:
            fail(str(error))
        except TimedOut as error:
            fail(f"the program {error}")
        if options["html"] is not None:
            put(f"{found.html()}\n", options["html"])
        put(f"{found.text(options['output_format'])}\n", output_file)
        sys.exit(found.code)


def _check(output: str | None, metric: str | None) -> None:
    """Whether what is to be compared can be."""
    from detlint.tracing.asked import compiled

    if output is not None and metric is not None:
        fail("--output and --metric: say which of them counts")
    try:
        compiled(output or "None")
    except SyntaxError as error:
        if output != "-":
            fail(f"--output: {error.msg}")


def _clear(keep: Path | None, record: Path | None, overwrite: bool) -> None:
    """Make room for what is to be kept; nothing but what an earlier run has left there is removed."""
    import shutil

    if record is not None and record.exists() and not overwrite:
        fail(f"{record}: exists; name another file, or say --overwrite")
    if keep is None or not keep.exists() or not overwrite:
        return
    others = [path.name for path in keep.iterdir() if _KEPT.fullmatch(path.name) is None]
    if others:
        fail(f"{keep}: has what no run has left there ({', '.join(sorted(others)[:3])}); name another folder")
    for path in keep.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()


_KEPT = re.compile(
    r"(run|trace|traced)\d+|run-(whole|resumed)|whole|resumed|stopped|kept|(kept|trace1)-output|twice|batches|output\.txt"
)
"""What the runs of `detlint verify` are kept in."""


@contextlib.contextmanager
def folder_for(keep: Path | None) -> Iterator[Path]:
    """A folder that stays, or one for the time being."""
    import tempfile

    if keep is None:
        with tempfile.TemporaryDirectory(prefix="detlint-verify-") as made:
            yield Path(made)
        return
    if keep.exists() and any(keep.iterdir()):
        fail(f"{keep}: isn't empty; name another folder to keep the runs in, or say --overwrite")
    keep.mkdir(parents=True, exist_ok=True)
    yield keep
