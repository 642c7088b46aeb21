"""One run against one that was kept: what a change of the program, of a library or of the machine does to its losses."""

from __future__ import annotations

import base64
import zlib
from pathlib import Path
from typing import Final

import msgspec

from detlint.runtime.launch import NotStarted
from detlint.tracing import environment, kept_file
from detlint.tracing.locate import window
from detlint.tracing.losses import Loss
from detlint.tracing.reader import Unreadable
from detlint.tracing.runs import NotComparable, compare_runs
from detlint.tracing.start import TimedOut
from detlint.tracing.story import verdict
from detlint.tracing.verify import Verification, Verifier
from detlint.tracing.watch import Watch

_FORMAT: Final = 1
_LARGEST: Final = 64 << 20
"""Bytes of a trace: no file of a digest unpacks to more."""


class Kept(msgspec.Struct, kw_only=True):
    """A run, in a file.

    Attributes:
        program: what was run, as for `python`.
        losses: by process.
        traces: by file: a trace of the same iterations, packed.
    """

    format: int = _FORMAT
    program: list[str]
    iterations: int
    python: str
    platform: str
    versions: dict[str, str]
    environment: dict[str, str]
    losses: dict[str, list[Loss]]
    traces: dict[str, str] = {}


def read(path: Path) -> Kept:
    """A kept run.

    Raises:
        NotStarted: the file is none, or of another version.
    """
    return kept_file.read(
        path, Kept, _FORMAT,
        made=f"detlint verify --record {path} ...",
        other="not what `detlint verify --record` writes",
        old="of another version of detlint; write it anew with --record",
    )  # fmt: skip


def record(verifier: Verifier, found: Verification, path: Path) -> None:
    """Write a run that has repeated, with a trace, to a file.

    Raises:
        TimedOut, OSError: as running and writing do.
    """
    traces = verifier.folder / "kept"
    _traced(verifier, traces)
    kept = Kept(
        program=[*verifier.program.arguments],
        iterations=verifier.iterations,
        python=environment.interpreter(),
        platform=environment.machine(),
        versions=environment.versions(),
        environment=environment.variables(),
        losses=found.losses[0],
        traces={file.name: _packed(file) for file in sorted(traces.glob("*.trace"))},
    )
    path.write_bytes(msgspec.json.format(msgspec.json.encode(kept), indent=1) + b"\n")


class Against(Verifier):
    """Runs a program once, and compares it with a kept run."""

    def against(self, kept: Kept, trace: bool) -> Verification:
        """Run it; trace one more run where it differs.

        Raises:
            NotStarted: nothing can be run.
        """
        self.tell("one run, against the one that was kept")
        try:
            found = self._run(1)
        except TimedOut as error:
            return self._unknown(Verification(outcome="unknown", atol=self.atol, runs=1), f"the run {error}", 1)
        result = self._judge([kept.losses, found] if any(found.values()) else [found], 1)
        if trace and kept.traces and result.outcome in ("close", "diverged", "crashed"):
            self._name(result, kept)
        if result.outcome != "equal":
            result.said = "\n".join(filter(None, (result.said, *_apart(kept))))
        return result

    def _name(self, result: Verification, kept: Kept) -> None:
        """Find the first operator that differs from the kept trace."""
        self.tell("it differs: one run with a trace")
        before, now = self.folder / "kept", self.folder / "trace1"
        _unpack(kept, before)
        try:
            _traced(self, now)
            result.trace = verdict(compare_runs(before, now), before, now)
            result.traces = [str(before), str(now)]
        except TimedOut as error:
            result.said = f"no operator can be named: the traced run {error}"
        except (Unreadable, NotComparable) as error:
            result.said = f"the traces can't be compared: {error}"


def _traced(verifier: Verifier, into: Path) -> None:
    output = verifier.folder / f"{into.name}-output"
    output.mkdir(parents=True)
    steps = None if verifier.output else window(None, verifier.iterations)
    iterations = 0 if verifier.to_end else verifier.iterations
    watch = Watch(losses=str(output), iterations=iterations, trace=str(into), steps=steps, output=verifier.expression)
    verifier.program.run(watch, output / "output.txt")


def _packed(file: Path) -> str:
    return base64.b64encode(zlib.compress(file.read_bytes(), 9)).decode()


def _unpack(kept: Kept, folder: Path) -> None:
    folder.mkdir(parents=True)
    for name, packed in kept.traces.items():
        if Path(name).name != name:
            raise NotStarted(f"the kept run names a file of another folder: {name}")
        try:
            content = zlib.decompressobj().decompress(base64.b64decode(packed), _LARGEST)
        except (ValueError, zlib.error) as error:
            raise NotStarted(f"the kept run's trace {name} is damaged: {error}") from None
        (folder / name).write_bytes(content)


def _apart(kept: Kept) -> list[str]:
    """What this run is made with that the kept one wasn't."""
    now = {**environment.versions(), "Python": environment.interpreter(), "machine": environment.machine()}
    then = {**kept.versions, "Python": kept.python, "machine": kept.platform}
    said = [(name, then.get(name), now.get(name)) for name in sorted({*then, *now})]
    return [
        f"since it was kept: {name} was {a or 'missing'} and is {b or 'missing'}"
        for name, a, b in said
        if a != b and name != "detlint"
    ]
