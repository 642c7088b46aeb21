"""The beginning of each process of a run that `detlint run` has started."""

from __future__ import annotations

import atexit
import os

from detlint.runtime.enforced import enforce
from detlint.runtime.outcome import leave, tell
from detlint.runtime.plan import Plan


def attach() -> None:
    """Enforce what the plan of the run says, until the process ends."""
    plan = Plan.read()
    enforcement = enforce(**plan.options).start()
    process = os.getpid()

    def end() -> None:
        if os.getpid() != process:
            return  # a fork of it that ends like a process of its own: what it counted is counted already
        if process == plan.owner:
            tell(plan, enforcement.report)
        else:
            leave(plan, enforcement.report)

    atexit.register(end)
