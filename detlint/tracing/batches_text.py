"""What computing samples alone and in another order came to: run, gathered from the processes, and told."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import msgspec

from detlint.tracing.calls import Place
from detlint.tracing.output_tail import last
from detlint.tracing.start import Program
from detlint.tracing.text import at
from detlint.tracing.watch import Watch
from detlint.visible import visible


class Dependent(msgspec.Struct):
    """The first operator of a model whose rows depend on what else is in the batch, or on its place there.

    Attributes:
        way: `alone` or `reordered`: what it was compared with.
        instead: the other operator that the model calls for it; empty where it calls the same.
    """

    model: str
    op: str
    api: str
    way: str
    stack: list[Place]
    instead: str = ""


class Tried(msgspec.Struct):
    """What came of it in all processes.

    Attributes:
        calls: of models that were tried; `untried`: that couldn't be.
        operators: how many results were compared.
    """

    calls: int = 0
    untried: int = 0
    operators: int = 0
    dependent: list[Dependent] = []
    failed: int = 0
    said: str = ""

    @property
    def code(self) -> int:
        """The exit code: 0 no row depends on its batch, 1 some do, 2 nothing was tried."""
        return 1 if self.dependent else 0 if self.calls and not self.failed else 2


def run(program: Program, folder: Path, calls: int, output: str = "") -> Tried:
    """Run a program until so many calls of models have been tried; 0: to its end.

    Args:
        output: an expression that is tried instead, once the program has ended; empty for none.

    Raises:
        NotStarted: nothing can be run.
        TimedOut: it takes too long.
    """
    into, printed = folder / "batches", folder / "output.txt"
    into.mkdir()
    code = program.run(Watch(batches=str(into), iterations=calls, output=output), printed)
    found = Tried(failed=code)
    for file in sorted(into.glob("*.json")):
        one = msgspec.json.decode(file.read_bytes(), type=Tried)
        found.calls, found.untried = found.calls + one.calls, found.untried + one.untried
        found.operators += one.operators
        found.dependent += [dependent for dependent in one.dependent if dependent not in found.dependent]
        found.said = found.said or one.said
    if code:
        found.said = last(printed)
    elif not found.calls and not found.said:
        found.said = "No module of PyTorch was called with a batch of two samples or more; say `--output EXPR` where a function computes."
    return found


def lines(found: Tried) -> Iterator[str]:
    """A paragraph for each operator, and the sum."""
    for one in found.dependent:
        head = click.style(f"depends on the batch[{one.way}]", fg="red", bold=True)
        with_what = "computed alone" if one.way == "alone" else "in a batch in reverse order"
        does = f"calls `{visible(one.instead)}`" if one.instead else "gives other bits"
        yield f"{head}: `{visible(one.api or one.op)}` {does} for a sample {with_what}"
        yield f"  = operator {visible(one.op)}, in model {visible(one.model)}"
        yield from (f"  = at       {at(place)}" for place in one.stack)
        yield (
            "  = help     Kernels choose how they add up by the size of the batch: compute in batches of one size (pad the last), or use "
            "kernels that are invariant to it, as vLLM and SGLang have."
        )
        yield ""
    if found.said:
        yield found.said
        yield ""
    if found.failed:
        yield f"The program failed with exit code {found.failed}."
    rest = f"; {found.untried:,} more couldn't be tried" if found.untried else ""
    which = (
        "no row depends on its batch"
        if not found.dependent
        else f"{len(found.dependent)} first operators whose rows depend on it"
    )
    yield f"{found.calls:,} calls of models tried{rest}, {found.operators:,} results compared: {which}."
