"""What everything that acts in one enforcement shares."""

from __future__ import annotations

import os
import sys
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from detlint.catalog import Catalog, Entry
from detlint.runtime.options import Options
from detlint.runtime.places import place
from detlint.runtime.report import Report


class Nondeterministic(RuntimeError):
    """An operator that varies was called, and nothing is known to do about it (`unsupported="error"`)."""


class NondeterministicWarning(UserWarning):
    """The same under `unsupported="warn"`."""


class Context:
    """The options, the catalog and the report; and whether the enforcement is still active.

    What was put in place of other things may be kept by the program after leaving. It asks `active`, and does nothing then.
    """

    def __init__(self, options: Options, catalog: Catalog, report: Report, only: frozenset[str] = frozenset()) -> None:
        self.options = options
        self.only = only
        self.catalog = catalog
        self.report = report
        self.active = False
        self._seeds = 0
        self._base = options.seed

    def seed(self) -> int:
        """The next of the seeds for what has none of its own. In a worker of a data loader they follow its own seed."""
        self._seeds += 1
        return (self._base + _worker_seed() + self._seeds - 1) % 2**32

    def done(self, entry: Entry, api: str, message: str) -> None:
        """Tell what was done, at the line that led there. Not while PyTorch compiles: then the line means nothing."""
        if not compiling():
            self.report.done(*self._rule(entry), api, message, place())

    def refuse(self, entry: Entry, api: str, reason: str) -> None:
        """Tell what was not done."""
        if not compiling():
            self.report.refuse(*self._rule(entry), api, reason, place())

    def _rule(self, entry: Entry) -> tuple[str, str]:
        code = entry.rule or (entry.runtime.rule if entry.runtime is not None else "")
        return code, self.catalog.rules[code].name if code else ""


def compiling() -> bool:
    """Whether `torch.compile` is tracing this call."""
    compiler: Any = sys.modules.get("torch.compiler")
    asked = getattr(compiler, "is_compiling", None)  # while PyTorch is being imported, it isn't there yet
    return asked is not None and asked()


def _worker_seed() -> int:
    """Worker 3 of a loader must not repeat worker 2; 0 outside of workers."""
    data: Any = sys.modules.get("torch.utils.data")
    asked = getattr(data, "get_worker_info", None)
    info = asked() if asked is not None else None
    return info.seed if info is not None else 0


@lru_cache(256)
def in_force(versions: str) -> bool:
    """Whether an entry's requirement holds of what is installed; an unknown version counts as the newest."""
    if not versions:
        return True
    from packaging.requirements import Requirement

    requirement = Requirement(versions)
    try:
        installed = version(requirement.name)
    except PackageNotFoundError:
        installed = "99999"
    return requirement.specifier.contains(installed.partition("+")[0], prereleases=True)


def forked(pid: int) -> bool:
    """Whether this process is a copy of the one with the number."""
    return os.getpid() != pid
