"""The frameworks that can be traced. None is imported unless it is asked for."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Final

from detlint.tracing.settings import Settings

if TYPE_CHECKING:
    from detlint.tracing.session import Session

TRACED: Final = {
    "torch": ("detlint.tracing.torch_session", "TorchTrace"),
    "mindspore": ("detlint.tracing.mindspore_session", "MindSporeTrace"),
    "tensorflow": ("detlint.tracing.tensorflow_session", "TensorFlowTrace"),
}
"""By their top-level modules: the module and the class of their sessions."""
TITLES: Final = {"torch": "PyTorch", "mindspore": "MindSpore", "tensorflow": "TensorFlow"}


def session(framework: str, settings: Settings, name: str = "") -> Session:
    """What traces a framework.

    Args:
        name: the file's; empty: by the rank.

    Raises:
        ImportError: the framework can't be imported.
    """
    module, kind = TRACED[framework]
    made: Session = getattr(import_module(module), kind)(settings, name=name)
    return made


def imported() -> str:
    """The first framework that the process has imported; PyTorch where it has none."""
    return next((name for name in TRACED if name in sys.modules), next(iter(TRACED)))
