"""`pytest --detlint-verify`: each test is run twice in one process, traced, and the traces are compared."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, Literal

import click
import pytest
from _pytest.runner import runtestprotocol

from detlint.tracing import frameworks, losses, text
from detlint.tracing.reader import Unreadable
from detlint.tracing.runs import NotComparable, compare_runs
from detlint.tracing.settings import Settings
from detlint.tracing.story import verdict
from detlint.tracing.watch import MAIN, Watch
from detlint.visible import lines

Outcome = Literal["same", "different", "first", "nothing"]
_PROPERTY: Final = "detlint"
_COUNTED: Final[dict[Outcome, str]] = {
    "same": "the same twice",
    "different": "different",
    "first": "different the first time only",
    "nothing": "with nothing to compare (no operator of a framework, and no detlint.runtime.log)",
}


@dataclass
class Run:
    """One of the runs of a test."""

    folder: Path
    reports: list[pytest.TestReport] = field(default_factory=list)

    @property
    def outcomes(self) -> list[str]:
        """What came of each phase."""
        return [f"{report.when} {report.outcome}" for report in self.reports]

    @property
    def logged(self) -> list[tuple[str, str]]:
        """The losses that the test has told."""
        return [
            (loss.bits, loss.state)
            for file in sorted(self.folder.glob(f"*{losses.SUFFIX}"))
            for loss in losses.read(file)
        ]

    @property
    def traced(self) -> bool:
        """Whether there is a trace."""
        return any(self.folder.glob("*.trace"))


class Twice:
    """The part of the plugin that runs tests twice."""

    def __init__(self) -> None:
        self._counts: Counter[Outcome] = Counter()
        self._run: Run | None = None
        """The run that is going on."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        """Run it twice; and once more where the two differ, because the first time fills caches and imports libraries."""
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        with TemporaryDirectory(prefix="detlint-pytest-") as folder:
            # All but the last run leave standing what the tests around it share, as they would before a test of the same parent.
            one, other = self._ran(item, item.parent, Path(folder, "1")), self._ran(item, nextitem, Path(folder, "2"))
            outcome, said = _compared(one, other)
            if outcome == "different":
                third = self._ran(item, nextitem, Path(folder, "3"))
                outcome, told = _compared(other, third)
                outcome, said = ("different", told) if outcome == "different" else ("first", said)
        for report in other.reports:
            if report.when == "call":
                _tell(report, item, outcome, said)
            item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True

    def _ran(self, item: pytest.Item, following: pytest.Item | pytest.Collector | None, folder: Path) -> Run:
        folder.mkdir()
        self._run = run = Run(folder)
        try:
            run.reports = runtestprotocol(item, log=False, nextitem=following)  # type: ignore[arg-type]
        finally:
            self._run = None
        return run

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self) -> Iterator[None]:
        """Trace the test itself, and not its fixtures: those that several tests share are made once."""
        if self._run is None:
            return (yield)
        losses.begin(Watch(losses=str(self._run.folder), first=os.getpid()))
        with ExitStack() as stack:
            stack.callback(losses.end)
            for framework in frameworks.TRACED:
                if framework in sys.modules:
                    stack.enter_context(frameworks.session(framework, Settings(self._run.folder), MAIN))
            return (yield)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count, also what processes of pytest-xdist's have told."""
        for name, value in report.user_properties:
            if name == _PROPERTY:
                self._counts[value] += 1  # type: ignore[index]

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say how many tests repeat."""
        if self._counts:
            said = ", ".join(f"{self._counts[name]} {words}" for name, words in _COUNTED.items() if self._counts[name])
            terminalreporter.write_line(f"detlint: tests that were run twice: {said}")


def _compared(one: Run, other: Run) -> tuple[Outcome, str]:
    """Whether two runs of a test are the same, and what differs."""
    if "call passed" not in one.outcomes and one.outcomes == other.outcomes:
        return "nothing", ""  # it was skipped or fails: that is what is to be told
    said = "" if one.outcomes == other.outcomes else f"The test's outcome differs: {_apart(one, other)}.\n"
    if one.logged != other.logged:
        said += "The losses that the test logs differ.\n"
    if one.traced or other.traced:
        try:
            told = verdict(compare_runs(one.folder, other.folder), one.folder, other.folder)
        except (NotComparable, Unreadable) as error:
            return "different", f"{said}{error}"
        if not told.equal:
            return "different", said + click.unstyle(lines(text.lines(told)))
        if not said and all(process.rows == (0, 0) for process in told.processes) and not one.logged:
            return "nothing", ""
    elif not one.logged and not said:
        return "nothing", ""
    return ("different", said) if said else ("same", "")


def _apart(one: Run, other: Run) -> str:
    pairs = zip(one.outcomes, other.outcomes, strict=False)
    return next((f"{a} and {b}" for a, b in pairs if a != b), "only one was run to its end")


def _tell(report: pytest.TestReport, item: pytest.Item, outcome: Outcome, said: str) -> None:
    """Put what was found into a test's report."""
    report.user_properties.append((_PROPERTY, outcome))
    if outcome == "different":
        report.outcome = "failed"
        report.longrepr = f"The test was run twice in this process, and differs.\n\n{said}"
    elif outcome == "first":
        report.sections.append(("detlint", f"The first run differs from those that follow.\n{said}"))
