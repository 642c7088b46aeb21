"""`detlint run`: starts a program in an environment where it is seeded before its first line."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Mapping, MutableMapping, Sequence
from pathlib import Path
from typing import Any, Final, NoReturn

from detlint.runtime import environment
from detlint.runtime.options import options
from detlint.runtime.outcome import tell
from detlint.runtime.plan import VARIABLE, Plan
from detlint.runtime.record import Step

START: Final = Path(__file__).with_name("start")
"""The folder with what Python imports before the program."""
REPLACES: Final = os.name == "posix"
"""Elsewhere, `exec` makes another process and ends this one."""


class NotStarted(Exception):
    """Why a program can't be started. The text says what to do."""


def launch(
    arguments: Sequence[str], options: dict[str, Any], report: str = "", quiet: bool = False, config: str = ""
) -> NoReturn:
    """Start a program in place of this process, as Python would have started it: what it is told, where it finds its modules,
    its exit code and the signals that it gets are the same.

    Args:
        arguments: as for `python`: `script.py`, or `-m module`, and what the program gets.
        options: as for `enforce`.
        report: the file that gets the report as JSON; empty for none.
        quiet: whether to print no report.
        config: the configuration file that names catalogs; empty for none.

    Raises:
        NotStarted: this Python leaves environment variables alone.
    """
    require_environment()
    folder = os.path.join(tempfile.gettempdir(), f"detlint-run-{uuid.uuid4().hex}")
    plan = Plan(options, os.getpid() if REPLACES else 0, folder, report, quiet, config)
    variables = dict(os.environ)
    prepare(variables, plan)
    code = become(arguments, variables)
    tell(plan, None)
    sys.exit(code)


def require_environment() -> None:
    """Programs are prepared by what Python finds in its environment.

    Raises:
        NotStarted: this Python leaves that alone.
    """
    if sys.flags.ignore_environment or sys.flags.no_site:
        raise NotStarted("this Python was started with -E, -I or -S, and so can't be prepared; start it without")


def become(arguments: Sequence[str], variables: Mapping[str, str]) -> int:
    """Run Python in place of this process, with the options that this one was started with; where a process can't be replaced, as
    its child.

    Returns:
        The child's exit code.
    """
    command = [sys.executable, *_interpreter_options(), *arguments]
    if REPLACES:
        sys.stdout.flush()
        sys.stderr.flush()
        os.execve(sys.executable, command, variables)
    return subprocess.call(command, env=variables)


def prepare(variables: MutableMapping[str, str], plan: Plan) -> list[Step]:
    """Set what has to be set before Python starts.

    Returns:
        What was set, and what was so already.
    """
    chosen = options(**plan.options)
    switches = environment.switch(variables, chosen.deterministic, chosen.collectives != "keep")
    steps = [environment.hash_seed(variables, chosen.seed), *switches]
    before = variables.get("PYTHONPATH", "")
    paths = [path for path in before.split(os.pathsep) if path != str(START)] if before else []
    variables["PYTHONPATH"] = os.pathsep.join([str(START), *paths])
    variables[VARIABLE] = plan.written()
    return steps


def _interpreter_options() -> list[str]:
    """The options that this Python itself was started with: `-u`, `-W error`, `-X dev`."""
    given = sys.orig_argv[1 : len(sys.orig_argv) - len(sys.argv) + 1]
    return given[:-2] if given[-2:-1] in (["-m"], ["-c"]) else given[:-1]
