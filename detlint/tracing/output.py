"""What traces and verifying tell, in each format."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

import click

from detlint import visible
from detlint.tracing import against, batches_text, resume, text, tolerant, twice_text, verification_text
from detlint.tracing.start import Program
from detlint.tracing.story import Verdict
from detlint.tracing.verify import Verification

ATOL: Final = 1e-3
"""What MindSpore's guide allows: numpy.allclose with atol=1e-3."""
_WIDEST: Final = 100
_NARROWEST: Final = 40


def of_traces(told: Verdict, form: str) -> str:
    """The comparison of two traces."""
    if form == "json":
        return _json(told)
    if form == "sarif":
        from detlint.tracing import sarif

        return sarif.log(told)
    if form == "html":
        from detlint.tracing import html

        return html.page(told, None)
    return visible.lines(text.lines(told))


def of_errors(found: tolerant.Errors, form: str) -> str:
    """The comparison of two traces within tolerances.

    Raises:
        ValueError: there is none in this format.
    """
    if form not in ("text", "json"):
        raise ValueError(f"--output-format {form}: within tolerances there are text and json")
    return _json(found) if form == "json" else visible.lines(tolerant.lines(found))


class Found(Protocol):
    """What a way of verifying came to."""

    @property
    def code(self) -> int:
        """The exit code."""

    def text(self, form: str) -> str:
        """It in a format."""

    def html(self) -> str:
        """It as a page."""


@dataclass(frozen=True)
class Verified:
    """The outcome of verifying.

    Attributes:
        code: the exit code.
    """

    found: Verification
    code: int

    def text(self, form: str) -> str:
        """It in a format."""
        if form == "json":
            return _json(self.found)
        if form == "sarif":
            from detlint.tracing import sarif

            return sarif.log(self.found.trace)
        width = max(_NARROWEST, min(shutil.get_terminal_size().columns, _WIDEST))
        return visible.lines(verification_text.lines(self.found, width))

    def html(self) -> str:
        """It as a page."""
        from detlint.tracing import html

        return html.page(self.found.trace, self.found)


def verified(program: Program, folder: Path, options: dict[str, Any]) -> Verified:
    """Run a program several times, as the options of `detlint verify` say."""
    given = options["atol"]
    verifier = against.Against(
        program,
        folder,
        options["iterations"],
        ATOL if given is None else given,
        options["metric"] or "",
        options["output"] or "",
        say,
    )
    if options["against"] is not None:
        found = verifier.against(against.read(options["against"]), options["trace"])
        return Verified(found, found.code(tolerant=given is not None))
    found = verifier.verify(options["runs"], options["trace"])
    if options["record"] is not None and found.outcome == "equal":
        against.record(verifier, found, options["record"])
        say(f"kept in {options['record']}")
    return Verified(found, found.code(tolerant=given is not None))


@dataclass(frozen=True)
class Tried:
    """The outcome of another way of verifying, of which there is no trace.

    Attributes:
        code: the exit code.
        title: what it is about, for a page.
        found: it, for programs.
        lines: it, for people.
    """

    code: int
    title: str
    found: Any
    lines: list[str]

    def text(self, form: str) -> str:
        """It in a format; SARIF has no form for it."""
        return _json(self.found) if form == "json" else visible.lines(self.lines)

    def html(self) -> str:
        """It as a page."""
        from detlint.tracing import html

        return html.plain(self.title, click.unstyle(self.text("text")))


def twice(program: Program, folder: Path, iterations: int) -> Tried:
    """Run a program with each kernel called twice."""
    found = twice_text.run(program, folder, iterations)
    return Tried(found.code, "Kernels called twice", found, [*twice_text.lines(found)])


def batch_invariant(program: Program, folder: Path, calls: int, output: str) -> Tried:
    """Run a program with what its models are given, or what an expression is made of, computed in other batches, too."""
    found = batches_text.run(program, folder, calls, output)
    return Tried(found.code, "Rows that depend on the batch", found, [*batches_text.lines(found)])


def resumed(program: Program, folder: Path, options: dict[str, Any]) -> Tried:
    """Break a program off and start it again, as the options of `detlint verify` say."""
    again, at, iterations = options["resume_with"], options["resume_at"], max(options["iterations"], 1)
    found = resume.resumed(program, folder, at, iterations, again, say)
    return Tried(found.code, "A run that goes on", resume.as_json(found), [*resume.lines(found)])


def say(said: str) -> None:
    """Tell what is going on."""
    click.echo(f"detlint verify: {visible.visible(said)}", err=True)


def _json(what: object) -> str:
    return visible.encoded(what)
