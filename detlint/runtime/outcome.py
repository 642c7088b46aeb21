"""What a run came to: collected from its processes, and told when the last of them ends."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from detlint.runtime.plan import Plan
from detlint.runtime.report import Report
from detlint.whole import save


def leave(plan: Plan, report: Report) -> None:
    """Leave a process's report to the one that tells."""
    try:
        os.makedirs(plan.folder, mode=0o700, exist_ok=True)
        Path(plan.folder, f"{os.getpid()}.json").write_text(report.json(), "utf-8")
    except OSError as error:
        print(f"detlint run: process {os.getpid()} can't leave its report: {error}", file=sys.stderr)


def tell(plan: Plan, report: Report | None) -> None:
    """Print a run's report to standard error, and write it where the plan says.

    Args:
        report: that of the process that tells, where it took part.
    """
    report = report if report is not None else Report()
    for file in sorted(Path(plan.folder).glob("*.json")):
        report.add(file.read_text("utf-8"))
    shutil.rmtree(plan.folder, ignore_errors=True)
    rank = os.environ.get("RANK", "0") if os.environ.get("WORLD_SIZE", "1") != "1" else "0"
    if not plan.quiet and rank == "0":
        head = f"detlint run: seed {plan.options['seed']}, profile {plan.options['profile']}\n"
        print(head + report.text(left=False), end="", file=sys.stderr, flush=True)
    if plan.report:
        file = Path(plan.report)
        if rank != "0":  # one run started by each rank's own command: each writes a file
            file = file.with_name(f"{file.stem}.rank{rank}{file.suffix}")
        try:
            save(file, f"{report.json()}\n".encode())
        except OSError as error:
            print(f"detlint run: {file}: can't be written: {error.strerror}", file=sys.stderr)
