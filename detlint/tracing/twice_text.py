"""What calling each kernel twice came to: run, gathered from the processes, and told."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import msgspec

from detlint.tracing.calls import Call, Place
from detlint.tracing.cause import Cause
from detlint.tracing.known import Known, known
from detlint.tracing.output_tail import last
from detlint.tracing.start import Program
from detlint.tracing.text import at
from detlint.tracing.watch import Watch
from detlint.visible import visible


class Kernel(msgspec.Struct):
    """As twice.Noisy, which can be read only where PyTorch is."""

    op: str
    api: str
    backward: bool
    stack: list[Place]
    differing: int
    calls: int
    code: str = ""
    help: str = ""


class Tried(msgspec.Struct):
    """What came of it in all processes."""

    kernels: int = 0
    noisy: list[Kernel] = []
    failed: int = 0
    """The exit code, where the program failed."""
    said: str = ""

    @property
    def code(self) -> int:
        """The exit code: 0 all repeat, 1 some don't, 2 nothing was tried."""
        return 1 if self.noisy else 0 if self.kernels and not self.failed else 2


def run(program: Program, folder: Path, iterations: int) -> Tried:
    """Run a program for some iterations, with each kernel called twice.

    Raises:
        NotStarted: nothing can be run.
    """
    into, output = folder / "twice", folder / "output.txt"
    into.mkdir()
    code = program.run(Watch(twice=str(into), losses=str(into), iterations=iterations), output)
    found = Tried(failed=code)
    for file in sorted(into.glob("*.json")):
        one = msgspec.json.decode(file.read_bytes(), type=Tried)
        found.kernels += one.kernels
        found.noisy.extend(one.noisy)
    for kernel in found.noisy:
        about = _known(kernel)
        kernel.code, kernel.help = about.code, about.remedy
    if code or not found.kernels:
        found.said = last(output)
    if not code and not found.kernels:
        found.said = "\n".join(
            filter(None, (found.said, "No kernel of PyTorch ran; those of other frameworks aren't tried."))
        )
    return found


def lines(found: Tried) -> Iterator[str]:
    """A paragraph for each kernel, and the sum."""
    for kernel in found.noisy:
        part = "the backward pass of " if kernel.backward else ""
        head = click.style(f"noisy kernel[{kernel.code or 'kernel'}]", fg="red", bold=True)
        yield f"{head}: {part}`{visible(kernel.api or kernel.op)}` gave something else for the same inputs"
        yield f"  = operator {visible(kernel.op)}, {kernel.differing} of {kernel.calls} calls"
        yield from (f"  = at       {at(place)}" for place in kernel.stack)
        if kernel.help:
            yield f"  = help     {kernel.help}"
        yield ""
    if found.said:
        yield found.said
        yield ""
    if found.failed:
        yield f"The program failed with exit code {found.failed}."
    yield f"{found.kernels:,} calls of kernels made twice, {len(found.noisy)} of the kernels don't repeat."


def _known(kernel: Kernel) -> Known:
    from detlint.project import Project

    call = Call(
        0,
        0,
        kernel.op,
        kernel.api,
        tuple(kernel.stack),
        "",
        "",
        "backward" if kernel.backward else "",
        -1,
        0,
        (),
        (),
        0,
    )
    start = Path(kernel.stack[-1].file) if kernel.stack else Path.cwd()
    return known(Cause("kernel", "", call), Project.of(start, {}))
