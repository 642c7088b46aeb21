"""Seeds and switches of one enforcement: set through `seed_all`, then as the options say."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

from detlint.runtime import ascend
from detlint.runtime.options import Options
from detlint.runtime.record import Step
from detlint.runtime.report import Report
from detlint.runtime.seeding import begin


def seed(chosen: Options, report: Report) -> Callable[[], None]:
    """Seed every stream and, if that is asked for, switch determinism on; tell what came of it.

    Returns:
        What ends it: libraries that are imported after that are left alone.
    """
    if chosen.collectives == "strict":
        os.environ["HCCL_DETERMINISTIC"] = "strict"
    record = begin(chosen.seed, chosen.deterministic, chosen.collectives != "keep")

    def tell(steps: Iterable[Step]) -> None:
        for step in steps:
            told = f"{step.what}: {step.why}" if step.why else step.what
            if step.outcome in ("late", "failed"):
                report.refuse("", "", step.what, told)
                continue
            if step.lasting:
                report.lasts(f"{step.what}: {step.lasting}")
            if step.outcome in ("set", "already"):
                report.set(step.what, step.why)

    tell(record.steps)
    record.then = tell
    return record.close


def switch(torch: Any, chosen: Options, report: Report) -> Callable[[], None] | None:
    """What `seed_all` has no say in, once PyTorch is there; what undoes it, beside `state.noted`."""
    if chosen.deterministic and chosen.unsupported != "error":
        # What has no deterministic form is handled here where something is known to do, and else must not end the run.
        torch.use_deterministic_algorithms(True, warn_only=True)
        report.set("torch.use_deterministic_algorithms(True)", "operators that have none only warn")
    if chosen.deterministic and torch.cuda.is_available():
        report.lasts("CUDA: what was started meanwhile has read CUBLAS_WORKSPACE_CONFIG")
    return ascend.switch(torch, chosen, report)
