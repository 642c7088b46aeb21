"""Starts programs that are watched."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NoReturn, Protocol

import msgspec

from detlint.runtime.launch import REPLACES, become, prepare, require_environment
from detlint.runtime.plan import Plan
from detlint.tracing.watch import Watch

_PATIENCE: Final = 2
"""Seconds that a program is given to end, each time that it is told to."""


class TimedOut(Exception):
    """A program that didn't end in time, and was ended."""


class Running(Protocol):
    """A process that leads a group of its own, if the system has such groups."""

    @property
    def pid(self) -> int:
        """Its number."""

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code; raises `subprocess.TimeoutExpired`."""


@dataclass(frozen=True)
class Program:
    """What is run.

    Attributes:
        arguments: as for `python`: `script.py`, or `-m module`, and what the program gets.
        enforced: what `enforce` gets; None runs the program as it is.
        config: the configuration file that names catalogs; empty for none.
        seconds: that a run may take; None: as long as it likes.
    """

    arguments: tuple[str, ...]
    enforced: Mapping[str, Any] | None = None
    config: str = ""
    seconds: float | None = None

    def environment(self, watch: Watch) -> dict[str, str]:
        """The variables that it is started with.

        Raises:
            NotStarted: this Python leaves environment variables alone.
        """
        require_environment()
        variables = dict(os.environ)
        if self.enforced is not None:
            prepare(variables, Plan(dict(self.enforced), watch.first, self._reports, quiet=True, config=self.config))
        watch.prepare(variables)
        return variables

    @property
    def _reports(self) -> str:
        """Where the processes leave what was enforced, which nobody asks for here."""
        return os.path.join(tempfile.gettempdir(), f"detlint-run-{os.getpid()}")

    def run(self, watch: Watch, output: Path) -> int:
        """Run it to its end, with what it prints in a file; its exit code.

        Raises:
            TimedOut: it took longer than it may. It has ended, and what it has started with it.
        """
        command = [sys.executable, "-u", *self.arguments]
        with output.open("wb") as file:
            variables = self.environment(msgspec.structs.replace(watch, parent=os.getpid()))
            # A group of its own, so that all that it starts can be ended with it.
            process = subprocess.Popen(
                command,
                stdout=file,
                stderr=subprocess.STDOUT,
                env=variables,
                start_new_session=REPLACES,
                pass_fds=[watch.states] if watch.states >= 0 else (),
            )
            try:
                return self.wait(process)
            finally:
                shutil.rmtree(self._reports, ignore_errors=True)

    def wait(self, process: Running) -> int:
        """The exit code of a run that goes on.

        Raises:
            TimedOut: as `run` does.
        """
        try:
            return process.wait(self.seconds)
        except subprocess.TimeoutExpired:
            _end(process)
            raise TimedOut(f"had not ended after {self.seconds:g} seconds (--timeout), and was ended") from None
        except BaseException:  # an interrupt
            _end(process)
            raise

    def become(self, watch: Watch) -> NoReturn:
        """Run it in place of this process."""
        sys.exit(
            become(
                self.arguments,
                self.environment(msgspec.structs.replace(watch, first=os.getpid() if REPLACES else watch.first)),
            )
        )


def _end(process: Running) -> None:
    """Have a program end, and all that it has started: as from the keyboard first, by force at last."""
    for insist in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL) if REPLACES else (signal.SIGTERM,):
        _tell(process, insist)
        try:
            process.wait(_PATIENCE)
            break
        except subprocess.TimeoutExpired:
            continue
    if REPLACES:
        _tell(process, signal.SIGKILL)  # what outlives it
    process.wait()


def _tell(process: Running, what: signal.Signals) -> None:
    if not REPLACES:
        with contextlib.suppress(OSError):  # it has ended
            os.kill(process.pid, what)
        return
    with contextlib.suppress(ProcessLookupError):  # of its group, nothing is left
        os.killpg(process.pid, what)
