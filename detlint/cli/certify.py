"""`detlint certify`: what a run's repeatability rests on, and what of that has changed since."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from detlint.cli.runs import AS_IS, ITERATIONS, MODULE, PROGRAM, TO, folder_for, program_of
from detlint.cli.shell import fail, main, put

if TYPE_CHECKING:
    from detlint.tracing.certificate import Certificate


@main.command(context_settings=PROGRAM)
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="SCRIPT [ARGUMENTS]...")
@MODULE
@click.option(
    "--check",
    "certificate",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Run what this certificate is of, once, and say what has changed since.",
)
@ITERATIONS
@AS_IS
@click.option(
    "--timeout", type=click.FloatRange(min=0, min_open=True), metavar="SECONDS", help="End a run that takes longer."
)
@click.option(
    "--output-format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="How to print what has changed, or what is certified.",
)
@click.option("--html", type=click.Path(path_type=Path, dir_okay=False), help="Write a page there, too.")
@TO
def certify(
    command: tuple[str, ...], module: bool, certificate: Path | None, output_file: Path | None, **options: Any
) -> None:
    """Run a program three times, and write what it rests on that it repeats: seeds, switches, operators, libraries, machine, environment,
    code, and files that it reads.

    With -o the certificate goes to a file; `detlint certify --check FILE` says later what has changed.

    Exit code: 0 certified, or holds; 1 doesn't repeat, or revoked; 2 nothing can be told.
    """
    from dataclasses import replace

    from detlint.runtime.launch import NotStarted
    from detlint.tracing import certificate as certificates
    from detlint.tracing.start import TimedOut

    try:
        before = certificates.read(certificate) if certificate is not None else None
        if before is None and not command:
            fail("name a program, or a certificate with --check")
        iterations, as_is = (before.iterations, before.as_is) if before else (options["iterations"], options["as_is"])
        if before is not None and not command:
            module = before.program[0] == "-m"
            command = tuple(before.program[module:])
        program = replace(program_of(command, module, not as_is), seconds=options["timeout"])
        with folder_for(None) as folder:
            if before is None:
                _repeats(program, folder, iterations)
            now = certificates.certified(program, folder, iterations)
    except NotStarted as error:
        fail(str(error))
    except TimedOut as error:
        fail(f"the program {error}")
    _tell(before, now, options, output_file)


def _repeats(program: Any, folder: Path, iterations: int) -> None:
    """Run it twice; end where it doesn't repeat."""
    from detlint.tracing import output
    from detlint.tracing.verify import Verifier

    found = Verifier(program, folder, iterations, output.ATOL, tell=output.say).verify(2, False)
    if found.outcome == "unknown":
        fail(f"nothing to certify: {found.why}\n{found.said}")
    if found.outcome != "equal":
        click.echo(
            "detlint certify: the program doesn't repeat; `detlint verify` names the first operator that differs",
            err=True,
        )
        sys.exit(1)


def _tell(before: Certificate | None, now: Certificate, options: dict[str, Any], output_file: Path | None) -> None:
    from detlint import visible
    from detlint.tracing import certificate as certificates
    from detlint.tracing import html

    changed = certificates.changes(before, now) if before is not None else []
    if before is None:
        lines, json = certificates.lines(now), certificates.encoded(now).decode()
    else:
        lines, json = certificates.told(changed), visible.encoded(certificates.changed_json(changed)) + "\n"
    text = visible.lines(lines) + "\n"
    if options["html"] is not None:
        put(html.plain("Certificate of a run that repeats", click.unstyle(text)), options["html"])
    written = json if options["output_format"] == "json" or (before is None and output_file is not None) else text
    put(written, output_file)
    sys.exit(int(bool(changed)))
