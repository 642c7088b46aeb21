"""What the first run has left behind, and later ones find: they repeat each other, and not the first."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

from detlint.tracing.calls import Call, calls
from detlint.tracing.cause import Cause
from detlint.tracing.compare import Difference
from detlint.tracing.events import sort_of
from detlint.tracing.runs import Runs


def explained(runs: Runs, began: float) -> Runs:
    """The runs; where one reads a file that a run before it has written, with that as the cause.

    Args:
        began: when the first run did, in seconds since the epoch.
    """
    for i, process in enumerate(runs.processes):
        trace = process.comparison.left
        for call in calls(trace.path):
            file = _file(call, Path(trace.header.directory))
            if file is None or not began <= file.stat().st_mtime <= trace.path.stat().st_ctime:
                continue
            found = replace(process.comparison, first=Difference(("outputs",), call, call))
            said = f"the first run has written {file.name}, and those after it find it there"
            runs.processes[i] = replace(process, comparison=found, cause=Cause("data", said, call))
            return runs
    return runs


def _file(call: Call, folder: Path) -> Path | None:
    """The file that a call has asked for, if it is there."""
    if not call.event or sort_of(call.op) != "content":
        return None
    try:
        name = ast.literal_eval(call.arguments.partition(", ")[0])
        file = folder / name
        return file if file.is_file() else None
    except (ValueError, SyntaxError, TypeError, OSError):
        return None
