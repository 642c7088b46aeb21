"""`%load_ext detlint`: a notebook whose cells run seeded and deterministic, as the nearest configuration file says.

https://ipython.readthedocs.io/en/stable/config/extensions/ describes what IPython calls.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Protocol

from detlint.config import ConfigError, enforced
from detlint.config import load as settings_for
from detlint.runtime.enforced import Enforcement, enforce


class Shell(Protocol):
    """What is asked of IPython's shell."""

    magics_manager: Any

    def register_magic_function(self, func: Any, magic_kind: str, magic_name: str) -> None: ...


_active: list[Enforcement] = []
"""What a notebook's kernel enforces: nothing, or one."""


def load(shell: Shell) -> None:
    """Enforce from now on, and add the magic `%detlint`, which prints what was done so far."""
    try:
        options = enforced(settings_for(Path.cwd()).settings)
    except ConfigError as error:
        print(f"detlint: {error}", file=sys.stderr)
        return
    _active.append(enforce(**options).start())
    shell.register_magic_function(_report, "line", "detlint")
    _report()


def unload(shell: Shell) -> None:
    """Undo what loading did."""
    while _active:
        _active.pop().restore()
    shell.magics_manager.magics["line"].pop("detlint", None)


def _report(line: str = "") -> None:
    """Print what was done so far."""
    for enforcement in _active:
        chosen = enforcement.options
        print(f"detlint: seed {chosen.seed}, profile {chosen.profile}\n{enforcement.report.text()}", end="")
