"""What is particular to Ascend devices: levels of determinism, and what can be set only once.

Ascend documents that the deterministic state of a thread can be set once and takes effect as an operator is dispatched.
`torch_npu` is never imported for finding out whether it is there: without CANN the import fails.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, Final

from detlint.runtime.options import Options
from detlint.runtime.report import Report

STRONG: Final = 2
"""torch_npu's level at which reductions keep their order."""


def switch(torch: Any, chosen: Options, report: Report) -> Callable[[], None] | None:
    """Switch what only Ascend has, after PyTorch's own switch and the seeds; what undoes it.

    torch_npu asks that PyTorch's switch not be used once a level is set.
    """
    npu = getattr(torch, "npu", None)
    if npu is None:
        if "torch_npu" not in sys.modules and find_spec("torch_npu") is not None:
            report.refuse("", "", "torch_npu", "torch_npu is installed and not imported: import it before enforcing")
        return None
    if not chosen.deterministic and chosen.collectives == "keep":
        return None
    report.lasts(
        "Ascend: the deterministic state of a thread can be set once, so kernels may stay deterministic in threads that ran some"
    )
    report.lasts("Ascend: a communicator that was created meanwhile has read HCCL_DETERMINISTIC")
    if chosen.collectives != "strict" or not hasattr(npu, "set_deterministic_level"):
        return None
    before = getattr(npu, "_get_deterministic_level", lambda: 0)()
    npu.set_deterministic_level(STRONG)
    report.set(f"torch_npu.npu.set_deterministic_level({STRONG})")
    return lambda: npu.set_deterministic_level(before)
