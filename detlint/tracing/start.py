"""Starts programs that are watched."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NoReturn

import msgspec

from detlint.runtime.launch import REPLACES, become, prepare, require_environment
from detlint.runtime.plan import Plan
from detlint.tracing.watch import Watch

_PATIENCE: Final = 2
"""Seconds that a program is given to end by itself, and then when it is told to."""


@dataclass(frozen=True)
class Program:
    """What is run.

    Attributes:
        arguments: as for `python`: `script.py`, or `-m module`, and what the program gets.
        enforced: what `enforce` gets; None runs the program as it is.
        config: the configuration file that names catalogs; empty for none.
    """

    arguments: tuple[str, ...]
    enforced: Mapping[str, Any] | None = None
    config: str = ""

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
        """Run it to its end, with what it prints in a file; its exit code."""
        command = [sys.executable, "-u", *self.arguments]
        with output.open("wb") as file:
            variables = self.environment(msgspec.structs.replace(watch, parent=os.getpid()))
            process = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT, env=variables)
            try:
                return process.wait()
            except BaseException:  # an interrupt, which the program has got too where a terminal sent it
                _end(process)
                raise
            finally:
                shutil.rmtree(self._reports, ignore_errors=True)

    def become(self, watch: Watch) -> NoReturn:
        """Run it in place of this process."""
        sys.exit(
            become(
                self.arguments,
                self.environment(msgspec.structs.replace(watch, first=os.getpid() if REPLACES else watch.first)),
            )
        )


def _end(process: subprocess.Popen[bytes]) -> None:
    for insist in (process.terminate, process.kill):
        try:
            process.wait(_PATIENCE)
            return
        except subprocess.TimeoutExpired:
            insist()
    process.wait()
