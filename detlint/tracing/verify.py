"""Runs a program twice, and tells whether its losses are the same.

The test is the one of MindSpore's guide to fixing randomness: if the first iteration's loss agrees, the forward pass is
fixed; if the second's does, the backward pass is, too. https://www.mindspore.cn has it under "Fixed Randomness to Reproduce
Run Results of Script". Bits are compared besides.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Final, Literal

import msgspec

from detlint.runtime.launch import NotStarted
from detlint.tracing import asked, losses
from detlint.tracing.locate import Located, Locator
from detlint.tracing.losses import Loss
from detlint.tracing.output_tail import last
from detlint.tracing.replay import Pasts, Replays
from detlint.tracing.start import Program, TimedOut
from detlint.tracing.stored import FIRST, Lost
from detlint.tracing.story import Verdict
from detlint.tracing.watch import MAIN, Watch

Agreement = Literal["bits", "close", "no"]
"""Bit for bit; within the tolerance; not."""
Outcome = Literal["equal", "close", "diverged", "crashed", "unknown"]
PRINTED: Final = "-"
"""The expression that stands for what a program prints."""
_NO_LOSS: Final = (
    "no loss was seen: nothing computes gradients where it can be read; say `--metric REGEX` to read it from the output, `--output EXPR` "
    "to compare a value of the program's (`--output -`: what it prints), or call `detlint.runtime.log(loss=...)` in it"
)
_NOTHING: Final = "it gave nothing to compare"
CODES: Final[dict[Outcome, int]] = {"equal": 0, "close": 1, "diverged": 1, "crashed": 1, "unknown": 2}


class Difference(msgspec.Struct, frozen=True):
    """The first loss that differs."""

    rank: str
    iteration: int
    values: tuple[float, float]


class Verification(msgspec.Struct, kw_only=True):
    """What comes of running a program several times.

    Attributes:
        outcome: `equal`: bit for bit; `close`: within `atol`, not bit for bit; `diverged`; `crashed`: one run failed;
            `unknown`: there was nothing to compare.
        forward: whether the first iteration's losses agree: the forward pass is fixed.
        backward: whether the second's do, too.
        why: for `unknown` and `crashed`, what is missing.
        losses: by run: by the name of the process: its losses.
        what: what was compared, as the subject of a sentence.
        trace: the comparison of two more runs, traced; None where the losses are equal, or tracing was not asked for.
        how: of a long run, whether it was replayed from a state that it had stored, or why it was started again.
        replayed_from: the step of the state.
    """

    outcome: Outcome
    atol: float
    runs: int
    forward: Agreement | None = None
    backward: Agreement | None = None
    first: Difference | None = None
    why: str = ""
    what: str = "the losses are"
    losses: list[dict[str, list[Loss]]] = []
    trace: Verdict | None = None
    traces: list[str] = []
    said: str = ""
    how: str = ""
    replayed_from: int | None = None

    def code(self, tolerant: bool) -> int:
        """The exit code: 0 equal, 1 not, 2 not comparable. `tolerant` lets losses pass that agree within `atol`."""
        return 0 if tolerant and self.outcome == "close" else CODES[self.outcome]


class Verifier:
    """Runs one program.

    Attributes:
        folder: gets what the runs print, their losses and traces.
    """

    def __init__(
        self,
        program: Program,
        folder: Path,
        iterations: int,
        atol: float,
        metric: str = "",
        output: str = "",
        tell: Callable[[str], None] = print,
    ) -> None:
        """
        Args:
            metric: a regular expression whose first group, on a line of the output, is the loss.
            output: an expression whose value at the program's end counts instead; `-`: what it prints.
            tell: told what is going on.
        """
        self.program = program
        self.folder = folder
        self.iterations = iterations
        self.atol = atol
        self.metric = metric
        self.output = output
        self.tell = tell
        self._codes: list[int] = []

    def verify(self, runs: int, trace: bool) -> Verification:
        """Run it, and compare each run with the first; trace two more runs where they differ.

        Raises:
            NotStarted: nothing can be run.
        """
        began = time.time()
        found: list[dict[str, list[Loss]]] = []
        result = Verification(outcome="unknown", atol=self.atol, runs=runs)
        with Pasts() as pasts:
            for number in range(1, runs + 1):
                self.tell(f"run {number} of {runs}")
                try:
                    found.append(self._run(number, pasts if trace and self._long else None))
                except TimedOut as error:
                    return self._unknown(result, f"run {number} {error}", number)
                result = self._judge(found, runs)
                if result.outcome not in ("equal", "close"):
                    break
            if trace and result.outcome in ("close", "diverged", "crashed"):
                self._trace(result, began, pasts)
        return result

    @property
    def to_end(self) -> bool:
        """Whether runs end by themselves: what counts is none of the losses that are read while they go on."""
        return bool(self.metric or self.output)

    @property
    def expression(self) -> str:
        """What is worked out in the program as it ends; empty for nothing."""
        return "" if self.output == PRINTED else self.output

    @property
    def _long(self) -> bool:
        """Whether runs may have so many steps that some are worth storing."""
        return not self.to_end and (self.iterations == 0 or self.iterations > FIRST + 1)

    # -- runs ---------------------------------------------------------------------------------------------------------

    def _run(self, number: int, pasts: Pasts | None = None) -> dict[str, list[Loss]]:
        into = self.folder / f"run{number}"
        into.mkdir(parents=True)
        expected = str(self.folder / "run1") if number > 1 else ""
        watch = Watch(losses=str(into), iterations=0 if self.to_end else self.iterations, expected=expected)
        output = into / "output.txt"
        with pasts.one_more(into) if pasts is not None else nullcontext(-1) as states:
            watch = msgspec.structs.replace(watch, output=self.expression, states=states)
            self._codes.append(self.program.run(watch, output))
        if self.output == PRINTED:
            return {"output": asked.printed(output.read_text("utf-8", "replace"))}
        if self.metric:
            return {"output": self._printed(output)}
        files = sorted(into.glob(f"*{losses.SUFFIX}"))
        found = (losses.iterations(losses.read(file)) for file in files)
        return {_name(read[0], file, i): read for i, (file, read) in enumerate(zip(files, found, strict=True)) if read}

    def _printed(self, output: Path) -> list[Loss]:
        pattern = re.compile(self.metric)
        groups = (pattern.search(line) for line in output.read_text("utf-8", "replace").splitlines())
        texts = [(found[1] if pattern.groups else found[0]) or "" for found in groups if found]
        try:
            return [Loss(i, float(text), text, "metric") for i, text in enumerate(texts[: self.iterations or None])]
        except ValueError as error:
            raise NotStarted(f"--metric: {error}: let the first group be the loss alone") from None

    def _trace(self, result: Verification, began: float, pasts: Pasts) -> None:
        step = result.first.iteration if result.first is not None and not self.output else None
        found, why = self._replayed(step, pasts)
        if found is None:
            self.tell("the runs differ: they are run again with a trace")
            locator = Locator(self.program, self.folder, self.iterations, not self.to_end, self.expression)
            found = locator.locate(step, began)
            found.how = f"started again from the beginning: {why}" if why else ""
        result.trace, result.traces, result.said = found.trace, found.traces, found.said
        result.how, result.replayed_from = found.how, found.replayed_from

    def _replayed(self, step: int | None, pasts: Pasts) -> tuple[Located | None, str]:
        """What going on from stored states comes to, or why that names nothing; neither where a difference comes so early that none is."""
        if step is None or step <= FIRST or not pasts.both:
            return None, ""
        self.tell("the runs differ: what is next to that is run again, with a trace")
        try:
            return Replays(self.program, self.folder, self.iterations, pasts.both).replay(step), ""
        except Lost as lost:
            return None, str(lost)

    # -- the verdict --------------------------------------------------------------------------------------------------

    def _judge(self, found: list[dict[str, list[Loss]]], runs: int) -> Verification:
        result = Verification(outcome="equal", atol=self.atol, runs=runs, losses=found)
        failed = [i for i, code in enumerate(self._codes, 1) if code]
        if failed and (len(failed) == len(self._codes)):
            return self._unknown(
                result, f"run {failed[0]} failed with exit code {self._codes[failed[0] - 1]}", failed[0]
            )
        if failed:
            result.outcome, result.why = "crashed", f"run {failed[0]} failed, and the others didn't"
            return result
        if self.output:
            result.what = "what the program prints is" if self.output == PRINTED else f"`{self.output}` is"
        if not any(found[-1].values()):
            return self._unknown(result, _NOTHING if self.output else _NO_LOSS, len(found))
        if len(found) > 1:
            self._compare(result, found[0], found[-1])
        return result

    def _compare(self, result: Verification, ours: dict[str, list[Loss]], others: dict[str, list[Loss]]) -> None:
        pairs = [
            (name, one, other)
            for name in sorted({*ours, *others})
            for one, other in zip(ours.get(name, []), others.get(name, []), strict=False)
        ]
        if not self.output:
            result.forward, result.backward = self._agreement(pairs, 0), self._agreement(pairs, 1)
        differing = [pair for pair in pairs if not losses.same(pair[1], pair[2])]
        if differing:
            name, one, other = min(differing, key=lambda pair: (pair[1].iteration, pair[0]))
            result.first = Difference(name, one.iteration, (one.value, other.value))
            close = all(self._close(one, other) for _, one, other in pairs)
            result.outcome = "close" if close else "diverged"
            if one.text:
                result.why = f"{one.text} and {other.text}"
            elif one.bits == other.bits:
                result.why = (
                    f"the loss of iteration {one.iteration} is the same, the parameters it was computed with aren't"
                )
        elif {name: len(found) for name, found in ours.items()} != {name: len(found) for name, found in others.items()}:
            counted = "lines or values" if self.output else "iterations or processes"
            result.outcome, result.why = "diverged", f"the runs have different numbers of {counted}"

    def _agreement(self, pairs: list[tuple[str, Loss, Loss]], iteration: int) -> Agreement | None:
        of_it = [(one, other) for _, one, other in pairs if one.iteration == iteration]
        if not of_it:
            return None
        if all(losses.same(one, other) for one, other in of_it):
            return "bits"
        return "close" if all(self._close(one, other) for one, other in of_it) else "no"

    def _close(self, first: Loss, second: Loss) -> bool:
        """As numpy.allclose(first, second, rtol=1e-5, atol=atol), which the guide uses; NaN is equal to NaN."""
        if first.text or second.text:
            return losses.same(first, second)
        one, other = first.value, second.value
        if math.isnan(one) or math.isnan(other):
            return math.isnan(one) and math.isnan(other)
        return one == other or abs(one - other) <= self.atol + 1e-5 * abs(other)

    def _unknown(self, result: Verification, why: str, run: int) -> Verification:
        result.outcome, result.why = "unknown", why
        output = self.folder / f"run{run}" / "output.txt"
        result.said = last(output)
        return result


def _name(loss: Loss, file: Path, place: int) -> str:
    """What a process is called in both runs: by its rank, else by its place among the processes."""
    if loss.rank is not None:
        return f"rank {loss.rank}"
    return file.stem if file.stem == MAIN else f"process {place}"
